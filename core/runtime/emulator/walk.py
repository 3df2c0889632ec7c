"""What one warp of a kernel does, instruction by instruction, as data: a reader goes forwards and
backwards in it without running anything again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from core.errors import FaultError, RunError
from core.runtime.emulator.session import Session
from core.runtime.emulator.state import Touched
from core.runtime.numeric import Array

LIMIT: Final = 20_000
"""Instructions of one warp that are kept."""
_HURRY: Final = 256
"""Instructions between two looks at `stop`."""


@dataclass(frozen=True)
class Written:
    """A register after an instruction: its number, the NumPy dtype of its elements, and the value
    of each thread of the warp (None: never written)."""

    register: int
    kind: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Stored:
    """Memory after an instruction: for each thread of the warp the byte in `space` (of global
    memory: in the argument `region`) that it wrote `nbytes` from, None where it wrote none."""

    space: str
    region: str
    at: tuple[int | None, ...]
    nbytes: int


@dataclass(frozen=True)
class Moment:
    """One instruction: its line, from 1; a bit for each thread of the warp that ran it; what it
    changed."""

    line: int
    active: int
    registers: tuple[Written, ...]
    memory: tuple[Stored, ...]


@dataclass(frozen=True)
class Walk:
    """The instructions that a warp ran, in order. `fault`: what ended the block early; `more`: the
    block goes on behind the last moment."""

    block: int
    warp: int
    width: int
    threads: int
    moments: list[Moment] = field(default_factory=list[Moment])
    fault: FaultError | None = None
    more: bool = False


def walk(
    session: Session, warp: int = 0, limit: int = LIMIT, stop: Callable[[], bool] = lambda: False
) -> Walk:
    """Runs the session's block to its end, and keeps what the threads of `warp` did: `limit`
    instructions of it at most. `stop` is asked now and then whether that is enough. Raises RunError
    for a warp that the block does not have."""
    s = session.state
    width = session.kernel.code.width
    first = warp * width
    if not 0 <= first < s.threads:
        raise RunError(
            f"the block has no warp {warp}",
            f"{s.threads} threads in warps of {width}",
            f"warps are numbered from 0 to {(s.threads - 1) // width}",
        )
    last = min(first + width, s.threads)
    found = Walk(session.block, warp, width, last - first)
    looked = 0
    while not session.done:
        active = session.active()[first:last]
        taking_part = bool(active.any())
        if taking_part and len(found.moments) == limit:
            return _cut(found)
        if (looked := looked + 1) % _HURRY == 0 and stop():
            return _cut(found)
        line = session.line
        try:
            session.step()
        except FaultError as error:
            return Walk(found.block, warp, width, found.threads, found.moments, error)
        if taking_part:
            found.moments.append(
                Moment(line, _bits(active), _registers(session, first, last),
                       _memory(session, first, last))
            )  # fmt: skip
    return found


def _cut(found: Walk) -> Walk:
    return Walk(found.block, found.warp, found.width, found.threads, found.moments, more=True)


def _bits(active: Array) -> int:
    return int.from_bytes(np.packbits(active, bitorder="little").tobytes(), "little")


def _registers(session: Session, first: int, last: int) -> tuple[Written, ...]:
    found: list[Written] = []
    for number in session.changed:
        name, value = session.kernel.code.registers[number], session.state.slots[number]
        if value is None or name == "_":
            continue
        values, known = session.register(name, value.dtype.name)
        part = zip(values[first:last].tolist(), known[first:last].tolist(), strict=True)
        shown = tuple(v if k else None for v, k in part)
        found.append(Written(number, value.dtype.name, shown))
    return tuple(found)


def _memory(session: Session, first: int, last: int) -> tuple[Stored, ...]:
    return tuple(
        stored
        for touched in session.touched
        if (stored := _of_warp(touched, session.state.lanes, first, last)) is not None
    )


def _of_warp(touched: Touched, lanes: int, first: int, last: int) -> Stored | None:
    every = np.arange(lanes) if touched.lanes is None else touched.lanes
    at: list[int | None] = [None] * (last - first)
    for lane, where in zip(every.tolist(), np.broadcast_to(touched.at, every.shape).tolist(),
                           strict=True):  # fmt: skip
        if first <= lane < last:
            at[lane - first] = where
    if all(where is None for where in at):
        return None
    region = "" if touched.region is None else touched.region.name
    return Stored(touched.space.value, region, tuple(at), touched.nbytes)
