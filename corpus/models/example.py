"""The embedded example models.

One function per model. Each returns the arguments of torch.export.export; `python -m aotifuzz_pack` turns it into a
package. embedding_mlp is the model that the benchmarks time; the others each carry a real fault of torch 2.11, and
exposure_meter's is in every version up to 2.15.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.export import Dim


def embedding_mlp():
    """A small text-model head: two inputs that share batch and length, three fused kernels, one matrix product.

    Right on every legal input. Like most dynamic packages it has gaps: nothing checks that both inputs agree in size.
    """

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(100, 16)
            self.widen = nn.Linear(16, 32)
            self.norm = nn.LayerNorm(32)

        def forward(self, x, idx):
            hidden = self.norm(F.gelu(self.widen(self.tokens(idx) + x)))
            return torch.softmax(hidden, dim=-1), torch.cat([hidden, hidden * 2], dim=1)

    batch, length = Dim("batch", min=1, max=64), Dim("length", min=1, max=512)
    return dict(
        mod=Model().eval(),
        args=(torch.randn(4, 7, 16), torch.randint(0, 100, (4, 7))),
        dynamic_shapes=({0: batch, 1: length}, {0: batch, 1: length}),
    )


def exposure_meter():
    """An exposure meter: the darkest and the brightest pixel of an 8-bit frame, and where the brightest is.

    pytorch/pytorch#191499: vectorised extremes of bytes start from a value that is no byte; frames of less than 16
    pixels take the scalar loop and are right.
    """

    class Meter(nn.Module):
        def forward(self, frame):
            return frame.amin(), frame.amax(), frame.argmax()

    height, width = Dim("height", min=2, max=64), Dim("width", min=2, max=64)
    return dict(
        mod=Meter(),
        args=(torch.randint(20, 200, (8, 12), dtype=torch.uint8),),
        dynamic_shapes=({0: height, 1: width},),
    )


def argmax_transposed():
    """A router: logits arrive as [expert, token], every token picks its best expert.

    pytorch/pytorch#178964: the maximum is right, the index beside it names another expert.
    """

    class Router(nn.Module):
        def forward(self, logits, bias):
            weight, expert = torch.max(logits.t() + bias, dim=1)
            return weight, expert

    experts, tokens = Dim("experts", min=2, max=64), Dim("tokens", min=2, max=256)
    return dict(
        mod=Router(),
        args=(torch.randn(8, 24), torch.randn(24, 8)),
        dynamic_shapes=({0: experts, 1: tokens}, {0: tokens, 1: experts}),
    )


def shift_in_place():
    """A delay line that moves its samples up by one, in place.

    pytorch/pytorch#197829: the copy that keeps source and target apart is optimised away; from 18 samples on, the last
    vector is read after it was overwritten, so the caller's own buffer ends up wrong.
    """

    class DelayLine(nn.Module):
        def forward(self, samples):
            samples[1:] = samples[:-1].clone()
            return samples.sum()

    return dict(mod=DelayLine(), args=(torch.randn(8),), dynamic_shapes=({0: Dim.AUTO},))


def integer_division():
    """Bucket numbers by floor division.

    pytorch/pytorch#184406: INT_MIN // -1 ends the process with SIGFPE; eager returns.
    """

    class Buckets(nn.Module):
        def forward(self, value, width):
            return torch.div(value, width, rounding_mode="floor"), value % width

    count = Dim("count", min=1, max=1024)
    return dict(
        mod=Buckets(),
        args=(torch.tensor([7, -7, 5], dtype=torch.int32), torch.tensor([2, 2, 3], dtype=torch.int32)),
        dynamic_shapes=({0: count}, {0: count}),
    )
