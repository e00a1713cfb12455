"""Calls of fakes and kernels as the gate asks for them, and sizes as it reads them."""

import json
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import sympy
import torch
from aotifuzz_pack import fakes
from aotifuzz_pack.fake_calls import Call, formula
from aotifuzz_pack.size_trees import NotFollowed, tree_of
from torch.library import custom_op
from torch.utils._sympy.functions import FloorDiv, Max, ModularIndexing


MODULE = """
import os, torch
@torch.library.custom_op("servertest::dies", mutates_args=())
def dies(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
@dies.register_fake
def dies_fake(x):
    os._exit(7)
@torch.library.custom_op("servertest::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
@same.register_fake
def same_fake(x):
    return torch.empty_like(x)
"""


@custom_op("fakestest::grow", mutates_args=())
def grow(x: torch.Tensor, count: int) -> torch.Tensor:
    return x.new_zeros(x.shape[0] + count, x.shape[1])


@grow.register_fake
def grow_fake(x, count):
    if x.shape[0] > 100:
        raise ValueError("too many\nrows")
    return x.new_empty(x.shape[0] + count, x.shape[1])


@custom_op("fakestest::first", mutates_args=())
def first(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.nonzero().contiguous(), x.new_zeros(int(x.shape[0]))


@first.register_fake
def first_fake(x):
    rows = torch.library.get_ctx().new_dynamic_size(min=1, max=9)
    return x.new_empty(rows, 2, dtype=torch.int64), x.new_empty(int(x.shape[0]))


def tensor(*sizes, dtype="Float", **more):
    spec = {"dtype": dtype, "sizes": list(sizes), "values": "any", "limit": [-1, 1, 0], "constant": 0} | more
    return {"kind": "tensor", "tensors": [spec]}


X = tensor([0, 1, 0], [1, 1, 0])
COUNT = {"kind": "size", "sizes": [[2, 1, 0]], "symbolic": True}


def run(op, kind, arguments, values=(7, 11, 3), layout="contiguous"):
    names, least = [f"s{i}" for i in range(len(values))], [0] * len(values)
    request = {"kind": kind, "values": list(values), "names": names, "least": least, "layout": layout, "seed": 0, "arguments": arguments}
    return json.loads(json.dumps(Call(op, request).run()))


class CallTest(unittest.TestCase):
    def test_sizes_are_expressions_of_the_symbols(self):
        answer = run(torch.ops.fakestest.grow.default, "symbolic", [X, COUNT])
        (output,) = answer["outputs"]
        self.assertIn(output["sizes"], ([["add", ["sym", 0], ["sym", 2]], ["sym", 1]], [["add", ["sym", 2], ["sym", 0]], ["sym", 1]]))
        self.assertEqual(answer["guards"], [["le", ["sym", 0], 100]])
        self.assertEqual(answer["numbers"], [])

    def test_fake_and_kernel_agree_on_numbers(self):
        for layout in ("contiguous", "transposed", "gaps"):
            meta = run(torch.ops.fakestest.grow.default, "meta", [X, COUNT], layout=layout)
            kernel = run(torch.ops.fakestest.grow.default, "kernel", [X, COUNT], layout=layout)
            self.assertEqual(meta["outputs"], kernel["outputs"])
            self.assertEqual(kernel["outputs"][0]["sizes"], [10, 11])
            self.assertEqual(kernel["changed"], [])

    def test_what_it_raises_has_a_line(self):
        answer = run(torch.ops.fakestest.grow.default, "meta", [X, COUNT], values=(101, 2, 1))
        self.assertEqual(answer["error"], "ValueError: too many rows")
        self.assertEqual(answer["place"]["function"], "grow_fake")
        self.assertTrue(answer["place"]["file"].endswith("fakes_test.py"))
        self.assertNotIn("outputs", answer)

    def test_numbers_that_are_asked_for_and_sizes_not_known(self):
        answer = run(torch.ops.fakestest.first.default, "symbolic", [X], values=(7, 11))
        (number,) = answer["numbers"]
        self.assertEqual((number["tree"], number["value"], number["call"]), (["sym", 0], 7, "int(x.shape[0])"))
        self.assertEqual(number["place"]["function"], "first_fake")
        self.assertEqual(answer["outputs"][0]["sizes"], [["sym", 2], 2])
        self.assertEqual(answer["unbacked"], [[1, 9]])

    def test_arguments_of_ours_that_cannot_be_made_are_no_error_of_the_operator(self):
        answer = run(torch.ops.fakestest.grow.default, "meta", [tensor([0, 1, 0], dtype="QInt8"), COUNT])
        self.assertIn("not_followed", answer)
        self.assertNotIn("error", answer)

    def test_values_are_those_of_the_worker(self):
        seen = []
        with torch.library._scoped_library("fakestest", "FRAGMENT") as lib:
            lib.define("look(Tensor x) -> ()")
            lib.impl("look", lambda x: seen.append(x.tolist()), "CPU")
            run(torch.ops.fakestest.look.default, "kernel", [tensor([0, 1, 0], dtype="Long")], values=(4,))
            run(torch.ops.fakestest.look.default, "kernel", [tensor([0, 1, 0])], values=(3,))
            offsets = tensor([0, 1, 0], dtype="Int", values="offsets", limit=[-1, 1, 9])
            run(torch.ops.fakestest.look.default, "kernel", [offsets], values=(4,))
            run(torch.ops.fakestest.look.default, "kernel", [tensor([0, 1, 0], dtype="Bool")], values=(4,))
        # pattern(i) = 7 i mod 11, and a quarter of it less a half (harness/gate/argument_builder.cpp).
        self.assertEqual(seen, [[0, 7, 3, 10], [-0.5, 1.25, 0.25], [0, 3, 6, 9], [False, True, True, False]])


class TreeTest(unittest.TestCase):
    def test_each_class_has_a_form_or_says_that_it_has_none(self):
        a, b = sympy.symbols("a b", integer=True)
        index = {a: 0, b: 1}.__getitem__
        self.assertEqual(tree_of(FloorDiv(a, 4), index), ["floordiv", ["sym", 0], 4])
        self.assertEqual(tree_of(Max(1, a), index), ["max", 1, ["sym", 0]])
        self.assertEqual(tree_of(a**2, index), ["pow", ["sym", 0], 2])
        self.assertEqual(tree_of(sympy.Eq(a, b), index), ["eq", ["sym", 0], ["sym", 1]])
        self.assertEqual(tree_of(sympy.true, index), 1)
        self.assertEqual(tree_of(ModularIndexing(a, 2, 3), index), ["mod", ["floordiv", ["sym", 0], 2], 3])
        for expr in (sympy.sin(a), 2**a, sympy.Rational(1, 2), a ** sympy.Rational(1, 2)):
            with self.assertRaises(NotFollowed):
                tree_of(expr, index)


class ServerTest(unittest.TestCase):
    def test_the_definition_is_found_under_torchs_wrappers(self):
        with torch.library._scoped_library("fakestest", "FRAGMENT") as lib:
            lib.define("wrapped(Tensor x) -> Tensor")

            @torch.library.register_fake("fakestest::wrapped", lib=lib)
            def wrapped_fake(x):
                return x

            place = fakes.describe("fakestest::wrapped")["place"]
        self.assertEqual(place["function"], "wrapped_fake")
        self.assertEqual(place["file"], __file__)
        with open(__file__) as source:
            self.assertIn("def wrapped_fake", source.read().splitlines()[place["line"] - 1])

    def test_a_process_that_dies_is_told_of_and_others_go_on(self):
        ours, theirs = socket.socketpair()
        ours.settimeout(120)
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder) / "server_module.py"
            module.write_text(MODULE)
            command = [sys.executable, "-m", "aotifuzz_pack.fakes", "--control", str(theirs.fileno()), "--module", str(module)]
            server = subprocess.Popen(command, pass_fds=[theirs.fileno()])
            self.addCleanup(server.kill)
            theirs.close()
            lines = ours.makefile("rb")
            self.assertEqual(json.loads(lines.readline()), {"torch": torch.__version__})
            ours.send(b"g")
            hello = json.loads(lines.readline())
        self.assertEqual(hello["modules"], {str(module): ""})
        self.assertTrue(hello["operators"]["servertest::same"]["fake"])
        self.assertEqual(hello["operators"]["servertest::same"]["place"]["function"], "same_fake")
        answers = []
        for op in ("servertest::dies", "servertest::same"):
            mine, served = socket.socketpair()
            mine.settimeout(60)
            socket.send_fds(ours, [b"c"], [served.fileno()])
            served.close()
            request = {"op": op, "kind": "meta", "values": [7, 11], "names": ["a", "b"], "least": [0, 0]}
            fakes.send(mine, request | {"layout": "contiguous", "seed": 0, "arguments": [X]})
            answers.append(json.loads(mine.makefile("rb").readline()))
            mine.close()
        self.assertEqual(answers[0], {"died": "exit code 7"})
        self.assertEqual(answers[1]["outputs"][0]["sizes"], [7, 11])
        lines.close()
        ours.close()
        self.assertEqual(server.wait(60), 0)


class ArgumentTest(unittest.TestCase):
    def test_expressions_are_computed_as_the_worker_does(self):
        rounded = ["mul", ["floordiv", ["add", ["sym", 0], 7], 8], 8]
        self.assertEqual(formula(rounded, [9, 4]), 16)
        self.assertEqual(formula(["floordiv", ["neg", ["sym", 0]], 2], [9]), -5)
        self.assertEqual(formula(["max", ["mod", ["sym", 0], 5], ["ceildiv", ["sym", 1], 3], 1], [9, 4]), 4)
        self.assertEqual(formula(["min", ["sym", 0], ["sym", 1]], [9, 4]), 4)

    def test_lists_and_infinities_arrive(self):
        call = Call(None, {"kind": "meta", "values": [3, 4], "layout": "contiguous", "seed": 0})
        items = [{"kind": "value", "value": 0.5}, {"kind": "number", "value": "-inf"}]
        self.assertEqual(call.argument({"kind": "list", "items": items}), [0.5, float("-inf")])
        product = {"kind": "size", "sizes": [["mul", ["sym", 0], ["sym", 1]]], "symbolic": False}
        self.assertEqual(call.argument(product), 12)


if __name__ == "__main__":
    unittest.main()
