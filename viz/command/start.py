"""`uopviz` alone: a page without a run, which lists the traces of the cache."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from viz.command.serving import serve
from viz.format.schema import SUFFIX
from viz.write.writer import TraceWriter


def start(options: argparse.Namespace) -> int:
    """Serves an empty trace."""
    with TemporaryDirectory(prefix="uopviz-") as folder:
        path = Path(folder) / f"start{SUFFIX}"
        TraceWriter(path, {}).close()
        options.trace = str(path)
        return serve(options)
