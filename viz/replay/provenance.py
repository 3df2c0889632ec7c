"""Which nodes of a kernel's AST every later node comes from.

A rebuilt node has the origins of its older self. A node that a match made has those of a node that
the match consumed and that did the same: a new LOAD comes from the old LOAD. Otherwise it has those
of the node that was replaced, or, where that was only passing through (an INDEX that is pushed
through the AST), of what it was pushed through. A node that no event made has no origin, but for
those that only the linear program has. Works on the numbers of a trace and on live nodes alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final, Generic, TypeVar

import numpy as np

from viz.budget import take
from viz.format import schema
from viz.read.tracefile import TraceFile

N = TypeVar("N", bound=Hashable)
DEPTH: Final = 4
"""How far below the replaced node a match is taken to consume nodes: deeper than any pattern."""
MAX_CONSUMED: Final = 48
_FEW: Final = 512
"""Bits of a set that is gone through bit by bit."""


class Provenance(Generic[N]):
    """Origins as bit sets over the AST's nodes, in the order in which they are given; `op` says
    what a node does."""

    def __init__(
        self,
        ast: Sequence[N],
        sources: Callable[[N], Iterable[N]],
        op: Callable[[N], Hashable],
    ) -> None:
        self._sources, self._op = sources, op
        self.nbytes = 0
        """Bytes that the bit sets take, about."""
        self._set_bytes = len(ast) // 8 + 150
        self._spend(len(ast) // 2)  # a bit set is half of the bytes long on average
        self._bits: dict[N, int] = {node: 1 << i for i, node in enumerate(ast)}
        self._ops = [op(node) for node in ast]

    def _spend(self, sets: int) -> None:
        """Takes the memory of bit sets from the budget. Raises BudgetError."""
        take(sets, sets * self._set_bytes)
        self.nbytes += sets * self._set_bytes

    def match(self, before: N, after: N) -> None:
        """`before` was replaced by `after`."""
        new, kept = self._made(after)
        if not new:
            return
        self._spend(1)
        take(0, 100 * len(new))
        own = self._bits.get(before, 0)
        consumed = self._consumed(before, kept)
        inner = [n for n in consumed if self._is_own(n) and any(True for _ in self._sources(n))]
        like = {self._op(node): node for node in reversed(consumed)}
        other = 0
        for node in inner:
            other |= self._bits[node]
        if self._is_own(before) or not inner:
            like.setdefault(self._op(before), before)
            other |= own
        waiting = dict.fromkeys(new)
        if self._op(after) == self._op(before):
            self._align(after, before, waiting)
        for node in new:
            if node in waiting and self._op(node) in like:
                self._align(node, like[self._op(node)], waiting)
        for node in waiting:
            self._bits[node] = other

    def _align(self, new: N, old: N, waiting: dict[N, None]) -> None:
        """Records that `new` came from `old`, and its sources from those of `old`, as far down as
        both have the same form. Removes what is settled from `waiting`."""
        stack = [(new, old)]
        while stack:
            node, was = stack.pop()
            if node not in waiting:
                continue
            del waiting[node]
            self._bits[node] = self._bits.get(was, 0)
            pairs = list(zip(self._sources(node), self._sources(was), strict=False))
            take(len(pairs))
            stack.extend(pair for pair in pairs if self._op(pair[0]) == self._op(pair[1]))

    def _is_own(self, node: N) -> bool:
        """Whether a node does what a node of the AST that it comes from did."""
        op = self._op(node)
        bits = self._bits.get(node, 0)
        take(1 + bits.bit_length() // 512 + bits.bit_count() // 8)
        return any(self._ops[p] == op for p in positions(bits))

    def rebuild(self, old: N, new: N) -> None:
        """`new` is `old` with other sources."""
        if new not in self._bits:
            self._bits[new] = self._bits.get(old, 0)

    def of(self, node: N) -> list[int]:
        """Positions in the AST that a node comes from; none for a node of unknown origin."""
        return positions(self.bits(node))

    def bits(self, node: N) -> int:
        """The same as a bit set."""
        return self._bits.get(node, 0)

    def all(self) -> dict[N, int]:
        """The bit set of every node that has an origin."""
        return {node: bits for node, bits in self._bits.items() if bits}

    def of_program(self, nodes: Iterable[N]) -> dict[N, int]:
        """The bit sets of the nodes of a linear program. Stores in an IF lack the gate that they
        had in the graph: each comes from the store with the gate, the IF and its end from the
        stores of that gate. Any other node of unknown origin has the origins of its sources."""
        found = {node: self.bits(node) for node in nodes}
        waiting = self._unknown([node for node, bits in found.items() if not bits])
        if not waiting or not self._ops:
            return found
        like = self._alike({self._op(node) for node in waiting})
        was: dict[N, N] = {}
        gates: dict[N, int] = {}  # the stores behind each gate
        for node in waiting:
            sources = [was.get(s, s) for s in self._sources(node)]
            for twin, gate in like.get((self._op(node), *sources), ()):
                was.setdefault(node, twin)
                found[node] = found.get(node, 0) | self._bits[twin]
                if gate is not None:
                    gates[gate] = gates.get(gate, 0) | self._bits[twin]
        for node in waiting:
            if not found.get(node):
                sources = list(self._sources(node))
                of = [
                    gates.get(was.get(s, s), 0) or found.get(s, 0) | self.bits(s) for s in sources
                ]
                found[node] = reduce(or_, of, 0)
        return found

    def _unknown(self, nodes: Iterable[N]) -> list[N]:
        """These nodes without an origin, and those without one that they use, sources first."""
        found: dict[N, None] = {}
        for root in nodes:
            stack = [(root, False)]
            while stack:
                node, done = stack.pop()
                if done:
                    found[node] = None
                elif node not in found and not self._bits.get(node):
                    sources = list(self._sources(node))
                    take(1 + len(sources), 100)
                    stack.append((node, True))
                    stack.extend((source, False) for source in sources)
        return list(found)

    def _alike(self, ops: set[Hashable]) -> dict[tuple[Hashable, ...], list[tuple[N, N | None]]]:
        """The nodes of these ops that have an origin, by op and sources; and by all sources but the
        last one, which is named beside them."""
        found: dict[tuple[Hashable, ...], list[tuple[N, N | None]]] = {}
        take(len(self._bits))
        for node, bits in self._bits.items():
            if bits and (op := self._op(node)) in ops and (sources := list(self._sources(node))):
                take(1, 300)
                found.setdefault((op, *sources), []).append((node, None))
                found.setdefault((op, *sources[:-1]), []).append((node, sources[-1]))
        return found

    def _made(self, after: N) -> tuple[list[N], set[N]]:
        """The nodes of `after` that are new, and the older ones that they use."""
        new: dict[N, None] = {}
        kept: set[N] = set()
        stack = [after]
        while stack:
            node = stack.pop()
            if node in self._bits:
                kept.add(node)
            elif node not in new:
                new[node] = None
                sources = list(self._sources(node))
                take(1 + len(sources))
                stack.extend(sources)
        return list(new), kept

    def _consumed(self, before: N, kept: set[N]) -> list[N]:
        """The nodes below `before` that its replacement does not use, nearest first."""
        found: dict[N, None] = {}
        level = [before]
        for _ in range(DEPTH):
            below = [s for node in level for s in self._sources(node)]
            take(1 + len(below))
            level = [s for s in below if s not in kept]
            level = [s for s in dict.fromkeys(level) if s not in found]
            found.update(dict.fromkeys(level))
            if len(found) > MAX_CONSUMED:
                break
        return list(found)[:MAX_CONSUMED]


def positions(bits: int) -> list[int]:
    """Which bits are set, lowest first."""
    if bits.bit_length() <= _FEW or bits.bit_count() <= 8:
        found: list[int] = []
        while bits:
            low = bits & -bits
            found.append(low.bit_length() - 1)
            bits ^= low
        return found
    raw = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist()


def trace_provenance(
    file: TraceFile, ast: int, rewrites: Sequence[int]
) -> tuple[list[int], Provenance[int]]:
    """The nodes of the AST, and the origins of all nodes that these rewrites (and those nested in
    them, which must be named, too) have made."""
    nodes = file.nodes
    order = nodes.reachable(ast) if 0 < ast <= nodes.count else []
    op = nodes.field("op")
    made: Provenance[int] = Provenance(order, nodes.sources, lambda node: int(op[node]))
    if not rewrites:
        return order, made
    wanted = np.asarray(sorted(rewrites), np.int64)
    blocks = [file.rewrites[r].blocks for r in rewrites]
    for arrays in file.event_blocks.between(min(b[0] for b in blocks), max(b[1] for b in blocks)):
        take(len(arrays.rewrite))
        for at in np.flatnonzero(np.isin(arrays.rewrite, wanted)).tolist():
            row = int(arrays.row[at])
            if arrays.kind[at] == schema.MATCH:
                tell, pair = made.match, arrays.match[row, 1:3].tolist()
            elif arrays.kind[at] == schema.REBUILD:
                tell, pair = made.rebuild, arrays.rebuild[row].tolist()
            else:
                continue
            if all(0 < node <= nodes.count for node in pair):
                tell(*pair)
    return order, made
