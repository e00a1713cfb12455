"""Whether a planted kernel does anything else than the original: both run on what the kernel was given on legal inputs.

Nothing of aotifuzz takes part: inputs are drawn here, what a kernel is given is seen by putting a function of our own into
the linkage table of the package's library, and both kernels then run on copies of the same memory, in a process of their own.
"""

import ctypes
import functools
import math
import mmap
import os
import random
import signal
import subprocess
from dataclasses import dataclass

import numpy as np
import torch

PAD = 1 << 14  # around each storage: what a kernel writes there is a difference too
_ITEM_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 9: 8, 10: 16, 11: 1, 15: 2}  # by torch's dtype code
# Largest difference that still counts as rounding: of one element, and of the largest of its buffer.
_ROUNDING = {"float": (1e-5, 1e-7), "double": (1e-12, 1e-14), "at::BFloat16": (2.0**-7, 0), "at::Half": (2.0**-10, 0)}
_MOST_BYTES = 512 << 20
_LARGEST_SIZE = 1 << 30


@dataclass
class Call:
    """What a kernel was given: the bytes of each storage, and for each argument (storage, offset), (None, address) or a number."""

    storages: list
    arguments: list


class Spy:
    """Records the calls of the named kernels of a loaded package."""

    def __init__(self, kernels):
        self.path = next(line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith(".wrapper.so"))
        self._base = min(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if self.path in line)
        self._library, self._torch = ctypes.CDLL(self.path), ctypes.CDLL("libtorch_cpu.so")
        listing = subprocess.run(["readelf", "-rW", self.path], capture_output=True, text=True, check=True).stdout
        self._slots = {}
        for line in listing.split("\n"):
            words = line.split()
            if len(words) > 4 and words[2] in ("R_X86_64_JUMP_SLOT", "R_X86_64_JUMP_SLO", "R_X86_64_GLOB_DAT"):
                self._slots.setdefault(words[4].split("@")[0], []).append(int(words[0], 16))
        self._kept, self._extents = [], {}
        self.recording, self.bytes, self.calls = False, 0, {kernel.name: [] for kernel in kernels}
        for kernel in kernels:
            self._hook_kernel(kernel)
        self._hook_data_ptr()

    def _put(self, name, function):
        self._kept.append(function)
        for slot in self._slots.get(name, []):
            page = (self._base + slot) & ~(mmap.PAGESIZE - 1)
            ctypes.CDLL(None).mprotect(ctypes.c_void_p(page), ctypes.c_size_t(2 * mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_WRITE)
            ctypes.c_void_p.from_address(self._base + slot).value = ctypes.cast(function, ctypes.c_void_p).value

    def _hook_data_ptr(self):
        real = self._torch.aoti_torch_get_data_ptr
        numbers = [ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int32()]
        asked = [self._torch.aoti_torch_get_storage_size, self._torch.aoti_torch_get_storage_offset, self._torch.aoti_torch_get_dtype]

        def data_ptr(handle, out):
            status = real(ctypes.c_void_p(handle), ctypes.c_void_p(out))
            if self.recording and status == 0:
                for ask, number in zip(asked, numbers):
                    ask(ctypes.c_void_p(handle), ctypes.byref(number))
                pointer = ctypes.c_void_p.from_address(out).value or 0
                size, offset, dtype = (number.value for number in numbers)
                self._extents[pointer] = pointer - offset * _ITEM_BYTES[dtype], size
            return status

        self._put("aoti_torch_get_data_ptr", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(data_ptr))

    def _hook_kernel(self, kernel):
        types = argument_types(kernel)
        real = getattr(self._library, kernel.name)
        real.argtypes, real.restype = types, None

        def called(*values):
            if self.recording and self.bytes < _MOST_BYTES:
                self.calls[kernel.name].append(self._snapshot(kernel, values))
            real(*values)

        self._put(kernel.name, ctypes.CFUNCTYPE(None, *types)(called))

    def _snapshot(self, kernel, values):
        storages, arguments, known = [], [], {}
        for parameter, value in zip(kernel.parameters, values):
            if not parameter.pointer:
                arguments.append(value)
            elif value not in self._extents:  # a constant, whose address the library asked for when it was loaded
                arguments.append((None, value or 0))
            else:
                base, size = self._extents[value]
                if base not in known:
                    known[base] = len(storages)
                    storages.append(ctypes.string_at(base, size) if size else b"")
                    self.bytes += size
                arguments.append((known[base], value - base))
        return Call(storages, arguments)


def argument_types(kernel):
    scalars = {"float": ctypes.c_float, "double": ctypes.c_double}
    return [ctypes.c_void_p if p.pointer else scalars.get(p.type, ctypes.c_int64) for p in kernel.parameters]


def _values(shape, dtype, draw, greatest):
    """Of all sizes, with ties and zeros; whole numbers up to `greatest`."""
    generator = torch.Generator().manual_seed(draw.randrange(1 << 40))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < draw.choice([0.2, 0.5, 0.8])
    if not dtype.is_floating_point:
        least = draw.choice([0, 0, -greatest]) if torch.iinfo(dtype).min < 0 else 0  # an index may count from the end
        return torch.randint(least, min(greatest, torch.iinfo(dtype).max), shape, generator=generator, dtype=dtype)
    kind = draw.choice(["normal", "normal", "wide", "steps", "constant", "positive", "special"])
    out = torch.randn(shape, generator=generator)
    if kind == "wide":
        out = out * 10 ** draw.uniform(-3, 3)
    elif kind == "steps":
        out = torch.round(out * 2) / 2
    elif kind == "constant":
        out = torch.full(shape, draw.uniform(-2, 2))
    elif kind == "positive":
        out = out.abs()
    elif kind == "special" and out.numel():
        for special in (math.nan, math.inf):
            out.view(-1)[draw.randrange(out.numel())] = special
    return out.to(dtype)


def legal_inputs(program, cases, seed):
    """Yields inputs that the contract allows and that eager accepts."""
    draw, eager = random.Random(seed), program.module()
    by_name = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    metas = [by_name[name] for name in program.graph_signature.user_inputs]
    ranges = {str(symbol): limits for symbol, limits in program.range_constraints.items()}
    made = tried = 0
    while made < cases and tried < 20 * cases:
        tried += 1
        largest = draw.choice([5, 18, 40, 70])
        sizes = {}

        def size(value):
            if isinstance(value, int):
                return value
            expression = value.node.expr
            for symbol in expression.free_symbols:
                if str(symbol) not in sizes:
                    limits = ranges.get(str(symbol))
                    low = int(limits.lower) if limits else 1
                    bounded = limits is not None and bool(limits.upper < _LARGEST_SIZE)  # torch's infinity is not sympy's
                    high = min(int(limits.upper) if bounded else _LARGEST_SIZE, max(low, largest))
                    sizes[str(symbol)] = draw.randint(low, high)
            return int(expression.subs({s: sizes[str(s)] for s in expression.free_symbols}))

        greatest = draw.choice([2, 3, 10, 30, 100])
        inputs = []
        for meta in metas:
            shape = [size(dimension) for dimension in meta.shape]
            order = sorted(range(len(shape)), key=lambda d: -size(meta.stride()[d]))
            dense = _values([shape[d] for d in order], meta.dtype, draw, greatest)
            inputs.append(dense.permute([order.index(d) for d in range(len(shape))]))
        try:
            eager(*[value.clone() for value in inputs])
        except Exception:  # whatever eager refuses is not legal
            continue
        made += 1
        yield inputs


def record(package, kernels, cases, seed):
    """What each kernel is given over so many legal inputs. Returns the Spy and how many inputs ran."""
    program = torch.export.load(package)
    model = torch._inductor.aoti_load_package(str(package))
    spy, ran = Spy(kernels), 0
    with torch.no_grad():
        for inputs in legal_inputs(program, cases, seed):
            spy.recording = True
            try:
                model(*inputs)
                ran += 1
            except Exception:  # 2.11 refuses sizes that the contract allows
                pass
            spy.recording = False
    return spy, ran


@functools.cache
def _padding(storage):
    return np.random.default_rng(storage).integers(0, 256, PAD, dtype=np.uint8)


def _run_on_copy(function, call):
    """The storages after the call, each with its padding."""
    memory = []
    for number, data in enumerate(call.storages):
        raw = np.empty(len(data) + 2 * PAD + 64, dtype=np.uint8)
        start = -raw.ctypes.data % 64
        whole = raw[start : start + len(data) + 2 * PAD]
        # Another padding for each: what is copied from behind one to behind the next must show.
        whole[:PAD] = whole[PAD + len(data) :] = _padding(number)
        whole[PAD : PAD + len(data)] = np.frombuffer(data, dtype=np.uint8)
        memory.append(whole)
    values = []
    for argument in call.arguments:
        if not isinstance(argument, tuple):
            values.append(argument)
        else:
            storage, offset = argument
            values.append(offset if storage is None else memory[storage].ctypes.data + PAD + offset)
    function(*values)
    return memory


def _beyond_rounding(kernel, call, storage, old, new):
    """Of the bytes of a storage: whether any difference is more than rounding."""
    if not np.array_equal(old[:PAD], new[:PAD]) or not np.array_equal(old[-PAD:], new[-PAD:]):
        return True
    types = {p.type for p, a in zip(kernel.parameters, call.arguments) if isinstance(a, tuple) and a[0] == storage}
    if len(types) != 1 or (kind := types.pop()) not in _ROUNDING:
        return True
    torch_type = {"float": torch.float32, "double": torch.float64, "at::BFloat16": torch.bfloat16, "at::Half": torch.float16}[kind]
    usable = (len(old) - 2 * PAD) // torch_type.itemsize * torch_type.itemsize
    a, b = (torch.from_numpy(side[PAD : PAD + usable].copy()).view(torch_type).double().numpy() for side in (old, new))
    relative, absolute = _ROUNDING[kind]
    finite = np.abs(a[np.isfinite(a)])
    scale = float(finite.max()) if finite.size else 0.0
    both = np.isfinite(a) & np.isfinite(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        near = both & (np.abs(a - b) <= relative * np.maximum(np.abs(a), np.abs(b)) + absolute * scale)
    return not np.all(same | near)


def effect(spy, kernel, planted_library):
    """"changes", "rounding" or "identical"; "no call" when no input reaches the kernel. A planted kernel that dies changes."""
    calls = spy.calls[kernel.name]
    if not calls:
        return "no call"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"e"
        try:
            signal.alarm(120)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            functions = [getattr(ctypes.CDLL(str(path)), kernel.name) for path in (spy.path, planted_library)]
            for function in functions:
                function.argtypes, function.restype = argument_types(kernel), None
            answer = b"i"
            for call in calls:
                old, new = (_run_on_copy(function, call) for function in functions)
                for storage, (a, b) in enumerate(zip(old, new)):
                    if not np.array_equal(a, b):
                        answer = b"c" if _beyond_rounding(kernel, call, storage, a, b) else b"r"
                    if answer == b"c":
                        break
                if answer == b"c":
                    break
        finally:
            os.write(writer, answer)
            os._exit(0)
    os.close(writer)
    answer = os.read(reader, 1)
    os.close(reader)
    os.waitpid(child, 0)
    if answer == b"e":
        raise RuntimeError(f"{kernel.name}: the planted library {planted_library} cannot be loaded")
    return {b"i": "identical", b"r": "rounding"}.get(answer, "changes")
