"""What one warp of a kernel does, instruction by instruction, as data: a reader goes forwards and
backwards in it without running anything again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from core.errors import FaultError, RunError
from core.runtime.emulator.memory.banks import Served, of_banks, of_sectors
from core.runtime.emulator.program import Space
from core.runtime.emulator.session import Session
from core.runtime.emulator.state import Touched
from core.runtime.numeric import Array

LIMIT: Final = 20_000
"""Instructions of one warp that are kept."""
OTHERS: Final = 1 << 16
"""Elements that other warps of the block store that are kept."""
_OF_THE_LAUNCH: Final = (Space.PARAM, Space.CONSTANT)
"""Spaces that have the same content for all threads: what registers hold says it all."""
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
    """What an instruction stored: `nbytes` from each of the bytes `at` of `space` (of global
    memory: of the argument `region`), by the `threads` of the block. `values` has a row of elements
    for each of them, `before` what was there."""

    space: str
    region: str
    nbytes: int
    threads: tuple[int, ...]
    at: tuple[int, ...]
    values: Array
    before: Array


@dataclass(frozen=True)
class Reached:
    """What an instruction loaded or (`stores`) stored: `nbytes` from each of the bytes `at` of
    `space` (of global memory: of the argument `region`) by the `lanes` of the warp, and what memory
    makes of that, where it has banks or sectors."""

    space: str
    region: str
    stores: bool
    nbytes: int
    lanes: tuple[int, ...]
    at: tuple[int, ...]
    served: Served | None


@dataclass(frozen=True)
class Moment:
    """One instruction: its line, from 1; a bit for each thread of the warp that ran it; the
    registers that it wrote. `memory`: what it stored, then what other warps of the block have
    stored since the moment before. `accesses`: where its threads loaded and stored."""

    line: int
    active: int
    registers: tuple[Written, ...]
    memory: tuple[Stored, ...]
    accesses: tuple[Reached, ...] = ()


@dataclass(frozen=True)
class Walk:
    """The instructions that a warp ran, in order. `fault`: what ended the block early; `more`: the
    block goes on behind the last moment; `known`: moments whose stores of other warps are all
    here (None: of all moments)."""

    block: int
    warp: int
    width: int
    threads: int
    moments: list[Moment] = field(default_factory=list[Moment])
    fault: FaultError | None = None
    more: bool = False
    known: int | None = None


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
    others: list[Stored] = []
    room, looked = OTHERS, 0
    while not session.done:
        active = session.active()[first:last]
        taking_part = bool(active.any())
        if taking_part and len(found.moments) == limit:
            return replace(found, more=True)
        if (looked := looked + 1) % _HURRY == 0 and stop():
            return replace(found, more=True)
        line = session.line
        try:
            session.step()
        except FaultError as error:
            return replace(found, fault=error)
        mine, theirs = _memory(session, first, last)
        room -= sum(stored.values.size for stored in theirs)
        if room >= 0:
            others += theirs
        elif found.known is None:
            found = replace(found, known=len(found.moments))
        if taking_part:
            ran, registers = _bits(session.ran[first:last]), _registers(session, first, last)
            reached = _accesses(session, first, last)
            found.moments.append(Moment(line, ran, registers, (*mine, *others), reached))
            others.clear()
    if others and found.moments:
        end = found.moments[-1]
        found.moments[-1] = replace(end, memory=(*end.memory, *others))
    return found


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


def _accesses(session: Session, first: int, last: int) -> tuple[Reached, ...]:
    """Where the threads of the warp loaded and stored with the last instruction, parameters
    apart."""
    found: list[Reached] = []
    for one in session.accessed:
        inside = (first <= one.lanes) & (one.lanes < last)
        if one.space in _OF_THE_LAUNCH or not inside.any():
            continue
        lanes, at = (one.lanes[inside] - first).tolist(), one.at[inside].tolist()
        served = None
        if one.space is Space.SHARED:
            served = of_banks(lanes, at, one.nbytes)
        elif one.space is Space.GLOBAL:
            served = of_sectors(lanes, at, one.nbytes)
        start, name = (0, "") if one.region is None else (one.region.address, one.region.name)
        place = one.space.value, name, one.stores, one.nbytes
        found.append(Reached(*place, tuple(lanes), tuple(a - start for a in at), served))
    return tuple(found)


def _memory(session: Session, first: int, last: int) -> tuple[list[Stored], list[Stored]]:
    """What the last instruction stored: (by the threads of the warp, by others of the block)."""
    mine: list[Stored] = []
    theirs: list[Stored] = []
    for touched in session.touched:
        lanes = np.arange(session.state.lanes) if touched.lanes is None else touched.lanes
        inside = (first <= lanes) & (lanes < last)
        for chosen, into in ((inside, mine), (~inside, theirs)):
            if chosen.any():
                into.append(_stored(touched, lanes, chosen))
    return mine, theirs


def _stored(touched: Touched, lanes: Array, chosen: Array) -> Stored:
    def rows(columns: tuple[Array, ...]) -> Array:
        spread = [np.broadcast_to(column, lanes.shape)[chosen] for column in columns]
        return np.stack(spread, axis=1)

    return Stored(
        touched.space.value,
        "" if touched.region is None else touched.region.name,
        touched.nbytes,
        tuple(lanes[chosen].tolist()),
        tuple(np.broadcast_to(touched.at, lanes.shape)[chosen].tolist()),
        rows(touched.values),
        rows(touched.before),
    )
