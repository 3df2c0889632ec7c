"""What the routes of one server work with: the runs that are open, by name, pairs of them, and
their machine.

Logic of the routes; knows nothing of HTTP.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from core.errors import ServerError
from viz.fleet.listed import Fleet
from viz.jobs.exports import ExportHow
from viz.jobs.jobs import Elsewhere
from viz.server.part import Part, parts
from viz.server.runs.machine import Machine
from viz.server.runs.openrun import OpenRun
from viz.server.runs.pairs import Pairs
from viz.share.reopened import open_run
from viz.views.runs.run import FIRST, NAMES, Run
from viz.views.summary import names_apart

P = TypeVar("P", bound=Part)


class State:
    """One server's state: `store` is its run A, and `beside` the runs after it; `cluster` does jobs
    in place of this machine; `fleet` is a folder of packed runs. Raises ServerError where the runs
    are too many."""

    def __init__(
        self,
        store: Run,
        beside: Sequence[Run] = (),
        cluster: Elsewhere | None = None,
        fleet: Fleet | None = None,
    ) -> None:
        self.fleet = fleet
        kinds = parts()
        self.machine = Machine([part.kinds for part in kinds], cluster)
        self.pairs = Pairs(self.machine)
        self.parts = [part(self.machine, self) for part in kinds]
        """What the adapters of dialects add."""
        self.machine.can = self._can
        self._lock = threading.Lock()
        self._runs: dict[str, OpenRun] = {}
        for one in (store, *beside):
            self._add(OpenRun(one, self.machine))

    @property
    def first(self) -> OpenRun:
        """The run A, which is always there."""
        return self._runs[FIRST]

    def close(self) -> None:
        """Ends the jobs and closes the runs."""
        self.machine.close()
        for _, run in self.runs():
            run.close()
        for part in self.parts:
            part.close()

    def part(self, kind: type[P]) -> P:
        """The part of this kind, which there is: its own routes ask for it."""
        return next(part for part in self.parts if isinstance(part, kind))

    def _can(self) -> dict[str, Any]:
        return {name: value for part in self.parts for name, value in part.can().items()}

    def run(self, name: str) -> OpenRun | None:
        """A run by its name; None where no run has it."""
        with self._lock:
            return self._runs.get(name)

    def runs(self) -> list[tuple[str, OpenRun]]:
        """All runs with their names, in the order of these."""
        with self._lock:
            return sorted(self._runs.items())

    def named(self) -> list[dict[str, Any]]:
        """All runs in the form `RunName` of the page; files of one name with their folders."""
        found = [run.named(name) for name, run in self.runs()]
        files = names_apart([path for _, path in found])
        return [said | {"file": file} for (said, _), file in zip(found, files, strict=True)]

    def open(self, path: Path) -> str:
        """Opens one more run; its name. Raises TraceError where the file is no trace, and
        ServerError where there is no room for another run."""
        self._check_room()
        run = OpenRun(open_run(path), self.machine)
        try:
            return self._add(run)
        except ServerError:
            run.close()
            raise

    def end(self, name: str) -> None:
        """Closes a run; its name is free for another one. Raises ServerError for A: another trace
        can take its place, but there is always a run."""
        if name == FIRST:
            raise ServerError("run A stays open", hint="go on with another trace in its place")
        with self._lock:
            run = self._runs.pop(name, None)
        if run is not None:
            run.close()

    def open_once(self, path: Path) -> tuple[str, list[int]]:
        """The name of the run of this trace, which is opened where it is not open yet, and the
        numbers of its kernels. Raises as `open` does."""
        open_now = (name for name, run in self.runs() if run.store.path == path)
        name = next(open_now, None) or self.open(path)
        run = self.run(name)
        return name, [] if run is None else run.store.kernels()

    def end_trace(self, path: Path) -> None:
        """Closes the runs of this trace, but for A."""
        for name, run in self.runs():
            if name != FIRST and run.store.path == path:
                self.end(name)

    def export(self, names: Sequence[str], kernels: Sequence[int], how: ExportHow) -> int:
        """Begins to export runs, or these kernels of the only one, with what was compiled here; the
        job. Raises ServerError."""
        runs = [self.run(name) for name in names]
        if not runs or None in runs or len({*names}) < len(names):
            raise ServerError("these are not runs of this server", hint="names such as A and B")
        if kernels and len(runs) > 1:
            raise ServerError("kernels are those of one run", hint="export one run, or all kernels")
        stores = [run.store for run in runs if run is not None]
        return self.machine.exports.start(stores, kernels, how)

    def _add(self, run: OpenRun) -> str:
        with self._lock:
            name = next((name for name in NAMES if name not in self._runs), None)
            if name is not None:
                self._runs[name] = run
                return name
        raise _full()

    def _check_room(self) -> None:
        with self._lock:
            if len(self._runs) == len(NAMES):
                raise _full()


def _full() -> ServerError:
    return ServerError(f"{len(NAMES)} runs are open", hint="close one of them")
