"""Two programs in turn, and how their times compare: a ratio with its spread.

What a machine does beside them slows both alike where they alternate; so each turn gives a ratio of
its own. Never compares results.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

TURNS: Final = 300
"""Most turns; SECONDS that they take at most, FEWEST that are made even so."""
SECONDS: Final = 1.0
FEWEST: Final = 5
WARM: Final = 2
_MINIMUM: Final = 100e-6
"""Seconds that a turn of one program takes at least: shorter ones are launched several times."""
_QUANTILE: Final = 1.96
"""Of the normal distribution, for an interval that holds the median 95 times of 100."""
Launch = Callable[[], float]
"""Runs a program once; seconds."""


@dataclass(frozen=True)
class Ratio:
    """Times of the new program over those of the old one: the median over all turns, and the
    interval that holds it with 95 % confidence. `old` and `new`: median microseconds."""

    ratio: float
    low: float
    high: float
    old: float
    new: float
    turns: int

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def in_turn(old: Launch, new: Launch, seconds: float = SECONDS, turns: int = TURNS) -> Ratio:
    """Runs both in turn, each first in every other turn."""
    return ratio_of(pairs_in_turn(old, new, seconds, turns))


def pairs_in_turn(
    old: Launch, new: Launch, seconds: float = SECONDS, turns: int = TURNS
) -> list[tuple[float, float]]:
    """The seconds of one launch of each, turn by turn."""
    once = [min(old(), new()) for _ in range(WARM)][-1]
    count = max(1, math.ceil(_MINIMUM / max(once, 1e-9)))
    until = time.monotonic() + seconds
    pairs: list[tuple[float, float]] = []
    while len(pairs) < turns and (len(pairs) < FEWEST or time.monotonic() < until):
        if len(pairs) % 2:
            b = _launched(new, count)
            pairs.append((_launched(old, count), b))
        else:
            pairs.append((_launched(old, count), _launched(new, count)))
    return pairs


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


def interval(count: int) -> tuple[int, int]:
    """Positions in sorted samples between which their median lies with at least 95 % confidence,
    whatever the distribution: order statistics, by the normal approximation of the binomial
    distribution (Conover, Practical Nonparametric Statistics, section 3.2)."""
    half = _QUANTILE * math.sqrt(count) / 2
    low, high = math.floor(count / 2 - half) - 1, math.ceil(count / 2 + half)
    return max(0, low), min(count - 1, high)


def _launched(launch: Launch, count: int) -> float:
    """Seconds of one of `count` launches."""
    return max(sum(launch() for _ in range(count)) / count, 1e-9)
