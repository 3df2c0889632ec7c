"""An exported file as a run: `uopviz open bug.html`.

The trace that the file carries is unpacked to a folder of its own and opened like any other. Where
it carries none (an older version, or no room), the answers that lie in the file are shown, as by
the page in it (`viz/share/held/`). A file may hold several runs. Nothing in the file is run, and
what is unpacked is bounded.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from core.errors import BudgetError, FormatError, TraceError
from viz.budget import Budget, within
from viz.files.regular import open_regular
from viz.known.answers import CHECKS, VERDICTS
from viz.known.kept import checked_pass
from viz.known.whole import kernels_in
from viz.read.database import Problem
from viz.read.tracefile import Progress, silent
from viz.share.exportfile import (
    MAX_TRACE,
    NAMES_WITHIN,
    VERSION,
    detach,
    names_in,
    version_of,
)
from viz.share.held.entries import Below, no_export
from viz.share.held.run import Held, Reopened
from viz.views.answers import EMULATED, KERNEL, RUN
from viz.views.checks import summary_in
from viz.views.kernels.emulations import KEPT, emulations_in
from viz.views.kernels.texts import texts_in
from viz.views.runs.run import FIRST, Run
from viz.views.store import Store

MAX_FILE: Final = 1 << 30
"""Bytes of a file that is read."""
_HEAD: Final = 64
_ANSWERS_ONLY: Final = "what the page in the file shows is here; the trace itself has the rest"
Data = dict[str, Any]


def open_run(path: Path, progress: Progress = silent, held_as: str = FIRST) -> Run:
    """The run of a trace, or one of an exported file: A, or the one of another name; `progress` is
    told while a trace is read. Raises TraceError for anything else."""
    if not _is_html(path):
        return Store(path, progress)
    html = _read(path)
    if held_as not in names_in(html):
        raise TraceError(f"this exported file holds no run {held_as}", where=str(path))
    return _held(path, html, held_as, MAX_TRACE, progress)[0]


def runs_in(path: Path) -> str:
    """The names of the runs in a file, a letter each; FIRST for what is no exported file."""
    head = _head_of(path, NAMES_WITHIN)
    return names_in(head.decode("utf-8", "replace")) if _is_html_head(head) else FIRST


def open_runs(path: Path, progress: Progress = silent) -> list[Run]:
    """The run of a trace, or all runs of an exported file, in their order. Raises TraceError for
    anything else."""
    if not _is_html(path):
        return [Store(path, progress)]
    html, left = _read(path), MAX_TRACE
    runs: list[Run] = []
    try:
        for name in names_in(html):
            run, size = _held(path, html, name, left, progress)
            runs.append(run)
            left -= size
    except BaseException:
        for run in runs:
            run.close()
        raise
    return runs


def _held(path: Path, html: str, name: str, most: int, progress: Progress) -> tuple[Run, int]:
    """A run of an exported file, and the bytes that its trace was unpacked to."""
    problems: list[Problem] = []
    version = version_of(html)
    if version > VERSION:
        what = f"this exported file has version {version}, newer than {VERSION}"
        hint = "open it with a newer uopviz; what this one understands is shown"
        problems.append(Problem(what, path.name, hint))
    held = Held(path, html, version, name)
    folder = TemporaryDirectory(prefix="uopviz-")
    try:
        trace, size = detach(html, Path(folder.name), name, most)
        if trace is not None:
            opened = Unpacked(held, trace, folder, problems, progress)
            opened.take_answers()
            return opened, size
    except TraceError as error:
        problems.append(Problem(error.what, path.name, "what the page in the file shows is here"))
    except OSError as error:
        problems.append(Problem(f"no room to unpack its trace ({error})", path.name, _ANSWERS_ONLY))
    folder.cleanup()
    return Reopened(held, problems), 0


class Unpacked(Store):
    """The trace of an exported file, which lies in `folder` until it is closed."""

    def __init__(
        self,
        held: Held,
        trace: Path,
        folder: TemporaryDirectory[str],
        problems: list[Problem],
        progress: Progress = silent,
    ) -> None:
        self._folder, self._held, self._problems = folder, held, problems
        super().__init__(trace, progress)
        self.path, self.held_as = held.path, held.name

    def take_answers(self) -> None:
        """Takes up what the file says was emulated, checked and compiled, within a budget for
        each. What is damaged of it is left out."""
        held, self._held = self._held, replace(self._held, html="")  # it may be large
        if not any(one.path.partition("{")[0] in held.html for one in (EMULATED, VERDICTS, KERNEL)):
            return
        with suppress(TraceError):
            entries = held.own(held.entries())
            self._take_emulations(entries)
            self._take_checks(entries)
            self._take_texts(entries)

    def _take_texts(self, entries: Below) -> None:
        """Texts without passes, of targets that the trace has none for."""
        with suppress(TraceError, BudgetError), within(Budget("what kernels were compiled to")):
            for kernel in self.kernels():
                answer = entries.get(KERNEL.at(kernel))
                stated = cast("Data", answer).get("artifacts") if isinstance(answer, dict) else None
                recorded = self.recorded_targets(kernel)
                texts = [one for one in texts_in(stated) if one["target"] not in recorded]
                if texts:
                    self.texts.add(kernel, texts)

    def _take_checks(self, entries: Below) -> None:
        with suppress(TraceError), within(Budget("what was checked")):
            stated = entries.get(CHECKS.at())
            for one in kernels_in(stated):
                if self.kernel_of(one["kernel"]) == one["kernel"]:
                    self.checks.add_kernel(one, stated=True)
            for number in summary_in(stated)["rewrite"]:
                if self.scope_of(number) is None:
                    continue
                with suppress(BudgetError, FormatError, RecursionError):
                    found = entries.get(VERDICTS.at(number))
                    whole = isinstance(found, dict) and cast("Data", found).get("whole") is True
                    checked = checked_pass(found)
                    if checked["rewrite"] == number:
                        self.checks.add(checked, whole=whole, stated=True)

    def _take_emulations(self, entries: Below) -> None:
        with suppress(TraceError), within(Budget("what was emulated")):
            for kernel in self._stated(entries.get(RUN.at())):
                try:
                    for emulation in emulations_in(entries.get(EMULATED.at(kernel))):
                        self.emulations.add(kernel, emulation)
                except BudgetError as error:
                    what = "some of what was emulated is left out: it is too large"
                    self._problems.append(Problem(what, self.path.name, error.hint))
                    return
                except (TraceError, RecursionError):
                    continue

    def _stated(self, run: object) -> list[int]:
        """The kernels of which the file says that something was emulated."""
        said = cast("Data", run).get("emulated") if isinstance(run, dict) else None
        items = cast("list[Any]", said) if isinstance(said, list) else []
        known = {*self.kernels()}
        return [n for n in items[:KEPT] if isinstance(n, int) and n in known]

    def close(self) -> None:
        """Closes and removes what was unpacked."""
        super().close()
        self._folder.cleanup()

    def refresh(self) -> None:
        """An export never changes."""

    @property
    def live(self) -> bool:
        """An export never changes."""
        return False

    def run(self) -> Data:
        """What is known of the run, with the version of the export."""
        run = super().run()
        return {
            **run,
            "live": False,
            "file": self.path.name,
            "format": {**run["format"], "export": self._held.version},
            "problems": [p.data() for p in self._problems] + run["problems"],
        }


def _is_html(path: Path) -> bool:
    return _is_html_head(_head_of(path, _HEAD))


def _is_html_head(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(b"<!doctype")


def _head_of(path: Path, most: int) -> bytes:
    """The first bytes of a file; none of one that cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(most)
    except (OSError, ValueError):
        return b""  # what opens traces says what is wrong


def _read(path: Path) -> str:
    try:
        with open_regular(path) as file:
            raw = file.read(MAX_FILE + 1)
    except OSError as error:
        raise TraceError(f"the file cannot be read: {error}", where=str(path)) from error
    if len(raw) > MAX_FILE:
        raise no_export(path, f"it is larger than {MAX_FILE >> 20} MiB")
    return raw.decode("utf-8", "replace")
