"""The cost of rules, per pass: nodes that their steps add and remove, and the time outside matches.

Matches, declines and times of matches are counted while recording; changed nodes are not, because
that costs a replay. So this works in slices of bounded time, and says how far it is. Of a pass that
has more steps than the page shows, only these are replayed; one that exceeds its budget is
counted as far as it goes, and the trace has a problem that says so. Never keeps a graph.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from core.errors import BudgetError
from viz.budget import Budget, within
from viz.read.records import Rewrite
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile
from viz.replay.bundle import MAX_STEPS
from viz.replay.slots import Slots

MAX_GRAPH = 400_000
"""Nodes of a graph that is still replayed; steps of larger ones are not counted."""


def untimed(files: Iterable[TraceFile]) -> dict[str, Any]:
    """Microseconds of all passes that were not spent in the functions of rules that matched: on
    walking the graph, on trying patterns, in functions that declined, and on recording. Of the run
    (`us`), and of the passes of each name, the longest first.

    A pass inside a match of another is part of that match, and counts for its own name, too.
    """
    rest: defaultdict[str, float] = defaultdict(float)
    whole = 0
    for file in files:
        for rewrite in [*file.rewrites.values()]:
            rest[rewrite.name] += rewrite.us or 0
            whole += 0 if rewrite.parent else rewrite.us or 0
        for (name, _), (_, _, ns) in [*file.totals.items()]:
            rest[file.text(name)] -= ns / 1000
    named = sorted(rest.items(), key=lambda item: -item[1])
    left = {name: us for name, us in named if us > 0}
    return {
        "us": min(whole, sum(left.values())),
        "passes": [{"pass": name, "us": us} for name, us in left.items()],
    }


class NodeCounts:
    """Added and removed nodes of one file by (pass name, rule)."""

    def __init__(self, file: TraceFile) -> None:
        self.totals: dict[tuple[str, int], tuple[int, int]] = {}
        self._file = file
        self._counted: dict[int, list[tuple[int, int, int]]] = {}
        """By pass: its rules, and how many nodes each added and removed."""
        self._lock = threading.Lock()

    @property
    def steps(self) -> tuple[int, int]:
        """Steps that have been counted, and all steps of passes that have ended."""
        ended = [r for r in [*self._file.rewrites.values()] if r.us is not None]
        counted = sum(r.matches for r in ended if r.id in self._counted)
        return counted, sum(r.matches for r in ended)

    def work(self, seconds: float) -> bool:
        """Goes on for about `seconds`; whether all that has ended is counted."""
        until = time.monotonic() + seconds
        for rewrite in list(self._file.rewrites.values()):
            if rewrite.us is None or rewrite.id in self._counted:
                continue
            if time.monotonic() >= until:
                return False
            if rewrite.matches:
                try:
                    with within(Budget("to count what some passes add and remove", seconds=5)):
                        self._note(rewrite, self._count(rewrite))
                except BudgetError as error:
                    self._file.db.problem(error.what, error.hint)
            self._counted.setdefault(rewrite.id, [])
        return True

    def of(self, rewrite: int) -> list[tuple[int, int, int]] | None:
        """The rules of a pass with how many nodes each added and removed; None where that has not
        been counted."""
        with self._lock:
            return self._counted.get(rewrite)

    def take_over(self, rewrite: Rewrite, counts: Iterable[tuple[int, int, int]]) -> None:
        """Takes over what `of` says of a pass in another process."""
        self._note(rewrite, counts)

    def learn(self, rewrite: Rewrite, counts: Sequence[tuple[int, int, int]]) -> None:
        """Takes over what another replay of all steps of a pass has found: for each step its rule
        and how many nodes it added and removed."""
        if rewrite.us is not None and len(counts) == rewrite.matches:
            self._note(rewrite, counts)

    def _note(self, rewrite: Rewrite, counts: Iterable[tuple[int, int, int]]) -> None:
        with self._lock:
            if rewrite.id in self._counted:
                return
            found: dict[int, tuple[int, int]] = {}
            for rule, added, removed in counts:
                before = found.get(rule, (0, 0))
                found[rule] = before[0] + added, before[1] + removed
            self._counted[rewrite.id] = [(rule, *both) for rule, both in found.items()]
            for rule, (added, removed) in found.items():
                before = self.totals.get((rewrite.name, rule), (0, 0))
                self.totals[rewrite.name, rule] = before[0] + added, before[1] + removed

    def _count(self, rewrite: Rewrite) -> list[tuple[int, int, int]]:
        """The same of a pass that is replayed here; what a budget cuts off is noted so far."""
        nodes = self._file.nodes
        found: list[tuple[int, int, int]] = []
        if not 0 < rewrite.sink <= nodes.count:
            return found
        # a source has a smaller number than its user
        if rewrite.sink > MAX_GRAPH and len(nodes.reachable(rewrite.sink)) > MAX_GRAPH:
            return found
        events = read_steps(self._file, rewrite, MAX_STEPS)
        op, arg = nodes.field("op"), nodes.field("arg")
        try:
            slots = Slots(rewrite.sink, nodes.sources, lambda n: (op[n], arg[n]))
            for old, new in events.leading:
                slots.rebuild(old, new)
            for i, (match, rebuilds) in enumerate(events.steps):
                slots.match(match.before, match.after)
                for old, new in rebuilds:
                    slots.rebuild(old, new)
                if i == len(events.steps) - 1 and 0 < rewrite.result <= nodes.count:
                    slots.settle(rewrite.result)
                delta = slots.take()
                found.append((match.rule, len(delta.added), len(delta.removed)))
        except BudgetError:
            self._note(rewrite, found)
            raise
        return found
