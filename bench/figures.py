"""Runs both sides of each figure in turn, takes medians over the rounds, prints a table and writes JSON.

Ratios are taken within a round, where both sides saw the same machine. See bench/run.sh.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("AOTIFUZZ_BUILD", ROOT / "build"))
EXAMPLE = BUILD / "models" / "example.embedding_mlp.pt2"
CRASHER = BUILD / "models" / "faults.attention_without_tokens.pt2"  # SIGFPE with every version
ROUNDS = 3

PLAIN = "aotifuzz-case 1\ninput x f32[4,7,16] normal(0.0,1.0,seed=1)\ninput idx i64[4,7] ints(0,99,seed=2)\n"
GOOD = "aotifuzz-case 1\ninput q f32[1,2,6,8] const(0.0)\ninput mask bool[6,6] const(1)\n"
BAD = "aotifuzz-case 1\ninput q f32[1,2,0,8] const(0.0)\ninput mask bool[0,0] const(0)\n"


def run_json(*command, ok=(0,)):
    # One core for everything that is measured: parent, worker and Python alike.
    done = subprocess.run(["taskset", "-c", "0", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode not in ok:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def start_ms(command):
    import time

    times = []
    for _ in range(20):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def measure(seconds, scratch):
    plain, good, bad = (Path(scratch) / name for name in ("plain.txt", "good.txt", "bad.txt"))
    plain.write_text(PLAIN), good.write_text(GOOD), bad.write_text(BAD)
    python = sys.executable
    rounds = []
    for number in range(ROUNDS):
        bare = run_json(python, ROOT / "bench/python_side.py", "bare", EXAMPLE, seconds / 2)
        cost = run_json(BUILD / "worker_bench", "cost", EXAMPLE, plain, seconds / 2)
        loop = run_json(python, ROOT / "bench/python_side.py", "loop", EXAMPLE, seconds)
        fuzz = run_json(BUILD / "aotifuzz", "fuzz", EXAMPLE, "--for", f"{int(seconds)}s", "--seed", number + 1, "--out",
                        Path(scratch) / f"out{number}", "--json", ok=(0, 1))
        kernels = run_json(BUILD / "worker_bench", "kernels", EXAMPLE, plain, seconds / 2)
        recovery = run_json(BUILD / "worker_bench", "recovery", CRASHER, good, bad, 50)
        rounds.append({
            "cases_per_s": fuzz["cases_per_second"],
            "python_loop_cases_per_s": loop["cases_per_s"],
            "times_python_loop": fuzz["cases_per_second"] / loop["cases_per_s"],
            "case_us": cost["case_us"],
            "bare_package_plus_eager_us": bare["package_us"] + bare["eager_us"],
            "case_cost_ratio": cost["case_us"] / (bare["package_us"] + bare["eager_us"]),
            "reference_us": cost["runs_us"]["reference"],
            "python_eager_us": bare["eager_us"],
            "reference_ratio": cost["runs_us"]["reference"] / bare["eager_us"],
            "per_kernel_ratio": kernels["per_kernel_ratio"],
            "trace_ratio": kernels["trace_ratio"],
            "worker_start_ms": cost["worker_start_ms"],
            "recovery_median_ms": recovery["median_ms"],
            "recovery_max_ms": recovery["max_ms"],
        })
    medians = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
    medians["help_ms"] = start_ms([BUILD / "aotifuzz", "--help"])
    return medians, rounds


TABLE = [
    ("cases per second, example, one core, every oracle on (reduction of findings apart)", "cases_per_s", ">= 1000"),
    ("Hypothesis + aoti_load_package + eager + assert_close, cases per second", "python_loop_cases_per_s", ""),
    ("against that loop", "times_python_loop", ">= 20"),
    ("cost of a case, us", "case_us", ""),
    ("bare package run + bare eager run in Python, us", "bare_package_plus_eager_us", ""),
    ("cost of a case / both", "case_cost_ratio", "<= 1.5"),
    ("reference interpreter, us", "reference_us", ""),
    ("the same program in Python eager, us", "python_eager_us", ""),
    ("interpreter / Python eager", "reference_ratio", "<= 0.7"),
    ("case with every kernel judged / case with none", "per_kernel_ratio", "<= 3"),
    ("run traced at level names / case", "trace_ratio", "<= 1.2"),
    ("worker start, ms", "worker_start_ms", ""),
    ("SIGFPE to the report of the next case, median ms", "recovery_median_ms", "<= 50"),
    ("the same, largest of 50, ms", "recovery_max_ms", ""),
    ("aotifuzz --help, ms", "help_ms", "<= 20"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as scratch:
        medians, rounds = measure(seconds, scratch)
    (BUILD / "bench.json").write_text(json.dumps({"median": medians, "rounds": rounds}, indent=1))
    print("| figure | measured | target |\n| --- | --- | --- |")
    for title, key, target in TABLE:
        print(f"| {title} | {medians[key]:.3g} | {target} |" if medians[key] < 1000 else
              f"| {title} | {medians[key]:.0f} | {target} |")


if __name__ == "__main__":
    main()
