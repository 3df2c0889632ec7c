"""Kernels of a run compiled otherwise: variants and replays as jobs, variants that are kept, and
which rules have changed since.

Logic of the routes; knows nothing of HTTP. Never compiles in this process.
"""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from core.errors import ServerError, TraceError
from viz.compare.matching.side import Side
from viz.coreserver.options import check_rules
from viz.format.schema import SUFFIX
from viz.server.runs.machine import Machine
from viz.server.runs.openrun import OpenRun
from viz.views.store import Store
from viz.whatif.attempt import variant_request, what_if_data
from viz.whatif.changed import Watch
from viz.whatif.isolated import TRACE
from viz.whatif.replay import replay_data, replay_request, replay_rows
from viz.whatif.reproduce import (
    Reproduction,
    minimise_request,
    smaller_script,
    whole_script,
)
from viz.whatif.subject import Subject, subject_of, subjects_of
from viz.whatif.variants.rows import variant_row
from viz.whatif.variants.tried import Tried, forget, keep, kept_of, kept_one
from viz.whatif.variants.variant import Variant

Data = dict[str, Any]
LIMIT: Final = 120.0
"""Seconds that one kernel may take by default; REPLAY_LIMIT: a whole run."""
REPLAY_LIMIT: Final = 600.0
MOST_SECONDS: Final = 3600.0


