"""The order in which a kernel's nodes are evaluated: that of a program, or one of a graph.

A loop is an axis of arrays (axes.py) where its iterations do not need each other. It runs in
sequence where they do: where an iteration reads memory that another one writes, or where its length
is computed by the kernel. In a graph, a node stands in the innermost loop in sequence that it
depends on, in the order of a depth-first walk from the outputs; stores to global memory come last
in their block, so that what a block reads is what was there before it. Shares nothing with the
passes that order a program, which are under test. Evaluates nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from core.dtype import AddrSpace, PtrDType
from core.runtime.reference.evaluate.addresses import memory_of
from core.runtime.reference.evaluate.axes import SEQUENTIAL, role_of
from core.uop.call.atlaunch import known_at_launch
from core.uop.ops import Ops
from core.uop.uop import UOp

STORES: Final = frozenset({Ops.STORE, Ops.COPY_ASYNC})
_READS: Final = frozenset({Ops.LOAD, Ops.LDMATRIX})
Loops = frozenset[UOp]


class Do(Enum):
    """What an entry of the order asks for."""

    EVALUATE = auto()
    BEGIN = auto()
    """Begin a loop in sequence, a RANGE."""
    END = auto()
    """End of an iteration of the innermost loop in sequence."""
    CLEAR = auto()
    """Begin a REDUCE over loops in sequence."""
    FOLD = auto()
    """Combine this iteration's value of a REDUCE."""


Entry = tuple[Do, UOp]


@dataclass
class Accesses:
    """How a kernel uses one memory: the loops around each load and each store."""

    loads: list[Loops] = field(default_factory=lambda: list[Loops]())
    stores: list[Loops] = field(default_factory=lambda: list[Loops]())

    shared: bool = False
    """Whether all iterations store to one memory: where several stores do, their order counts."""

    def carried_by(self, loop: UOp) -> bool | None:
        """Whether iterations of a loop need memory of each other: True where they do, None where
        each may keep to elements of its own, which has to be checked."""
        loads = sum(loop in around for around in self.loads)
        stores = sum(loop in around for around in self.stores)
        inside = loads + stores == len(self.loads) + len(self.stores)
        if not loads:
            return None if inside and self.shared and stores > 1 else False
        return False if not stores else None if inside else True


def accesses_of(nodes: Iterable[UOp], around: Mapping[UOp, Loops]) -> dict[UOp, Accesses]:
    """By memory, how it is used. `around` has the loops around each node."""
    found: defaultdict[UOp, Accesses] = defaultdict(Accesses)
    for u in nodes:
        if u.op is Ops.DEFINE_GLOBAL:
            found[u].shared = True
        elif u.op in _READS and isinstance(u.src[0].dtype, PtrDType):
            found[memory_of(u.src[0])].loads.append(around[u])
        elif u.op in STORES:
            found[memory_of(u.src[0])].stores.append(around[u])
            if u.op is Ops.COPY_ASYNC:
                found[memory_of(u.src[1])].loads.append(around[u])
    return dict(found)


def loops_around(program: Sequence[UOp]) -> dict[UOp, Loops]:
    """The loops around each node of a program, by its place in it and by what it depends on."""
    found: dict[UOp, Loops] = {}
    open_loops: list[UOp] = []
    for u in program:
        if u.op is Ops.END and open_loops:
            open_loops.pop()
        found[u] = u.ranges.union(open_loops)
        if u.op is Ops.RANGE:
            open_loops.append(u)
    return found


def in_sequence(nodes: Iterable[UOp], used: Mapping[UOp, Accesses], cautious: bool) -> Loops:
    """The RANGEs whose iterations run one after the other. `cautious`: all that may have to."""
    found: set[UOp] = set()
    for u in nodes:
        if u.op is not Ops.RANGE:
            continue
        if not known_at_launch(u.src[0]):
            found.add(u)
        elif u.arg[-1] in SEQUENTIAL:
            carried = [access.carried_by(u) for access in used.values()]
            if True in carried or (cautious and None in carried):
                found.add(u)
    return frozenset(found)


def program_order(program: Sequence[UOp], sequence: Loops) -> list[Entry]:
    """The entries of a program, in its own order."""
    order: list[Entry] = []
    for u in program:
        if u.op is Ops.RANGE and u in sequence:
            order.append((Do.BEGIN, u))
        elif u.op is Ops.END and not sequence.isdisjoint(u.src[1:]):
            order.append((Do.END, u))
        else:
            order.append((Do.EVALUATE, u))
    return order


def graph_order(sink: UOp, sequence: Loops) -> list[Entry]:
    """The entries of a graph."""
    return _Graph(sink, sequence).order


class _Graph:
    def __init__(self, sink: UOp, sequence: Loops) -> None:
        self.nodes = list(sink.toposort())
        self.place = {u: i for i, u in enumerate(self.nodes)}
        self.inside = {u: u.ranges & sequence for u in self.nodes}
        self.late: set[UOp] = set()
        for u in self.nodes:
            if _stores_global(u) or not self.late.isdisjoint(u.src):
                self.late.add(u)
        self.sequence = sequence
        self.order: list[Entry] = []
        self._block(u for u in self.nodes if not self.inside[u])

    def _block(self, nodes: Iterable[UOp]) -> None:
        early, late = list[UOp](), list[UOp]()
        for u in nodes:
            (late if u in self.late else early).append(u)
        for u in (*early, *late):
            ended = self._ended(u)
            if ended:
                self._loops(u, ended)
            else:
                self.order.append((Do.EVALUATE, u))

    def _ended(self, u: UOp) -> list[UOp]:
        """The loops in sequence that a node ends, the outermost first."""
        if u.op not in (Ops.END, Ops.REDUCE):
            return []
        loops = [r for r in u.src[1:] if r in self.sequence]
        return sorted(loops, key=lambda r: (role_of(r), r.arg[:-1]))

    def _loops(self, u: UOp, ended: Sequence[UOp]) -> None:
        """The nest of loops that a node ends."""
        needed = u.src[0].toposort()
        body = sorted(needed, key=self.place.__getitem__)
        if u.op is Ops.REDUCE:
            self.order.append((Do.CLEAR, u))
        outside = self.inside[u]
        for depth, loop in enumerate(ended):
            self.order.append((Do.BEGIN, loop))
            reached, deeper = outside.union(ended[: depth + 1]), ended[depth + 1 :]
            self._block(
                n
                for n in body
                if n is not loop
                and loop in self.inside[n]
                and self.inside[n] <= reached
                and self.inside[n].isdisjoint(deeper)
            )
        if u.op is Ops.REDUCE:
            self.order.append((Do.FOLD, u))
        self.order += [(Do.END, loop) for loop in reversed(ended)]
        self.order.append((Do.EVALUATE, u))


def _stores_global(u: UOp) -> bool:
    if u.op not in STORES:
        return False
    dtype = u.src[0].dtype
    return isinstance(dtype, PtrDType) and dtype.addrspace is AddrSpace.GLOBAL
