"""A run on one screen: what ran, what took the time, which rules cost, what went wrong.

Makes data and lines; never prints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from core.errors import UopvizError
from viz.command.columns import (
    Column,
    duration,
    moment,
    plural,
    size,
    table,
)
from viz.command.line.names import Row, below
from viz.command.session import since_of
from viz.terminal import Line, Styled, shell_word
from viz.views.kernels.captured import captured_words
from viz.views.rules.cost import cost_of, costliest
from viz.views.runs.process import STRIDE
from viz.views.runs.run import Run

KERNELS: Final = 12
PASSES: Final = 6
RULES: Final = 6
"""Rows of each table."""
PROBLEMS: Final = 10


def overview(store: Run, rows: Sequence[Row]) -> dict[str, Any]:
    """The kernels of a run by the time that they ran, its slowest passes, its costliest rules."""
    return {
        "kernels": kernel_rows(store, rows),
        "passes": _slowest(rows),
        "rules": costliest(store.rule_totals(0), store.rule_name)[:RULES],
        "since": since_of(store),
    }


def kernel_rows(store: Run, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """All kernels, those that ran longest first: `us` and `launches` are null where the launches
    of the run are not known."""
    ran = _launched(store)
    found: list[dict[str, Any]] = []
    for row in rows:
        if row["kind"] == "context" and row["label"] == "kernel":
            counts = (
                ran.get((row["id"] // STRIDE, row["name"]), [0, 0]) if ran is not None else None
            )
            found.append(
                {
                    "id": row["id"],
                    "name": row["name"],
                    "calls": row["calls"],
                    "launches": counts[0] if counts else None,
                    "us": counts[1] / 1000 if counts else None,
                    "ms": row["ms"],
                    "steps": row["steps"],
                    "status": row["status"],
                }
            )
    return sorted(found, key=lambda kernel: (-(kernel["us"] or 0), -kernel["ms"], -kernel["steps"]))


def run_lines(run: Row) -> Iterator[Line]:
    """The run in a few lines, without its problems."""
    totals = run["totals"]
    yield (
        Styled(run["name"], "heading"),
        f"  {moment(run['started'])}  {run['seconds']:,.2f} s",
    )
    yield ", ".join(
        (
            _kernels(run, totals["kernels"]),
            plural(totals["rewrites"], "pass", "passes"),
            plural(totals["steps"], "step"),
            plural(totals["launches"], "launch", "launches"),
            plural(run["processes"], "process", "processes"),
            size(run["bytes"]),
        )
    )
    captured = run.get("captured") or {"kernels": 0}  # exported before there were any
    if words := captured_words(captured):
        yield (
            Styled("values: ", "changed"),
            f"it holds what {words} read in the run, {size(captured['bytes'])}",
        )
    if run["commit"]:
        changed = f", {plural(run['dirty'], 'file')} changed" if run["dirty"] else ""
        yield f"commit {run['commit']}{changed}"
    if run["live"]:
        yield Styled("the program is still running", "changed")


def _kernels(run: Row, count: int) -> str:
    """So many kernels, as its compiler calls them."""
    words = run["dialect"].get("contexts", {}).get("kernel", {"title": "kernel", "plural": ""})
    return plural(count, words["title"], words["plural"])


def problem_lines(problems: Sequence[Row]) -> Iterator[Line]:
    """What went wrong: what, where, and what to do; nothing where nothing did."""
    for problem in problems[:PROBLEMS]:
        where = f"  ({problem['where']})" if problem["where"] else ""
        yield Styled("problem: ", "problem"), problem["what"], Styled(where, "hint")
        if problem["hint"]:
            yield Styled(f"  {problem['hint']}", "hint")
    if len(problems) > PROBLEMS:
        yield Styled(
            f"and {plural(len(problems) - PROBLEMS, 'more problem')}; --json has all", "hint"
        )


def note_lines(since: Row) -> Iterator[Line]:
    """Who made the run, where it was not made here, and how its files and rules have changed."""
    for note in since["notes"]:
        yield Styled("note: ", "changed"), note["what"]
        yield Styled(f"  {note['hint']}", "hint")


def overview_lines(run: Row, rows: Sequence[Row], data: Row, trace: str) -> Iterator[Line]:
    """The whole screen; `trace` is how the user names the file."""
    yield from run_lines(run)
    yield from note_lines(data["since"])
    if run["problems"]:
        yield ""
        yield from problem_lines(run["problems"])
    if data["kernels"]:
        yield ""
        yield from _kernel_lines(data["kernels"])
    timed = any(row["ms"] for row in rows)
    if data["passes"]:
        yield ""
        yield Styled("Slowest passes" if timed else "Passes that changed something", "heading")
        columns = (
            *([Column("time", True)] if timed else []),
            Column("steps", True),
            Column("number", True, "hint"),
            Column("pass"),
            Column("of", style="name"),
        )
        yield from table(
            columns,
            (
                (
                    *([duration(1000 * one["ms"])] if timed else []),
                    f"{one['steps']:,}",
                    str(one["id"]),
                    one["name"],
                    one["of"],
                )
                for one in data["passes"]
            ),
        )
    if data["rules"]:
        yield ""
        costs = any(cost_of(row) for row in data["rules"])
        yield Styled("Costliest rules" if costs else "Busiest rules", "heading")
        columns = (
            *([Column("time", True), Column("tries", True)] if costs else []),
            Column("matches", True),
            Column("rule"),
            Column("pass", style="hint"),
        )
        yield from table(columns, (_rule_row(row)[0 if costs else 2 :] for row in data["rules"]))
    yield ""
    yield from _go_on(trace, run, rows, data["kernels"])


def _rule_row(row: Row) -> tuple[str, ...]:
    """The time of its tries; where the trace does not say it, that of its matches."""
    tries = row.get("tries")
    return (
        duration(cost_of(row)),
        f"{tries:,}" if tries is not None else "-",
        f"{row['matches']:,}",
        row["rule"],
        row["pass"],
    )


def _kernel_lines(kernels: Sequence[Row]) -> Iterator[Line]:
    total = sum(kernel["us"] or 0 for kernel in kernels)
    timed = total or any(kernel["ms"] for kernel in kernels)
    by = "run time" if total else "compile time" if timed else "steps"
    yield Styled(f"Kernels by {by}", "heading")
    times = (Column("run", True), Column("share", True), Column("launches", True))
    columns = (
        *((*times, Column("compile", True)) if timed else (Column("steps", True),)),
        Column("kernel", style="name"),
        Column("calls"),
    )
    rows = [
        (
            *(_times(kernel, total) if timed else (f"{kernel['steps']:,}",)),
            kernel["name"],
            kernel["calls"],
        )
        for kernel in kernels[:KERNELS]
    ]
    yield from table(columns, rows)
    if len(kernels) > KERNELS:
        yield Styled(
            f"  and {plural(len(kernels) - KERNELS, 'more kernel')}; --json has all", "hint"
        )


def _times(kernel: Row, total: float) -> tuple[str, str, str, str]:
    """How long a kernel ran, in how many launches, and how long it was compiled."""
    return (
        duration(kernel["us"]) if kernel["us"] is not None else "-",
        f"{(kernel['us'] or 0) / total:.0%}" if total else "-",
        f"{kernel['launches']:,}" if kernel["launches"] is not None else "-",
        duration(1000 * kernel["ms"]),
    )


def _go_on(trace: str, run: Row, rows: Sequence[Row], kernels: Sequence[Row]) -> Iterator[Line]:
    """Commands that lead on, with names of this run, and the actions of its compiler's own."""
    of = [shell_word(trace)] if trace else []
    ways = [(["show", *of, "--tree"], "all groups and passes")]
    if kernels:
        ways.append(
            (["show", *of, "--kernel", shell_word(kernels[0]["name"])], "a kernel's passes")
        )
        if number := _example(below(rows, kernels[0]["id"])):
            ways.append((["show", *of, number], "a pass's steps"))
            ways.append((["show", *of, number, "1"], "one step"))
        for own in run["dialect"]["own"]:
            kernel = ["--kernel", shell_word(kernels[0]["name"])]
            ways.append((["show", *of, *kernel, "--action", own["name"]], own["title"]))
    ways.append((["stats", *of], "what each rule cost, and which never matched"))
    ways.append((["open", *of], "the same in the browser"))
    yield Styled("Go on with", "heading")
    commands = ((" ".join(["uopviz", *words]), said) for words, said in ways)
    yield from table((Column(""), Column("", style="hint")), commands, head=False)


