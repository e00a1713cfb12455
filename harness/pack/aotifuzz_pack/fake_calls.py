"""One call of an operator: with a fake and symbolic sizes, with a fake and numbers, or for real.

A request names the call in the words of the gate's worker (harness/gate/fake_client.cpp), the answer says what came
out. Nothing here judges.
"""

import contextlib
import functools
import linecache
import os
import sys

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses import fake_tensor
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from .size_trees import NotFollowed, tree_of

# c10's names of scalar types. One that this torch lacks cannot be an output's.
DTYPE_NAMES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16", "Float": "float32",
    "Double": "float64", "ComplexHalf": "complex32", "ComplexFloat": "complex64", "ComplexDouble": "complex128", "Bool": "bool",
    "BFloat16": "bfloat16", "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64", "Float8_e5m2": "float8_e5m2",
    "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2fnuz": "float8_e5m2fnuz", "Float8_e4m3fnuz": "float8_e4m3fnuz",
    "Float8_e8m0fnu": "float8_e8m0fnu",
}  # fmt: skip
DTYPES = {name: getattr(torch, attribute) for name, attribute in DTYPE_NAMES.items() if hasattr(torch, attribute)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

# The largest int64: no bound.
UNBOUNDED = 2**63 - 1
PATTERN_STEP, PATTERN_MODULUS = 7, 11
ERROR_CHARACTERS_MAX = 400
READS_MEMORY = ("data pointer", "numpy() is not supported", "Cannot copy out of meta tensor")
# Folders whose lines are not the user's.
OTHERS = tuple(os.path.join(os.path.dirname(os.path.abspath(file)), "") for file in (__file__, torch.__file__))


def is_users(path):
    return not path.startswith((*OTHERS, "<"))


def place(frame):
    code = frame.f_code
    return {"file": os.path.abspath(code.co_filename), "line": frame.f_lineno, "function": code.co_name}


def expression_at(frame):
    """The part of the source that is being evaluated, in one line."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    if hasattr(frame.f_code, "co_positions"):
        first, last, begin, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        if first == last == frame.f_lineno and begin is not None:
            return line.encode()[begin:end].decode(errors="replace")
    return line.strip()


def memory_of(tensor):
    return torch.empty(0, dtype=torch.uint8, device="cpu").set_(tensor.untyped_storage())


OPERATIONS = {
    "pow": lambda a, b: a**b,
    "neg": lambda a: -a,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "abs": lambda a: torch.sym_max(a, -a),
    "modular": lambda a, b, c: (a // b) % c,
    "ite": lambda condition, a, b: torch.sym_ite(condition, a, b),
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "not": torch.sym_not,
}
# Of any number of operands, joined from the left.
JOINED = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "max": torch.sym_max,
    "min": torch.sym_min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}


def formula(tree, sizes):
    """The value of harness/gate/size_formula.h's lists."""
    if isinstance(tree, int):
        return tree
    name, operands = tree[0], tree[1:]
    if name == "sym":
        return sizes[operands[0]]
    values = [formula(operand, sizes) for operand in operands]
    return functools.reduce(JOINED[name], values) if name in JOINED else OPERATIONS[name](*values)


class Call:
    """`request`: op, kind, values, names, least, layout, seed and arguments."""

    def __init__(self, op, request):
        self.op, self.request = op, request
        self.kind = request["kind"]
        self.values = request["values"]
        self.symbols, self.unbacked, self.numbers, self.sizes = {}, [], [], list(self.values)
        self.shape_env = None

    # Arguments.

    def size(self, size, symbolic=True):
        """Of [symbol, factor, add], or of an expression as a nested list."""
        if isinstance(size[0], str):
            return formula(size, self.sizes if symbolic else self.values)
        symbol, factor, add = size
        if symbol < 0:
            return add
        base = self.sizes[symbol] if symbolic else self.values[symbol]
        return factor * base + add if add else base if factor == 1 else factor * base

    def tensor(self, spec):
        sizes = [self.size(triple) for triple in spec["sizes"]]
        dtype, rank, layout = DTYPES[spec["dtype"]], len(sizes), self.request["layout"]
        if rank == 0 or (layout == "transposed" and rank < 2):
            layout = "contiguous"
        memory = list(sizes)
        if layout == "transposed":
            memory[-1], memory[-2] = memory[-2], memory[-1]
        elif layout == "gaps":
            memory[-1] = memory[-1] * 2
        out = torch.empty(memory, dtype=dtype, device="cpu")
        if self.kind == "kernel" and layout == "gaps":
            out.zero_()
        if layout == "transposed":
            out = out.transpose(-1, -2)
        elif layout == "gaps":
            strides = [*out.stride()[:-1], 2]
            out = out.as_strided(sizes, strides, 1)
        if self.kind == "kernel":
            self.fill(out, spec)
        return out

    def fill(self, out, spec):
        """The values of harness/gate/argument_builder.cpp."""
        count, seed = out.numel(), self.request["seed"]
        if count == 0:
            return
        limit, values = self.size(spec["limit"]), spec["values"]
        if values == "const":
            numbers = [spec["constant"]] * count
        elif values == "below":
            numbers = [(i * PATTERN_STEP + seed) % limit if limit > 0 else 0 for i in range(count)]
        elif values == "permutation":
            numbers = range(count - 1, -1, -1)
        elif values == "offsets":
            numbers = [limit * i // (count - 1) if count > 1 else 0 for i in range(count)]
        elif values == "lengths":
            numbers = [limit * (i + 1) // count - limit * i // count for i in range(count)]
        else:
            numbers = [(i * PATTERN_STEP + seed * 3) % PATTERN_MODULUS for i in range(count)]
        if out.dtype.is_floating_point or out.dtype.is_complex:
            dense = torch.tensor(list(numbers), dtype=torch.float32, device="cpu")
            dense = dense if values == "const" else dense * 0.25 - 0.5
        else:
            dense = torch.tensor([int(n) for n in numbers], dtype=torch.int64, device="cpu")
            dense = dense & 1 if out.dtype == torch.bool else dense
        out.copy_(dense.reshape(out.shape))

    def argument(self, spec):
        kind = spec["kind"]
        if kind == "none":
            return None
        if kind == "tensor":
            return self.tensor(spec["tensors"][0])
        if kind == "tensors":
            return [self.tensor(one) for one in spec["tensors"]]
        if kind == "size":
            return self.size(spec["sizes"][0], spec["symbolic"])
        if kind == "sizes":
            return [self.size(triple, spec["symbolic"]) for triple in spec["sizes"]]
        if kind == "list":
            return [self.argument(item) for item in spec["items"]]
        if kind == "number":
            return float(spec["value"])
        if kind == "dtype":
            return DTYPES[spec["value"]]
        return spec["value"]

    def call(self):
        """Only what the operator raises leaves this as it is: a failure of our own is none of its faults."""
        try:
            values = [self.argument(spec) for spec in self.request["arguments"]]
        except Exception as error:
            raise NotFollowed(f"arguments: {text_of(error)}") from error
        self.inputs = [t for v in values for t in (v if isinstance(v, list) else [v]) if isinstance(t, torch.Tensor)]
        before = [memory_of(t).clone() for t in self.inputs] if self.kind == "kernel" else []
        if self.shape_env is not None:
            self.guards_before = len(self.shape_env.guards)
        self.numbers.clear()
        schema = self.op._schema.arguments
        positional = [v for v, a in zip(values, schema) if not a.kwarg_only]
        named = {a.name: v for v, a in zip(values, schema) if a.kwarg_only}
        with torch._C._AutoDispatchBelowAutograd():
            result = self.op(*positional, **named)
        try:
            return self.outcome(result, before)
        except NotFollowed:
            raise
        except Exception as error:
            raise NotFollowed(f"outputs: {text_of(error)}") from error

    def outcome(self, result, before):
        outputs = []
        for part in result if isinstance(result, (tuple, list)) else [result]:
            outputs += part if isinstance(part, (tuple, list)) else [part]
        tensors = [o for o in outputs if o is None or isinstance(o, torch.Tensor)] if self.op._schema.returns else []
        answer = {"outputs": [self.facts(t) for t in tensors]}
        if self.kind == "kernel":
            answer["changed"] = [i for i, t in enumerate(self.inputs) if not torch.equal(memory_of(t), before[i])]
        return answer

    # What came out.

    def index_of(self, symbol):
        if symbol in self.symbols:
            return self.symbols[symbol]
        if symbol not in self.unbacked:
            self.unbacked.append(symbol)
        return len(self.values) + self.unbacked.index(symbol)

    def tree(self, size):
        if isinstance(size, int):
            return size
        expr = self.shape_env.simplify(size.node.expr) if isinstance(size.node, SymNode) else None
        if expr is None:
            raise NotFollowed(str(size))
        return tree_of(expr, self.index_of)

    def facts(self, tensor):
        if tensor is None:
            return None
        if tensor.dtype not in NAMES or tensor.layout != torch.strided:
            raise NotFollowed(f"an output of {tensor.dtype}, {tensor.layout}")
        storage, alias = tensor.untyped_storage()._cdata, -1
        for i, one in enumerate(self.inputs):
            if one.untyped_storage()._cdata == storage:
                alias = i
                break
        return {
            "sizes": [self.tree(s) for s in tensor.shape],
            "strides": [self.tree(s) for s in tensor.stride()],
            "offset": self.tree(tensor.storage_offset()),
            "dtype": NAMES[tensor.dtype],
            "alias": alias,
        }

    def conditions(self):
        """What ShapeEnv guards on since the arguments were made, as far as it can be said."""
        out, not_followed = [], ""
        for guard in self.shape_env.guards[self.guards_before :]:
            try:
                out.append(tree_of(guard.expr, self.index_of))
            except NotFollowed as error:
                not_followed = str(error)
        return out, not_followed

    def ranges(self):
        out = []
        for symbol in self.unbacked:
            known = self.shape_env.var_to_range.get(symbol)
            low = int(known.lower) if known is not None and known.lower.is_Integer else 0
            high = int(known.upper) if known is not None and known.upper.is_Integer else UNBOUNDED
            out.append([max(low, 0), min(high, UNBOUNDED)])
        return out

    # Runs.

    def run(self):
        if self.kind == "kernel":
            with self.errors() as answer:
                answer |= self.call()
            return answer
        self.shape_env = ShapeEnv(specialize_zero_one=False, duck_shape=False, allow_scalar_outputs=False, allow_dynamic_output_shape_ops=True)
        mode = fake_tensor.FakeTensorMode(shape_env=self.shape_env)
        mode.cache_enabled = False
        self.guards_before = 0
        if self.kind == "symbolic":
            self.make_symbols()
        with self.errors() as answer, mode, enable_python_dispatcher(), listening(self.numbers):
            answer |= self.call()
        answer["guards"], not_followed = self.conditions()
        answer["numbers"] = self.asked_numbers()
        answer["unbacked"] = self.ranges()
        if not_followed:
            answer["path_not_followed"] = not_followed
        return answer

    def make_symbols(self):
        for i, (value, least) in enumerate(zip(self.values, self.request["least"])):
            source = ConstantSource(f"__{self.request['names'][i]}")
            symbol = self.shape_env.create_symbol(value, source=source, dynamic_dim=DimDynamic.DYNAMIC, positive=None, do_not_specialize_zero_one=True)
            self.shape_env.constrain_symbol_range(symbol, compiler_min=least, compiler_max=UNBOUNDED - 1)
            self.symbols[symbol] = i
            self.sizes[i] = self.shape_env.create_symintnode(symbol, hint=value, source=source)

    def asked_numbers(self):
        out = []
        for expr, value, where in self.numbers:
            try:
                tree = tree_of(expr, self.index_of)
            except NotFollowed:
                tree = value
            if not isinstance(tree, int):
                out.append({"tree": tree, "value": value, **where})
        return out

    @contextlib.contextmanager
    def errors(self):
        answer = {}
        try:
            yield answer
        except NotFollowed as error:
            answer["not_followed"] = str(error)
        except BaseException as error:  # sys.exit() too: a fake's doing
            answer["error"] = text_of(error)
            answer["place"] = place_of_error(error.__traceback__)
            if isinstance(error, (fake_tensor.DataDependentOutputException, fake_tensor.DynamicOutputShapeException)):
                answer["reads_data"] = name_of(error.func)
            elif any(words in str(error) for words in READS_MEMORY):
                answer["reads_data"] = "its memory"
            elif isinstance(error, fake_tensor.UnsupportedOperatorException):
                answer["without_meta"] = name_of(error.func)


def name_of(overload):
    """ns::name, or ns::name.overload."""
    return str(overload).replace(".", "::", 1).removesuffix(".default")


def place_of_error(traceback):
    """Of the innermost line that is the user's; {} where there is none."""
    found = None
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            found = traceback
        traceback = traceback.tb_next
    if found is None:
        return {}
    code = found.tb_frame.f_code
    return {"file": os.path.abspath(code.co_filename), "line": found.tb_lineno, "function": code.co_name}


def text_of(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:2])[:ERROR_CHARACTERS_MAX]
    if isinstance(error, RuntimeError) and type(error) is RuntimeError and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@contextlib.contextmanager
def listening(numbers):
    """Notes each symbol that is asked for its number: int(), range(), an argument that the callee declares int."""
    ask = SymNode.guard_int

    def noted(node, file, line):
        expr = node.expr
        result = ask(node, file, line)
        if not expr.is_number:
            frame = sys._getframe(1)
            while frame is not None and not is_users(frame.f_code.co_filename):
                frame = frame.f_back
            where = {"call": "", "place": {}} if frame is None else {"call": expression_at(frame), "place": place(frame)}
            numbers.append((expr, result, where))
        return result

    SymNode.guard_int = noted
    try:
        yield
    finally:
        SymNode.guard_int = ask
