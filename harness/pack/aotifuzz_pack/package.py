"""The drop-in for torch._inductor.aoti_compile_and_package. torch is imported on first use: --help stays quick."""

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

PACK_VERSION = 1
SIDECAR = "extra/aotifuzz_pack.json"

# Of the time that compiling took, at most this share is spent on checking the kernel map.
_CHECK_SHARE = 0.15

# Written by the archive writer itself, once per archive.
_WRITER_MEMBERS = {"version", "byteorder", ".data/version", ".data/serialization_id"}
_WRITER_PREFIXES = (".format_version", ".storage_alignment")


def aoti_compile_and_package(
    exported_program,
    _deprecated_unused_args=None,
    _deprecated_unused_kwargs=None,
    *,
    package_path=None,
    inductor_configs=None,
    recipe=None,
    kernel_map=True,
):
    """Compiles and packages as torch does, then adds the ExportedProgram, a sidecar and the kernel map to the archive.

    Arguments and return value are those of torch._inductor.aoti_compile_and_package; `recipe` (optional, any JSON
    value) is kept in the sidecar and says how the program can be built again. Provenance tracking is on unless
    `inductor_configs` says otherwise: it gives the kernel names of a finding their source lines. `kernel_map=False`
    leaves out the kernel map (kernel_map.py); so does whatever goes wrong with it, with a warning.
    """
    import torch
    from torch._inductor import aoti_compile_and_package as stock

    from .inductor_hooks import Recorder

    configs = dict(inductor_configs or {})
    given = dict(configs)
    if hasattr(torch._inductor.config.trace, "provenance_tracking_level"):
        configs.setdefault("trace.provenance_tracking_level", 1)

    is_path = isinstance(package_path, (str, os.PathLike))
    if is_path and not os.fspath(package_path).endswith(".pt2"):
        # torch checks this with an assertion of the same text; here it comes before minutes of compiling.
        raise AssertionError(f"Expect package path to be a file ending in .pt2, is None, or is a buffer. Instead got {package_path}")

    folder = os.path.dirname(os.path.abspath(package_path)) if is_path else None
    with tempfile.TemporaryDirectory(prefix=".aotifuzz-pack-", dir=folder) as scratch:
        program = None
        if isinstance(exported_program, torch.export.ExportedProgram) and exported_program.example_inputs is not None:
            # Before compiling: from torch 2.15 on, compiling may change the caller's program.
            program = os.path.join(scratch, "program.pt2")
            torch.export.save(exported_program, program)

        compiled = None if package_path is None else os.path.join(scratch, "compiled.pt2")
        recorder = Recorder() if kernel_map and program is not None else None
        examples = _example_tensors(exported_program) if recorder else []
        began = time.monotonic()
        with recorder or contextlib.nullcontext():
            compiled = stock(
                exported_program,
                _deprecated_unused_args,
                _deprecated_unused_kwargs,
                package_path=compiled,
                inductor_configs=configs,
            )

        sidecar = {
            "pack_version": PACK_VERSION,
            "torch_version": torch.__version__,
            "inductor_configs": {key: value if _is_json(value) else repr(value) for key, value in given.items()},
        }
        if recipe is not None:
            sidecar["recipe"] = recipe
        extra = {}
        if recorder is not None:
            parameters = {*exported_program.state_dict, *exported_program.constants}
            seconds = (time.monotonic() - began) * _CHECK_SHARE
            extra = _kernel_map(recorder, examples, parameters, seconds, sidecar)
        extra[SIDECAR] = json.dumps(sidecar, indent=1).encode()
        target = package_path if package_path is not None else compiled
        # The archive's root folder is named after the file, so the merged file gets its final name from the start.
        name = os.path.basename(os.fspath(target)) if isinstance(target, (str, os.PathLike)) else "model.pt2"
        os.mkdir(os.path.join(scratch, "merged"))
        merged = os.path.join(scratch, "merged", name)
        _merge(compiled, program, extra, merged)
        if isinstance(target, (str, os.PathLike)):
            if package_path is None:
                shutil.move(merged, target)
            else:
                os.replace(merged, target)
        else:
            with open(merged, "rb") as file:
                shutil.copyfileobj(file, target)
            target.seek(0)
    return target


def _is_json(value):
    try:
        json.dumps(value)
        return True
    except (TypeError, ValueError):
        return False


def _example_tensors(program):
    """The tensors that the program was exported with, flat; copies, as compiling may run on them."""
    import torch

    args, kwargs = program.example_inputs
    flat = torch.utils._pytree.tree_leaves((args, {name: kwargs[name] for name in _keyword_order(program, kwargs)}))
    return [value.detach().clone() for value in flat if isinstance(value, torch.Tensor)]


def _keyword_order(program, kwargs):
    """The package takes keyword arguments in the order of the program, not of the example call."""
    spec = program.call_spec.in_spec
    ordered = spec.children()[1].context if spec is not None and len(kwargs) > 1 else list(kwargs)
    return ordered if set(ordered) == set(kwargs) else list(kwargs)


def _kernel_map(recorder, examples, parameters, seconds, sidecar):
    """The archive member with the map, or none and a warning that is also kept in the sidecar's notes."""
    from . import kernel_map

    failure = recorder.failure
    if recorder.lowering is not None:
        try:
            recorder.lowering.notes += recorder.notes
            document = kernel_map.document(recorder.lowering, examples, parameters, seconds)
            return {kernel_map.MEMBER: kernel_map.to_bytes(document)}
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
    note = f"no kernel map: {failure}"
    sidecar["notes"] = [note]
    print(f"warning: {note}\n  kernels of this package cannot be judged one by one; everything else works", file=sys.stderr)
    return {}


def _merge(compiled, program, extra, out):
    """Writes every member of both archives, and `extra`, into one. The AOTI files stay byte for byte what torch made."""
    import torch

    writer = torch._C.PyTorchFileWriter(out)
    writer.set_min_version(6)
    written = {}
    for source in (program, compiled):
        with zipfile.ZipFile(source) as archive:
            for info in archive.infolist():
                member = info.filename.split("/", 1)[1]
                if member in _WRITER_MEMBERS or member.startswith(_WRITER_PREFIXES):
                    continue
                if member in written:
                    if written[member] != (info.CRC, info.file_size):
                        raise RuntimeError(
                            f"The compiled model and its reference both have a member {member}, with different contents. "
                            "Package without the reference (torch._inductor.aoti_compile_and_package), save the program "
                            "with torch.export.save and give it to aotifuzz with --reference."
                        )
                    continue
                written[member] = (info.CRC, info.file_size)
                data = archive.read(info)
                writer.write_record(member, data, len(data))
    for member, data in extra.items():
        writer.write_record(member, data, len(data))
    writer.write_end_of_file()


def read_sidecar(package_path):
    """The sidecar of a package, or None for one that pack did not make."""
    with zipfile.ZipFile(Path(package_path)) as archive:
        for member in archive.namelist():
            if member.split("/", 1)[-1] == SIDECAR:
                return json.loads(archive.read(member))
    return None
