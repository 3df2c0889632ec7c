"""The device of one file: `DISK:path`.

All of its buffers are the file, from its first byte on; each says how much of it. So nothing is
ever allocated on it: who wants a buffer of the file gives it one. Never runs a kernel.
"""

from __future__ import annotations

import os
from typing import Any, Final, TypeGuard

from core.dtype import DType
from core.errors import DeviceError, RunError
from core.runtime.allocator import Allocator
from core.runtime.base import ComputeDevice, Runner
from core.runtime.buffer import Buffer
from core.runtime.disk.file import File
from core.toolchain.program import Program

KIND: Final = "DISK"


def is_disk(device: object) -> TypeGuard[str]:
    """Whether a name, in its canonical form, is that of a file."""
    return isinstance(device, str) and device.startswith(KIND + ":")


def disk_name(path: str) -> str:
    """The device of a file, one for all paths to it, whatever the working directory is later.
    Raises DeviceError for no path."""
    if not path:
        raise DeviceError("DISK without a file", hint='name it: "DISK:weights.bin"')
    return f"{KIND}:{os.path.realpath(path)}"


def path_of(device: str) -> str:
    """The file of a device."""
    return device.partition(":")[2]


class DiskAllocator(Allocator):
    """Handles are open files."""

    def __init__(self, name: str) -> None:
        self.name = name

    def alloc(self, nbytes: int) -> Any:
        raise RunError(
            f"{self.name} is a file, and no place for other values",
            hint='copy them to a device that computes, such as .to("CPU")',
        )

    def free(self, handle: File, nbytes: int) -> None:
        return  # it is closed with its last user

    def copyin(self, handle: File, offset: int, data: memoryview) -> None:
        handle.write(data, offset)

    def copyout(self, data: memoryview, handle: File, offset: int) -> None:
        handle.read(data, offset)


class DiskDevice(ComputeDevice):
    """A file."""

    def __init__(self, name: str) -> None:
        super().__init__(name, None, DiskAllocator(name))

    def load(self, program: Program) -> Runner:
        raise DeviceError(
            f"{self.name} stores but does not compute",
            hint='copy the values to a device that computes, such as .to("CPU")',
        )


def file_buffer(device: str, file: File, size: int, dtype: DType) -> Buffer:
    """The first `size` elements of the file of a device."""
    return Buffer.of(device, DiskAllocator(device), file, size, dtype)
