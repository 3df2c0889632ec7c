"""The graphs of a pass before it and after each of its steps, as plain data that a worker executes.

Equal parts of graphs are one entry, so that a step costs what it changed. Never executes anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from viz.budget import take
from viz.format.cells import parse_object
from viz.read.records import Rewrite
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile
from viz.replay.slots import Slots

MOST_WALKED: Final = 4_000_000
"""Nodes that are walked for the states of one pass; of a larger one, only its ends are made."""


@dataclass
class States:
    """`nodes`: each with op, dtype, argument, shape and the places of its sources before it;
    `roots`: of the graph before the pass, after each step that is meant, and after the pass."""

    nodes: list[tuple[str, str, str, str, tuple[int, ...]]] = field(
        default_factory=lambda: list[tuple[str, str, str, str, tuple[int, ...]]]()
    )
    roots: list[int] = field(default_factory=list[int])
    steps: list[int] = field(default_factory=list[int])
    """After which step each root but the first is; the last one is after the pass."""

    def data(self) -> dict[str, Any]:
        """Its nodes and roots as plain data."""
        return {"nodes": self.nodes, "roots": self.roots}


def states_of(file: TraceFile, rewrite: Rewrite, most: int) -> States:
    """The states of a pass. Raises BudgetError."""
    return _Maker(file).states(rewrite, most)


class _Maker:
    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._field = file.nodes.field
        self._made = States()
        self._places: dict[tuple[str, str, str, str, tuple[int, ...]], int] = {}

    def states(self, rewrite: Rewrite, most: int) -> States:
        file, made = self._file, self._made
        events = read_steps(file, rewrite, most)
        slots = Slots(rewrite.sink, file.nodes.sources, self._kind)
        for old, new in events.leading:
            slots.rebuild(old, new)
        made.roots.append(self._state(slots))
        size = len(made.nodes)
        all_of_them = size * len(events.steps) <= MOST_WALKED
        for at, (match, rebuilds) in enumerate(events.steps, 1):
            slots.match(match.before, match.after)
            for old, new in rebuilds:
                slots.rebuild(old, new)
            if all_of_them or at == len(events.steps):
                if at == len(events.steps):
                    slots.settle(rewrite.result)
                made.roots.append(self._state(slots))
                made.steps.append(at)
        return made

    def _kind(self, node: int) -> tuple[int, ...]:
        return tuple(int(self._field(name)[node]) for name in ("op", "dtype", "arg"))

    def _state(self, slots: Slots) -> int:
        """The place of the whole graph as it is now."""
        places: dict[int, int] = {}
        stack = [slots.root]
        opened: set[int] = set()
        while stack:
            slot = stack[-1]
            missing = [e for e in slots.edges[slot] if e not in places]
            if slot in places:
                stack.pop()
            elif missing and slot not in opened:
                opened.add(slot)
                stack += missing
            else:
                stack.pop()
                take(2 + len(slots.edges[slot]), 200)
                places[slot] = self._place(
                    slots.content[slot], tuple(places.get(e, 0) for e in slots.edges[slot])
                )
        return places[slots.root]

    def _place(self, node: int, sources: tuple[int, ...]) -> int:
        text = self._file.text
        op, dtype, arg, extra = (
            text(int(self._field(name)[node])) for name in ("op", "dtype", "arg", "extra")
        )
        shape = parse_object(extra).get("shape", "") if extra else ""
        key = op, dtype, arg, str(shape), sources
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self._made.nodes)
            self._made.nodes.append(key)
        return found
