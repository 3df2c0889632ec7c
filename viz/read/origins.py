"""Which lines of the user's program ask for a node, in a kernel: equal nodes of several kernels are
one node, whose own field `origin` is that of the first.

A kernel that the trace says nothing of has the fields of its nodes: in older files, and in those of
compilers that tell no more. Knows numbers of texts, never texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from viz.budget import take
from viz.format.blocks import ORIGINS
from viz.read.nodes import NodeTable

_ROW: Final = 150
"""Bytes that are kept of a number in a row."""
_ROOT: Final = 0
"""Stands for the AST itself: a search changes its root, and that alone."""
OriginsOf = Callable[[int], Sequence[int]]
"""Of a node, the numbers of its origins."""


class KernelOrigins:
    """The origins of nodes in each kernel of one file."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._known: dict[tuple[int, ...], dict[int, dict[int, None]]] = {}
        """By what an AST stores, of its nodes the origins; where none is known, 0."""
        self._roots: dict[tuple[int, ...], int] = {}
        self._blocks = 0
        self._last: tuple[int, int, OriginsOf] | None = None
        """The answer for the AST that was asked for last, with how many blocks there were: passes
        of a kernel follow each other."""

    def add(self, data: bytes) -> None:
        """A block of kind ORIGINS. Raises TraceError."""
        self._blocks += 1
        for kernel, node, origin in ORIGINS.rows(data, _ROW):
            stored = self._stored(kernel)
            self._roots.setdefault(stored, kernel)
            asked = self._known.setdefault(stored, {})
            asked.setdefault(_ROOT if node == kernel else node, {})[origin] = None

    def kernels(self) -> list[int]:
        """The kernels and schedules that the trace says it of, by their ASTs and graphs."""
        return [*self._roots.values()]

    def told(self, ast: int) -> list[tuple[int, list[int]]]:
        """What the trace says of a kernel: nodes with their origins; 0: none is known. The others
        have their fields. Numbers that are of no node are left out."""
        asked = self._known.get(self._stored(ast), {})
        nodes = ((node or ast, origins) for node, origins in asked.items())
        return [(node, [*origins]) for node, origins in nodes if 0 < node <= self._nodes.count]

    def alone(self, node: int) -> Sequence[int]:
        """The origins of a node that is of no kernel: its field."""
        known = 0 < node <= self._nodes.count
        origin = int(self._nodes.field("origin")[node]) if known else 0
        return [origin] if origin else []

    def within(self, ast: int) -> OriginsOf:
        """The origins that nodes have in the kernel with this AST, or the schedule of this graph:
        its own nodes, and those that its passes make. One that is there for another kernel, too,
        has what nodes of this AST have in place of its field, if that is known. Raises
        BudgetError."""
        blocks = self._blocks
        if (last := self._last) is not None and last[:2] == (ast, blocks):
            return last[2]
        asked = self._known.get(self._stored(ast))
        if asked is None:
            return self.alone
        own: dict[int, None] = {}
        instead: dict[int, dict[int, None]] = {}
        for node in self._nodes.reachable(ast):
            found = asked.get(_ROOT if node == ast else node)
            field = self.alone(node)
            lines = field if found is None else [*found]
            take(1, _ROW * len(lines))
            own.update(dict.fromkeys(lines))
            for origin in field:
                instead.setdefault(origin, {}).update(dict.fromkeys(lines))

        def of(node: int) -> Sequence[int]:
            found = asked.get(_ROOT if node == ast else node)
            if found is None:
                field = self.alone(node)
                found = field if not field or field[0] in own else instead.get(field[0], ())
            return [origin for origin in found if origin]

        self._last = ast, blocks, of
        return of

    def _stored(self, ast: int) -> tuple[int, ...]:
        return tuple(self._nodes.sources(ast)) or (ast,)