class WhatIf:
    """What is compiled otherwise, of all runs of a server. `opened`: opens one more trace, and
    gives its name as a run and the numbers of its kernels; `closed`: closes the runs of a
    trace. Threads may share one."""

    def __init__(
        self,
        machine: Machine,
        opened: Callable[[Path], tuple[str, list[int]]],
        closed: Callable[[Path], None],
    ) -> None:
        self._machine, self._opened, self._closed = machine, opened, closed
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._beside: dict[tuple[Path, str], Path] = {}
        """Folders for variants of runs beside whose traces nothing can be written, by path and name
        in the file."""
        self._watches: dict[int, Watch] = {}
        """By the serials of their traces."""
        self._replays: dict[int, Path] = {}
        """The trace of the last replay, by the serial of the run."""
        self._gone: set[int] = set()
        """The serials of traces that are closed: nothing is kept for them any more."""
        machine.when_gone(self._forget)

    def close(self) -> None:
        """Removes what lies beside no trace. The jobs are ended before."""
        with self._lock:
            if self._folder is not None:
                self._remove()
                self._folder = None

    def _forget(self, serial: int) -> None:
        with self._lock:
            self._gone.add(serial)
            self._watches.pop(serial, None)
            self._replays.pop(serial, None)

    def begin(self, run: OpenRun, kernel: int, variant: Variant, seconds: float = LIMIT) -> int:
        """Begins to compile a kernel as a variant, which is kept; the job, whose result is `WhatIf`
        of docs/json.md. Raises ServerError."""
        store = run.trace
        subject = self._subject(store, kernel)
        check_rules(store, variant.skip)
        request = variant_request(subject, variant)
        folder, path = self._new_trace()

        def finish(found: Data) -> Data:
            made = self._machine.weight.make(
                lambda: what_if_data(store, subject, variant, {**found}, path)
            )
            one = self._keep(store, subject, made, path.read_bytes())
            return {**made, "kept": {"number": one.number, "trace": str(one.path)}}

        return self._start({**request, TRACE: str(path)}, finish, lambda: _removed(folder), seconds)

    def variants(self, run: OpenRun, kernel: int | None = None) -> list[Data]:
        """The variants of a kernel, or of all, in the form `VariantRow` of the page."""
        store = run.trace
        of = None if kernel is None else store.kernel_of(kernel)
        return [variant_row(one) for one in self._kept(store) if of is None or one.kernel == of]

    def open(self, run: OpenRun, number: int) -> Data | None:
        """Opens the trace of a variant as a run: `OpenedVariant` of the page; None where there is
        no such variant."""
        one = self._one(run.trace, number)
        if one is None:
            return None
        name, kernels = self._opened(one.path)
        return {"run": name, "kernel": kernels[0] if kernels else None}

    def delete(self, run: OpenRun, number: int) -> bool:
        """Removes a variant, and closes its run; False where there is no such variant."""
        one = self._one(run.trace, number)
        if one is None:
            return False
        self._closed(one.path)
        forget(one)
        return True

    def script(self, run: OpenRun, number: int) -> Reproduction | None:
        """The script of a variant; None where there is no such variant. Raises ServerError."""
        store = run.trace
        one = self._one(store, number)
        if one is None:
            return None
        return whole_script(self._subject(store, one.kernel), one.variant)

    def text(self, run: OpenRun, number: int) -> Data | None:
        """The edited text of a variant, to edit it again: `VariantText` of the page; None where
        there is no such variant. Raises ServerError for a variant without one."""
        store = run.trace
        one = self._one(store, number)
        if one is None:
            return None
        variant = one.variant
        if variant.text is None:
            raise ServerError(f"variant {number} has no edited text", hint="choose another one")
        target = variant.target or self._subject(store, one.kernel).target
        return {
            **vars(variant.text),
            "target": target,
            "opts": variant.opts,
            "skip": [*variant.skip],
        }

    def minimise(self, run: OpenRun, number: int, seconds: float = LIMIT) -> int | None:
        """Begins to make the kernel of a variant smaller; the job, whose result is {"text", "said"}
        of a script; None where there is no such variant. Raises ServerError."""
        store = run.trace
        one = self._one(store, number)
        if one is None:
            return None
        subject = self._subject(store, one.kernel)

        def finish(found: Data) -> Data:
            return vars(smaller_script(subject, found))

        request = minimise_request(subject, one.variant, seconds / 2)
        return self._machine.jobs.start(request, finish, limit=seconds)

    def replay(self, run: OpenRun, kernel: int | None, seconds: float | None = None) -> int:
        """Begins to compile a kernel, or all of them, with the code on disk; the job. Its result is
        `Replayed` of the page, with the name of the run that was recorded, which takes the place of
        that of the replay before. Raises ServerError."""
        serial, store = run.numbered
        if kernel is None:
            subjects = self._machine.weight.make(lambda: subjects_of(store))
        else:
            subjects = [self._subject(store, kernel)]
        if not subjects:
            raise ServerError("this run has no kernels", hint="choose another trace")
        folder, path = self._new_trace()
        request = {**replay_request(subjects), TRACE: str(path)}
        kept: list[Path] = []

        def finish(found: Data) -> Data:
            rows = self._machine.weight.make(lambda: _rows(store, subjects, found, path))
            self._take_place(serial, path)
            name, kernels = self._opened(path)
            kept.append(folder)
            there = iter(kernels)
            for row, one in zip(rows, found["kernels"], strict=True):
                del row["differences"]  # the comparison of both runs has them
                row["there"] = next(there, None) if one["recorded"] else None
            return {**replay_data(store, rows), "run": name}

        def ended() -> None:
            if not kept:
                _removed(folder)

        limit = seconds or (LIMIT if kernel is not None else REPLAY_LIMIT)
        return self._start(request, finish, ended, limit)

    def _take_place(self, serial: int, path: Path) -> None:
        """A replay takes the place of the one before of the same run. Raises ServerError where that
        run is not open any more."""
        with self._lock:
            if serial in self._gone:
                raise ServerError("the run was closed meanwhile", hint="open it again")
            before = self._replays.get(serial)
            self._replays[serial] = path
        if before is not None:
            self._closed(before)
            _removed(before.parent)

    def changed(self, run: OpenRun) -> Data:
        """The rules that have changed since a run, in the form `ChangedRules` of the page: cheap,
        for pages that ask every few seconds."""
        serial, store = run.numbered
        with self._lock:
            watch = self._watches.get(serial) or Watch(store)
            if serial not in self._gone:
                self._watches[serial] = watch
        state, found = self._machine.weight.make(watch.now)
        return {"state": state, "changed": [one.data() for one in found]}

    def _subject(self, store: Store, kernel: int) -> Subject:
        return self._machine.weight.make(lambda: subject_of(store, store.kernel_of(kernel)))

    def _start(
        self,
        request: Data,
        finish: Callable[[Data], Data],
        ended: Callable[[], None],
        seconds: float,
    ) -> int:
        """Begins a job; `ended` is called however it went, also where it could not begin."""
        try:
            return self._machine.jobs.start(request, finish, ended, limit=seconds)
        except BaseException:
            ended()
            raise

    def _also(self, store: Store) -> Path | None:
        """Where variants of a run lie that could not be kept beside its trace."""
        with self._lock:
            return self._beside.get((store.path, store.held_as))

    def _kept(self, store: Store) -> list[Tried]:
        return kept_of(store.path, self._also(store), held_as=store.held_as)

    def _one(self, store: Store, number: int) -> Tried | None:
        return kept_one(store.path, number, self._also(store), held_as=store.held_as)

    def _keep(self, store: Store, subject: Subject, made: Data, recorded: bytes) -> Tried:
        """Keeps a variant beside its trace, or, where that cannot be, as long as the server
        runs."""
        what = subject.number, subject.name, made, recorded
        try:
            return keep(store.path, *what, held_as=store.held_as)
        except TraceError as error:
            made["notes"].append(f"kept until the server ends: {error.what} ({error.where})")
        after = max((one.number for one in self._kept(store)), default=0)
        root = self._root()
        with self._lock:
            key, number = (store.path, store.held_as), len(self._beside)
            folder = self._beside.setdefault(key, root / f"variants-{number}")
        return keep(store.path, *what, folder=folder, after=after)

    def _root(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = Path(mkdtemp(prefix="uopviz-what-if-"))
                self._remove = weakref.finalize(
                    self, shutil.rmtree, self._folder, ignore_errors=True
                )
            return self._folder

    def _new_trace(self) -> tuple[Path, Path]:
        """A new folder, and the trace that a worker makes in it."""
        folder = Path(mkdtemp(dir=self._root()))
        return folder, folder / f"kernel-{folder.name}{SUFFIX}"


def _removed(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _rows(store: Store, subjects: list[Subject], found: Data, path: Path) -> list[Data]:
    side = Side(store)
    side.refresh()
    return replay_rows(side, subjects, found, path)
