"""Faults planted in generated kernels: how many are found within 1,000 cases, and is the kernel named that carries them?

    planted_kernels.py [PACKAGE...] [--plants N] [--seed S] [--program build/aotifuzz] [--json FILE] [--work FOLDER]
    planted_kernels.py --report FILE...

Without packages: those of MODELS that lie in build/models (tests/support/pack_models.sh packs them).
For each package and each operator of change (tests/support/kernel_faults) N places are picked by the seed. Each planted
package is fuzzed with every kernel judged (--per-kernel 1) and with outputs judged alone (--per-kernel 0). Whether a plant
changes any output of its kernel is decided apart from aotifuzz, by kernel_effect.py, on 200 legal inputs; what changes
nothing, or no more than rounding, is counted as equivalent. What the package is reported for without a plant does not count.
"""

import argparse
import collections
import fcntl
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "support")]
from kernel_faults import operators, rebuild, source  # noqa: E402

MODELS = ("example.embedding_mlp", "clean.closed_gate", "clean.masked_attention", "clean.narrow_integers",
          "clean.c188218_pooling_of_small_batches", "clean.c114229_argmin_of_quotient", "real.bert")
STAGES = (10, 100, 1000)  # cases, in all; the next stage goes on where the last one stopped, and only without a finding
INPUTS = 200
TRIES = 4  # places tried for one plant until one builds


def faults_of(program, package, out, per_kernel, cases, seed):
    """The faults of one run: class, signature, kernels named."""
    command = [str(program), "fuzz", str(package), "--per-kernel", str(per_kernel), "--generator", "shapes", "--seed", str(seed),
               "--cases", str(cases), "--reduce-runs", "0", "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-800:]}")
    found = []
    for finding in json.loads(done.stdout)["findings"]:
        if finding["section"] != "fault":
            continue
        measures = json.loads((Path(finding["folder"]) / "finding.json").read_text())["measures"]
        kernels = [value for name, value in measures if name == "kernel"]
        found.append({"class": finding["class"], "signature": finding["signature"], "reason": finding["reason"],
                      "kernel": kernels[0] if kernels else "", "folder": finding["folder"]})
    return found


def first_faults(program, package, out, per_kernel, seed, known):
    """(cases, faults) of the first stage that reports anything new; (None, []) when none does."""
    before = 0
    for cases in STAGES:
        faults = faults_of(program, package, out, per_kernel, cases - before, seed)
        faults = [fault for fault in faults if fault["signature"] not in known]
        if faults:
            return cases, faults
        before = cases
    return None, []


def picks(text, count, seed):
    """For each operator `count` lists of places to try, spread over the kernels."""
    plants = operators.plants_of(text)
    for name in operators.OPERATORS:
        by_kernel = collections.defaultdict(list)
        for plant in plants:
            if plant.operator == name:
                by_kernel[plant.kernel].append(plant)
        draw = random.Random(f"{seed} {name}")
        kernels = sorted(by_kernel)
        draw.shuffle(kernels)
        for places in by_kernel.values():
            draw.shuffle(places)
        order = [by_kernel[kernel][at] for at in range(max(map(len, by_kernel.values()), default=0))
                 for kernel in kernels if at < len(by_kernel[kernel])]
        for number in range(min(count, len(order))):
            yield name, order[number::count][:TRIES]


