"""Guards that `aotifuzz audit` prints, added to the model and exported again: is what they are against gone?

    audit_guards.py [RECIPE...] [--models build/models] [--program build/aotifuzz] [--time 20s] [--work FOLDER] [--json FILE]

Each model of RECIPES (corpus/models: faults of the kinds "the contract is not checked" and "too strict or unbuildable") is
audited. The statements that the unsafe lines about sizes, relations and indices print are put at the start of forward(), all of a model
together; the dimensions that they name become Dim.AUTO; the result is exported with
prefer_deferred_runtime_asserts_over_guards=True, compiled and audited again. A guard holds when the case of its line no longer
fails and the new audit has no such line. Where no condition separates what is safe (a kernel that is wrong for nearly every
size) none is printed: that is shown as "no guard", and is no failure of the others. Lines about strides, dtypes, ranks and overlap have guards for the caller
alone: they are counted, not tried. Exit code 1 when a guard does not hold.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECIPES = (
    "faults.slice_beyond_the_end", "faults.f151925_reshape_by_hundred", "faults.f137748_even_sizes",
    "faults.f153992_channels_unchecked", "faults.f150364_branch_on_size", "faults.f151582_pinned_batch",
    "faults.power_of_the_size", "faults.equal_sizes_unchecked", "faults.refused_after_writing",
    "faults.torchrec2250_jagged_sum", "faults.attention_without_tokens", "faults.f122784_strides_of_a_product",
    "example.embedding_mlp", "faults.f121251_index_select_negative_index",
)
IN_THE_MODEL = ("size", "relation", "values")


def guarded(file, function, names, statements, automatic, examples):
    """The recipe's export arguments with the statements at the start of forward(). Called by the file that main() writes."""
    import torch

    spec = importlib.util.spec_from_file_location("recipe", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = dict(getattr(module, function)())
    inner = made["mod"]
    body = "\n".join("    " + line for line in statements)
    space = {"torch": torch}
    exec(f"def forward(self, {', '.join(names)}):\n{body}\n    return self.inner({', '.join(names)})\n", space)
    made["mod"] = type("Guarded", (torch.nn.Module,), {"forward": space["forward"]})()
    made["mod"].inner = inner
    made["mod"].train(inner.training)
    shapes = [dict(one or {}) for one in (made.get("dynamic_shapes") or (None,) * len(names))]
    arguments = list(made["args"])
    for name, dim in automatic:
        shapes[names.index(name)][dim] = torch.export.Dim.AUTO
    for name, dim, size in examples:
        shapes[names.index(name)][dim] = torch.export.Dim.AUTO
        at = names.index(name)
        arguments[at] = torch.cat([arguments[at]] * size, dim)
    made.update(args=tuple(arguments), dynamic_shapes=tuple(shapes), prefer_deferred_runtime_asserts_over_guards=True)
    return made


def run(command, codes=(0,), **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-1500:]}")
    return done.stdout


def audit(program, package, out, time):
    return json.loads(run([program, "audit", package, "--json", "--time", time, "--out", out]))


def unsafe_lines(report):
    """Those that a guard is missing for: `unjudged` ones are accepted beyond a guard of the trace."""
    return [(item, line) for item in report["items"] for line in item["lines"] if line["verdict"] in ("unsafe", "unjudged")]


def examine(recipe, arguments, work):
    program = arguments.program
    file, function = recipe.split(".", 1)
    source = ROOT / "corpus" / "models" / f"{file}.py"
    package = Path(arguments.models) / f"{recipe}.pt2"
    before = audit(program, package, work / "before", arguments.time)
    names = [one["name"] for one in json.loads(run([program, "inspect", package, "--json"]))["inputs"]]
    lines = [(item, line) for item, line in unsafe_lines(before) if item["subject"] in IN_THE_MODEL]
    row = {"recipe": recipe, "unsafe": len(lines), "caller_only": len(unsafe_lines(before)) - len(lines), "guards": [],
           "without": [item["name"] for item, line in lines if not line["guard"]["python"] and not line["guard"]["example"]],
           "left": [], "still_fails": []}
    statements, automatic, examples = [], [], []
    for item, line in lines:
        guard = line["guard"]
        row["guards"].append(f"{item['name']}: " + "; ".join(guard["python"] or [guard["note"]]))
        statements += guard["python"]
        automatic += [(one["input"], one["dim"]) for one in guard["automatic"] if guard["python"]]
        examples += [(one["input"], one["dim"], one["size"]) for one in guard["example"]]
    made = work / "guarded.py"
    made.write_text(f"import sys\nsys.path.insert(0, {str(ROOT / 'bench')!r})\nfrom audit_guards import guarded\n\n\n"
                    f"def model():\n    return guarded({str(source)!r}, {function!r}, {names!r}, {statements!r}, {automatic!r}, {examples!r})\n")
    after = work / "guarded.pt2"
    run([arguments.python, "-m", "aotifuzz_pack", f"{made}:model", "-o", after],
        env={**os.environ, "PYTHONPATH": str(ROOT / "harness" / "pack")})
    for item, line in lines:
        if not line["folder"] or item["name"] in row["without"]:  # nothing failed
            continue
        told = json.loads(run([program, "replay", line["folder"], "--package", after, "--json", "--times", "3"], codes=(0, 1, 3)))
        if told["cases"][0]["reproduced"] > 0:
            row["still_fails"].append(item["name"])
    row["left"] = [f"{item['name']}: {line['what']}" for item, line in unsafe_lines(audit(program, after, work / "after", arguments.time))
                   if item["subject"] in IN_THE_MODEL and item["name"] not in row["without"]]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", default=[])
    parser.add_argument("--models", default=os.environ.get("AOTIFUZZ_MODELS", str(ROOT / "build" / "models")))
    parser.add_argument("--program", default=str(ROOT / "build" / "aotifuzz"))
    parser.add_argument("--python", default=sys.executable, help="one that has torch")
    parser.add_argument("--time", default="20s")
    parser.add_argument("--work")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows, bad = [], 0
    work = Path(arguments.work or tempfile.mkdtemp(prefix="audit-guards-")).resolve()
    for recipe in arguments.recipes or RECIPES:
        folder = work / recipe
        folder.mkdir(parents=True, exist_ok=True)
        try:
            row = examine(recipe, arguments, folder)
        except RuntimeError as error:
            row = {"recipe": recipe, "error": str(error)}
        rows.append(row)
        holds = "error" not in row and row["unsafe"] > 0 and not (row["left"] or row["still_fails"])
        bad += not holds
        if "error" in row:
            print(f"{recipe}: {row['error']}", flush=True)
            continue
        print(f"{'holds' if holds else 'DOES NOT HOLD':<14} {recipe}: {row['unsafe']} unsafe lines, then {len(row['left'])}; "
              f"{row['caller_only']} for the caller", flush=True)
        for key, says in (("guards", "guard"), ("without", "no guard"), ("left", "left"), ("still_fails", "still fails")):
            for text in row[key]:
                print(f"    {says}: {text}", flush=True)
    print(f"{len(rows) - bad} of {len(rows)} models: every printed guard removes its finding")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
