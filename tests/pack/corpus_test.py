"""The example models and the table of what is expected of them: complete, consistent, standalone."""

import ast
import json
import re
import unittest
from pathlib import Path

from aotifuzz_pack.recipe import SourceFile

MODELS = Path(__file__).parents[2] / "corpus" / "models"
CLASSES = {
    "wrong-result", "wrong-metadata", "input-changed", "unstable", "rejects-legal",
    "memory-fault", "crash", "hang", "leak", "misses-error", "accepts-illegal",
}  # fmt: skip
ON_LEGAL_INPUTS = {"wrong-result", "wrong-metadata", "input-changed", "unstable"}
NOT_ON_LEGAL_INPUTS = {"misses-error", "accepts-illegal"}


class Corpus(unittest.TestCase):
    def setUp(self):
        self.expected = json.loads((MODELS / "expectations.json").read_text())["models"]
        self.sources = {path.stem: SourceFile(path) for path in sorted(MODELS.glob("*.py"))}

    def test_every_model_has_a_row_and_every_row_a_model(self):
        names = {f"{stem}.{function}" for stem, source in self.sources.items() for function in source.functions()}
        self.assertEqual(names, set(self.expected))

    def test_rows_are_consistent(self):
        for name, row in self.expected.items():
            with self.subTest(model=name):
                classes = set(row["classes"])
                self.assertIn(row["section"], ("fault", "gap", "clean"))
                self.assertLessEqual(classes, CLASSES)
                self.assertEqual(bool(classes), row["section"] != "clean")
                if row["section"] == "fault":
                    self.assertFalse(classes & NOT_ON_LEGAL_INPUTS)
                if row["section"] == "gap":
                    self.assertFalse(classes & ON_LEGAL_INPUTS)
                self.assertIn("notes", row)

    def test_names_and_docstrings_carry_the_thread(self):
        for stem, source in self.sources.items():
            for node in source.tree.body:
                if not isinstance(node, ast.FunctionDef):
                    continue
                with self.subTest(model=f"{stem}.{node.name}"):
                    described = ast.get_docstring(node)
                    self.assertTrue(described)
                    thread = self.expected[f"{stem}.{node.name}"]["thread"]
                    number = re.match(r"[a-z]+(\d{4,})_", node.name)
                    if number:
                        self.assertTrue(thread and thread.endswith("#" + number[1]))
                    if thread:
                        self.assertRegex(thread, r"^[\w.-]+/[\w.-]+#\d+$")
                        self.assertIn("#" + thread.split("#")[1], described)

    def test_models_stand_alone(self):
        for stem in ("example", "faults", "clean"):
            source = self.sources[stem]
            for function in source.functions():
                with self.subTest(model=f"{stem}.{function}"):
                    self.assertLessEqual(set(source.imported(source.slice(function))), {"torch", "math"})


if __name__ == "__main__":
    unittest.main()