def build_one(given, package, places, library):
    """The first of the places that compiles. One compiler at a time on the whole machine."""
    for plant in places:
        text = plant.apply(package.kernel_text)
        with open(Path(tempfile.gettempdir()) / "aotifuzz-planted.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                rebuild.build_library(package, text, library, given.work / "objects")
                return plant, text
            except rebuild.BuildError:
                continue
    return None, None


def run_package(given, path, put):
    os.environ.update(OMP_NUM_THREADS="1", OMP_THREAD_LIMIT="1")
    import kernel_effect

    package, name = source.read_package(path), Path(path).name.removesuffix(".pt2")
    work = given.work / name
    work.mkdir(parents=True, exist_ok=True)
    known = {}
    for per_kernel in (1, 0):
        faults = faults_of(given.program, path, work / f"clean{per_kernel}", per_kernel, STAGES[-1], given.seed)
        known[per_kernel] = {fault["signature"] for fault in faults}
        put({"model": name, "unplanted": per_kernel, "faults": faults})
    kernels = {kernel.name: kernel for kernel in source.kernels_of(package.kernel_text)}
    spy, ran = kernel_effect.record(path, kernels.values(), INPUTS, given.seed)
    put({"model": name, "inputs": ran})
    for number, (operator, places) in enumerate(picks(package.kernel_text, given.plants, given.seed)):
        library = work / f"{number}.so"
        plant, text = build_one(given, package, places, library)
        if plant is None:
            put({"model": name, "operator": operator, "does_not_build": [asdict(place) for place in places]})
            continue
        target = work / f"{number}.pt2"
        rebuild.pack_library(package, text, library, target)
        row = {"model": name, "number": number, **asdict(plant), "package": str(target)}
        row["effect"] = kernel_effect.effect(spy, kernels[plant.kernel], library)
        row["cases"], row["faults"] = first_faults(given.program, target, work / f"{number}.on", 1, given.seed, known[1])
        if row["effect"] == "changes" or row["cases"]:
            row["cases_off"], row["faults_off"] = first_faults(given.program, target, work / f"{number}.off", 0, given.seed, known[0])
        library.unlink()
        put(row)


def names(row):
    """The kernels that the faults of a plant name."""
    return {fault["kernel"] for fault in row["faults"]} - {""}


def is_named(row):
    """Some fault names the kernel that carries the plant, and none names another."""
    return names(row) == {row["kernel"]}


def plants_in(rows):
    """Each plant once, however many runs made it."""
    return list({(row["model"], row["operator"], row["line"], row["new"]): row for row in rows if "effect" in row}.values())


def table(rows):
    """Markdown: one line for each operator, and all of them together."""
    header = ["operator", "plants", "equivalent", "of the rest: found", "named", "found by outputs alone"]
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    plants = plants_in(rows)

    def line(title, chosen):
        real = [row for row in chosen if row["effect"] == "changes"]
        found = [row for row in real if row["cases"]]
        return (f"| {title} | {len(chosen)} | {len(chosen) - len(real)} | {len(found)} of {len(real)} | "
                f"{sum(map(is_named, found))} of {len(found)} | {sum(bool(row.get('cases_off')) for row in real)} |")

    lines += [line(name, chosen) for name in operators.OPERATORS if (chosen := [row for row in plants if row["operator"] == name])]
    return "\n".join([*lines, line("all", plants)])


def report(rows):
    print(table(rows))
    without = collections.Counter(fault["class"] for row in plants_in(rows) for fault in row["faults"] if not fault["kernel"])
    print(f"faults that name no kernel, by class: {dict(without)}")
    for row in rows:
        if row.get("faults") and "unplanted" in row and row["unplanted"]:
            print(f"reported without a plant: {row['model']}: {[fault['signature'] for fault in row['faults']]}")
    for row in plants_in(rows):
        what = f"{row['model']} {row['number']} {row['operator']} {row['kernel']}:{row['line']}"
        if row["effect"] == "changes" and not row["cases"]:
            print(f"missed: {what}")
        elif row["faults"] and not is_named(row):
            print(f"another name: {what}: {sorted(names(row)) or 'none'}: {row['faults'][0]['signature']}")
        if row["effect"] != "changes" and row["cases"]:
            print(f"equivalent ({row['effect']}), yet reported: {what}: {row['faults'][0]['reason']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--report", type=Path, nargs="+", help="run nothing: the table of these JSON files")
    parser.add_argument("--plants", type=int, default=1, help="places for each operator and package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "aotifuzz")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "planted_kernels.json")
    parser.add_argument("--work", type=Path, help="folder for planted packages and findings (default: one that is removed)")
    given = parser.parse_args()
    if given.report:
        return report([row for file in given.report for row in json.loads(file.read_text())])
    given.packages = given.packages or [str(path) for name in MODELS if (path := ROOT / "build/models" / f"{name}.pt2").exists()]
    if not given.packages:
        sys.exit("bench: no package\n  where: build/models\n  what to do: bash tests/support/pack_models.sh build/models")
    scratch = tempfile.TemporaryDirectory()
    given.work = given.work or Path(scratch.name)
    rows, began = [], time.monotonic()

    def put(row):
        rows.append(row)
        given.json.write_text(json.dumps(rows, indent=1))
        print(f"{time.monotonic() - began:.0f} s", {key: row[key] for key in row if key not in ("faults", "faults_off", "package")},
              file=sys.stderr, flush=True)

    for path in given.packages:
        # In a process of its own: the address space of a package, and what it takes to look into it, go with it.
        queue = multiprocessing.get_context("fork").SimpleQueue()
        process = multiprocessing.Process(target=lambda: (run_package(given, path, queue.put), queue.put(None)))
        process.start()
        while True:
            while queue.empty() and process.is_alive():
                time.sleep(0.1)
            row = queue.get() if not queue.empty() else None
            if row is None:
                break
            put(row)
        process.join()
        if process.exitcode != 0:
            sys.exit(f"bench: {path} ended with {process.exitcode}")
    report(rows)


if __name__ == "__main__":
    main()
