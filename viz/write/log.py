"""What a trace has been told and its file does not hold yet: noted, taken, and then forgotten.

Each item is noted by one call of a builtin, which is atomic: an exception of a signal handler
(Ctrl-C) comes before or after it. A flush takes what is new from every part of
a trace without changing any, writes all of it, and has the parts forget it after that. To forget
the same twice does nothing more. So a flush that is cut off anywhere can be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """A block without its number: a kind of `viz/format/schema.py`, the first number in it, how
    many it holds, and the packed data."""

    kind: int
    first: int
    count: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """What is new in a part of a trace, as blocks, and what has the part forget it."""

    blocks: list[Block]
    forget: Callable[[], None]


class Log(Generic[T]):
    """Items in their order, of which the first ones are forgotten."""

    def __init__(self) -> None:
        self._kept: tuple[int, list[T]] = 0, []
        """How many have been forgotten, and the others: replaced by one assignment."""

    def add(self, item: T) -> None:
        """Notes one more."""
        self._kept[1].append(item)

    def extend(self, items: Iterable[T]) -> None:
        """Notes several at once. `items` is a builtin sequence, else it may be divided."""
        self._kept[1].extend(items)

    @property
    def forgotten(self) -> int:
        """How many came before those that are here."""
        return self._kept[0]

    def items(self) -> list[T]:
        """Those that are here."""
        return self._kept[1].copy()

    def forget(self, end: int) -> None:
        """Forgets the first ones, until there have been `end` of them."""
        forgotten, kept = self._kept
        if end > forgotten:
            self._kept = end, kept[end - forgotten :]
