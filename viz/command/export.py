"""`uopviz export` and `uopviz timeline`: a run as one HTML file, as a trace, or as trace events."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

from core.errors import TraceError
from viz.command.names import find_kernel
from viz.command.session import open_store, put
from viz.files.regular import replace_file
from viz.format.schema import SUFFIX
from viz.share.copy import write_trace
from viz.share.exportfile import is_export
from viz.share.html import export_html
from viz.share.perfetto import is_trace_events, trace_events
from viz.terminal import Progress, Styled
from viz.work.compiling import compiled_for

SUFFIXES: Final = {"html": ".html", "trace": SUFFIX}
"""Formats of an export, and how their files end."""


def export(options: argparse.Namespace) -> int:
    """Writes a run as one HTML file, or as a trace."""
    store = open_store(options)
    path = Path(options.output or _beside(store.path, SUFFIXES[options.format or "html"]))
    if path.exists() and path.samefile(store.path):
        raise TraceError("this would overwrite what is exported", str(path), "name another with -o")
    as_trace = (options.format or path.suffix.lstrip(".")) in ("trace", SUFFIX.lstrip("."))
    rows = store.tree()["rows"] if options.kernel else []
    chosen = [find_kernel(rows, name)["id"] for name in options.kernel or ()] or None
    kernels = chosen or (store.kernels() if options.targets else [])
    progress: Progress = options.progress

    def compiling(done: int, count: int, last: str) -> None:
        progress.update(done / max(1, count), last)

    progress.begin("compiling")
    with compiled_for(store, kernels, options.targets, compiling) as failed:
        progress.begin(f"exporting {path.name}")
        if as_trace:
            left_out = write_trace(
                store, path, kernels=chosen, redact=options.redact, progress=progress.update
            )
        else:
            made = export_html(
                store,
                kernels=chosen,
                budget=options.budget * 1_000_000,
                redact=options.redact,
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
    store = open_store(options)
    options.progress.begin("collecting when everything happened")
    made = trace_events(store.timeline(), store.run()["name"])
    path = Path(options.output or _beside(store.path, ".json"))
    replace_file(path, json.dumps(made).encode(), is_trace_events, "a timeline of uopviz")
    count = len(made["traceEvents"])
    line = f"{path}  {count:,} events", Styled("; open it at https://ui.perfetto.dev", "hint")
    return put(options, {"file": str(path), "events": count}, [line])


def _beside(trace: Path, suffix: str) -> Path:
    """Where a file goes that the user did not name."""
    return trace.with_suffix(suffix)
