"""Memory of an OpenCL device: buffers, and the parts of them that kernels are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from core.dtype import ImageDType
from core.runtime.allocator import Allocator, Place
from core.runtime.opencl.queue import Queue

_LEAST: Final = 16
"""Bytes of the smallest buffer."""


@dataclass(frozen=True, eq=False, slots=True)
class Handle:
    """Memory: a buffer, and by (offset, bytes) the parts of it that were made; or an image."""

    buffer: Any
    nbytes: int
    image: ImageDType | None = None
    parts: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])

    def part(self, offset: int, nbytes: int) -> Any:
        """Some of it as a buffer. `offset` is a multiple that the device asks for. An image has no
        parts."""
        if self.image is not None or (offset, nbytes) == (0, self.nbytes):
            return self.buffer
        if (offset, nbytes) not in self.parts:
            self.parts[offset, nbytes] = self.buffer.get_sub_region(offset, nbytes)
        return self.parts[offset, nbytes]


class OpenClAllocator(Allocator):
    """Memory of one device."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    def alloc(self, nbytes: int) -> Handle:
        size = max(_LEAST, nbytes)
        return Handle(self.queue.new_buffer(size), size)

    def alloc_image(self, image: ImageDType) -> Handle:
        """Texels; plain memory for an image that is larger than the device has."""
        if image.side > self.queue.opened.target.image_side:
            return self.alloc(image.size * image.itemsize)
        return Handle(self.queue.new_image(image), image.size * image.itemsize, image)

    def free(self, handle: Handle, nbytes: int) -> None:
        """Gives memory back; the driver keeps it until the commands that use it are done."""
        handle.parts.clear()
        with self.queue.doing("freeing memory"):
            handle.buffer.release()

    def copyin(self, handle: Handle, offset: int, data: memoryview) -> None:
        if handle.image is not None:
            self.queue.write_image(handle.buffer, handle.image, data.cast("B"))
        elif data.nbytes:
            self.queue.write(handle.buffer, offset, data.cast("B"))

    def copyout(self, data: memoryview, handle: Handle, offset: int) -> None:
        if handle.image is not None:
            self.queue.read_image(data.cast("B"), handle.buffer, handle.image)
        elif data.nbytes:
            self.queue.read(data.cast("B"), handle.buffer, offset)

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        image = target.handle.image or (source.allocator is self and source.handle.image)
        if image or source.allocator is not self or source.handle is target.handle:
            super().copy(target, source, nbytes)
        elif nbytes:
            self.queue.copy(
                source.handle.buffer, source.offset, target.handle.buffer, target.offset, nbytes
            )
