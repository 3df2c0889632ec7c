"""What has to be known of a kernel before it is evaluated: its axes, its order, the rows of its
memory, and the pieces that it is evaluated in so that its values fit into memory.

Evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Final

from core.dtype import AddrSpace, PtrDType
from core.helpers import ceildiv, prod
from core.runtime.reference.evaluate.addresses import memory_of
from core.runtime.reference.evaluate.axes import SEQUENTIAL, Axes, Role
from core.runtime.reference.evaluate.order import (
    STORES,
    Accesses,
    Do,
    Entry,
    accesses_of,
    graph_order,
    in_sequence,
    loops_around,
    program_order,
)
from core.runtime.reference.evaluate.shaped import shaped_values
from core.uop.call.atlaunch import value_at_launch
from core.uop.ops import Ops
from core.uop.pointer import address_space
from core.uop.uop import UOp

ELEMENTS: Final = 1 << 24
"""Elements of all values together that a kernel is cut into pieces for."""
Piece = tuple[tuple[int, int], ...]
"""(first, end) of the iterations along each axis."""
Spans = Mapping[UOp, frozenset[int]]


@dataclass(frozen=True)
class Plan:
    """How a kernel is evaluated, for some values of its variables."""

    nodes: Sequence[UOp]
    order: Sequence[Entry]
    axes: Axes
    rows: Mapping[UOp, tuple[int, ...]]
    """The axes along which memory that is not global has rows."""
    apart: Mapping[UOp, tuple[int, ...]]
    """By memory, the axes of loops whose iterations must not need each other's elements."""
    spans: Spans
    """The axes that each value has."""
    shaped: frozenset[UOp]
    """Values with a shape, of a kernel that is only partly made of loops."""

    @cached_property
    def number(self) -> Mapping[UOp, int]:
        """The place of each node among all of them."""
        return {u: i for i, u in enumerate(self.nodes)}

    @property
    def checked(self) -> bool:
        """Whether evaluating it may find that loops have to run in sequence."""
        return any(self.apart.values())

    @cached_property
    def evaluations(self) -> int:
        """How many times a node is evaluated, in each iteration of the loops in sequence anew. Of a
        loop whose length the kernel computes, the most that its bounds allow."""
        total, times = 0, [1]
        for what, u in self.order:
            if what is Do.BEGIN:
                times.append(times[-1] * max(1, int(u.vmax) + 1))
            elif what is Do.END:
                times.pop()
            total += times[-1]
        return total * sum(1 for _ in self.pieces())

    def elements(self, piece: Piece) -> int:
        """Elements of all values of a piece together."""
        return sum(
            prod(piece[i][1] - piece[i][0] for i in self.spans[u]) * max(1, u.dtype.count)
            for u in self.nodes
            if u.op not in STORES
        )

    def pieces(self) -> Iterator[Piece]:
        """Pieces of work groups, and of loops that all stores are in, of no more than ELEMENTS
        where that is possible."""
        steps = [axis.size for axis in self.axes.all]
        free = [i for i in self._cuttable() if steps[i] > 1]
        while free and self.elements(tuple((0, n) for n in steps)) > ELEMENTS:
            at = free[0]
            steps[at] = ceildiv(steps[at], 2)
            free = [i for i in free if steps[i] > 1]
        ranges = [
            [(first, min(first + step, axis.size)) for first in range(0, axis.size, step)]
            if step
            else [(0, 0)]
            for axis, step in zip(self.axes.all, steps, strict=True)
        ]
        yield from product(*ranges)

    def _cuttable(self) -> list[int]:
        stores = [u for u in self.nodes if u.op in STORES]
        outside = [u for u in stores if address_space(u.src[0]) is AddrSpace.GLOBAL]
        found = self.axes.with_role(Role.GRID) + self.axes.with_role(Role.LOOP)
        return [i for i in found if all(i in self.spans[u] for u in outside)]


def plan_of(
    root: UOp | tuple[UOp, ...], variables: tuple[tuple[str, int], ...], cautious: bool
) -> Plan:
    """The plan of a graph or of a program. `cautious`: loops whose iterations may need each other
    run in sequence. Raises RunError for a size that is not known at launch."""
    program = root if isinstance(root, tuple) else None
    nodes = tuple(root.toposort()) if isinstance(root, UOp) else root
    around = loops_around(nodes) if program is not None else {u: u.ranges for u in nodes}
    used = accesses_of(nodes, around)
    sequence = in_sequence(nodes, used, cautious)
    values = dict(variables)
    sizes = {
        u: max(0, value_at_launch(u.src[0], values))
        for u in nodes
        if u.op is Ops.SPECIAL or (u.op is Ops.RANGE and u not in sequence)
    }
    axes = Axes(nodes, sizes)
    apart = {m: _apart(used[m], axes, sizes) for m in used}
    hardware = axes.with_role(Role.GRID)
    threads = hardware + axes.with_role(Role.THREAD)
    rows = {
        u: (hardware if u.op is Ops.DEFINE_LOCAL else threads) + apart.get(u, ())
        for u in nodes
        if u.op in (Ops.DEFINE_LOCAL, Ops.DEFINE_REG)
    }
    order = graph_order(root, sequence) if isinstance(root, UOp) else program_order(root, sequence)
    spans = _spans(nodes, axes, rows)
    return Plan(nodes, order, axes, rows, apart, spans, shaped_values(nodes))


kept_plan = lru_cache(maxsize=64)(plan_of)


def _apart(used: Accesses, axes: Axes, loops: Mapping[UOp, int]) -> tuple[int, ...]:
    """The axes of loops around every access to a memory that is both read and written in them."""
    found = [
        axes.of(u)
        for u in loops
        if u.op is Ops.RANGE and u.arg[-1] in SEQUENTIAL and used.carried_by(u) is None
    ]
    return tuple(sorted(i for i in found if i is not None))


def _spans(nodes: Sequence[UOp], axes: Axes, rows: Mapping[UOp, tuple[int, ...]]) -> Spans:
    found: dict[UOp, frozenset[int]] = {}
    threads = frozenset(axes.with_role(Role.THREAD))
    for u in nodes:
        own: frozenset[int] = frozenset().union(*(found[s] for s in u.src))
        if u.op in (Ops.RANGE, Ops.SPECIAL):
            at = axes.of(u)
            own = own if at is None else own | {at}
        elif u.op in (Ops.END, Ops.REDUCE):
            own = found[u.src[0]].difference(*(found[s] for s in u.src[1:]))
        elif u.op in (Ops.UNROLL, Ops.CONTRACT):
            lanes = frozenset(axes.position[number, size] for number, size in u.arg)
            own = own | lanes if u.op is Ops.UNROLL else own - lanes
        elif u.op in (Ops.WMMA, Ops.SHUFFLE, Ops.LDMATRIX):
            own = own | threads
        elif u.op is Ops.LOAD and isinstance(u.src[0].dtype, PtrDType):
            own = own.union(rows.get(memory_of(u.src[0]), ()))
        found[u] = own
    return found
