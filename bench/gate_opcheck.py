"""The planted and right operators of the tests under torch.library.opcheck and under `aotifuzz gate`: found, alarms, seconds.

    gate_opcheck.py [--build build] [--json FILE] [--set TEXT]

Both get the same specs and, for opcheck, the first value of each argument at one point (sizes 7, 11, 13...) and at four
(all sizes 0, 1 and 2 as well), as far as the spec allows them. opcheck has all of its default tests, each operator a
process of its own, since some planted operators end it or hang: an operator is found when a test fails or its process ends.
What says no more than that an argument is not legal (the kernel refuses it) is not counted. Times are wall clock of
whole programs, importing torch included.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPS = ROOT / "tests/support/gate_ops"


def planted(*files):
    """Names without namespace, from the comments "PLANTED operator kind"."""
    return {m[1] for file in files for m in re.finditer(r"PLANTED ([\w.]+) [\w-]+$", (OPS / file).read_text(), re.MULTILINE)} - {"operator"}


CPP_PLANTS, PYTHON_PLANTS = planted("faulty_ops.cpp"), planted("python_fake_ops.cpp", "python_fake_ops.py")
SETS = (  # name, library, spec, Python module, which operators
    ("C++ metas, planted", "libgate_faulty_ops.so", "faulty_ops.spec", None, lambda op: op in CPP_PLANTS),
    ("C++ metas, right", "libgate_right_ops.so", "right_ops.spec", None, lambda op: op != "nonzero_rows"),
    ("Python fakes, planted", "libgate_python_fake_ops.so", None, "python_fake_ops.py", lambda op: op in PYTHON_PLANTS),
    ("Python fakes, right", "libgate_python_fake_ops.so", None, "python_fake_ops.py", lambda op: op.startswith("right_")),
)
PRIMES = (7, 11, 13, 17, 19, 23)
LIMIT_S = 20  # of opcheck on one operator
HANG_S = 4  # of one call under the gate
TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "u8": "uint8", "bool": "bool"}


def gate(build, library, spec, module, folder):
    """The operators of the gate's JSON, and seconds."""
    out = Path(folder) / "gate.json"
    command = [str(build / "aotifuzz"), "gate", "--ops", str(build / "gate_ops" / library), "--timeout", f"{HANG_S}s", "--json", str(out)]
    command += ["--spec", str(OPS / spec)] if spec else []
    command += ["--fakes", str(OPS / module)] if module else []
    began = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{ended.stderr}")
    return json.loads(out.read_text())["operators"], time.monotonic() - began


class Arguments:
    """Of a spec line as the gate prints it: x=f32[B,D] k=$K; the first alternative of each."""

    def __init__(self, line):
        self.items = dict(item.split("=", 1) for item in re.findall(r'\w+=(?:"[^"]*"|\S)+', line))
        self.least = {m[1]: int(m[2]) for m in re.finditer(r"(?<=\s)(\w+)>=(\d+)", line)}
        self.symbols = []
        for text in self.items.values():
            text = re.sub(r'"[^"]*"', "", text)
            for name in re.findall(r"(?:\[|,|\$|\*|\()([A-Za-z_]\w*)", text):
                if name not in self.symbols:
                    self.symbols.append(name)

    def points(self):
        base = {name: PRIMES[i % len(PRIMES)] for i, name in enumerate(self.symbols)}
        counts = {name for text in self.items.values() for name in re.findall(r"\$(\w+)", text)}
        least = {name: self.least.get(name, 1 if name in counts else 0) for name in self.symbols}
        return [base] + [{name: max(size, least[name]) for name in self.symbols} for size in (1, 0, 2)]

    def size(self, text, at):
        return int(eval(text, {"__builtins__": {}}, at))

    def tensor(self, text, at):
        import torch

        kind, sizes, values = re.fullmatch(r"(\w+)\[([^\]]*)\](?::(.+))?", text).groups()
        shape = [self.size(s, at) for s in sizes.split(",") if s]
        count = 1
        for s in shape:
            count *= s
        dtype = getattr(torch, TYPES[kind])
        word, _, limit = (values or "").partition("(")
        if word in ("below", "offsets", "lengths"):
            n = self.size(limit[:-1], at)
            numbers = {
                "below": lambda i: i * 7 % max(n, 1),
                "offsets": lambda i: n * i // max(count - 1, 1),
                "lengths": lambda i: n * (i + 1) // count - n * i // count,
            }[word]
            return torch.tensor([numbers(i) for i in range(count)], dtype=dtype).reshape(shape)
        return torch.arange(count).remainder(11).to(dtype).reshape(shape)

    def value(self, text, at):
        import torch

        text = text if text.startswith(('"', "{")) else text.split("|")[0]
        if text.startswith("{"):
            return [self.tensor(one, at) for one in text[1 : text.index("}")].split(";")]
        if text.startswith('"'):
            return text[1:].split('"')[0]
        if text.startswith("$"):
            return self.size(text[1:], at)
        if text.startswith("["):
            return [self.size(s, at) for s in text[1:-1].split(",") if s]
        if text in ("None", "true", "false"):
            return {"None": None, "true": True, "false": False}[text]
        if text in TYPES:
            return getattr(torch, TYPES[text])
        if re.match(r"\w+\[", text):
            return self.tensor(text, at)
        return float(text) if re.search(r"[.en]", text) else int(text)

    def at(self, point):
        return {name: self.value(text, point) for name, text in self.items.items()}


