"""Per-thread event log.

One flat list, a row of WIDTH items per event: an object per event would make the garbage collector
walk the whole program more often. A row is added by a single `+=`, which nothing can divide: no
other thread that takes rows meanwhile, and no exception of a signal handler (Ctrl-C). Never numbers
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, compress
from types import FrameType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from core.uop.patterns.rule import Rule
from core.uop.uop import UOp
from viz.format.schema import MATCH
from viz.recording.reports import Report

OTHER: Final = 0
"""Code of whatever is no match, rebuild or decline."""
WIDTH: Final = 6
"""Items of a row: its code; the node that came in with the event (or None); the node that it is
about, and of code OTHER a report; the rule; the nanoseconds and what was bound, of a match."""


class Open(NamedTuple):
    """A context or rewrite that has begun, and the frame that it is a block of."""

    frame: FrameType
    is_rewrite: bool


@dataclass(frozen=True)
class Batch:
    """Events of one thread in their order."""

    log: list[Any]
    codes: npt.NDArray[np.uint8]

    @property
    def others(self) -> list[Report]:
        """The reports."""
        return list(compress(self.log[2::WIDTH], (self.codes == OTHER).tolist()))

    @property
    def roots(self) -> list[UOp | None]:
        """The node that came in with each event; None for a report, which has its own."""
        return self.log[1::WIDTH]

    def nodes(self, some: npt.NDArray[np.bool_]) -> list[UOp]:
        """What some of the events are about."""
        return list(compress(self.log[2::WIDTH], some.tolist()))

    def came(self, some: npt.NDArray[np.bool_]) -> list[UOp]:
        """What came in with some of them."""
        return list(compress(self.log[1::WIDTH], some.tolist()))

    def rules(self, some: npt.NDArray[np.bool_]) -> list[Rule]:
        """The rules of some of them."""
        return list(compress(self.log[3::WIDTH], some.tolist()))

    @property
    def ns(self) -> list[int]:
        """Nanoseconds of each match."""
        return list(compress(self.log[4::WIDTH], (self.codes == MATCH).tolist()))

    @property
    def binds(self) -> list[Mapping[str, UOp]]:
        """What each match bound."""
        return list(compress(self.log[5::WIDTH], (self.codes == MATCH).tolist()))

    @property
    def bound(self) -> list[UOp]:
        """The nodes that the matches bound, one after the other."""
        return list(chain.from_iterable([binds.values() for binds in self.binds]))


class Buffer:
    """The events of one thread."""

    __slots__ = ("_inherited", "log", "open", "thread")

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.log: list[Any] = []
        """Rows. Never replaced by another list."""
        self.open: list[Open] = []
        """What is open, outermost first."""
        self._inherited = 0

    def add(self, report: Report) -> None:
        """One of the rare events."""
        log = self.log
        log += (OTHER, None, report, None, 0, None)

    @property
    def count(self) -> int:
        """How many events there are."""
        return len(self.log) // WIDTH

    def inherit(self, parent: Buffer) -> None:
        """After a fork: what was open in the thread that forked goes on in this one."""
        self.open += parent.open
        self._inherited = len(parent.open)

    @property
    def idle(self) -> bool:
        """Whether nothing is open that has begun in this process."""
        return len(self.open) <= self._inherited

    def begins(self, frame: FrameType) -> int:
        """How many of the open contexts and rewrites are around what begins in `frame`. Those whose
        frame has been left have ended unreported: an interrupt came first."""
        while self.open:
            outer, above = self.open[-1].frame, frame
            while above is not outer and above.f_back is not None:
                above = above.f_back
            if above is outer:
                break
            self.open.pop()
        return len(self.open)

    def ends(self, frame: FrameType, is_rewrite: bool) -> int:
        """Which of the open contexts or rewrites it is that ends in `frame`; -1: none, its end has
        been told already."""
        wanted = Open(frame, is_rewrite)
        return next((i for i in reversed(range(len(self.open))) if self.open[i] == wanted), -1)

    def take(self, most: int) -> Batch:
        """The first events, `most` at most; they are no longer here."""
        log = self.log[: most * WIDTH]
        del self.log[: len(log)]
        return Batch(log, np.frombuffer(bytes(log[::WIDTH]), np.uint8))

    def clear(self) -> None:
        """Forgets all events."""
        self.log.clear()
