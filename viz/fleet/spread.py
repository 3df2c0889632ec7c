"""A query of which each day of a folder of packed runs is asked by a job of its own, here or on a
cluster, and what the days answer by a second query."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from core.errors import TraceError, UopvizError
from viz.fleet.bounded import Rows, ask_within_bounds, merge_within_bounds
from viz.fleet.folder import folder_at
from viz.fleet.layout import days_of
from viz.workers.executors import each_result

_NOTHING = "this folder holds no packed runs"


def ask_each_day(
    address: str,
    sql: str,
    merge: str,
    executor: Executor | None = None,
    tell: Callable[[float, str], None] = lambda share, name: None,
) -> Rows:
    """Column names and rows of `merge`, a SELECT over the table `parts`: the rows of `sql` of each
    day. Raises TraceError as `ask_within_bounds`, of the first day that fails."""
    days = days_of(folder_at(address))
    if not days:
        raise TraceError(_NOTHING, address, "uopviz pack RUNS... --to FOLDER")
    jobs = [(address, sql, day) for day in days]
    columns: list[str] = []
    rows: list[tuple[object, ...]] = []
    for at, (day, found) in enumerate(zip(days, each_result(executor, _asked, jobs), strict=True)):
        if isinstance(found, UopvizError):
            raise TraceError(f"of {day}: {found.what}", found.where or address, found.hint)
        columns = found[0]
        rows += found[1]
        tell((at + 1) / len(days), day)
    return merge_within_bounds(columns, rows, merge)


def _asked(job: tuple[str, str, str]) -> Rows | UopvizError:
    """What a day answers: a job of any machine that reads this address."""
    address, sql, day = job
    try:
        return ask_within_bounds(address, sql, day=day)
    except TraceError as error:
        return error
