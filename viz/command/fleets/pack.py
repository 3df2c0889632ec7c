"""`uopviz pack`: runs written into a folder of Parquet tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from core.errors import TraceError
from viz.command.columns import plural
from viz.command.session import put
from viz.fleet.folder import folder_at
from viz.fleet.packing import drop_before, pack, traces_in
from viz.terminal import Line, Styled
from viz.workers.executors import executor_for


def pack_runs(options: argparse.Namespace) -> int:
    """Packs runs; exit code 1 where a file could not be packed."""
    folder = folder_at(options.to)
    dropped = 0
    if options.drop_before is not None:
        try:
            date.fromisoformat(options.drop_before)
        except ValueError as error:
            raise TraceError(
                "this is no date", options.drop_before, "write it as 2026-01-31"
            ) from error
        dropped = drop_before(folder, options.drop_before)
    elif not options.runs_to_pack:
        return options.error("pack which runs? Give traces, or folders of them")
    paths = traces_in([Path(name) for name in options.runs_to_pack])
    options.progress.begin("packing")
    with executor_for(options.executor) as executor:
        done = pack(paths, folder, options.redact, options.progress.update, executor)
    data = {
        "packed": done.packed,
        "known": done.known,
        "matches": done.matches,
        "dropped": dropped,
        "failed": [{"file": file, "what": what} for file, what in done.failed],
    }
    put(options, data, _lines(data))
    return int(bool(done.failed))


def _lines(data: dict[str, Any]) -> Iterator[Line]:
    matches = plural(data["matches"], "match", "matches")
    yield f"packed {plural(data['packed'], 'run')} with {matches}"
    if data["known"]:
        yield f"{plural(data['known'], 'run')} packed before"
    if data["dropped"]:
        yield f"dropped {plural(data['dropped'], 'batch', 'batches')}"
    for one in data["failed"]:
        yield Styled(f"{one['file']}: {one['what']}", "problem")
