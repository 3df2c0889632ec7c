"""Loads and stores as steps: elements between registers and memory, for the lanes that take part.

Where an address leads, and what is wrong with it, is in `places.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.runtime.emulator.memory.places import ONES, Access
from core.runtime.emulator.program import Load, Space, Store
from core.runtime.emulator.state import Spot, Touched
from core.runtime.emulator.steps import Slot, value
from core.runtime.numeric import Array

if TYPE_CHECKING:
    from core.runtime.emulator.state import State


class LoadStep(Access):
    """A load as a step."""

    instruction: Load

    def __init__(self, index: int, instruction: Load, address: Slot, kept: frozenset[int]) -> None:
        super().__init__(index, instruction, address, len(instruction.results))
        self.numbers = tuple(r.number for r in instruction.results)
        self.keep = instruction.guard is not None or bool(kept.intersection(self.numbers))
        self.each = self.space in (Space.SHARED, Space.LOCAL, Space.GENERIC)

    def __call__(self, s: State) -> None:
        mask, lanes, count = self.take_part(s)
        if not count:
            return
        at = self.addresses(s, lanes, self.each)
        spots = list(self.spots(s, self.space, at, lanes))
        self.profile(s, spots)
        parts = [self._read(s, spot) for spot in spots]
        extend = self.instruction.extend
        for i, number in enumerate(self.numbers):
            if len(parts) == 1:
                found = parts[0][i]
            else:
                found = np.zeros(s.lanes, self.item)
                for spot, part in zip(spots, parts, strict=True):
                    found[spot.lanes] = part[i]
                found = found if lanes is None else found[lanes]
            if extend is not None:
                found = extend(found)
            s.slots[number] = (
                found if lanes is None else self._placed(s, found, lanes, mask, number)
            )

    def _placed(
        self, s: State, found: Array, lanes: Array, mask: Array | None, number: int
    ) -> Array:
        """The elements of some lanes in a register, which keeps those of others."""
        old = s.slots[number] if self.keep else None
        if old is None:
            if found.shape[0] == 1 and lanes.size > 1:
                return found
            full = np.zeros(s.lanes, found.dtype)
        else:
            full = np.empty(s.lanes, found.dtype)
            full[:] = old if old.dtype is found.dtype else old.view(found.dtype)
        full[lanes] = found
        return full

    def _read(self, s: State, spot: Spot) -> Sequence[Array]:
        self.known(s, spot)
        if spot.space is Space.SHARED:
            self.seen(s, spot, slice(None) if spot.lanes is None else spot.lanes)
        memory, first = self.elements(spot)
        return [memory.take(first + i if i else first) for i in range(self.count)]


class StoreStep(Access):
    """A store as a step."""

    instruction: Store

    def __init__(
        self, index: int, instruction: Store, address: Slot, values: Sequence[Slot]
    ) -> None:
        super().__init__(index, instruction, address, len(values))
        self.values = tuple(values)

    def __call__(self, s: State) -> None:
        _, lanes, count = self.take_part(s)
        if not count:
            return
        at = self.addresses(s, lanes, True)
        narrow = self.instruction.narrow
        columns: list[Array] = []
        for slot in self.values:
            column = value(s, slot)
            if column.shape[0] == 1:
                column = np.broadcast_to(column, at.shape)
            elif lanes is not None:
                column = column[lanes]
            column = column if narrow is None else narrow(column)
            columns.append(column if column.dtype is self.item else column.view(self.item))
        spots = list(self.spots(s, self.space, at, lanes))
        self.profile(s, spots)
        for spot in spots:
            if len(spots) == 1:
                self._write(s, spot, columns)
            else:
                every = np.arange(s.lanes) if lanes is None else lanes
                assert spot.lanes is not None
                chosen = np.searchsorted(every, spot.lanes)
                self._write(s, spot, [column[chosen] for column in columns])

    def _write(self, s: State, spot: Spot, columns: Sequence[Array]) -> None:
        memory, first = self.elements(spot)
        races = spot.space is Space.SHARED and s.shadow is not None
        before: list[Array] = []
        for i, column in enumerate(columns):
            at = first + i if i else first
            if s.journal is not None:
                before.append(memory.take(at))
                s.journal.append((memory, at, before[-1]))
            if races:
                self._note(s, spot, memory, at, column, i)
            memory[at] = column
            if races and s.checks.races:
                self._agree(s, spot, memory.take(at), column)
        if s.journal is not None:
            held = (spot.space, spot.region, spot.at, self.width, spot.lanes)
            s.touched.append(Touched(*held, tuple(columns), tuple(before)))
        if spot.space is Space.LOCAL:
            _mark(s, s.local_written, spot.at, self.width)
        elif spot.region is not None and spot.region.written is not None:
            _mark(s, spot.region.written, spot.at, self.width)

    def _note(
        self, s: State, spot: Spot, memory: Array, at: Array, column: Array, number: int
    ) -> None:
        assert s.shadow is not None
        bits = f"u{self.size}"
        changed = memory.take(at).view(bits) != np.ascontiguousarray(column).view(bits)
        granule = s.shadow.granule
        who = slice(None) if spot.lanes is None else spot.lanes
        first = (spot.at + number * self.size) // granule
        for i in range(max(1, self.size // granule)):
            if s.flights:
                self.arriving(s, spot, s.shadow.flying[first + i])
            other = s.shadow.write(first + i if i else first, who, changed)
            self.raced(s, spot, other)

    def _agree(self, s: State, spot: Spot, now: Array, column: Array) -> None:
        """Raises FaultError where two threads wrote different values at once."""
        bits = f"u{self.size}"
        differs = now.view(bits) != np.ascontiguousarray(column).view(bits)
        if differs.any():
            wrong = int(np.flatnonzero(differs)[0])
            raise self.fault(
                s,
                "race",
                f"{self.instruction.name} writes shared address "
                f"{int(spot.at[wrong]) % s.shared_row}, where another thread writes another value "
                "at the same time",
                spot.lanes,
                wrong,
            )


def _mark(s: State, written: Array, at: Array, width: int) -> None:
    """Bytes `at` up to `at + width` have content now."""
    step = min(8, width & -width)
    if written.size < step or int(np.bitwise_or.reduce(at)) & (step - 1):
        step = 1
    words = written[: written.size // step * step].view(f"u{step}")
    every = words.dtype.type(ONES & ((1 << 8 * step) - 1))
    for i in range(width // step):
        where = at // step + i
        if s.journal is not None:
            s.journal.append((words, where, words.take(where)))
        words[where] = every
