"""The commits since which a figure is another one: change points of series over commits.

A series has the values of all runs of each commit, in the order in which the commits were first
run. A change is the split of a segment at which both sides differ most, by the difference of their
means over its standard error; the sides are split on, and each change is then placed anew between
its neighbours. Runs of a commit tell the noise.
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
_PLACED: Final = 16.0
"""Twice the logarithm of the likelihood by which another place may be worse: the place of a change
lies further away once in a thousand times."""
_ROUNDS: Final = 10
"""Times that all changes are placed anew."""
_SAMPLES: Final = 400
"""Of the bootstrap that gives the interval."""


@dataclass(frozen=True)
class Change:
    """A change at the beginning of commit number `at`: the median before and after, and the ratio
    with its interval. It may as well be at any commit from `first` to `last`."""

    at: int
    first: int
    last: int
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

    @property
    def is_small(self) -> bool:
        """Whether it is too small to be told."""
        return abs(self.after - self.before) <= LEAST * max(abs(self.before), 1e-9)


def interval_text(low: float | None, high: float | None) -> str:
    """The interval of a ratio; what had been 0 before has none."""
    return "new" if low in (None, inf) else f"{low:.3g} to {high:.3g}"


def changes(series: Sequence[Sequence[float]]) -> list[Change]:
    """The changes of a series: the values of each commit."""
    values = [np.asarray(own, np.float64) for own in series]
    are_positive = all(np.all(own > 0) for own in values)
    # the noise of a time is a share of it
    scaled = [np.log(own) for own in values] if are_positive else values
    places: list[int] = []
    _split(scaled, 0, len(values), places)
    placed = _placed(values, scaled, sorted(places))
    while placed and (least := min(placed, key=lambda one: one.size)).is_small:
        kept = [one.at for one in placed if one is not least]
        placed = _placed(values, scaled, kept)
    return placed


def _split(series: list[Values], low: int, high: int, places: list[int]) -> None:
    best = _best(series, low, high)
    if best is not None:
        places.append(best[0])
        _split(series, low, best[0], places)
        _split(series, best[0], high, places)


def _placed(series: list[Values], scaled: list[Values], places: list[int]) -> list[Change]:
    """The changes at about these places, each where it fits best between those beside it."""
    found: list[tuple[int, int, int]] = []
    for _ in range(_ROUNDS):
        ends = [0, *places, len(series)]
        parts = zip(ends, ends[2:], strict=False)
        found = [best for low, high in parts if (best := _best(scaled, low, high)) is not None]
        before, places = places, sorted({place for place, _, _ in found})
        if places == before:
            break
    ends = [0, *places, len(series)]
    return [
        _change(place, np.concatenate(series[low:at]), np.concatenate(series[at:high]))
        for low, at, high, place in zip(ends, ends[1:], ends[2:], found, strict=False)
    ]


def _best(series: list[Values], low: int, high: int) -> tuple[int, int, int] | None:
    """Where a segment is best split, and the first and the last place that is hardly worse; None
    where its sides do not differ."""
    if high - low < 2:
        return None
    whole = _limited(np.concatenate(series[low:high]))
    scores = _scores(whole, np.cumsum([len(values) for values in series[low : high - 1]]))
    place = int(np.argmax(scores))
    if scores[place] <= SCORE:
        return None
    # of a split, the squares that remain are those of the whole over 1 + score^2 / (n - 2)
    remain = np.log1p(scores**2 / (len(whole) - 2))
    near = np.flatnonzero(len(whole) * (remain[place] - remain) <= _PLACED)
    return low + 1 + place, low + 1 + int(near[0]), low + 1 + int(near[-1])


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
    """The difference of both sides over its standard error."""
    difference = abs(float(a.mean() - b.mean()))
    if not difference:
        return 0.0
    # of both sides together: two runs alone, if they happen to agree, do not tell the noise
    squares = a.var() * len(a) + b.var() * len(b)
    error = float(np.sqrt(squares / (len(a) + len(b) - 2) * (1 / len(a) + 1 / len(b))))
    floor = 1e-6 * max(abs(float(a.mean())), abs(float(b.mean())))
    weight = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    return min(difference / max(error, floor), 1e6) * (1 + 1e-6 * float(weight))


def _limited(values: Values) -> Values:
    """The values of both sides; outliers count no further than to three quartile distances from the
    median, so that a few that come together are no change."""
    count = len(values)
    low, middle, high = np.partition(values, (count // 4, count // 2, 3 * count // 4))[
        [count // 4, count // 2, 3 * count // 4]
    ]
    reach = 3 * (high - low)
    return np.clip(values, middle - reach, middle + reach) if reach else values


def _change(place: tuple[int, int, int], a: Values, b: Values) -> Change:
    random = np.random.default_rng(0)
    of_a, of_b = (np.median(random.choice(x, (_SAMPLES, len(x))), axis=1) for x in (a, b))
    ratios = of_b / np.where(of_a == 0, np.nan, of_a)
    known = ratios[~np.isnan(ratios)]
    low, high = np.percentile(known, (2.5, 97.5)) if len(known) else (inf, inf)
    return Change(*place, float(np.median(a)), float(np.median(b)), float(low), float(high))
