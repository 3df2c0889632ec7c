"""Two programs timed in turn.

What a machine does beside them slows both alike where they alternate; so each turn gives a ratio of
its own. Never compares results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

from viz.ratio import FEWEST, Ratio, ratio_of

TURNS: Final = 300
"""Most turns; SECONDS that they take at most. FEWEST are made even so."""
SECONDS: Final = 1.0
WARM: Final = 2
_MINIMUM: Final = 100e-6
"""Seconds that a turn of one program takes at least: shorter ones are launched several times."""
Launch = Callable[[], float]
"""Runs a program once; seconds."""


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


def _launched(launch: Launch, count: int) -> float:
    """Seconds of one of `count` launches."""
    return max(sum(launch() for _ in range(count)) / count, 1e-9)
