"""Packages that fail in each way that `aotifuzz explain` knows, for tests/e2e/explain_test.cpp and tests/gpu/explain.sh."""
import torch
import torch.nn as nn
from torch.export import Dim

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def _sizes(**names):
    return {name: Dim(name, min=1, max=most) for name, most in names.items()}


def computed_index():
    """The index is counted in the kernel that uses it: rows must have more rows than scores has positive columns."""

    class Model(nn.Module):
        def forward(self, scores, rows):
            place = (scores > 0).sum(1)
            return rows[place] * 2, torch.softmax(scores, 1)

    d = _sizes(b=64, t=64, n=64)
    return dict(
        mod=Model(),
        args=(torch.randn(4, 7, device=DEVICE), torch.randn(9, 5, device=DEVICE)),
        dynamic_shapes=({0: d["b"], 1: d["t"]}, {0: d["n"]}),
    )


def running_index():
    """Another call makes the index: kernel -> sort -> kernel."""

    class Model(nn.Module):
        def forward(self, scores, rows):
            order = torch.sort((scores > 0).sum(1), dim=0).values
            return rows[order] * 2

    d = _sizes(b=64, t=64, n=64)
    return dict(
        mod=Model(),
        args=(torch.randn(4, 7, device=DEVICE), torch.randn(9, 5, device=DEVICE)),
        dynamic_shapes=({0: d["b"], 1: d["t"]}, {0: d["n"]}),
    )


def logarithm():
    """NaN for what is negative. Packed with nan_asserts, which checks every buffer."""

    class Model(nn.Module):
        def forward(self, x):
            return torch.softmax(torch.log(x), 0), x.sum()

    return dict(mod=Model(), args=(torch.ones(5, 3, device=DEVICE),), dynamic_shapes=({0: _sizes(n=64)["n"]},))


def one_layer():
    """Packed without its weights."""

    return dict(mod=nn.Linear(4, 3).to(DEVICE), args=(torch.ones(5, 4, device=DEVICE),), dynamic_shapes=({0: _sizes(n=64)["n"]},))


def _double(x):
    return x * 2


def custom_operator():
    """Calls an operator that is not torch's own; tests/support/gate_ops/failing_op.cpp has it, with faults to choose from."""
    global _library
    if not hasattr(torch.ops.explain_ops, "double"):
        _library = torch.library.Library("explain_ops", "DEF")
        _library.define("double(Tensor x) -> Tensor")
        _library.impl("double", _double, "CompositeExplicitAutograd")
        torch.library.register_fake("explain_ops::double", torch.empty_like, lib=_library)

    class Model(nn.Module):
        def forward(self, x):
            return torch.ops.explain_ops.double(x + 1) + 1

    return dict(mod=Model(), args=(torch.ones(5, 3, device=DEVICE),), dynamic_shapes=({0: _sizes(n=64)["n"]},))


def kept_rows():
    """A size that depends on values, with a check that the compiled program keeps: a mask that keeps no row breaks it."""

    class Model(nn.Module):
        def forward(self, x, mask):
            kept = torch.nonzero(mask)
            torch._check(kept.size(0) >= 1)
            return x * 2, torch.ones(kept.size(0), device=x.device).softmax(0)

    d = _sizes(n=64, m=64)
    return dict(
        mod=Model(),
        args=(torch.randn(4, 3, device=DEVICE), torch.ones(5, dtype=torch.bool, device=DEVICE)),
        dynamic_shapes=({0: d["n"]}, {0: d["m"]}),
    )
