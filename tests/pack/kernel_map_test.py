"""The kernel map: its form, its rules, and that recording it neither changes nor endangers the packaging."""

import contextlib
import io
import json
import re
import unittest
import zipfile
from unittest import mock

import sympy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.export import Dim

from aotifuzz_pack import aoti_compile_and_package, inductor_hooks, kernel_map, wrapper_calls
from aotifuzz_pack.package import read_sidecar
from aotifuzz_pack.prims_as_aten import replace_prims
from aotifuzz_pack.without_mutation import remove_mutation
from support import PackTest


class Everything(nn.Module):
    """One small kernel or library function for each rule of the map."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.widen = nn.Linear(16, 32)
        self.norm = nn.LayerNorm(32)
        self.register_buffer("seen", torch.zeros(16))
        self.register_buffer("scale", torch.tensor([1.0, float("inf")]))

    def forward(self, x, tokens):
        hidden = self.tokens(tokens) + x
        normed = self.norm(F.gelu(self.widen(hidden)))
        root = hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + 1e-6)
        self.seen.add_(x.sum((0, 1)))
        counted = torch.bincount(tokens.flatten(), minlength=20)
        picked = torch.ops.aten.index.Tensor(normed.clone(), [None, torch.tensor([0, 1])])
        drawn = torch.rand(x.shape[0]) + 1
        return torch.cat([normed, normed * 2], 1), root @ root.mT, torch.topk(root, 2)[0], counted, picked, drawn, x[..., :2] / self.scale


def packed_program():
    batch, length = Dim("batch", min=2, max=64), Dim("length", min=2, max=64)
    shapes = ({0: batch, 1: length}, {0: batch, 1: length})
    return torch.export.export(Everything().eval(), (torch.randn(3, 5, 16), torch.randint(0, 20, (3, 5))), dynamic_shapes=shapes)


def members(package):
    with zipfile.ZipFile(package) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def labels(call, key):
    return [label for argument in call["arguments"] for label in argument.get(key, [])]


class Map(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        package = io.BytesIO()
        cls.program = packed_program()
        aoti_compile_and_package(cls.program, package_path=package)
        cls.members = members(package)
        cls.map = json.loads(cls.members[kernel_map.MEMBER])
        cls.calls = cls.map["calls"]

    def call(self, part):
        found = [call for call in self.calls if part in call["kernel"]]
        self.assertTrue(found, f"no call of {part} among {[call['kernel'] for call in self.calls]}")
        return found[0]

    def label(self, value, key="exit"):
        return next(label for call in self.calls for label in labels(call, key) if label["value"] == value)

    def node(self, target):
        return next(node for node in self.map["graph"]["nodes"] if node["target"].startswith(f"torch.ops.{target}"))

    def test_has_all_parts(self):
        self.assertEqual(self.map["schema"], 1)
        self.assertEqual(self.map["torch_version"], torch.__version__)
        self.assertEqual(len(self.map["inputs"]), len(self.map["graph"]["inputs"]))
        self.assertEqual([i["index"] for i in self.map["inputs"] if i["kind"] == "user"], [0, 1])
        for source in self.map["symbols"].values():
            self.assertEqual(source["input"], 0)
        self.assertNotIn("notes", read_sidecar_of(self.members))

    def test_labels_name_values_and_fit(self):
        tensors = self.map["graph"]["tensor_values"]
        for call in self.calls:
            for label in labels(call, "entry") + labels(call, "exit"):
                self.assertIn(label["value"], tensors)
                self.assertEqual(len(label["size"]), len(tensors[label["value"]]["sizes"]))
                self.assertEqual(len(label["size"]), len(label["stride"]))
                for text in [*label["size"], *label["stride"], label["offset"]]:
                    self.assertTrue(isinstance(text, int) or isinstance(eval(text, vars(sympy)), sympy.Expr), text)

    def test_kernels_are_symbols_in_order_of_execution(self):
        wrapper = next(data for name, data in self.members.items() if name.endswith(".wrapper.cpp")).decode()
        run = wrapper[wrapper.rindex("::run_impl(") :]
        called = re.findall(r"\b(cpp_fused_\w+|aoti_torch_cpu_\w+|aoti_torch_proxy_executor_call_function)\(", run)
        self.assertEqual([call["kernel"] for call in self.calls], called)

    def test_positions_match_the_signature(self):
        for call in self.calls:
            if call["kind"] != "shim":
                continue
            self.assertTrue(call["signature"], call["kernel"])
            for argument in call["arguments"]:
                self.assertIn("AtenTensorHandle", call["signature"][argument["at"]], call["kernel"])

    def test_only_random_numbers_are_not_judged(self):
        for call in self.calls:
            if "inductor_random" in str(labels(call, "exit")) or "inductor_seeds" in str(call["nodes"]) or "random" in call["why_not"]:
                self.assertFalse(call["judged"])
                self.assertEqual(call["why_not"], "random numbers")
            else:
                self.assertTrue(call["judged"], f"{call['kernel']}: {call['why_not']}")

    def test_library_function(self):
        call = self.call("aoti_torch_cpu_addmm_out")
        self.assertEqual([argument["role"] for argument in call["arguments"]], ["out", "in", "in", "in"])
        self.assertIn("addmm", call["nodes"])
        self.assertEqual(call["arguments"][1]["entry"][0]["value"], "widen_bias")

    def test_proxy_call(self):
        call = self.call("proxy_executor")
        self.assertEqual((call["kind"], call["node_index"]), ("proxy", 0))
        self.assertEqual([argument["role"] for argument in call["arguments"]], ["in", "out"])
        self.assertEqual(call["nodes"][0], "bincount")

    def test_variance_is_kept_as_a_sum_of_squares(self):
        results = [output["as_tensor"]["name"] for output in self.node("aten.var_mean")["outputs"]]
        self.assertEqual(self.label(results[0])["rule"], {"kind": "divide", "by": 32})
        self.assertNotIn("by", self.label(results[1]).get("rule", {}))

    def test_mean_is_kept_as_its_sum(self):
        self.assertEqual(self.label(self.node("aten.mean")["name"])["rule"], {"kind": "divide", "by": 16})

    def test_pieces_of_a_concatenation_start_at_their_pointer(self):
        pieces = self.node("aten.cat")["inputs"][0]["arg"]["as_tensors"]
        for piece in pieces:
            self.assertEqual(self.label(piece["name"])["offset"], 0)

    def test_changed_buffer_holds_another_value_afterwards(self):
        (call,) = [call for call in self.calls if any(a.get("buffer") == "seen" and a["role"] == "out" for a in call["arguments"])]
        before = next(a for a in call["arguments"] if a.get("buffer") == "seen" and a["role"] == "in")
        after = next(a for a in call["arguments"] if a.get("buffer") == "seen" and a["role"] == "out")
        self.assertEqual([label["value"] for label in before["entry"]], ["seen"])
        self.assertNotIn("seen", [label["value"] for label in after["exit"]])

    def test_inlined_constant_is_a_literal(self):
        literal = next(given for given in self.map["inputs"] if given["kind"] == "literal" and given["dtype"] == "float32")
        self.assertEqual((literal["size"], literal["data"]), ([2], [1.0, "inf"]))
        self.assertEqual(next(i for i in self.map["inputs"] if i["value"] == "norm_bias")["fqn"], "norm.bias")

    def test_packaging_is_as_without_the_map(self):
        package = io.BytesIO()
        aoti_compile_and_package(self.program, package_path=package, kernel_map=False)
        without = members(package)
        self.assertNotIn(kernel_map.MEMBER, without)
        for suffix in (".wrapper.cpp", ".kernel.cpp"):
            self.assertEqual(generated_code(self.members, suffix), generated_code(without, suffix))
        ours = {name for name in self.members if not name.startswith("data/aotinductor/")}
        self.assertEqual(ours - {kernel_map.MEMBER}, {name for name in without if not name.startswith("data/aotinductor/")})


def generated_code(found, suffix):
    """The code without what torch itself numbers anew at each compilation of a process: names of files and of size arrays."""
    text = next(data for name, data in found.items() if name.endswith(suffix)).decode()
    lines = [line for line in text.splitlines() if line and not line.startswith("//") and "int64_t int_array_" not in line]
    return [re.sub(r"int_array_\d+", "int_array", line) for line in lines]


def read_sidecar_of(found):
    return json.loads(found["extra/aotifuzz_pack.json"])


class Fallback(PackTest):
    """Whatever goes wrong with the map, the package is made, and says that it has none."""

    def packed_with(self, patch):
        program = torch.export.export(nn.Tanh(), (torch.randn(3),))
        package, err = self.folder / "m.pt2", io.StringIO()
        with patch, contextlib.redirect_stderr(err):
            aoti_compile_and_package(program, package_path=package)
        self.assertNotIn(kernel_map.MEMBER, members(package))
        x = torch.randn(3)
        torch.testing.assert_close(torch._inductor.aoti_load_package(str(package))(x), x.tanh())
        (note,) = read_sidecar(package)["notes"]
        self.assertIn(note, err.getvalue())
        return note

    def test_a_hook_does_not_fit(self):
        from torch._inductor.graph import GraphLowering

        original = GraphLowering.codegen
        note = self.packed_with(mock.patch.object(inductor_hooks.Recorder, "_wrap_schedule", side_effect=AttributeError("no such hook")))
        self.assertIn("no such hook", note)
        self.assertIs(GraphLowering.codegen, original, "a hook was left behind")

    def test_what_was_lowered_cannot_be_read(self):
        note = self.packed_with(mock.patch.object(inductor_hooks, "lift_constants", side_effect=KeyError("val")))
        self.assertIn("KeyError", note)

    def test_the_map_cannot_be_written(self):
        self.assertIn("ValueError", self.packed_with(mock.patch.object(kernel_map, "serialize", side_effect=ValueError("odd"))))


class WithoutMutation(unittest.TestCase):
    def traced(self, function, *inputs):
        from torch.fx.experimental.proxy_tensor import make_fx

        graph = make_fx(function)(*inputs)
        for node in graph.graph.nodes:
            node.meta.setdefault("val", node.meta.get("tensor_meta"))
        return graph

    def check(self, function, x, lost=False):
        graph = self.traced(lambda x: function(x.clone()), x)
        _, found = remove_mutation(graph.graph)
        graph.recompile()
        self.assertEqual(bool(found), lost)
        if not lost:
            self.assertFalse([node for node in graph.graph.nodes if getattr(getattr(node.target, "_schema", None), "is_mutable", False)])
            torch.testing.assert_close(graph(x.clone()), function(x.clone()))

    def test_copy_into_a_slice(self):
        def function(x):
            x[1:].copy_(x[:-1].clone())
            return x.sum(), x[0]

        self.check(function, torch.randn(4, 3))

    def test_views_made_before_see_the_change(self):
        def function(x):
            row, turned = x.select(0, 1), x.permute(1, 0)
            row.add_(5)
            return turned * 2, row + 1, x

        self.check(function, torch.randn(4, 3))

    def test_two_changes(self):
        def function(x):
            x[0].add_(1)
            x[:, 1].mul_(3)
            return x.sum(), x[0] + 1

        self.check(function, torch.randn(4, 3))

    def test_a_view_that_cannot_be_put_back_is_named(self):
        def function(x):
            x.as_strided((2,), (2,), 1).add_(1)
            return x.sum()

        self.check(function, torch.randn(4, 3), lost=True)


class Prims(unittest.TestCase):
    def test_become_aten_or_are_named(self):
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        rev = graph.call_function(torch.ops.prims.rev.default, (x, [0]))
        sine = graph.call_function(torch.ops.prims.sin.default, (rev,))
        odd = graph.call_function(torch.ops.prims.zeta.default, (sine, x))
        graph.output(odd)
        self.assertEqual(replace_prims(graph), {odd.name})
        self.assertIs(rev.target, torch.ops.aten.flip.default)
        self.assertIs(sine.target, torch.ops.aten.sin.default)


class WrapperText(unittest.TestCase):
    TEXT = """
    void AOTInductorModel::run_impl(AtenTensorHandle* input_handles) {
        const int64_t sizes[] = {s77, 16L};
        AtenTensorHandle buf1_handle;
        // aoti_torch_cpu_mm_out(buf0, buf0, buf0);
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, sizes, sizes, 6, 0, 0, &buf1_handle));
        cpp_fused_add_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()), s77);
        AtenTensorHandle var_0 = bias.get();
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_convolution(wrap(reinterpret_tensor_wrapper(buf0, 2, sizes, sizes, 4L)), weight, &var_0, std::array<int64_t, 2>{1L, 1L}.cbegin(), 2, &buf1_handle));
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_index_Tensor(buf0, std::array<const AtenTensorHandle*, 2>{nullptr, &temporary_reference(arg0_1.get())}.data(), 2, &buf2_handle));
        aoti_torch_proxy_executor_call_function(proxy_executor, 3, 1, std::array<int64_t, 1>{4}.data(), 2, std::array<AtenTensorHandle, 2>{buf0, buf2}.data());
    }
    """

    def test_calls_in_order_with_positions(self):
        buffers = {"arg0_1", "bias", "weight", "buf0", "buf1", "buf2"}
        kernel, convolution, index, proxy = wrapper_calls.read_calls(self.TEXT, {"cpp_fused_add_0"}, buffers)
        self.assertEqual([call.kind for call in (kernel, convolution, index, proxy)], ["cpp", "shim", "shim", "proxy"])
        self.assertEqual([(h.at, h.buffer) for h in convolution.handed], [(0, "buf0"), (1, "weight"), (2, "bias"), (5, "buf1")])
        self.assertTrue(convolution.handed[0].is_view and convolution.handed[3].is_result)
        self.assertEqual([(h.at, h.buffer, h.element) for h in index.handed], [(0, "buf0", None), (1, "arg0_1", 1), (3, "buf2", None)])
        self.assertEqual((proxy.node_index, [(h.at, h.buffer) for h in proxy.handed]), (3, [(0, "buf0"), (1, "buf2")]))

    def test_signatures_come_from_the_headers(self):
        signatures = wrapper_calls.shim_signatures()
        self.assertEqual(signatures["aoti_torch_cpu_addmm_out"], ["AtenTensorHandle"] * 4 + ["double", "double"])
        self.assertEqual(signatures["aoti_torch_cpu_scatter_reduce_two_out"][5], "const char*")


if __name__ == "__main__":
    unittest.main()
