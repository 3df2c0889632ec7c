"""`uopviz since`: since which commit a figure of a rule, a pass or a kernel is another one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from viz.command.columns import Column, table
from viz.command.session import put
from viz.files.regular import check_ending, replace_file
from viz.fleet.changes import interval_text
from viz.fleet.folder import folder_at
from viz.fleet.report import is_report, report
from viz.fleet.since import METRICS, data_of, since
from viz.terminal import Line, Styled


def since_commit(options: argparse.Namespace) -> int:
    """Prints the changes; exit code 1 where one of --fail-on is among them."""
    metrics = options.metric or [*METRICS]
    if options.html is not None:
        check_ending(Path(options.html), "a report", ".html")
    options.progress.begin("comparing commits")
    found = since(folder_at(options.folder), list(dict.fromkeys(metrics)))
    data = data_of(found)
    failing = {name for name in (options.fail_on or "").split(",") if name}
    if unknown := failing - {*METRICS}:
        options.error(f"there is no metric {sorted(unknown)[0]!r}; there are {', '.join(METRICS)}")
    if options.html is not None:
        body = report(options.folder, found).encode("utf-8", "replace")
        replace_file(Path(options.html), body, is_report, "a report of changes")
    put(options, data, _lines(data))
    grown = {row["metric"] for row in data["changes"] if row["after"] > row["before"]}
    return int(bool(grown & failing))


def _lines(data: dict[str, Any]) -> Iterator[Line]:
    if not data["changes"]:
        yield "no figure has changed"
        return
    columns = (
        Column("commit", style="name"),
        Column("figure"),
        Column("of", style="name"),
        Column("program", spare=1),
        Column("before", True),
        Column("after", True),
        Column("ratio, 95 %"),
    )
    rows = [
        (
            row["commit"][:12],
            row["metric"],
            row["of"],
            row["program"] + (f" and {row['programs'] - 1} more" if row["programs"] > 1 else ""),
            f"{row['before']:,.6g}",
            f"{row['after']:,.6g}",
            interval_text(row["low"], row["high"]),
        )
        for row in data["changes"]
    ]
    yield from table(columns, rows)
    last = data["changes"][-1]
    yield Styled(f"side by side: uopviz open {last['a']} {last['b']}", "hint")
