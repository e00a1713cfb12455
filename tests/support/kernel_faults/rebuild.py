"""Builds the shared library of a package again with the commands that the package itself names, and packs it.

The constants stay as they are: their bytes are taken out of the library as it was. Objects that do not change from one
plant to the next (wrapper, constants) are kept in a cache folder.
"""

import hashlib
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

from . import source

_WRITER_MEMBERS = {"version", "byteorder", ".data/version", ".data/serialization_id"}
_CONSTANTS = ("_binary_constants_bin_start", "_binary_constants_bin_end")


class BuildError(Exception):
    """The compiler or linker refused."""


def _run(command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.split("\n") if "error" in line] or [done.stderr[-500:]]
        raise BuildError(f"{command[0]}: {errors[0]}")


def _without_missing_header(command):
    """Without a precompiled header that is no longer there: the generated files include all that they need."""
    if "-include" in command:
        at = command.index("-include")
        if not Path(command[at + 1]).exists():
            return command[:at] + command[at + 2 :]
    return command


def compile_object(text, into):
    """Compiles the text of a generated file into the object `into`."""
    command = _without_missing_header(source.build_command(text, "Compile cmd"))
    at = next(i for i, word in enumerate(command) if word.endswith(".cpp"))
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / Path(command[at]).name
        file.write_text(text)
        command[at] = str(file)
        command[command.index("-o") + 1] = str(into)
        _run([*command, "-w"])
    return into


def _constants_object(library, into):
    """An object with the constants of a built library, at the same alignment and under the same names; None: it has none."""
    symbols = {}
    listing = subprocess.run(["readelf", "-sW", library], capture_output=True, text=True, check=True).stdout
    for line in listing.split("\n"):
        words = line.split()
        if len(words) == 8 and words[7] in _CONSTANTS:
            symbols[words[7]] = int(words[1], 16), words[6]
    if len(symbols) != 2:
        return None
    (begin, section), (end, _) = (symbols[name] for name in _CONSTANTS)
    sections = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    row = re.search(rf"\[ *{section}\] (\S+) +\w+ +(\w+) (\w+)", sections)
    name, address, offset = row[1], int(row[2], 16), int(row[3], 16)
    data = Path(library).read_bytes()[offset + begin - address : offset + end - address]
    with tempfile.TemporaryDirectory() as scratch:
        raw, assembly = Path(scratch) / "constants.bin", Path(scratch) / "constants.S"
        raw.write_bytes(data)
        flags = '"al"' if name == ".lrodata" else '"aw"' if "rodata" not in name else '"a"'
        assembly.write_text(
            f'\t.section {name},{flags}\n\t.balign 64\n\t.globl {_CONSTANTS[0]}\n{_CONSTANTS[0]}:\n\t.incbin "{raw}"\n'
            f"\t.globl {_CONSTANTS[1]}\n{_CONSTANTS[1]}:\n\t.section .note.GNU-stack,\"\",@progbits\n"
        )
        _run(["gcc", "-c", str(assembly), "-o", str(into)])
    return into


def _cached(cache, key, make):
    """The object for this key, made once; written whole."""
    target = Path(cache) / (hashlib.sha256(key).hexdigest()[:24] + ".o")
    if not target.exists():
        Path(cache).mkdir(parents=True, exist_ok=True)
        half = target.with_suffix(f".{os.getpid()}.half")
        if make(half) is None:
            return None
        half.rename(target)
    return target


def link_library(package, kernel_object, into, cache):
    """Links wrapper and constants of the package with a kernel object."""
    command = source.build_command(package.wrapper_text, "Link cmd")
    wrapper = _cached(cache, package.wrapper_text.encode(), lambda half: compile_object(package.wrapper_text, half))
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(package.package) as archive:
        data = archive.read(package.library_member)
        library = Path(scratch) / "old.so"
        library.write_bytes(data)
        constants = _cached(cache, data, lambda half: _constants_object(library, half))
    objects = {".wrapper.o": wrapper, ".kernel.o": kernel_object, ".weights.o": constants}
    words = []
    for word in command:
        ending = next((e for e in objects if word.endswith(e)), None)
        if ending is None and word.endswith(".o"):
            raise BuildError(f"the package was linked with {Path(word).name}, which it does not carry")
        words.append(str(objects[ending]) if ending else word)
    words[words.index("-o") + 1] = str(into)
    _run([*words, "-w"])


def repack(package, into, replaced):
    """Copies the archive with some members replaced: {member: bytes}."""
    import torch

    writer = torch._C.PyTorchFileWriter(str(into))
    writer.set_min_version(6)
    with zipfile.ZipFile(package) as archive:
        for info in archive.infolist():
            member = info.filename.split("/", 1)[1]
            if member in _WRITER_MEMBERS or member.startswith((".format_version", ".storage_alignment")):
                continue
            data = replaced.get(info.filename)
            data = archive.read(info) if data is None else data
            writer.write_record(member, data, len(data))
    writer.write_end_of_file()


def build_library(package, kernel_text, into, cache):
    """The shared library of the package, with this kernel source. Raises BuildError."""
    with tempfile.TemporaryDirectory() as scratch:
        kernel = Path(scratch) / "planted.kernel.o"
        compile_object(kernel_text, kernel)
        link_library(package, kernel, into, cache)


def pack_library(package, kernel_text, library, into):
    """Writes the package `into` with this kernel source and the library built from it; nothing else differs."""
    members = {package.kernel_member: kernel_text.encode(), package.library_member: Path(library).read_bytes()}
    repack(package.package, into, members)


def rebuild(package, kernel_text, into, cache):
    """Both in one."""
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "planted.so"
        build_library(package, kernel_text, library, cache)
        pack_library(package, kernel_text, library, into)
