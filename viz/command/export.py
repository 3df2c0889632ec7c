"""`uopviz export` and `uopviz timeline`: runs as one HTML file, a run as a trace, or as trace
events."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from core.errors import TraceError
from viz.command.line.names import find_kernel
from viz.command.session import open_store, open_stores, put
from viz.files.regular import check_ending, replace_file
from viz.format.schema import SUFFIX
from viz.jobs.compiled import Wanted, compiled_for
from viz.share.copy import write_trace
from viz.share.exportfile import is_export
from viz.share.html import export_html
from viz.share.perfetto import is_trace_events, trace_events
from viz.terminal import Progress, Styled
from viz.views.runs.run import Run

SUFFIXES: Final = {"html": ".html", "trace": SUFFIX}
"""Formats of an export, and how their files end."""


def export(options: argparse.Namespace) -> int:
    """Writes runs as one HTML file, or a run as a trace."""
    if options.values and options.redact:
        options.error("--redact leaves out captured values: give one of --values and --redact")
    if options.output is not None:
        form = options.format
        ends = tuple(SUFFIXES.values()) if form is None else (SUFFIXES[form], "")
        check_ending(Path(options.output), f"a run as {form}" if form else "a run", *ends)
    runs = open_stores(options)
    path = Path(options.output or _beside(runs, SUFFIXES[options.format or "html"]))
    if path.exists() and any(path.samefile(run.path) for run in runs):
        raise TraceError("this would overwrite what is exported", str(path), "name another with -o")
    as_trace = (options.format or path.suffix.lstrip(".")) in ("trace", SUFFIX.lstrip("."))
    if as_trace and options.texts:
        what = "a trace holds texts with the passes that made them"
        raise TraceError(what, hint="give --passes-for in place of --texts-for")
    if len(runs) > 1 and (as_trace or options.kernel):
        what = "a trace holds one run" if as_trace else "--kernel chooses from one run"
        raise TraceError(what, hint="export the runs one by one, or all of them as HTML")
    rows = runs[0].tree()["rows"] if options.kernel else []
    chosen = [find_kernel(rows, name)["id"] for name in options.kernel or ()] or None
    progress: Progress = options.progress

    def compiling(done: int, count: int, last: str) -> None:
        progress.update(done / max(1, count), last)

    progress.begin("compiling")
    failed: list[str] = []
    usual = options.texts is None and not as_trace
    wanted = Wanted(options.texts or (), options.passes, usual, browser=not as_trace)
    with ExitStack() as stack:
        for run in runs:
            kernels = chosen or run.kernels()
            failed += stack.enter_context(compiled_for(run, kernels, wanted, compiling))
        progress.begin(f"exporting {path.name}")
        if as_trace:
            left_out = write_trace(
                runs[0],
                path,
                kernels=chosen,
                redact=options.redact,
                values=options.values,
                progress=progress.update,
            )
        else:
            made = export_html(
                runs[0],
                beside=runs[1:],
                kernels=chosen,
                budget=options.budget * 1_000_000,
                redact=options.redact,
                values=options.values,
                progress=progress.update,
            )
            replace_file(path, made.html.encode(), is_export, "an exported file")
            left_out = made.unwanted + made.left_out
    left_out += failed
    size = path.stat().st_size
    data = {"file": str(path), "bytes": size, "leftOut": left_out}
    lines = [f"{path}  {size:,} bytes", *(f"left out: {said}" for said in left_out)]
    return put(options, data, lines)


def timeline(options: argparse.Namespace) -> int:
    """Writes when everything happened as trace events."""
    if options.output is not None:
        check_ending(Path(options.output), "a timeline", ".json")
    store = open_store(options)
    options.progress.begin("collecting when everything happened")
    made = trace_events(store.timeline(), store.run()["name"])
    path = Path(options.output or _beside([store], ".json"))
    replace_file(path, json.dumps(made).encode(), is_trace_events, "a timeline of uopviz")
    count = len(made["traceEvents"])
    line = f"{path}  {count:,} events", Styled("; open it at https://ui.perfetto.dev", "hint")
    return put(options, {"file": str(path), "events": count}, [line])


def _beside(runs: Sequence[Run], suffix: str) -> Path:
    """Where a file goes that the user did not name: beside the first of the runs."""
    first, *others = runs
    stem = "-".join([first.path.stem, *(run.path.stem for run in others)])
    return first.path.with_name(f"{stem}{suffix}")
