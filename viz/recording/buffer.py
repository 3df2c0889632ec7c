"""Per-thread event buffer.

Flat lists, an object only for what is rare: an object per event would make the garbage collector
walk the whole program more often. The thread appends while another may take: it adds what an event
has before the event's code, and only events whose code is there are taken. Never numbers anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeVar

from core.uop.rule import Rule
from core.uop.uop import UOp
from viz.format.schema import DECLINE, MATCH, REBUILD
from viz.recording.reports import DECLINES, MATCHES, REBUILDS, Report, RewriteBegin

T = TypeVar("T")
OTHER: Final = 0
"""Code of whatever is no match, rebuild or decline."""


@dataclass(frozen=True)
class Batch:
    """Events of one thread in their order, as in `Buffer`."""

    codes: bytes
    matches: list[Any]
    rebuilds: list[UOp]
    declines: list[Any]
    others: list[Report]

    @property
    def roots(self) -> list[UOp]:
        """The nodes that came in with the events, in their order."""
        come: dict[int, Callable[[], UOp | None]] = {
            MATCH: iter(MATCHES.column(self.matches, "after")).__next__,
            REBUILD: iter(self.new).__next__,
            OTHER: iter([other.root for other in self.others]).__next__,
        }
        found = [come[code]() for code in self.codes if code != DECLINE]
        return [node for node in found if node is not None]

    @property
    def matched(self) -> tuple[list[Rule], list[UOp], list[UOp], list[int]]:
        """Rule, before, after and nanoseconds of each match."""
        rules, before, after, ns = (
            MATCHES.column(self.matches, field) for field in ("rule", "before", "after", "ns")
        )
        return rules, before, after, ns

    @property
    def binds(self) -> list[Mapping[str, UOp]]:
        """What each match bound."""
        return MATCHES.column(self.matches, "binds")

    @property
    def bound(self) -> list[UOp]:
        """The nodes that the matches bound, one after the other."""
        return list(chain.from_iterable([binds.values() for binds in self.binds]))

    @property
    def old(self) -> list[UOp]:
        """The node of each rebuild as it was."""
        return REBUILDS.column(self.rebuilds, "old")

    @property
    def new(self) -> list[UOp]:
        """What each of these became."""
        return REBUILDS.column(self.rebuilds, "new")

    @property
    def declined(self) -> tuple[list[Rule], list[UOp]]:
        """Rule and node of each decline."""
        return DECLINES.column(self.declines, "rule"), DECLINES.column(self.declines, "node")


class Buffer:
    """The events of one thread."""

    __slots__ = ("begun", "codes", "declines", "matches", "open", "others", "rebuilds", "thread")

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.codes = bytearray()
        """MATCH, REBUILD, DECLINE or OTHER of each event."""
        self.matches: list[Any] = []
        """The fields of MATCHES, match by match."""
        self.rebuilds: list[UOp] = []
        """Those of REBUILDS."""
        self.declines: list[Any] = []
        """Those of DECLINES."""
        self.others: list[Report] = []
        self.open: list[bool] = []
        """What is open, outermost first: whether it is a rewrite."""
        self.begun: list[RewriteBegin] = []
        """Rewrites inside others in which nothing has happened yet. Most end so: their graphs are
        neither numbered nor written."""

    def add(self, report: Report) -> None:
        """One of the rare events. No call before that of the code: an interrupt (Ctrl-C) comes
        between calls, and an event without its code would give all later ones the wrong one."""
        self.others += (report,)
        self.codes.append(OTHER)

    def settle(self) -> None:
        """All that began is written down."""
        for begin in self.begun:
            self.add(begin)
        self.begun.clear()

    def take(self, most: int) -> Batch:
        """The first events, `most` at most; they are no longer here."""
        codes = bytes(self.codes[:most])
        del self.codes[: len(codes)]
        return Batch(
            codes,
            _cut(self.matches, MATCHES.width * codes.count(MATCH)),
            _cut(self.rebuilds, REBUILDS.width * codes.count(REBUILD)),
            _cut(self.declines, DECLINES.width * codes.count(DECLINE)),
            _cut(self.others, codes.count(OTHER)),
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
