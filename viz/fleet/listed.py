"""What the page shows of a folder of packed runs: a summary, some runs, a figure over the commits.

Every answer is bounded, however many runs there are. Reads; never writes.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.fleet.asking import Tables
from viz.fleet.changes import changes
from viz.fleet.folder import Folder
from viz.fleet.since import METRICS, Runs

PAGE: Final = 200
"""Runs of one answer."""
MOST: Final = 200
"""Rules, or kernels, of one answer."""
_COLUMNS: Final = ("run", "commit", "program", "time", "seconds", "kernels", "steps", "path")
ORDERS: Final = ("time", "commit", "program", "seconds", "kernels", "steps")


class Fleet:
    """The answers about a folder. What takes the whole folder is kept until runs are added."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._batches: Sequence[str] | None = None
        self._tables: Tables | None = None
        self._read: Runs | None = None

    def summary(self) -> dict[str, Any]:
        """`Fleet` of the page: totals, the rules by time, the kernels by runs."""
        (row,) = self._ask(_TOTALS)
        rules = self._ask(_RULES)
        kernels = self._ask(_KERNELS)
        return {
            "folder": self.folder.address,
            **dict(zip(("runs", "commits", "first", "last"), row, strict=True)),
            "metrics": [{"name": name, "of": of} for name, (of, _) in METRICS.items()],
            "rules": [dict(zip(("name", "us", "matches", "runs"), r, strict=True)) for r in rules],
            "kernels": [dict(zip(("name", "us", "runs"), k, strict=True)) for k in kernels],
        }

    def runs(self, text: str, order: str, begin: int) -> dict[str, Any]:
        """`FleetRuns` of the page: those of PAGE runs from number `begin` on whose commit, program,
        file, time or kernels have the text. `order` is a column, "-" before it turns it round."""
        column, turned = order.removeprefix("-"), order.startswith("-")
        by = column if column in ORDERS else "time"
        where = " WHERE " + _MATCHES if text else ""
        given = (text,) if text else ()
        ((total,),) = self._ask(f"SELECT count(*) FROM runs{where}", parameters=given)
        sql = (
            f"SELECT run_id, commit, program, time, seconds, kernels, steps, path FROM runs{where}"
            f" ORDER BY {by} {'DESC' if turned else 'ASC'}, run_id LIMIT {PAGE} OFFSET {begin}"
        )
        rows = self._ask(sql, parameters=given)
        return {
            "total": total,
            "begin": begin,
            "runs": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
        }

    def series(self, metric: str, of: str) -> dict[str, Any]:
        """`FleetSeries` of the page: the figure over the commits, for each program, with where it
        changed. Raises TraceError."""
        runs = self._known()
        found = [*runs.series(metric, of)]
        return {
            "metric": metric,
            "of": of,
            "commits": runs.commits,
            "programs": [
                {
                    "program": one.program,
                    "points": [
                        {
                            "commit": commit,
                            "median": statistics.median(values),
                            "low": min(values),
                            "high": max(values),
                            "run": own[0],
                        }
                        for commit, own, values in zip(
                            one.commits, one.runs, one.values, strict=True
                        )
                    ],
                    "changes": [
                        {
                            "commit": one.commits[change.at],
                            "before": change.before,
                            "after": change.after,
                            "a": one.runs[change.at - 1][-1],
                            "b": one.runs[change.at][0],
                        }
                        for change in changes(one.values)
                    ],
                }
                for one in found
            ],
        }

    def trace(self, run: str) -> Path:
        """The trace of a run. Raises TraceError where it is not there any more."""
        sql = "SELECT path FROM runs WHERE run_id = ?"
        rows = self._ask(sql, parameters=(run,))
        if not rows:
            raise TraceError("this run is not among the packed ones", run)
        path = Path(str(rows[0][0] or ""))
        if not _is_there(path):
            raise TraceError(
                "the trace of this run is not there any more",
                str(path),
                "its figures are kept; bring the file back to see its steps",
            )
        return path

    def youngest(self) -> Path:
        """The youngest run whose trace is there. Raises TraceError."""
        sql = "SELECT path FROM runs WHERE path <> '' ORDER BY time DESC LIMIT 1000"
        for (path,) in self._ask(sql):
            if _is_there(Path(path)):
                return Path(path)
        raise TraceError(
            "none of the youngest runs' traces is where it was packed from",
            self.folder.address,
            "uopviz query and uopviz since need no traces",
        )

    def _known(self) -> Runs:
        tables = self._current()
        with self._lock:
            if self._read is None:
                self._read = Runs(tables)
            return self._read

    def _ask(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self._current().ask(sql, parameters=parameters)[1]

    def _current(self) -> Tables:
        """The tables, anew where batches came or went."""
        batches = self.folder.names("runs")
        with self._lock:
            if self._tables is None or batches != self._batches:
                self._tables = Tables(self.folder, held=("runs",))
                self._batches, self._read = batches, None
            return self._tables


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


_TOTALS: Final = "SELECT count(*), count(DISTINCT commit), min(time), max(time) FROM runs"
_RULES: Final = (
    "SELECT rule, sum(us), sum(matches), count(DISTINCT run_id) FROM rules GROUP BY 1"
    f" ORDER BY 2 DESC, 1 LIMIT {MOST}"
)
_KERNELS: Final = (
    "SELECT kernel, sum(us), count(DISTINCT run_id) FROM kernels GROUP BY 1"
    f" ORDER BY 3 DESC, 2 DESC, 1 LIMIT {MOST}"
)
_MATCHES: Final = (
    "contains(lower(concat_ws(' ', commit, program, file, time)), lower($1))"
    " OR run_id IN (SELECT run_id FROM kernels WHERE contains(kernel, $1))"
)
