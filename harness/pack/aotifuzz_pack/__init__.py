"""Packages that carry their own reference.

    from aotifuzz_pack import aoti_compile_and_package
    aoti_compile_and_package(exported_program, package_path="model.pt2")

Drop-in for torch._inductor.aoti_compile_and_package: same arguments, same checks, same AOTI files. The archive also
holds the ExportedProgram, so that `aotifuzz fuzz model.pt2` needs nothing else, and the kernel map (kernel_map.py), by
which each kernel is judged by itself; `kernel_map=False` leaves the latter out.
"""

from .package import PACK_VERSION, aoti_compile_and_package

__all__ = ["PACK_VERSION", "aoti_compile_and_package"]
