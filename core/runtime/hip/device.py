"""AMD GPUs as devices: AMD, AMD:1, ..."""

from __future__ import annotations

import os
from dataclasses import replace

from core.errors import CompileError, DeviceError, DriverError
from core.runtime.gpu.device import GpuDevice
from core.runtime.gpu.driver import Limits
from core.runtime.hip import hiprtc
from core.runtime.hip.api import api, gpus
from core.runtime.hip.driver import HipDriver
from core.target import Target, targets
from core.toolchain import amd_link
from core.toolchain.program import Program


def amd_device(name: str) -> GpuDevice:
    """The GPU called "AMD" or "AMD:n". Raises DeviceError where it is not there."""
    number = int(name.partition(":")[2] or 0)
    count = gpus()
    if number >= count:
        raise DeviceError(
            f"there is no {name}: the driver has {count} GPU" + ("" if count == 1 else "s"),
            hint="HIP_VISIBLE_DEVICES may hide some",
        )
    try:
        driver = HipDriver(api(), number)
    except DriverError as error:
        raise DeviceError(f"{name} cannot be opened: {error.what}", hint=error.hint) from error
    return GpuDevice(name, target_for(driver.limits), driver, code_object)


def target_for(limits: Limits) -> Target:
    """The target of a GPU's architecture, or of the one of its generation that there is a target
    for. Raises DeviceError where there is none."""
    if limits.arch in targets:
        return targets[limits.arch]
    generation = limits.arch[:-2]  # gfx11 of gfx1101, gfx9 of gfx90a
    same = [t for t in targets.values() if t.family == "amd" and t.arch[:-2] == generation]
    if not same or generation == "gfx9":  # its members differ in their instructions
        raise DeviceError(
            f"{limits.title} is a {limits.arch}, for which no code is made",
            hint="targets are " + ", ".join(t.arch for t in targets.values() if t.family == "amd"),
        )
    return replace(same[0], name=limits.arch, arch=limits.arch, processor=limits.arch)


def code_object(program: Program) -> bytes:
    """What the driver loads: the LLVM IR through the LLVM at hand and a linker; where there is no
    linker, or the program is HIP C++, that through hiprtc. Raises CompileError where there is
    neither."""
    linker = amd_link.find_linker()
    if program.source.kind == "hip":
        return hiprtc.compiled(program)
    if linker is not None:
        return amd_link.code_object(program.source.text, program.name, program.target, linker)
    if hiprtc.present():
        return hiprtc.compiled(program)
    raise CompileError(
        "no linker for AMD's code objects was found, and no hiprtc",
        "looked for ld.lld on PATH and in " + os.environ.get("ROCM_PATH", amd_link.ROCM),
        "install LLVM's lld, or ROCm",
    )
