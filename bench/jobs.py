"""How `fuzz --jobs N` scales: cases per second of N jobs on N cores over N times those of one job on one core, and the
same of cases per second of processor time, which what else runs on the machine hardly touches.

    python bench/jobs.py [--jobs N] [--seconds S] [--package P]

Both sides in turn within each of three rounds; ratios are taken within a round, where both saw the same machine. The load
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
ROUNDS = 3


def speeds(program, package, jobs, seconds, out):
    command = ["taskset", "-c", f"0-{jobs - 1}", program, "fuzz", package, "--for", f"{seconds}s", "--jobs", jobs, "--out",
               out, "--json", "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode not in (0, 1):
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    summary = json.loads(done.stdout)
    return summary["cases_per_second"], summary["cases"] / cpu_s


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--package", type=Path, default=BUILD / "models" / "example.embedding_mlp.pt2")
    parser.add_argument("--program", type=Path, default=BUILD / "aotifuzz")
    given = parser.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(ROUNDS):
            load = os.getloadavg()[0]
            one, one_cpu = speeds(given.program, given.package, 1, given.seconds, f"{scratch}/one{number}")
            many, many_cpu = speeds(given.program, given.package, given.jobs, given.seconds, f"{scratch}/many{number}")
            rounds.append({"load": load, "one": one, "many": many, "scaling": many / one / given.jobs,
                           "cpu_ratio": many_cpu / one_cpu})
    scaling = statistics.median(r["scaling"] for r in rounds)
    (BUILD / "jobs.json").write_text(json.dumps({"jobs": given.jobs, "scaling": scaling, "rounds": rounds}, indent=1))
    print("| load before | 1 job, cases/s | jobs | cases/s | over N times one | per processor second |")
    print("| --- | --- | --- | --- | --- | --- |")
    for r in rounds:
        print(f"| {r['load']:.1f} | {r['one']:.0f} | {given.jobs} | {r['many']:.0f} | {r['scaling']:.2f} | {r['cpu_ratio']:.2f} |")
    print(f"median {scaling:.2f}, target >= 0.9 up to the cores")


if __name__ == "__main__":
    main()
