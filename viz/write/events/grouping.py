"""Groups items by two integers, vectorized: counts, sums, and ranks within a group.

Knows nothing of what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from viz.format.pack import Ints


class Groups:
    """Items by `first` and `second`, which are not negative; in the order of these."""

    def __init__(self, first: Ints, second: Ints) -> None:
        self._width = int(second.max(initial=0)) + 1
        keys = first * self._width + second
        self._order = np.argsort(keys, kind="stable")
        ordered = keys[self._order]
        self._begin = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._keys = ordered[self._begin]
        self._counts = np.diff(self._begin, append=len(ordered))

    def sums(self, values: Ints | None = None) -> Iterator[tuple[int, int, int, int]]:
        """First and second number, how many items, and the sum of their `values` of each group."""
        counts = self._counts.tolist()
        total = [0] * len(counts)
        if values is not None and len(counts):
            total = np.add.reduceat(values[self._order], self._begin).tolist()
        first, second = (part.tolist() for part in np.divmod(self._keys, self._width))
        return zip(first, second, counts, total, strict=True)

    def ranks(self, before: Sequence[int]) -> Ints:
        """For each item how many of its group stand before it; `before` says for each group how
        many came earlier."""
        found = np.empty(len(self._order), np.int64)
        start = np.asarray(before, np.int64) - self._begin
        found[self._order] = np.arange(len(found)) + np.repeat(start, self._counts)
        return found


def counted(values: Ints) -> Iterator[tuple[int, int]]:
    """Each value and how often it occurs."""
    found, counts = np.unique(values, return_counts=True)
    return zip(found.tolist(), counts.tolist(), strict=True)
