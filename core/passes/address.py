"""Where the lanes of a vector access are, and which of them are neighbours.

Reads offsets that are already simplified; never makes a node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from core.dtype import dtypes
from core.uop import Ops, UOp
from core.uop.facts.derive import fold


def gate_of(place: UOp) -> UOp | None:
    """The gate of an INDEX into memory, None where it has none."""
    return place.src[2] if len(place.src) == 3 else None


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane is at base + constant (base None: 0), under a gate (None: always)."""

    base: UOp | None
    constant: int
    gate: UOp | None = None
    never: bool = False
    """Its gate is false."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive elements from base + start; `lanes` has, for each element, the lanes there."""

    base: UOp | None
    gate: UOp | None
    start: int
    lanes: tuple[tuple[int, ...], ...]


def lane_at(offset: UOp, gate: UOp | None, more: int = 0) -> Lane:
    """The lane at `offset` + `more`."""
    if gate is not None and gate.op is Ops.CONST:
        if not gate.arg:
            return Lane(None, 0, None, True)
        gate = None
    if offset.op is Ops.CONST:
        return Lane(None, offset.arg + more, gate)
    if offset.op is Ops.ADD and offset.src[1].op is Ops.CONST:
        return Lane(offset.src[0], offset.src[1].arg + more, gate)
    return Lane(offset, more, gate)


def factor(u: UOp | None) -> int:
    """A number that divides every value of the offset `u`; 0 where that is always 0."""
    return 0 if u is None else fold(u, _factors, _factor)


def _factors(u: UOp) -> Sequence[UOp]:
    """The sources that say something about the factor of `u`."""
    if u.op is Ops.CAST:
        return u.src if u.src[0].dtype in (dtypes.int32, dtypes.int64) else ()
    return u.src if u.op in (Ops.ADD, Ops.MUL) else ()


def _factor(u: UOp, parts: Sequence[int]) -> int:
    if u.op is Ops.CONST:
        return abs(u.arg)
    if not parts:
        return 1
    return parts[0] * parts[1] if u.op is Ops.MUL else gcd(*parts)


def runs(lanes: Sequence[Lane]) -> Iterator[Run]:
    """The runs of consecutive elements, in the order of the first lane of their base and gate."""
    groups: dict[tuple[UOp | None, UOp | None], dict[int, list[int]]] = {}
    for i, lane in enumerate(lanes):
        if not lane.never:
            group = groups.setdefault((lane.base, lane.gate), {})
            group.setdefault(lane.constant, []).append(i)
    for (base, gate), elements in groups.items():
        starts = sorted(elements)
        begin = 0
        for at in range(1, len(starts) + 1):
            if at == len(starts) or starts[at] != starts[at - 1] + 1:
                chosen = tuple(tuple(elements[k]) for k in starts[begin:at])
                yield Run(base, gate, starts[begin], chosen)
                begin = at


def pieces(run: Run, widest: int, aligned: bool) -> Iterator[tuple[int, int]]:
    """(first element, elements) of the moves of a run: powers of two up to `widest`, each (where
    `aligned`) at a multiple of its size."""
    at, length, known = 0, len(run.lanes), factor(run.base)
    while at < length:
        width = widest
        while width > 1 and (
            at + width > length or (aligned and gcd(known, run.start + at) % width != 0)
        ):
            width //= 2
        yield at, width
        at += width
