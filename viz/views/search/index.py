"""Finds rows of the navigator by name, call, rule, op or file of the whole trace.

Rules, ops and files are found through the events: an index of which rewrite has which is made per
block of events, once. An exported file is searched by the hits of a query that finds all. Never
decodes a block twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.origintext import split_origin
from viz.format import schema
from viz.format.events import Events
from viz.format.pack import Ints
from viz.read.origins import OriginsOf
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile
from viz.views.tree import calls_of

MAX_PAIRS: Final = 8_000_000
"""Pairs of a rewrite and what it contains, per kind; what is beyond cannot be searched."""
_MERGED: Final = 1_000_000
"""Pairs that wait until they are sorted into the others."""
MAX_TEXT: Final = 500
"""Longer strings are arguments, not names of ops or files."""
_LOW: Final = (1 << 32) - 1


@dataclass(frozen=True)
class Text:
    """What is shown of a hit, and what a query must be part of, whatever its case, to find it: of
    `kinds`, each with its text, the first that has the query is the kind of the hit."""

    shown: str
    kinds: tuple[tuple[str, str], ...]

    def kind(self, wanted: str) -> str | None:
        """The kind of the hit of a query, which is case-folded; None where it finds nothing."""
        return next((kind for kind, text in self.kinds if wanted in text.casefold()), None)


@dataclass(frozen=True)
class Hit:
    """A rewrite or context, by its number in the file, with a text by which it is found."""

    entry: int
    text: Text


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
        self, wanted: str, place: Callable[[str], str], until: float = float("inf")
    ) -> tuple[Iterator[Hit], float]:
        """The hits of a query, which is case-folded, or with "" of all; `place`: how "file:line" is
        shown, with or without a call. Those of a kind are in the order of the rows, those of a row
        by text. And the part of the events that has been looked at, 1.0 for all: the index grows
        until `time.monotonic()` is `until`, and on the next search goes on."""
        part = self._extend(until)
        hits = self._hits(place, wanted)
        return (hit for hit in hits if hit.text.kind(wanted) is not None), part

    def _hits(self, place: Callable[[str], str], wanted: str) -> Iterator[Hit]:
        """Of what has the query, and of some that does not."""
        file = self._file
        for entry in sorted((*file.contexts.values(), *file.rewrites.values()), key=lambda e: e.id):
            yield Hit(entry.id, Text(entry.name, ((_kind(entry), entry.name),)))
        told = {
            c.id: names for c in [*file.contexts.values()] if (names := calls_of(c)) is not None
        }
        for number, names in told.items():
            said = f"{file.contexts[number].name}: {names}"
            yield Hit(number, Text(said, (("call", names),)))
        rules = {
            r.id: Text(r.name, (("rule", r.name), ("rule", r.equation)))
            for r in [*file.rules.values()]
        }
        yield from self._in_steps("rule", rules, wanted)
        strings = {i: s for i, s in enumerate(file.strings.all) if 0 < len(s) < MAX_TEXT}
        strings = {i: s for i, s in strings.items() if wanted in s.casefold()}
        ops = {i: Text(s, (("op", s),)) for i, s in strings.items()}
        yield from self._in_steps("op", ops, wanted)
        places = {i: _place(place(s)) for i, s in strings.items()}
        for hit in self._in_steps("file", places, wanted):
            if file.rewrites[hit.entry].context in told:  # whose calls are known, and found above
                yield Hit(hit.entry, Text(hit.text.shown, hit.text.kinds[:1]))
            else:
                yield hit
        for rewrite in [*file.rewrites.values()]:
            if rewrite.caller and wanted in rewrite.caller.casefold():
                yield Hit(rewrite.id, _place(place(rewrite.caller), calls=False))

    def _in_steps(self, kind: str, texts: dict[int, Text], wanted: str) -> Iterator[Hit]:
        """The rewrites with these in their steps."""
        having = (i for i, text in texts.items() if text.kind(wanted) is not None)
        named = np.array(sorted(having, key=lambda i: texts[i].shown), np.int64)
        pairs = self._of(kind)
        pairs = pairs[np.isin(pairs & _LOW, named)]
        by_number = np.argsort(named)
        rank = by_number[np.searchsorted(named, pairs & _LOW, sorter=by_number)]
        known = self._file.rewrites
        for pair in pairs[np.lexsort((rank, pairs >> 32))].tolist():
            if pair >> 32 in known:
                yield Hit(pair >> 32, texts[pair & _LOW])

    def _of(self, kind: str) -> Ints:
        """The pairs of a kind, sorted."""
        self._merge(kind)
        return self._pairs[kind][0] if self._pairs[kind] else np.empty(0, np.int64)

    def _extend(self, until: float) -> float:
        """Indexes blocks that are new; the part of all blocks that is indexed then."""
        count = len(self._file.event_blocks)
        while self._blocks < count:
            if time.monotonic() > until:
                return self._blocks / count
            self._blocks += 1
            self._index(self._file.event_blocks.at(self._blocks - 1))
        return 1.0

    def _index(self, arrays: Events | None) -> None:
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
            if found != origins.alone:  # else the trace may still get it
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


def _kind(entry: Context | Rewrite) -> str:
    if isinstance(entry, Rewrite):
        return "pass"
    return "kernel" if entry.role == "kernel" else "group"


def _place(origin: str, calls: bool = True) -> Text:
    """A place and the call on it, where it says one, which is found as well if `calls`."""
    where, call = split_origin(origin)
    if not call:
        return Text(where, (("file", where),))
    kinds = ("file", where), ("call", f"{where} {call}")
    return Text(f"{call} at {where}", kinds[: 1 + calls])
