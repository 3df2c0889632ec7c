"""The event buffer of one thread: what it has reported and is not written yet.

Flat lists, a tuple only for what is rare: a tuple per event would make the garbage collector walk
the whole program more often. The thread appends while another may take: it adds what an event has
before the event's code, and only events whose code is there are taken. Never numbers anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeVar

from core.uop.rule import Rule
from core.uop.uop import UOp
from viz.format.schema import DECLINE, MATCH, REBUILD

T = TypeVar("T")
OTHER: Final = 0
"""Code of whatever is no match, rebuild or decline."""
Other = tuple[int, UOp | None, *tuple[Any, ...]]
"""What happened, the node that it is about, and what else belongs to it."""


@dataclass(frozen=True)
class Batch:
    """Events of one thread in their order, as in `Buffer`."""

    codes: bytes
    matches: list[Any]
    rebuilds: list[UOp]
    declines: list[Any]
    others: list[Other]

    @property
    def roots(self) -> list[UOp]:
        """The nodes that came in with the events, in their order."""
        come: dict[int, Callable[[], UOp | None]] = {
            MATCH: iter(self.matches[2::5]).__next__,
            REBUILD: iter(self.rebuilds[1::2]).__next__,
            OTHER: iter([other[1] for other in self.others]).__next__,
        }
        found = [come[code]() for code in self.codes if code != DECLINE]
        return [node for node in found if node is not None]

    @property
    def matched(self) -> tuple[list[Rule], list[UOp], list[UOp], list[int]]:
        """Rule, before, after and nanoseconds of each match."""
        rules, before, after, ns = (self.matches[i::5] for i in range(4))
        return rules, before, after, ns

    @property
    def binds(self) -> list[Mapping[str, UOp]]:
        """What each match bound."""
        return self.matches[4::5]

    @property
    def bound(self) -> list[UOp]:
        """The nodes that the matches bound, one after the other."""
        return list(chain.from_iterable([binds.values() for binds in self.binds]))

    @property
    def declined(self) -> tuple[list[Rule], list[UOp]]:
        """Rule and node of each decline."""
        return self.declines[0::2], self.declines[1::2]


class Buffer:
    """The events of one thread."""

    __slots__ = ("begun", "codes", "declines", "matches", "open", "others", "rebuilds", "thread")

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.codes = bytearray()
        """MATCH, REBUILD, DECLINE or OTHER of each event."""
        self.matches: list[Any] = []
        """Rule, before, after, nanoseconds and bindings of each match."""
        self.rebuilds: list[UOp] = []
        """Old and new of each rebuild."""
        self.declines: list[Any] = []
        """Rule and node of each decline."""
        self.others: list[Other] = []
        self.open: list[bool] = []
        """What is open, outermost first: whether it is a rewrite."""
        self.begun: list[Other] = []
        """Rewrites inside others in which nothing has happened yet. Most end so: their graphs are
        neither numbered nor written."""

    def add(self, *other: Any) -> None:
        """One of the rare events. No call before that of the code: an interrupt (Ctrl-C) comes
        between calls, and an event without its code would give all later ones the wrong one."""
        self.others += (other,)
        self.codes.append(OTHER)

    def settle(self) -> None:
        """All that began is written down."""
        for begin in self.begun:
            self.add(*begin)
        self.begun.clear()

    def take(self, most: int) -> Batch:
        """The first events, `most` at most; they are no longer here."""
        codes = bytes(self.codes[:most])
        del self.codes[: len(codes)]
        matches, rebuilds = 5 * codes.count(MATCH), 2 * codes.count(REBUILD)
        declines, others = 2 * codes.count(DECLINE), codes.count(OTHER)
        return Batch(
            codes,
            _cut(self.matches, matches),
            _cut(self.rebuilds, rebuilds),
            _cut(self.declines, declines),
            _cut(self.others, others),
        )

    def clear(self) -> None:
        """Forgets everything."""
        while self.codes:
            self.take(len(self.codes))


def _cut(values: list[T], count: int) -> list[T]:
    """The first values, which are removed."""
    found = values[:count]
    del values[:count]
    return found
