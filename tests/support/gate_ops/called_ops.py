"""Exports a program that calls the operators of called_ops.cpp: python called_ops.py LIBRARY FILE.pt2"""

import os
import sys

import torch

if "AOTIFUZZ_CALLED_OPS" in os.environ:
    torch.ops.load_library(os.environ["AOTIFUZZ_CALLED_OPS"])


class Caller(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(24, 16))
        self.bias = torch.nn.Parameter(torch.randn(24))

    def forward(self, x, gate, table, rows, blocks):
        ops = torch.ops.called
        projected = ops.project(x, self.weight, self.bias) + ops.project(x, self.weight)
        wide = torch.cat([gate, gate], 1)
        flat = blocks.flatten(1)
        return (
            projected,
            ops.gated(wide, gate),
            ops.gated_even(wide, gate),
            ops.interleave(gate, gate[:, ::2].contiguous()),
            ops.spread(gate, gate[:, ::2].contiguous()),
            ops.split_heads(flat, blocks.shape[1]),
            ops.rows_of(table, rows),
            ops.styled(x, [0.5, 2.0], "two # words", [2, 0, 1], True, torch.float64),
            ops.moved(gate, torch.device("cpu")),
        )


def arguments():
    # An even number of columns: with an odd one spread() damages whoever runs it.
    return (torch.randn(5, 7, 16), torch.randn(6, 10), torch.randn(11, 12), torch.tensor([1, 4, 0]), torch.randn(5, 3, 8))


def dynamic_shapes():
    dim = torch.export.Dim
    batch = dim("batch", max=4096)
    return ({0: batch, 1: dim("steps")}, {0: dim("rows"), 1: dim.DYNAMIC}, {0: dim("words", min=3)}, {0: dim("count")},
            {0: batch, 1: dim("heads", max=64), 2: dim("width")})  # fmt: skip


def program():
    """For `python -m aotifuzz_pack called_ops.py:program -o FILE.pt2`, with the library's path in AOTIFUZZ_CALLED_OPS."""
    return torch.export.export(Caller(), arguments(), dynamic_shapes=dynamic_shapes())


def main():
    torch.ops.load_library(sys.argv[1])
    torch.export.save(program(), sys.argv[2])


if __name__ == "__main__":
    main()
