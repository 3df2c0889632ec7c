"""Which plans of a nest are looked at: from each way to fill vectors, one change at a time to the
plan that is predicted to be fastest, until no change helps.

The same nest, target and processor give the same plans in the same order. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from core.hardware.cpu import Cpu
from core.passes.cost.cpu import Predicted, predicted
from core.passes.cost.nest import Nest
from core.passes.cost.plan import LANES, LONGEST, Plan, lanes_of_opts, plain
from core.target import Target

MOST: Final = 160
"""Plans of a kernel that are looked at; fewer, down to LEAST, of one with many loops and loads."""
LEAST: Final = 40
_LOOKS: Final = 4000
"""Loops times accesses that are looked at, of all plans together."""
_TILES: Final = (1, 2, 3, 4, 5, 6, 7, 8)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan and what it is predicted to take."""

    plan: Plan
    predicted: Predicted


def candidates(nest: Nest, target: Target, cpu: Cpu) -> list[Candidate]:
    """Plans that were looked at, the likely fastest first."""
    size = max(1, len(nest.loops) * len(nest.accesses))
    most = max(LEAST, min(MOST, _LOOKS // size))
    return _Search(nest, target, cpu, most).run()


class _Search:
    def __init__(self, nest: Nest, target: Target, cpu: Cpu, most: int) -> None:
        self._nest, self._target, self._cpu, self._most = nest, target, cpu, most
        self._known: dict[Plan, Predicted] = {}
        widest = max([4, *(a.itemsize for a in nest.accesses)])
        self._wide = max(1, target.simd_bytes // widest)
        self._outer = [i for i, x in enumerate(nest.loops) if not x.reduce and not x.kept]
        self._inner = [i for i, x in enumerate(nest.loops) if x.reduce and not x.kept]

    def run(self) -> list[Candidate]:
        starts = [*self._starts()]
        for plan in starts:
            self._cost(plan)
        starts.sort(key=self._rank)
        for at, plan in enumerate(starts[:4]):
            room = len(self._known) + (self._most - len(self._known)) // (min(4, len(starts)) - at)
            self._climb(plan, room)
        found = sorted(self._known, key=self._rank)
        return [Candidate(plan, self._known[plan]) for plan in found]

    def _rank(self, plan: Plan) -> tuple[float, str]:
        return self._known[plan].cycles, str(plan)

    def _cost(self, plan: Plan) -> float:
        if plan not in self._known:
            self._known[plan] = predicted(self._nest, plan, self._target, self._cpu)
        return self._known[plan].cycles

    def _starts(self) -> Iterator[Plan]:
        """Each way to fill vectors: with outputs, with what a reduce combines, not at all."""
        base = plain(self._nest)
        yield base
        for i in self._outer:
            if any(a.strides[i] == 1 for a in self._nest.accesses):
                parts = _parts(self._nest.loops[i].size, 2 * self._wide)
                for n in [n for n in parts if lanes_of_opts(n)][:2]:
                    yield replace(base, upcast=_set(base.upcast, i, n), lead=self._lead(i))
                for n in (2 * self._wide, self._wide):
                    if self._nest.loops[i].size % n and n < 2 * self._nest.loops[i].size:
                        lanes = _set(base.upcast, i, n)
                        yield replace(base, upcast=lanes, lead=self._lead(i), pad=i, to=n)
        for i in self._inner:
            if any(a.strides[i] == 1 for a in self._nest.accesses if not a.store):
                for n in _parts(self._nest.loops[i].size, LONGEST)[:3]:
                    yield replace(base, group=_set(base.group, i, n))

    def _lead(self, i: int) -> int:
        return -1 if i == self._outer[-1] else i

    def _climb(self, plan: Plan, room: int) -> None:
        while True:
            before = plan
            for near in self._near(plan):
                if len(self._known) >= room:
                    return
                if near.lanes <= LANES and self._cost(near) < self._cost(plan):
                    plan = near
            if plan is before:
                return

    def _near(self, plan: Plan) -> Iterator[Plan]:
        """Plans that differ in one respect."""
        sizes, left = plan.sizes(self._nest), plan.rest(self._nest)
        for i in reversed(self._outer):
            size = sizes[i]
            tiles = _TILES if plan.upcast[i] < self._wide // 2 else ()
            wide = [
                *tiles,
                self._wide // 2,
                self._wide,
                2 * self._wide,
                4 * self._wide,
                8 * self._wide,
            ]
            for n in sorted({n for n in wide if n >= 1 and size % n == 0}):
                if n != plan.upcast[i]:
                    yield replace(plan, upcast=_set(plan.upcast, i, n))
        for i in reversed(self._inner):
            part = sizes[i] // plan.group[i]
            for n in sorted({n for n in (1, 2, 4, part) if part % n == 0 and n <= 9}):
                if n != plan.unroll[i]:
                    yield replace(plan, unroll=_set(plan.unroll, i, n))
            if plan.group[i] > 1:
                for n in _parts(sizes[i] // plan.unroll[i], LONGEST)[:3]:
                    if n != plan.group[i]:
                        yield replace(plan, group=_set(plan.group, i, n))
        order = tuple(i for i in plan.order if left[i] > 1)
        done = tuple(i for i in plan.order if left[i] == 1)
        for a in range(len(order) - 1, 0, -1):
            swapped = (*order[: a - 1], order[a], order[a - 1], *order[a + 1 :])
            yield replace(plan, order=swapped + done)
        if len(order) > 2:
            yield replace(plan, order=(order[-1], *order[:-1], *done))
            yield replace(plan, order=(*order[1:], order[0], *done))
        if order and self._cpu.cores > 1 and self._nest.shareable >> order[0] & 1:
            yield replace(plan, order=order + done, thread=not plan.thread)


def _set(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _parts(size: int, most: int) -> list[int]:
    """The numbers from 2 to `most` that divide a loop, the largest first."""
    return [n for n in range(min(size, most), 1, -1) if size % n == 0]
