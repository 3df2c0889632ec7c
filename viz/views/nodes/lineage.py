"""Where nodes come from and where they go, over all passes of a schedule or a kernel.

A scope is such a context with everything in it. Its lineage is one message of flat arrays, in the
form of `Lineage` of viz/web/src/data/messages/lineage.ts: every node with the event that made it,
and every event that put a node in the place of another. The page walks it both ways, live
and in an export. Works in slices of bounded time. Never guesses: a node that no event made, and
that is not the root of the graph handed from pass to pass, has no origin. Goes no further than its
budget, and says so.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import numpy as np

from core.errors import BudgetError
from viz.budget import Budget, part, take, within
from viz.format import schema
from viz.format.events import Events
from viz.read.origins import OriginsOf
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile
from viz.replay.bundle import Ids, Numbers

MAX_NODES: Final = 300_000
MAX_EVENTS: Final = 1_000_000
UNKNOWN: Final = -1
REBUILD: Final = -1
"""In place of a rule: the same node with other sources."""
BETWEEN: Final = -2
"""In place of a rule: the root changed between two passes."""
EVENT: Final = ("rewrite", "step", "rule", "old", "new")
_NODE: Final = 200
"""Bytes that are kept of a node; _EVENT those of an event."""
_EVENT: Final = 60
_SAID: Final = 300
"""Bytes of a node or event in the message."""

Data = dict[str, Any]


class Lineage:
    """The lineage of the scope that `entry`, a context or a rewrite without one, stands for."""

    def __init__(self, file: TraceFile, entry: int) -> None:
        self._file, self._entry = file, entry
        self._scope = rewrites_in(file, entry)
        self._index: dict[int, int] = {}
        self._event_of, self._seen_in = array("q"), array("q")
        self._events = {name: array("q") for name in EVENT}
        self._event_count = 0
        self._begun: set[int] = set()
        self._steps: dict[int, int] = {}
        self._waiting: dict[int, list[int]] = {}
        """Inputs of nested passes, until the match of the pass around them says where from."""
        self._full, self._why = False, ""
        """Whether there is more than the message takes, and why, if it was the budget."""
        self._budget = Budget("the history of this scope", seconds=math.inf)
        self._before = _before(self._scope)
        blocks = [r.blocks for r in self._scope if r.blocks[1]]
        low, high = min((b[0] for b in blocks), default=0), max((b[1] for b in blocks), default=-1)
        self._wanted = np.asarray([r.id for r in self._scope], np.int64)
        self._blocks: Iterator[Events] = iter(file.event_blocks.between(low, high))
        self._done_blocks, self._span = 0, max(1, high - low + 1)
        self.matches = sum(r.matches for r in self._scope)
        self.done = False

    def is_stale(self) -> bool:
        """Whether the program has gone on in this scope since."""
        scope = rewrites_in(self._file, self._entry)
        return len(scope) != len(self._scope) or sum(r.matches for r in scope) != self.matches

    @property
    def progress(self) -> float:
        """How much has been read, 0 to 1."""
        return 1.0 if self.done else min(0.99, self._done_blocks / self._span)

    def work(self, seconds: float) -> bool:
        """Goes on for about `seconds`; whether it is complete."""
        until = time.monotonic() + seconds
        try:
            with within(self._budget):
                while not self.done and time.monotonic() < until:
                    self._go_on()
        except BudgetError as error:
            self._full, self._why, self.done = True, f" ({error.what})", True
        return self.done

    def _go_on(self) -> None:
        arrays = None if self._full else next(self._blocks, None)
        if arrays is None:
            for rewrite in self._scope:
                self._begin(rewrite)
            self.done = True
        else:
            self._done_blocks += 1
            self._read(arrays)

    def data(self, numbers: Numbers, place: Callable[[str], str]) -> Data:
        """The message, with `numbers` of the whole run. Raises BudgetError."""
        ids, rule_id = numbers.entry, numbers.rule
        parts = len(self._index) + self._event_count
        take(4 * parts, _SAID * parts)
        file, nodes, events = self._file, list(self._index), self._events
        said = [f"only the first {len(nodes):,} nodes{self._why}"] if self._full else []
        try:
            with part(1 / 2):
                kernels = self._kernels(ids)
        except BudgetError as error:
            kernels = []
            said.append(f"no kernels: {error.what}")
        of_op, origins = file.nodes.field("op"), self._origins()
        ops, op = _tabulate([file.text(int(of_op[n])) or "?" for n in nodes])
        texts = ("\n".join(place(file.text(o)) for o in origins(n)) for n in nodes)
        lines, line = _tabulate([*texts])
        return {
            "scope": ids(self._entry),
            "ops": ops,
            "lines": lines,
            "node": {
                "id": [numbers.node(n) for n in nodes],
                "op": op,
                "line": line,
                "event": self._event_of.tolist(),
                "rewrite": [ids(r) for r in self._seen_in],
            },
            "event": {
                "rewrite": [ids(r) for r in events["rewrite"]],
                "step": events["step"].tolist(),
                "rule": [r if r < 0 else rule_id(r) for r in events["rule"]],
                "old": events["old"].tolist(),
                "new": events["new"].tolist(),
            },
            "from": self._from(ids),
            "kernels": kernels,
            "truncated": "; ".join(said) or None,
        }

    def _read(self, arrays: Events) -> None:
        known = self._file.nodes.count
        take(len(arrays.rewrite))
        for at in np.flatnonzero(np.isin(arrays.rewrite, self._wanted)).tolist():
            number, row, kind = int(arrays.rewrite[at]), int(arrays.row[at]), int(arrays.kind[at])
            rewrite = self._file.rewrites[number]
            self._begin(rewrite)
            if kind == schema.MATCH:
                rule, before, after = arrays.match[row, :3].tolist()
                step = self._steps[number] = self._steps.get(number, 0) + 1
                if 0 < before <= known and 0 < after <= known:
                    self._put(number, step, rule, before, after)
            elif kind == schema.REBUILD:
                old, new = arrays.rebuild[row].tolist()
                if 0 < old <= known and 0 < new <= known:
                    self._put(number, self._steps.get(number, 0), REBUILD, old, new)

    def _begin(self, rewrite: Rewrite) -> None:
        """The graph that a pass starts from, and those around it: what nothing made so far is an
        input."""
        new: list[Rewrite] = []
        inner: Rewrite | None = rewrite
        while inner is not None and inner.id not in self._begun:
            self._begun.add(inner.id)
            new.append(inner)
            inner = self._file.rewrites.get(inner.parent)
        for each in reversed(new):
            self._take_up(each)

    def _take_up(self, rewrite: Rewrite) -> None:
        if 0 < rewrite.sink <= self._file.nodes.count:
            fresh = self._learn(rewrite.sink, UNKNOWN, rewrite.id)
            if rewrite.parent:
                self._waiting.setdefault(rewrite.parent, []).extend(fresh)
            elif fresh:
                self._hand_over(rewrite, fresh[0])

    def _hand_over(self, rewrite: Rewrite, root: int) -> None:
        """Where the root of a pass's graph is new, it is the root that the pass before returned,
        changed by the compiler itself: with another argument, for example."""
        before = self._before.get(rewrite.id)
        if before is None:
            return
        old, ops = self._index.get(before.result), self._file.nodes.field("op")
        if old is not None and ops[before.result] == ops[rewrite.sink]:
            self._event_of[root] = self._event_count
            self._add(rewrite.id, 0, BETWEEN, old, root)

    def _add(self, *event: int) -> None:
        """An event: its values in the order of EVENT."""
        take(4, _EVENT)
        for column, value in zip(self._events.values(), event, strict=True):
            column.append(value)
        self._event_count += 1

    def _put(self, rewrite: int, step: int, rule: int, old: int, new: int) -> None:
        """An event, and the nodes that it made."""
        if self._event_count >= MAX_EVENTS:
            self._full = True
            return
        self._learn(old, UNKNOWN, rewrite)
        number = self._event_count
        if rule > 0:
            for node in self._waiting.pop(rewrite, ()):
                self._event_of[node] = number
        self._learn(new, number, rewrite)
        pair = self._index.get(old), self._index.get(new)
        if pair[0] is not None and pair[1] is not None:
            self._add(rewrite, step, rule, pair[0], pair[1])

    def _learn(self, root: int, event: int, rewrite: int) -> list[int]:
        """Takes up `root` and all below it that is new; the positions of these."""
        fresh: list[int] = []
        stack = [root]
        while stack and not self._full:
            node = stack.pop()
            if node in self._index:
                continue
            sources = self._file.nodes.sources(node)
            take(2 + len(sources), _NODE)
            self._index[node] = len(self._event_of)
            fresh.append(len(self._event_of))
            self._event_of.append(event)
            self._seen_in.append(rewrite)
            stack.extend(sources)
            self._full = len(self._event_of) >= MAX_NODES
        return fresh

    def _from(self, ids: Ids) -> Data | None:
        """The pass outside of this scope that made the graph from which it starts."""
        first = self._scope[0] if self._scope else None
        if first is None:
            return None
        mine = {r.id for r in self._scope}
        return maker(self._file, first.sink, first.id, ids, mine)

    def _origins(self) -> OriginsOf:
        """The origins of nodes in this scope."""
        first = self._scope[0].sink if self._scope else 0
        return self._file.origins.within(first)

    def _kernels(self, ids: Ids) -> list[Data]:
        """The kernels that start from a graph of this scope, with the nodes of that graph."""
        results = {r.result: r.id for r in self._scope if r.result}
        mine = {r.id for r in self._scope}
        firsts: dict[int, Rewrite] = {}
        for rewrite in [*self._file.rewrites.values()]:
            if rewrite.id not in mine and rewrite.context and rewrite.context not in firsts:
                firsts[rewrite.context] = rewrite
        found: list[Data] = []
        for context, rewrite in firsts.items():
            if rewrite.sink not in results or results[rewrite.sink] > rewrite.id:
                continue
            inside = self._file.nodes.reachable(rewrite.sink)
            take(len(inside), 20 * len(inside) + 500)
            nodes = [self._index[n] for n in inside if n in self._index]
            found.append({"scope": ids(context), "rewrite": ids(rewrite.id), "node": nodes})
        return found


def maker(
    file: TraceFile, node: int, before: int, ids: Ids, without: Collection[int] = ()
) -> Data | None:
    """The last pass before the entry `before` that returned a node, but for those of `without`."""
    for rewrite in reversed([*file.rewrites.values()] if node else []):
        if rewrite.id < before and rewrite.result == node and rewrite.id not in without:
            return {"scope": ids(scope_of(file, rewrite)), "rewrite": ids(rewrite.id)}
    return None


def scope_of(file: TraceFile, rewrite: Rewrite) -> int:
    """The context or rewrite that stands for the scope of a rewrite: the innermost schedule or
    kernel around it, or else the outermost context, or else the outermost rewrite."""
    contexts: list[Context] = []
    at = rewrite.context
    while at in file.contexts and len(contexts) < 1000:
        contexts.append(file.contexts[at])
        at = file.contexts[at].parent
    if contexts:
        named = (c.id for c in contexts if c.role)
        return next(named, contexts[-1].id)
    for _ in range(1000):
        if rewrite.parent not in file.rewrites:
            break
        rewrite = file.rewrites[rewrite.parent]
    return rewrite.id


def rewrites_in(file: TraceFile, entry: int) -> list[Rewrite]:
    """The rewrites of a scope in the order in which they began."""
    inside = {entry}
    for context in [*file.contexts.values()]:  # a context begins after the one around it
        if context.parent in inside:
            inside.add(context.id)
    found: list[Rewrite] = []
    for rewrite in sorted([*file.rewrites.values()], key=lambda r: r.id):
        if rewrite.id in inside or rewrite.context in inside or rewrite.parent in inside:
            inside.add(rewrite.id)
            found.append(rewrite)
    return found


def _before(scope: list[Rewrite]) -> dict[int, Rewrite]:
    """For each rewrite the last one before it in its context that is not inside another one."""
    found: dict[int, Rewrite] = {}
    last: dict[int, Rewrite] = {}
    for rewrite in scope:
        if rewrite.context in last:
            found[rewrite.id] = last[rewrite.context]
        if not rewrite.parent:
            last[rewrite.context] = rewrite
    return found


def _tabulate(texts: list[str]) -> tuple[list[str], list[int]]:
    """Distinct texts, and for each text its position among them; -1 for ""."""
    places: dict[str, int] = {"": -1}
    for text in texts:
        places.setdefault(text, len(places) - 1)
    return list(places)[1:], [places[text] for text in texts]
