"""Which nodes of a kernel's AST the lines of its texts come from, watched while it is compiled.

The same as what is worked out of a recorded compilation (`viz/replay/provenance.py`), without
recording it. Never compiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from core.toolchain.program import Artifact
from core.uop import UOp
from core.uop.engine.observe import NullObserver
from core.uop.patterns.rule import Rule
from viz.replay.provenance import Provenance, positions


class OriginObserver(NullObserver):
    """Follows the nodes of the kernel `ast`, whose `graph` is its data: origins are positions in
    that."""

    def __init__(self, ast: UOp, graph: Mapping[str, Any]) -> None:
        order = _nodes_of(ast, graph)
        self._places = list(order.values())
        self._origins = Provenance(list(order), lambda u: u.src, lambda u: u.op)

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """See Observer; so for all methods below."""
        self._origins.match(before, after)

    def rebuild(self, old: UOp, new: UOp) -> None:
        """See Observer."""
        self._origins.rebuild(old, new)

    def of_lines(self, artifact: Artifact) -> tuple[list[list[int]], list[int]]:
        """The sets of positions that lines of a text come from, each once, and the place among them
        of each line's set."""
        sets: dict[int, int] = {}
        bits = self._origins.of_program(node for line in artifact.lines for node in line)
        of_lines = (reduce(or_, (bits[node] for node in line), 0) for line in artifact.lines)
        lines = [sets.setdefault(one, len(sets)) for one in of_lines]
        found = [sorted({self._places[p] for p in positions(one)}) for one in sets]
        return found, lines


def _nodes_of(ast: UOp, graph: Mapping[str, Any]) -> dict[UOp, int]:
    """The nodes of a graph that was made of data, and where each is in it."""
    nodes: Sequence[Sequence[Any]] = graph["nodes"]
    found = {ast: int(graph["roots"][0])}
    stack = [ast]
    while stack:
        node = stack.pop()
        for source, place in zip(node.src, nodes[found[node]][2], strict=True):
            if source not in found:
                found[source] = place
                stack.append(source)
    return dict(sorted(found.items(), key=lambda item: item[1]))
