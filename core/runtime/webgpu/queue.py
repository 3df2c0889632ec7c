"""The queue of a WebGPU device: commands in the order in which they are asked for.

Launches are collected in one list of commands, which is submitted on a wait, or when the list
is long. What goes wrong becomes an error of this project, in one sentence.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from core.dtype import ImageDType
from core.errors import DriverError, RunError, UopvizError
from core.runtime.webgpu.adapter import Opened, package

_MOST: Final = 64
"""Launches of one list of commands."""
_TEXEL_BYTES: Final = 16
LOST: Final = "the GPU reset it, or another program ended it; start this program again"
_FULL: Final = "not enough memory"
_SMALLER: Final = "use smaller tensors"


class Queue:
    """Commands of the device called `name`."""

    def __init__(self, name: str, opened: Opened) -> None:
        self.name, self.opened = name, opened
        self.device: Any = opened.device
        self.lock = threading.RLock()
        self._encoder: Any = None
        self._collected = 0
        self._freed: list[Any] = []
        usage = package().BufferUsage
        self._storage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        self._uniform = usage.UNIFORM | usage.COPY_DST
        self._resolved = usage.QUERY_RESOLVE | usage.COPY_SRC
        self._flag = self.new_buffer(4)

    @contextmanager
    def doing(self, what: str) -> Generator[None]:
        """A block in which the device may fail. Raises RunError where it has no memory left, and
        DriverError for what else goes wrong."""
        with self.lock:
            try:
                yield
            except UopvizError:
                raise
            except Exception as error:
                if is_lost(error):
                    raise DriverError(f"{self.name} was lost while {what}", hint=LOST) from error
                said = first_line(str(error))
                if _FULL in said.lower():
                    raise RunError(f"{self.name} has no memory left while {what}",
                                   hint=_SMALLER) from error  # fmt: skip
                raise DriverError(f"{self.name} failed while {what}: {said}") from error

    def new_buffer(self, size: int) -> Any:
        """Memory of whole words. Raises RunError where there is none left."""
        limit = self.device.limits["max-storage-buffer-binding-size"]
        if size > limit:
            raise RunError(
                f"{self.name} has no buffers of {size:,} bytes: {limit:,} at most",
                hint=_SMALLER,
            )
        with self.doing(f"allocating {size:,} bytes"):
            return self.device.create_buffer(size=size, usage=self._storage)

    def new_texture(self, image: ImageDType) -> Any:
        """Memory of texels. Raises RunError where there is none left."""
        usage = package().TextureUsage
        with self.doing(f"allocating {image}"):
            return self.device.create_texture(
                size=(image.width, image.height, 1),
                format="rgba32float",
                usage=usage.TEXTURE_BINDING
                | usage.STORAGE_BINDING
                | usage.COPY_SRC
                | usage.COPY_DST,
            )

    def new_uniform(self, content: bytes) -> Any:
        """A small buffer that kernels read."""
        with self.doing("allocating variables"):
            buffer = self.device.create_buffer(size=len(content), usage=self._uniform)
            self.device.queue.write_buffer(buffer, 0, content)
            return buffer

    def destroy(self, buffer: Any) -> None:
        """Gives memory back, after the commands that use it."""
        with self.lock:
            if self._encoder is None:
                buffer.destroy()
            else:
                self._freed.append(buffer)

    def write(self, buffer: Any, offset: int, content: bytes | bytearray) -> None:
        """Host bytes to the device."""
        with self.doing("copying to it"):
            self.submit()
            self.device.queue.write_buffer(buffer, offset, content)

    def read(self, buffer: Any, offset: int, size: int) -> memoryview:
        """The device's bytes, once all that was asked for is done."""
        with self.doing("copying from it"):
            self.submit()
            return memoryview(self.device.queue.read_buffer(buffer, offset, size)).cast("B")

    def copy(self, source: Any, at: int, target: Any, to: int, nbytes: int) -> None:
        """Bytes from buffer to buffer."""
        with self.doing("copying within it"):
            self.commands().copy_buffer_to_buffer(source, at, target, to, nbytes)

    def write_texture(self, texture: Any, image: ImageDType, content: Any) -> None:
        """Host texels of float32 to all of an image."""
        with self.doing("copying to it"):
            self.submit()
            self.device.queue.write_texture({"texture": texture}, content, *_all_of(image))

    def read_texture(self, texture: Any, image: ImageDType) -> memoryview:
        """All texels of an image, once all that was asked for is done."""
        with self.doing("copying from it"):
            self.submit()
            return self.device.queue.read_texture({"texture": texture}, *_all_of(image))

    def copy_texture(self, source: Any, target: Any, image: ImageDType) -> None:
        """All texels of one image to another one of its kind."""
        with self.doing("copying within it"):
            size = (image.width, image.height, 1)
            places = {"texture": source}, {"texture": target}
            self.commands().copy_texture_to_texture(*places, size)

    def commands(self) -> Any:
        """The list that commands are collected in; `lock` is held."""
        if self._encoder is None:
            self._encoder = self.device.create_command_encoder()
        self._collected += 1
        return self._encoder

    def launched(self) -> None:
        """A launch was collected; `lock` is held."""
        if self._collected >= _MOST:
            self.submit()

    def submit(self) -> None:
        """Hands over what was collected; `lock` is held."""
        encoder, self._encoder, self._collected = self._encoder, None, 0
        if encoder is not None:
            self.device.queue.submit([encoder.finish()])
        for buffer in self._freed:
            buffer.destroy()
        self._freed.clear()

    def wait(self) -> None:
        """Returns when all that was asked for is done."""
        self.read(self._flag, 0, 4)

    def new_queries(self) -> tuple[Any, Any]:
        """Two points in time of the device's own clock, and where they are written."""
        queries = self.device.create_query_set(type="timestamp", count=2)
        return queries, self.device.create_buffer(size=16, usage=self._resolved)


def _all_of(image: ImageDType) -> tuple[dict[str, int], tuple[int, int, int]]:
    """Where texels of an image lie on the host, and how many there are."""
    layout = {"bytes_per_row": image.width * _TEXEL_BYTES, "rows_per_image": image.height}
    return layout, (image.width, image.height, 1)


def is_lost(error: Exception) -> bool:
    """Whether the device is no more."""
    return "lost" in str(error).lower()


def first_line(said: str) -> str:
    """What an error of the package says, without its heading."""
    lines = [line.strip() for line in said.splitlines()]
    said_first = [line for line in lines if line and line not in ("Validation Error", "Caused by:")]
    told = [line for line in said_first if not line.startswith("In wgpu")]
    return (told or said_first or ["unknown"])[0]
