"""`uopviz query`: one SELECT over a run, or over a kernel of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from viz.command.columns import Column, table
from viz.command.line.names import below, find_kernel
from viz.command.session import open_store, put
from viz.fleet.asking import is_packed
from viz.fleet.bounded import ask_within_bounds
from viz.fleet.spread import ask_each_day
from viz.format.schema import SUFFIX
from viz.share.sql import Part, run_query
from viz.terminal import Line, is_terminal
from viz.workers.executors import executor_for


def query(options: argparse.Namespace) -> int:
    """One SELECT over a trace, or over one kernel of it."""
    if options.trace is None and options.sql.endswith((SUFFIX, ".html")):
        options.error(f"the SELECT over {options.sql} is missing")
    if options.trace is not None and is_packed(options.trace):
        if options.kernel is not None:
            options.error("--kernel is of one trace: in a folder, say WHERE kernel = 'NAME'")
        if options.executor is not None and options.merge is None:
            options.error("--executor asks each day apart: --merge SQL says what becomes of that")
        options.progress.begin("querying")
        if options.merge is None:
            columns, rows = ask_within_bounds(options.trace, options.sql)
        else:
            told = options.progress.update
            with executor_for(options.executor) as executor:
                columns, rows = ask_each_day(
                    options.trace, options.sql, options.merge, executor, told
                )
        return put(options, {"columns": columns, "rows": rows}, _rows(columns, rows))
    if options.merge is not None or options.executor is not None:
        options.error("--merge and --executor are of a folder of packed runs")
    store = open_store(options)
    part = None
    if options.kernel is not None:
        tree = store.tree()["rows"]
        kernel = find_kernel(tree, options.kernel)
        part = Part({row["id"] for row in below(tree, kernel["id"])}, kernel["name"])
    options.progress.begin("querying")
    columns, rows = run_query(store.files, options.sql, part)
    return put(options, {"columns": columns, "rows": rows}, _rows(columns, rows))


def _rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[Line]:
    """The answer of a query: aligned in a terminal, with tabs between the columns elsewhere."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not is_terminal(sys.stdout):
        yield from ("\t".join(line) for line in ([*columns], *cells))
        return
    numbers = [
        all(isinstance(row[at], int | float | None) for row in rows) for at in range(len(columns))
    ]
    titles = [Column(name, number) for name, number in zip(columns, numbers, strict=True)]
    yield from table(titles, cells)
