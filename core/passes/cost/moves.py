"""Instructions that move one address between memory and vector registers, predicted.

The factors were fitted to times of programs (`python -m tests.bench choice`). Never measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.helpers import ceildiv
from core.passes.cost.nest import Access
from core.passes.cost.way import Way

SAME_GATE: Final = 0.5
"""Times `Cpu.gate` for a gate that all lanes share."""
LANE_GATE: Final = 1.0
"""Times `Cpu.gate` for lanes with gates of their own that are loaded side by side: a mask."""
SPREAD_GATE: Final = 3.0
"""Times `Cpu.gate` for lanes with gates of their own that are stored, or are not side by side."""
SHORT_ROWS: Final = 2.5
"""Times `Cpu.cross` where rows of lanes are shorter than a vector."""
MASKS: Final = 1.5
"""Instructions that make the mask of a vector whose lanes have gates of their own."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What an access takes, each time."""

    moves: float
    """Loads or stores."""
    placing: float
    """Instructions that put lanes in place."""
    runs: float
    """Separate runs of memory that are walked through."""


@dataclass(slots=True)
class _Lanes:
    """How the lanes of an access lie in memory, the fastest first, until they fill a vector."""

    filled: int = 1
    """Lanes of a vector that are known."""
    run: int = 1
    """Elements side by side."""
    segments: int = 1
    """Runs that a vector is put together from."""
    spread: int = 1
    """Times that the same is repeated elsewhere by lanes beyond the first vector."""
    distinct: int = 1
    """Elements that are not those of another lane."""

    def add(self, n: int, stride: int | None, reaches: bool, per: int) -> None:
        """`n` lanes of the next loop. `reaches`: the access is inside of it; `per`: of a vector."""
        is_whole = self.segments == 1
        goes_on = is_whole and stride == self.run == self.filled
        if self.filled < per:
            if goes_on:
                self.run *= n
            elif not (is_whole and self.run == 1 and not reaches):  # else one element for all
                self.segments *= min(n, ceildiv(per, self.filled))
            self.filled *= n
            if reaches:
                self.distinct *= n
        elif goes_on:
            self.run, self.filled = self.run * n, self.filled * n
            self.distinct *= n
        elif reaches:
            self.spread *= n
            self.distinct *= n


def moves_of(way: Way, access: Access) -> Moves:
    """What an access takes, each time."""
    per = max(1, way.simd // access.itemsize)
    lanes = _Lanes()
    for i, n in way.fastest:
        lanes.add(n, access.strides[i], bool(access.loops >> i & 1), per)
    gate, crossing = _gate(way, access, lanes), _crossing(way, access, lanes, per)
    if lanes.segments == 1:
        return Moves(lanes.spread * ceildiv(lanes.run, per) * gate, crossing, lanes.spread)
    # a square of lanes that is read along one side is turned round in registers
    beside = max((n for i, n in way.fastest if access.strides[i] == 1), default=1)
    distinct = lanes.distinct
    if min(beside, per) >= per // 2 > 1:
        placing = max(crossing, distinct * way.cpu.turn)
        return Moves(distinct / min(beside, per) * gate, placing, distinct / beside)
    placing = max(crossing, distinct * way.cpu.gather)
    return Moves(distinct * gate, placing, distinct / min(per, max(1, lanes.run)))


def _has_own_gates(way: Way, access: Access) -> bool:
    """Whether lanes of an access have gates of their own."""
    return any(access.gated >> i & 1 for i, _ in way.fastest)


def _gate(way: Way, access: Access, lanes: _Lanes) -> float:
    """By what a gate makes each move longer."""
    if not access.gated:
        return 1.0
    if not _has_own_gates(way, access):
        return 1.0 + way.cpu.gate * SAME_GATE
    side_by_side = lanes.segments == 1 and not access.store
    return 1.0 + way.cpu.gate * (LANE_GATE if side_by_side else SPREAD_GATE)


def _crossing(way: Way, access: Access, lanes: _Lanes, per: int) -> float:
    """Instructions for rows of lanes that begin and end amid vectors, which are put together from
    two, and for masks."""
    found = 0.0
    first = way.fastest[0][1] if way.fastest else 1
    if len(way.fastest) > 1 and first % per and per % first:
        found = way.cpu.cross * way.plan.lanes / per * (SHORT_ROWS if first < per else 1.0)
    if _has_own_gates(way, access) and not access.store and lanes.segments == 1:
        found += MASKS * lanes.spread * ceildiv(lanes.run, per)
    return found
