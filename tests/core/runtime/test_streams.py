"""Copies between memories that the host does not see, and streams that do them later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.dtype import dtypes
from core.errors import RunError
from core.runtime.allocator import Allocator, Event, Place, Stream
from core.runtime.allocators import Allocators
from core.runtime.buffer import Buffer
from core.runtime.host import HostAllocator


class Far(Allocator):
    """Memory that the host does not see. `peers`: whether such memories reach each other."""

    def __init__(self, peers: bool = False) -> None:
        self.peers, self.log = peers, list[str]()

    def alloc(self, nbytes: int) -> bytearray:
        return bytearray(nbytes)

    def free(self, handle: Any, nbytes: int) -> None:
        return

    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        self.log.append("in")
        handle[offset : offset + data.nbytes] = bytes(data)

    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        self.log.append("out")
        data[:] = handle[offset : offset + data.nbytes]

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        if not (self.peers and isinstance(source.allocator, Far)):
            super().copy(target, source, nbytes)
            return
        self.log.append("peer")
        part = source.handle[source.offset : source.offset + nbytes]
        target.handle[target.offset : target.offset + nbytes] = part

    def stream(self) -> Stream:
        return Queue(self)


class Queue(Stream):
    """Does nothing before somebody waits."""

    def __init__(self, allocator: Allocator) -> None:
        super().__init__(allocator)
        self.waiting: deque[Callable[[], None]] = deque()

    def copy(self, target: Place, source: Place, nbytes: int) -> None:
        self.waiting.append(lambda: self._allocator.copy(target, source, nbytes))

    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        self.waiting.append(lambda: self._allocator.copyin(handle, offset, data))

    def record(self) -> Event:
        return Point(self, len(self.waiting))

    def wait(self, event: Event) -> None:
        self.waiting.append(event.wait)

    def run(self, left: int = 0) -> None:
        while len(self.waiting) > left:
            self.waiting.popleft()()

    def synchronize(self) -> None:
        self.run()


class Point:
    def __init__(self, queue: Queue, count: int) -> None:
        self.queue, self.left = queue, count
        queue.waiting.append(self._reached)
        self.done = False

    def _reached(self) -> None:
        self.done = True

    def wait(self) -> None:
        while not self.done:
            self.queue.waiting.popleft()()


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> dict[str, Allocator]:
    made: dict[str, Allocator] = {"A": Far(), "B": Far(), "P": Far(True), "HOST": HostAllocator()}
    monkeypatch.setattr(Allocators, "find", made.__getitem__, raising=False)
    return made


DATA = np.arange(12, dtype=np.int32)


@pytest.mark.parametrize(("source", "target", "logs"), [
    ("A", "B", (["in", "out"], ["in"])),
    ("A", "HOST", (["in", "out"], [])),
    ("HOST", "B", ([], ["in"])),
    ("A", "P", (["in"], ["peer"])),
    ("HOST", "P", ([], ["in"])),
])  # fmt: skip
def test_bytes_go_the_shortest_way(
    far: dict[str, Allocator], source: str, target: str, logs: tuple[list[str], list[str]]
) -> None:
    first = Buffer(source, 12, dtypes.int32).copyin(DATA.data)
    second = Buffer(target, 12, dtypes.int32).copy_from(first)
    found = [getattr(far[name], "log", []) for name in (source, target)]
    assert found == list(logs)
    assert np.array_equal(second.as_array(), DATA)


def test_a_part_of_a_buffer_is_copied_to_a_part(far: dict[str, Allocator]) -> None:
    whole = Buffer("A", 12, dtypes.int32).copyin(DATA.data)
    into = Buffer("P", 12, dtypes.int32).copyin(np.zeros(12, np.int32).data)
    Buffer("P", 4, dtypes.int32, into, 2).copy_from(
        Buffer("A", 4, dtypes.int32, whole, 7).allocate()
    )
    assert into.as_array().tolist() == [0, 0, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0]


def test_copies_that_cannot_be_made(far: dict[str, Allocator]) -> None:
    empty = Buffer("A", 12, dtypes.int32)
    with pytest.raises(RunError, match="has no content"):
        Buffer("B", 12, dtypes.int32).copy_from(empty)
    with pytest.raises(RunError, match="does not fill"):
        Buffer("B", 11, dtypes.int32).copy_from(empty.copyin(DATA.data))


def test_a_stream_does_things_in_order_and_when_waited_for(far: dict[str, Allocator]) -> None:
    a, p = (Buffer(name, 12, dtypes.int32).allocate() for name in ("A", "P"))
    first, second = far["A"].stream(), far["P"].stream()
    first.copyin(a.handle, 0, DATA.view(np.uint8).data)
    ready = first.record()
    second.wait(ready)
    second.copy(p.place, a.place, a.nbytes)
    done = second.record()
    assert not ready.done
    assert not p.as_array().any()
    done.wait()
    assert ready.done
    assert np.array_equal(p.as_array(), DATA)
    second.synchronize()


def test_a_stream_of_host_memory_does_each_copy_at_once() -> None:
    allocator = HostAllocator()
    handle, other = allocator.alloc(48), allocator.alloc(48)
    stream = allocator.stream()
    stream.copyin(handle, 0, DATA.view(np.uint8).data)
    stream.copy(Place(allocator, other, 8), Place(allocator, handle, 4), 8)
    event = stream.record()
    stream.wait(event)
    assert event.done
    out = np.zeros(2, np.int32)
    stream.copyout(out.view(np.uint8).data, other, 8)
    stream.synchronize()
    assert out.tolist() == [1, 2]


def test_only_memory_of_the_host_is_shared(far: dict[str, Allocator]) -> None:
    values = np.arange(12, dtype=np.int32)
    assert Buffer.share("HOST", values, dtypes.int32).address == values.ctypes.data
    shared = Buffer.share("A", values, dtypes.int32)
    values[0] = 99
    assert shared.as_array()[0] == 0
    odd = np.frombuffer(bytearray(49), np.uint8)[1:].view(np.int32)
    if odd.ctypes.data % 4:
        assert Buffer.share("HOST", odd, dtypes.int32).address != odd.ctypes.data