def _example(rows: Sequence[Row]) -> str:
    """The number of the pass with the most steps; "" where none has any. Numbers are short: a
    command that is cut at the edge of the terminal could not be copied."""
    passes = [row for row in rows if row["kind"] == "rewrite" and row["steps"]]
    return str(max(passes, key=lambda row: row["steps"])["id"]) if passes else ""


def _launched(store: Run) -> dict[tuple[int, str], list[int]] | None:
    """Launches and nanoseconds by process and name; None where the trace does not have them."""
    try:
        timeline = store.timeline()
    except UopvizError:  # left out of an exported file, or too large
        return None
    found: defaultdict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    names = timeline["names"]
    for track in timeline["tracks"]:
        if track["kind"] == "device":
            for name, ns in zip(track["names"], track["ns"], strict=True):
                counts = found[track["process"], names[name]]
                counts[0] += 1
                counts[1] += ns
    return dict(found)


def _slowest(rows: Sequence[Row]) -> list[dict[str, Any]]:
    passes = [row for row in rows if row["kind"] == "rewrite"]
    if any(row["ms"] for row in passes):
        passes.sort(key=lambda row: -row["ms"])
    else:  # a dump has no times: those that did something, in order
        passes = [row for row in passes if row["steps"]]
    by_row = {row["row"]: row for row in rows}
    return [
        {key: row[key] for key in ("id", "name", "ms", "steps")} | {"of": _around(by_row, row)}
        for row in passes[:PASSES]
    ]


def _around(by_row: dict[int, Row], row: Row) -> str:
    """The name of the group that a pass belongs to."""
    above = by_row.get(row["parent"])
    for _ in range(1000):
        if above is None or above["kind"] == "context":
            break
        above = by_row.get(above["parent"])
    return above["name"] if above is not None else ""
