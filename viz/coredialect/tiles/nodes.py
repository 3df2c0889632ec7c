"""Which nodes of a kernel's passes stand for its tiles.

A tile is known by its memory: what its DEFINE_* is, at every stage. An address in that memory, a
load, a store, or one register of a load stands for it, too; a value that is computed from loads
uses the tiles that these are of. Reads the numbers of a trace; never makes a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp
from viz.budget import take
from viz.format import schema
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile

MOST_USED: Final = 6
"""Tiles that are named as those that one value uses."""
MOST_REGISTERS: Final = 1 << 12
"""Registers of one node that are listed."""
_DEFINES: Final = frozenset({Ops.DEFINE_LOCAL.name, Ops.DEFINE_REG.name})
_ADDRESSES: Final = frozenset({Ops.INDEX.name, Ops.ADDRESS.name, Ops.AFTER.name})
_ACCESSES: Final = frozenset(op.name for op in (Ops.LOAD, Ops.STORE, Ops.LDMATRIX, Ops.COPY_ASYNC))
_INDICES: Final = frozenset({Ops.RANGE.name, Ops.SPECIAL.name})
_VALUES: Final = frozenset(
    op.name
    for op in (
        *GroupOp.Elementwise,
        *(Ops.CAST, Ops.BITCAST, Ops.GEP, Ops.VECTORIZE, Ops.WMMA, Ops.SHUFFLE, Ops.STORE),
    )
)
Memory = tuple[str, str]
"""The op and the argument of a DEFINE_*: what names a memory within a kernel."""


def nodes_of(file: TraceFile, rewrites: Sequence[Rewrite]) -> list[int]:
    """All nodes that the graphs of some rewrites had, sources first. Raises BudgetError."""
    seen: set[int] = set()
    stack: list[int] = []

    def add(nodes: Iterable[int]) -> None:
        for node in nodes:
            if 0 < node <= file.nodes.count and node not in seen:
                take(1, 100)
                seen.add(node)
                stack.append(node)

    wanted = {r.id for r in rewrites}
    for rewrite in rewrites:
        add((rewrite.sink, rewrite.result))
    blocks = [r.blocks for r in rewrites if r.blocks[1]]
    low, high = min((b[0] for b in blocks), default=0), max((b[1] for b in blocks), default=-1)
    for arrays in file.event_blocks.between(low, high):
        take(len(arrays.rewrite))
        of = arrays.rewrite.tolist()
        for kind, rewrite, row in zip(arrays.kind.tolist(), of, arrays.row.tolist(), strict=True):
            if rewrite not in wanted:
                continue
            if kind == schema.MATCH:
                add(arrays.match[row, 1:3].tolist())
            elif kind == schema.REBUILD:
                add(arrays.rebuild[row].tolist())
    while stack:
        add(file.nodes.sources(stack.pop()))
    return sorted(seen)


class Memories:
    """What the nodes of a kernel have to do with its memories."""

    def __init__(self, file: TraceFile, nodes: Sequence[int]) -> None:
        self.memory: dict[int, Memory] = {}
        """The memory that a node is, points into, loads from or stores to."""
        self.define: dict[int, int] = {}
        """The DEFINE_* of that."""
        self.used: dict[int, tuple[Memory, ...]] = {}
        """The memories whose elements a value is computed from."""
        self.accesses: list[int] = []
        """Loads and stores of memory."""
        self.instructions: list[int] = []
        """WMMAs."""
        self.indices: list[int] = []
        """Loops and hardware indices."""
        ops, args = file.nodes.field("op"), file.nodes.field("arg")
        texts: dict[int, str] = {}
        for node in nodes:
            take(3)
            number = int(ops[node])
            op = texts[number] if number in texts else texts.setdefault(number, file.text(number))
            if op in _DEFINES:
                self.memory[node], self.define[node] = (op, file.text(int(args[node]))), node
                continue
            if op == Ops.WMMA.name:
                self.instructions.append(node)
            elif op in _INDICES:
                self.indices.append(node)
            self._look(node, op, file.nodes.sources(node))

    def _look(self, node: int, op: str, sources: Sequence[int]) -> None:
        first = sources[0] if sources else 0
        known = first in self.memory
        if known and (op in _ADDRESSES or op in _ACCESSES or op == Ops.GEP.name):
            self.memory[node], self.define[node] = self.memory[first], self.define[first]
            if op in _ACCESSES:
                self.accesses.append(node)
        if op in _VALUES:
            found: dict[Memory, None] = {}
            for source in sources[1:] if op == Ops.STORE.name else sources:
                found.update(dict.fromkeys(self.used.get(source, ())))
                if source in self.memory:
                    found[self.memory[source]] = None
            if found:
                take(0, 100)
                self.used[node] = tuple(found)[:MOST_USED]


def registers(u: UOp, count: int) -> list[int] | None:
    """The registers of a register tile that a node reads or writes, of the `count` that it has;
    None where that is all of them, or differs between threads."""
    picks: list[int] | None = None
    while u.op is Ops.GEP:
        inner = [*u.arg]
        picks = inner if picks is None else [inner[p] for p in picks if p < len(inner)]
        u = u.src[0]
    place = u.src[0] if u.op in (Ops.LOAD, Ops.STORE) else u
    if place.op is not Ops.INDEX or len(place.src) < 2:
        return None
    value = u.src[1] if u.op is Ops.STORE else u
    found = _numbers(place.src[1], 1 if u is place else value.dtype.count)
    if found is None:
        return None
    chosen = found if picks is None else [found[p] for p in picks if p < len(found)]
    inside = sorted({n for n in chosen if 0 <= n < count})
    return None if len(inside) == count or not inside else inside


def _numbers(offset: UOp, count: int) -> list[int] | None:
    """The elements at a constant offset: `count` neighbours, or those of a vector of offsets."""
    if offset.op is Ops.CONST and isinstance(offset.arg, int):
        return [offset.arg + i for i in range(min(count, MOST_REGISTERS))]
    if offset.op is Ops.VCONST:
        return [n for n in offset.arg[:MOST_REGISTERS] if isinstance(n, int)]
    return None
