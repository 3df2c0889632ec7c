"""How the times of two programs compare: the ratio of new to old, the interval that holds it with
95 %, and their words. The page has the same words (viz/web/src/parts/ratio.ts).

A difference is claimed only where repeated measurements leave 1 out of the interval. Never
measures.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

FEWEST: Final = 7
"""Measurements below which intervals of order statistics do not hold two medians with 95 %."""
_QUANTILE: Final = 1.96
_EACH: Final = 2.2414
"""Of the normal distribution, for an interval that holds the median 95 times of 100; and for two
that both hold theirs as often."""
Times = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Ratio:
    """Times of the new program over those of the old one, taken in turn: the median over all turns,
    and its interval. `old` and `new`: median microseconds."""

    ratio: float
    low: float
    high: float
    old: float
    new: float
    turns: int

    def data(self) -> dict[str, Any]:
        """Its fields as plain data."""
        return asdict(self)


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """How the times of turns compare."""
    ratios = sorted(b / a for a, b in pairs)
    low, high = interval(len(ratios))
    return Ratio(
        statistics.median(ratios),
        ratios[low],
        ratios[high],
        1e6 * statistics.median(a for a, _ in pairs),
        1e6 * statistics.median(b for _, b in pairs),
        len(pairs),
    )


@dataclass(frozen=True)
class Apart:
    """Times of B over those of A, that were not taken in turn: the ratio of their medians, and the
    interval that follows from those of both; `n`: measurements of the side that has fewer."""

    ratio: float
    low: float
    high: float
    n: int

    def data(self) -> dict[str, Any]:
        """Its fields as plain data."""
        return asdict(self)


def apart(a: Times, b: Times) -> Apart | None:
    """How two samples of times compare; None where one has fewer than FEWEST, or takes no time."""
    fewest = min(len(a), len(b))
    if fewest < FEWEST:
        return None
    (a_low, a_mid, a_high), (b_low, b_mid, b_high) = _median(a), _median(b)
    if not (a_low > 0 and math.isfinite(a_high) and b_low > 0 and math.isfinite(b_high)):
        return None
    return Apart(b_mid / a_mid, b_low / a_high, b_high / a_low, fewest)


def _median(times: Times) -> tuple[float, float, float]:
    """A median between the ends of its interval."""
    ordered = np.sort(times)
    low, high = interval(len(ordered), _EACH)
    return float(ordered[low]), float(np.median(ordered)), float(ordered[high])


def interval(count: int, quantile: float = _QUANTILE) -> tuple[int, int]:
    """Positions in sorted samples between which their median lies with at least 95 % confidence,
    whatever the distribution: order statistics, by the normal approximation of the binomial
    distribution (Conover, Practical Nonparametric Statistics, section 3.2)."""
    half = quantile * math.sqrt(count) / 2
    low, high = math.floor(count / 2 - half) - 1, math.ceil(count / 2 + half)
    return max(0, low), min(count - 1, high)


def figure(ratio: float) -> str:
    """`0.78×`."""
    if not ratio < 10:
        return f"{ratio:,.0f}×"
    return f"{ratio:.2f}×" if ratio >= 0.1 else f"{ratio:.2g}×"


def change_words(ratio: float) -> str:
    """`22% less time`, `40% more time`, `5.0× as fast`, `2.1× the time`."""
    if abs(ratio - 1) < 0.005:
        return "same time"
    if ratio <= 0.5:
        return f"{1 / ratio:.1f}× as fast" if ratio > 0 else "no time"
    if ratio < 2:
        more = "less" if ratio < 1 else "more"
        return f"{100 * abs(ratio - 1):.{0 if abs(ratio - 1) >= 0.01 else 1}f}% {more} time"
    return f"{ratio:.1f}× the time"


def time_words(ratio: float, low: float, high: float) -> str:
    """The same, or that there is no clear difference."""
    return "no clear difference" if low <= 1 <= high else change_words(ratio)


def interval_words(low: float, high: float) -> str:
    """`0.75 – 0.81`."""
    return " – ".join(figure(end).removesuffix("×") for end in (low, high))
