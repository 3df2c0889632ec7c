"""The commits since which a figure is another one: change points of series over commits.

A series has the values of all runs of each commit, in the order in which the commits were first
run. A change is the split of a segment at which both sides differ most, by the difference of their
means over its standard error; the sides are split on. Runs of a commit tell the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Values = np.ndarray[Any, np.dtype[np.float64]]
SCORE: Final = 8.0
"""Standard errors by which both sides of a change differ: with thousands of series, chance does not
reach that."""
LEAST: Final = 0.05
"""The least change that is told, as a share of the value before."""
_FEWEST: Final = 2
"""Runs on each side of a change."""


@dataclass(frozen=True)
class Change:
    """A change at the beginning of commit number `at`: the median before and after, and the ratio
    with its interval."""

    at: int
    before: float
    after: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """After over before; infinite where there was nothing."""
        return self.after / self.before if self.before else float("inf")


def changes(series: Sequence[Sequence[float]]) -> list[Change]:
    """The changes of a series: the values of each commit."""
    found: list[Change] = []
    _split([np.asarray(values, np.float64) for values in series], 0, len(series), found)
    return sorted(found, key=lambda change: change.at)


def _split(series: list[Values], low: int, high: int, found: list[Change]) -> None:
    best, score = 0, SCORE
    for at in range(low + 1, high):
        a, b = np.concatenate(series[low:at]), np.concatenate(series[at:high])
        if len(a) >= _FEWEST and len(b) >= _FEWEST and (own := _score(a, b)) > score:
            best, score = at, own
    if not best:
        return
    _split(series, low, best, found)
    _split(series, best, high, found)
    a, b = np.concatenate(series[low:best]), np.concatenate(series[best:high])
    change = _change(best, a, b)
    if abs(change.after - change.before) > LEAST * max(abs(change.before), 1e-9):
        found.append(change)


def _score(a: Values, b: Values) -> float:
    """The difference of both sides over its standard error. Outliers count no further than to
    three quartile distances from the median."""
    a, b = _limited(a), _limited(b)
    difference = abs(float(a.mean() - b.mean()))
    if not difference:
        return 0.0
    error = float(np.sqrt(a.var() / len(a) + b.var() / len(b)))
    floor = 1e-6 * max(abs(float(a.mean())), abs(float(b.mean())))
    weight = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    return min(difference / max(error, floor), 1e6) * (1 + 1e-6 * float(weight))


def _limited(values: Values) -> Values:
    low, middle, high = np.percentile(values, (25, 50, 75))
    reach = 3 * (high - low)
    return np.clip(values, middle - reach, middle + reach) if reach else values


def _change(at: int, a: Values, b: Values) -> Change:
    before, after = float(np.median(a)), float(np.median(b))
    random = np.random.default_rng(0)
    of_a, of_b = (np.median(random.choice(x, (400, len(x))), axis=1) for x in (a, b))
    ratios = of_b / np.where(of_a == 0, np.nan, of_a)
    known = ratios[~np.isnan(ratios)]
    low, high = np.percentile(known, (2.5, 97.5)) if len(known) else (float("inf"), float("inf"))
    return Change(at, before, after, float(low), float(high))
