"""What one version of torch writes, for tests that read it without that torch:

    PYTHONPATH=harness/pack .venv-2.13.0/bin/python tests/support/record_samples.py

writes tests/package/data/torch-VERSION/embedding_mlp.pt2, a package whose library is left out, and errors.log, what five
wrong calls of it come to: for each a line "== NAME" and what the process printed. Paths of the machine are replaced.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch
from aotifuzz_pack.__main__ import main as pack

REPO = Path(__file__).resolve().parents[2]
PATHS = [
    (re.compile(r"(?:/[\w.+-]+)+/site-packages"), "/opt/venv/lib/python3/site-packages"),
    (re.compile(r"(?:/[\w.+-]+)*/torchinductor_\w+"), "/tmp/torchinductor"),
    (re.compile(r"(?:/[\w.+-]+)*/aotinductor_\w+|/tmp/\w{6}(?=/)"), "/tmp/aotinductor_XXXXXX"),
    (re.compile(re.escape(str(REPO))), "/src"),
    (re.compile(r"(?:/[\w.+-]+)+/bin/python[\d.]*"), "/opt/venv/bin/python"),
]
CALLS = {
    "input-size": "torch.ones(4, 7, 15), torch.ones(4, 7, dtype=torch.int64)",
    "input-size-range": "torch.ones(65, 7, 16), torch.ones(65, 7, dtype=torch.int64)",
    "input-stride": "torch.ones(4, 16, 7).mT, torch.ones(4, 7, dtype=torch.int64)",
    "input-dtype": "torch.ones(4, 7, 16, dtype=torch.float64), torch.ones(4, 7, dtype=torch.int64)",
    "input-count": "torch.ones(4, 7, 16)",
}


def scrubbed(text):
    for pattern, by in PATHS:
        text = pattern.sub(by, text)
    return text


def record_package(source, target):
    with zipfile.ZipFile(source) as package, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as sample:
        for name in package.namelist():
            data = package.read(name)
            if name.endswith(".so"):
                data = b""
            elif name.endswith((".json", ".cpp", ".h")):
                data = scrubbed(data.decode()).encode()
            elif name.endswith(".pt"):
                continue  # example inputs
            sample.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def call(package, arguments):
    program = f"import torch\nmodel = torch._inductor.aoti_load_package({str(package)!r})\nmodel.loader.run([{arguments}])\n"
    environment = dict(os.environ, AOTI_RUNTIME_CHECK_INPUTS="1")
    run = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode != 0, f"({arguments}) is accepted"
    lines = [line for line in run.stdout.splitlines(keepends=True) if not re.match(r"[WIE]\d{4} ", line)]  # of the machine
    return scrubbed("".join(lines))


def main():
    out = REPO / "tests/package/data" / f"torch-{torch.__version__.partition('+')[0]}"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "embedding_mlp.pt2"
        assert pack([f"{REPO}/corpus/models/example.py:embedding_mlp", "-o", str(package)]) == 0
        record_package(package, out / package.name)
        errors = "".join(f"== {name}\n{call(package, arguments)}" for name, arguments in CALLS.items())
    (out / "errors.log").write_text(errors)


if __name__ == "__main__":
    main()
