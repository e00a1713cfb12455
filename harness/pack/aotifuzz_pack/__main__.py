"""python -m aotifuzz_pack: from model functions to packages. `--help` says the rest."""

import argparse
import ast
import json
import logging
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

from . import store
from .errors import PackError, short
from .package import aoti_compile_and_package
from .recipe import SourceFile, build
from .time_limit import TimeUp, time_limit

EPILOG = """\
The function takes no arguments and returns one of
  an ExportedProgram
  dict(mod=module, args=(example, inputs), dynamic_shapes=...)   the arguments of torch.export.export
  (module, args) or (module, args, dynamic_shapes)
It is called with torch's seed set to 0, so random weights are the same each time.

-o FILE.pt2 packs one function, always. -o FOLDER packs any number into FOLDER/<file>.<function>.pt2, as links
into the cache; a package whose function, torch, compiler and processor are unchanged is taken from there. The cache
cannot see files that a function reads (a checkpoint): use --force after changing one.

exit codes: 0 packed, 2 wrong usage, 3 a file, a model or this installation is at fault
"""


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="python -m aotifuzz_pack",
        description="Compile models into AOTInductor packages that carry their own reference.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("targets", nargs="+", metavar="FILE.py[:FUNCTION]")
    parser.add_argument("-o", "--output", metavar="PATH", required=True, help="FILE.pt2, or a folder")
    parser.add_argument("--all", action="store_true", help="pack every public function of the files")
    parser.add_argument("--no-reference", action="store_true", help="a stock package, as torch makes it")
    parser.add_argument("--save-reference", action="store_true", help="also write the program beside it, as <name>.ep.pt2")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE", help="an inductor setting; repeatable")
    parser.add_argument("--cache", metavar="FOLDER", type=Path, help="default: $AOTIFUZZ_CACHE/models, else ~/.cache/aotifuzz/models")
    parser.add_argument("--force", action="store_true", help="pack again, whatever the cache holds")
    parser.add_argument("--failures", metavar="FILE", type=Path, help="with a folder: write what could not be packed, and why, as JSON")
    parser.add_argument("--limit", metavar="SECONDS", type=int, default=0, help="give up on a function after so long; default: never")
    parser.add_argument("--verbose", action="store_true", help="tracebacks, and torch's own warnings")
    args = parser.parse_args(argv)

    if args.limit < 0:
        parser.error(f"--limit wants seconds, not {args.limit}")
    args.to_folder = not args.output.endswith(".pt2")
    args.jobs = []
    for target in args.targets:
        # From the right: a folder's name may have a colon.
        file, colon, function = target.rpartition(":") if not target.endswith(".py") else (target, "", "")
        if args.all and colon:
            parser.error(f"--all takes whole files, not a function: {target}")
        if not args.all and not function:
            parser.error(f"{target} names no function: write {file}:function, or add --all")
        args.jobs.append((file, function))
    if not args.to_folder and (args.all or len(args.jobs) != 1):
        parser.error("-o FILE.pt2 takes one function; give a folder for several")
    args.configs = {}
    for item in args.config:
        key, equals, value = item.partition("=")
        if not equals or not key:
            parser.error(f"--config wants KEY=VALUE, not {item!r}")
        try:
            args.configs[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            args.configs[key] = value
    return args


def quiet():
    """Silences what torch says on every run here and nobody can act upon."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", message=".*Torchinductor does not support code generation for complex operators.*")
    for name in ("torch.utils.cpp_extension", "torch._inductor.ir"):
        logging.getLogger(name).setLevel(logging.ERROR)


def check_configs(configs):
    if not configs:
        return
    import torch._inductor.config as config

    known = config.get_config_copy()
    for key in configs:
        if key not in known:
            raise PackError(f"inductor has no setting {key!r}", "--config", "take a name from torch._inductor.config, for instance aot_inductor.debug_compile")


def pack(source, function, args, package, reference):
    """Packs one function into the file `package`, and its program into `reference` unless that is None."""
    import torch  # noqa: F401  how long that takes says nothing about the function

    try:
        with time_limit(args.limit):
            pack_now(source, function, args, package, reference)
    except TimeUp as error:
        raise PackError(f"packing took longer than {args.limit} s", f"{source.path}:{function}", "give it more time with --limit, or a smaller model") from error


def pack_now(source, function, args, package, reference):
    import torch

    try:
        program, recipe = build(source, function)
    except PackError as error:
        error.is_of_compiler = error.what.startswith("torch.export.") and not isinstance(error.__cause__, (OSError, MemoryError))
        raise
    except SystemExit as error:
        raise PackError(f"the function ended Python ({error.code})", f"{source.path}:{function}", "return the model instead") from error
    try:
        if reference is not None:
            torch.export.save(program, reference)
        if args.no_reference:
            torch._inductor.aoti_compile_and_package(program, package_path=str(package), inductor_configs=dict(args.configs))
        else:
            aoti_compile_and_package(program, package_path=package, inductor_configs=args.configs, recipe=recipe)
    except Exception as error:
        failure = PackError(
            f"compiling failed: {short(error)}",
            f"{source.path}:{function}",
            "check that g++ works and the disk has room; --verbose shows torch's whole message",
        )
        # A full disk says nothing about the compiler.
        failure.is_of_compiler = not isinstance(error, (OSError, MemoryError))
        raise failure from error


def pack_file(args):
    file, function = args.jobs[0]
    source = SourceFile(file)
    out = Path(args.output)
    if not out.parent.is_dir():
        raise PackError("the output folder does not exist", out.parent, "create it, or give another path to -o")
    began = time.monotonic()
    print(f"packing {source.path.name}:{function} (some seconds to minutes: export, code generation, g++)", flush=True)
    pack(source, function, args, out, out.with_suffix(".ep.pt2") if args.save_reference else None)
    print(f"wrote {out} ({out.stat().st_size / 2**20:.1f} MiB) in {time.monotonic() - began:.1f} s")


def pack_folder(args):
    out = Path(args.output)
    out.mkdir(parents=True, exist_ok=True)
    jobs = []
    failures, packed, began = {}, 0, time.monotonic()

    def note_failure(stem, error):
        failures[stem] = error
        if args.failures:  # at once: the next job may end the process
            args.failures.write_text(json.dumps({s: {"what": e.what, "compiler": e.is_of_compiler} for s, e in failures.items()}, indent=1))

    for file, function in args.jobs:
        try:
            source = SourceFile(file)
            functions = source.functions() if args.all else [function]
        except PackError as error:
            if not args.failures:
                raise
            note_failure(f"{Path(file).stem}.{function}", error)
            continue
        jobs += [(source, name) for name in functions]
        if args.all and not args.no_reference:
            remove_stale_links(out, source, functions)
    options = {"configs": {k: repr(v) for k, v in args.configs.items()}, "stock": args.no_reference, "reference": args.save_reference}
    root = args.cache or store.default_root()
    for number, (source, function) in enumerate(jobs, 1):
        label = f"[{number:2d}/{len(jobs)}] {source.path.stem}.{function}"
        stem = f"{source.path.stem}.{function}"
        name = f"{stem}.stock.pt2" if args.no_reference else f"{stem}.pt2"
        kept = store.path(root, source, function, options, name)
        kept_reference = kept.with_name(f"{stem}.ep.pt2") if args.save_reference else None
        started = time.monotonic()
        try:
            # The package is written last: where it is, its reference is too.
            if args.force or not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                # Unique and in the same folder: two processes that pack the same model never see half a file.
                fresh = kept.parent / f"{os.getpid()}"
                fresh.mkdir(exist_ok=True)
                try:
                    fresh_reference = fresh / kept_reference.name if kept_reference else None
                    pack(source, function, args, fresh / name, fresh_reference)
                    if kept_reference:
                        os.replace(fresh_reference, kept_reference)
                    os.replace(fresh / name, kept)
                finally:
                    for leftover in fresh.iterdir():
                        leftover.unlink()
                    fresh.rmdir()
                packed += 1
                print(f"{label}: packed in {time.monotonic() - started:.1f} s", flush=True)
            else:
                print(f"{label}: in the cache", flush=True)
            store.mark_used(kept)
            for file in filter(None, (kept, kept_reference)):
                link(file, out / file.name)
        except PackError as error:
            note_failure(stem, error)
            print(f"{label}: FAILED: {error.what}", flush=True)
            if args.verbose:
                traceback.print_exc()
    store.prune(root)
    print(f"{len(jobs) - len(failures)} of {len(jobs)} packages in {out} ({packed} packed now, {time.monotonic() - began:.0f} s)")
    if failures:
        raise next(iter(failures.values()))


def link(file, name):
    """Points `name` at a file of the cache, in one step for whoever reads it at the same time."""
    fresh = name.with_name(f".{name.name}.{os.getpid()}")
    fresh.symlink_to(file.resolve())
    os.replace(fresh, name)


def remove_stale_links(out, source, functions):
    """A function that was renamed or removed must not live on as a test model."""
    for entry in out.glob(f"{source.path.stem}.*.pt2"):
        if entry.is_symlink() and entry.name.split(".")[1] not in functions:
            entry.unlink()


def main(argv=None):
    args = parse(argv)
    if not args.verbose:
        quiet()
    try:
        try:
            check_configs(args.configs)
            (pack_folder if args.to_folder else pack_file)(args)
        except ImportError as error:
            raise PackError(f"cannot import {error.name}", sys.executable, "run it with the Python of .venv, or install torch 2.11 or later") from error
    except PackError as error:
        if args.verbose:
            traceback.print_exc()
        print(f"error: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("interrupted; nothing half-written was kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
