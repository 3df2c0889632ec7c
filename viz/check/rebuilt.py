"""The nodes of a trace as UOps, rebuilt strictly: what is not a graph of `core` is rejected.
Nothing in a trace is evaluated. Each node is made once per file.
"""

from __future__ import annotations

import functools
from typing import Final

from core.errors import FormatError
from core.uop.data.args import Json
from core.uop.data.serial import decode_node
from core.uop.uop import UOp
from viz.budget import take
from viz.coredialect.graph import argument
from viz.read.tracefile import TraceFile

MAX_BELOW: Final = 200_000
"""Nodes that are rebuilt for one that is asked for."""


class Rebuilt:
    """The nodes of one file."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._made: dict[int, UOp] = {}
        self._bad: set[int] = set()
        self._numbers: dict[UOp, int] = {}
        self._argument = functools.cache(argument)

    def node(self, number: int) -> UOp:
        """A node by its number in the file. Raises FormatError where it, or a node below it, is not
        one of `core`, and BudgetError."""
        nodes, made, stack = self._file.nodes, self._made, [number]
        begun = len(made)
        while stack:
            n = stack[-1]
            if n in made:
                stack.pop()
                continue
            sources = nodes.sources(n)
            take(1 + len(sources), 500)
            if n in self._bad or any(s in self._bad for s in sources):
                self._bad.update(stack)
                raise FormatError(f"node {n} of the trace is no node of this compiler")
            if todo := [s for s in sources if s not in made]:
                stack += todo
            elif len(made) - begun > MAX_BELOW:
                raise FormatError(f"more than {MAX_BELOW:,} nodes are below node {number}")
            else:
                try:
                    made[n] = self._decode(n, [made[s] for s in sources])
                except FormatError:
                    self._bad.update(stack)
                    raise
                stack.pop()
        return made[number]

    def number(self, node: UOp) -> int:
        """The number in the file of a node that was made here."""
        if len(self._numbers) != len(self._made):
            self._numbers = {u: n for n, u in reversed(self._made.items())}
        return self._numbers[node]

    def _decode(self, n: int, sources: list[UOp]) -> UOp:
        texts = [
            self._file.text(int(self._file.nodes.field(name)[n]))
            for name in ("op", "dtype", "arg", "tag")
        ]
        op, dtype, arg, tag = texts
        data: list[Json] = [
            op,
            dtype,
            [*range(len(sources))],
            self._argument(arg),
            self._argument(tag),
        ]
        return decode_node(data, sources)
