"""The post-grad graph as the map holds it: constants as inputs, in the schema of an ExportedProgram."""

import operator

import torch


def lift_constants(module):
    """A copy of the module's graph with placeholders where it had get_attr. Gives (graph module, placeholder -> attribute)."""
    graph, copies, attributes, parts = torch.fx.Graph(), {}, {}, {}
    for node in module.graph.nodes:
        held = _attribute(module, node.target) if node.op == "get_attr" else None
        if isinstance(held, torch.nn.Module):
            parts[node.target] = held  # of a conditional or a loop
        elif node.op == "placeholder" and "val" not in node.meta and not node.users:
            continue  # a number that was compiled in
        if node.op != "get_attr" or isinstance(held, torch.nn.Module):
            copies[node] = graph.node_copy(node, lambda n: copies[n])
            continue
        copy = graph.create_node("placeholder", node.name, name=node.name)
        copy.meta = dict(node.meta)
        attributes[copy.name] = held
        if "val" not in copy.meta:
            copy.meta["val"] = attributes[copy.name]
        copies[node] = copy
    _placeholders_first(graph)
    return torch.fx.GraphModule(parts, graph), attributes


def serialize(module):
    """The graph as models/NAME.json has it, ready for json, and the names of nodes that the schema has no words for."""
    from torch._export.serde import schema
    from torch._export.serde import serialize as serde

    serializer = serde.GraphModuleSerializer(torch.export.graph_signature.ExportGraphSignature([], []), [])
    input_of, node_of, output_of = serializer.serialize_input, serializer.handle_call_function, serializer.serialize_tensor_output
    wordless = set()

    def serialize_input(value, kind=None):
        if isinstance(value, (list, tuple)) and not value and "number" in str(kind):
            return schema.Argument.create(as_ints=[])  # inductor's own operators take empty lists of numbers
        return input_of(value, kind)

    def handle_call_function(node):
        try:
            node_of(node)
        except Exception:
            wordless.add(node.name)
            outputs = [serializer.serialize_output(name, value) for name, value in _tensors_of(node)]
            target = f"#inductor:{getattr(node.target, '__name__', node.target)}"
            serializer.graph_state.nodes.append(schema.Node(name=node.name, target=target, inputs=[], outputs=outputs, metadata={}))

    def serialize_tensor_output(name, value):
        # A tensor in a layout of its own has no strides to write: it is described by what it stands for.
        return output_of(name, value if value.layout == torch.strided else torch.empty(value.shape, dtype=value.dtype, device="meta"))

    serializer.serialize_input = serialize_input
    serializer.handle_call_function = handle_call_function
    serializer.serialize_tensor_output = serialize_tensor_output
    return serde._dataclass_to_dict(serializer.serialize_graph(module)), wordless


def _tensors_of(node):
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return [(node.name, value)]
    if not isinstance(value, (list, tuple)):
        return []
    taken = {user.args[1]: user.name for user in node.users if user.target is operator.getitem}
    return [(taken.get(index, f"{node.name}_unused_{index}"), part) for index, part in enumerate(value) if isinstance(part, torch.Tensor)]


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
