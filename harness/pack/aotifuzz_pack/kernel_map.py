"""The kernel map: which values of the post-grad graph each kernel call of a package is given and leaves behind.

Written as extra/kernel_map.json of the archive. With it a kernel can be judged by itself: the values that it is given are
taken from its buffers, the operators that it implements are run eagerly on them, and the results compared.
"""

import json
import math

import torch

from . import wrapper_calls
from .inductor_hooks import Recorder
from .kernel_closure import Closure
from .kernel_labels import Labels
from .post_grad_graph import dtype_name, serialize, to_text, to_texts

SCHEMA = 1
MEMBER = "extra/kernel_map.json"
_LITERAL_ELEMENTS = 64  # inductor inlines constants of at most 8 elements; larger ones are in the package

__all__ = ["MEMBER", "Recorder", "document"]


def document(lowering, example_inputs, parameters, seconds):
    """The map of one lowering, as a value for json.

    `example_inputs`: the tensors that the program was exported with, flat; `parameters`: names of the program's own
    parameters, buffers and constants; `seconds`: most time for the check.
    """
    return _Writer(lowering, example_inputs, parameters, seconds).document()


class _Writer:
    def __init__(self, lowering, example_inputs, parameters, seconds):
        self.lowering, self.parameters = lowering, parameters
        self.labels = Labels(lowering)
        self.graph, wordless = serialize(lowering.graph)
        self.tensors = set(self.graph["tensor_values"])
        self.inputs = self._inputs()
        named = dict(zip(lowering.inputs, example_inputs))
        available = {given["value"] for given in self.inputs if given["kind"] in ("constant", "literal")}
        self.closure = Closure(lowering, named, available, wordless | lowering.lost, seconds)
        self.notes = list(lowering.notes)

    def document(self):
        calls = [self._call(call) for call in self._matched()]
        if self.closure.skipped:
            self.notes.append(f"{self.closure.skipped} of {len(calls)} calls were checked by structure alone: the time for the check was over")
        return {
            "schema": SCHEMA,
            "torch_version": torch.__version__,
            "graph": self.graph,
            "inputs": self.inputs,
            "symbols": self.lowering.sources,
            "multiples": self.lowering.multiples,
            "precomputed": {name: to_text(value) for name, value in self.lowering.precomputed.items()},
            "kernel_sources": self.lowering.kernel_sources,
            "notes": self.notes,
            "calls": calls,
        }

    # ---- graph inputs

    def _inputs(self):
        users = {name: index for index, name in enumerate(self.lowering.inputs)}
        described = []
        for node in self.lowering.graph.graph.nodes:
            if node.op == "placeholder":
                described.append({"value": node.name, **self._input(node.name, users)})
        return described

    def _input(self, name, users):
        if name in users:
            return {"kind": "user", "index": users[name]}
        if name in self.lowering.fqns:
            constant, fqn = self.lowering.fqns[name]
            if fqn not in self.parameters:
                return {"kind": "unknown", "name": constant, "why": f"{constant} was made while compiling: the program has no such parameter"}
            return {"kind": "constant", "name": constant, "fqn": fqn}
        tensor = self.lowering.constants.get(name)
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            return {"kind": "unknown", "why": "a constant in a layout of its own"}
        if tensor.numel() > _LITERAL_ELEMENTS:
            return {"kind": "unknown", "why": "a constant that the package does not name"}
        return {"kind": "literal", "dtype": dtype_name(tensor.dtype), "size": list(tensor.shape), "data": _elements(tensor)}

    # ---- calls

    def _matched(self):
        """(call of the wrapper, Kernel or Extern that it was generated from, or None), in the order of execution."""
        kernels, externs = list(self.lowering.kernels), list(self.lowering.externs)
        cpp = wrapper_calls.declared_kernels(self.lowering.wrapper) | {kernel.name for kernel in kernels if not kernel.triton}
        triton = {kernel.name for kernel in kernels if kernel.triton}
        for call in wrapper_calls.read_calls(self.lowering.wrapper, cpp, self.lowering.buffers, triton):
            pool = externs if call.kind in ("shim", "proxy") else kernels
            source = _first_like(call, pool)
            if source is not None:
                pool.remove(source)
            yield call, source

    def _call(self, matched):
        call, source = matched
        if source is None or not self._is_mapped(source):
            return self._unjudged(call, "it belongs to a conditional, a loop or another part that is not mapped")
        if getattr(source, "written_by_user", False):
            return self._unjudged(call, "a Triton kernel that the model brings along")
        if call.kind in ("cpp", "triton"):
            operations, arguments = self._kernel_arguments(source)
            nodes = []
        else:
            operations, arguments = self._extern_arguments(call, source)
            nodes = [source.node] if source.node in self.labels.nodes else []
        why, used = self._judge(arguments)
        written = {"kernel": call.symbol, "kind": call.kind, "nodes": nodes + [name for name in used if name not in nodes]}
        if call.kind == "shim":
            written["signature"] = wrapper_calls.shim_signatures().get(call.symbol, [])
            if not written["signature"] and not why:
                why = "the headers of this torch do not declare it"
        if call.kind == "proxy":
            written["node_index"] = call.node_index
        if call.kind == "triton":
            written["launch"] = source.launch
        return {**written, "arguments": arguments, "judged": not why, "why_not": why}

    def _is_mapped(self, source):
        """False inside a conditional or a loop: those have buffers of their own."""
        arguments = getattr(source, "arguments", ())
        return all(not argument.buffer or argument.buffer in self.lowering.buffers for argument in arguments)

    def _unjudged(self, call, why):
        arguments = [{"at": given.at, "role": "other", "buffer": given.buffer} for given in call.handed]
        written = {"kernel": call.symbol, "kind": call.kind, "nodes": [], "arguments": arguments, "judged": False, "why_not": why}
        if call.kind == "shim":
            written["signature"] = wrapper_calls.shim_signatures().get(call.symbol, [])
        if call.kind == "proxy":
            written["node_index"] = call.node_index
        if call.kind == "triton":
            written["launch"] = None
        return written

    def _judge(self, arguments):
        results = []
        for argument in arguments:
            if argument["role"] in ("out", "inout"):
                if not argument["exit"]:
                    return f"{argument['buffer']} holds no value of the graph by itself", []
                results += [label["value"] for label in argument["exit"]]
        entry = [label["value"] for argument in arguments for label in argument.get("entry", [])]
        return self.closure.check(list(dict.fromkeys(entry)), list(dict.fromkeys(results)))

    # ---- generated kernels

    def _kernel_arguments(self, kernel):
        operations = self._operations_of(kernel)
        defined = {name for operation in operations for name in self.lowering.writes.get(operation, [])}
        written = []
        for at, argument in enumerate(kernel.arguments):
            record = {"at": at, "name": argument.name, "role": argument.role}
            if argument.role == "size":
                record["expression"] = to_text(argument.expression)
            elif argument.buffer:
                record |= self._pointer(argument, defined)
            written.append(record)
        self.labels.advance(operations)
        for record in written:
            if record["role"] in ("out", "inout"):
                record["exit"] = self._written(self.labels.of(record["buffer"]))
        return operations, written

    def _pointer(self, argument, defined):
        """Role and entry of a pointer argument. An in-out pointer whose memory this call fills itself is an output."""
        buffer, role = argument.buffer, argument.role
        record = {"role": role, "buffer": buffer, "dtype": self.lowering.buffers[buffer].dtype}
        if role == "inout":
            while buffer in defined and buffer in self.lowering.reused:
                buffer = self.lowering.reused[buffer]
            if buffer in defined:
                record["role"] = "out"
        if record["role"] in ("in", "inout"):
            # Pieces of it that the call itself writes are not there yet.
            is_filled_here = not defined.isdisjoint(self.lowering.buffers[buffer].pieces)
            record["entry"] = [] if is_filled_here else self._written(self.labels.of(buffer))
        return record

    def _operations_of(self, kernel):
        if kernel.operations is not None:
            return [operation for operation in kernel.operations if operation in self.lowering.order]
        maker = {name: operation for operation, names in self.lowering.writes.items() for name in names}
        positions = {self.lowering.order[maker[a.buffer]] for a in kernel.arguments if a.role in ("out", "inout") and a.buffer in maker}
        for argument in kernel.arguments:
            changing = self.lowering.mutators.get(argument.buffer, [])[self.labels.version.get(argument.buffer, 0) :]
            if argument.role in ("out", "inout") and argument.buffer not in maker and changing:
                positions.add(self.lowering.order[changing[0]])
        return [operation for operation, position in self.lowering.order.items() if position in positions]

    # ---- library functions

    def _extern_arguments(self, call, extern):
        written, changed = [], set()
        views = list(extern.inputs)
        for given in call.handed:
            buffer = given.buffer
            is_result = given.is_result or buffer in extern.outputs
            role = "other" if buffer in self.lowering.ignored else "out" if is_result else "in"
            if buffer in extern.mutated and buffer not in changed:
                changed.add(buffer)
                role = "inout"
            record = {"at": given.at, "name": "", "role": role, "buffer": buffer, "dtype": self._dtype(buffer)}
            if given.element is not None:
                record["element"] = given.element
            offset = _view_offset(given, views)
            if role in ("in", "inout"):
                record["entry"] = self._written(self.labels.of(buffer), offset)
            written.append((record, offset))
        self.labels.advance([extern.operation])
        for record, offset in written:
            if record["role"] in ("out", "inout"):
                record["exit"] = self._written(self.labels.of(record["buffer"]), offset)
        return [extern.operation], [record for record, _ in written]

    def _dtype(self, buffer):
        known = self.lowering.buffers.get(buffer)
        return known.dtype if known is not None else ""

    def _written(self, labels, pointer=0):
        """Labels as the map has them, seen from a pointer that lies `pointer` elements into the buffer."""
        written = []
        for label in labels:
            offset = label.layout.offset - pointer
            if label.value not in self.tensors or getattr(offset, "is_negative", offset < 0 if isinstance(offset, int) else False):
                continue
            record = {"value": label.value, "size": to_texts(label.layout.size), "stride": to_texts(label.layout.stride), "offset": to_text(offset)}
            if label.rule is not None:
                record["rule"] = {key: value if key == "kind" else to_text(value) for key, value in label.rule.items()}
            written.append(record)
        return written


def _view_offset(given, views):
    """Elements from the buffer's pointer to the one that is handed over."""
    for where in views:
        if where.buffer == given.buffer:
            views.remove(where)
            return where.layout.offset if given.is_view else 0
    return 0


def _first_like(call, sources):
    """The first source that this call can have been generated from."""
    if call.kind in ("cpp", "triton"):
        return next((source for source in sources if source.name == call.symbol), None)
    handed = {given.buffer for given in call.handed}
    for source in sources:
        if handed & {*source.outputs, *source.mutated}:
            return source
    return None


def _elements(tensor):
    values = tensor.detach().reshape(-1).tolist()
    return [int(value) if isinstance(value, bool) else value if not isinstance(value, float) or math.isfinite(value) else _not_finite(value) for value in values]


def _not_finite(value):
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def to_bytes(document):
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
