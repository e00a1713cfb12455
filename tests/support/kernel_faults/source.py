"""The kernel source that a package carries: which kernels it holds, and with which commands it was built."""

import re
import shlex
import zipfile
from dataclasses import dataclass
from pathlib import Path

KERNEL = re.compile(r'^extern "C"\s+void\s+(\w+)\(')
_PARAMETER = re.compile(r"(const )?([\w:]+)(\*?) (\w+)")


@dataclass
class Parameter:
    type: str  # without const and pointer: "float", "at::BFloat16", "int64_t"
    name: str
    pointer: bool
    const: bool


@dataclass
class Kernel:
    """One function of the file: lines [begin, end), counted from 0; the body starts after the line of the opening brace."""

    name: str
    begin: int
    body: int
    end: int
    parameters: list

    def parameter(self, name):
        return next((p for p in self.parameters if p.name == name), None)


def kernels_of(text):
    """The kernels of a generated file, in order."""
    lines = text.split("\n")
    found = []
    for begin, line in enumerate(lines):
        match = KERNEL.match(line)
        if not match:
            continue
        body = next(i for i in range(begin, len(lines)) if lines[i] == "{") + 1
        end = next(i for i in range(body, len(lines)) if lines[i] == "}")
        head = " ".join(lines[begin : body - 1])
        head = head[head.index("(") + 1 : head.rindex(")")]
        parameters = [
            Parameter(m[2], m[4], bool(m[3]), bool(m[1])) for m in map(_PARAMETER.search, head.split(",")) if m is not None
        ]
        found.append(Kernel(match[1], begin, body, end, parameters))
    return found


@dataclass
class PackageSource:
    """Where the parts lie in the archive, and what they say."""

    package: Path
    kernel_member: str
    wrapper_member: str
    library_member: str
    kernel_text: str
    wrapper_text: str


def read_package(package):
    """Raises ValueError when the package holds no kernel source of its own, or more than one model."""
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        picked = {}
        for what, ending in (("kernel", ".kernel.cpp"), ("wrapper", ".wrapper.cpp"), ("library", ".wrapper.so")):
            matching = [name for name in names if name.endswith(ending)]
            if len(matching) != 1:
                raise ValueError(f"{package}: {len(matching)} members end in {ending}, one is needed")
            picked[what] = matching[0]
        texts = [archive.read(picked[what]).decode() for what in ("kernel", "wrapper")]
    return PackageSource(Path(package), picked["kernel"], picked["wrapper"], picked["library"], *texts)


def build_command(text, title):
    """The command that a generated file names in its last comments: "Compile cmd" or "Link cmd", as a list of words."""
    lines = text.split("\n")
    at = max(i for i, line in enumerate(lines) if line.strip() == f"// {title}")
    return shlex.split(lines[at + 1].removeprefix("//"))
