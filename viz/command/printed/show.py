"""`uopviz show`: a run on one screen, its tree, a pass with its steps, or one step as a difference;
of a kernel written with tiles, these.

Reads a run and prints; never changes anything.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from core.errors import TraceError
from core.origintext import split_origin
from viz.command.columns import Column, duration, plural, table
from viz.command.line.names import Row, below, in_tree_order, program_rows
from viz.command.printed.overview import (
    note_lines,
    overview,
    overview_lines,
    problem_lines,
    run_lines,
)
from viz.command.printed.passtext import show_pass_text
from viz.command.printed.sources import show_text
from viz.command.printed.tiles import tile_lines, tile_rows
from viz.command.session import (
    chosen_bundle,
    chosen_entry,
    number_first,
    open_store,
    put,
    run_of,
    since_of,
)
from viz.command.styles import difference_style
from viz.replay.graphtext import node_text, step_text
from viz.terminal import Line, Piece, Style, Styled
from viz.views.answers import ACTED
from viz.views.runs.run import Run

_DEEPEST: Final = 20
"""Levels of the tree that are indented; further ones stand below each other."""
_FRAME: Final = re.compile(r'^  File ".*", line \d+, in .*$', re.MULTILINE)


def show(options: argparse.Namespace) -> int:
    """A run, the tree below a group, a pass, a step, or a text."""
    number_first(options)
    store = open_store(options)
    rows, run = in_tree_order(store.tree()["rows"]), run_of(store)
    number = chosen_entry(options, rows)
    step = options.step if options.step_named is None else options.step_named
    if options.text is not None:
        own = next((row for row in rows if row["id"] == number and row.get("text") is True), None)
        if own is not None:
            return show_pass_text(options, store, own)
        return show_text(options, store, rows, number)
    if options.action is not None:
        if number is None:
            raise TraceError("an action on which kernel?", hint="name it with --kernel")
        acted = store.ask(ACTED, number, options.action)
        return put(options, acted, acted["text"].splitlines())
    tree = options.tree or options.all or options.depth is not None
    if number is None:
        if step is not None:
            options.error("a step of which pass? Name it by its number, or with --pass")
        if tree:
            return put(options, {"run": run, "rows": rows}, _run_tree(store, run, rows, options))
        own = program_rows(rows)
        data = overview(store, own)
        lines = overview_lines(run, own, data, options.trace or "")
        return put(options, {"run": run, "rows": rows, **data}, lines)
    groups = {row["id"] for row in rows if row["kind"] == "context"}
    if step is None and number in groups:
        inside = below(rows, number)
        tiles = tile_rows(store, inside)
        lines = chain(tile_lines(tiles), tree_lines(inside, options))
        return put(options, {"run": run, "rows": inside, "tiles": tiles}, lines)
    bundle = chosen_bundle(store, number)
    if step is None:
        lines = pass_lines(store, rows, bundle, options.all)
        return put(options, bundle, lines, pass_brief(store, bundle))
    data = step_data(store, bundle, step)
    return put(options, data, step_lines(data, _title(rows, bundle), bundle, options.all))


# the tree


def tree_lines(rows: Sequence[Row], options: argparse.Namespace) -> Iterator[Line]:
    """The navigator as lines. Passes that changed nothing are folded, unless all are wanted, and so
    is what is deeper than --depth."""
    timed = any(row["ms"] for row in rows)
    depth: dict[int, int] = {-1: -1}
    shown: list[tuple[Piece, ...]] = []
    quiet = deep = 0
    for row in rows:
        level = depth[row["row"]] = depth.get(row["parent"], -1) + 1
        if options.depth is not None and level >= options.depth:
            deep += 1
        elif _is_quiet(row) and not options.all:
            quiet += 1
        else:
            shown.append(_tree_row(row, level, timed))
    columns = (
        Column("number", True, "hint"),
        Column("steps", True),
        Column("time", True),
        Column("pass or group"),
        Column("calls"),
    )
    yield from table(columns, shown)
    if deep:
        yield Styled(f"{deep:,} rows are deeper than --depth {options.depth}", "hint")
    if quiet:
        passes = plural(quiet, "pass", "passes")
        yield Styled(f"{passes} changed nothing, not listed without --all", "hint")


def _run_tree(
    store: Run, run: Row, rows: Sequence[Row], options: argparse.Namespace
) -> Iterator[Line]:
    yield from run_lines(run)
    yield from note_lines(since_of(store))
    yield from problem_lines(run["problems"])
    yield ""
    yield from tree_lines(rows, options)


def _is_quiet(row: Row) -> bool:
    return row["kind"] == "rewrite" and not row["steps"] and row["status"] == "ok"


def _tree_row(row: Row, level: int, timed: bool) -> tuple[Piece, ...]:
    name = "  " * min(level, _DEEPEST) + row["name"]
    failed = row["status"] != "ok"
    style: Style = "problem" if failed else "name"
    said = f"{name}  [{row['status']}]" if failed else name
    titled = Styled(said, style) if failed or row["kind"] == "context" else said
    time = duration(1000 * row["ms"]) if timed else "-"
    return str(row["id"]), f"{row['steps']:,}", time, titled, row["calls"]


# a pass


def pass_lines(
    store: Run, rows: Sequence[Row], bundle: dict[str, Any], everything: bool = False
) -> Iterator[Line]:
    """A pass and its steps, one line each."""
    yield _title(rows, bundle)
    yield plural(len(bundle["steps"]), "step")
    timed = any(step["us"] for step in bundle["steps"])
    columns = (
        Column("step", True),
        Column("removed", True, "removed"),
        Column("added", True, "added"),
        Column("moved", True, "changed"),
        Column("time", True),
        Column("rule"),
    )
    steps = (
        (
            f"{i:,}",
            f"-{len(step['removed'])}",
            f"+{len(step['added'])}",
            f"~{len(step['moved'])}",
            duration(step["us"]) if timed else "-",
            store.rule_name(step["rule"]),
        )
        for i, step in enumerate(bundle["steps"], 1)
    )
    if bundle["steps"]:
        yield from table(columns, steps)
    if bundle["error"]:
        yield from error_lines(
            store.rule_name(bundle["error"]["rule"]), bundle["error"], everything
        )
    if bundle["truncated"]:
        yield Styled(bundle["truncated"], "problem")
    if any(row["id"] == bundle["rewrite"] and row.get("text") is True for row in rows):
        yield Styled("--text shows the compiler's own text before and after it", "hint")


def error_lines(rule: str, error: Row, everything: bool = False) -> Iterator[Line]:
    """How a pass failed, with the traceback; without the frames of the engine, unless everything is
    wanted."""
    yield ""
    yield Styled(f"failed after step {error['step']}", "problem")
    if error["rule"] >= 0:
        yield f"rule       {rule}"
    if error["place"]:
        yield f"raised at  {error['place']}"
    text = error["full"] if everything and error["full"] else error["traceback"]
    for line in (text or error["message"]).splitlines():
        yield f"  {line}"
    hidden = 0 if everything else left_out(error["traceback"], error["full"])
    if hidden:
        frames = plural(hidden, "frame")
        yield Styled(f"{frames} of the engine left out; --all shows them", "hint")


def left_out(shown: str, full: str) -> int:
    """How many frames of a whole traceback a shorter one does not have."""
    return (Counter(_FRAME.findall(full)) - Counter(_FRAME.findall(shown))).total()


def _title(rows: Sequence[Row], bundle: dict[str, Any]) -> Line:
    """`number 171 expand, in r_32_10, called at core/...:12`."""
    row = next((row for row in rows if row["id"] == bundle["rewrite"]), None)
    group = next((r for r in rows if r["id"] == bundle["context"] and r["kind"] == "context"), None)
    within: tuple[Piece, ...] = (", in ", Styled(group["name"], "name")) if group else ()
    called = f", called at {row['caller']}" if row is not None and row["caller"] else ""
    name = Styled(bundle["name"], "heading")
    return name, f"  (number {bundle['rewrite']}", *within, f"{called})"


def pass_brief(store: Run, bundle: dict[str, Any]) -> dict[str, Any]:
    """A pass without its graphs: which rule did what at each step."""
    numbers = bundle["nodes"]["id"]
    steps = [
        {
            "step": at,
            "rule": store.rule_name(delta["rule"]),
            "us": delta["us"],
            "before": numbers[delta["before"]],
            "after": numbers[delta["after"]],
        }
        for at, delta in enumerate(bundle["steps"], 1)
    ]
    kept = ("rewrite", "name", "context", "truncated")
    counts = Counter(one["rule"] for one in steps)
    rules = [{"rule": rule, "steps": count} for rule, count in counts.most_common()]
    error = None if bundle["error"] is None else bundle["error"]["message"]
    said = {key: bundle[key] for key in kept}
    return {**said, "total": len(steps), "error": error, "rules": rules, "steps": steps}


# a step


def step_data(store: Run, bundle: dict[str, Any], step: int) -> dict[str, Any]:
    """One step: its rule with equation and place, the user's call, what the pattern bound, and the
    graphs before and after as text. Raises TraceError for a step that there is not."""
    text = step_text(bundle, step)
    if text is None:
        raise TraceError(
            f"there is no step {step} in pass {bundle['rewrite']}",
            hint=f"its steps are 0 (the input graph) to {len(bundle['steps'])}",
        )
    data = {"rewrite": bundle["rewrite"], "pass": bundle["name"], "step": step}
    data |= {
        "steps": len(bundle["steps"]),
        "rule": None,
        "us": None,
        "calls": [],
        "files": [],
        "bindings": [],
    }
    if not step:
        return data | text
    delta, since = bundle["steps"][step - 1], since_of(store)
    rule = next((rule for rule in store.rules() if rule["id"] == delta["rule"]), None)
    data["us"] = delta["us"]
    data["rule"] = {
        "name": store.rule_name(delta["rule"]),
        "equation": str(rule.get("equation", "")) if rule else "",
        "place": f"{rule.get('file', '?')}:{rule.get('line', 0)}" if rule else "",
        "since": next((r for r in since["rules"] if r["rule"] == delta["rule"]), None),
    }
    origin, origins = bundle["nodes"]["origin"], bundle["origins"]
    nodes = (delta["before"], delta["after"], *(node for _, node in delta["binds"]))
    asked = (origins[origin[n]] for n in nodes if origin[n] >= 0)
    data["calls"] = list(dict.fromkeys(line for lines in asked for line in lines.split("\n")))
    called = {split_origin(call)[0].rpartition(":")[0] for call in data["calls"]}
    data["files"] = [one for one in since["files"] if one["file"] in called]
    numbers = bundle["nodes"]["id"]
    data["bindings"] = [
        {"name": name, "number": numbers[node], "node": node_text(bundle, node)}
        for name, node in delta["binds"]
    ]
    return data | text


def step_lines(
    data: dict[str, Any], title: Line, bundle: dict[str, Any], everything: bool = False
) -> Iterator[Line]:
    """What one step changed: the rule, its equation, places, bindings, and the graphs before and
    after as a difference."""
    yield title
    before, after = data["before"].splitlines(), data["after"].splitlines()
    rule = data["rule"]
    if rule is None:
        yield f"step 0 of {data['steps']:,}: the input graph"
        yield ""
        yield from after
        return
    yield f"step {data['step']:,} of {data['steps']:,}: ", Styled(rule["name"], "heading")
    bound = [f"{one['name']} = u{one['number']} {one['node']}" for one in data["bindings"]]
    changed = {one["file"]: one["state"] for one in data["files"]}
    calls = [_call(call, changed) for call in data["calls"]]
    time = [duration(data["us"])]
    for name, values in (
        ("equation", [rule["equation"]]),
        ("rule", [rule["place"] + _today(rule["since"])]),
        ("your code", calls),
        ("bound", bound),
        ("time", time),
    ):
        for at, value in enumerate(value for value in values if value):
            yield Styled(f"  {'' if at else name:<10}", "hint"), value
    yield ""
    context = max(len(before), len(after)) if everything else 2
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="", n=context)
    for line in lines:
        style = difference_style(line)
        yield (Styled(line, style) if style else line,)


_TODAY: Final = {
    "moved": ", moved since the run: now at line {line}",
    "changed": ", changed since the run: now at line {line}",
    "gone": ", gone from its file since the run",
}
"""What is said behind the place of a rule that is not as it was."""


def _today(since: Row | None) -> str:
    return _TODAY.get(since["state"], "").format(**since) if since else ""


def _call(call: str, states: dict[str, str]) -> str:
    """A line of the user's program, with how its file has changed."""
    place, called = split_origin(call)
    state = states.get(place.rpartition(":")[0])
    said = {"changed": ", file changed since the run", "gone": ", file gone"}.get(state or "", "")
    return f"{place} {called}".rstrip() + said
