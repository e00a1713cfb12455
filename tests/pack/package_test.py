"""The drop-in: one archive with the compiled model and its reference, which torch's own loaders read."""

import io
import json
import subprocess
import sys
import unittest
import warnings
import zipfile

import torch
from torch._inductor import aoti_load_package

from aotifuzz_pack import PACK_VERSION, aoti_compile_and_package
from aotifuzz_pack.package import read_sidecar
from aotifuzz_pack.recipe import SourceFile, build
from support import PackTest


def members(package):
    with zipfile.ZipFile(package) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


class RoundTrip(PackTest):
    def setUp(self):
        super().setUp()
        self.program, self.recipe = build(SourceFile(self.model), "as_dict")
        self.package = self.folder / "m.pt2"

    def check_loads_and_runs(self, package):
        x = torch.randn(5, 4)
        expected = self.program.module()(x)
        self.assertTrue(torch.equal(aoti_load_package(str(package))(x), expected))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's loader, about its own buffer
            self.assertTrue(torch.equal(torch.export.load(package).module()(x), expected))

    def test_package_holds_both(self):
        returned = aoti_compile_and_package(self.program, package_path=self.package, recipe=self.recipe)
        self.assertEqual(returned, self.package)
        self.check_loads_and_runs(self.package)
        names = members(self.package)
        self.assertIn("models/model.json", names)
        self.assertIn("data/aotinductor/model/kernel_information.json", names, "provenance tracking was off")
        self.assertEqual(names["archive_format"], b"pt2")
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [], "scratch files were left")

        sidecar = read_sidecar(self.package)
        self.assertEqual(sidecar["pack_version"], PACK_VERSION)
        self.assertEqual(sidecar["torch_version"], torch.__version__)
        self.assertNotIn(str(self.folder), json.dumps(sidecar), "a path of this machine")

        # The recipe alone builds the same program again: that is what makes a finding's reproducer standalone.
        scope = {"torch": torch}
        exec(sidecar["recipe"]["source"], scope)
        torch.manual_seed(sidecar["recipe"]["seed"])
        again = eval(sidecar["recipe"]["program"], scope)
        self.assertTrue(torch.equal(again.state_dict["weight"], self.program.state_dict["weight"]))
        self.assertEqual(str(again.graph), str(self.program.graph))

    def test_into_a_buffer(self):
        buffer = io.BytesIO()
        self.assertIs(aoti_compile_and_package(self.program, package_path=buffer), buffer)
        self.package.write_bytes(buffer.read())
        self.check_loads_and_runs(self.package)
        self.assertNotIn("recipe", read_sidecar(self.package))

    def test_without_a_path_and_with_settings(self):
        configs = {"trace.provenance_tracking_level": 0}
        package = aoti_compile_and_package(self.program, inductor_configs=configs)
        self.check_loads_and_runs(package)
        self.assertNotIn("data/aotinductor/model/kernel_information.json", members(package))
        self.assertEqual(configs, {"trace.provenance_tracking_level": 0}, "the caller's dict was changed")

    def test_checks_its_arguments_as_torch_does(self):
        with self.assertRaisesRegex(ValueError, "Only ExportedProgram is supported"):
            aoti_compile_and_package(torch.nn.Tanh(), package_path=self.package)
        with self.assertRaisesRegex(AssertionError, "ending in .pt2"):
            aoti_compile_and_package(self.program, package_path=self.folder / "m.zip")
        self.program.example_inputs = None
        with self.assertRaisesRegex(RuntimeError, "example_inputs"):
            aoti_compile_and_package(self.program, package_path=self.package)
        self.assertFalse(self.package.exists())


class Forms(PackTest):
    def test_each_gives_a_program(self):
        for function in ("as_dict", "as_tuple", "as_program"):
            with self.subTest(function=function):
                program, recipe = build(SourceFile(self.model), function)
                scope = {"torch": torch}
                exec(recipe["source"], scope)
                self.assertEqual(str(eval(recipe["program"], scope).graph), str(program.graph))


class Stock(PackTest):
    def test_stock_package_and_its_reference(self):
        package, reference = self.folder / "m.pt2", self.folder / "m.ep.pt2"
        command = [sys.executable, "-m", "aotifuzz_pack", f"{self.model}:as_dict", "-o", package]
        run = subprocess.run([*command, "--no-reference", "--save-reference"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "", "noise that nobody can act upon")
        names = members(package)
        self.assertNotIn("models/model.json", names)
        self.assertFalse([name for name in names if name.startswith("extra/")])
        x = torch.randn(5, 4)
        self.assertTrue(torch.equal(aoti_load_package(str(package))(x), torch.export.load(reference).module()(x)))


if __name__ == "__main__":
    unittest.main()
