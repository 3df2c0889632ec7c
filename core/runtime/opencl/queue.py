"""The queue of an OpenCL device: commands, done in the order in which they are asked for.

What goes wrong becomes an error of this project, in one sentence.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from core.dtype import ImageDType
from core.errors import DriverError, RunError
from core.runtime.opencl.platform import Opened, package


def _all_of(image: ImageDType) -> dict[str, Any]:
    return {"origin": (0, 0), "region": (image.width, image.height), "is_blocking": True}


class Queue:
    """Commands of the device called `name`."""

    def __init__(self, name: str, opened: Opened) -> None:
        self.name, self.opened = name, opened
        self.lock = threading.RLock()
        self._cl: Any = package()
        with self.doing("opening it"):
            measured = self._cl.command_queue_properties.PROFILING_ENABLE
            self._queue = self._cl.CommandQueue(opened.context, opened.device, measured)

    @contextmanager
    def doing(self, what: str) -> Generator[None]:
        """A block in which the device may fail. Raises RunError where it has no memory left, and
        DriverError for what else goes wrong."""
        with self.lock:
            try:
                yield
            except self._cl.MemoryError as error:
                raise RunError(
                    f"{self.name} has no memory left while {what}", hint="use smaller tensors"
                ) from error
            except self._cl.Error as error:
                raise DriverError(f"{self.name} failed while {what}: {error}") from error

    def new_buffer(self, size: int) -> Any:
        """Memory. Raises RunError where there is none left."""
        most = self.opened.device.max_mem_alloc_size
        if size > most:
            raise RunError(
                f"{self.name} has no buffers of {size:,} bytes: {most:,} at most",
                hint="use smaller tensors",
            )
        with self.doing(f"allocating {size:,} bytes"):
            flags = self._cl.mem_flags.READ_WRITE
            return self._cl.Buffer(self.opened.context, flags, size)

    def new_image(self, image: ImageDType) -> Any:
        """Memory of texels. Raises RunError where there is none left."""
        cl = self._cl
        with self.doing(f"allocating {image}"):
            kind = cl.channel_type.HALF_FLOAT if image.bits == 16 else cl.channel_type.FLOAT
            form = cl.ImageFormat(cl.channel_order.RGBA, kind)
            shape = (image.width, image.height)
            flags = cl.mem_flags.READ_WRITE
            return cl.create_image(self.opened.context, flags, form, shape=shape)

    def write_image(self, texels: Any, image: ImageDType, content: memoryview) -> None:
        """Host bytes to all of an image."""
        with self.doing("copying to it"):
            self._cl.enqueue_copy(self._queue, texels, content, **_all_of(image))

    def read_image(self, content: memoryview, texels: Any, image: ImageDType) -> None:
        """All of an image, once all that was asked for is done."""
        with self.doing("copying from it"):
            self._cl.enqueue_copy(self._queue, content, texels, **_all_of(image))

    def write(self, buffer: Any, offset: int, content: memoryview) -> None:
        """Host bytes to the device."""
        with self.doing("copying to it"):
            self._cl.enqueue_copy(self._queue, buffer, content, dst_offset=offset, is_blocking=True)

    def read(self, content: memoryview, buffer: Any, offset: int) -> None:
        """The device's bytes, once all that was asked for is done."""
        with self.doing("copying from it"):
            self._cl.enqueue_copy(self._queue, content, buffer, src_offset=offset, is_blocking=True)

    def copy(self, source: Any, at: int, target: Any, to: int, nbytes: int) -> None:
        """Bytes from buffer to buffer, or within one where they do not overlap."""
        with self.doing("copying within it"):
            self._cl.enqueue_copy(
                self._queue, target, source, src_offset=at, dst_offset=to, byte_count=nbytes
            )

    def launch(self, kernel: Any, groups: Sequence[int], threads: Sequence[int]) -> Any:
        """One launch of a kernel whose arguments are set: the event of its end. `lock` is held."""
        sizes = [g * t for g, t in zip(groups, threads, strict=True)]
        event = self._cl.enqueue_nd_range_kernel(self._queue, kernel, sizes, list(threads))
        self._queue.flush()
        return event

    def wait(self) -> None:
        """Returns when all that was asked for is done."""
        with self.doing("waiting for it"):
            self._queue.finish()
