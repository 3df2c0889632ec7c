"""Events as columns of numbers: what a block of them packs, and what it is read back as.

What the numbers stand for is in `viz/format/schema.py`. Never touches a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final

import numpy as np

from core.errors import TraceError
from viz.format.blocks import EVENTS
from viz.format.pack import Ints, adds_up
from viz.format.schema import DECLINE, MATCH, REBUILD

MAX_BYTES: Final = 1 << 25
"""Of the columns of a block; several blocks are kept at once. The writer's take a few MB."""
KINDS: Final = (MATCH, REBUILD, DECLINE)
_LONGEST: Final = 1 << 53
"""us of a match; more are damage."""


class MatchField(IntEnum):
    """The numbers of one match. In a file the time is in us."""

    RULE = 0
    BEFORE = 1
    AFTER = 2
    NS = 3
    SIGNATURE = 4
    BIND_COUNT = 5


@dataclass(frozen=True, eq=False)
class Events:
    """Events in their order: the kind and the rewrite of each; a row for each match (see
    MatchField), the nodes that the matches bound, old and new of each rebuild, rule and node of
    each decline."""

    kind: Ints
    rewrite: Ints
    match: Ints
    bound: Ints
    rebuild: Ints
    decline: Ints

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def row(self) -> Ints:
        """For each event, its row among those of its kind."""
        row = np.zeros(len(self.kind), np.int64)
        for code in KINDS:
            mine = np.flatnonzero(self.kind == code)
            row[mine] = np.arange(len(mine))
        return row

    @cached_property
    def bound_start(self) -> Ints:
        """Where in `bound` the nodes of each match begin; and the end of the last."""
        return np.cumsum(np.append(0, self.match[:, MatchField.BIND_COUNT]))

    @cached_property
    def _by_rewrite(self) -> tuple[Ints, Ints]:
        """The positions of events in the order of their rewrites, and these rewrites."""
        order = np.argsort(self.rewrite, kind="stable")
        return order, self.rewrite[order]

    def of(self, rewrite: int) -> Ints:
        """The positions of the events of a rewrite, which ascend."""
        order, rewrites = self._by_rewrite
        begin, end = np.searchsorted(rewrites, (rewrite, rewrite + 1)).tolist()
        return order[begin:end]

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        own = (self.kind, self.rewrite, self.match, self.bound, self.rebuild, self.decline)
        return sum(array.nbytes for array in (*own, self.row, self.bound_start, *self._by_rewrite))

    def at(self, positions: Ints) -> Events:
        """The events at these positions, which ascend."""
        kind = self.kind[positions]
        matches, rebuilds, declines = (self.row[positions[kind == code]] for code in KINDS)
        match, begin = self.match[matches], self.bound_start[matches]
        counts = match[:, MatchField.BIND_COUNT]
        places = np.repeat(begin - np.cumsum(counts) + counts, counts)
        return Events(
            kind,
            self.rewrite[positions],
            match,
            self.bound[places + np.arange(len(places))],
            self.rebuild[rebuilds],
            self.decline[declines],
        )

    def pack(self) -> bytes:
        """As one blob."""
        rule, before, after, ns, signature, counts = self.match.T
        binds = np.repeat(before, counts) - self.bound
        matches = (rule, before, after, ns // 1000, signature, counts, binds)
        return EVENTS.pack((self.kind, self.rewrite, *matches, *self.rebuild.T, *self.decline.T))


def events_of(rows: Sequence[Sequence[int]]) -> Events:
    """Events that are told one by one: kind, rewrite and the numbers of the kind; the nodes that a
    match bound follow its own."""
    own = {code: [row[2:] for row in rows if row[0] == code] for code in KINDS}
    width = len(MatchField)
    return Events(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int64),
        np.array([row[:width] for row in own[MATCH]], np.int64).reshape(-1, width),
        np.array([node for row in own[MATCH] for node in row[width:]], np.int64),
        np.array(own[REBUILD], np.int64).reshape(-1, 2),
        np.array(own[DECLINE], np.int64).reshape(-1, 2),
    )


def joined(parts: Sequence[Events]) -> Events:
    """All events of these parts."""
    if not parts:
        return events_of(())
    return Events(
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.rewrite for part in parts]),
        np.concatenate([part.match for part in parts]),
        np.concatenate([part.bound for part in parts]),
        np.concatenate([part.rebuild for part in parts]),
        np.concatenate([part.decline for part in parts]),
    )


def read_events(blob: bytes) -> Events:
    """The events of a block. Raises TraceError where the columns do not fit together."""
    columns = EVENTS.unpack(blob, MAX_BYTES)
    kind, rewrite = columns["kind"], columns["rewrite"]
    matches = [columns[f"match_{name}"] for name in ("rule", "before", "after", "us", "sig")]
    counts, binds = columns["bind_count"], columns["binds"]
    rebuilds = columns["rebuild_old"], columns["rebuild_new"]
    declines = columns["decline_rule"], columns["decline_node"]
    groups = ((*matches, counts), rebuilds, declines, (kind, rewrite))
    fits = all(len({len(column) for column in group}) == 1 for group in groups)
    told = [int((kind == code).sum()) for code in KINDS]
    fits = fits and told == [len(group[0]) for group in groups[:3]] and sum(told) == len(kind)
    if not fits or not adds_up(counts, binds):
        raise TraceError(
            "a block of events is damaged (its columns do not fit together)",
            hint="what other blocks hold is still shown",
        )
    rule, before, after, us, signature = matches
    ns = 1000 * us.clip(0, _LONGEST)
    return Events(
        kind,
        rewrite,
        np.stack((rule, before, after, ns, signature, counts), axis=1),
        np.repeat(before, counts) - binds,
        np.stack(rebuilds, axis=1),
        np.stack(declines, axis=1),
    )
