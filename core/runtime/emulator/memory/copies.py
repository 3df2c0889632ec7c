"""Asynchronous copies from global to shared memory as steps: what is on its way, when it arrives.

Bytes are read where the copy stands and arrive where their group is waited for, at the latest time
that a GPU may take. Until then the place that they go to must not be accessed. Knows no language.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from core.runtime.emulator.faults import fault
from core.runtime.emulator.memory.places import Access
from core.runtime.emulator.program import Commit, Copy, Load, Space, Store, Wait
from core.runtime.emulator.state import Flight, Spot, Touched
from core.runtime.emulator.steps import Slot, Step, taking_part, value
from core.runtime.numeric import Array

if TYPE_CHECKING:
    from core.runtime.emulator.state import State

_WORD: Final = np.dtype(np.uint32)
_BYTE: Final = np.dtype(np.uint8)


@dataclass(frozen=True, eq=False, slots=True)
class Copies:
    """Those of one instruction: of the threads in `lanes`, to the bytes `at` of shared memory, each
    of a row of `content`."""

    to: Access
    lanes: Array
    at: Array
    content: Array
    group: Array

    def spot(self) -> Spot:
        """Where they go."""
        return Spot(Space.SHARED, _NONE, self.at, self.lanes)

    def only(self, chosen: Array) -> Copies:
        """Some of them."""
        return replace(
            self,
            lanes=self.lanes[chosen],
            at=self.at[chosen],
            content=self.content[chosen],
            group=self.group[chosen],
        )

    def land(self, s: State, arrived: Array) -> Flight | None:
        """Those that arrive do; the others, if any. Raises FaultError for a race."""
        found = self.only(arrived)
        found.note(s)
        words = found.content.view(_WORD)
        memory, first = s.shared.view(_WORD), found.at >> 2
        columns = tuple(np.ascontiguousarray(words[:, i]) for i in range(words.shape[1]))
        before: list[Array] = []
        for i, column in enumerate(columns):
            if s.journal is not None:
                before.append(memory.take(first + i))
                s.journal.append((memory, first + i, before[-1]))
            memory[first + i] = column
        if s.journal is not None:
            place = Space.SHARED, None, found.at, self.to.width, found.lanes
            s.touched.append(Touched(*place, columns, tuple(before)))
        if s.shadow is not None:
            for granule in self.to.granules(s, found.spot()):
                s.shadow.land(granule)
        return None if arrived.all() else self.only(~arrived)

    def note(self, s: State) -> None:
        """Notes a write of shared memory. Raises FaultError where it races."""
        if s.shadow is None:
            return
        bits = np.dtype(f"u{s.shadow.granule}")
        memory, content, spot = s.shared.view(bits), self.content.view(bits), self.spot()
        for i, granule in enumerate(self.to.granules(s, spot)):
            changed = memory.take(granule) != content[:, i]
            self.to.raced(s, spot, s.shadow.write(granule, self.lanes, changed))


_NONE: Final = np.zeros(0, np.uint8)


class CopyStep:
    """A copy as a step. `slots`: of its addresses in shared and in global memory, and of how many
    bytes are taken, if that is said."""

    def __init__(self, index: int, instruction: Copy, slots: list[Slot]) -> None:
        self.index, self.instruction, self.slots = index, instruction, slots
        store = Store(
            line=instruction.line,
            name=instruction.name,
            guard=instruction.guard,
            space=Space.SHARED,
            address=instruction.target,
            offset=instruction.target_offset,
            item=_WORD,
            values=(),
            align=instruction.nbytes,
        )
        self.to = Access(index, store, slots[0], instruction.nbytes // 4)
        self._sources: dict[int, Access] = {}

    def __call__(self, s: State) -> None:
        _, lanes, count = self.to.take_part(s)
        if not count:
            return
        every = s.lane_numbers if lanes is None else lanes
        at = self.to.addresses(s, every, True)
        (spot,) = self.to.spots(s, Space.SHARED, at, every)
        self.to.profile(s, [spot])
        content = np.zeros((every.size, self.instruction.nbytes), np.uint8)
        taken = self._taken(s, every)
        for size in np.unique(taken):
            if size:
                part = np.flatnonzero(taken == size)
                self._read(s, int(size), every, part, content)
        made = Copies(self.to, every, spot.at, content, s.commits[every])
        made.note(s)
        if s.shadow is not None:
            for granule in self.to.granules(s, spot):
                self.to.arriving(s, spot, s.shadow.launch(granule, every))
        s.flights = (*s.flights, made)

    def _taken(self, s: State, lanes: Array) -> Array:
        """How many bytes each of the lanes reads. Raises FaultError for more than there are."""
        nbytes = self.instruction.nbytes
        if len(self.slots) < 3:
            return np.full(lanes.size, nbytes, np.uint32)
        taken = s.spread(value(s, self.slots[2]))[lanes]
        if (taken > nbytes).any():
            wrong = int(np.flatnonzero(taken > nbytes)[0])
            what = f"{self.instruction.name} of {nbytes} bytes takes {int(taken[wrong])} of them"
            raise fault(s, self.instruction, "undefined", what, int(lanes[wrong]))
        return taken

    def _read(self, s: State, size: int, every: Array, part: Array, content: Array) -> None:
        """The first `size` bytes of some lanes."""
        access = self._source(size)
        lanes = every[part]
        at = access.addresses(s, lanes, True)
        for spot in access.spots(s, Space.GLOBAL, at, lanes):
            access.profile(s, [spot])
            access.known(s, spot)
            memory, first = access.elements(spot)
            columns = [memory.take(first + i) for i in range(access.count)]
            assert spot.lanes is not None
            rows = np.searchsorted(every, spot.lanes)
            content[rows, :size] = np.stack(columns, axis=1).view(np.uint8)

    def _source(self, size: int) -> Access:
        if size not in self._sources:
            of, item = self.instruction, _BYTE if size % 4 else _WORD
            load = Load(
                line=of.line,
                name=of.name,
                space=Space.GLOBAL,
                address=of.source,
                offset=of.source_offset,
                item=item,
                results=(),
                align=of.nbytes,
            )
            self._sources[size] = Access(self.index, load, self.slots[1], size // item.itemsize)
        return self._sources[size]


def commit_step(index: int, instruction: Commit) -> Step:
    """The step of a commit."""

    def step(s: State) -> None:
        active = _active(s, index, instruction)
        if active is not None:
            s.commits = s.commits + active

    return step


def wait_step(index: int, instruction: Wait) -> Step:
    """The step of a wait."""

    def step(s: State) -> None:
        active = _active(s, index, instruction)
        if active is None:
            return
        if instruction.commits:
            s.commits = s.commits + active
        waited = np.where(active, s.commits - instruction.behind, 0)
        left: list[Flight] = []
        for flight in s.flights:
            arrived = flight.group < waited[flight.lanes]
            rest = flight.land(s, arrived) if arrived.any() else flight
            left += [] if rest is None else [rest]
        s.flights = tuple(left)

    return step


def _active(s: State, index: int, instruction: Commit | Wait) -> Array | None:
    """The lanes that take part, None where none does."""
    if instruction.guard is None:
        return s.mask_now()
    mask, count = taking_part(s, index, instruction.guard)
    if not count:
        return None
    return np.ones(s.lanes, np.bool_) if mask is None else mask
