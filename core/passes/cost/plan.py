"""A way to run a nest on a processor with vector units, and the opts that say so.

Lanes of outputs, lanes and turns of reduces, the order of loops, and whether cores share them.
Never judges.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.helpers import ceildiv
from core.passes.cost.nest import Nest
from core.uop.kernelinfo import Opt, OptOps

LANES: int = 256
WIDEST: int = 16
"""Of one UPCAST; more lanes of a loop take two."""
LONGEST: int = 32
"""Of one UNROLL or GROUP."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`upcast`, `unroll`, `group`: iterations of each loop that are done at once, 1 for one after
    the other; `order`: the loops over outputs, outermost first; `thread`: cores share the first;
    `lead`: the loop whose lanes vary fastest, -1 for the last one; `pad`: the loop over outputs
    that first becomes longer, -1 for none; `to`: the number that its length is then a multiple of.
    """

    upcast: tuple[int, ...]
    unroll: tuple[int, ...]
    group: tuple[int, ...]
    order: tuple[int, ...]
    thread: bool = False
    lead: int = -1
    pad: int = -1
    to: int = 1

    @property
    def lanes(self) -> int:
        """Lanes of a value that depends on every loop."""
        n = 1
        for a, b, c in zip(self.upcast, self.unroll, self.group, strict=True):
            n *= a * b * c
        return n

    def rest(self, nest: Nest) -> list[int]:
        """Iterations of each loop that are left to be done one after the other."""
        return [
            size // (a * b * c)
            for size, a, b, c in zip(
                self.sizes(nest), self.upcast, self.unroll, self.group, strict=True
            )
        ]

    def sizes(self, nest: Nest) -> list[int]:
        """Iterations of each loop."""
        return [
            ceildiv(loop.size, self.to) * self.to if i == self.pad else loop.size
            for i, loop in enumerate(nest.loops)
        ]

    def lane_order(self) -> list[tuple[int, int]]:
        """(loop, lanes) of the loops with lanes, the fastest first."""
        found = [(i, n) for i, n in enumerate(self.group) if n > 1]
        outer = [i for i in range(len(self.upcast)) if self.upcast[i] > 1]
        outer.sort(key=lambda i: (i == self.lead, i), reverse=True)
        found += [(i, self.upcast[i]) for i in outer]
        found += [(i, n) for i, n in reversed([*enumerate(self.unroll)]) if n > 1]
        return found


def plain(nest: Nest) -> Plan:
    """Every loop one after the other."""
    ones = (1,) * len(nest.loops)
    order = tuple(i for i, loop in enumerate(nest.loops) if not loop.reduce and not loop.kept)
    return Plan(ones, ones, ones, order)


def lanes_of_opts(n: int) -> bool:
    """Whether opts can do so many iterations at once: each does at most WIDEST of them."""
    for k in range(WIDEST, 1, -1):
        while n % k == 0:
            n //= k
    return n == 1


def opts_of(nest: Nest, plan: Plan) -> tuple[Opt, ...]:
    """The opts that make a kernel run as planned."""
    found: list[Opt] = []
    outer = [i for i, loop in enumerate(nest.loops) if not loop.reduce and not loop.kept]
    if plan.pad >= 0:
        found.append(Opt(OptOps.PADTO, outer.index(plan.pad), plan.to))
    inner = [i for i, loop in enumerate(nest.loops) if loop.reduce and not loop.kept]
    for at, i in reversed([*enumerate(inner)]):
        if plan.group[i] > 1:
            found.append(Opt(OptOps.GROUP, at, plan.group[i]))
        if plan.unroll[i] > 1:
            found.append(Opt(OptOps.UNROLL, at, plan.unroll[i]))
    if plan.lead >= 0 and outer[-1] != plan.lead:
        at, last = outer.index(plan.lead), len(outer) - 1
        found.append(Opt(OptOps.SWAP, at, last))
        outer[at], outer[last] = outer[last], outer[at]
    for at, i in reversed([*enumerate(outer)]):
        left = plan.upcast[i]
        while left > 1:
            amount = next(n for n in range(min(left, WIDEST), 0, -1) if left % n == 0)
            found.append(Opt(OptOps.UPCAST, at, amount))
            left //= amount
    rest = plan.rest(nest)
    outer = [i for i in outer if rest[i] > 1 or plan.upcast[i] == 1]
    wanted = [i for i in plan.order if i in outer]
    for at, i in enumerate(wanted):
        if outer[at] != i:
            other = outer.index(i)
            found.append(Opt(OptOps.SWAP, at, other))
            outer[at], outer[other] = outer[other], outer[at]
    if plan.thread and outer:
        found.append(Opt(OptOps.THREAD, 0, 0))
    return tuple(found)
