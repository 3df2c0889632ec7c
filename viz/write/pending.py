"""What a writer holds that is not on disk yet: rows, and packed blocks under construction.

Counts what rules did in each pass on the way, and keeps few of very many declines. Never touches a
file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from viz.format import schema
from viz.format.events import Columns, Events
from viz.format.pack import pack, pack_json
from viz.format.rows import Artifact, ContextRow, RewriteRow
from viz.format.texts import groups, pack_texts
from viz.write.grouping import Groups, counted
from viz.write.numbering import Numbering
from viz.write.visits import VisitCounts

DECLINES_KEPT: Final = 64
"""Declines of one rule in one rewrite that are kept one by one; the others are counted."""

_BLOCK = "INSERT INTO blocks VALUES(?,?,?,?,?)"
_RULE = "INSERT INTO rules VALUES(?,?,?,?,?,?)"
_CONTEXT = "INSERT OR REPLACE INTO contexts VALUES(?,?,?,?,?,?,?,?,?)"
_REWRITE = f"INSERT OR REPLACE INTO rewrites VALUES({','.join('?' * 19)})"
_TOTAL = "INSERT OR REPLACE INTO rule_totals VALUES(?,?,?,?,?)"
META: Final = "INSERT OR REPLACE INTO meta VALUES(?,?)"
KERNEL: Final = "INSERT OR REPLACE INTO kernels VALUES(?,?,?,?,?,?)"
_ARTIFACT = "INSERT INTO artifacts(context, kind, target, body, lines) VALUES(?,?,?,?,?)"

Statement = tuple[str, Sequence[Sequence[object]]]
"""SQL, and the rows to run it with."""


class Pending:
    """Everything since the last `_take`, and what is open. The writer adds to it; how that becomes
    rows and blocks is known here alone."""

    def __init__(self) -> None:
        self.numbers = Numbering()
        self.string = self.numbers.string
        self._contexts: dict[int, ContextRow] = {}
        self._rewrites: dict[int, RewriteRow] = {}
        self._dirty_contexts: dict[int, ContextRow] = {}
        self._dirty_rewrites: dict[int, RewriteRow] = {}
        self._totals: dict[tuple[int, int], list[int]] = {}
        self._dirty_totals: set[tuple[int, int]] = set()
        self._signatures: dict[tuple[str, ...], int] = {}
        self._rows: list[tuple[str, tuple[object, ...]]] = []
        self._events = Events()
        self._artifacts: list[Artifact] = []
        self._visits = VisitCounts()
        self._launches: list[tuple[int, int, int, int, int]] = []
        self._memory: list[tuple[int, int, int]] = []
        self._entries = 0
        self._blocks = 1
        self._event_block = 1

    def _take(self) -> list[Statement]:
        """What is new, as statements for the database; forgets that it was new."""
        rules, rows = self.numbers.rule_rows, self._rows
        blocks = self._take_blocks()
        totals = [(*key, *self._totals[key]) for key in self._dirty_totals]
        batches: list[Statement] = [
            (_BLOCK, blocks),
            (_ARTIFACT, self._take_artifacts(blocks)),
            (_RULE, rules),
            (_CONTEXT, [c.values() for c in self._dirty_contexts.values()]),
            (_REWRITE, [r.values() for r in self._dirty_rewrites.values()]),
            (_TOTAL, totals),
            *((statement, [row]) for statement, row in rows),
        ]
        self._rows, self._dirty_totals = [], set()
        self._dirty_contexts, self._dirty_rewrites = {}, {}
        return batches

    def _entry(self) -> int:
        self._entries += 1
        return self._entries

    def _take_blocks(self) -> list[tuple[object, ...]]:
        made: list[tuple[object, ...]] = []

        def add(kind: int, first: int, count: int, data: bytes) -> None:
            self._blocks += 1
            made.append((self._blocks, kind, first, count, data))

        for block in (*self.numbers.take(), *self._visits.take()):
            add(*block)
        if launches := self._launches:
            columns = list(zip(*launches, strict=True))
            add(schema.LAUNCHES, 0, len(launches), pack(columns, schema.LAUNCH_DELTA))
        if memory := self._memory:
            columns = list(zip(*memory, strict=True))
            add(schema.MEMORY, 0, len(memory), pack(columns, schema.MEMORY_DELTA))
        if self._events.kind:
            events = self._count(self._events.arrays())
            self._events = Events()
            if len(events.kind):
                block = (self._event_block, schema.EVENTS, 0, len(events.kind), events.pack())
                made.append(block)
        self._blocks += 1  # readers look for higher numbers than they have seen
        self._event_block = self._blocks
        self._launches, self._memory = [], []
        return made

    def _count(self, events: Columns) -> Columns:
        """Adds events to the counts of their rewrites and rules, and notes their block; without
        those declines that are only counted."""
        rows = {n: self._placed(n) for n in np.unique(events.rewrite).tolist()}
        for number, count in counted(events.rewrite[events.kind == schema.REBUILD]):
            rows[number].rebuilds += count
        matched = Groups(events.rewrite[events.kind == schema.MATCH], events.match[:, 0])
        for number, rule, count, ns in matched.sums(events.match[:, 3]):
            row = rows[number]
            row.matches += count
            self._add(row.name, rule, (count, 0, ns))
        declined = Groups(events.rewrite[events.kind == schema.DECLINE], events.decline[:, 0])
        seen: list[int] = []
        for number, rule, count, _ in declined.sums():
            row = rows[number]
            row.declines += count
            self._add(row.name, rule, (0, count, 0))
            seen.append(row.declined.get(rule, 0))
            row.declined[rule] = seen[-1] + count
        drop = declined.ranks(seen) >= DECLINES_KEPT
        return events.without(drop) if drop.any() else events

    def _placed(self, rewrite: int) -> RewriteRow:
        """The row of a rewrite that has events in this block."""
        row = self._rewrites.get(rewrite) or self._dirty_rewrites[rewrite]
        row.first_block = row.first_block or self._event_block
        row.last_block = self._event_block
        self._dirty_rewrites[rewrite] = row
        return row

    def _add(self, name: int, rule: int, counts: Sequence[int]) -> None:
        """Adds (matches, declines, ns) to the total of a rule in passes of a name."""
        total = self._totals.setdefault((name, rule), [0, 0, 0])
        for i, count in enumerate(counts):
            total[i] += count
        self._dirty_totals.add((name, rule))

    def _take_artifacts(self, blocks: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        """Rows of the artifacts since the last flush; adds the blocks that hold their texts."""
        artifacts, self._artifacts = self._artifacts, []
        rows: list[tuple[object, ...]] = []
        for texts in groups([a.text for a in artifacts]):
            for at, a in enumerate(artifacts[len(rows) : len(rows) + len(texts)]):
                body = {"text": [self._event_block, at], "facts": a.facts, "title": a.title}
                rows.append((a.context, a.kind, a.target, pack_json(body), a.lines))
            packed = pack_texts(texts)
            blocks.append((self._event_block, schema.TEXTS, 0, len(texts), packed))
            self._blocks += 1
            self._event_block = self._blocks
        return rows
