"""Packed models kept in the user's cache: one folder per key, so that checkouts and torch versions never collide."""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import time
from importlib import metadata
from pathlib import Path


_DECIDING = (
    "package.py",
    "recipe.py",
    "kernel_map.py",
    "kernel_labels.py",
    "kernel_closure.py",
    "inductor_hooks.py",
    "lowering_record.py",
    "post_grad_graph.py",
    "prims_as_aten.py",
    "split_bias.py",
    "without_mutation.py",
    "wrapper_calls.py",
)


def default_root():
    base = os.environ.get("AOTIFUZZ_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "aotifuzz")
    return Path(base) / "models"


def key(source, function, options):
    """Everything that the package's bytes depend on: recipe, pack itself, torch, libraries, compiler, processor."""
    text = source.slice(function)
    parts = {
        "source": text,
        "function": function,
        "options": options,
        # The files that decide what a package holds; the others only drive them.
        "pack": _hash_of([Path(__file__).with_name(name) for name in _DECIDING]),
        "libraries": {name: _identity(source, name) for name in source.imported(text)},
        "torch": metadata.version("torch"),
        "compiler": _compiler(),
        "processor": _processor(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def path(root, source, function, options, file_name):
    return Path(root) / metadata.version("torch") / key(source, function, options) / file_name


def mark_used(file):
    os.utime(file.parent)


def prune(root, days=30):
    """Removes what no run has used for a month: each change to a model leaves its former package behind."""
    oldest = time.time() - days * 86400
    for folder in Path(root).glob("*/*"):
        try:
            if folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            pass  # another process pruned it


def _hash_of(files):
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _identity(source, name):
    """The version of an installed library, or the contents of a module that lies beside the source file."""
    beside = source.path.parent / name
    if beside.with_suffix(".py").is_file():
        return _hash_of([beside.with_suffix(".py")])
    if beside.is_dir():
        return _hash_of(sorted(beside.rglob("*.py")))
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "standard library"


def _compiler():
    command = os.environ.get("CXX", "g++")
    try:
        return subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return command


def _processor():
    """Packages are compiled for the processor at hand: another one's may not even load."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return " ".join(sorted(line.split(":", 1)[1].split()))
    except OSError:
        pass
    return platform.machine()
