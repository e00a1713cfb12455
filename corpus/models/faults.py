"""Models on which torch 2.11.0 (CPU) goes wrong, and in part later versions, reduced from public reports.

Named after the public thread (`f` + number, pytorch/pytorch unless stated) or, where there is none, after what they do.
Each returns the arguments of torch.export.export. What is expected of each is in expectations.json.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.export import Dim

AUTO = Dim.AUTO


def f178964_max_of_transposed_sum():
    """#178964: max over a dim of a transposed operand: values right, indices 0 or the start of the tile."""

    class Model(nn.Module):
        def forward(self, a, b):
            values, indices = torch.max(a.t() + b, dim=1)
            return values, indices

    return dict(mod=Model(), args=(torch.randn(8, 8), torch.randn(8, 8)), dynamic_shapes=({0: AUTO, 1: AUTO}, {0: AUTO, 1: AUTO}))


def f178964_max_of_transposed_input():
    """#178964, nothing dynamic: the first input is itself a transposed view, which the package has as fixed strides."""

    class Model(nn.Module):
        def forward(self, a, b):
            values, indices = torch.max(a + b, dim=1)
            return values, indices

    return dict(mod=Model(), args=(torch.randn(16, 16).t(), torch.randn(16, 16)))


def f191499_extremes_of_bytes():
    """#191499: min, max and their indices over uint8: right up to 15 elements, from 16 on garbage that changes each run."""

    class Model(nn.Module):
        def forward(self, x):
            return x.min(), x.argmin(), x.max(), x.argmax()

    return dict(mod=Model(), args=(torch.randint(1, 200, (40,), dtype=torch.uint8),), dynamic_shapes=({0: AUTO},))


def f191499_extremes_of_byte_rows():
    """#191499 in two dims: rows of 16 or more bytes."""

    class Model(nn.Module):
        def forward(self, x):
            return x.amin(1), x.argmin(1), x.amax(0), x.argmax(0), x.amin()

    return dict(mod=Model(), args=(torch.randint(1, 200, (4, 20), dtype=torch.uint8),), dynamic_shapes=({0: AUTO, 1: AUTO},))


def f184406_integer_division():
    """#184406: INT_MIN // -1 raises SIGFPE and takes the process along. So does x // 0, where eager raises an error."""

    class Model(nn.Module):
        def forward(self, a, b):
            return torch.div(a, b, rounding_mode="floor"), a % b

    example = (torch.tensor([7, -7, 5], dtype=torch.int32), torch.tensor([2, 2, 3], dtype=torch.int32))
    return dict(mod=Model(), args=example, dynamic_shapes=({0: AUTO}, {0: AUTO}))


def f197895_floor_division_of_floats():
    """#197895: floor(a / b) in place of floor division: off by one where the exact quotient is just below an integer."""

    class Model(nn.Module):
        def forward(self, a, b, c, d):
            return torch.div(a, b, rounding_mode="floor"), c // d

    a, b = torch.tensor([1.0, 2.0, 3.0]), torch.full((3,), 0.3)
    return dict(mod=Model(), args=(a, b, a.double(), b.double()), dynamic_shapes=({0: AUTO},) * 4)


def f186164_division_by_scalar_buffer():
    """#186164: int64 // 0-d int64 buffer comes back as float32: wrong dtype, and wrong value beyond 2**24."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("divisor", torch.tensor(3))

        def forward(self, x):
            return x // self.divisor, torch.floor_divide(x, 3)

    return dict(mod=Model(), args=(torch.arange(10),), dynamic_shapes=({0: AUTO},))


def f183608_embedding_negative_index():
    """#183608: a negative index into an embedding wraps around like a Python index; eager raises."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 2)

        def forward(self, idx):
            return self.table(idx)

    return dict(mod=Model(), args=(torch.tensor([0, 1, 2]),), dynamic_shapes=({0: AUTO},))


