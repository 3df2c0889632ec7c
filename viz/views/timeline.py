"""When everything of a run happened: contexts and passes per thread, launches and allocated memory
per device, as one message of flat arrays.

The form is `TimelineData` of viz/web/src/data/messages/timeline.ts. The page aggregates it at the
zoom that it shows. Never reads the events of a pass.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeVar

from core.errors import BudgetError
from viz.budget import take
from viz.format.cells import as_text
from viz.read.records import Context, MemorySample, Rewrite
from viz.read.tracefile import TraceFile
from viz.views.runs.process import Process

MAX_SPANS: Final = 500_000
MAX_LAUNCHES: Final = 1_000_000
MAX_MEMORY: Final = 500_000
KINDS: Final = ("schedule", "kernel", "pass", "group")
_SPAN: Final = 600
"""Bytes of a span in the message and while it is made; _POINT those of a launch or a size."""
_POINT: Final = 250
OPEN: Final = -1
"""Duration of what had no end when the trace was read."""

Entry = Context | Rewrite
Data = dict[str, Any]
T = TypeVar("T")


def timeline_data(processes: Sequence[Process]) -> Data:
    """The whole run. Times are microseconds since the main process began to record."""
    return _Message(processes).data()


def shift_of(main: TraceFile, file: TraceFile) -> int:
    """Microseconds by which a process began to record after the main one; 0 where a trace does not
    say it."""
    first, began = _started(main), _started(file)
    return round((began - first) * 1e6) if began is not None and first is not None else 0


class FirstFree:
    """Finds the first free level for a span: a segment tree over the end of the last span of each
    level, so that a search costs the logarithm of the number of levels."""

    def __init__(self, levels: int) -> None:
        self._half = 1 << max(0, levels).bit_length()
        self._least: list[int | float] = [-math.inf] * (2 * self._half)

    def find(self, level: int, start: int) -> int:
        """The first level from `level` on whose last span has ended at `start`. There are as many
        levels as there will be spans, so that one is free."""
        at = level + self._half
        while self._least[at] > start:
            while at & 1:  # all up to here are taken: on to what is right of it
                at >>= 1
            at += 1
        while at < self._half:
            at <<= 1
            at += self._least[at] > start
        return at - self._half

    def put(self, level: int, end: int) -> None:
        """A span of this level ends at `end`."""
        at = level + self._half
        self._least[at] = end
        while at > 1:
            at >>= 1
            self._least[at] = min(self._least[2 * at], self._least[2 * at + 1])


class _Message:
    """Collects the tracks of all processes."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self._names: dict[str, int] = {}
        self._tracks: list[Data] = []
        self._end = 0
        self._cut: list[str] = []
        for process in processes:
            self._add(process, shift_of(processes[0].file, process.file))

    def data(self) -> Data:
        """The message."""
        return {
            "version": 1,
            "end": self._end,
            "names": list(self._names),
            "tracks": self._tracks,
            "truncated": "; ".join(self._cut) or None,
        }

    def _add(self, process: Process, shift: int) -> None:
        file = process.file
        spans = min(MAX_SPANS, len(file.contexts) + len(file.rewrites))
        points = min(MAX_LAUNCHES, len(file.launches)) + min(MAX_MEMORY, len(file.memory))
        try:
            take(20 * spans + 4 * points, _SPAN * spans + _POINT * points)
        except BudgetError as error:
            self._cut.append(f"process {process.pid} left out: {error.what}")
            return
        entries = sorted((*file.contexts.values(), *file.rewrites.values()), key=lambda e: e.start)
        kept = self._first(entries, MAX_SPANS, "spans", process)
        threads: dict[int, list[Entry]] = {}
        for entry in kept:
            threads.setdefault(_thread(file, entry), []).append(entry)
        for thread, mine in sorted(threads.items()):
            name = "main thread" if thread == min(threads) else f"thread {thread}"
            self._spans(process, name, thread, mine, shift)
        launches = self._first(file.launches, MAX_LAUNCHES, "launches", process)
        devices: dict[str, list[tuple[str, str, int, int, int]]] = {}
        for launch in launches:
            devices.setdefault(launch[1], []).append(launch)
        for device, ran in devices.items():
            self._launches(process, device, sorted(ran, key=lambda one: one[2]), shift)
        memory: dict[str, list[MemorySample]] = {}
        for sample in self._first(file.memory, MAX_MEMORY, "sizes", process):
            memory.setdefault(sample.device, []).append(sample)
        for device, sizes in memory.items():
            self._memory(process, device, sizes, shift)

    def _spans(
        self, process: Process, name: str, thread: int, entries: Sequence[Entry], shift: int
    ) -> None:
        levels: dict[int, int] = {}
        ends = FirstFree(len(entries))
        now = max((e.start + (e.us or 0) for e in entries), default=0)
        for entry in sorted(entries, key=lambda e: (e.start, e.id)):
            parent = entry.parent or (entry.context if isinstance(entry, Rewrite) else 0)
            # two threads without names may overlap
            level = ends.find(levels.get(parent, -1) + 1, entry.start)
            levels[entry.id] = level
            ends.put(level, now if entry.us is None else entry.start + entry.us)
        self._end = max(self._end, now + shift)
        ordered = sorted(entries, key=lambda e: (levels[e.id], e.start, e.id))
        self._tracks.append(
            self._track(process, "thread", name, thread)
            | {
                "level": [levels[e.id] for e in ordered],
                "start": _deltas(e.start + shift for e in ordered),
                "us": [OPEN if e.us is None else e.us for e in ordered],
                "names": [self._name(e.name) for e in ordered],
                "kinds": [_kind(e) for e in ordered],
                "id": [process.id(e.id) for e in ordered],
                "steps": [e.matches if isinstance(e, Rewrite) else 0 for e in ordered],
                "failed": [i for i, e in enumerate(ordered) if e.error is not None],
            }
        )

    def _launches(
        self,
        process: Process,
        device: str,
        ran: Sequence[tuple[str, str, int, int, int]],
        shift: int,
    ) -> None:
        self._end = max([self._end, *(start + ns // 1000 + shift for *_, start, ns, _ in ran)])
        self._tracks.append(
            self._track(process, "device", device, 0)
            | {
                "start": _deltas(start + shift for _, _, start, _, _ in ran),
                "ns": [max(0, ns) for *_, ns, _ in ran],
                "names": [self._name(name) for name, *_ in ran],
                "bytes": [max(0, size) for *_, size in ran],
            }
        )

    def _memory(
        self, process: Process, device: str, samples: Sequence[MemorySample], shift: int
    ) -> None:
        samples = sorted(samples, key=lambda one: one.time)
        self._end = max(self._end, samples[-1].time + shift)
        self._tracks.append(
            self._track(process, "memory", device, 0)
            | {
                "start": _deltas(one.time + shift for one in samples),
                "bytes": [max(0, one.allocated) for one in samples],
                "numbers": [max(0, one.number) for one in samples],
                "taken": [max(0, one.taken) for one in samples],
                "kernels": [self._name(one.kernel) for one in samples],
                "lines": [self._name(one.lines) for one in samples],
            }
        )

    def _track(self, process: Process, kind: str, name: str, thread: int) -> Data:
        return {
            "kind": kind,
            "name": name,
            "process": process.number,
            "pid": process.pid,
            "thread": thread,
        }

    def _name(self, text: str) -> int:
        return self._names.setdefault(text, len(self._names))

    def _first(self, items: Sequence[T], limit: int, what: str, process: Process) -> Sequence[T]:
        if len(items) <= limit:
            return items
        self._cut.append(f"{len(items) - limit:,} later {what} of process {process.pid} left out")
        return items[:limit]


def _thread(file: TraceFile, entry: Entry) -> int:
    """The thread of a context, or of the context around a rewrite; 0 where none is named."""
    context = entry if isinstance(entry, Context) else file.contexts.get(entry.context)
    return context.thread if context is not None else 0


def _kind(entry: Entry) -> int:
    if isinstance(entry, Rewrite):
        return KINDS.index("pass")
    return KINDS.index(entry.role or "group")


def _started(file: TraceFile) -> float | None:
    """When a recording began, in seconds since 1970; None where the trace does not say."""
    try:
        return datetime.datetime.fromisoformat(as_text(file.meta.get("started"), 100)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _deltas(values: Iterable[int]) -> list[int]:
    """The first value, then differences: short numbers."""
    return [b - a for a, b in pairwise((0, *values))]
