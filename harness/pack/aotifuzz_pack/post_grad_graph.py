"""The post-grad graph as the map holds it: constants as inputs, in the schema of an ExportedProgram."""

import operator

import torch


def lift_constants(module):
    """A copy of the module's graph with placeholders where it had get_attr. Gives (graph module, placeholder -> attribute)."""
    graph, copies, attributes = torch.fx.Graph(), {}, {}
    for node in module.graph.nodes:
        if node.op != "get_attr":
            copies[node] = graph.node_copy(node, lambda n: copies[n])
            continue
        copy = graph.create_node("placeholder", node.name, name=node.name)
        copy.meta = dict(node.meta)
        attributes[copy.name] = _attribute(module, node.target)
        if "val" not in copy.meta:
            copy.meta["val"] = attributes[copy.name]
        copies[node] = copy
    _placeholders_first(graph)
    return torch.fx.GraphModule(torch.nn.Module(), graph), attributes


def serialize(module):
    """The graph as models/NAME.json has it, ready for json."""
    from torch._export.serde import serialize as serde

    signature = torch.export.graph_signature.ExportGraphSignature([], [])
    made = serde.GraphModuleSerializer(signature, []).serialize_graph(module)
    return serde._dataclass_to_dict(made)


def result_names(module):
    """(node, index) -> name of that result, for the nodes with several results."""
    names = {}
    for node in module.graph.nodes:
        if isinstance(node.meta.get("val"), (list, tuple)):
            for index in range(len(node.meta["val"])):
                user = next((u for u in node.users if u.target is operator.getitem and u.args[1] == index), None)
                names[node.name, index] = user.name if user is not None else f"{node.name}_unused_{index}"
    return names


def size_of(value):
    """Sizes of a tensor as ints and sympy expressions."""
    return [plain(size) for size in value.shape]


def plain(value):
    """An int or a sympy expression, from whatever torch holds a size in."""
    node = getattr(value, "node", None)
    value = node.expr if node is not None else value
    return int(value) if isinstance(value, (bool, int)) or getattr(value, "is_Integer", False) else value


def to_text(value):
    """An int, or the srepr text that the map holds."""
    import sympy

    value = plain(value)
    return value if isinstance(value, int) else sympy.srepr(value)


def to_texts(values):
    return [to_text(value) for value in values]


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def _attribute(module, target):
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _placeholders_first(graph):
    """Inputs lead the graph, as the schema wants; among themselves they keep their order."""
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    first = next(iter(graph.nodes), None)
    for node in placeholders:
        if node is first:
            first = first.next
            continue
        first.prepend(node)
