"""`uopviz check`: whether the steps of a run are right; exit code 1 where one is not.

Reads a run, checks its replacements in processes, prints, and keeps the results beside the trace.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Final

from core.errors import TraceError
from core.prove.verdict import verdict_of
from viz.check.known.beside import identity_of, place_of
from viz.check.known.kept import load, save
from viz.check.message import message
from viz.check.part import Part
from viz.check.run import NewExecutor, check_passes, processes
from viz.command.columns import Column, plural, table
from viz.command.names import Row, below, find_kernel, find_pass, find_rule, program_rows
from viz.command.session import open_store, put
from viz.terminal import Line, Styled
from viz.views.store import Store
from viz.work.executors import executor_at

_ROWS: Final = 40
"""Rows of steps that are not proved."""
_SHOWN: Final = {
    "proved": "proved",
    "sampled": "holds for all samples",
    "assumes": "holds under what is assumed",
    "unchecked": "not checkable",
    "differs": "differs",
}


def check(options: argparse.Namespace) -> int:
    """Checks the steps of a run."""
    store = open_store(options)
    if not isinstance(store, Store):
        raise TraceError(
            "this exported file holds no trace",
            where=str(store.path),
            hint="give the trace itself, or a file that was exported with a larger --budget",
        )
    rewrites = _chosen(store, options)
    rules = frozenset[str]()
    if options.rule is not None:
        rules = frozenset({find_rule(store.rules(), options.rule)["name"]})
    of, place = identity_of(store), place_of(store)
    known = {} if options.again or of is None else load(place, of)
    wanted = tuple(n for n in rewrites if rules or n not in known)
    files = [file.path for file in store.files]  # of an exported file, what was unpacked
    names, seconds = tuple(path.name for path in files), float(options.seconds)
    part = Part(str(files[0].absolute()), wanted, rules, seconds, files=names)
    options.progress.begin("checking")

    def telling(said: str) -> None:
        options.progress.update(None, said)

    made = {}
    if wanted:
        found = check_passes(store, part, options.jobs, telling, _executor(options.executor))
        made = {one["rewrite"]: one for one in found}
    if not rules and made and of is not None:
        save(place, of, known | made)
    passes = [(known | made)[n] for n in rewrites if n in known or n in made]
    if rules:
        passes = [one for one in made.values() if one["steps"]]
    data = message(store, passes)
    put(options, data, lines(data))
    return int(data["counts"]["differs"] > 0)


def _executor(address: str | None) -> NewExecutor:
    """Processes of this machine, or the cluster that is asked for."""

    def cluster(_: int) -> Executor:
        return executor_at(address or "")

    return processes if address is None else cluster


def _chosen(store: Store, options: argparse.Namespace) -> list[int]:
    """The numbers of the passes that are meant."""
    rows = store.tree()["rows"]
    kernel = None if options.kernel is None else find_kernel(rows, options.kernel)
    within = rows if kernel is None else below(rows, kernel["id"])
    if options.pass_name is None:
        return [row["id"] for row in program_rows(within) if row["kind"] == "rewrite"]
    name = options.pass_name
    same = [row["id"] for row in program_rows(within) if row["name"] == name]
    if same:
        return same
    return [find_pass(within, name, kernel["name"] if kernel else "")["id"]]


def lines(data: Row) -> Iterator[Line]:
    """The report: shares, then what is not proved, the worst first."""
    total = data["steps"]
    yield Styled(f"checked {plural(total, 'step')}", "heading")
    for kind, text in _SHOWN.items():
        count = data["counts"][kind]
        share = 100 * count / total if total else 0.0
        yield f"  {text:<28} {count:>9,}  {share:6.2f} %"
    if integers := sum(data["integers"].values()):
        proved = 100 * data["integers"]["proved"] / integers
        yield f"  of {integers:,} on integers and booleans, {proved:.2f} % are proved"
    if count := data["on_request"]:
        left_out = plural(count, "pass", "passes")
        yield f"  not checked: {left_out} of kernels compiled for other targets on request"
    rows = [row for row in data["rules"] if row["verdict"]["kind"] != "proved"]
    if rows:
        yield ""
        columns = (Column("answer", style="name"), Column("steps", True), Column("rule"),
                   Column("first"), Column("how"))  # fmt: skip
        yield from table(columns, [_row(row) for row in rows[:_ROWS]])
    if len(rows) > _ROWS:
        yield Styled(f"{plural(len(rows) - _ROWS, 'more row')}; --json has all", "hint")
    for row in rows:
        if row["verdict"]["kind"] == "differs":
            yield from _difference(row)
    if data["hint"]:
        yield Styled(data["hint"], "hint")


def _row(row: Row) -> tuple[str, ...]:
    verdict, first = verdict_of(row["verdict"]), row["first"]
    how = verdict.how
    if verdict.ulps:
        how += f", at most {verdict.ulps:.3g} ulp"
    place = f"{first['pass']} ({first['rewrite']}) step {first['step']}"
    return verdict.kind, f"{row['steps']:,}", row["name"], place, how


def _difference(row: Row) -> Iterator[Line]:
    """The values for which a step is wrong."""
    verdict, first = verdict_of(row["verdict"]), row["first"]
    yield ""
    yield Styled(f"{row['name']} is wrong at step {first['step']} of {first['pass']}", "problem")
    yield f"  written at {row['place']}"
    for name, value in verdict.values:
        yield f"  {name} = {value}"
    yield f"  before: {verdict.before}"
    yield f"  after:  {verdict.after}"
