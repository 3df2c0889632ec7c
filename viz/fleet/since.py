"""`uopviz since`: for each rule, pass or kernel of a folder of runs, the commits at which a figure
changed. Reads; never writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.fleet.asking import ask
from viz.fleet.changes import changes

METRICS: Final[dict[str, tuple[str, str]]] = {
    "rule-time": ("rule", "SELECT run_id, rule, sum(us) FROM rules GROUP BY 1, 2"),
    "rule-matches": ("rule", "SELECT run_id, rule, sum(matches) FROM rules GROUP BY 1, 2"),
    "pass-time": ("pass", "SELECT run_id, pass, sum(us) FROM passes GROUP BY 1, 2"),
    "compile-time": ("run", "SELECT run_id, program, sum(us) FROM kernels GROUP BY 1, 2"),
    "kernels": ("run", "SELECT run_id, program, sum(kernels) FROM runs GROUP BY 1, 2"),
    "launch-time": ("kernel", "SELECT run_id, kernel, median(ns) FROM launches GROUP BY 1, 2"),
    "registers": (
        "kernel",
        "SELECT run_id, kernel, max(registers) FROM texts WHERE registers > 0 GROUP BY 1, 2",
    ),
}
"""By name: what it is a figure of, and its value for each run."""
ABSENT: Final = ("rule-matches", "kernels")
"""Figures that are 0 in a run that does not have the rule."""
_RUNS: Final = "SELECT run_id, commit, program, time, file FROM runs ORDER BY time, run_id"


@dataclass(frozen=True)
class Found:
    """A change of one figure."""

    metric: str
    of: str
    commit: str
    before: float
    after: float
    low: float
    high: float
    runs: tuple[str, str]
    """A run of the commit before, and one of this: their files."""


def since(folder: Path, metrics: list[str]) -> list[Found]:
    """All changes, by commit in the order of the commits. Raises TraceError."""
    for name in metrics:
        if name not in METRICS:
            raise TraceError(f"there is no metric {name!r}", hint=", ".join(METRICS))
    _, rows = ask(folder, _RUNS)
    commits: dict[str, list[str]] = {}
    files: dict[str, str] = {}
    for run, commit, _, _, file in rows:
        commits.setdefault(str(commit), []).append(str(run))
        files.setdefault(str(commit), str(file))
    order = [*commits]
    found: list[tuple[int, Found]] = []
    for metric in metrics:
        values: dict[str, dict[str, float]] = {}
        for run, of, value in ask(folder, METRICS[metric][1])[1]:
            values.setdefault(str(of), {})[str(run)] = float(value)
        for of, by_run in values.items():
            series = [_of_commit(commits[c], by_run, metric) for c in order]
            kept = [at for at, one in enumerate(series) if one]
            for change in changes([series[at] for at in kept]):
                at, before = kept[change.at], kept[change.at - 1]
                names = files[order[before]], files[order[at]]
                said = Found(
                    *(metric, of, order[at], change.before, change.after),
                    *(change.low, change.high, names),
                )
                found.append((at, said))
    return [one for _, one in sorted(found, key=lambda item: (item[0], item[1].metric, item[1].of))]


def _of_commit(runs: list[str], by_run: dict[str, float], metric: str) -> list[float]:
    if metric in ABSENT:
        return [by_run.get(run, 0.0) for run in runs]
    return [by_run[run] for run in runs if run in by_run]


def data_of(found: list[Found]) -> dict[str, Any]:
    """The changes as `Since` of docs/json.md."""
    rows = [
        {
            **{key: getattr(one, key) for key in ("metric", "of", "commit", "before", "after")},
            "low": None if one.low == float("inf") else one.low,
            "high": None if one.high == float("inf") else one.high,
            "a": one.runs[0],
            "b": one.runs[1],
        }
        for one in found
    ]
    return {"changes": rows, "total": len(rows)}
