"""The time of the tries of rules, per pass and rule, that the next flush writes.

Never measures: who writes a trace does.
"""

from __future__ import annotations

from array import array

import numpy as np

from viz.format import schema
from viz.format.blocks import TRIES
from viz.format.pack import Ints
from viz.write.log import Block, Log, Taken

_KEY = 3
"""Columns that say what a row is about."""


class TryTimes:
    """Times that a writer has been told of; what is new becomes a block."""

    def __init__(self) -> None:
        self._new: Log[int] = Log()
        """The numbers of all rows, one after the other."""

    def add(
        self, rewrite: int, name: int, rule: int, tries: int, ns: int, function_ns: int
    ) -> None:
        """The pattern of `rule` was run on `tries` nodes of a rewrite (0: of rewrites called
        `name`), which took `ns`, `function_ns` of these in its function."""
        self.extend(array("q", (rewrite, name, rule, tries, ns, function_ns)))

    def extend(self, numbers: array[int]) -> None:
        """Several rows of these six numbers, one after the other."""
        self._new.extend(numbers)

    def take(self) -> Taken:
        """A block of what is new, each pass and rule once."""
        told = self._new.items()
        end = self._new.forgotten + len(told)
        return Taken(_blocks(told), lambda: self._new.forget(end))


def _blocks(told: list[int]) -> list[Block]:
    if not told:
        return []
    width = len(TRIES.names)
    rows: Ints = np.array(told, np.int64).reshape(-1, width)
    keys, which = np.unique(rows[:, :_KEY], axis=0, return_inverse=True)
    sums = np.zeros((len(keys), width - _KEY), np.int64)
    np.add.at(sums, which.reshape(-1), rows[:, _KEY:])
    sums[:, 1:] = (sums[:, 1:] + 500) // 1000
    return [Block(schema.TRIES, 0, len(keys), TRIES.pack([*keys.T, *sums.T]))]
