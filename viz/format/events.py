"""Columns of an event block: appended to while writing, read back as arrays.

Holds numbers only; what they stand for is in `viz/format/schema.py`. Never touches a file.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.format import schema
from viz.format.blocks import EVENTS
from viz.format.pack import Ints, adds_up

MAX_BYTES: Final = 1 << 25
"""Of the columns of a block; several blocks are kept at once. The writer's take a few MB."""


class MatchField(IntEnum):
    """The numbers of one match. In a file the time is in us, and the number of bindings is kept
    apart from the others."""

    RULE = 0
    BEFORE = 1
    AFTER = 2
    NS = 3
    SIGNATURE = 4
    BIND_COUNT = 5


class Events:
    """Columns of the events of the next block, or of a part of it."""

    __slots__ = ("binds", "declines", "kind", "matches", "rebuilds", "rewrite")

    def __init__(self) -> None:
        self.kind = array("B")
        self.rewrite = array("q")
        """The rewrite of each event."""
        self.matches = array("q")
        """The numbers of each match; see MatchField."""
        self.binds = array("q")
        """(before - node) of each of these bindings."""
        self.rebuilds = array("q")
        """Old and new of each rebuild."""
        self.declines = array("q")
        """Rule and node of each decline."""

    def extend(self, part: Events) -> None:
        """Adds events."""
        self.kind += part.kind
        self.rewrite += part.rewrite
        self.matches += part.matches
        self.binds += part.binds
        self.rebuilds += part.rebuilds
        self.declines += part.declines

    def arrays(self) -> Columns:
        """All of them, as arrays."""
        return Columns(
            np.frombuffer(self.kind, np.uint8),
            _ints(self.rewrite),
            _ints(self.matches).reshape(-1, len(MatchField)),
            _ints(self.binds),
            _ints(self.rebuilds).reshape(-1, 2),
            _ints(self.declines).reshape(-1, 2),
        )


@dataclass(frozen=True)
class Columns:
    """Events that are to be packed; see `Events`."""

    kind: npt.NDArray[np.uint8]
    rewrite: Ints
    match: Ints
    binds: Ints
    rebuild: Ints
    decline: Ints

    def without(self, drop: npt.NDArray[np.bool_]) -> Columns:
        """All but those declines where `drop` is true."""
        kept = np.ones(len(self.kind), np.bool_)
        kept[self.kind == schema.DECLINE] = ~drop
        return replace(
            self, kind=self.kind[kept], rewrite=self.rewrite[kept], decline=self.decline[~drop]
        )

    def pack(self) -> bytes:
        """As one blob."""
        rule, before, after, ns, signature, counts = self.match.T
        matches = (rule, before, after, ns // 1000, signature, counts, self.binds)
        kind = self.kind.astype(np.int64)
        return EVENTS.pack((kind, self.rewrite, *matches, *self.rebuild.T, *self.decline.T))


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

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        own = (self.kind, self.rewrite, self.row, self.match, self.binds, self.bind_start)
        return sum(array.nbytes for array in (*own, self.rebuild, self.decline))


def read_events(blob: bytes) -> EventArrays:
    """The events of a block. Raises TraceError where the columns do not fit together."""
    columns = EVENTS.unpack(blob, MAX_BYTES)
    kind, rewrite = columns["kind"], columns["rewrite"]
    matches = [columns[f"match_{name}"] for name in ("rule", "before", "after", "us", "sig")]
    counts, binds = columns["bind_count"], columns["binds"]
    rebuilds = columns["rebuild_old"], columns["rebuild_new"]
    declines = columns["decline_rule"], columns["decline_node"]
    row = np.zeros(len(kind), np.int64)
    for code, first in (
        (schema.MATCH, matches[0]),
        (schema.REBUILD, rebuilds[0]),
        (schema.DECLINE, declines[0]),
    ):
        mine = kind == code
        if int(mine.sum()) != len(first):
            raise _unfit()
        row[mine] = np.arange(len(first))
    known = len(matches[0]) + len(rebuilds[0]) + len(declines[0]) == len(kind)
    for group in ((*matches, counts), rebuilds, declines, (kind, rewrite)):
        known = known and len({len(column) for column in group}) == 1
    if not known or not adds_up(counts, binds):
        raise _unfit()
    bind_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return EventArrays(
        kind,
        rewrite,
        row,
        np.stack(matches, axis=1),
        np.repeat(matches[MatchField.BEFORE], counts) - binds,
        bind_start,
        np.stack(rebuilds, axis=1),
        np.stack(declines, axis=1),
    )


def _ints(values: array[int]) -> Ints:
    return np.frombuffer(values, np.int64)


def _unfit() -> TraceError:
    return TraceError(
        "a block of events is damaged (its columns do not fit together)",
        hint="what other blocks hold is still shown",
    )
