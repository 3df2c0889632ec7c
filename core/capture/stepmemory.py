"""The memory of a captured step as values: what it begins with, and what it leaves behind.

Numbers of memory are those of the step's text (`capturereport.py`). Never reads memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import cast

from core.capture.captured import Replay
from core.passes.schedule import ScheduleItem
from core.passes.schedule.memoryplan import whole_of
from core.uop.kernels import is_lowered, output_count, read_arguments, stores_of
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp


@dataclass(frozen=True)
class StepMemory:
    """Of a captured step its BUFFERs, by number; which of them hold values that it reads, or keeps
    parts of; which hold random state that the step itself draws; and those that it writes for
    others: what it changes, and what no launch reads once it is written last."""

    buffers: tuple[UOp, ...]
    begins: frozenset[int]
    drawn: frozenset[int]
    ends: frozenset[int]


@dataclass(frozen=True)
class _Part:
    """Bytes of a buffer that a launch reads or writes; `whole`: all of them are written."""

    buffer: int
    start: int
    end: int
    whole: bool = False

    def covers(self, other: _Part) -> bool:
        return self.buffer == other.buffer and self.start <= other.start and other.end <= self.end


def memory_of(replay: Replay) -> StepMemory:
    """The memory of a replay, which may be for other inputs than the captured one."""
    first = [s for s in replay.first.steps if isinstance(s, ScheduleItem)]
    now = [s for s in replay.steps if isinstance(s, ScheduleItem)]
    number: dict[UOp, int] = {}
    buffers: list[UOp] = []
    for was, item in zip(first, now, strict=True):
        for old, new in zip(was.bufs, item.bufs, strict=True):
            if number.setdefault(whole_of(old), len(buffers)) == len(buffers):
                buffers.append(whole_of(new))
    drawn = {
        number[argument]
        for step in replay.first.steps
        if isinstance(step, partial)
        for argument in step.args
        if argument in number
    }
    made: list[_Part] = []
    begins, changed, unread = set[int](), set[int](), set[int]()
    for item in first:
        for part in _read(item, number):
            unread.discard(part.buffer)
            if not any(whole.covers(part) for whole in made):
                begins.add(part.buffer)
        for part in _written(item, number):
            changed.add(part.buffer)
            unread.add(part.buffer)
            if part.whole:
                made.append(part)
            elif not any(whole.covers(part) for whole in made):
                begins.add(part.buffer)
    begins -= drawn
    ends = unread | (begins & changed)
    return StepMemory(tuple(buffers), frozenset(begins), frozenset(drawn), frozenset(ends))


def _read(item: ScheduleItem, number: dict[UOp, int]) -> Iterator[_Part]:
    read = {1} if item.ast.op is Ops.COPY else read_arguments(item.ast)
    for argument in sorted(read):
        yield _part(item.bufs[argument], number, False)


def _written(item: ScheduleItem, number: dict[UOp, int]) -> Iterator[_Part]:
    stored: dict[UOp, int] = {}
    if item.ast.op is not Ops.COPY and not is_lowered(item.ast):
        for store in stores_of(item.ast):
            shape: tuple[object, ...] = store.src[0].arg.shape
            lengths = [n for n in shape if isinstance(n, int)]
            stored[pointer_of(store.src[0])] = prod(lengths) if len(lengths) == len(shape) else -1
    sizes = {pointer.arg: count for pointer, count in stored.items()}
    for argument in range(output_count(item.ast)):
        buffer = item.bufs[argument]
        size = buffer.arg[0] if buffer.op is Ops.BUFFER_VIEW else buffer.size
        whole = item.ast.op is Ops.COPY or sizes.get(argument) == size
        yield _part(buffer, number, whole)


def _part(buffer: UOp, number: dict[UOp, int], whole: bool) -> _Part:
    width, of = buffer.dtype.itemsize, number[whole_of(buffer)]
    if buffer.op is not Ops.BUFFER_VIEW:
        return _Part(of, 0, buffer.size * width, whole)
    size, offset = cast("tuple[int, int]", buffer.arg)
    return _Part(of, offset * width, (offset + size) * width, whole)
