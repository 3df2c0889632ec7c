"""NVIDIA GPUs as devices: CUDA, CUDA:1, ..."""

from __future__ import annotations

import re

from core.errors import DeviceError, DriverError
from core.runtime.cuda.api import api, gpus
from core.runtime.cuda.driver import CudaDriver
from core.runtime.gpu.device import GpuDevice
from core.runtime.gpu.driver import Limits
from core.target import Target, targets


def cuda_device(name: str) -> GpuDevice:
    """The GPU called "CUDA" or "CUDA:n". Raises DeviceError where it is not there."""
    number = int(name.partition(":")[2] or 0)
    count = gpus()
    if number >= count:
        raise DeviceError(
            f"there is no {name}: the driver has {count} GPU" + ("" if count == 1 else "s"),
            hint="CUDA_VISIBLE_DEVICES may hide some",
        )
    try:
        driver = CudaDriver(api(), number)
    except DriverError as error:
        raise DeviceError(f"{name} cannot be opened: {error.what}", hint=error.hint) from error
    return GpuDevice(name, target_for(driver.limits), driver, lambda program: program.source.text)


def target_for(limits: Limits) -> Target:
    """The target whose PTX a GPU runs: of its compute capability, or the next one below, since PTX
    of an older one runs on newer ones. Raises DeviceError for a GPU older than all targets."""
    wanted = capability(limits.arch)
    found = [t for t in targets.values() if t.family == "nvidia" and capability(t.arch) <= wanted]
    if not found:
        oldest = min(capability(t.arch) for t in targets.values() if t.family == "nvidia")
        raise DeviceError(
            f"{limits.title} has compute capability {wanted // 10}.{wanted % 10}, and code is made "
            f"for {oldest // 10}.{oldest % 10} and newer",
            hint="DEV=PTX:EMU runs the code without a GPU",
        )
    return max(found, key=lambda t: capability(t.arch))


def capability(arch: str) -> int:
    """Ten times the compute capability: 90 of "sm_90"."""
    return int(re.sub(r"\D", "", arch))
