"""Does guidance pay? Cases until faults are found under `--engine libfuzzer` and `--engine random`, at the same number of
cases and the same seeds.

    python bench/guidance.py [PACKAGE...] [--cases N] [--seeds K] [--json FILE]

Two kinds of faults. Public ones: the packages of build/models/faults.* (tests/support/pack_models.sh packs them). Needles:
a condition planted in the generated kernel of example.embedding_mlp (NEEDLES below), each harder to meet than the last, some
of a kind that feedback can see coming and some of a kind that nothing can. Numbers of cases do not depend on what else the
machine does; the last table has the price of guidance in cases per second, both engines in turn. A fault that N cases do not
show counts as N. Findings are not reduced.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from kernel_faults import rebuild, source  # noqa: E402

ENGINES = ("random", "libfuzzer")
NEEDLE_MODEL = "example.embedding_mlp"
NEEDLE_LINE = "auto tmp6 = tmp4 + tmp5;"
NEEDLES = {
    "one size of one class, the other 1": ("ks0 % 16 == 0 && ks0 >= 32 && ks1 == 1", "1.0f"),
    "both sizes of one class": ("ks0 % 16 == 0 && ks0 >= 48 && ks1 % 16 == 0 && ks1 >= 48", "1.0f"),
    "two exact sizes": ("ks0 == 37 && ks1 == 53", "1.0f"),
    "one exact product": ("ks0 * ks1 == 1001", "1.0f"),
    "error grows with the sizes": ("true", "1e-9f * static_cast<float>(ks0 * ks1)"),
}


def fuzz(program, package, engine, seed, cases, scratch):
    """(cases until each signature was first seen, cases per second)"""
    out = Path(scratch) / f"{Path(package).stem}-{engine}-{seed}"
    command = [program, "fuzz", package, "--engine", engine, "--seed", seed, "--cases", cases, "--reduce-runs", 0,
               "--no-sanitize", "--out", out, "--json", "--quiet"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}\n{done.stderr[-2000:]}")
    summary = json.loads(done.stdout)
    return {f["signature"]: f["after_cases"] for f in summary["findings"]}, summary["cases_per_second"]


def plant(condition, error, into):
    package = source.read_package(ROOT / "build" / "models" / f"{NEEDLE_MODEL}.pt2")
    text = package.kernel_text
    if text.count(NEEDLE_LINE) != 1:
        sys.exit(f"bench: the kernel of {NEEDLE_MODEL} has no single line {NEEDLE_LINE}")
    changed = text.replace(NEEDLE_LINE, f"auto tmp6 = tmp4 + tmp5 + at::vec::Vectorized<float>(({condition}) ? {error} : 0.0f);")
    rebuild.rebuild(package, changed, into, Path(into).parent / "objects")


def median(values):
    return statistics.median(values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*", type=Path)
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--needles", action="store_true", help="the needles alone")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "aotifuzz")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "guidance.json")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        subjects = [] if given.needles else [(p.stem, p) for p in given.packages or sorted((ROOT / "build/models").glob("faults.*.pt2"))]
        if not given.packages:
            for name, (condition, error) in NEEDLES.items():
                into = Path(scratch) / f"needle{len(subjects)}.pt2"
                plant(condition, error, into)
                subjects.append((f"needle: {name}", into))
        # What the model of the needles is reported for without any.
        clean = {s for seed in range(1, given.seeds + 1) for engine in ENGINES
                 for s in fuzz(given.program, ROOT / "build/models" / f"{NEEDLE_MODEL}.pt2", engine, seed, given.cases, scratch + "/clean")[0]}
        for name, package in subjects:
            runs = {engine: [fuzz(given.program, package, engine, seed, given.cases, scratch) for seed in range(1, given.seeds + 1)]
                    for engine in ENGINES}
            known = clean if name.startswith("needle") else set()
            signatures = {s for found in runs.values() for run, _ in found for s in run} - known
            row = {"name": name, "signatures": len(signatures)}
            for engine, found in runs.items():
                row[engine] = {
                    "first": median([min([run[s] for s in signatures if s in run], default=given.cases) for run, _ in found]),
                    "all": median([max([run.get(s, given.cases) for s in signatures], default=given.cases) for run, _ in found]),
                    "found": median([len(signatures & set(run)) for run, _ in found]),
                    "speed": median([speed for _, speed in found])}
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    given.json.write_text(json.dumps({"cases": given.cases, "seeds": given.seeds, "rows": rows}, indent=1))
    print("| package | findings | first found after, random | libfuzzer | all after, random | libfuzzer | found, random | libfuzzer |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        r, g = row["random"], row["libfuzzer"]
        print(f"| {row['name']} | {row['signatures']} | {r['first']:.0f} | {g['first']:.0f} | {r['all']:.0f} | {g['all']:.0f} "
              f"| {r['found']:.0f} | {g['found']:.0f} |")
    print(f"cases per second, libfuzzer over random: median {median([row['libfuzzer']['speed'] / row['random']['speed'] for row in rows]):.2f}")


if __name__ == "__main__":
    main()
