"""Platforms: what the package `pyopencl` finds on this machine, and a context of one device.

Imports the package when the first device is asked for. Never runs a kernel.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, Final

from core.dtype import IMAGE_SIDE
from core.errors import DeviceError
from core.target import Target, targets

INSTALL: Final = "pip install 'uopviz[opencl]'"
NO_DEVICE: Final = (
    "install a driver of OpenCL: the GPU's, or for the CPU pocl-opencl-icd (Debian) or "
    "pip install pocl-binary-distribution"
)
_opening: Final = threading.Lock()


@dataclass(frozen=True)
class Opened:
    """A device with a context of its own, what it is called, what is compiled for it, and with
    which options; whether it is a GPU."""

    device: Any
    context: Any
    title: str
    target: Target
    options: tuple[str, ...]
    is_gpu: bool


@cache
def package() -> Any:
    """The module `pyopencl`. Raises DeviceError where it is missing."""
    try:
        module = import_module("pyopencl")
    except ImportError as error:
        raise DeviceError(
            f"the package pyopencl is not installed ({error})", hint=INSTALL
        ) from error
    # what a compiler says of a text that it accepts is of no interest to users
    warnings.filterwarnings("ignore", category=module.CompilerWarning)
    return module


def devices() -> Sequence[Any]:
    """The devices of all platforms of this machine that name theirs, GPUs first. Raises DeviceError
    where the package is missing."""
    cl = package()
    found: list[Any] = []
    with _opening:
        try:
            platforms = cl.get_platforms()
        except cl.Error:  # the loader has none
            platforms = []
        for platform in platforms:
            with suppress(cl.Error):  # of a driver without a device, or without a kernel module
                found += platform.get_devices()
    return sorted(found, key=_rank)


def _rank(device: Any) -> int:
    kinds = package().device_type
    order = (kinds.GPU, kinds.ACCELERATOR, kinds.CPU)
    return next((at for at, kind in enumerate(order) if device.type & kind), len(order))


def is_gpu(device: Any) -> bool:
    """Whether it is a GPU: others may compute in the memory of this process."""
    return bool(device.type & package().device_type.GPU)


def title(device: Any) -> str:
    """The name of a device, and of the platform that it is reached by."""
    return f"{device.name.strip()} ({device.platform.name.strip()})"


def target_of(device: Any) -> Target:
    """What is compiled for a device. Raises DeviceError for one with less than all targets need."""
    target = targets["opencl" if "cl_khr_fp64" in device.extensions.split() else "opencl-f32"]
    sizes = (*device.max_work_item_sizes, 1, 1, 1)
    lacks = (
        "no compiler" if not device.compiler_available else "",
        f"{device.local_mem_size:,} bytes of shared memory, and {target.shared_bytes:,} are needed"
        if device.local_mem_size < target.shared_bytes
        else "",
        f"{device.max_work_group_size} threads in a group, and {target.threads_max} are needed"
        if device.max_work_group_size < target.threads_max
        or any(have < need for have, need in zip(sizes, target.local_max, strict=False))
        else "",
        "" if device.endian_little else "its bytes in the order of big ends",
    )
    for lack in filter(None, lacks):
        raise DeviceError(f"{title(device)} has {lack}", hint="use another device")
    return replace(
        target,
        image_side=image_side(device),
        images_read=device.max_read_image_args,
        images_written=device.max_write_image_args,
    )


def image_side(device: Any) -> int:
    """Texels along the longest side of an image; 0 where the device has no images."""
    sides = (device.image2d_max_width, device.image2d_max_height) if device.image_support else (0,)
    return min(IMAGE_SIDE, *sides)


def opened(name: str, number: int) -> Opened:
    """Device `number`, in a context of its own; where there are fewer, the last one once more.
    Raises DeviceError where there is none, or none can be opened."""
    found = devices()
    if not found:
        raise DeviceError(f"there is no {name}: pyopencl finds no device", hint=NO_DEVICE)
    cl, device = package(), found[min(number, len(found) - 1)]
    target = target_of(device)
    try:
        context = cl.Context([device])
    except cl.Error as error:
        raise DeviceError(f"{name} cannot be opened: {error}", hint=NO_DEVICE) from error
    rounded = device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
    options = ("-cl-std=CL1.2", *(("-cl-fp32-correctly-rounded-divide-sqrt",) if rounded else ()))
    return Opened(device, context, title(device), target, options, is_gpu(device))
