"""Models on which every supported torch (CPU) is right where a public report, or common sense, might doubt it.

A fault reported on one of these is a false alarm until shown otherwise. Names as in faults.py.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.export import Dim

AUTO = Dim.AUTO


def c99879_argmax_ties_and_nan():
    """#99879: which of several equal maxima wins is not promised; a NaN counts as the maximum on both sides."""

    class Model(nn.Module):
        def forward(self, x):
            values, indices = x.max(0)
            return x.argmax(), values, indices

    return dict(mod=Model(), args=(torch.randn(10),), dynamic_shapes=({0: AUTO},))


def c114229_argmin_of_quotient():
    """#114229: 0 / 0 makes NaN inside the kernel, then argmin and argmax see it or a column of zeros."""

    class Model(nn.Module):
        def forward(self, x):
            return (x / x).argmin(0), x / x, (x - x).argmax(0)

    return dict(mod=Model(), args=(torch.randn(6, 5),), dynamic_shapes=({0: AUTO, 1: AUTO},))


def c108520_int32_wraps_before_cast():
    """#108520: int32 sums and products wrap before they are widened."""

    class Model(nn.Module):
        def forward(self, x):
            return (x + x).to(torch.int64), (x * x).to(torch.int64), (x - 5 + x).to(torch.float32)

    return dict(mod=Model(), args=(torch.tensor([1, 2, 3], dtype=torch.int32),), dynamic_shapes=({0: AUTO},))


def c131910_negative_float_to_byte():
    """#131910: float values outside 0..255 to uint8: undefined in C++, accepted as it is."""

    class Model(nn.Module):
        def forward(self, x):
            return x.to(torch.uint8)

    return dict(mod=Model(), args=(torch.randn(20) * 50,), dynamic_shapes=({0: AUTO},))


def c188218_pooling_of_small_batches():
    """#188218: pooling with a batch of 1 and of 0."""

    class Model(nn.Module):
        def forward(self, x):
            return F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 2), F.adaptive_avg_pool2d(x, 2)

    return dict(mod=Model(), args=(torch.randn(3, 2, 6, 6),), dynamic_shapes=({0: AUTO},))


