"""One graph_rewrite as a message for the page: a node table and the delta of every step.

The form is `Bundle` of `viz/web/src/data/messages`; the live server and the export send the same.
The cost is that of the graph once plus that of the changes. Never sends more than a bounded number
of changes, nor more than the budget of one answer: what is left out is said in `truncated`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.errors import BudgetError
from core.garbage import collector_paused
from viz.budget import part, take
from viz.dialect.rundialect import CheckedFacts
from viz.read.nodes import Sources
from viz.read.origins import OriginsOf
from viz.read.records import Rewrite
from viz.read.steps import Match, RewriteSteps, read_steps
from viz.read.tracefile import TraceFile
from viz.replay.failures import Failure
from viz.replay.slots import Delta, Slots

MAX_STEPS: Final = 100_000
"""Steps of one message."""
MAX_CHANGES: Final = 1_000_000
"""Changed slots of one rewrite and their sources."""
MAX_NODES: Final = 400_000
MAX_LOOKED: Final = 50_000
"""Slots of all steps together that are looked at for circles; the last step always is."""
MAX_TEXT: Final = 2000
"""Longer names of ops, dtypes, files are cut; arguments are by the dialect."""

_NODE: Final = 700
"""Bytes of a node in the message, apart from its sources and texts."""
_DELTA: Final = 900
"""Bytes of a step."""

Ids = Callable[[int], int]
Place = Callable[[str], str]
Learn = Callable[[Rewrite, Sequence[tuple[int, int, int]]], None]
"""Hears of each step of a rewrite its rule and how many nodes it adds and removes."""


def _forget(rewrite: Rewrite, counts: Sequence[tuple[int, int, int]]) -> None:
    pass


@dataclass(frozen=True)
class Numbers:
    """Numbers in the whole run of what a file numbers by itself: contexts and rewrites, nodes,
    rules."""

    entry: Ids
    node: Ids
    rule: Ids


def make_bundle(
    file: TraceFile,
    rewrite: Rewrite,
    facts: CheckedFacts,
    numbers: Numbers,
    place: Place,
    learn: Learn = _forget,
    ast: int = 0,
) -> dict[str, Any]:
    """The bundle of `rewrite`, with `numbers` of the whole run; `place` shortens "file:line";
    `learn` hears what each step adds and removes; `ast` is that of the kernel, or the graph of the
    schedule, that the pass is of: origins are those of nodes in it. Raises BudgetError where not
    even the graph fits."""
    with collector_paused():
        return _make(file, rewrite, facts, numbers, place, learn, file.origins.within(ast))


def _make(
    file: TraceFile,
    rewrite: Rewrite,
    facts: CheckedFacts,
    numbers: Numbers,
    place: Place,
    learn: Learn,
    origins: OriginsOf,
) -> dict[str, Any]:
    rule_id = numbers.rule
    sources = Sources(file.nodes)
    with part(1 / 4):
        events = read_steps(file, rewrite, MAX_STEPS)
    replay = _Replay(file, rewrite, events, sources)
    steps_and_changes = zip(events.steps, replay.steps, strict=False)
    learn(
        rewrite, [(m.rule, len(d.added), len(d.removed)) for (m, _), (*_, d) in steps_and_changes]
    )
    table = _Table(file, sources, facts, numbers.node, place, origins)
    initial = replay.initial
    failure = None if rewrite.error is None else Failure(rewrite.error, file.nodes.count)
    for node in (*replay.all_nodes(), *(failure.nodes if failure else ())):
        table.add(node)
    steps: list[dict[str, Any]] = []
    shown: list[tuple[Match, int]] = []
    for (match, _), (slot, result, delta) in zip(events.steps, replay.steps, strict=False):
        shown.append((match, result))
        steps.append(
            {
                "rule": rule_id(match.rule),
                "us": match.us,
                "slot": slot,
                "result": result,
                "before": table.index[match.before],
                "after": table.index[match.after],
                "binds": [(name, table.index[node]) for name, node in match.binds],
                "set": [(s, table.index[node], src) for s, node, src in delta.set],
                "drop": delta.drop,
                "removed": delta.removed,
                "added": delta.added,
                "moved": delta.moved,
            }
        )
    return {
        "version": 1,
        "rewrite": numbers.entry(rewrite.id),
        "name": rewrite.name,
        "context": numbers.entry(rewrite.context) if rewrite.context else 0,
        "bottomUp": rewrite.bottom_up,
        **table.data(),
        "slots": len(replay.slots.content) if replay.slots else 0,
        "initial": {
            "slot": [slot for slot, _, _ in initial],
            "node": [table.index[node] for _, node, _ in initial],
            "src": [src for _, _, src in initial],
        },
        "root": replay.slots.root if replay.slots else 0,
        "steps": steps,
        "error": failure and failure.data(replay.slots, shown, table.index, rule_id, place),
        "truncated": " ".join((*replay.left_out(), *facts.left_out(table.order))) or None,
    }


class _Replay:
    """The slots of a rewrite from its first graph to its last."""

    def __init__(
        self, file: TraceFile, rewrite: Rewrite, events: RewriteSteps, sources: Sources
    ) -> None:
        self.events = events
        self._sources = sources
        self.initial: list[tuple[int, int, list[int]]] = []
        self.steps: list[tuple[int, int, Delta]] = []
        self.slots: Slots | None = None
        count = len(events.steps)
        self._total = max(count + 1, rewrite.matches) if events.more else count
        self._circular = 0
        """The first step that was found to put a node below itself."""
        self._why = ""
        """Why steps that were read are left out, if it was the budget."""
        known = 0 < rewrite.sink <= file.nodes.count
        # a source has a smaller number than its user
        may_be_large = known and rewrite.sink > MAX_NODES
        self._large = may_be_large and len(file.nodes.reachable(rewrite.sink, sources)) > MAX_NODES
        if known and not self._large:
            self.slots = self._begin(file, rewrite)
            try:
                with part(1 / 2):
                    self._run(self.slots, file, rewrite, events)
            except BudgetError as error:
                self._why = error.what

    def _begin(self, file: TraceFile, rewrite: Rewrite) -> Slots:
        op, arg = file.nodes.field("op"), file.nodes.field("arg")
        slots = Slots(rewrite.sink, self._sources.__getitem__, lambda n: (op[n], arg[n]))
        self.initial = [
            (s, slots.content[s], slots.edges[s]) for s in range(len(slots.content))
        ]  # every slot made from the root is part of its graph
        return slots

    def _run(self, slots: Slots, file: TraceFile, rewrite: Rewrite, events: RewriteSteps) -> None:
        for old, new in events.leading:
            slots.rebuild(old, new)
        changes, looked = 0, 0
        for i, (match, rebuilds) in enumerate(events.steps):
            slot = slots.match(match.before, match.after)
            for old, new in rebuilds:
                slots.rebuild(old, new)
            looked += len(slots.content)
            if not self._circular and looked < MAX_LOOKED:
                self._circular = i + 1 if slots.became_circular() else 0
            elif not self._circular and i == len(events.steps) - 1:
                self._circular = i + 1 if slots.is_circular() else 0
            if i == self._total - 1 and 0 < rewrite.result <= file.nodes.count:
                slots.settle(rewrite.result)
            delta = slots.take()
            changes += len(delta.drop) + sum(1 + len(src) for _, _, src in delta.set)
            self.steps.append((slot, slots.standing_for(slot), delta))
            take(8, _DELTA)
            if changes > MAX_CHANGES:
                break

    def all_nodes(self) -> Iterable[int]:
        """Every node that the message names."""
        for _, node, _ in self.initial:
            yield node
        for (match, _), (_, _, delta) in zip(self.events.steps, self.steps, strict=False):
            yield match.before
            yield match.after
            for _, node in match.binds:
                yield node
            for _, node, _ in delta.set:
                yield node

    def left_out(self) -> list[str]:
        """Sentences that say what the message does not hold."""
        said: list[str] = []
        if self._large:
            said.append(f"The graph has more than {MAX_NODES:,} nodes and is not shown.")
        elif len(self.steps) < self._total:
            said.append(
                f"Steps {len(self.steps) + 1:,} to {self._total:,} are left out: {self._cut()}."
            )
        elif self.events.cut:
            said.append(f"What comes after the last step is left out: {self.events.cut}.")
        if self._circular:
            said.append(
                f"Step {self._circular:,} puts a node below itself, which no engine does: an edge "
                "of that circle points up."
            )
        if self.events.lost:
            said.append(f"{self.events.lost:,} events are damaged and left out.")
        return said

    def _cut(self) -> str:
        """Why the last steps are left out."""
        if self._why or len(self.steps) < len(self.events.steps):
            return (
                self._why or f"the steps before change more than {MAX_CHANGES:,} nodes and sources"
            )
        return self.events.cut or "the steps before are as many as the page shows of one pass"


class _Table:
    """The content table: distinct nodes with their fields as indices of string tables."""

    def __init__(
        self,
        file: TraceFile,
        sources: Sources,
        facts: CheckedFacts,
        global_id: Ids,
        place: Place,
        origins: OriginsOf,
    ) -> None:
        self.index: dict[int, int] = {}
        self._file, self._sources, self._facts = file, sources, facts
        self._global, self._place, self._origins_of = global_id, place, origins
        self.order: list[int] = []

    def add(self, node: int) -> None:
        """Adds a node with all that it needs, sources first."""
        index, sources = self.index, self._sources
        stack = [] if node in index else [node]
        while stack:
            n = stack[-1]
            if n not in index:
                missing = [s for s in sources[n] if s not in index]
                if missing:
                    stack += missing
                    continue
                take(2 + len(sources[n]), _NODE + 40 * len(sources[n]))
                index[n] = len(self.order)
                self.order.append(n)
            stack.pop()

    def data(self) -> dict[str, Any]:
        """The string tables and the node table."""
        index, order, sources = self.index, self.order, self._sources
        facts = self._facts.of(order)
        ops, op = self._strings("op", lambda text: text or "?")
        dtypes, dtype = self._strings("dtype", str)
        args, arg = self._strings("arg", self._facts.arg_text)
        locs, loc = self._strings("loc", self._place)
        tags, tag = self._strings("tag", self._facts.arg_text)
        origins, origin = self._origins()
        shapes, shape = _tabulate([fact.shape for fact in facts])
        devices, device = _tabulate([fact.device for fact in facts])
        roles, role = _tabulate([fact.roles for fact in facts])
        return {
            "ops": ops,
            "dtypes": dtypes,
            "args": args,
            "locs": locs,
            "tags": tags,
            "shapes": shapes,
            "devices": devices,
            **({"roles": roles} if roles else {}),
            "nodes": {
                "id": [self._global(n) for n in order],
                "op": op,
                "dtype": dtype,
                "arg": arg,
                "loc": loc,
                "tag": tag,
                "shape": shape,
                "device": device,
                **({"role": role} if roles else {}),
                "lo": [fact.low for fact in facts],
                "hi": [fact.high for fact in facts],
                "ranges": [fact.ranges for fact in facts],
                "src": [[index[s] for s in sources[n]] for n in order],
                "origin": origin,
            },
            "origins": origins,
        }

    def _origins(self) -> tuple[list[str], list[int]]:
        """The origins of all nodes as table of texts, a line for each of several, and indices."""
        asked = [tuple(self._origins_of(n)) for n in self.order]
        found = [some for some in dict.fromkeys(asked) if some]
        texts: list[str] = []
        for some in found:
            lines = [_cut(self._place(self._file.text(origin))) for origin in some]
            texts.append("\n".join(dict.fromkeys(line for line in lines if line)))
            take(4 + len(texts[-1]) // 4, 2 * len(texts[-1]) + 200)
        places = {some: at for at, some in enumerate(found)}
        return texts, [places.get(some, -1) for some in asked]

    def _strings(self, field: str, show: Callable[[str], str]) -> tuple[list[str], list[int]]:
        """A field of all nodes as string table and indices; "none" is -1, but for op and dtype."""
        strings = self._file.nodes.field(field)[np.asarray(self.order, np.int64)].tolist()
        found = dict.fromkeys(strings)
        if field not in ("op", "dtype"):
            found.pop(0, None)
        texts = [self._file.text(string) for string in found]
        for text in texts:
            take(4 + len(text) // 4, 2 * min(len(text), MAX_TEXT) + 200)
        places = {string: place for place, string in enumerate(found)}
        return [_cut(show(text)) for text in texts], [places.get(s, -1) for s in strings]


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT + 100:  # leaves alone what `ArgTexts` has cut
        return text
    return f"{text[:MAX_TEXT]}... ({len(text) - MAX_TEXT} more)"


def _tabulate(texts: list[str]) -> tuple[list[str], list[int]]:
    """Distinct texts, and for each text its position among them; -1 for ""."""
    places: dict[str, int] = {"": -1}
    for text in texts:
        places.setdefault(text, len(places) - 1)
    return list(places)[1:], [places[text] for text in texts]
