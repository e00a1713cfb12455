"""Operators of Python's prims library that no other process knows, put as ATen operators that give the same values."""

import operator

import torch

# In a node's meta: buffers hold its value in another type than the graph has now.
RETYPED = "aotifuzz_retyped"

# What readers of the map put as ATen operators themselves.
_KNOWN = {"convert_element_type", "device_put", "mul", "add", "sub", "view_of", "view_element_type", "fma", "iota"}
_RANDOM = {"inductor_seeds", "inductor_seed", "inductor_lookup_seed", "inductor_random", "inductor_randint"}


def replace_prims(graph):
    """Changes `graph` in place. Gives the names of nodes whose prim has no ATen operator."""
    left = set()
    for node in list(graph.nodes):
        name = prim_name(node.target)
        if name in _REPLACE:
            if not _REPLACE[name](graph, node):
                left.add(node.name)
        elif name and name not in _KNOWN and name not in _RANDOM:
            left.add(node.name)
    return left


def prim_name(target):
    """"fma" for torch.ops.prims.fma.default, "" for an operator of another library."""
    parts = str(target).split(".")
    return parts[1] if isinstance(target, torch._ops.OpOverload) and parts[0] == "prims" else ""


def draws(target):
    """Is it a prim of random numbers?"""
    return prim_name(target) in _RANDOM


def _alias(graph, node):
    """Only the layout changes, and labels say that of each buffer."""
    node.target, node.args, node.kwargs = torch.ops.aten.alias.default, node.args[:1], {}
    return True


def _max_pool(graph, node):
    """The pooled values are the same; instead of offsets inside the window there are indices."""
    if not isinstance(node.args[1], (list, tuple)) or len(node.args[1]) != 2:
        return False
    node.target = torch.ops.aten.max_pool2d_with_indices.default
    pooled, offsets = node.meta["val"]
    node.meta["val"] = (pooled, _like(offsets, torch.int64))
    for user in node.users:
        if user.target is operator.getitem and user.args[1] == 1:
            user.meta["val"] = node.meta["val"][1]
            user.meta[RETYPED] = True
    return True


def _pool_indices(graph, node):
    """Offsets made into indices: by now the pooling gives them."""
    offsets = node.args[0]
    if offsets.target is not operator.getitem or offsets.args[0].target is not torch.ops.aten.max_pool2d_with_indices.default:
        return False
    offsets.meta[RETYPED] = True
    return _alias(graph, node)


def _softmax_online(graph, node):
    """Maximum, and sum of the exponentials of what lies below it, along one dimension."""
    x, dim = node.args
    aten, made = torch.ops.aten, {}
    with graph.inserting_before(node):
        made[0] = graph.call_function(aten.amax.default, (x, [dim], True))
        below = graph.call_function(aten.sub.Tensor, (x, made[0]))
        raised = graph.call_function(aten.exp.default, (below,))
        made[1] = graph.call_function(aten.sum.dim_IntList, (raised, [dim], True))
    below.meta = raised.meta = {"val": x.meta["val"]}
    for index, value in made.items():
        value.meta = {**node.meta, "val": node.meta["val"][index]}
    for user in list(node.users):
        if user.target is operator.getitem:
            user.target, user.args = aten.alias.default, (made[user.args[1]],)
    graph.erase_node(node)
    return True


def _like(value, dtype):
    """Metadata of a tensor of another type and the same layout."""
    with torch._subclasses.fake_tensor.unset_fake_temporarily() if not hasattr(value, "fake_mode") else value.fake_mode:
        return torch.empty_strided(value.shape, value.stride(), dtype=dtype, device=value.device)


def _flip(graph, node):
    node.target = torch.ops.aten.flip.default
    return True


def _elementwise(graph, node):
    """The operands of a prim have one type already, so that ATen's operator of that name does the same."""
    packet = getattr(torch.ops.aten, prim_name(node.target))
    overload = "Tensor" if len(node.args) == 2 and all(isinstance(arg, torch.fx.Node) for arg in node.args) else "default"
    if node.kwargs or not hasattr(packet, overload):
        return False
    node.target = getattr(packet, overload)
    return True


_ELEMENTWISE = (
    "abs acos acosh asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil cos cosh digamma erf "
    "erfc exp exp2 expm1 floor fmax fmin fmod gcd hypot igamma igammac isfinite lgamma log log10 log1p log2 maximum "
    "minimum neg nextafter reciprocal remainder round rsqrt sign signbit sin sinh sqrt tan tanh trunc"
).split()

_REPLACE = {
    **{name: _elementwise for name in _ELEMENTWISE},
    "rev": _flip,
    "inductor_force_stride_order": _alias,
    "_low_memory_max_pool_with_offsets": _max_pool,
    "_low_memory_max_pool_offsets_to_indices": _pool_indices,
    "prepare_softmax_online": _softmax_online,
}
