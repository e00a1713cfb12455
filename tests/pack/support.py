"""What the tests of pack share: a folder of their own, a model that compiles fast, and the command line."""

import contextlib
import io
import subprocess
import tempfile
import unittest
from pathlib import Path

from aotifuzz_pack.__main__ import main

MODEL = '''
"""A file with one good model in each form that pack takes, and some that are wrong."""
import torch
import torch.nn as nn
from torch.export import Dim

SCALE = 3.0
UNUSED = "not part of any model"


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x):
        return x * self.weight + SCALE


def as_dict():
    return dict(mod=Scale(), args=(torch.randn(3, 4),), dynamic_shapes=({0: Dim("rows", min=2, max=64)},))


def as_tuple():
    return Scale(), (torch.randn(3, 4),)


def as_program():
    return torch.export.export(Scale(), (torch.randn(3, 4),))


def _private():
    return as_dict()


def with_argument(size):
    return Scale(), (torch.randn(size, 4),)
'''


class PackTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.write("model.py", MODEL)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def pack(self, *arguments):
        """The command line, in this process: importing torch anew for each call would take most of the time."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([*map(str, arguments), "--cache", str(self.folder / "cache")])
            except SystemExit as ended:
                code = ended.code
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def assert_three_parts(self, run, code, what, where):
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertIn(what, run.stderr)
        self.assertIn(f"where: {where}", run.stderr)
        self.assertRegex(run.stderr, r"what to do: \w+")
        self.assertNotIn("Traceback", run.stderr)
