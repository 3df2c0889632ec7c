"""Facts that a trace states itself, and facts by a function of one node: for dialects whose facts
are not worked out all at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from viz.budget import take
from viz.dialect.dialect import NO_FACT, Fact, Facts, View
from viz.format.cells import parse_object
from viz.read.tracefile import TraceFile

_SAID: Final = (str, int, float)
_SHOWN: Final = 200
"""Characters of a fact that a trace states."""
_ROLES: Final = 4000
"""Characters of the roles of the sources of a node."""
_NODE: Final = 600
"""Bytes of a node with its facts."""


class SaidFacts:
    """What the nodes of a file say of themselves in `extra`; nothing else is known of them."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._said: dict[int, Fact] = {0: NO_FACT}

    def of(self, nodes: Sequence[int]) -> list[Fact]:
        """The facts that the trace states of nodes."""
        extra = self._file.nodes.field("extra")
        return [self.said(int(extra[node])) for node in nodes]

    def said(self, extra: int) -> Fact:
        """What a string says that is the `extra` of nodes."""
        fact = self._said.get(extra)
        if fact is None:
            said = parse_object(self._file.text(extra))
            given = (said.get(k, "") for k in ("shape", "lo", "hi", "ranges"))
            texts = (str(v)[:_SHOWN] if isinstance(v, _SAID) else "" for v in given)
            roles = said.get("roles", "")
            named = roles[:_ROLES] if isinstance(roles, str) else ""
            fact = self._said[extra] = Fact(*texts, roles=named)
        return fact

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        """Nothing is left out."""
        return []


FactOf = Callable[[str, str, str, tuple[View, ...]], Fact]
"""The facts of a node with this op, dtype and argument, and of these sources."""


def each_node(fact_of: FactOf) -> Callable[[TraceFile], Facts]:
    """`Dialect.facts` by a function of one node. What a node says of itself counts for more."""
    return lambda file: _EachNode(file, fact_of)


class _EachNode:
    def __init__(self, file: TraceFile, fact_of: FactOf) -> None:
        self._file, self._fact_of = file, fact_of
        self._stated = SaidFacts(file)
        self._views: dict[int, View] = {}
        self._lock = threading.Lock()

    def of(self, nodes: Sequence[int]) -> list[Fact]:
        with self._lock:
            return [self._view(node).fact for node in nodes]

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        return []

    def _view(self, node: int) -> View:
        stack = [node]
        while stack:
            at = stack[-1]
            sources = self._file.nodes.sources(at)
            missing = [s for s in sources if s not in self._views]
            if missing:
                stack += missing
                continue
            stack.pop()
            if at not in self._views:
                take(4 + len(sources), _NODE)
                self._views[at] = self._make(at, tuple(self._views[s] for s in sources))
        return self._views[node]

    def _make(self, node: int, src: tuple[View, ...]) -> View:
        field, text = self._file.nodes.field, self._file.text
        op, dtype, arg = (text(int(field(name)[node])) for name in ("op", "dtype", "arg"))
        extra = int(field("extra")[node])
        fact = self._stated.said(extra) if extra else self._fact_of(op, dtype, arg, src)
        return View(node, op, dtype, arg, src, fact)


def view_of(file: TraceFile, facts: Facts, root: int) -> View:
    """A node with all below it. Raises BudgetError."""
    order = file.nodes.reachable(root)
    field, text = file.nodes.field, file.text
    views: dict[int, View] = {}
    for node, fact in zip(order, facts.of(order), strict=True):
        op, dtype, arg = (text(int(field(name)[node])) for name in ("op", "dtype", "arg"))
        src = tuple(views[s] for s in file.nodes.sources(node))
        take(4 + len(src), _NODE)
        views[node] = View(node, op, dtype, arg, src, fact)
    return views[root]