def overload(name):
    import torch

    namespace, _, rest = name.partition("::")
    packet, _, which = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), which or "default")


def opcheck_one(name, line, points):
    """In this process: why it is found, or ''."""
    import torch

    op, arguments = overload(name), Arguments(line.split(" ", 1)[1] if " " in line else "")
    for point in arguments.points()[:points]:
        given = arguments.at(point)
        schema = op._schema.arguments
        positional = tuple(given[a.name] for a in schema if not a.kwarg_only)
        named = {a.name: given[a.name] for a in schema if a.kwarg_only}
        copies = arguments.at(point)
        try:
            op(*(copies[a.name] for a in schema if not a.kwarg_only), **{a.name: copies[a.name] for a in schema if a.kwarg_only})
        except Exception:
            continue  # the kernel refuses it
        try:
            torch.library.opcheck(op, positional, named)
        except Exception as error:
            return f"{type(error).__name__} at {point}: {str(error)[:150]}"
    return ""


def opcheck(operators, points):
    """(name: reason or ''), seconds."""
    out, began = {}, time.monotonic()
    for name, line in operators:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            code = 0
            try:
                os.write(write, opcheck_one(name, line, points).encode())
            except BaseException as error:
                os.write(write, f"BENCH {type(error).__name__}: {error}".encode())
                code = 70
            os._exit(code)
        os.close(write)
        deadline, status = time.monotonic() + LIMIT_S, None
        while status is None and time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            status = status if done else None
            time.sleep(0.005)
        if status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            out[name] = "does not end"
        else:
            words = os.read(read, 1 << 16).decode()
            out[name] = "process ends" if os.WIFSIGNALED(status) else words
        os.close(read)
    return out, time.monotonic() - began


def opcheck_set(library, module, operators, build, points):
    """In a process of its own: two libraries may register the same names."""
    request = {"library": str(build / "gate_ops" / library), "module": str(OPS / module) if module else "", "operators": operators, "points": points}
    ended = subprocess.run([sys.executable, __file__, "--child"], input=json.dumps(request), capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(ended.stderr)
    return json.loads(ended.stdout.splitlines()[-1])


def child():
    request = json.loads(sys.stdin.read())
    began = time.monotonic()
    import torch
    import torch._dynamo
    import torch.testing._internal.optests  # what opcheck imports at its first call: once, and not in each process

    torch.set_num_threads(1)
    imported = time.monotonic() - began
    torch.ops.load_library(request["library"])
    if request["module"]:
        sys.path.insert(0, str(Path(request["module"]).parent))
        __import__(Path(request["module"]).stem)
    out, seconds = opcheck(request["operators"], request["points"])
    print(json.dumps({"found": out, "seconds": seconds, "import": imported}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--set", default="", help="only sets whose title has this text")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child()
    result, kept = {}, {}
    print("| operators | number | opcheck, one point | s | opcheck, four points | s | gate | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for title, library, spec, module, wanted in SETS:
            if args.set not in title:
                continue
            if (library, module) not in kept:
                kept[library, module] = gate(args.build, library, spec, module, folder)
            verdicts, gate_s = kept[library, module]
            ours = {op["name"]: op for op in verdicts if wanted(op["name"].split("::")[1])}
            operators = [(name, op["arguments"]) for name, op in sorted(ours.items())]
            row = {"operators": len(ours)}
            for points in (1, 4):
                answer = opcheck_set(library, module, operators, args.build, points)
                broken = {n: w for n, w in answer["found"].items() if w.startswith("BENCH")}
                if broken:
                    print(f"not run by opcheck: {broken}", file=sys.stderr)
                row[f"opcheck_{points}"] = {n: w for n, w in answer["found"].items() if w and n not in broken}
                row[f"opcheck_{points}_s"] = answer["seconds"] + answer["import"]
            row["gate"] = {n: [f["kind"] for f in op["faults"]] for n, op in ours.items() if op["faults"]}
            row["gate_s"] = gate_s
            row["missed_by_opcheck"] = sorted(set(ours) - set(row["opcheck_4"]))
            row["missed_by_gate"] = sorted(set(ours) - set(row["gate"]))
            result[title] = row
            print(f"| {title} | {len(ours)} | {len(row['opcheck_1'])} | {row['opcheck_1_s']:.0f} | {len(row['opcheck_4'])} | "
                  f"{row['opcheck_4_s']:.0f} | {len(row['gate'])} | {gate_s:.0f} |", flush=True)  # fmt: skip
    if args.json:
        args.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
