"""Captures the memory of steps that `TinyJit` replays, of those that the user has named: what a
step reads before it writes it (weights, state of an optimizer, inputs), and what it leaves behind.

Called around each replay, and copies memory around one of each step, the first one if nothing else
is said. Of a step that takes too much the smallest memory is kept, and it is said how much is not.
Never raises into the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from core.capture.captured import Replay, unwatch_replays, watch_replays
from core.capture.stepmemory import StepMemory, memory_of
from core.errors import UopvizError
from core.runtime.buffer import Buffer, buffer_of
from core.runtime.device import Device
from viz.format.captured import MAX_BYTES
from viz.format.capturedsteps import MOST
from viz.recording.reports import StepValues

Content = tuple[str, int, bytes]
"""Dtype, number of elements and bytes of memory."""


class Room(Protocol):
    """Bytes that values of a process may take, and which replay of a step is asked for."""

    def left(self) -> int:
        """Bytes that are left."""
        ...

    def use(self, count: int) -> None:
        """Takes some of them."""
        ...

    def wanted(self, name: str) -> int:
        """The number of the replay of a step of this name, from 1; 0: none."""
        ...


@dataclass
class _Waiting:
    """A step that has not been replayed often enough yet."""

    name: str
    wanted: int
    replays: int = 0


@dataclass
class StepCapture:
    """The values of steps; `tell` gets them, on the thread that replays."""

    room: Room
    tell: Callable[[StepValues], None]
    kept: int = 0
    """Steps of which values were kept, and their bytes."""
    bytes: int = 0
    left_out: list[str] = field(default_factory=list[str])
    """Of those of which some are missing, the names with why."""
    _known: set[int] = field(default_factory=set[int])
    _waiting: dict[int, _Waiting] = field(default_factory=dict[int, _Waiting])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Begins to watch replays."""
        watch_replays(self.before_replay)

    def stop(self) -> None:
        """Ends it; calling it again does nothing."""
        unwatch_replays(self.before_replay)

    def know(self, number: int) -> None:
        """The trace holds the text of this capture. Values of others would be of no use."""
        self._known.add(number)

    def forget(self) -> None:
        """A new process, whose trace holds no text yet."""
        self._lock = threading.Lock()
        self._known.clear()
        self._waiting.clear()
        self.left_out.clear()
        self.kept = self.bytes = 0

    def before_replay(self, replay: Replay) -> Callable[[], None]:
        """Keeps what a step is about to read, before the replay that was asked for; the rest, once
        it has run."""
        number, name = replay.first.number, replay.first.name
        with self._lock:
            if number not in self._known:
                return _nothing
            waiting = self._waiting.setdefault(number, _Waiting(name, self.room.wanted(name)))
            waiting.replays += 1
            if waiting.replays != waiting.wanted:
                return _nothing
            memory = memory_of(replay)
            begins, ends, missing = self._chosen(memory)
            buffers = [buffer_of(u) for u in memory.buffers]
            why = [f"{missing:,} bytes of its memory are too much to keep"] * bool(missing)
            before = _contents(buffers, begins - memory.drawn, why)

        def after() -> None:
            with self._lock:
                drawn = _contents(buffers, begins & memory.drawn, why)
                left = _contents(buffers, ends, why)
                self._told(waiting, number, buffers[0].device, {**before, **drawn}, left, why)

        return after

    def _told(
        self,
        waiting: _Waiting,
        number: int,
        device: str,
        before: Mapping[int, Content],
        after: Mapping[int, Content],
        why: list[str],
    ) -> None:
        size = sum(len(raw) for some in (before, after) for _, _, raw in some.values())
        self.room.use(size)
        self.bytes += size
        self.kept += bool(size)
        if why:
            self.left_out.append(f"{waiting.name}: {why[0]}")
        said = why[0][:200] if why else ""
        self.tell(StepValues(number, waiting.name, device, waiting.wanted, before, after, said))

    def _chosen(self, memory: StepMemory) -> tuple[set[int], set[int], int]:
        """What is kept of memory before the step and after it, and how many bytes are not: the
        smallest first."""
        left = min(self.room.left(), MAX_BYTES)
        missing = 0
        chosen: list[set[int]] = []
        sizes = [u.size * u.dtype.itemsize for u in memory.buffers]
        for wanted in (memory.begins | memory.drawn, memory.ends):
            some = set[int]()
            for number in sorted(wanted, key=lambda n: (sizes[n], n)):
                if sizes[number] <= left and len(some) < MOST:
                    left -= sizes[number]
                    some.add(number)
                else:
                    missing += sizes[number]
            chosen.append(some)
        return chosen[0], chosen[1], missing

    def late(self) -> list[str]:
        """Of steps that were not replayed as often as was asked for, the names with why."""
        return [
            f"{one.name}: replay {one.wanted:,} was asked for, and the last one was {one.replays:,}"
            for one in self._waiting.values()
            if one.replays < one.wanted
        ]


def _nothing() -> None:
    """After a replay of which nothing is kept."""


def _contents(
    buffers: list[Buffer], numbers: Collection[int], why: list[str]
) -> dict[int, Content]:
    """What memory holds now, by number; what cannot be copied is left out, and `why` says so."""
    found: dict[int, Content] = {}
    for number in sorted(numbers):
        buffer = buffers[number]
        raw = bytearray(buffer.nbytes)
        try:
            if raw:
                Device[buffer.device].synchronize()
                buffer.copyout(memoryview(raw))
            found[number] = buffer.dtype.name, buffer.size, bytes(raw)
        except (UopvizError, MemoryError) as error:  # the program itself may still go on
            why.append(f"some could not be copied from {buffer.device} ({error})")
    return found
