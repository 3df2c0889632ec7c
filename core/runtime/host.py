"""Memory of the host: aligned, reused by size, bounded.

Fresh memory from the system costs a page fault per 4 KiB, which is more than most kernels take;
so freed blocks are kept, up to a limit. Never zeroes memory.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any, Final

import numpy as np

from core.errors import RunError
from core.runtime.allocator import Allocator

ALIGN: Final = 64
"""One cache line, and the widest vector."""
KEEP: Final = 1 << 30
"""Most bytes of free blocks that are kept."""


class HostMemory:
    """A block of host memory: `bytes_` is a uint8 array whose first element is at `address`."""

    __slots__ = ("address", "bytes_", "keep")

    def __init__(self, bytes_: np.ndarray[Any, Any], keep: bool) -> None:
        self.bytes_ = bytes_
        self.address = int(bytes_.ctypes.data)
        self.keep = keep


class HostAllocator(Allocator):
    """Allocates with NumPy."""

    def __init__(self) -> None:
        self._free: dict[int, list[HostMemory]] = {}
        self._kept = 0

    def alloc(self, nbytes: int) -> HostMemory:
        size = max(1, nbytes)
        with suppress(KeyError, IndexError):  # none kept of this size, or another thread has it
            block = self._free[size].pop()
            self._kept -= size
            return block
        try:
            raw = np.empty(size + ALIGN, np.uint8)
        except MemoryError as error:
            self._free.clear()
            self._kept = 0
            raise RunError(
                f"the host has no {size} bytes left",
                hint="use smaller tensors, or free some that are no longer needed",
            ) from error
        start = -int(raw.ctypes.data) % ALIGN
        return HostMemory(raw[start : start + size], True)

    def wrap(self, array: np.ndarray[Any, Any]) -> HostMemory | None:
        if array.ctypes.data % array.itemsize:
            return None  # kernels rely on whole elements
        return HostMemory(array.reshape(-1).view(np.uint8), False)

    def at(self, address: int, nbytes: int) -> HostMemory:
        raw = (ctypes.c_uint8 * nbytes).from_address(address)
        return HostMemory(np.frombuffer(memoryview(raw), np.uint8), False)

    def free(self, handle: Any, nbytes: int) -> None:
        size = max(1, nbytes)
        if handle.keep and self._kept + size <= KEEP:
            self._kept += size
            self._free.setdefault(size, []).append(handle)

    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        handle.bytes_[offset : offset + data.nbytes] = np.frombuffer(data, np.uint8)

    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        np.frombuffer(data, np.uint8)[:] = handle.bytes_[offset : offset + data.nbytes]

    def host_view(self, handle: Any, offset: int, nbytes: int) -> memoryview | None:
        return memoryview(handle.bytes_)[offset : offset + nbytes]

    def address(self, handle: Any) -> int:
        return handle.address
