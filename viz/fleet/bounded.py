"""One query about a folder of packed runs in a process of its own, so that whatever it makes DuckDB
do ends within bounds of time, memory and length."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any, Final

from core.errors import TraceError
from core.isolation import child
from core.isolation.client import Worker
from viz.environment import bytecode_folder
from viz.fleet.asking import MEMORY, SECONDS, late

LENGTH: Final = 1 << 27
"""Bytes of an answer as JSON."""
_STARTING: Final = 5.0
"""Seconds that the process has beside those of the query."""
Rows = tuple[list[str], list[tuple[Any, ...]]]


def ask_within_bounds(
    address: str, sql: str, seconds: float = SECONDS, day: str | None = None
) -> Rows:
    """Column names and rows of one SELECT, as `ask` gives them. Raises TraceError for SQL that is
    wrong, does anything but read the tables, or takes too long or too much."""
    return _asked({"address": address, "day": day, "parts": None}, sql, seconds)


def merge_within_bounds(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], sql: str, seconds: float = SECONDS
) -> Rows:
    """Column names and rows of one SELECT over a table `parts` of these rows. Raises as
    `ask_within_bounds`."""
    return _asked({"columns": columns, "parts": rows}, sql, seconds)


def _asked(request: dict[str, Any], sql: str, seconds: float) -> Rows:
    process = child.start("viz.fleet.asker", subprocess.DEVNULL, bytecode_folder())
    worker = Worker(process)
    try:
        whole = {**request, "sql": sql, "seconds": seconds}
        answer = worker.ask(whole, seconds + _STARTING, last=True, most=LENGTH)
    finally:
        worker.end()
    if answer.late:
        raise late(seconds, sql)
    if answer.much:
        raise TraceError(f"this answer is longer than {LENGTH >> 20} MB", sql, "ask for less rows")
    if answer.ended:
        raise TraceError(
            f"the process of this query ended without an answer ({answer.ended})",
            sql,
            f"ask for less, if it was for want of memory: it may take {MEMORY >> 30} GB",
        )
    if answer.fault is not None:
        raise answer.fault.raised(TraceError)
    columns, found = answer.result
    return columns, [tuple(row) for row in found]
