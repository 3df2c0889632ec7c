"""Which loops each node of a graph still depends on, as text such as "L0 R1".

The sets are those of `core.uop.facts.ranges`, kept as bits of integers: where 4,000 loops are open
in 4,000 nodes, sets of nodes would take half a gigabyte. Takes what it needs from the budget in
force.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from core.uop.ops import Ops
from core.uop.uop import UOp
from viz.budget import take
from viz.replay.provenance import positions

MAX_TEXT: Final = 2000
"""Characters; longer texts are cut."""
_SHORTEST: Final = 3
"""Characters of the name of a loop with the blank behind it."""


class OpenRanges:
    """The open loops of the nodes of one file, by their numbers there."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        """A bit set for each node: those of `_place`."""
        self._place: dict[UOp, int] = {}
        self._names: list[str] = []
        self._sorted: list[str] = []
        self._rank = np.zeros(0, np.int64)
        """Where each loop stands in a text; shorter than `_names` where loops have come since."""
        self._texts: dict[int, tuple[int, str]] = {}
        """By the identity of a bit set, which nodes share that have the same loops open. (Bit
        sets themselves would make poor keys: integers with one bit have 61 hashes in all.)"""

    def add(self, node: int, u: UOp, sources: Sequence[int]) -> None:
        """Works out the set of a node, after those of its sources. Raises BudgetError."""
        below = [self._open.get(s, 0) for s in sources]
        words = len(self._names) // 64
        take(1 + len(below) * (1 + words // 8), 60)
        found = 0
        for bits in below:
            if bits is not found:
                both = bits | found
                found = bits if both == bits else found if both == found else both
        if u.op is Ops.RANGE:
            found |= self._bit(u)
        elif u.op in (Ops.END, Ops.REDUCE):
            for r, bits in zip(u.src[1:], below[1:], strict=True):
                found &= ~(self._bit(r) if r.op is Ops.RANGE else bits)
        if not any(found is bits for bits in below):
            take(1, 60 + 8 * words)
        self._open[node] = found

    def text(self, node: int) -> str:
        """The names of a node's open loops. Raises BudgetError."""
        bits = self._open.get(node, 0)
        if not bits:
            return ""
        known = self._texts.get(id(bits))
        if known is None:
            take(8 + bits.bit_length() // 16, MAX_TEXT)
            known = self._texts[id(bits)] = bits, self._spell(bits)
        return known[1]

    def _spell(self, bits: int) -> str:
        if len(self._rank) < len(self._names):
            self._sort()
        # more names than these do not fit into the text
        first = np.sort(self._rank[positions(bits)])[: MAX_TEXT // _SHORTEST + 1]
        return " ".join(self._sorted[at] for at in first.tolist())[:MAX_TEXT]

    def _sort(self) -> None:
        loops = [*self._place]
        take(8 * len(loops))
        order = sorted(range(len(loops)), key=[str(u.arg) for u in loops].__getitem__)
        self._sorted = [self._names[place] for place in order]
        self._rank = np.empty(len(order), np.int64)
        self._rank[order] = np.arange(len(order))

    def _bit(self, u: UOp) -> int:
        place = self._place.get(u)
        if place is None:
            place = self._place[u] = len(self._names)
            number, kind = u.arg[:2]
            self._names.append(f"{kind.letter}{number}")
            take(4, 300)
        return 1 << place
