"""embedding_mlp on CUDA with one fault planted into the Triton source of one kernel, while inductor compiles it.

One function per kind of change, for aotifuzz_pack. Prints the name of the kernel that was changed, as "planted: NAME".
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import models
from torch._inductor.codegen.triton import TritonScheduling


def _plant(pattern, replacement):
    define, done = TritonScheduling.define_kernel, []

    def with_fault(self, source, *others):
        changed = source if done else re.sub(pattern, replacement, source, count=1)
        name = define(self, changed, *others)
        if changed != source:
            done.append(name)
            print(f"planted: {name}", flush=True)
        return name

    TritonScheduling.define_kernel = with_fault
    return models.embedding_mlp()


def constant():
    return _plant(r"\b0\.7071067811865476\b", "0.7072")


def operands():
    """The sum of embedding and input becomes a difference."""
    return _plant(r"(tmp\d+ = tmp\d+) \+ (tmp\d+)(\n\s+tl\.store)", r"\1 - \2\3")


def reduction_length():
    """The layer norm divides by one too few."""
    return _plant(r"(tmp\d+ = [^\n]*)\b32\.0\b", r"\g<1>31.0")


def wrong_function():
    return _plant(r"\blibdevice\.rsqrt\(", "libdevice.sqrt(")


def tail():
    """The last element is not written."""
    return _plant(r"xmask = xindex < xnumel", "xmask = xindex < xnumel - 1")


def index_of_the_tile():
    return _plant(r"xindex = xoffset \+ tl\.arange\(0, XBLOCK\)\[:\]", "xindex = tl.arange(0, XBLOCK)[:]")
