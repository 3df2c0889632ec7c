"""Finds rows of the navigator by name, call, rule, op or file of the whole trace.

Rules, ops and files are found through the events: an index of which rewrite has which is made per
block of events, once. Never decodes a block twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.origintext import split_origin
from viz.budget import take
from viz.format import schema
from viz.format.events import EventArrays
from viz.format.pack import Ints
from viz.read.origins import OriginsOf
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile
from viz.views.tree import calls_of

MAX_HITS: Final = 200
MAX_PAIRS: Final = 8_000_000
"""Pairs of a rewrite and what it contains, per kind; what is beyond cannot be searched."""
_MERGED: Final = 1_000_000
"""Pairs that wait until they are sorted into the others."""
MAX_TEXT: Final = 500
"""Longer strings are arguments, not names of ops or files."""
_LOW: Final = (1 << 32) - 1
_PAIR: Final = 150
"""Bytes of a pair in a list."""
KINDS: Final = ("name", "call", "rule", "op", "file")


@dataclass(frozen=True)
class Hit:
    """A rewrite or context in which `text` was found."""

    entry: int
    kind: str
    text: str
    """As people read it."""


class Index:
    """Which rewrites of one file have which rules, ops and origins in their steps."""

    def __init__(self, file: TraceFile, graph_of: Callable[[Rewrite], int]) -> None:
        self._file, self._graph_of = file, graph_of
        self._origins: dict[int, OriginsOf] = {}
        """By context, of nodes in its passes."""
        self._blocks = 0
        self._pairs: dict[str, list[Ints]] = {"rule": [], "op": [], "file": []}
        self._waiting = dict.fromkeys(self._pairs, 0)

    def search(
        self, text: str, place: Callable[[str], str], until: float = float("inf")
    ) -> tuple[list[Hit], float]:
        """What has `text`, whatever its case, in what is shown of it; `place`: how "file:line" is,
        with or without a call. Hits of one file, by kind in the order of KINDS, each in the order
        of the rows, those of a row by text; and the part of the events that has been looked at, 1.0
        for all: the index grows until `time.monotonic()` is `until`, and on the next search goes
        on."""
        wanted = text.casefold()
        file = self._file
        part = self._extend(until)
        found: list[Hit] = []
        for entry in sorted((*file.contexts.values(), *file.rewrites.values()), key=lambda e: e.id):
            if wanted in entry.name.casefold():
                found.append(Hit(entry.id, "name", entry.name))
        told = {
            c.id: names for c in [*file.contexts.values()] if (names := calls_of(c)) is not None
        }
        for number, names in told.items():
            if wanted in names.casefold():
                found.append(Hit(number, "call", f"{file.contexts[number].name}: {names}"))
        strings = {
            i: s
            for i, s in enumerate(file.strings.all)
            if len(s) < MAX_TEXT and wanted in s.casefold()
        }
        origins = {i: split_origin(place(s)) for i, s in strings.items()}
        files = {i: shown(*o) for i, o in origins.items() if wanted in o[0].casefold()}
        calls = {
            i: shown(where, call)
            for i, (where, call) in origins.items()
            if i not in files and call and wanted in f"{where} {call}".casefold()
        }
        for hit in self._hits("file", calls, "call"):
            if file.rewrites[hit.entry].context not in told:
                found.append(hit)
        rules = {
            r.id: r.name
            for r in [*file.rules.values()]
            if wanted in r.name.casefold() or wanted in r.equation.casefold()
        }
        found += self._hits("rule", rules)
        found += self._hits("op", strings)
        found += self._hits("file", files)
        for rewrite in [*file.rewrites.values()]:
            if wanted in rewrite.caller.casefold():
                caller = place(rewrite.caller)
                if wanted in caller.casefold():
                    found.append(Hit(rewrite.id, "file", shown(*split_origin(caller))))
        return found, part

    def _hits(self, kind: str, names: dict[int, str], shown_as: str = "") -> list[Hit]:
        if not names:
            return []
        pairs = self._of(kind)
        kept = pairs[np.isin(pairs & _LOW, np.asarray(list(names), np.int64))].tolist()
        known = self._file.rewrites
        hits = [Hit(p >> 32, shown_as or kind, names[p & _LOW]) for p in kept if p >> 32 in known]
        return sorted(hits, key=lambda hit: (hit.entry, hit.text))

    def _of(self, kind: str) -> Ints:
        """The pairs of a kind, sorted."""
        self._merge(kind)
        return self._pairs[kind][0] if self._pairs[kind] else np.empty(0, np.int64)

    def all_of(self, kind: str, until: float) -> tuple[list[tuple[int, int]], float]:
        """Each rewrite with the number of each rule, or the string of each op or place, in its
        steps; and the part of the events that has been looked at. Raises BudgetError."""
        part = self._extend(until)
        pairs = self._of(kind)
        take(len(pairs), _PAIR * len(pairs))
        known = self._file.rewrites
        return [(p >> 32, p & _LOW) for p in pairs.tolist() if p >> 32 in known], part

    def _extend(self, until: float) -> float:
        """Indexes blocks that are new; the part of all blocks that is indexed then."""
        count = len(self._file.event_blocks)
        while self._blocks < count:
            if time.monotonic() > until:
                return self._blocks / count
            self._blocks += 1
            self._index(self._file.event_blocks.at(self._blocks - 1))
        return 1.0

    def _index(self, arrays: EventArrays | None) -> None:
        nodes = self._file.nodes
        if arrays is not None:
            rewrite = arrays.rewrite[arrays.kind == schema.MATCH]
            match = arrays.match
            known = (match[:, 1:3].min(axis=1, initial=1) > 0) & (
                match[:, 1:3].max(axis=1, initial=0) <= nodes.count
            )
            rewrite, match = rewrite[known], match[known]
            ops = nodes.field("op")
            self._add("rule", rewrite, match[:, 0])
            for column in (1, 2):
                self._add("op", rewrite, ops[match[:, column]])
            self._add("file", *self._asked(rewrite, match[:, 1]))

    def _asked(self, rewrite: Ints, node: Ints) -> tuple[Ints, Ints]:
        """Pairs of rewrite and origin: of nodes in the kernels and schedules that these are of."""
        if not self._file.origins.kernels():
            return rewrite, self._file.nodes.field("origin")[node]
        pairs = np.unique(np.stack((rewrite, node)), axis=1)
        rows = [
            (number, origin)
            for number, one in pairs.T.tolist()
            for origin in self._origins_in(number)(one)
        ]
        found = np.array(rows, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def _origins_in(self, number: int) -> OriginsOf:
        rewrite, origins = self._file.rewrites.get(number), self._file.origins
        if rewrite is None or not rewrite.context:
            return origins.alone
        found = self._origins.get(rewrite.context)
        if found is None:
            found = origins.within(self._graph_of(rewrite))
            if found != origins.alone:  # else the trace may yet say it
                self._origins[rewrite.context] = found
        return found

    def _add(self, kind: str, rewrite: Ints, value: Ints) -> None:
        """One number per pair: sorting these takes a fiftieth of the time that rows take."""
        known = (rewrite >> 31 == 0) & (value >> 31 == 0)
        if known.any():
            new = np.unique(rewrite[known] << 32 | value[known])
            self._pairs[kind].append(new)
            self._waiting[kind] += len(new)
            if self._waiting[kind] > _MERGED:
                self._merge(kind)

    def _merge(self, kind: str) -> None:
        """Makes one sorted list of a kind's pairs, of bounded length."""
        if len(self._pairs[kind]) > 1:
            merged = np.unique(np.concatenate(self._pairs[kind]))
            if len(merged) > MAX_PAIRS:
                self._file.db.problem(
                    f"only a part of the steps can be searched by {kind}: there are too many"
                )
                merged = merged[:MAX_PAIRS].copy()
            self._pairs[kind] = [merged]
        self._waiting[kind] = 0


def shown(where: str, call: str) -> str:
    """A place and the call on it, for people."""
    return f"{call} at {where}" if call else where
