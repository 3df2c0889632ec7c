"""A plan of a nest, taken apart once: what is left to be done in turn, and what is done at once.

Never judges.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.hardware.cpu import Cpu
from core.passes.cost.nest import Nest
from core.passes.cost.plan import Plan


@dataclass(frozen=True, slots=True)
class Way:
    """How a processor with vectors of `simd` bytes runs a nest as planned."""

    nest: Nest
    plan: Plan
    cpu: Cpu
    simd: int
    rest: list[int]
    """Iterations of each loop that are done one after the other."""
    lanes: list[int]
    """Iterations of each loop that are done at once."""
    inner: list[int]
    """The loops inside of those over outputs."""
    fastest: list[tuple[int, int]]
    """(loop, lanes) of the loops with lanes, the fastest first."""

    def times(self, loops: int) -> float:
        """How often what depends on `loops` is done."""
        inside = 0
        for r in self.nest.reduces:
            if r.own & loops:
                inside |= r.outer
        loops |= inside
        n, pending = 1.0, 1.0
        for i in self.plan.order:
            pending *= self.rest[i]
            if loops >> i & 1:
                n, pending = n * pending, 1.0
        for i in self.inner:
            if loops >> i & 1:
                n *= self.rest[i]
        return n

    def width(self, loops: int) -> int:
        """Lanes of a value that depends on `loops`."""
        n = 1
        for i, lanes in enumerate(self.lanes):
            if lanes > 1 and loops >> i & 1:
                n *= lanes
        return n


def way_of(nest: Nest, plan: Plan, cpu: Cpu, simd: int) -> Way:
    """A plan taken apart."""
    lanes = [a * b * c for a, b, c in zip(plan.upcast, plan.unroll, plan.group, strict=True)]
    inner = [i for i in range(len(nest.loops)) if i not in plan.order]
    return Way(nest, plan, cpu, simd, plan.rest(nest), lanes, inner, plan.lane_order())
