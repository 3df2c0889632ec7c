"""From addresses to elements of arrays, with every check on the way.

An access of all lanes is checked by the smallest and largest of its addresses; only where that
fails are lanes looked at one by one. Decides nothing about what elements mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from core.runtime.emulator.faults import fault
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.program import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    Load,
    Space,
    Store,
)
from core.runtime.emulator.state import Spot
from core.runtime.emulator.steps import Slot, taking_part, value
from core.runtime.numeric import Array

if TYPE_CHECKING:
    from core.errors import FaultError
    from core.runtime.emulator.state import State

ONES: Final = 0x0101010101010101
"""A one in each byte of a word."""
_WINDOW_MASK: Final = np.uint64(0xFF << 56)


class Access:
    """What loads, stores and copies share: `count` elements for each of the lanes that take
    part."""

    def __init__(self, index: int, instruction: Load | Store, address: Slot, count: int) -> None:
        self.index, self.instruction, self.address = index, instruction, address
        self.space, self.item = instruction.space, instruction.item
        self.count, self.size = count, self.item.itemsize
        self.width = count * self.size
        self.align = instruction.align or self.width
        kind = address[1].type
        self.offset = kind(instruction.offset % (1 << 8 * address[1].itemsize))
        self.shift = self.size.bit_length() - 1

    def take_part(self, s: State) -> tuple[Array | None, Array | None, int]:
        """(mask, lanes, how many); both None for all."""
        mask, count = s.mask, s.active
        if self.instruction.guard is not None:
            mask, count = taking_part(s, self.index, self.instruction.guard)
        if mask is None or not count:
            return mask, None, count
        return mask, s.active_lanes() if mask is s.mask else np.flatnonzero(mask), count

    def addresses(self, s: State, lanes: Array | None, each: bool) -> Array:
        """The address of each lane that takes part; one for all where they agree and `each` does
        not ask for more."""
        at = value(s, self.address)
        if at.shape[0] == 1:
            if each:
                at = np.broadcast_to(at, (s.lanes if lanes is None else lanes.size,))
        elif lanes is not None:
            at = at[lanes]
        return at + self.offset if self.offset else at

    def spots(self, s: State, space: Space, at: Array, lanes: Array | None) -> Iterator[Spot]:
        """Where the addresses lead. Raises FaultError for those outside of any memory."""
        if self.align > 1 and int(np.bitwise_or.reduce(at)) & (self.align - 1):
            wrong = int(np.flatnonzero(at & at.dtype.type(self.align - 1))[0])
            raise self.fault(
                s,
                "alignment",
                f"{self.instruction.name} of {self.width} bytes at address 0x{int(at[wrong]):x}, "
                f"which {self.align} does not divide",
                lanes,
                wrong,
            )
        if space is Space.GLOBAL:
            yield from self._global(s, at, lanes)
        elif space is Space.GENERIC:
            yield from self._generic(s, at, lanes)
        elif space is Space.SHARED:
            yield self._own(s, space, at, lanes, s.shared, s.shared_bytes, s.shared_base)
        elif space is Space.LOCAL:
            yield self._own(s, space, at, lanes, s.local, s.code.local_bytes, s.local_base)
        elif space is Space.PARAM:
            yield self._own(s, space, at, lanes, s.params, len(s.launch.params), None)
        else:
            yield self._own(s, space, at, lanes, s.constants, len(s.code.constants), None)

    def _own(
        self,
        s: State,
        space: Space,
        at: Array,
        lanes: Array | None,
        memory: Array,
        nbytes: int,
        base: Array | None,
    ) -> Spot:
        """Memory that begins at address 0, of each block or thread at its own `base`."""
        if int(at.max()) + self.width > nbytes:
            over = int(np.flatnonzero(at > max(0, nbytes - self.width))[0]) if at.size > 1 else 0
            raise self.fault(
                s,
                "bounds",
                f"{self.instruction.name} of {self.width} bytes at {space.value} address "
                f"{int(at[over])}; there are {nbytes} bytes",
                lanes,
                over,
            )
        found = at.astype(np.int64)
        if base is not None:
            found = found + (base if lanes is None else base[lanes])
        return Spot(space, memory, found, lanes)

    def _global(self, s: State, at: Array, lanes: Array | None) -> Iterator[Spot]:
        low = int(at.min())
        region = s.memory.at(low)
        if region is not None and int(at.max()) + self.width <= region.end:
            yield self._in_region(s, region, at, lanes)
            return
        numbers = s.memory.numbers(at, self.width)
        if (numbers < 0).any():
            raise self._outside(s, at, lanes, int(np.flatnonzero(numbers < 0)[0]))
        every = np.arange(s.lanes) if lanes is None else lanes
        for number in np.unique(numbers):
            part = np.flatnonzero(numbers == number)
            which = every[part] if at.size > 1 else every
            yield self._in_region(s, s.memory.regions[number], at[part], which)

    def _in_region(self, s: State, region: Region, at: Array, lanes: Array | None) -> Spot:
        if not region.writable and isinstance(self.instruction, Store):
            raise self.fault(
                s, "read-only", f"{self.instruction.name} to {region.name}, an input", lanes, 0
            )
        offset = (at.astype(np.uint64, copy=False) - np.uint64(region.address)).view(np.int64)
        return Spot(Space.GLOBAL, region.content, offset, lanes, region)

    def _outside(self, s: State, at: Array, lanes: Array | None, wrong: int) -> FaultError:
        address = int(at[wrong])
        near = s.memory.nearest(address)
        what = f"{self.instruction.name} of {self.width} bytes at address 0x{address:x}"
        if near is None:
            return self.fault(s, "bounds", f"{what}; the launch has no memory", lanes, wrong)
        region, distance = near
        offset = address - region.address
        side = "before the start" if offset < 0 else "past the end"
        far = -distance if offset < 0 else max(distance, 0)
        if 0 <= offset < region.content.size:
            where = f"of which {offset + self.width - region.content.size} lie {side}"
        else:
            where = f"{far} bytes {side}"
        return self.fault(
            s,
            "bounds",
            f"{what}: {where} of {region.name}, which has {region.content.size} bytes",
            lanes,
            wrong,
        )

    def _generic(self, s: State, at: Array, lanes: Array | None) -> Iterator[Spot]:
        windows = at & _WINDOW_MASK
        every = np.arange(s.lanes) if lanes is None else lanes
        for window in np.unique(windows):
            part = np.flatnonzero(windows == window)
            inner = at[part]
            which = every[part] if at.size > 1 else every
            whole = part.size == at.size
            if window == SHARED_WINDOW:
                inner, space = inner - window, Space.SHARED
            elif window == LOCAL_WINDOW:
                inner, space = inner - window, Space.LOCAL
            else:
                space = Space.GLOBAL
            yield from self.spots(s, space, inner, lanes if whole else which)

    def profile(self, s: State, spots: Iterable[Spot]) -> None:
        """Reports an access to the counters."""
        if s.profile is not None:
            for spot in spots:
                s.profile.access(self.instruction, self.width, s, spot)

    def fault(self, s: State, kind: str, what: str, lanes: Array | None, number: int) -> FaultError:
        """The error of the `number`th lane that takes part."""
        if lanes is None:
            return fault(s, self.instruction, kind, what, number)
        return fault(
            s, self.instruction, kind, what, int(lanes[number if lanes.size > number else 0])
        )

    def elements(self, spot: Spot) -> tuple[Array, Array]:
        """(the memory as elements, the number of the first of each lane)."""
        if self.size == 1:
            return spot.memory.view(self.item), spot.at
        memory, at = spot.memory, spot.at
        skip = -spot.region.address % self.size if spot.region is not None else 0
        if skip or memory.size % self.size:
            memory = memory[skip : skip + (memory.size - skip) // self.size * self.size]
            at = at - skip
        return memory.view(self.item), at >> self.shift

    def known(self, s: State, spot: Spot) -> None:
        """Raises FaultError for a read of what nothing has written."""
        if spot.space is Space.GLOBAL and s.checks.content:
            assert spot.region is not None
            written = spot.region.written
            if written is None:
                return
        elif spot.space is Space.LOCAL and s.checks.initialised:
            written = s.local_written
        else:
            return
        missing = _count_written(written, spot.at, self.width)
        if missing is not None:
            name = spot.region.name if spot.region is not None else "local memory"
            begin = int(spot.at[missing])
            if spot.space is Space.LOCAL:
                begin %= s.local_row
            raise self.fault(
                s,
                "uninitialised",
                f"{self.instruction.name} of {self.width} bytes at {begin} of {name}, which "
                "nothing has written",
                spot.lanes,
                missing,
            )

    def granules(self, s: State, spot: Spot) -> Iterator[Array]:
        """The granules of shared memory that an access touches."""
        assert s.shadow is not None
        size = s.shadow.granule
        first = spot.at // size
        for i in range(max(1, self.width // size)):
            yield first + i if i else first

    def seen(self, s: State, spot: Spot, who: Array | slice) -> None:
        """Notes a read of shared memory by the lanes `who`. Raises FaultError for one of what
        nothing has written, of what is on its way, and for a race."""
        if s.shadow is None:
            return
        for granule in self.granules(s, spot):
            if s.flights:
                self.arriving(s, spot, s.shadow.flying[granule])
            if s.checks.initialised:
                unknown = s.shadow.unwritten(granule)
                if unknown.any():
                    wrong = int(np.flatnonzero(unknown)[0])
                    raise self.fault(
                        s,
                        "uninitialised",
                        f"{self.instruction.name} of shared address "
                        f"{int(spot.at[wrong]) % s.shared_row}, which nothing has written",
                        spot.lanes,
                        wrong,
                    )
            if s.checks.races:
                self.raced(s, spot, s.shadow.read(granule, who))

    def arriving(self, s: State, spot: Spot, other: Array) -> None:
        """Raises FaultError where `other` names a thread whose copy is on its way."""
        if not other.any() or not s.checks.races:
            return
        assert s.shadow is not None
        wrong = int(np.flatnonzero(other)[0])
        did = "reads" if isinstance(self.instruction, Load) else "changes"
        whose = s.shadow.thread(int(other[wrong]))
        raise self.fault(
            s,
            "in flight",
            f"{self.instruction.name} {did} shared address {int(spot.at[wrong]) % s.shared_row}, "
            f"where an asynchronous copy of {whose} has not arrived for certain",
            spot.lanes,
            wrong,
        )

    def raced(self, s: State, spot: Spot, other: Array) -> None:
        """Raises FaultError where `other` names a thread."""
        if not other.any() or not s.checks.races:
            return
        assert s.shadow is not None
        wrong = int(np.flatnonzero(other)[0])
        did = "reads" if isinstance(self.instruction, Load) else "changes"
        theirs = "wrote" if isinstance(self.instruction, Load) else "accessed"
        raise self.fault(
            s,
            "race",
            f"{self.instruction.name} {did} shared address {int(spot.at[wrong]) % s.shared_row}, "
            f"which {s.shadow.thread(int(other[wrong]))} {theirs} since the last barrier",
            spot.lanes,
            wrong,
        )


def _count_written(written: Array, at: Array, width: int) -> int | None:
    """The first lane of which a byte is not written."""
    step = width & -width
    if step > 1 and written.size >= step and not int(np.bitwise_or.reduce(at)) & (step - 1):
        step = min(step, 8)
        words = written[: written.size // step * step].view(f"u{step}")
        every = words.dtype.type(ONES & ((1 << 8 * step) - 1))
        at, count = at // step, width // step
    else:
        words, every, count = written, np.uint8(1), width
    for i in range(count):
        fine = words.take(at + i if i else at) == every
        if not fine.all():
            return int(np.flatnonzero(~fine)[0])
    return None
