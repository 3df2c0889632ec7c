"""`uopviz stats --pass` and `--rule`: how long rules were tried, in one pass or by pass.

Reads a run and prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Final

from core.errors import TraceError
from viz.command.columns import Column, duration, plural, table
from viz.command.line.names import Row, below, find_kernel, find_pass, find_rule
from viz.command.session import put
from viz.terminal import Line, Styled
from viz.views.answers import RULE_PAGE
from viz.views.runs.run import Run
from viz.views.store import Store

NOT_TIMED: Final = "this trace does not say how long tries took"
REST: Final = "in this pass alone; what took less than 10 us is counted by pass name only"
_ROWS: Final = 40
"""Rows that are listed."""


def time_tries(options: argparse.Namespace, run: Run) -> int:
    """How long the rules of a pass were tried, or a rule in each pass; or a rule in one pass."""
    if not isinstance(run, Store):
        raise TraceError(
            "this exported file holds no trace",
            where=str(run.path),
            hint="give the trace itself; `uopviz stats` without --pass and --rule needs none",
        )
    rule = None if options.rule is None else find_rule(run.rules(), options.rule)
    name: str | None = options.pass_name
    if name is None and rule is not None:
        page = run.ask(RULE_PAGE, rule["id"])
        return put(options, page, rule_lines(page, {r["id"]: r for r in run.tree()["rows"]}))
    rows = run.tree()["rows"]
    kernel = None if options.kernel is None else find_kernel(rows, options.kernel)
    within = rows if kernel is None else below(rows, kernel["id"])
    chosen = find_pass(within, name or "", kernel["name"] if kernel else "")
    found: dict[str, Any] | None = run.pass_rules(chosen["id"])
    assert found is not None  # it is a row of the tree
    if rule is not None:
        found["rows"] = [row for row in found["rows"] if row["id"] == rule["id"]]
    return put(options, found, pass_lines(found))


def pass_lines(found: Row) -> Iterator[Line]:
    """The rules of one pass, those that were tried for the longest time first."""
    took = "not ended" if found["us"] is None else duration(found["us"])
    yield Styled(f"pass {found['rewrite']} {found['pass']}: {took}", "heading")
    if not found["known"]:
        yield Styled(NOT_TIMED, "hint")
    columns = (
        *(Column("trying", True), Column("in function", True, spare=1), Column("tries", True)),
        *(Column("matches", True), Column("rule"), Column("written at", style="hint")),
    )
    rows = [
        (*_times(row), f"{row['matches']:,}", row["rule"], row["place"]) for row in found["rows"]
    ]
    yield from table(columns, rows[:_ROWS])
    yield from _more(len(rows))
    if found["known"]:
        yield Styled(REST, "hint")


def rule_lines(page: Row, rows: dict[int, Row]) -> Iterator[Line]:
    """One rule: by name of the pass, and the passes in which it was tried for the longest time."""
    passes, times = page["passes"], page["times"]
    yield Styled(f"{page['rule']['name']}  {page['rule']['equation']}".rstrip(), "heading")
    if times is None:
        yield Styled(NOT_TIMED, "hint")
    columns = (
        *(Column("trying", True), Column("in function", True, spare=1), Column("tries", True)),
        *(Column("matches", True), Column("declines", True), Column("pass")),
    )
    listed = [
        (*_times(row), f"{row['matches']:,}", f"{row['declines']:,}", row["pass"])
        for row in sorted(passes, key=lambda row: -(row["tryUs"] or 0))
    ]
    yield from table(columns, listed[:_ROWS])
    yield from _more(len(listed))
    if not times or not times["rewrite"]:
        return
    yield ""
    yield Styled(f"{plural(len(times['rewrite']) + times['leftOut'], 'pass', 'passes')}", "heading")
    columns = (
        Column("trying", True),
        Column("in function", True, spare=1),
        Column("tries", True),
        Column("pass"),
    )
    listed = [
        (duration(us), duration(inside), f"{tried:,}", f"{number} {rows[number]['name']}")
        for number, us, inside, tried in zip(
            *(times[key] for key in ("rewrite", "us", "functionUs", "tries")), strict=True
        )
        if number in rows
    ]
    yield from table(columns, listed[:_ROWS])
    yield from _more(len(listed))
    yield Styled(REST, "hint")


def _times(row: Row) -> tuple[str, str, str]:
    if row["tryUs"] is None:
        return "-", "-", "-" if row.get("tries") is None else f"{row['tries']:,}"
    tried = "not recorded" if row["tries"] is None else f"{row['tries']:,}"
    return duration(row["tryUs"]), duration(row["functionUs"]), tried


def _more(count: int) -> Iterator[Line]:
    if count > _ROWS:
        yield Styled(f"{plural(count - _ROWS, 'more row')}; --json has all", "hint")
