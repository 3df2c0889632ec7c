"""Between a state that is right and one that is wrong: the first step that made it wrong.

A state that cannot be built or run says nothing, and is walked around. Knows nothing of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

MAX_UNKNOWN: Final = 48
"""States that may say nothing between one that is right and one that is wrong, until the search
gives up and names all steps between them."""
Judge = Callable[[int], bool | None]
"""Whether state n is right; None where it says nothing."""


@dataclass(frozen=True)
class Span:
    """The state `good` is right and `bad` is wrong; all between them say nothing. Where `bad` is
    the next one, the step between is what made it wrong. `asked`: states that were looked at."""

    good: int
    bad: int
    asked: int

    @property
    def found(self) -> bool:
        """Whether it is one step."""
        return self.bad == self.good + 1


def first_wrong_step(good: int, bad: int, judge: Judge) -> Span:
    """A step that leads from a right state to a wrong one, where state `good` is right and `bad`,
    a later one, wrong. By halving; of states that say nothing, those around are asked, the nearest
    to the middle first."""
    asked = 0
    silent: set[int] = set()
    while bad - good > 1 and len(silent) < MAX_UNKNOWN:
        for middle in _around(good, bad):
            if middle in silent:
                continue
            asked += 1
            said = judge(middle)
            if said is None:
                silent.add(middle)
                if len(silent) >= MAX_UNKNOWN:
                    break
                continue
            good, bad = (middle, bad) if said else (good, middle)
            break
        else:
            break
    return Span(good, bad, asked)


def _around(good: int, bad: int) -> Iterator[int]:
    """The states between two, from the middle outwards."""
    middle = (good + bad) // 2
    yield middle
    for distance in range(1, bad - good):
        if middle - distance > good:
            yield middle - distance
        if middle + distance < bad:
            yield middle + distance