def c107066_jagged_to_dense():
    """#107066: a dense 4-column table from values and offsets, masked; no values at all is fine."""

    class Model(nn.Module):
        def forward(self, values, offsets):
            position = offsets[:-1, None] + torch.arange(4)
            inside = position < offsets[1:, None]
            return torch.where(inside, values[torch.where(inside, position, 0)], torch.zeros(()))

    return dict(mod=Model(), args=(torch.randn(6), torch.tensor([0, 2, 2, 6])), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def c189401_thin_matrix_product():
    """#189401: a transposed operand with 3 rows times a 3 x 4 matrix, from 5 to 200 columns."""

    class Model(nn.Module):
        def forward(self, a, b):
            return a.t() @ b, a.t() @ b.t().contiguous().t()

    return dict(mod=Model(), args=(torch.randn(3, 64), torch.randn(3, 4)), dynamic_shapes=({1: AUTO}, None))


def c172693_reshape_of_a_gapped_view():
    """#172693: the example has a gap between batches (strides 288, 9, 1); reshape must not assume it dense."""

    class Model(nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0], x.shape[1] // 2, -1) + 1

    return dict(mod=Model(), args=(torch.randn(2, 32, 9)[:, :16],), dynamic_shapes=({0: AUTO, 1: AUTO, 2: AUTO},))


def topk_sort_kthvalue():
    """The four largest, a stable sort and the fourth smallest; fewer than four elements raise on both sides."""

    class Model(nn.Module):
        def forward(self, x):
            largest, where = torch.topk(x, 4)
            ordered, order = torch.sort(x, stable=True)
            fourth, position = torch.kthvalue(x, 4)
            return largest, where, ordered, order, fourth, position

    return dict(mod=Model(), args=(torch.randn(8),), dynamic_shapes=({0: AUTO},))


def searchsorted_and_bucketize():
    """Searches in sorted boundaries, then an index taken from the answer: one past the end raises on both sides."""

    class Model(nn.Module):
        def forward(self, boundaries, x):
            left = torch.searchsorted(boundaries, x)
            return left, torch.bucketize(x, boundaries, right=True), boundaries[left]

    return dict(
        mod=Model(),
        args=(torch.randn(8).sort().values, torch.randn(5).clamp(-0.1, 0.1)),
        dynamic_shapes=({0: AUTO}, {0: AUTO}),
    )


def masked_attention():
    """Attention by hand and by the fused op; a query that may see nothing gives a row of NaN or of zeros on both sides."""

    class Model(nn.Module):
        def forward(self, q, mask):
            scores = (q @ q.transpose(-1, -2)).masked_fill(~mask, -math.inf)
            return F.scaled_dot_product_attention(q, q, q, attn_mask=mask), torch.softmax(scores, -1)

    mask = torch.ones(6, 6).tril().bool()
    # At least one token: without any it dies, see faults.attention_without_tokens.
    length = Dim("length", min=1, max=64)
    return dict(mod=Model(), args=(torch.randn(1, 2, 6, 8), mask), dynamic_shapes=({2: length}, {0: length, 1: length}))


def repeat_rows():
    """Row i repeated r[i] times; all zero gives no rows; a negative count raises on both sides."""

    class Model(nn.Module):
        def forward(self, x, repeats):
            return torch.repeat_interleave(x, repeats, dim=0) * 2

    return dict(mod=Model(), args=(torch.randn(3, 2), torch.tensor([1, 2, 3])), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def narrow_integers():
    """8-bit arithmetic wraps at 8 bits before it is widened; abs and minus of -128 stay -128."""

    class Model(nn.Module):
        def forward(self, a, b, c, d):
            return (
                (a - b).to(torch.int32),
                (a * b).to(torch.int32),
                (-c).to(torch.int32),
                c.abs().to(torch.int32),
                (c * d).float(),
                (a + b) // 2,
                (c + d) > 0,
                (a - b).float().mean(),
            )

    unsigned = [torch.randint(0, 256, (8,), dtype=torch.uint8) for _ in range(2)]
    signed = [torch.randint(-128, 128, (8,), dtype=torch.int8) for _ in range(2)]
    return dict(mod=Model(), args=(*unsigned, *signed), dynamic_shapes=({0: AUTO},) * 4)


def shifts_beyond_the_width():
    """Shifts by the width, by more and by negative counts, 32 and 64 bits."""

    class Model(nn.Module):
        def forward(self, x, count, y):
            short = count.to(torch.int32)
            return x << count, x >> count, y << short, y >> short

    example = (torch.tensor([1, -5, 7]), torch.tensor([1, 2, 3]), torch.tensor([1, -5, 7], dtype=torch.int32))
    return dict(mod=Model(), args=example, dynamic_shapes=({0: AUTO},) * 3)


def c174172_copysign_minus_zero():
    """#174172: the sign of a Python scalar -0.0 survives."""

    class Model(nn.Module):
        def forward(self, x):
            return torch.copysign(x, -0.0)

    return dict(mod=Model(), args=(torch.randn(6),), dynamic_shapes=({0: AUTO},))


def c122457_complex_views():
    """#122457: a complex view of an intermediate and its real view, both returned."""

    class Model(nn.Module):
        def forward(self, x):
            z = torch.view_as_complex(x + 1)
            return z, torch.view_as_real(z * 2), torch.view_as_real(z)

    return dict(mod=Model(), args=(torch.randn(4, 2),), dynamic_shapes=({0: AUTO},))


def c195214_bfloat16_compare():
    """#195214: bool outputs from bfloat16 arithmetic: the package keeps float32 inside and is nearer to float64 than eager."""

    class Model(nn.Module):
        def forward(self, a):
            y = (a * 3) / 3
            return y == a, y < a, torch.where(y > a, 1, 0).sum()

    return dict(mod=Model(), args=(torch.randn(64, dtype=torch.bfloat16),), dynamic_shapes=({0: AUTO},))


def closed_gate():
    """A residual block behind a gate that is still zero, as at the start of training: no output shows what the block computes."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.widen, self.narrow = nn.Linear(24, 40), nn.Linear(40, 24)
            self.gate = nn.Parameter(torch.zeros(24))

        def forward(self, x, mask):
            scores = (x @ x.transpose(1, 2) / 24**0.5).masked_fill(~mask[:, None, :], -1e4)
            mixed = torch.softmax(scores, dim=-1) @ x
            return x + self.gate * self.narrow(F.gelu(self.widen(mixed)))

    batch, length = Dim("batch", min=1, max=16), Dim("length", min=1, max=128)
    return dict(
        mod=Block().eval(),
        args=(torch.randn(3, 19, 24), torch.rand(3, 19) > 0.3),
        dynamic_shapes=({0: batch, 1: length}, {0: batch, 1: length}),
    )
