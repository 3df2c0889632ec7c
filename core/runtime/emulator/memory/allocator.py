"""Memory of an emulated device: addresses that are never used twice, with room between blocks.

What has no content yet is known byte by byte. Never shares memory with the host.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import numpy as np

from core.errors import RunError
from core.runtime.base import Allocator
from core.runtime.numeric import Array

BASE: Final = 1 << 40
"""The first address: no integer of 32 bits is an address."""
ALIGN: Final = 256
GUARD: Final = 4096
"""At least so many bytes lie between two blocks."""


class EmulatedMemory:
    """A block: `content` and, of each byte, whether something was `written` (uint8)."""

    __slots__ = ("_complete", "address", "content", "written")

    def __init__(self, address: int, nbytes: int) -> None:
        self.address = address
        raw = np.zeros(nbytes + ALIGN, np.uint8)
        start = -int(raw.ctypes.data) % ALIGN
        self.content: Array = raw[start : start + nbytes]
        self.written: Array = np.zeros(nbytes, np.uint8)
        self._complete = False

    @property
    def complete(self) -> bool:
        """Whether every byte has content."""
        self._complete = self._complete or bool(self.written.all())
        return self._complete


class EmulatorAllocator(Allocator):
    """Hands out `EmulatedMemory`."""

    def __init__(self) -> None:
        self._next = BASE
        self._lock = threading.Lock()

    def alloc(self, nbytes: int) -> EmulatedMemory:
        with self._lock:
            address = self._next
            self._next += -(-nbytes // ALIGN) * ALIGN + GUARD
        try:
            return EmulatedMemory(address, nbytes)
        except MemoryError as error:
            raise RunError(
                f"the host has no {nbytes} bytes left for an emulated device",
                hint="use smaller tensors, or free some that are no longer needed",
            ) from error

    def free(self, handle: Any, nbytes: int) -> None:
        return

    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        handle.content[offset : offset + data.nbytes] = np.frombuffer(data, np.uint8)
        handle.written[offset : offset + data.nbytes] = 1

    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        np.frombuffer(data, np.uint8)[:] = handle.content[offset : offset + data.nbytes]

    def address(self, handle: Any) -> int:
        return handle.address
