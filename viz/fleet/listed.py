"""What the page shows of a folder of packed runs: a summary, some runs, a figure over the commits.

Every answer is bounded, however many runs there are. What takes the whole folder is kept until runs
are added, and what the page begins with is made before it asks. Reads; never writes.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError, UopvizError
from viz.fleet.asking import Tables
from viz.fleet.changes import changes
from viz.fleet.folder import Folder
from viz.fleet.since import METRICS, Runs

PAGE: Final = 200
"""Runs of one answer."""
MOST: Final = 200
"""Rules, or kernels, of one answer."""
KEPT: Final = 32
"""Answers about the whole folder that are kept."""
_FRESH: Final = 1.0
"""Seconds for which the list of batches is taken for what it was."""
_COLUMNS: Final = ("run", "commit", "program", "time", "seconds", "kernels", "steps", "path")
ORDERS: Final = ("time", "commit", "program", "seconds", "kernels", "steps")


class Fleet:
    """The answers about a folder. Threads may share it."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._batches: Sequence[str] | None = None
        self._looked = 0.0
        self._tables: Tables | None = None
        self._read: Runs | None = None
        self._kept: OrderedDict[tuple[str, ...], Any] = OrderedDict()
        self._working = threading.Lock()

    def prepare(self) -> threading.Thread:
        """Begins to make what the page begins with, in a thread of its own."""

        def work() -> None:
            with suppress(UopvizError):  # the page is told
                rules = self.names()["rules"]
                if rules:
                    self.series("rule-time", rules[0]["name"])

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    def summary(self) -> dict[str, Any]:
        """`Fleet` of the page: how many runs there are, of which commits, and what can be asked."""
        (row,) = self._ask(_TOTALS)
        return {
            "folder": self.folder.address,
            **dict(zip(("runs", "commits", "first", "last"), row, strict=True)),
            "metrics": [{"name": name, "of": of} for name, (of, _) in METRICS.items()],
        }

    def names(self) -> dict[str, Any]:
        """`FleetNames` of the page: the rules by time, the kernels by runs."""

        def made() -> dict[str, Any]:
            rules, kernels = self._ask(_RULES), self._ask(_KERNELS)
            return {
                "rules": [dict(zip(("name", "us", "matches"), r, strict=True)) for r in rules],
                "kernels": [dict(zip(("name", "us", "runs"), k, strict=True)) for k in kernels],
            }

        return self._once(("names",), made)

    def runs(self, text: str, order: str, begin: int) -> dict[str, Any]:
        """`FleetRuns` of the page: those of PAGE runs from number `begin` on whose commit, program,
        file, time or kernels have the text. `order` is a column, "-" before it turns it round."""
        column, turned = order.removeprefix("-"), order.startswith("-")
        by = column if column in ORDERS else "time"
        where = " WHERE " + _MATCHES if text else ""
        given = (text,) if text else ()
        sql = (
            f"WITH found AS (SELECT * FROM runs{where}) SELECT run_id, commit, program, time,"
            " seconds, kernels, steps, path, (SELECT count(*) FROM found) FROM found"
            f" ORDER BY {by} {'DESC' if turned else 'ASC'}, run_id LIMIT {PAGE} OFFSET {begin}"
        )
        rows = self._ask(sql, parameters=given)
        if not rows and begin:
            return self.runs(text, order, 0) | {"begin": begin, "runs": []}
        return {
            "total": rows[0][-1] if rows else 0,
            "begin": begin,
            "runs": [dict(zip(_COLUMNS, row[:-1], strict=True)) for row in rows],
        }

    def series(self, metric: str, of: str) -> dict[str, Any]:
        """`FleetSeries` of the page: the figure over the commits, for each program, with where it
        changed. Raises TraceError."""
        return self._once((metric, of), lambda: _figure(self._known(), metric, of))

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

    def _once(self, key: tuple[str, ...], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """An answer about the whole folder, which one thread makes."""
        with self._working:
            self._current()
            if key not in self._kept:
                self._kept[key] = make()
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]

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
        with self._lock:
            if self._tables is not None and time.monotonic() - self._looked < _FRESH:
                return self._tables
            batches = self.folder.names("runs")
            if self._tables is None or batches != self._batches:
                self._tables = Tables(self.folder, held=("runs",))
                self._batches, self._read = batches, None
                self._kept.clear()
            self._looked = time.monotonic()
            return self._tables


def _figure(runs: Runs, metric: str, of: str) -> dict[str, Any]:
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
                        "runs": len(values),
                        "run": own[0],
                    }
                    for commit, own, values in zip(one.commits, one.runs, one.values, strict=True)
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
            for one in runs.series(metric, of)
        ],
    }


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


_TOTALS: Final = "SELECT count(*), count(DISTINCT commit), min(time), max(time) FROM runs"
_RULES: Final = (
    f"SELECT rule, sum(us), sum(matches) FROM rules GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST}"
)
_KERNELS: Final = (
    "SELECT kernel, sum(us), count(DISTINCT run_id) FROM kernels GROUP BY 1"
    f" ORDER BY 3 DESC, 2 DESC, 1 LIMIT {MOST}"
)
_MATCHES: Final = (
    "contains(lower(concat_ws(' ', commit, program, file, time)), lower($1))"
    " OR run_id IN (SELECT run_id FROM kernels WHERE contains(kernel, $1))"
)
