"""What is kept of one lowering of inductor: plain values, so that the rules that read it know nothing of inductor."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Layout:
    """Sizes, strides and offset in elements: ints or sympy expressions. The offset counts from the buffer's first element."""

    size: list
    stride: list
    offset: Any = 0


@dataclass
class Stored:
    """Where a value of the graph lies."""

    buffer: str
    layout: Layout
    dtype: str


@dataclass
class Buffer:
    """A buffer of inductor, an input or a constant; `layout` is None where it is no single strided tensor."""

    name: str
    dtype: str = ""
    layout: Layout | None = None
    alias_of: str = ""  # a piece of this other buffer, from its pointer on
    made_by: str = ""  # graph node that was being lowered when it came to be
    origins: list = field(default_factory=list)
    reduction: str = ""  # "sum", "welford_reduce"...
    reduced: Any = 1  # elements per result
    result: int | None = None  # which result of a reduction with several
    pieces: list = field(default_factory=list)  # of a concatenation: buffers, in order


@dataclass
class KernelArgument:
    name: str
    c_type: str
    buffer: str = ""  # of a pointer
    expression: Any = None  # of a number
    role: str = ""  # in, out, inout, size, other


@dataclass
class Kernel:
    """One call of generated code. `operations` are the scheduler's, or None where the hook that tells them did not fit."""

    name: str
    arguments: list
    operations: list | None = None
    triton: bool = False
    launch: dict | None = None
    written_by_user: bool = False


@dataclass
class Extern:
    """One call of a library function."""

    operation: str
    node: str  # graph node that it was made for
    kernel: str  # inductor's name; the symbol that is called may differ
    inputs: list  # of Stored
    outputs: list  # of buffer names
    mutated: list  # of buffer names
    tensors: list = field(default_factory=list)  # graph values given, where they match `inputs` one by one


@dataclass
class Lowering:
    graph: Any  # torch.fx.GraphModule: the post-grad graph, constants lifted to placeholders
    constants: dict  # placeholder -> tensor, for those that were get_attr
    fqns: dict  # placeholder -> (name in the package, fqn)
    inputs: list  # placeholders that are tensors given to the package, in order
    stored: dict  # value -> Stored
    buffers: dict  # name -> Buffer
    kernels: list
    externs: list
    ignored: set  # buffers whose contents mean nothing
    order: dict  # operation -> position in the schedule
    writes: dict  # operation -> names of the buffers that it defines
    mutators: dict  # buffer -> operations that change it, in order
    node_of: dict  # operation -> graph node
    reused: dict  # buffer -> the one whose memory it took over
    symbols: dict  # name -> sympy symbol
    sources: dict  # symbol -> where it is read
    multiples: dict  # symbol -> where a multiple of it is read, for those that stand nowhere by themselves
    precomputed: dict  # name -> expression
    wrapper: str  # C++ text of the wrapper
    kernel_sources: dict  # Triton kernel -> its Python text
    lost: set  # nodes of the graph that cannot be run by themselves: mutations that no value describes, prims
    notes: list = field(default_factory=list)
