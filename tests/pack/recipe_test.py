"""Recipes: which part of a file a model needs, and what the caller is told when there is none."""

import os
import unittest

from aotifuzz_pack import store
from aotifuzz_pack.errors import PackError
from aotifuzz_pack.recipe import SourceFile
from support import MODEL, PackTest


class Slice(PackTest):
    def test_holds_what_the_function_refers_to_and_nothing_else(self):
        text = SourceFile(self.model).slice("as_dict")
        for needed in ("import torch\n", "from torch.export import Dim", "SCALE = 3.0", "class Scale", "def as_dict"):
            self.assertIn(needed, text)
        for other in ("UNUSED", "def as_tuple", "def _private", "A file with one good model"):
            self.assertNotIn(other, text)

    def test_is_a_program_of_its_own(self):
        scope = {}
        exec(SourceFile(self.model).slice("as_tuple"), scope)
        module, args = scope["as_tuple"]()
        self.assertEqual(module(*args).shape, (3, 4))

    def test_keeps_statements_that_act(self):
        path = self.write("acts.py", 'import os\n\nos.environ["AOTIFUZZ_TEST"] = "1"\n\n\ndef f():\n    return 1\n')
        self.assertIn("AOTIFUZZ_TEST", SourceFile(path).slice("f"))

    def test_keeps_decorators(self):
        path = self.write("decorated.py", "import functools\n\n\n@functools.cache\ndef f():\n    return 1\n")
        text = SourceFile(path).slice("f")
        self.assertIn("@functools.cache", text)
        self.assertIn("import functools", text)

    def test_leaves_out_the_main_block(self):
        path = self.write("main.py", 'def f():\n    return 1\n\n\nif __name__ == "__main__":\n    raise SystemExit\n')
        self.assertNotIn("SystemExit", SourceFile(path).slice("f"))


class Functions(PackTest):
    def test_are_public_and_take_no_arguments(self):
        self.assertEqual(SourceFile(self.model).functions(), ["as_dict", "as_tuple", "as_program"])


class Key(PackTest):
    def key(self, text, function="as_dict", options=None):
        return store.key(SourceFile(self.write("keyed.py", text)), function, options or {})

    def test_changes_with_what_the_function_needs(self):
        self.assertNotEqual(self.key(MODEL), self.key(MODEL.replace("SCALE = 3.0", "SCALE = 4.0")))
        self.assertNotEqual(self.key(MODEL), self.key(MODEL, options={"stock": True}))
        self.assertNotEqual(self.key(MODEL), self.key(MODEL, function="as_tuple"))

    def test_ignores_the_rest_of_the_file(self):
        self.assertEqual(self.key(MODEL), self.key(MODEL.replace("not part of any model", "still not")))

    def test_sees_a_module_that_lies_beside_the_file(self):
        text = "import beside\n\n\ndef f():\n    return beside.VALUE\n"
        self.write("beside.py", "VALUE = 1\n")
        first = self.key(text, "f")
        self.write("beside.py", "VALUE = 2\n")
        self.assertNotEqual(first, self.key(text, "f"))


class Prune(PackTest):
    def test_removes_what_was_not_used_for_a_month(self):
        old, young = self.folder / "2.11.0" / "old", self.folder / "2.11.0" / "young"
        for folder in (old, young):
            folder.mkdir(parents=True)
            (folder / "m.pt2").touch()
        os.utime(old, (0, 0))
        store.prune(self.folder)
        self.assertFalse(old.exists())
        self.assertTrue((young / "m.pt2").exists())


class SourceErrors(PackTest):
    def test_file_that_is_not_there(self):
        with self.assertRaisesRegex(PackError, "cannot read the file"):
            SourceFile(self.folder / "absent.py")

    def test_file_that_is_not_python(self):
        with self.assertRaisesRegex(PackError, "not a Python file"):
            SourceFile(self.write("broken.py", "def f(:\n"))


if __name__ == "__main__":
    unittest.main()
