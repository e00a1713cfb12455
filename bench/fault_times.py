"""How long until a campaign shows what is wrong with each model of corpus/models that something is wrong with: seconds from
the start of `aotifuzz fuzz` to the first finding of the class and section that corpus/models/expectations.json has for this
torch, confirmed and reduced.

    python bench/fault_times.py [--seconds S] [--seed N] [--build FOLDER] [MODEL...]

One campaign for each model, one job, ended once the finding is written; S (default 60) is how long it may take. Packages are
those of build/models (tests/support/pack_models.sh). Table on stdout, JSON in build/fault_times.json.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent


def expected(entry, version):
    """The entry as it is with this version of torch."""
    for other in entry.get("by_torch", ()):
        if version in SpecifierSet(other["torch"]):
            return {**entry, **other}
    return entry


def first_finding(program, package, want, seconds, seed, out):
    """(seconds until the finding, its signature, runs of the package until then) or None."""
    command = [program, "fuzz", package, "--for", f"{seconds}s", "--seed", seed, "--json-lines", "--out", out]
    began = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = None
    for line in process.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "finding" and event["section"] == want["section"] and event["class"] in want["classes"]:
            found = (time.monotonic() - began, event["class"], event["signature"], event["after_cases"])
            break
    process.terminate()
    process.stdout.read()
    process.wait()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    given = parser.parse_args()
    version = json.loads((given.build / "aotifuzz-torch.json").read_text())["torch"].partition("+")[0]
    models = json.loads((ROOT / "corpus" / "models" / "expectations.json").read_text())["models"]
    rows = {}
    print("| model | seconds | cases | finding |\n| --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, entry in models.items():
            want = expected(entry, version)
            if want["section"] == "clean" or (given.models and name not in given.models):
                continue
            package = given.build / "models" / f"{name}.pt2"
            if not package.exists():
                sys.exit(f"bench: there is no {package}: bash tests/support/pack_models.sh {package.parent}")
            found = first_finding(given.build / "aotifuzz", package, want, given.seconds, given.seed, f"{scratch}/{name}")
            rows[name] = found and dict(zip(("seconds", "class", "signature", "cases"), found))
            print(f"| {name} | {found[0]:.1f} | {found[3]} | {found[1]}: {found[2]} |" if found else f"| {name} | not in {given.seconds} s | | {want['section']} {', '.join(want['classes'])} |", flush=True)
    times = [row["seconds"] for row in rows.values() if row]
    (given.build / "fault_times.json").write_text(json.dumps({"torch": version, "seed": given.seed, "models": rows}, indent=1))
    if times:
        print(f"{len(times)} of {len(rows)} within {given.seconds} s; median {statistics.median(times):.1f} s, longest {max(times):.1f} s")


if __name__ == "__main__":
    main()
