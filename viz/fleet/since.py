"""`uopviz since`: for each rule, pass or kernel of a folder of runs, the commits at which a figure
changed. Reads; never writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from core.errors import TraceError
from viz.fleet.asking import Tables
from viz.fleet.changes import Change, changes
from viz.fleet.folder import Folder

METRICS: Final[Mapping[str, tuple[str, str]]] = {
    "rule-time": ("rule", "SELECT run_id, rule, sum(us) FROM rules GROUP BY 1, 2"),
    "rule-matches": ("rule", "SELECT run_id, rule, sum(matches) FROM rules GROUP BY 1, 2"),
    "pass-time": ("pass", "SELECT run_id, pass, sum(us) FROM passes GROUP BY 1, 2"),
    "compile-time": ("program", "SELECT run_id, program, sum(us) FROM kernels GROUP BY 1, 2"),
    "kernels": ("program", "SELECT run_id, program, sum(kernels) FROM runs GROUP BY 1, 2"),
    "launch-time": ("kernel", "SELECT run_id, kernel, median(ns) FROM launches GROUP BY 1, 2"),
    "registers": (
        "kernel",
        "SELECT run_id, kernel, max(registers) FROM texts WHERE registers > 0 GROUP BY 1, 2",
    ),
}
"""By name: what it is a figure of, and its value for each run."""
ABSENT: Final = ("rule-matches", "kernels")
"""Figures that are 0 in a run that does not have the rule."""
_RUNS: Final = "SELECT run_id, commit, program, path FROM runs ORDER BY time, run_id"


@dataclass(frozen=True)
class Series:
    """A figure over the commits of one program: the runs of each commit that have it, with its
    value in each."""

    metric: str
    of: str
    program: str
    commits: Sequence[str]
    runs: Sequence[Sequence[str]]
    values: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Found:
    """A change of one figure at a commit: of the program in which it is largest, and how many
    programs have one there."""

    metric: str
    of: str
    commit: str
    program: str
    programs: int
    change: Change
    runs: tuple[str, str]
    """A run of the commit before, and one of this: their files."""
    series: Series
    """That of this program."""
    span: tuple[str, str]
    """The first and the last commit at which the figure alone may have changed: its noise leaves
    that open, and some commits have no run of the program."""


def since(folder: Folder, metrics: Sequence[str]) -> list[Found]:
    """All changes, by commit in the order of the commits. Raises TraceError."""
    with closing(Tables(folder)) as tables:
        return _found(Runs(tables), metrics)


def _found(runs: Runs, metrics: Sequence[str]) -> list[Found]:
    made = [
        (series, change)
        for metric in metrics
        for series in runs.series(metric)
        for change in changes(series.values)
    ]
    order = {commit: at for at, commit in enumerate(runs.commits)}
    spans = [_span(series, change, order) for series, change in made]
    found: dict[tuple[str, str, str], list[Found]] = {}
    for (series, change), span, at in zip(made, spans, commits_of(spans), strict=True):
        key = series.metric, series.of, runs.commits[at]
        before, after = series.runs[change.at - 1][-1], series.runs[change.at][0]
        files = runs.path(before), runs.path(after)
        ends = runs.commits[span[0]], runs.commits[span[2]]
        one = Found(*key, series.program, 1, change, files, series, ends)
        found.setdefault(key, []).append(one)
    merged = [_largest(own) for own in found.values()]
    return sorted(merged, key=lambda one: (order[one.commit], one.metric, one.of))


def _span(series: Series, change: Change, order: Mapping[str, int]) -> tuple[int, int, int]:
    """The first commit at which it may have changed, the likeliest and the last, of all commits:
    those that have no run of the program are among them."""
    before = order[series.commits[change.first - 1]]
    return before + 1, order[series.commits[change.at]], order[series.commits[change.last]]


def commits_of(spans: Sequence[tuple[int, int, int]]) -> list[int]:
    """For each change the commit that it is told of: where one that is known better changed at a
    commit of its span, that commit, else its likeliest. A commit changes many figures, and a count
    of matches says exactly which commit it was, when times leave a few open."""
    known: set[int] = set()
    commits = [at for _, at, _ in spans]
    for number in sorted(range(len(spans)), key=lambda n: spans[n][2] - spans[n][0]):
        first, at, last = spans[number]
        near = [one for one in known if first <= one <= last]
        commits[number] = min(near, key=lambda one: (abs(one - at), one), default=at)
        known.add(commits[number])
    return commits


def _largest(found: Sequence[Found]) -> Found:
    one = max(found, key=lambda one: one.change.size)
    return replace(one, programs=len(found))


class Runs:
    """The runs of tables by commit, in the order in which the commits were first run."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._of: dict[str, dict[str, list[str]]] = {}
        """By program and commit."""
        self._paths: dict[str, str] = {}
        commits: dict[str, None] = {}
        for run, commit, program, path in tables.ask(_RUNS)[1]:
            self._of.setdefault(program, {}).setdefault(commit, []).append(run)
            self._paths[run] = path or ""
            commits[commit] = None
        self.commits: Sequence[str] = [*commits]

    def path(self, run: str) -> str:
        """Where the trace of a run was when it was packed."""
        return self._paths[run]

    def series(self, metric: str, only: str | None = None) -> Iterator[Series]:
        """A figure of everything that has it, or `only` of one thing, for each program. Raises
        TraceError."""
        if metric not in METRICS:
            raise TraceError(f"there is no metric {metric!r}", hint=", ".join(METRICS))
        sql, given = METRICS[metric][1], ()
        if only is not None:
            sql, given = f"SELECT * FROM ({sql}) AS t(run, of, value) WHERE of = ?", (only,)
        values: dict[str, dict[str, float]] = {}
        for run, of, value in self._tables.ask(sql, parameters=given)[1]:
            if value is not None:
                values.setdefault(str(of), {})[str(run)] = float(value)
        for of, by_run in values.items():
            for program, commits in self._of.items():
                if any(run in by_run for runs in commits.values() for run in runs):
                    yield self._series(metric, of, program, by_run)

    def _series(self, metric: str, of: str, program: str, by_run: Mapping[str, float]) -> Series:
        if metric in ABSENT:
            of_commits = self._of[program]
        else:
            named = self._of[program].items()
            of_commits = {commit: [run for run in runs if run in by_run] for commit, runs in named}
        kept = [(commit, of_commits[commit]) for commit in self.commits if of_commits.get(commit)]
        return Series(
            *(metric, of, program),
            [commit for commit, _ in kept],
            [runs for _, runs in kept],
            [[by_run.get(run, 0.0) for run in runs] for _, runs in kept],
        )


def data_of(found: Sequence[Found]) -> dict[str, Any]:
    """The changes as `SinceCommits` of docs/json.md."""
    rows = [
        {
            **{key: getattr(one, key) for key in ("metric", "of", "commit", "program", "programs")},
            "before": one.change.before,
            "after": one.change.after,
            "low": None if one.change.low == inf else one.change.low,
            "high": None if one.change.high == inf else one.change.high,
            "first": one.span[0],
            "last": one.span[1],
            "a": one.runs[0],
            "b": one.runs[1],
        }
        for one in found
    ]
    return {"changes": rows, "total": len(rows)}
