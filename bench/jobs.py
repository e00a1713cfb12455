"""How `fuzz --jobs N` scales: cases per second of N jobs on N cores over N times those of one job on one core, and the
same of cases per second of processor time, which what else runs on the machine hardly touches. What the machine itself
takes away, because cores share caches, memory or each other, is seen from N campaigns of one job at the same time: the jobs
of one campaign share a ledger and statistics, those campaigns nothing.

    python bench/jobs.py [--jobs N] [--seconds S] [--rounds R] [--package P] [--program AOTIFUZZ]

All sides in turn within each round (default 3); ratios are taken within a round, where all saw the same machine. The load
of the machine before each round is printed: what else runs there takes from the larger side first. JSON in build/jobs.json.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"


def start(program, package, jobs, first_core, seconds, out):
    cores = f"{first_core}-{first_core + jobs - 1}"
    command = ["taskset", "-c", cores, program, "fuzz", package, "--for", f"{seconds}s", "--jobs", jobs, "--out", out, "--json", "--quiet"]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def summary_of(process):
    out, err = process.communicate()
    if process.returncode not in (0, 1):
        sys.exit(f"bench: {' '.join(process.args)} ended with {process.returncode}\n{err[-2000:]}")
    return json.loads(out)


def speeds(program, package, jobs, seconds, out):
    """(cases/s, cases per second of processor time) of one campaign"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = summary_of(start(program, package, jobs, 0, seconds, out))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return summary["cases_per_second"], summary["cases"] / cpu_s


def speed_apart(program, package, jobs, seconds, out):
    """cases/s of so many campaigns together, each on a core of its own"""
    processes = [start(program, package, 1, core, seconds, f"{out}-{core}") for core in range(jobs)]
    return sum(summary_of(process)["cases_per_second"] for process in processes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--package", type=Path, default=BUILD / "models" / "example.embedding_mlp.pt2")
    parser.add_argument("--program", type=Path, default=BUILD / "aotifuzz")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(given.rounds):
            load = os.getloadavg()[0]
            one, one_cpu = speeds(given.program, given.package, 1, given.seconds, f"{scratch}/one{number}")
            many, many_cpu = speeds(given.program, given.package, given.jobs, given.seconds, f"{scratch}/many{number}")
            apart = speed_apart(given.program, given.package, given.jobs, given.seconds, f"{scratch}/apart{number}")
            rounds.append({"load": load, "one": one, "many": many, "apart": apart, "scaling": many / one / given.jobs,
                           "machine": apart / one / given.jobs, "own": many / apart, "cpu_ratio": many_cpu / one_cpu})
    medians = {name: statistics.median(r[name] for r in rounds) for name in ("scaling", "machine", "own")}
    BUILD.mkdir(exist_ok=True)
    (BUILD / "jobs.json").write_text(json.dumps({"jobs": given.jobs, **medians, "rounds": rounds}, indent=1))
    print("| load before | 1 job, cases/s | jobs | cases/s | over N times one | as many campaigns, over N times one | jobs over campaigns | per processor second |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for r in rounds:
        print(f"| {r['load']:.1f} | {r['one']:.0f} | {given.jobs} | {r['many']:.0f} | {r['scaling']:.2f} | {r['machine']:.2f} | {r['own']:.2f} | {r['cpu_ratio']:.2f} |")
    print(f"medians: jobs {medians['scaling']:.2f} (target >= 0.9 up to the cores), the machine {medians['machine']:.2f}, jobs over campaigns {medians['own']:.2f}")


if __name__ == "__main__":
    main()
