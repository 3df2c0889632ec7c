"""The events of one block: collected column by column, and read back as arrays.

Holds numbers only; what they stand for is in `viz/schema.py`. Never touches a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from core.errors import TraceError
from viz import schema
from viz.pack import Ints, adds_up, pack, unpack

MAX_BYTES: Final = 1 << 25
"""Of the columns of a block; several blocks are kept at once. The writer's take a few MB."""


class Events:
    """Columns of the events of the next block; or, without `rewrite`, of a part of one rewrite."""

    __slots__ = ("binds", "counts", "declines", "kind", "matches", "rebuilds", "rewrite")

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.rewrite: list[int] = []
        self.matches: list[int] = []
        """Rule, before, after, time in us and signature of each match."""
        self.counts: list[int] = []
        """How many nodes each match bound."""
        self.binds: list[int] = []
        """(before - node) of each of these."""
        self.rebuilds: list[int] = []
        """Old and new of each rebuild."""
        self.declines: list[int] = []
        """Rule and node of each decline."""

    @property
    def count(self) -> int:
        """How many events."""
        return len(self.kind)

    def extend(self, rewrite: int, part: Events) -> None:
        """Adds events of one rewrite."""
        self.rewrite += [rewrite] * len(part.kind)
        self.kind += part.kind
        self.matches += part.matches
        self.counts += part.counts
        self.binds += part.binds
        self.rebuilds += part.rebuilds
        self.declines += part.declines

    def pack(self) -> bytes:
        """All of them as one blob."""
        m, r, d = self.matches, self.rebuilds, self.declines
        columns = (
            self.kind,
            self.rewrite,
            *(m[i::5] for i in range(5)),
            self.counts,
            self.binds,
            *(r[i::2] for i in range(2)),
            *(d[i::2] for i in range(2)),
        )
        return pack(columns, schema.EVENT_DELTA)


@dataclass(frozen=True)
class EventArrays:
    """The events of a block. `match`, `rebuild`, `decline` hold a row per event of that kind;
    `row` is, for each event, its row there; `bind_start` (one longer than matches) cuts `binds`."""

    kind: Ints
    rewrite: Ints
    row: Ints
    match: Ints
    binds: Ints
    bind_start: Ints
    rebuild: Ints
    decline: Ints


def read_events(blob: bytes) -> EventArrays:
    """The events of a block. Raises TraceError where the columns do not fit together."""
    columns = unpack(blob, len(schema.EVENT_COLUMNS), _spend)
    kind, rewrite, *matches = columns[:7]
    counts, binds, old, new, rule, node = columns[7:]
    row = np.zeros(len(kind), np.int64)
    for code, column in ((schema.MATCH, matches[0]), (schema.REBUILD, old), (schema.DECLINE, rule)):
        mine = kind == code
        if int(mine.sum()) != len(column):
            raise _unfit()
        row[mine] = np.arange(len(column))
    lengths = {len(c) for c in matches} | {len(counts)}
    known = len(matches[0]) + len(old) + len(rule) == len(kind)
    if len(lengths) != 1 or len(old) != len(new) or len(rule) != len(node) or not known:
        raise _unfit()
    if len(rewrite) != len(kind) or not adds_up(counts, binds):
        raise _unfit()
    bind_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    bound = np.repeat(matches[1], counts) - binds
    return EventArrays(
        kind,
        rewrite,
        row,
        np.stack(matches, axis=1),
        bound,
        bind_start,
        np.stack((old, new), axis=1),
        np.stack((rule, node), axis=1),
    )


def _spend(size: int) -> None:
    if size > MAX_BYTES:
        raise TraceError(
            "a block of events is larger than any that is written",
            hint="what other blocks hold is still shown",
        )


def _unfit() -> TraceError:
    return TraceError(
        "a block of events is damaged (its columns do not fit together)",
        hint="what other blocks hold is still shown",
    )
