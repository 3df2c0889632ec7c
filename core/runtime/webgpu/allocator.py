"""Memory of a WebGPU device. What is copied are words of 4 bytes: bytes around others are read
first.

An image is a texture of float32, also one whose elements are float16: what kernels store is rounded
to that before, and textures of float16 may lose infinities (SwiftShader's do). It is copied whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.dtype import ImageDType
from core.runtime.allocator import Allocator, Place
from core.runtime.webgpu.queue import Queue

_WORD: Final = 4


@dataclass(frozen=True, eq=False, slots=True)
class Handle:
    """Memory: a buffer of whole words; or a texture, with the view of it that kernels are given."""

    buffer: Any
    nbytes: int
    image: ImageDType | None = None
    view: Any = None


class WebGpuAllocator(Allocator):
    """Memory of one device."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    def alloc(self, nbytes: int) -> Handle:
        size = max(_WORD, -(-nbytes // _WORD) * _WORD)
        return Handle(self.queue.new_buffer(size), size)

    def alloc_image(self, image: ImageDType) -> Handle:
        """A texture; plain memory for one that is larger than the device has."""
        if image.side > self.queue.opened.image_side:
            return self.alloc(image.size * image.itemsize)
        texture = self.queue.new_texture(image)
        return Handle(texture, image.size * image.itemsize, image, texture.create_view())

    def free(self, handle: Handle, nbytes: int) -> None:
        self.queue.destroy(handle.buffer)

    def copyin(self, handle: Handle, offset: int, data: memoryview) -> None:
        if handle.image is not None:
            texels = np.frombuffer(data, _kept(handle.image)).astype(np.float32)
            self.queue.write_texture(handle.buffer, handle.image, texels)
            return
        if not data.nbytes:
            return
        start, end = _words_around(offset, data.nbytes)
        content = bytearray(end - start)
        if start < offset or (offset + data.nbytes < end and end < handle.nbytes):
            content[:] = self.queue.read(handle.buffer, start, end - start)
        content[offset - start : offset - start + data.nbytes] = data.cast("B")
        self.queue.write(handle.buffer, start, content)

    def copyout(self, data: memoryview, handle: Handle, offset: int) -> None:
        if handle.image is not None:
            texels = np.frombuffer(self.queue.read_texture(handle.buffer, handle.image), np.float32)
            data.cast("B")[:] = texels.astype(_kept(handle.image)).view(np.uint8).data
            return
        if not data.nbytes:
            return
        start, end = _words_around(offset, data.nbytes)
        found = self.queue.read(handle.buffer, start, end - start)
        data.cast("B")[:] = found[offset - start : offset - start + data.nbytes]

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        near = source.allocator is self and source.handle.buffer is not target.handle.buffer
        if near and source.handle.image is not None and source.handle.image is target.handle.image:
            image = source.handle.image
            self.queue.copy_texture(source.handle.buffer, target.handle.buffer, image)
            return
        if target.handle.image is not None or (near and source.handle.image is not None):
            self._by_host(target, source, nbytes)
            return
        whole = not (target.offset % _WORD or source.offset % _WORD or nbytes % _WORD)
        if near and whole and nbytes:
            self.queue.copy(
                source.handle.buffer, source.offset, target.handle.buffer, target.offset, nbytes
            )
            return
        super().copy(target, source, nbytes)

    def _by_host(self, target: Place, source: Place, nbytes: int) -> None:
        """All of an image, at once: it has no parts."""
        content = memoryview(bytearray(nbytes))
        source.allocator.copyout(content, source.handle, source.offset)
        self.copyin(target.handle, target.offset, content)


def _kept(image: ImageDType) -> np.dtype[Any]:
    """What elements of an image are on other devices."""
    return np.dtype(np.float16 if image.bits == 16 else np.float32)


def _words_around(offset: int, nbytes: int) -> tuple[int, int]:
    return offset // _WORD * _WORD, -(-(offset + nbytes) // _WORD) * _WORD
