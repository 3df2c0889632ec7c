"""A run in the terminal: its tree, its figures, and single steps as text differences.

Makes lines of text; never prints. Whoever prints them shows control characters as escapes
(viz/terminal.py); here that is done for texts that stand beside others in a line, too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

from viz.terminal import clean
from viz.views.run import Run

Row = dict[str, Any]
_DEEPEST: Final = 20
"""Levels of the tree that are indented; further ones stand below each other."""
OUTSIDE_MATCHES: Final = "walking, trying patterns, functions that declined, and recording"
_NEVER: Final = 20
"""Rules without a match that are listed."""


def plural(n: int, one: str, many: str = "") -> str:
    """`1 step`, `2 steps`; `many` where adding an s is wrong."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def tree_lines(rows: list[Row], everything: bool = False) -> Iterator[str]:
    """The navigator as lines; passes that changed nothing are folded unless `everything`."""
    depth: dict[int, int] = {-1: -1}
    folded = 0
    for row in _in_tree_order(rows):
        depth[row["row"]] = depth.get(row["parent"], -1) + 1
        quiet = row["kind"] == "rewrite" and not row["steps"] and row["status"] == "ok"
        if quiet and not everything:
            folded += 1
            continue
        indent = "  " * min(depth[row["row"]], _DEEPEST)
        status = "" if row["status"] == "ok" else f"  [{clean(row['status'])}]"
        steps = plural(row["steps"], "step")
        name = clean(row["name"]) + (f"  ({clean(row['calls'])})" if row["calls"] else "")
        yield f"{row['id']:>6}  {indent}{name}  {steps}, {row['ms']:.1f} ms{status}"
    if folded:
        passes = plural(folded, "pass", "passes")
        yield f"{passes} changed nothing, not listed without --all"


def _in_tree_order(rows: list[Row]) -> list[Row]:
    """Rows with those of kernels compiled on request, which come last, below their kernels."""
    if not any(row.get("target") for row in rows):
        return rows
    children: dict[int, list[Row]] = {}
    for row in rows:
        children.setdefault(row["parent"], []).append(row)
    found: list[Row] = []
    stack = children.pop(-1, [])[::-1]
    while stack:
        found.append(stack.pop())
        stack += children.pop(found[-1]["row"], [])[::-1]
    return found


def below(rows: list[Row], number: int) -> list[Row]:
    """The row with this number and all below it, as a tree of its own."""
    kept: dict[int, Row] = {}
    for row in rows:
        if row["id"] == number:
            kept[row["row"]] = row | {"parent": -1}
        elif row["parent"] in kept:
            kept[row["row"]] = row
    return list(kept.values())


def run_lines(run: Row) -> Iterator[str]:
    """The run in a few lines."""
    totals = run["totals"]
    yield f"{clean(run['name'])}  {clean(run['started'])}  {run['seconds']:.2f} s"
    yield (
        f"{plural(totals['kernels'], 'kernel')}, {plural(totals['rewrites'], 'pass', 'passes')}, "
        f"{plural(totals['steps'], 'step')}, {plural(totals['launches'], 'launch', 'launches')}, "
        f"{plural(run['processes'], 'process', 'processes')}, {plural(run['bytes'], 'byte')}"
    )
    if run["commit"]:
        changed = f", {plural(run['dirty'], 'file')} changed" if run["dirty"] else ""
        yield f"commit {clean(run['commit'])}{changed}"
    for problem in run["problems"]:
        where = f" ({clean(problem['where'])})" if problem["where"] else ""
        yield f"problem: {clean(problem['what'])}{where}"


def rewrite_lines(store: Run, bundle: dict[str, Any]) -> Iterator[str]:
    """The steps of a rewrite, one line each."""
    yield f"{clean(bundle['name'])}: {plural(len(bundle['steps']), 'step')}"
    for i, step in enumerate(bundle["steps"], 1):
        changed = f"-{len(step['removed'])} +{len(step['added'])} moved {len(step['moved'])}"
        yield f"{i:>6}  {clean(store.rule_name(step['rule']))}  {changed}  {step['us']} us"
    if bundle["error"]:
        yield f" error  {clean(bundle['error']['message'])}"
    if bundle["truncated"]:
        yield bundle["truncated"]


def step_lines(store: Run, rewrite: int, step: int) -> Iterator[str]:
    """What one step changed: the rule, and the graphs before and after as a difference."""
    bundle = store.bundle(rewrite)
    text = store.step_text(rewrite, step)
    if bundle is None or text is None:
        return
    if step:
        yield f"step {step}: {clean(store.rule_name(bundle['steps'][step - 1]['rule']))}"
    before, after = text["before"].splitlines(), text["after"].splitlines()
    difference = difflib.unified_diff(before, after, "before", "after", lineterm="", n=2)
    yield from (clean(line) for line in (difference if step else after))


def stats_lines(
    rows: list[Row], never: list[Row], untimed: Row | None = None, count: int = 40
) -> Iterator[str]:
    """The rules that took most time in their matches, the time outside matches, and the rules that
    never matched."""
    yield (
        f"{'us matching':>12} {'tries':>12} {'matches':>9} {'declines':>9} {'added':>9} "
        f"{'removed':>9}  rule (pass)"
    )
    for row in rows[:count]:
        rule, name = clean(row["rule"]), clean(row["pass"])
        known = row.get("tries") is not None
        tries = f"{row['tries']:,}" if known else "not recorded"
        us = f"{row['us']:,.0f}" if row["matches"] else "-"
        yield (
            f"{us:>12} {tries:>12} {row['matches']:>9,} {row['declines']:>9,} "
            f"{row['added']:>9,} {row['removed']:>9,}  {rule} ({name})"
        )
    if len(rows) > count:
        yield f"{plural(len(rows) - count, 'more row')}; --json has all"
    if untimed is not None:
        yield f"{untimed['us']:>12,.0f}  outside matches: {OUTSIDE_MATCHES}"
    if never:
        yield ""
        yield f"{plural(len(never), 'rule')} never matched"
        yield f"{'tries':>12} {'declines':>9}  rule"
    for row in never[:_NEVER]:
        rule, place = clean(row["rule"]), clean(row["place"])
        yield f"{row['tries']:>12,} {row['declines']:>9,}  {rule}  {place}"
    if len(never) > _NEVER:
        yield f"{plural(len(never) - _NEVER, 'more rule')}; --json has all"


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
