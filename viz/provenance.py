"""Which nodes of a kernel's AST every later node comes from.

A match hands the origins of the node that it replaced to all nodes that it made; a rebuilt node has
those of its older self. Works on the numbers of a trace and on live nodes alike; never guesses: a
node that no event made has no origin.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from viz import schema
from viz.tracefile import TraceFile

N = TypeVar("N", bound=Hashable)


class Provenance(Generic[N]):
    """Origins as bit sets over the AST's nodes, in the order in which they are given."""

    def __init__(self, ast: Sequence[N], sources: Callable[[N], Iterable[N]]) -> None:
        self._sources = sources
        self._bits: dict[N, int] = {node: 1 << i for i, node in enumerate(ast)}

    def match(self, before: N, after: N) -> None:
        """`before` was replaced by `after`."""
        origin = self._bits.get(before, 0)
        stack = [after]
        while stack:
            node = stack.pop()
            if node not in self._bits:
                self._bits[node] = origin
                stack.extend(self._sources(node))

    def rebuild(self, old: N, new: N) -> None:
        """`new` is `old` with other sources."""
        if new not in self._bits:
            self._bits[new] = self._bits.get(old, 0)

    def of(self, node: N) -> list[int]:
        """Positions in the AST that a node comes from; none for a node of unknown descent."""
        return positions(self._bits.get(node, 0))

    def all(self) -> dict[N, int]:
        """The bit set of every node that has an origin."""
        return {node: bits for node, bits in self._bits.items() if bits}


def positions(bits: int) -> list[int]:
    """Which bits are set, lowest first."""
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def trace_provenance(
    file: TraceFile, ast: int, rewrites: Sequence[int]
) -> tuple[list[int], Provenance[int]]:
    """The nodes of the AST, and the origins of all nodes that these rewrites (and those nested in
    them, which must be named, too) have made."""
    nodes = file.nodes
    order = nodes.reachable(ast) if 0 < ast <= nodes.count else []
    made: Provenance[int] = Provenance(order, nodes.sources)
    if not rewrites:
        return order, made
    wanted = np.asarray(sorted(rewrites), np.int64)
    blocks = [file.rewrites[r].blocks for r in rewrites]
    for arrays in file.event_range(min(b[0] for b in blocks), max(b[1] for b in blocks)):
        for at in np.flatnonzero(np.isin(arrays.rewrite, wanted)).tolist():
            row = int(arrays.row[at])
            if arrays.kind[at] == schema.MATCH:
                before, after = arrays.match[row, 1:3].tolist()
                if 0 < before <= nodes.count and 0 < after <= nodes.count:
                    made.match(before, after)
            elif arrays.kind[at] == schema.REBUILD:
                made.rebuild(*arrays.rebuild[row].tolist())
    return order, made
