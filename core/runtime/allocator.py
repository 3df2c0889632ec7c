"""Memory of a device: an allocator, with streams of copies.

Implements no device.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from core.dtype import ImageDType

BOUNCE: Final = 1 << 26
"""Bytes at a time of a copy through the host."""


class Event(Protocol):
    """A point in a stream: what was asked for before it."""

    @property
    def done(self) -> bool:
        """Whether all of it is done."""
        ...

    def wait(self) -> None:
        """Returns when all of it is done."""
        ...


class Passed:
    """An event of a stream that does everything at once."""

    done = True

    def wait(self) -> None:
        """Returns at once."""


class Stream:
    """Copies in the order in which they are asked for. This one does each at once; a device with
    queues of its own returns as soon as a copy is queued, and memory must live until it is done."""

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator

    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        """Host bytes to the device."""
        self._allocator.copyin(handle, offset, data)

    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        """Device bytes to the host."""
        self._allocator.copyout(data, handle, offset)

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        """Bytes of any device to this one."""
        self._allocator.copy(target, source, nbytes)

    def record(self) -> Event:
        """The point after what was asked for so far."""
        return Passed()

    def wait(self, event: Event) -> None:
        """What is asked for from here on begins after `event`."""
        event.wait()

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done."""


@dataclass(frozen=True, slots=True)
class Place:
    """Memory from `offset` bytes into a handle of an allocator."""

    allocator: Allocator
    handle: Any
    offset: int = 0


class Allocator(ABC):
    """Memory of one device, by opaque handles. Sizes and offsets are bytes.

    What a device can do beyond the abstract methods, it says by overriding the others: callers ask
    these, and never what kind of allocator it is.
    """

    @abstractmethod
    def alloc(self, nbytes: int) -> Any:
        """Uninitialised memory. Raises RunError where there is none left."""

    def alloc_image(self, image: ImageDType) -> Any:
        """Memory of an image: elements in a row, where the device has no other."""
        return self.alloc(image.size * image.itemsize)

    @abstractmethod
    def free(self, handle: Any, nbytes: int) -> None:
        """Gives memory back."""

    @abstractmethod
    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        """Host bytes to the device."""

    @abstractmethod
    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        """Device bytes to the host."""

    def host_view(self, handle: Any, offset: int, nbytes: int) -> memoryview | None:
        """The memory itself, where the host can see it."""
        return None

    def wrap(self, array: np.ndarray[Any, Any]) -> Any:
        """A handle for the memory of a contiguous array, shared and not copied; None where kernels
        of this device cannot reach it."""
        return None

    def at(self, address: int, nbytes: int) -> Any:
        """A handle for memory at an address as kernels see it, which is not given back; None where
        this has no addresses."""
        return None

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        """Bytes from memory of any device to memory of this one: straight where the host sees
        either, else through the host. Devices that reach each other override it. Unless this
        `follows` the source's, what that one's device was asked for before must be done."""
        visible = source.allocator.host_view(source.handle, source.offset, nbytes)
        if visible is not None:
            self.copyin(target.handle, target.offset, visible)
            return
        inside = self.host_view(target.handle, target.offset, nbytes)
        if inside is not None:
            source.allocator.copyout(inside, source.handle, source.offset)
            return
        bounce = memoryview(bytearray(min(nbytes, BOUNCE)))
        for at in range(0, nbytes, BOUNCE):
            part = bounce[: min(BOUNCE, nbytes - at)]
            source.allocator.copyout(part, source.handle, source.offset + at)
            self.copyin(target.handle, target.offset + at, part)

    def follows(self, source: Allocator) -> bool:
        """Whether copies from memory of `source` come after what its device was asked for, without
        the host's waiting for that."""
        return False

    def stream(self) -> Stream:
        """A new stream of copies."""
        return Stream(self)

    def address(self, handle: Any) -> int:
        """Where the memory begins, as kernels see it."""
        return 0
