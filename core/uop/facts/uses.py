"""Which lines of the user's program ask for a node, in each of its uses: equal nodes are one node,
whichever line asks for them.

Kept only while an observer is attached. Never changes a node. Several lines are one text, a line
each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping
from typing import Final, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from core.uop.node import N, Node

MOST: Final = 8
"""Lines that are kept of one use of a node."""


A = TypeVar("A", bound=Node, contravariant=True)


class Uses(Protocol[A]):
    """Who asks for what, in one piece of work."""

    def asked(self, node: A, line: str) -> None:
        """`line` asks for a node."""

    def line(self, node: A) -> str | None:
        """The lines that ask for a node; None where there is none."""


def joined(first: str | None, second: str) -> str:
    """The lines of both texts, each once, `MOST` at most."""
    if not first or first == second:
        return second
    if not second:
        return first
    if second in (lines := first.split("\n")):
        return first
    return "\n".join(list(dict.fromkeys((*lines, *second.split("\n"))))[:MOST])


class Program(Generic[N]):
    """What is asked for outside of such work: a node of the Tensor graph, by every line that has
    asked since the node was last scheduled. Keeps no node alive."""

    def __init__(self) -> None:
        self._lines: WeakKeyDictionary[N, str] = WeakKeyDictionary()
        self._scheduled: WeakSet[N] = WeakSet()

    def asked(self, node: N, line: str) -> None:
        """Notes that `line` asks for a node."""
        if node in self._scheduled:
            self._scheduled.discard(node)
            self._lines[node] = line
        elif (known := self.line(node)) != line:
            self._lines[node] = joined(known, line)

    def line(self, node: N) -> str | None:
        """The lines that have asked for a node; None where none has."""
        return self._lines.get(node, node.origin)

    def scheduled(self, nodes: Collection[N]) -> dict[N, str]:
        """Kernels that compute these nodes have been made: a line that asks from here on wants them
        anew. The lines of those whose `origin` is not all."""
        self._scheduled.update(nodes)
        return {u: line for u in nodes if (line := self._lines.get(u)) and line != u.origin}


class Work(Generic[N]):
    """What is asked for while a kernel is built, or a schedule made. What is not, is known as in
    the work `around`."""

    def __init__(self, around: Uses[N]) -> None:
        self._around = around
        self.lines: dict[N, str] = {}

    def asked(self, node: N, line: str) -> None:
        """Notes that `line` asks for a node."""
        known = self.lines.get(node)
        if known != line:
            self.lines[node] = joined(known, line)

    def line(self, node: N) -> str | None:
        """The lines that have asked for a node; None where none has."""
        return self.lines.get(node) or self._around.line(node)

    def own(self, node: N) -> str | None:
        """The lines that ask for a node in this work, or in one around it; not in the program."""
        around = self._around
        return self.lines.get(node) or (around.own(node) if isinstance(around, Work) else None)


class Nobody(Generic[N]):
    """For rewrites outside of any such work: no line asks for what they make or find."""

    def asked(self, node: N, line: str) -> None:
        """Notes that `line` asks for a node."""

    def line(self, node: N) -> str | None:
        """The lines that have asked for a node; None where none has."""
        return node.origin


class KernelLines(Generic[N]):
    """The lines that ask for kernels and their nodes, by their ASTs: for what is asked for several
    times, all. Keeps no node alive."""

    def __init__(self) -> None:
        self._below: WeakKeyDictionary[N, dict[N, str]] = WeakKeyDictionary()
        self._roots: WeakKeyDictionary[N, str] = WeakKeyDictionary()

    def add(self, ast: N, lines: Mapping[N, str]) -> bool:
        """Adds lines that ask for `ast` and nodes below it; whether any of them is new."""
        below, new = self._below.setdefault(ast, {}), False
        for node, line in lines.items():
            known: MutableMapping[N, str] = self._roots if node is ast else below
            before = known.get(node)
            known[node] = joined(before, line)
            new = new or known[node] != before
        return new

    def put(self, ast: N, lines: Mapping[N, str]) -> None:
        """The lines that ask for `ast` and nodes below it, in place of what was known."""
        self._below.pop(ast, None)
        self._roots.pop(ast, None)
        self.add(ast, lines)

    def of(self, ast: N) -> dict[N, str]:
        """The lines of each node; empty where no observer was attached when the kernel was
        built."""
        root = self._roots.get(ast)
        return {**self._below.get(ast, {}), **({} if root is None else {ast: root})}
