"""The command line: errors in three parts, exit codes, the cache."""

import json
import os
import subprocess
import sys
import unittest

from support import MODEL, PackTest


class Usage(PackTest):
    def test_help_says_what_a_function_returns(self):
        run = self.pack("--help")
        self.assertEqual(run.returncode, 0)
        self.assertIn("dynamic_shapes", run.stdout)

    def test_mistakes_end_with_2(self):
        out = self.folder / "m.pt2"
        for arguments in (
            (self.model, "-o", out),
            ("--all", f"{self.model}:as_dict", "-o", self.folder / "out"),
            ("--all", self.model, "-o", out),
            (f"{self.model}:as_dict", "-o", out, "--config", "nonsense"),
            (f"{self.model}:as_dict",),
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.pack(*arguments).returncode, 2)


class WorldIsWrong(PackTest):
    def fails(self, function, what, where=None, text=None, *arguments):
        file = self.write("wrong.py", "import torch\n\n\n" + text) if text else self.model
        target = f"{file}:{function}"
        self.assert_three_parts(self.pack(target, "-o", self.folder / "m.pt2", *arguments), 3, what, where or target)
        self.assertEqual(list(self.folder.glob("**/*.pt2")), [])

    def test_no_file(self):
        absent = self.folder / "absent.py"
        self.assert_three_parts(self.pack(f"{absent}:f", "-o", self.folder / "m.pt2"), 3, "cannot read the file", absent)

    def test_no_function(self):
        self.fails("as_dcit", "no such function")

    def test_no_output_folder(self):
        run = self.pack(f"{self.model}:as_dict", "-o", self.folder / "absent" / "m.pt2")
        self.assert_three_parts(run, 3, "output folder does not exist", self.folder / "absent")

    def test_missing_library_is_named(self):
        self.fails("f", "No module named 'no_such_library'", text="def f():\n    import no_such_library\n")

    def test_function_raises(self):
        self.fails("f", "the function raised ZeroDivisionError", text="def f():\n    return 1 / 0\n")

    def test_function_returns_something_else(self):
        self.fails("f", "the function returned int", text="def f():\n    return 1\n")

    def test_module_is_no_module(self):
        self.fails("f", "not a torch.nn.Module", text="def f():\n    return torch.sin, (torch.ones(3),)\n")

    def test_export_fails(self):
        body = 'def f():\n    rows = torch.export.Dim("rows", min=4)\n    return torch.nn.Tanh(), (torch.ones(3),), ({0: rows},)\n'
        self.fails("f", "torch.export.export failed", text=body)

    def test_what_takes_too_long_is_given_up_and_the_others_are_packed(self):
        body = "import time\n\nimport torch\n\n\ndef slow():\n    time.sleep(600)\n\n\ndef good():\n    return torch.nn.Tanh(), (torch.ones(3),)\n"
        file, out, failures = self.write("slow.py", body), self.folder / "out", self.folder / "failures.json"
        self.assertEqual(self.pack(f"{file}:good", "-o", self.folder / "first").returncode, 0)
        run = self.pack(f"{file}:slow", f"{file}:good", "-o", out, "--failures", failures, "--limit", "1")
        self.assert_three_parts(run, 3, "packing took longer than 1 s", f"{file}:slow")
        self.assertTrue((out / "slow.good.pt2").exists())
        self.assertEqual(json.loads(failures.read_text()), {"slow.slow": {"what": "packing took longer than 1 s", "compiler": False}})

    def test_native_code_that_does_not_return_ends_the_process(self):
        program = "from aotifuzz_pack.time_limit import time_limit\nwith time_limit(1):\n    sum(range(10**13))\n"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(run.returncode, 1)
        self.assertIn("Timeout", run.stderr)

    def test_unknown_setting(self):
        run = self.pack(f"{self.model}:as_dict", "-o", self.folder / "m.pt2", "--config", "no_such_setting=1")
        self.assert_three_parts(run, 3, "inductor has no setting 'no_such_setting'", "--config")


class Cache(PackTest):
    def test_second_run_compiles_nothing_and_only_what_changed(self):
        text = MODEL + "\n\ndef other():\n    return nn.Tanh(), (torch.ones(3),)\n"
        file, out = self.write("some.py", text), self.folder / "out"
        targets = (f"{file}:as_tuple", f"{file}:other")
        first = self.pack(*targets, "-o", out)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("2 packed now", first.stdout)
        package = out / "some.as_tuple.pt2"
        self.assertTrue(package.is_symlink())
        kept = os.readlink(package)

        second = self.pack(*targets, "-o", out)
        self.assertIn("0 packed now", second.stdout)
        self.assertEqual(os.readlink(package), kept)

        self.write("some.py", text.replace("nn.Tanh()", "nn.Sigmoid()"))
        third = self.pack(*targets, "-o", out)
        self.assertIn("1 packed now", third.stdout)
        self.assertEqual(os.readlink(package), kept)

    def test_a_failure_does_not_stop_the_others_and_ends_with_3(self):
        file = self.write("mixed.py", "import torch\n\n\ndef bad():\n    return 1\n\n\ndef good():\n    return torch.nn.Tanh(), (torch.ones(3),)\n")
        out = self.folder / "out"
        out.mkdir()
        stale = out / "mixed.removed.pt2"
        stale.symlink_to(self.model)
        run = self.pack("--all", file, "-o", out)
        self.assert_three_parts(run, 3, "the function returned int", f"{file}:bad")
        self.assertIn("1 of 2 packages", run.stdout)
        self.assertTrue((out / "mixed.good.pt2").exists())
        self.assertFalse(stale.is_symlink(), "the link to a function that no longer exists was kept")


if __name__ == "__main__":
    unittest.main()