def f121251_index_select_negative_index():
    """#121251: the same wrap-around in index_select."""

    class Model(nn.Module):
        def forward(self, x, idx):
            return torch.index_select(x, 0, idx)

    return dict(mod=Model(), args=(torch.randn(5, 3), torch.tensor([0, 1, 2])), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def f183769_select_by_item():
    """#183769: select at an index that comes from .item() has no bounds check: reads past the end, far enough: SIGSEGV."""

    class Model(nn.Module):
        def forward(self, x, i):
            return x.select(1, i.item()) + 1

    return dict(mod=Model(), args=(torch.randn(3, 4), torch.tensor(1)), dynamic_shapes=({1: AUTO}, None))


def f184454_softmax_of_masked_rows():
    """#184454: a mask that keeps no row is refused: an assertion u0 >= 1, though eager and export allow 0 rows."""

    class Model(nn.Module):
        def forward(self, x, mask):
            rows = x[mask]
            return torch.softmax(rows, 0), rows.sum(0), rows.mean(0)

    mask = torch.tensor([True, False, True, True, False, True])
    return dict(mod=Model(), args=(torch.randn(6, 3), mask), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def f184454_softmax_alone():
    """#184454 without the reductions beside it."""

    class Model(nn.Module):
        def forward(self, x, mask):
            return torch.softmax(x[mask], 0)

    mask = torch.tensor([True, False, True, True, False, True])
    return dict(mod=Model(), args=(torch.randn(6, 3), mask), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def output_that_is_the_input():
    """x + 0 gives the caller's own tensor back: whoever writes to the output changes the input. Eager makes a new one."""

    class Model(nn.Module):
        def forward(self, x):
            return x + 0

    return dict(mod=Model(), args=(torch.randn(8),), dynamic_shapes=({0: AUTO},))


def refused_after_writing():
    """Both inputs have one length, which is checked right before y is first used: a refused call has doubled x by then."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(4, 3), nn.Linear(4, 3)

        def forward(self, x, y):
            x.mul_(2)
            return self.left(x), self.right(y)

    length = Dim("length", min=2, max=64)
    return dict(mod=Model().eval(), args=(torch.randn(5, 4), torch.randn(5, 4)), dynamic_shapes=({0: length}, {0: length}))


def f198201_interpolate_nearest():
    """#198201: nearest-neighbour up-scaling by 1.3 x 1.5 picks other source pixels at small heights and widths."""

    class Model(nn.Module):
        def forward(self, x):
            return F.interpolate(x, scale_factor=(1.3, 1.5), mode="nearest")

    return dict(mod=Model(), args=(torch.randn(1, 1, 3, 4),), dynamic_shapes=({2: AUTO, 3: AUTO},))


def f151925_reshape_by_hundred():
    """#151925: the size must be a multiple of 100; the package checks nothing and drops or over-reads the rest."""

    class Model(nn.Module):
        def forward(self, x):
            return x.reshape(100, -1).clone() + 1

    return dict(mod=Model(), args=(torch.randn(200),), dynamic_shapes=({0: AUTO},))


def f122784_strides_of_a_product():
    """#122784: with every dim dynamic the kernel computes dense strides from the sizes and ignores the tensor's own."""

    class Model(nn.Module):
        def forward(self, a, b):
            return torch.sum(a * b[:, None], dim=2)

    return dict(mod=Model(), args=(torch.randn(2, 3, 4), torch.randn(2, 4)), dynamic_shapes=({0: AUTO, 1: AUTO, 2: AUTO}, {0: AUTO, 1: AUTO}))


def strides_of_a_pointwise():
    """As #122784, one pointwise kernel: transposed, row-gapped and expanded inputs all come out wrong."""

    class Model(nn.Module):
        def forward(self, x):
            return x * 2

    return dict(mod=Model(), args=(torch.randn(4, 6),), dynamic_shapes=({0: AUTO, 1: AUTO},))


def f138462_other_dtype():
    """#138462: compiled for float64, given float32: reads twice the bytes there are."""

    class Model(nn.Module):
        def forward(self, x):
            return torch.sin(x) + 1

    return dict(mod=Model(), args=(torch.randn(64, dtype=torch.float64),), dynamic_shapes=({0: AUTO},))


def equal_sizes_unchecked():
    """Two inputs share batch and length by declaration; nothing compares them, so a shorter one is over-read."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(10, 4)

        def forward(self, x, idx):
            return self.table(idx) + x

    batch, length = Dim("batch", min=1, max=64), Dim("length", min=1, max=512)
    return dict(
        mod=Model(),
        args=(torch.randn(3, 7, 4), torch.randint(0, 10, (3, 7))),
        dynamic_shapes=({0: batch, 1: length}, {0: batch, 1: length}),
    )


def f153992_channels_unchecked():
    """#153992: 36 channels are baked in; 9 are taken without a word, 72 are cut."""

    class Model(nn.Module):
        def forward(self, x):
            return (x * 2).sum(1)

    return dict(mod=Model(), args=(torch.randn(2, 36, 16, 16),), dynamic_shapes=({0: AUTO},))


def f150364_branch_on_size():
    """#150364: the traced branch holds from 6 rows on; export narrows the range, the package does not enforce it."""

    class Model(nn.Module):
        def forward(self, x):
            return x.sin() if x.shape[0] > 5 else x.cos()

    return dict(mod=Model(), args=(torch.randn(6, 5),), dynamic_shapes=({0: AUTO},))


def f139789_overlapping_inputs():
    """#139789: x is doubled in place before x + y; if y shares memory with x, y is read too early."""

    class Model(nn.Module):
        def forward(self, x, y):
            x.mul_(2)
            return x + y

    return dict(mod=Model(), args=(torch.randn(4), torch.randn(4)), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def f197829_shift_in_place():
    """#197829: x[1:] = x[:-1].clone() smears from 18 elements on; the input itself is left wrong."""

    class Model(nn.Module):
        def forward(self, x):
            x[1:] = x[:-1].clone()
            return x + 1

    return dict(mod=Model(), args=(torch.randn(8),), dynamic_shapes=({0: AUTO},))


def f137748_even_sizes():
    """#137748: the size is declared as 2 * half; an odd one is accepted and the last row dropped."""

    class Model(nn.Module):
        def forward(self, x):
            return x + 1

    half = Dim("half", min=1, max=100)
    return dict(mod=Model(), args=(torch.randn(10),), dynamic_shapes=({0: 2 * half},))


def f151582_pinned_batch():
    """#151582: an automatic dim with an example size of 1 is pinned to 1; 4 rows in, 1 row out, 0 rows: SIGSEGV."""

    class Model(nn.Module):
        def forward(self, x):
            return x * 2 + x.sum(0)

    return dict(mod=Model(), args=(torch.randn(1, 3),), dynamic_shapes=({0: AUTO},))


def torchrec2250_jagged_sum():
    """pytorch/torchrec#2250: sums of a jagged tensor without a single value: the padded cumsum dies with SIGSEGV."""

    class Model(nn.Module):
        def forward(self, values, offsets):
            lengths = offsets[1:] - offsets[:-1]
            rows = lengths.shape[0]
            owner = torch.repeat_interleave(torch.arange(rows), lengths, output_size=values.shape[0])
            return torch.zeros(rows).index_add(0, owner, values), F.pad(torch.cumsum(values, 0), (1, 0))

    return dict(mod=Model(), args=(torch.randn(6), torch.tensor([0, 2, 2, 6])), dynamic_shapes=({0: AUTO}, {0: AUTO}))


def attention_without_tokens():
    """Attention over no tokens at all: eager returns an empty result, the kernel that the package calls divides by zero (SIGFPE)."""

    class Model(nn.Module):
        def forward(self, q, mask):
            return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)

    mask = torch.ones(6, 6).tril().bool()
    return dict(mod=Model(), args=(torch.randn(1, 2, 6, 8), mask), dynamic_shapes=({2: AUTO}, {0: AUTO, 1: AUTO}))


def expm1_near_zero():
    """expm1 is emitted as exp(x) - 1 and loses its digits for small x."""

    class Model(nn.Module):
        def forward(self, x):
            return torch.expm1(x)

    return dict(mod=Model(), args=(torch.randn(8),), dynamic_shapes=({0: AUTO},))


def fft_of_a_transposed_axis():
    """The real part of an FFT over dim 1: right numbers in the wrong places (family of #166514)."""

    class Model(nn.Module):
        def forward(self, x):
            return torch.fft.fft(x, dim=1).real

    return dict(mod=Model(), args=(torch.randn(2, 5, 3),), dynamic_shapes=({0: AUTO},))


def f195582_negative_pad():
    """#195582: conv, norm, flatten, then a pad that cuts 400 of 450 columns: the linear layer reads memory never written."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 50, 2)
            self.norm = nn.BatchNorm2d(50)
            self.linear = nn.Linear(50, 10)

        def forward(self, x):
            flat = self.norm(self.conv(x)).view(3, -1)
            return self.linear(F.pad(flat, (0, -400)))

    return dict(mod=Model().eval(), args=(torch.randn(3, 1, 4, 4),))


def f166514_ifft_after_conv():
    """#166514: the transform takes a channels-last result for a dense one: right values in the wrong places."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 64, 3, padding=1)

        def forward(self, x):
            return torch.fft.ifft(self.conv(x), n=256).real

    return dict(mod=Model().eval(), args=(torch.randn(4, 3, 8, 8),))


def f197067_zero_tensor():
    """#197067: a tensor without storage (torch._efficientzerotensor) is dereferenced: SIGSEGV."""

    class Model(nn.Module):
        def forward(self, x):
            return x[-1] + 10

    return dict(mod=Model(), args=(torch.randn(3),))


def power_of_the_size():
    """float(n) of a size n pins the dim to the example's 8, silently: any other size is taken and answered with 8 rows."""

    class Model(nn.Module):
        def forward(self, x):
            n = x.shape[0]
            return x * (2.0**n) + float(n) * 1e18

    return dict(mod=Model(), args=(torch.randn(8),), dynamic_shapes=({0: AUTO},))


def slice_beyond_the_end():
    """x[4:8] of a shorter x: export narrows the size to >= 8, the package does not check and reads past the end."""

    class Model(nn.Module):
        def forward(self, x):
            return x[4:8] * 2

    return dict(mod=Model(), args=(torch.randn(10),), dynamic_shapes=({0: AUTO},))
