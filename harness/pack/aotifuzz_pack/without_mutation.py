"""The post-grad graph without operators that change an argument in place: every name stands for one value.

Inductor's last passes put such operators back in. Each becomes its functional twin; what the changed tensor, and views of
it, hold afterwards gets nodes of its own.
"""

import torch

_AFTER = "_after_"


def remove_mutation(graph):
    """Changes `graph` in place. Gives (new node's name -> name of the node whose memory holds it, nodes that no name fits)."""
    rewriter = _Rewriter(graph)
    for node in list(graph.nodes):
        rewriter.visit(node)
    return rewriter.same_memory, rewriter.lost


class _Rewriter:
    def __init__(self, graph):
        self.graph = graph
        self.base = {}  # view -> what it is a view of
        self.same_memory = {}
        self.lost = set()

    def visit(self, node):
        if not isinstance(node.target, torch._ops.OpOverload):
            return
        written = [index for index, argument in enumerate(node.target._schema.arguments) if _is_written(argument)]
        if written:
            self._replace(node, written)
        elif node.args and isinstance(node.args[0], torch.fx.Node) and _gives_view(node.target):
            self.base[node] = node.args[0]

    def _replace(self, node, written):
        twin = _functional_twin(node.target)
        changed = node.args[written[0]] if written[0] < len(node.args) else None
        if twin is None or len(written) != 1 or not isinstance(changed, torch.fx.Node):
            self.lost.add(node.name)
            return
        node.target = twin
        chain = [changed]
        while chain[-1] in self.base:
            chain.append(self.base[chain[-1]])
        self._renew(node, chain)

    def _renew(self, changing, chain):
        """Later users of the changed memory get what is there then. `chain`: from the changed view to its base."""
        base = chain[-1]
        aliases = [base] + [view for view in self.base if self._base_of(view) is base]
        positions = {node: index for index, node in enumerate(self.graph.nodes)}
        late = {alias: [user for user in alias.users if positions[user] > positions[changing]] for alias in aliases}
        if not any(late.values()):
            return
        value = changing
        last = changing
        for view, whole in zip(chain, chain[1:]):
            value = self._put_back(view, whole, value, last)
            if value is None:
                self.lost.update(user.name for users in late.values() for user in users)
                return
            last = value
        self._name(value, base, changing)
        renewed = {base: value}
        for alias in aliases[1:]:
            if not late[alias]:
                continue
            for part in reversed(self._path(alias)):
                if part not in renewed:
                    renewed[part] = self._again(part, renewed[self.base[part]], last)
                    self._name(renewed[part], part, changing)
                    last = renewed[part]
        for alias, users in late.items():
            for user in users:
                user.replace_input_with(alias, renewed[alias])
        for part, again in renewed.items():
            if part is not base:
                self.base[again] = renewed[self.base[part]]

    def _base_of(self, view):
        while view in self.base:
            view = self.base[view]
        return view

    def _path(self, view):
        path = []
        while view in self.base:
            path.append(view)
            view = self.base[view]
        return path

    def _again(self, view, whole, after):
        with self.graph.inserting_after(after):
            copy = self.graph.create_node("call_function", view.target, (whole, *view.args[1:]), dict(view.kwargs), name=f"{view.name}{_AFTER}")
        copy.meta = dict(view.meta)
        return copy

    def _put_back(self, view, whole, value, after):
        """`whole` with `value` where `view` looks."""
        aten, rest = torch.ops.aten, tuple(view.args[1:])
        with self.graph.inserting_after(after):
            if view.target is aten.slice.Tensor:
                made = self.graph.create_node("call_function", aten.slice_scatter.default, (whole, value, *rest), dict(view.kwargs))
            elif view.target is aten.select.int:
                made = self.graph.create_node("call_function", aten.select_scatter.default, (whole, value, *rest))
            elif view.target is aten.permute.default:
                inverse = [rest[0].index(dim) for dim in range(len(rest[0]))]
                made = self.graph.create_node("call_function", aten.permute.default, (value, inverse))
            else:
                return None
        made.meta = {"val": whole.meta["val"], **{key: view.meta[key] for key in ("stack_trace",) if key in view.meta}}
        return made

    def _name(self, node, like, changing):
        if node is changing:
            return
        node.name = self.graph._graph_namespace.create_name(f"{like.name}{_AFTER}{changing.name}", None)
        self.same_memory[node.name] = like.name


def _is_written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def _gives_view(target):
    return any(result.alias_info is not None and not result.alias_info.is_write for result in target._schema.returns) or str(target) == "aten.reshape.default"


def _functional_twin(target):
    """aten.index_put_.default -> aten.index_put.default"""
    namespace, name = target._schema.name.split("::")
    packet = getattr(getattr(torch.ops, namespace), name.removesuffix("_"), None) if name.endswith("_") else None
    twin = getattr(packet, target._overloadname, None) if packet is not None else None
    return twin if twin is not None and not twin._schema.is_mutable else None
