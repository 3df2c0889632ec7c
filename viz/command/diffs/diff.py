"""`uopviz diff A B`: what differs between two runs, or between the runs of two folders.

Exit codes: 0 equal, or with --fail-on that no condition holds; 1 otherwise; 2 where something
cannot be compared.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.command.diffs.difflines import comparison_lines
from viz.command.diffs.diffolders import diff_folders
from viz.command.line.names import find_trace
from viz.command.session import put, run_named
from viz.compare.comparison import Comparison
from viz.compare.gate import Gate, failed_gates, parse_gates
from viz.files.regular import check_ending, replace_file
from viz.jobs.compiled import Wanted, compiled_for
from viz.share.exportfile import is_export
from viz.share.html import export_html
from viz.share.reopened import open_run, runs_in
from viz.terminal import Progress, say
from viz.views.store import Store
from viz.views.summary import names_apart

_SLICE: Final = 0.5
"""Seconds after which progress is told."""


def diff(options: argparse.Namespace) -> int:
    """Compares two runs, or two folders of runs."""
    gates = parse_gates(options.fail_on) if options.fail_on is not None else None
    if options.b is None:
        return _diff_runs(options, gates)
    a, b = (Path(name) for name in (options.a, options.b))
    if options.html is not None:
        check_ending(Path(options.html), "a comparison", ".html")
    if (a.is_dir() or b.is_dir()) and options.html is not None:
        raise TraceError("--html writes two runs, and no folders", hint="name two traces")
    if options.executor is not None and not (a.is_dir() and b.is_dir()):
        raise TraceError("--executor is for pairs of traces", hint="name two folders")
    if a.is_dir() and b.is_dir():
        return diff_folders(options, a, b, gates)
    if a.is_dir() or b.is_dir():
        folder, other = (options.a, options.b) if a.is_dir() else (options.b, options.a)
        raise TraceError(
            f"{folder} is a folder, and {other} is none",
            hint="compare two traces, or two folders of traces",
        )
    stores = options.store = _Opened(options.progress)
    return _report(options, gates, stores.open(options.a), stores.open(options.b))


def _diff_runs(options: argparse.Namespace, gates: list[Gate] | None) -> int:
    """Compares the first two runs of one exported file."""
    path, _ = find_trace(options.a)
    held = runs_in(path)
    if len(held) < 2:
        raise TraceError(
            "there is nothing to compare it with",
            where=str(path),
            hint="name two traces, or one exported file that holds two runs",
        )
    if len(held) > 2:
        say(f"{path} holds {len(held)} runs; these are {held[0]} and {held[1]}", style="hint")
    stores = options.store = _Opened(options.progress)
    return _report(options, gates, stores.open(options.a, held[0]), stores.open(options.a, held[1]))


def _report(
    options: argparse.Namespace, gates: list[Gate] | None, before: Store, now: Store
) -> int:
    """Prints what differs between two runs; the exit code."""
    comparison = Comparison(before, now)
    data = _compare(comparison, options.progress)
    files = names_apart([before.path, now.path])
    runs = {key: data["runs"][key] | {"file": file} for key, file in zip("ab", files, strict=True)}
    data = {**data, "runs": runs}
    if options.html is not None:
        _write_page(options, before, now)
    failed = failed_gates(comparison.compared(), gates) if gates is not None else []
    put(options, {**data, "failed": failed}, comparison_lines(data, options.all))
    for sentence in failed:
        say(sentence, style="problem")
    return _exit_code(data, gates, failed)


def _exit_code(data: dict[str, Any], gates: list[Gate] | None, failed: list[str]) -> int:
    return int(bool(failed) if gates is not None else not data["equal"])


def _compare(comparison: Comparison, progress: Progress) -> dict[str, Any]:
    progress.begin("comparing")
    while True:
        data = comparison.overview(_SLICE)
        if data["done"]:
            return data
        progress.update(data["progress"])


def _write_page(options: argparse.Namespace, before: Store, now: Store) -> None:
    """Writes both runs as one HTML file, and says what it does not hold."""
    path, progress = Path(options.html), options.progress
    if path.exists() and any(path.samefile(store.path) for store in (before, now)):
        raise TraceError("this would overwrite what is compared", str(path), "name another file")

    def compiling(done: int, count: int, last: str) -> None:
        progress.update(done / max(1, count), last)

    progress.begin("compiling")
    left_out: list[str] = []
    with ExitStack() as stack:
        for run in (before, now):
            texts = compiled_for(run, run.kernels(), Wanted(usual=True), compiling)
            left_out += stack.enter_context(texts)
        progress.begin(f"exporting {path.name}")
        made = export_html(before, beside=[now], progress=progress.update)
    replace_file(path, made.html.encode(), is_export, "an exported file")
    for sentence in (*made.left_out, *left_out):
        say(f"left out of {path.name}: {sentence}", style="hint")


class _Opened:
    """The runs that are compared."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stores: list[Store] = []

    def open(self, name: str, held_as: str | None = None) -> Store:
        """The run that a person means by a name; of an exported file with several the one that is
        `held_as`, or the first. Raises TraceError."""
        path, named = find_trace(name)
        if not named:
            say(str(path), style="hint")
        self._progress.begin(f"reading {path.name}")
        made = open_run(
            path, lambda share, _: self._progress.update(share), run_named(held_as, path)
        )
        if not isinstance(made, Store):
            made.close()
            raise TraceError(
                "this exported file has no trace in it",
                str(path),
                "compare the trace that it was made of",
            )
        self._stores.append(made)
        return made

    def close(self) -> None:
        """Closes them."""
        for store in self._stores:
            store.close()
