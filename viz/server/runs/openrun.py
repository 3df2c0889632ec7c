"""One run that a server has open, and its answers.

Logic of the routes; knows nothing of HTTP.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.errors import ServerError, TraceError
from viz.server.answers import Encoded
from viz.server.runs.machine import Machine
from viz.share.reopened import open_run
from viz.terminal import shell_word
from viz.views.answers import RUN
from viz.views.runs.run import FIRST, Answer, Keep, Run
from viz.views.store import Store
from viz.views.summary import run_title

SLICE: Final = 0.1
"""Seconds that a partial answer takes; the page asks again for more."""
LIVE_SHARE: Final = 0.05
"""Of a processor, for answers that count while the program runs: it may need the rest."""
_REFRESH: Final = 0.15
"""Seconds that an answer about a live run may lag behind its trace."""


@dataclass(frozen=True)
class _Trace:
    """A trace that is open. Several may follow each other in one run of the page."""

    run: Run
    serial: int
    title: str

    @classmethod
    def of(cls, run: Run, machine: Machine) -> _Trace:
        """A run that has just been opened."""
        return cls(run, machine.new_serial(), machine.weight.make(lambda: run_title(run.run())))


class OpenRun:
    """A run on a `machine`. Threads may share one."""

    def __init__(self, store: Run, machine: Machine) -> None:
        self._trace = _Trace.of(store, machine)
        self._machine = machine
        self.former: tuple[Path, str] | None = None
        """The trace, or the run of an exported file, that was open before this one."""
        self._lock = threading.Lock()
        self._refreshed = self._sliced = 0.0
        self._changes = 0
        """Counts what may have changed answers: what was read of the trace, another trace."""
        self._seen: tuple[object, ...] = ()

    @property
    def machine(self) -> Machine:
        """The machine that it is on."""
        return self._machine

    @property
    def store(self) -> Run:
        """The trace, as it is read."""
        return self._trace.run

    @property
    def serial(self) -> int:
        """The number of the trace that is open: another one has another."""
        return self._trace.serial

    @property
    def trace(self) -> Store:
        """The trace, to compile its kernels or check its steps. Raises TraceError for an exported
        file without one."""
        return self.numbered[1]

    @property
    def numbered(self) -> tuple[int, Store]:
        """`serial` and `trace` of one moment: the run may go on with another trace at any time.
        Raises TraceError as `trace` does."""
        opened = self._trace
        if not isinstance(opened.run, Store):
            raise TraceError(
                "this exported file holds no trace",
                where=opened.run.path.name,
                hint="open the trace itself, or export it again with a larger --budget",
            )
        return opened.serial, opened.run

    def named(self, name: str) -> tuple[dict[str, Any], Path]:
        """It under a name, in the form `RunName` of the page; and its file."""
        trace = self._trace
        live, path = trace.run.live, trace.run.path
        return {"name": name, "file": path.name, "title": trace.title, "live": live}, path

    @property
    def state(self) -> int:
        """Another number whenever answers may be others."""
        return self._changes

    def close(self) -> None:
        """Closes the trace."""
        self._machine.forget(self.serial)
        self.store.close()

    def go_on(self, path: Path, held_as: str = FIRST) -> None:
        """Goes on with another trace. Raises TraceError, and keeps this one, where it is none."""
        opened = _Trace.of(open_run(path, held_as=held_as), self._machine)
        with self._lock:
            before, self._trace = self._trace, opened
            left = before.run.path, before.run.held_as
            if left != (path, held_as):
                self.former = left
            self._changes += 1
            self._seen = ()
        self._machine.forget(before.serial)
        before.run.close()

    def reopen(self) -> None:
        """Goes on with the trace that was recorded in the place of this one. Raises TraceError, and
        keeps this one, where it is none."""
        self.go_on(self.store.path, self.store.held_as)

    @property
    def is_replaced(self) -> bool:
        """Whether another file lies in the place of the trace: that before it is shown."""
        store = self.store
        return isinstance(store, Store) and store.files[0].db.is_replaced

    def _see(self, now: tuple[object, ...]) -> None:
        """Notes what the files are like now: answers are others where they are not as before."""
        self._changes += now != self._seen
        self._seen = now

    def go_back(self) -> None:
        """Goes on with the trace that was open before. Raises ServerError where there was none,
        and TraceError, and keeps this one, where it is gone."""
        if self.former is None:
            raise ServerError("no other trace was open before", hint="choose one of the list")
        self.go_on(*self.former)

    def refresh(self) -> None:
        """Brings the store up to date, if its run still goes on or its files have changed."""
        with self._lock:
            now = time.monotonic()
            if now - self._refreshed > _REFRESH:
                live, folder = self.store.live, self.store.path.parent
                if self.is_replaced:
                    self._see((True,))
                    self._refreshed = now
                    return
                # an export without its trace has no files, and never changes
                store = self.store
                files = [file.path for file in store.files] if isinstance(store, Store) else []
                seen = (live, _changed(folder), *map(_changed, files), *map(_log, files))
                if live or seen != self._seen:
                    self.store.refresh()
                    self._changes += 1
                    self._seen = seen
                self._refreshed = now

    def answer(self, asked: Answer, *values: int | str) -> Encoded | None:
        """An answer of the table; None where there is no such subject. It is made once, however
        many pages ask for it, and kept as the table says; one that is not whole is not kept."""
        machine = self._machine

        def make() -> tuple[bool, Encoded | None]:
            value = self.store.ask(asked, *values, seconds=self.slice(asked))
            if asked is RUN:
                value = self._with_actions(value)
            return asked.is_whole(value), None if value is None else Encoded.of(value)

        if asked.keep is Keep.NEVER:
            self.refresh()
            return machine.weight.make(make)[1]
        with machine.making.of((id(self), asked.at(*values))):
            trace = self._trace
            key = (trace.serial,), asked.at(*values)
            ended = asked.keep is Keep.ENDED
            if ended and (kept := machine.ended.get(key)) is not None:
                return kept
            ended = ended and not trace.run.is_open(int(values[0]))
            if not ended:
                self.refresh()
            state = machine.changes, self._changes
            found = machine.answers.get(key)
            if found is not None and found[0] == state:
                return found[1]
            whole, made = machine.weight.make(make)
            if made is not None and whole and trace is self._trace:
                if ended:
                    machine.ended.put(key, made, made.size)
                else:
                    machine.answers.put(key, (state, made), made.size)
            return made

    def slice(self, asked: Answer) -> float:
        """Seconds that an answer may take now, if it can be partial."""
        if not asked.counts or not self.store.live:
            return SLICE
        with self._lock:
            now = time.monotonic()
            since, self._sliced = now - self._sliced, now
        return min(SLICE, LIVE_SHARE * since)

    def _with_actions(self, run: dict[str, Any]) -> dict[str, Any]:
        """The run, with what can be done here."""
        store = self.store
        again = f"uopviz open {shell_word(str(store.path))}"
        here = {"again": again, "stays": self._machine.stays, "replaced": self.is_replaced}
        return {**run, **here, **(self._machine.can() if store.compiles else {})}

    def changed(self) -> None:
        """Answers about the run may be others now."""
        self._changes += 1


def _changed(path: Path) -> tuple[int, int]:
    """What changes when a file is written to, or one is made in a folder; it may be gone."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _log(path: Path) -> tuple[int, int]:
    """The same of the log of a trace."""
    return _changed(Path(f"{path}-wal"))
