"""Global memory as kernels see it: regions of bytes at addresses, and nothing in between.

Addresses are made up; regions never move. Decides nothing about who may touch what else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.runtime.numeric import Array


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """`content` (uint8) at `address`; `name` is what errors call it ("data0").

    `written` (uint8, 1 where a byte has been written) follows what has content; None: all has.
    """

    name: str
    address: int
    content: Array
    written: Array | None = None
    writable: bool = True

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.address + self.content.size


class GlobalMemory:
    """The regions that one launch may touch, found by address. Where two overlap, the one that
    begins later is found first; a region inside another is the other's."""

    def __init__(self, regions: Iterable[Region]) -> None:
        self.regions: list[Region] = []
        for region in sorted(regions, key=lambda r: (r.address, -r.content.size)):
            if not self.regions or region.end > self.regions[-1].end:
                self.regions.append(region)
        self._starts = [r.address for r in self.regions]

    def at(self, address: int) -> Region | None:
        """The region that an address lies in."""
        found = bisect_right(self._starts, address) - 1
        if found < 0 or address >= self.regions[found].end:
            return None
        return self.regions[found]

    def numbers(self, at: Array, width: int) -> Array:
        """For each address the number of the region that it and `width` bytes from it lie in; -1
        for none."""
        starts = np.array(self._starts, np.uint64)
        ends = np.array([r.end for r in self.regions], np.uint64)
        at = at.astype(np.uint64, copy=False)
        found = np.searchsorted(starts, at, "right") - 1
        last = at + np.uint64(width)
        inside = (found >= 0) & (last <= ends[found]) & (last > at) if len(ends) else found >= 0
        return np.where(inside, found, -1)

    def nearest(self, address: int) -> tuple[Region, int] | None:
        """The region that begins or ends closest to an address outside of all, and the distance in
        bytes: negative before its start, else from its end on."""
        near = [
            (r, address - r.end if address >= r.end else address - r.address) for r in self.regions
        ]
        return min(near, key=lambda pair: abs(pair[1]), default=None)
