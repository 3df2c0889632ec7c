"""The commits since which a figure is another one: change points of series over commits.

A series has the values of all runs of each commit, in the order in which the commits were first
run. A change is the split of a segment at which both sides differ most, by the difference of their
means over its standard error; the sides are split on. Runs of a commit tell the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
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
_SAMPLES: Final = 400
"""Of the bootstrap that gives the interval."""


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
        return self.after / self.before if self.before else inf

    @property
    def size(self) -> float:
        """How far the ratio is from 1, up and down alike."""
        return abs(log(self.ratio)) if 0 < self.ratio < inf else inf


def interval_text(low: float | None, high: float | None) -> str:
    """The interval of a ratio; what had been 0 before has none."""
    return "new" if low in (None, inf) else f"{low:.3g} to {high:.3g}"


def changes(series: Sequence[Sequence[float]]) -> list[Change]:
    """The changes of a series: the values of each commit."""
    found: list[Change] = []
    _split([np.asarray(values, np.float64) for values in series], 0, len(series), found)
    return sorted(found, key=lambda change: change.at)


def _split(series: list[Values], low: int, high: int, found: list[Change]) -> None:
    if high - low < 2:
        return
    whole = np.concatenate(series[low:high])
    ends = np.cumsum([len(values) for values in series[low : high - 1]])
    scores = _scores(whole, ends)
    place = int(np.argmax(scores))
    if scores[place] <= SCORE:
        return
    best = low + 1 + place
    _split(series, low, best, found)
    _split(series, best, high, found)
    change = _change(best, whole[: ends[place]], whole[ends[place] :])
    if abs(change.after - change.before) > LEAST * max(abs(change.before), 1e-9):
        found.append(change)


def _scores(whole: Values, ends: np.ndarray[Any, np.dtype[np.int64]]) -> Values:
    """For each place to split at, the difference of the means of both sides over its standard
    error."""
    if whole.min() == whole.max():
        return np.zeros(len(ends))
    return np.asarray(
        [
            _score(whole[:end], whole[end:]) if _FEWEST <= end <= len(whole) - _FEWEST else 0.0
            for end in ends.tolist()
        ]
    )


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
    count = len(values)
    low, middle, high = np.partition(values, (count // 4, count // 2, 3 * count // 4))[
        [count // 4, count // 2, 3 * count // 4]
    ]
    reach = 3 * (high - low)
    return np.clip(values, middle - reach, middle + reach) if reach else values


def _change(at: int, a: Values, b: Values) -> Change:
    random = np.random.default_rng(0)
    of_a, of_b = (np.median(random.choice(x, (_SAMPLES, len(x))), axis=1) for x in (a, b))
    ratios = of_b / np.where(of_a == 0, np.nan, of_a)
    known = ratios[~np.isnan(ratios)]
    low, high = np.percentile(known, (2.5, 97.5)) if len(known) else (inf, inf)
    return Change(at, float(np.median(a)), float(np.median(b)), float(low), float(high))
