"""A long campaign, killed with -9 again and again: nothing lost, nothing found twice, no process left behind, flat memory.

    python bench/endurance.py [--minutes M] [--kill-every S] [--jobs N] [--out DIR] [PACKAGE...]

Each package in turn gets its share of the time. A third of that is without kills, at the end: there memory is watched.
After each kill the campaign's folder must be whole: state.json reads, each finding has its files, none of those seen before
is gone. At the end no signature is there twice, and each finding is replayed. Exit code 1 when one of these does not hold.
JSON in build/endurance.json.
"""
import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"
PACKAGES = ["example.embedding_mlp", "faults.torchrec2250_jagged_sum", "real.mobilenet_v3_small"]
PAGE = os.sysconf("SC_PAGESIZE")


def processes():
    """pid -> (parent, resident bytes) of all that run."""
    out = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                out[int(entry.name)] = parent, int((entry / "statm").read_text().split()[1]) * PAGE
            except (OSError, IndexError, ValueError):
                pass  # it ended
    return out


def family(pid):
    """Resident bytes of the process, and of the largest of its descendants; and their pids."""
    table = processes()
    below, new = set(), {pid}
    while new:
        new = {child for child, (parent, _) in table.items() if parent in new and child not in below}
        below |= new
    return table.get(pid, (0, 0))[1], max((table[p][1] for p in below), default=0), below


class Campaign:
    def __init__(self, given, package, out):
        self.given, self.package, self.out = given, package, out
        self.seen, self.wrong, self.kills, self.cases = set(), [], 0, 0

    def run(self, seconds, kill_after=None):
        """One start of the campaign. kill_after: it is killed then. Returns samples of (parent, largest worker) bytes."""
        command = [self.given.program, "fuzz", self.package, "--out", self.out, "--jobs", self.given.jobs, "--for",
                   f"{max(1, int(seconds))}s", "--quiet", "--json"]
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begin, samples, below = time.monotonic(), [], set()
        while child.poll() is None:
            parent, worker, now_below = family(child.pid)
            below = now_below or below
            samples.append((parent, worker))
            if kill_after is not None and time.monotonic() - begin >= kill_after:
                child.send_signal(signal.SIGKILL)
                self.kills += 1
                break
            time.sleep(0.2)
        text, words = child.communicate()
        if kill_after is None:
            if child.returncode not in (0, 1):
                self.wrong.append(f"fuzz ended with {child.returncode}: {words[-500:]}")
            else:
                self.summary = json.loads(text)
        deadline = time.monotonic() + 15
        while (left := below & set(processes())) and time.monotonic() < deadline:
            time.sleep(0.1)
        if left:
            self.wrong.append(f"processes left behind: {sorted(left)}")
        self.look()
        return samples

    def look(self):
        """The folder as a kill left it."""
        try:
            state = json.loads((self.out / "state.json").read_text()) if (self.out / "state.json").exists() else {}
            self.cases = max([self.cases, *(sum(p.get("next_case", {}).values()) for p in state.get("packages", {}).values())])
        except ValueError as error:
            self.wrong.append(f"state.json: {error}")
        folder = self.out / "findings"
        findings = {p.name for p in folder.iterdir() if not p.name.startswith(".")} if folder.exists() else set()
        self.wrong += [f"lost finding {name}" for name in self.seen - findings]
        self.seen |= findings
        for name in findings:
            try:
                json.loads((folder / name / "finding.json").read_text())
                (folder / name / "case.txt").read_text()
            except (OSError, ValueError) as error:
                self.wrong.append(f"{name}: {error}")

    def check(self):
        """No signature twice, and every finding still shows."""
        signatures = {}
        for name in sorted(self.seen):
            finding = json.loads((self.out / "findings" / name / "finding.json").read_text())
            signatures.setdefault((finding.get("section"), finding.get("signature")), []).append(name)
        self.wrong += [f"found twice: {names}" for names in signatures.values() if len(names) > 1]
        done = subprocess.run([self.given.program, "replay", self.out / "findings", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        try:
            cases = json.loads(done.stdout)["cases"]
        except (ValueError, KeyError):
            self.wrong.append(f"replay ended with {done.returncode}: {done.stderr[-500:]}")
            return {}
        counts = {}
        for case in cases:
            counts[case["status"]] = counts.get(case["status"], 0) + 1
        return counts


def mib(values):
    return statistics.median(values) / 2**20 if values else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", type=Path)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--kill-every", type=float, default=120, help="seconds, in the mean")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--program", type=Path, default=BUILD / "aotifuzz")
    given = parser.parse_args()
    packages = given.packages or [BUILD / "models" / f"{name}.pt2" for name in PACKAGES]
    out = given.out or Path(tempfile.mkdtemp(prefix="aotifuzz-endurance-"))
    random_ = random.Random(given.seed)
    share = given.minutes * 60 / len(packages)
    rows = []
    print("| package | cases | kills | findings | parent MiB, first and last quarter | worker MiB, first and last quarter | replayed | wrong |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for package in packages:
        campaign = Campaign(given, package, out / package.stem)
        begin = time.monotonic()
        while (spent := time.monotonic() - begin) < share * 2 / 3:
            campaign.run(share, kill_after=random_.uniform(0.1, 1.9) * given.kill_every)
        samples = campaign.run(share - spent)
        quarter = max(1, len(samples) // 4)
        replayed = campaign.check()
        row = {"package": package.stem, "cases": campaign.cases, "kills": campaign.kills, "findings": len(campaign.seen),
               "parent_mib": [mib([s[0] for s in part]) for part in (samples[:quarter], samples[-quarter:])],
               "worker_mib": [mib([s[1] for s in part]) for part in (samples[:quarter], samples[-quarter:])],
               "replayed": replayed, "wrong": campaign.wrong}
        rows.append(row)
        print(f"| {row['package']} | {row['cases']} | {row['kills']} | {row['findings']} | "
              f"{row['parent_mib'][0]:.0f}, {row['parent_mib'][1]:.0f} | {row['worker_mib'][0]:.0f}, {row['worker_mib'][1]:.0f} | "
              f"{', '.join(f'{n} {word}' for word, n in replayed.items())} | {'; '.join(row['wrong']) or '-'} |", flush=True)
    (BUILD / "endurance.json").write_text(json.dumps(rows, indent=1))
    print(f"campaigns in {out}")
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
