"""`uopviz stats`: which rules cost how much, and which never match."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Final

from viz.command.columns import Column, duration, plural, table
from viz.command.line.names import Row
from viz.command.printed.overview import problem_lines, run_lines
from viz.command.printed.tries import time_tries
from viz.command.session import open_store, put, run_of
from viz.terminal import Line, Progress, Styled
from viz.views.rules.cost import costliest
from viz.views.runs.run import Run

OUTSIDE_MATCHES: Final = "walking, trying patterns, functions that declined, and recording"
_NEVER: Final = 20
"""Rules without a match that are listed."""
_COSTLY: Final = 40
"""Rules that are listed by their cost."""
_COUNTING: Final = 30.0
"""Seconds that passes are replayed for, to count nodes."""
_PART: Final = 1.0
"""Seconds of that after which progress is told."""


def stats(options: argparse.Namespace) -> int:
    """Which rules cost, and which never match."""
    if options.kernel is not None and options.pass_name is None:
        options.error("--kernel goes with --pass: the rules of one pass of one kernel")
    store = open_store(options)
    if options.pass_name is not None or options.rule is not None:
        return time_tries(options, store)
    run, totals = run_of(store), _totals(store, options.progress)
    never = never_matched(totals, store.rules())
    totals["rows"] = costliest(totals, store.rule_name)
    if options.by == "matches":
        acted = [row for row in totals["rows"] if row["matches"] or row["declines"]]
        totals["rows"] = sorted(acted, key=lambda row: -row["us"])
    found = {"rules": totals["rows"], "neverMatched": never, "counted": totals["counted"]}
    found["untimed"] = totals.get("untimed")
    lines = stats_lines(run, totals, never)
    return put(options, {**run["totals"], "run": run, **found}, lines)


def _totals(store: Run, progress: Progress) -> Row:
    """What each rule cost, with the nodes counted as far as the time allows."""
    progress.begin("counting nodes")
    until, before = time.monotonic() + _COUNTING, -1
    while True:
        totals = store.rule_totals(min(_PART, until - time.monotonic()))
        counted, steps = totals["counted"], totals["steps"]
        # an exported file says what it says, however often it is asked
        if counted in (steps, before) or time.monotonic() >= until:
            return totals
        progress.update(counted / steps, f"of {counted:,} of {steps:,} steps")
        before = counted


def stats_lines(run: Row, totals: Row, never: Sequence[Row]) -> Iterator[Line]:
    """The rules that took most time, the time outside matches, and the rules that never matched."""
    yield from run_lines(run)
    yield from problem_lines(run["problems"])
    yield ""
    rows, untimed = totals["rows"], totals.get("untimed")
    columns = (
        Column("matching", True, spare=1),
        Column("trying", True),
        Column("tries", True),
        Column("matches", True),
        Column("declines", True, spare=2),
        Column("added", True, "added", spare=3),
        Column("removed", True, "removed", spare=3),
        Column("rule"),
        Column("pass", style="hint"),
    )
    yield from table(columns, map(_rule_row, rows[:_COSTLY]))
    if len(rows) > _COSTLY:
        yield Styled(f"{plural(len(rows) - _COSTLY, 'more row')}; --json has all", "hint")
    if untimed is not None:
        yield f"  {duration(untimed['us'])} outside matches: {OUTSIDE_MATCHES}"
    if totals["counted"] < totals["steps"]:
        yield f"  nodes of {totals['counted']:,} of {totals['steps']:,} steps are counted"
    if not never:
        return
    yield ""
    yield Styled(f"{plural(len(never), 'rule')} never matched", "heading")
    columns = Column("tries", True), Column("declines", True), Column("rule"), Column("written at")
    rows = [
        (f"{row['tries']:,}", f"{row['declines']:,}", row["rule"], row["place"])
        for row in never[:_NEVER]
    ]
    yield from table(columns, rows)
    if len(never) > _NEVER:
        yield Styled(f"{plural(len(never) - _NEVER, 'more rule')}; --json has all", "hint")


def _us(value: float | None) -> str:
    return "not recorded" if value is None else duration(value)


def _rule_row(row: Row) -> tuple[str, ...]:
    return (
        duration(row["us"]) if row["matches"] else "-",
        _us(row.get("tryUs")),
        f"{row['tries']:,}" if row.get("tries") is not None else "not recorded",
        f"{row['matches']:,}",
        f"{row['declines']:,}",
        f"{row['added']:,}",
        f"{row['removed']:,}",
        row["rule"],
        row["pass"],
    )


def never_matched(totals: Row, rules: list[Row]) -> list[Row]:
    """The rules that were offered to nodes in some pass and replaced none in any, the one tried
    most often first: `tries`, `declines`, and where each is written."""
    tried: dict[int, list[int]] = {}
    fired = {row["id"] for row in totals["rows"] if row["matches"] or row.get("tries") is None}
    for row in totals["rows"]:
        counts = tried.setdefault(row["id"], [0, 0])
        counts[0] += row.get("tries") or 0
        counts[1] += row["declines"]
    for one in totals.get("silent", ()):
        for rule, tries in zip(one["id"], one["tries"], strict=True):
            tried.setdefault(rule, [0, 0])[0] += tries
    known = {rule["id"]: rule for rule in rules}
    found = [
        {
            "id": rule,
            "rule": known[rule]["name"] if rule in known else "?",
            "place": f"{known[rule]['file']}:{known[rule]['line']}" if rule in known else "",
            "tries": tries,
            "declines": declines,
        }
        for rule, (tries, declines) in tried.items()
        if rule not in fired
    ]
    return sorted(found, key=lambda row: -row["tries"])
