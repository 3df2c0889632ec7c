"""Where rules matched: how often each rule of a file did in each of its rewrites.

Counted from the blocks of events, each once, in parts: what there is no time for is counted when
one asks again. Never runs a rule.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from viz.budget import take
from viz.format import schema
from viz.format.pack import Ints
from viz.read.tracefile import TraceFile

MAX_PAIRS: Final = 1_000_000
"""Pairs of a rule and a rewrite of one file; those of later rewrites are left out."""
_PAIR: Final = 48
"""Bytes of a pair while it is counted."""
_LOW: Final = (1 << 32) - 1


class Matches:
    """Matches of one file, by rule and rewrite."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._blocks = 0
        self._pairs = self._counts = np.empty(0, np.int64)
        self.left_out = 0
        """Pairs beyond MAX_PAIRS."""

    def work(self, seconds: float) -> bool:
        """Counts what is new, for at most that long; whether all is counted. Raises BudgetError."""
        until = time.monotonic() + seconds
        blocks = self._file.event_blocks
        count = len(blocks)
        while self._blocks < count:
            arrays = blocks.at(self._blocks)
            self._blocks += 1
            if arrays is not None:
                self._add(arrays.rewrite[arrays.kind == schema.MATCH], arrays.match[:, 0])
            if time.monotonic() > until:
                break
        return self._blocks >= count

    def by_rule(self) -> tuple[Ints, Ints, Ints]:
        """Rule, rewrite and matches; by rule, then in the order in which the rewrites began.
        Raises BudgetError."""
        take(len(self._pairs), _PAIR * len(self._pairs))
        return self._pairs >> 32, self._pairs & _LOW, self._counts

    def _add(self, rewrite: Ints, rule: Ints) -> None:
        known = (rewrite >> 31 == 0) & (rule >> 31 == 0)
        take(len(rewrite) + len(self._pairs), _PAIR * (len(rewrite) + len(self._pairs)))
        new, counts = np.unique(rule[known] << 32 | rewrite[known], return_counts=True)
        pairs, place = np.unique(np.concatenate([self._pairs, new]), return_inverse=True)
        total = np.zeros(len(pairs), np.int64)
        np.add.at(total, place, np.concatenate([self._counts, counts]))
        if len(pairs) > MAX_PAIRS:
            kept = np.sort(np.argsort(pairs & _LOW, kind="stable")[:MAX_PAIRS])
            self.left_out += len(pairs) - MAX_PAIRS
            pairs, total = pairs[kept], total[kept]
        self._pairs, self._counts = pairs, total
