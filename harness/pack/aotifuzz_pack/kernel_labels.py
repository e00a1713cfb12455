"""Which values of the post-grad graph a buffer holds, and by which rule, at a moment of the run."""

from dataclasses import dataclass

import sympy
import torch

from .lowering_record import Layout
from .post_grad_graph import dtype_name, plain
from .prims_as_aten import RETYPED

_VARIANCES = ("aten.var_mean", "aten.var.", "prims.var")


@dataclass
class Label:
    value: str
    layout: Layout
    rule: dict | None = None  # as the map writes it; "by" is still an expression


class Labels:
    """Follows the buffers through the calls: a buffer that is changed in place holds other values afterwards."""

    def __init__(self, lowering):
        self.lowering = lowering
        self.nodes = {node.name: node for node in lowering.graph.graph.nodes}
        self.position = {name: index for index, name in enumerate(self.nodes)}
        self.version = {}
        self.held = {}
        for value, where in lowering.stored.items():
            self.held.setdefault(where.buffer, []).append((value, where))
        self.derived = {}
        self._derive_reductions()
        self._derive_pieces()
        self._derive_layout_copies()

    def advance(self, operations):
        """`operations` have run."""
        for buffer, changing in self.lowering.mutators.items():
            done = sum(operation in operations for operation in changing)
            if done:
                self.version[buffer] = self.version.get(buffer, 0) + done

    def of(self, buffer):
        """What the buffer holds now."""
        found = self._stored_now(buffer)
        if not found and self.version.get(buffer, 0) == 0:
            found = self.derived.get(buffer, [])
        return found or self._about_to_change(buffer)

    def _stored_now(self, buffer):
        changing = self.lowering.mutators.get(buffer, [])
        now = self.version.get(buffer, 0)
        known = self.lowering.buffers.get(buffer)
        if known is None or (known.layout is None and not known.alias_of):
            return []  # a tensor in a layout of its own: its elements cannot be read
        dtype, found = known.dtype, []
        for value, where in self.held.get(buffer, []):
            is_itself = where.dtype == dtype and not self._is_retyped(value)
            if is_itself and self._version_of(value, changing) == now:
                found.append(Label(value, where.layout))
        return found

    def _version_of(self, value, changing):
        version = 0
        for index, operation in enumerate(changing, 1):
            node = self.lowering.node_of.get(operation)
            if node in self.position and self.position[node] <= self.position.get(value, -1):
                version = index
        return version

    def _about_to_change(self, buffer):
        """A copy that is made only to be changed in place stands for what the changing operator is given."""
        changing = self.lowering.mutators.get(buffer, [])
        now = self.version.get(buffer, 0)
        layout = self.lowering.buffers[buffer].layout if buffer in self.lowering.buffers else None
        if now >= len(changing) or layout is None:
            return []
        node = self.nodes.get(self.lowering.node_of.get(changing[now], ""))
        first = node.args[0] if node is not None and node.args else None
        if not hasattr(first, "name") or self.size_of(first.name) != layout.size:
            return []
        return [Label(first.name, layout)]

    def _is_retyped(self, value):
        return value in self.nodes and RETYPED in self.nodes[value].meta

    def size_of(self, value):
        """Sizes of a value of the graph, None for what is no tensor."""
        node = self.nodes.get(value)
        shape = getattr(node.meta.get("val"), "shape", None) if node is not None else None
        return None if shape is None else [plain(size) for size in shape]

    # ---- rules

    def _derive(self, buffer, value, layout, rule=None):
        if layout is not None and buffer not in self.held:
            self.derived.setdefault(buffer, []).append(Label(value, layout, rule))

    def _maker(self, buffer, prefixes):
        """The graph node of that kind which the buffer is an intermediate of."""
        for name in (buffer.made_by, *([] if buffer.made_by in self.nodes else buffer.origins)):
            if str(getattr(self.nodes.get(name), "target", "")).startswith(prefixes):
                return self.nodes[name]
        of_kind = [name for name in buffer.origins if str(getattr(self.nodes.get(name), "target", "")).startswith(prefixes)]
        return self.nodes[of_kind[0]] if len(of_kind) == 1 else None

    def _derive_reductions(self):
        for buffer in self.lowering.buffers.values():
            if buffer.reduction == "welford_reduce":
                self._derive_welford(buffer)
            elif buffer.reduction == "sum":
                self._derive_sum(buffer)

    def _derive_welford(self, buffer):
        """Welford keeps mean, sum of squared differences and weight; the operator gives mean and variance."""
        node = self._maker(buffer, _VARIANCES)
        if node is None or buffer.result not in (0, 1):
            return
        is_mean = buffer.result == 0
        value = self._part_of_variance(node, is_mean)
        if value is not None:
            rule = {"kind": "cast"} if is_mean else _divided_by_freedom(node, buffer.reduced)
            self._derive(buffer.name, value, self._fitted(value, buffer.layout), rule)

    def _derive_sum(self, buffer):
        """A mean is kept as its sum, and divided where it is used; newer torch keeps a variance so, too."""
        node = self._maker(buffer, ("aten.mean.",))
        if node is not None:
            rule = {"kind": "divide", "by": plain(buffer.reduced)}
            self._derive(buffer.name, node.name, self._fitted(node.name, buffer.layout), rule)
            return
        node = self._maker(buffer, _VARIANCES)
        if node is None:
            return
        siblings = [b.name for b in self.lowering.buffers.values() if b.reduction == "sum" and self._maker(b, _VARIANCES) is node]
        is_mean = len(siblings) > 1 and buffer.name != siblings[-1]
        value = self._part_of_variance(node, is_mean)
        if value is not None:
            rule = {"kind": "divide", "by": plain(buffer.reduced)} if is_mean else _divided_by_freedom(node, buffer.reduced)
            self._derive(buffer.name, value, self._fitted(value, buffer.layout), rule)

    def _part_of_variance(self, node, is_mean):
        if "var_mean" not in str(node.target):
            return None if is_mean else node.name
        for user in node.users:
            if len(user.args) == 2 and user.args[1] == (1 if is_mean else 0):
                return user.name
        return None

    def _fitted(self, value, layout):
        """The value's sizes with the buffer's strides, where they differ in dimensions of size 1 only."""
        size = self.size_of(value)
        if size is None or layout is None:
            return None
        if size == layout.size:
            return layout
        strides = [stride for extent, stride in zip(layout.size, layout.stride) if extent != 1]
        if [extent for extent in layout.size if extent != 1] != [extent for extent in size if extent != 1]:
            return None
        return Layout(size, [1 if extent == 1 else strides.pop(0) for extent in size], layout.offset)

    def _derive_pieces(self):
        """The parts of a concatenation are written through pointers into the whole."""
        for whole in self.lowering.buffers.values():
            for value, _ in self.held.get(whole.name, []) if whole.pieces else []:
                node = self.nodes.get(value)
                if str(getattr(node, "target", "")).startswith("aten.cat") and len(node.args[0]) == len(whole.pieces):
                    for piece, part in zip(whole.pieces, node.args[0]):
                        self._derive_copy(piece, part.name)

    def _derive_layout_copies(self):
        """A library function that wants another layout is given a copy."""
        for extern in self.lowering.externs:
            for where, value in zip(extern.inputs, extern.tensors):
                self._derive_copy(where.buffer, value)

    def _derive_copy(self, buffer, value):
        known = self.lowering.buffers.get(buffer)
        if known is None or known.layout is None or self.size_of(value) != known.layout.size or buffer in self.derived:
            return
        dtype = self.nodes[value].meta["val"].dtype
        if dtype_name(dtype) == known.dtype:
            self._derive(buffer, value, known.layout)
        elif torch.promote_types(dtype, getattr(torch, known.dtype)) == getattr(torch, known.dtype):
            self._derive(buffer, value, known.layout, {"kind": "cast"})


def _divided_by_freedom(node, count):
    correction = node.kwargs.get("correction", 1)
    correction = 1 if correction is None else correction
    correction = int(correction) if isinstance(correction, float) and correction.is_integer() else correction  # std() has 1.0
    return {"kind": "divide", "by": plain(sympy.Max(0, count - plain(correction)))}
