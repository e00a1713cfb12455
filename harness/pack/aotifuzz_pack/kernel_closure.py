"""Checks each call of the map on the example inputs: what it leaves behind must follow from what it is given.

The post-grad graph is run eagerly once. Then every call's results are computed again from the values that its buffers
hold on entry, constants and sizes alone, and compared. A call where that fails is not judged later, and says why.
"""

import operator
import time

import torch

from .post_grad_graph import plain
from .prims_as_aten import draws

_TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 2e-2}  # 16-bit results round differently in another order of operations
_TOLERANCE_ELSE = 1e-5


class Unclosed(Exception):
    """Why a result does not follow from what the call is given."""


class GraphValues:
    """Evaluates nodes of the lifted post-grad graph. Operators that change an argument in place get a copy of it."""

    def __init__(self, graph, symbols, wordless=()):
        self.wordless = wordless  # nodes that the map cannot describe
        self.nodes = {node.name: node for node in graph.graph.nodes}
        self.symbols = symbols  # sympy symbol name -> int
        self.may_draw = False  # random numbers: every call gives others

    def evaluate(self, name, known, used=None):
        """The value of a node; `known` has those that need no computing and gets the ones computed."""
        stack = [name]
        while stack:
            node = self.nodes.get(stack[-1])
            if stack[-1] in known:
                stack.pop()
                continue
            if node is None:
                raise Unclosed(f"{stack[-1]} is no value of the graph")
            number = self._number(node)
            if number is not None:
                known[node.name] = number
                continue
            missing = [arg.name for arg in node.all_input_nodes if arg.name not in known]
            if missing and node.op == "call_function":
                stack.extend(reversed(missing))
                continue
            known[node.name] = self._run(node, known)
            if used is not None and node.target is not operator.getitem:
                used.append(node.name)
        return known[name]

    def _number(self, node):
        value = node.meta.get("val")
        if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return None
        try:
            return self._int(value)
        except (KeyError, TypeError):
            return None

    def _int(self, value):
        expression = plain(value)
        if isinstance(expression, int):
            return expression
        result = expression.xreplace({symbol: _integer(self.symbols[symbol.name]) for symbol in expression.free_symbols})
        if isinstance(value, torch.SymBool):
            return bool(result)
        return int(result) if isinstance(value, torch.SymInt) else float(result)

    def _run(self, node, known):
        if node.op != "call_function":
            raise Unclosed(f"it needs {node.name}, which none of its buffers holds")
        if is_random(node) and not self.may_draw:
            raise Unclosed("random numbers")
        if node.name in self.wordless:
            raise Unclosed(f"{getattr(node.target, '__name__', node.target)} is no operator that can be run on its own")
        args, kwargs = torch.fx.node.map_aggregate((node.args, dict(node.kwargs)), lambda part: self._argument(part, known))
        return node.target(*_copied(node.target, args), **kwargs)

    def _argument(self, part, known):
        if isinstance(part, torch.fx.Node):
            return known[part.name]
        return self._int(part) if isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)) else part


def is_random(node):
    """Does running the node again give other numbers? Attention without dropout does not, whatever its operator says."""
    if draws(node.target):
        return True
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    for index, argument in enumerate(node.target._schema.arguments):
        if argument.name in ("dropout_p", "p"):
            given = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name, argument.default_value)
            return not isinstance(given, (int, float)) or given != 0
    return True


def _integer(value):
    import sympy

    return sympy.Integer(value)


def _copied(target, args):
    """The arguments, with copies of those that the operator writes to."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return args
    written = [argument.alias_info is not None and argument.alias_info.is_write for argument in schema.arguments]
    return [arg.clone() if write and isinstance(arg, torch.Tensor) else arg for arg, write in zip(args, written)]


class Closure:
    """The check of one map."""

    def __init__(self, lowering, inputs, available, wordless, seconds):
        """`inputs`: tensors of one call of the program, by placeholder; `available`: constants that can be had later;
        `wordless`: nodes that the map cannot describe; at most `seconds` are spent on comparing.
        """
        self.lowering = lowering
        self.constants = {name: value for name, value in lowering.constants.items() if name in available}
        self.until = time.monotonic() + seconds
        numbers = _numbers({**lowering.sources, **lowering.multiples}, [inputs.get(name) for name in lowering.inputs])
        self.values = GraphValues(lowering.graph, numbers, wordless)
        self.drawing = GraphValues(lowering.graph, self.values.symbols)
        self.drawing.may_draw = True
        self.full = {**inputs, **lowering.constants}
        self.compared = self.skipped = 0
        self.owner = {}
        for node in lowering.graph.graph.nodes:
            if isinstance(node.meta.get("val"), (list, tuple)):
                for index in range(len(node.meta["val"])):
                    self.owner[f"{node.name}_unused_{index}"] = (node.name, index)

    def check(self, entry, results):
        """`entry`, `results`: values that a call is given and must leave behind. Gives (why not or "", nodes computed)."""
        used = []
        try:
            with torch.no_grad():
                known = {name: self._full(name) if self._may_run() else None for name in entry}
                self._check_results(known, results, used)
            return "", used
        except Unclosed as why:
            return str(why), used
        except Exception as error:
            return f"computing it raised {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}", used

    def _may_run(self):
        return time.monotonic() < self.until

    def _check_results(self, known, results, used):
        if not self._may_run():
            self.skipped += 1
            self._check_structure(known, results, used)
            return
        known = {**self.constants, **known}
        for name in results:
            actual, expected = self._part(name, lambda n: self.values.evaluate(n, known, used)), self._full(name)
            if not _agree(actual, expected):
                raise Unclosed(f"{name}, computed from what it is given, differs from the whole graph's value")
        self.compared += 1

    def _check_structure(self, known, results, used):
        seen, stack = set(known) | set(self.constants), [self.owner.get(name, (name,))[0] for name in results]
        while stack:
            node = self.values.nodes.get(stack.pop())
            if node is None or node.name in seen or self.values._number(node) is not None:
                continue
            seen.add(node.name)
            if node.op != "call_function":
                raise Unclosed(f"it needs {node.name}, which none of its buffers holds")
            if is_random(node) or node.name in self.values.wordless:
                raise Unclosed("random numbers" if is_random(node) else f"{node.name} is no operator that can be run on its own")
            if node.target is not operator.getitem:
                used.append(node.name)
            stack += [arg.name for arg in node.all_input_nodes]

    def _full(self, name):
        """The value in the whole graph."""
        return self._part(name, lambda n: self.drawing.evaluate(n, self.full))

    def _part(self, name, evaluate):
        if name in self.owner:
            node, index = self.owner[name]
            return evaluate(node)[index]
        return evaluate(name)


def _numbers(sources, inputs):
    numbers = {}
    for name, source in sources.items():
        tensor = inputs[source["input"]]
        if tensor is not None:
            number = tensor.shape[source["dim"]] if "dim" in source else tensor.stride(source["stride"])
            numbers[name] = number // source.get("by", 1)
    return numbers


def _agree(actual, expected):
    if isinstance(actual, (list, tuple)):
        return len(actual) == len(expected) and all(map(_agree, actual, expected))
    if not isinstance(actual, torch.Tensor):
        return actual == expected
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    if actual is expected or actual.is_mkldnn:
        return True
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        return torch.equal(actual, expected)
    tolerance = _TOLERANCE.get(actual.dtype, _TOLERANCE_ELSE)
    if actual.dtype.itemsize == 1:
        actual, expected = actual.float(), expected.float()
    return torch.allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
