"""Memory of a WebGPU device. What is copied are words of 4 bytes: bytes around others are read
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from core.runtime.allocator import Allocator, Place
from core.runtime.webgpu.queue import Queue

_WORD: Final = 4


@dataclass(frozen=True, eq=False, slots=True)
class Handle:
    """Memory: a buffer of whole words."""

    buffer: Any
    nbytes: int


class WebGpuAllocator(Allocator):
    """Memory of one device."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    def alloc(self, nbytes: int) -> Handle:
        size = max(_WORD, -(-nbytes // _WORD) * _WORD)
        return Handle(self.queue.new_buffer(size), size)

    def free(self, handle: Handle, nbytes: int) -> None:
        self.queue.destroy(handle.buffer)

    def copyin(self, handle: Handle, offset: int, data: memoryview) -> None:
        if not data.nbytes:
            return
        start, end = _words_around(offset, data.nbytes)
        content = bytearray(end - start)
        if start < offset or (offset + data.nbytes < end and end < handle.nbytes):
            content[:] = self.queue.read(handle.buffer, start, end - start)
        content[offset - start : offset - start + data.nbytes] = data.cast("B")
        self.queue.write(handle.buffer, start, content)

    def copyout(self, data: memoryview, handle: Handle, offset: int) -> None:
        if not data.nbytes:
            return
        start, end = _words_around(offset, data.nbytes)
        found = self.queue.read(handle.buffer, start, end - start)
        data.cast("B")[:] = found[offset - start : offset - start + data.nbytes]

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        near = source.allocator is self and source.handle.buffer is not target.handle.buffer
        whole = not (target.offset % _WORD or source.offset % _WORD or nbytes % _WORD)
        if near and whole and nbytes:
            self.queue.copy(
                source.handle.buffer, source.offset, target.handle.buffer, target.offset, nbytes
            )
            return
        super().copy(target, source, nbytes)


def _words_around(offset: int, nbytes: int) -> tuple[int, int]:
    return offset // _WORD * _WORD, -(-(offset + nbytes) // _WORD) * _WORD
