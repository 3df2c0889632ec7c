"""How long the tries of each rule took in each pass, as read from a file.

Packed as it was written: a large run has a row for each of some hundred thousand pairs of pass and
rule. Never counts tries that took no time of their own: `core/uop/engine/visits.py` says which do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from core.errors import TraceError
from viz.budget import take
from viz.format.blocks import TRIES
from viz.format.pack import Ints

MOST: Final = 1 << 36
"""Tries, or microseconds, in one row; more are damage."""
_KEPT: Final = 16
"""Bytes that are kept of a number."""
_SUM: Final = 300
"""Bytes of the time of a rule in a pass."""


class TryTime(NamedTuple):
    """On how many nodes the pattern of a rule was run, the microseconds that this took, and those
    of them in the function of the rule."""

    tries: int
    us: int
    function_us: int

    def __add__(self, other: object) -> TryTime:
        """Of both."""
        if not isinstance(other, TryTime):
            return NotImplemented
        return TryTime(*(a + b for a, b in zip(self, other, strict=True)))


class TryTimes:
    """The rows of one file."""

    def __init__(self) -> None:
        self._parts: list[Ints] = []
        self._sums: dict[tuple[str, int], TryTime] | None = None

    def add(self, data: bytes) -> None:
        """A block of times, which add to those before. Raises TraceError where it is damaged, and
        BudgetError."""
        columns = [*TRIES.unpack(data, each=_KEPT).values()]
        if len({len(column) for column in columns}) != 1:
            raise TraceError("a block of the times of tries is damaged")
        rows = np.stack(columns, 1)
        rows[:, 3:] = rows[:, 3:].clip(0, MOST)
        rows[:, 5] = np.minimum(rows[:, 4], rows[:, 5])
        self._parts.append(rows)
        self._sums = None

    @property
    def known(self) -> bool:
        """Whether the file says how long tries took."""
        return bool(self._parts)

    def of(self, rewrite: int) -> dict[int, TryTime]:
        """By rule, in one rewrite."""
        found: dict[int, TryTime] = {}
        for part in self._parts:
            take(1 + len(part) // 64)
            for _, _, rule, *time in part[part[:, 0] == rewrite].tolist():
                found[rule] = found.get(rule, _NONE) + TryTime(*time)
        return found

    def of_rule(self, rule: int) -> dict[int, TryTime]:
        """By rewrite, of one rule; 0 for what is known of no single one."""
        found: dict[int, TryTime] = {}
        for part in self._parts:
            take(1 + len(part) // 64)
            for rewrite, _, _, *time in part[part[:, 2] == rule].tolist():
                found[rewrite] = found.get(rewrite, _NONE) + TryTime(*time)
        return found

    def sums(
        self, name_of: Callable[[int], str | None], text: Callable[[int], str]
    ) -> dict[tuple[str, int], TryTime]:
        """By (name of the pass, rule). `name_of` a rewrite: None for one that is not there. Raises
        BudgetError."""
        if self._sums is None:
            self._sums = {}
            for key, time in self._summed(name_of, text):
                if key not in self._sums:
                    take(1, _SUM)
                self._sums[key] = self._sums.get(key, _NONE) + time
        return self._sums

    def _summed(
        self, name_of: Callable[[int], str | None], text: Callable[[int], str]
    ) -> Iterator[tuple[tuple[str, int], TryTime]]:
        """The same, for some keys in several parts."""
        for part in self._parts:
            take(1 + len(part) // 8)
            passes, which = np.unique(part[:, :2], axis=0, return_inverse=True)
            names: dict[str | None, int] = {}
            numbers = [
                names.setdefault(name_of(rewrite) if rewrite else text(name), len(names))
                for rewrite, name in passes.tolist()
            ]
            named = np.asarray(numbers, np.int64)[which.reshape(-1)]
            keys = np.stack((named, part[:, 2]), 1)
            pairs, at = np.unique(keys, axis=0, return_inverse=True)
            totals = np.zeros((len(pairs), 3), np.int64)
            np.add.at(totals, at.reshape(-1), part[:, 3:])
            by_number = [*names]
            for (number, rule), time in zip(pairs.tolist(), totals.tolist(), strict=True):
                name = by_number[number]
                if name is not None:
                    yield (name, rule), TryTime(*time)

    def __iter__(self) -> Iterator[tuple[int, int, int, TryTime]]:
        """Rewrite, pass (string; 0 for that of the rewrite), rule and time, row by row."""
        for part in self._parts:
            for rewrite, name, rule, *time in part.tolist():
                yield rewrite, name, rule, TryTime(*time)


_NONE: Final = TryTime(0, 0, 0)
