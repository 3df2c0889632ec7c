"""Pairs of the runs that a server has open: the answers about what differs between them.

Cache as those of one run are, until either run has gone on. Knows nothing of HTTP.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from core.errors import TraceError
from viz.compare.answers import PairAnswer
from viz.compare.comparison import Comparison
from viz.server.answers import Encoded
from viz.server.runs.cache import Cache
from viz.server.runs.machine import Machine
from viz.server.runs.openrun import SLICE, OpenRun
from viz.share.held.run import Reopened
from viz.views.runs.run import Run
from viz.views.store import Store

KEPT: Final = 3
"""Comparisons that are kept with what they have worked out; an answer makes one anew."""


class Pairs:
    """The pairs on a `machine`. Threads may share one."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._lock = threading.Lock()
        self._comparisons: Cache[tuple[int, int], Comparison] = Cache(KEPT)
        machine.when_gone(self._forget)

    def _forget(self, serial: int) -> None:
        self._comparisons.drop(lambda key: serial in key)

    def answer(
        self, a: OpenRun, b: OpenRun, asked: PairAnswer, *values: int | str
    ) -> Encoded | None:
        """An answer of the table about runs `a` and `b`; None where there is no such subject. Made
        once, however many pages ask for it; kept if it is whole. Raises TraceError for runs of
        which there is no trace."""
        machine, path = self._machine, asked.at(*values)
        serials = a.serial, b.serial
        with machine.making.of((serials, path)):
            for run in {a, b}:
                run.refresh()
            state = machine.changes, a.state, b.state
            key = serials, path
            found = machine.answers.get(key)
            if found is not None and found[0] == state:
                return found[1]

            def make() -> tuple[bool, Encoded | None]:
                value = self._make(a, b, asked, *values)
                return asked.is_whole(value), None if value is None else Encoded.of(value)

            whole, made = machine.weight.make(make)
            if made is not None and whole and serials == (a.serial, b.serial):
                machine.answers.put(key, (state, made), made.size)
            return made

    def _make(self, a: OpenRun, b: OpenRun, asked: PairAnswer, *values: int | str) -> Any:
        runs = a.store, b.store
        held = _held(*runs, asked.at(*values))
        if held is not None:
            return held
        limits = {"seconds": SLICE} if asked.whole else {}
        return asked.make(self._comparison((a.serial, b.serial), *runs), *values, **limits)

    def _comparison(self, key: tuple[int, int], a: Run, b: Run) -> Comparison:
        with self._lock:
            made = self._comparisons.get(key)
            if made is None:
                for run in (a, b):
                    if not isinstance(run, Store):
                        raise _without_trace(run)
                assert isinstance(a, Store)
                assert isinstance(b, Store)
                made = Comparison(a, b)
                self._comparisons.put(key, made, 1)
            return made


def _held(a: Run, b: Run, path: str) -> Any:
    """What an exported file that holds both runs, and the trace of neither, says of them; None for
    nothing."""
    if isinstance(a, Reopened) and isinstance(b, Reopened):
        return a.compared(b, path)
    return None


def _without_trace(run: Run) -> TraceError:
    return TraceError(
        "this exported file holds no trace, and cannot be compared",
        where=run.path.name,
        hint="open the trace itself, or export both runs as one file",
    )
