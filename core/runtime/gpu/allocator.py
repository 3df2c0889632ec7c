"""Memory of a GPU, its streams of copies, and copies between GPUs.

What is freed is reused by the driver's own pool, in the order of the main stream: a kernel that
still runs keeps its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.errors import DriverError, RunError
from core.runtime.allocator import Allocator, Event, Place, Stream
from core.runtime.gpu.driver import FULL, Driver
from core.runtime.gpu.queue import Queue


class _Foreign(int):
    """The address of memory that is owned elsewhere."""


class GpuAllocator(Allocator):
    """Memory of one GPU; a handle is its address."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    def alloc(self, nbytes: int) -> int:
        size = max(1, nbytes)
        driver = self.queue.open()
        try:
            return driver.alloc(size, self.queue.stream)
        except DriverError as error:
            if error.code != FULL:
                raise self.queue.explained(error, f"allocating {size} bytes") from None
        self.queue.wait()  # what is freed already can then be given back
        driver.trim()
        try:
            return driver.alloc(size, self.queue.stream)
        except DriverError as error:
            if error.code != FULL:
                raise self.queue.explained(error, f"allocating {size} bytes") from None
            free, total = driver.memory()
            raise RunError(
                f"{self.queue.name} has no {size} bytes left ({free} of {total} are free)",
                error.what,
                "use smaller tensors, or free some that are no longer needed",
            ) from None

    def at(self, address: int, nbytes: int) -> int:
        return _Foreign(address)

    def free(self, handle: int, nbytes: int) -> None:
        if isinstance(handle, _Foreign):
            return
        try:
            self.queue.open().free(handle, self.queue.stream)
        except RunError:
            return  # the GPU is lost, and its memory with it; its next use raises

    def copyin(self, handle: int, offset: int, data: memoryview) -> None:
        if data.nbytes:
            host = _address(data)
            self._ask("copying to it", lambda d, s: d.upload(handle + offset, host, data.nbytes, s))

    def copyout(self, data: memoryview, handle: int, offset: int) -> None:
        if data.nbytes:
            host = _address(data)
            self._ask(
                "copying from it", lambda d, s: d.download(host, handle + offset, data.nbytes, s)
            )
            self.queue.wait()

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        other = source.allocator
        if not isinstance(other, GpuAllocator) or not nbytes:
            super().copy(target, source, nbytes)
            return
        to, at = target.handle + target.offset, source.handle + source.offset
        if other is self:
            self._ask("copying within it", lambda d, s: d.copy(to, at, nbytes, s))
            return
        far = other.queue
        if not self._reaches(far):
            super().copy(target, source, nbytes)
            return
        GpuEvent.after(far).hold(self.queue)
        self._ask(
            f"copying from {far.name}", lambda d, s: d.copy_peer(to, far.driver, at, nbytes, s)
        )
        GpuEvent.after(self.queue).hold(far)  # the source may be written or freed after the copy

    def follows(self, source: Allocator) -> bool:
        near = isinstance(source, GpuAllocator)
        return near and (source is self or self._reaches(source.queue))

    def _reaches(self, far: Queue) -> bool:
        driver = self.queue.open()
        return driver.kind == far.driver.kind and driver.reaches(far.driver)

    def _ask(self, doing: str, command: Callable[[Driver, Any], None]) -> None:
        driver = self.queue.open()
        try:
            command(driver, self.queue.stream)
        except DriverError as error:
            raise self.queue.explained(error, doing) from None

    def stream(self) -> Stream:
        return GpuStream(self)

    def address(self, handle: int) -> int:
        return handle


class GpuEvent:
    """A point in a stream of a GPU. It is given back to the driver with its last user."""

    def __init__(self, queue: Queue, stream: Any) -> None:
        self._queue = queue
        driver = queue.open()
        self._event = driver.new_event()
        driver.record(self._event, stream)

    @classmethod
    def after(cls, queue: Queue) -> GpuEvent:
        """The point after everything that the main stream was asked for."""
        return cls(queue, queue.stream)

    def hold(self, queue: Queue) -> None:
        """What comes later in the main stream of `queue`, of this or another GPU, begins after the
        event."""
        queue.open().hold(queue.stream, self._event)

    def hold_stream(self, stream: Any) -> None:
        """What comes later in a stream of the same GPU begins after the event."""
        self._queue.open().hold(stream, self._event)

    @property
    def done(self) -> bool:
        """Whether all before it is done."""
        return self._queue.open().passed(self._event)

    def wait(self) -> None:
        """Returns when all before it is done."""
        try:
            self._queue.open().wait_for(self._event)
        except DriverError as error:
            raise self._queue.explained(error, "waiting for an event") from None

    def __del__(self) -> None:
        self._queue.free(lambda driver: driver.free_event(self._event))


class GpuStream(Stream):
    """Copies beside the kernels of one GPU, each after what the main stream was asked for before.
    The main stream does not wait for them: it does after `wait`, given an event of this stream."""

    def __init__(self, allocator: GpuAllocator) -> None:
        super().__init__(allocator)
        self._queue = allocator.queue
        self._stream = self._queue.open().new_stream()

    def copyin(self, handle: int, offset: int, data: memoryview) -> None:
        """Host bytes to the GPU. They must not change until it is done."""
        host = _address(data)
        self._ask(lambda d: d.upload(handle + offset, host, data.nbytes, self._stream))

    def copyout(self, data: memoryview, handle: int, offset: int) -> None:
        """The GPU's bytes to the host; there when an event after it is done."""
        host = _address(data)
        self._ask(lambda d: d.download(host, handle + offset, data.nbytes, self._stream))

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        """Bytes of any device to this GPU; beside its kernels if they are this GPU's."""
        if source.allocator is not target.allocator:
            super().copy(target, source, nbytes)
            return
        to, at = target.handle + target.offset, source.handle + source.offset
        self._ask(lambda d: d.copy(to, at, nbytes, self._stream))

    def _ask(self, command: Callable[[Driver], None]) -> None:
        driver = self._queue.open()
        try:
            GpuEvent.after(self._queue).hold_stream(self._stream)
            command(driver)
        except DriverError as error:
            raise self._queue.explained(error, "copying in a stream of its own") from None

    def record(self) -> Event:
        """The point after what was asked for so far."""
        return GpuEvent(self._queue, self._stream)

    def wait(self, event: Event) -> None:
        """What is asked for from here on begins after `event`, which may be of another device."""
        if isinstance(event, GpuEvent):
            event.hold_stream(self._stream)
        else:
            event.wait()

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done."""
        self.record().wait()


def _address(data: memoryview) -> int:
    return int(np.frombuffer(data, np.uint8).ctypes.data)
