"""Convolutions whose bias inductor adds in a later kernel: the graph gets the value that lies between."""

import torch

from .lowering_record import Stored


def split_biases(graph, externs, buffers, stored):
    """Changes `graph`, and what `externs` and `stored` say of it, where a convolution was given no bias."""
    nodes = {node.name: node for node in graph.nodes}
    for extern in externs:
        node = nodes.get(extern.node)
        if node is not None and node.target is torch.ops.aten.convolution.default and len(extern.inputs) == 2 and node.args[2] is not None:
            _split(graph, node, extern, buffers, stored)


def _split(graph, node, extern, buffers, stored):
    x, weight, bias, *rest = node.args
    shape = [bias.meta["val"].shape[0]] + [1] * (node.meta["val"].dim() - 2)
    with graph.inserting_before(node):
        bare = graph.create_node("call_function", node.target, (x, weight, None, *rest), name=f"{node.name}_without_bias")
        column = graph.call_function(torch.ops.aten.view.default, (bias, shape))
    bare.meta = dict(node.meta)
    column.meta = {"val": bias.meta["val"].new_empty(shape)}
    node.target, node.args, node.kwargs = torch.ops.aten.add.Tensor, (bare, column), {}
    extern.node, extern.tensors = bare.name, [x.name, weight.name]
    buffer = buffers.get(extern.outputs[0])
    if buffer is None or buffer.layout is None:
        return
    stored[bare.name] = Stored(buffer.name, buffer.layout, buffer.dtype)
    if node.name in stored and stored[node.name].buffer == buffer.name:
        del stored[node.name]
