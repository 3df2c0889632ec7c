"""The matches of one file by rewrite, as arrays: what was replaced by what, and when.

Reads every block of events once, and those that are new when the program has gone on. Takes what it
keeps from the budget in force. Never replays anything.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from viz.budget import take
from viz.format.pack import Ints
from viz.read.eventblocks import EventBlocks
from viz.read.tracefile import TraceFile

_MATCH: Final = 120
"""Bytes of a match meanwhile, of which a third is kept."""
_COLUMNS: Final = 4
NOTHING: Final = np.zeros((0, _COLUMNS), np.int64)


class MatchTable:
    """All matches of a file. A row is the rule, the nodes before and after, and the place of the
    match among all events."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._parts: list[tuple[Ints, Ints]] = []
        self._read = self._events = 0
        self._rows = NOTHING
        self._ends: dict[int, tuple[int, int]] = {}

    def refresh(self, seconds: float = float("inf")) -> float:
        """Reads blocks that are new for about so long; how much has been read, 0 to 1. Raises
        BudgetError."""
        until = time.monotonic() + seconds
        blocks: EventBlocks = self._file.event_blocks
        total = len(blocks)
        begun = self._read
        while self._read < total and (self._read == begun or time.monotonic() < until):
            arrays = blocks.at(self._read)
            if arrays is not None:
                at = np.flatnonzero(arrays.kind == 1)
                take(len(arrays.kind) // 8 + 4 * len(at), _MATCH * len(at))
                rows = np.column_stack((arrays.match[:, :3], self._events + at))
                self._parts.append((arrays.rewrite[at], rows))
                self._events += len(arrays.kind)
            self._read += 1
        if self._read < total:
            return self._read / total
        if self._read > begun and self._parts:
            self._sort()
        return 1.0

    def of(self, rewrite: int) -> Ints:
        """The matches of a rewrite, in order, as far as they have been read."""
        begin, end = self._ends.get(rewrite, (0, 0))
        return self._rows[begin:end]

    def _sort(self) -> None:
        rewrites = np.concatenate([rewrite for rewrite, _ in self._parts])
        rows = np.concatenate([part for _, part in self._parts])
        order = np.argsort(rewrites, kind="stable")
        rewrites, self._rows = rewrites[order], rows[order]
        self._parts = [(rewrites, self._rows)]
        distinct, first = np.unique(rewrites, return_index=True)
        ends = np.append(first[1:], len(rewrites))
        take(len(distinct), 200 * len(distinct))
        self._ends = dict(
            zip(distinct.tolist(), zip(first.tolist(), ends.tolist(), strict=True), strict=True)
        )
