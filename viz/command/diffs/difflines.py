"""What `uopviz diff` prints of a comparison. Makes lines; never prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from viz.command.columns import Column, duration, plural, size, table
from viz.ratio import figure, time_words
from viz.terminal import ELLIPSIS, Line, Style, Styled

Data = dict[str, Any]
FEW: Final = 20
"""Rows of each table, unless all are asked for."""
_CALL: Final = 32
"""Characters of the calls of a kernel."""
_STYLES: Final[dict[str, Style]] = {"added": "added", "removed": "removed", "changed": "changed"}
_WHAT: Final = {
    "kernels": "kernels",
    "steps": "steps",
    "nodes": "nodes in kernels",
    "compile": "compiling kernels",
    "run": "running kernels",
    "memory": "memory",
    "launches": "launches",
}


def comparison_lines(data: Data, everything: bool) -> Iterator[Line]:
    """One screen of a comparison: what it is of, its totals, what has changed."""
    for name in ("a", "b"):
        run = data["runs"][name]
        yield name.upper(), "  ", Styled(run["title"], "heading"), f"  {run['file']}"
    for note in data["notes"]:
        yield Styled(note, "problem")
    yield ""
    yield Styled("equal" if data["equal"] else _summary(data), "heading")
    if not data["equal"] or everything:
        yield from _totals(data)
    yield from _scopes(data, everything)
    yield from _rules(data, everything)
    yield from _errors(data)
    yield from _environment(data)


def _summary(data: Data) -> str:
    """How many kernels are in which state."""
    counts = Counter((scope["kind"], scope["state"]) for scope in data["scopes"])
    said: list[str] = []
    for kind, one, many in (
        ("kernel", "kernel", "kernels"),
        ("schedule", "schedule", "schedules"),
        ("other", "other group", "other groups"),
    ):
        states = [
            f"{counts[kind, state]:,} {state}"
            for state in ("changed", "added", "removed", "equal")
            if counts[kind, state]
        ]
        if states:
            total = sum(count for (of, _), count in counts.items() if of == kind)
            said.append(f"{one if total == 1 else many}: {', '.join(states)}")
    if data["leftOut"]:
        said.append(f"{data['leftOut']:,} more are not listed")
    return "; ".join(said) or "nothing to compare"


def _totals(data: Data) -> Iterator[Line]:
    columns = Column(""), Column("A", True), Column("B", True), Column("B / A", True)
    known = (row for row in data["totals"] if row["a"] is not None or row["b"] is not None)
    yield from table(columns, map(_total_row, known))


def _total_row(row: Data) -> tuple[str, ...]:
    return (
        _WHAT[row["what"]],
        _amount(row["a"], row["unit"]),
        _amount(row["b"], row["unit"]),
        _ratio(row["a"], row["b"]),
    )


def _scopes(data: Data, everything: bool) -> Iterator[Line]:
    shown = [s for s in data["scopes"] if everything or s["state"] != "equal"]
    if not shown:
        return
    yield ""
    columns = (
        Column("state"),
        Column("number", True),
        Column("steps", True),
        Column("registers", True, spare=2),
        Column("time", True),
        Column("name"),
        Column("first difference", style="hint", spare=1),
    )
    listed = shown if everything else shown[:FEW]
    yield from table(columns, map(_scope_row, listed))
    if len(shown) > len(listed):
        yield Styled(f"{plural(len(shown) - len(listed), 'more row')}; --all lists them", "hint")


def _scope_row(scope: Data) -> tuple[str | Styled, ...]:
    style = _STYLES.get(scope["state"])
    registers = scope["registers"][0] if scope["registers"] else {"a": None, "b": None}
    return (
        Styled(scope["state"], style) if style else scope["state"],
        _change(scope["a"], scope["b"]),
        _change(scope["steps"]["a"], scope["steps"]["b"]),
        _change(registers["a"], registers["b"]),
        _time(**scope["us"]),
        f"{scope['name']['b'] or scope['name']['a']}  {_short(scope['call'])}".rstrip(),
        _first(scope),
    )


def _short(call: str) -> str:
    return call if len(call) <= _CALL else call[: _CALL - 1] + ELLIPSIS


def _first(scope: Data) -> str:
    first: Data | None = scope["first"]
    if first is None:
        return "the passes are equal, its texts differ" if scope["state"] == "changed" else ""
    step_a, step_b = first["stepA"], first["stepB"]
    if first["a"] is None or first["b"] is None:
        return f"pass {first['pass']}: only in {'B' if first['a'] is None else 'A'}"
    if step_a is None and step_b is None:
        where = "the graphs differ before it"
    elif step_a is None or step_b is None:
        where = f"step {step_b or step_a} only in {'B' if step_a is None else 'A'}"
    else:
        where = f"step {step_a}"
    return f"pass {first['pass']}: {where}, at {first['node']}".removesuffix(", at ")


def _rules(data: Data, everything: bool) -> Iterator[Line]:
    shown = [r for r in data["rules"] if everything or r["state"] != "equal" or r["text"]]
    if not shown:
        return
    yield ""
    columns = (
        Column("rule"),
        Column("A", True),
        Column("B", True),
        Column("", style="changed"),
        Column("written in", style="hint"),
    )
    listed = shown if everything else shown[:FEW]
    yield from table(
        columns,
        [
            (
                rule["name"],
                _amount(rule["matches"]["a"], ""),
                _amount(rule["matches"]["b"], ""),
                _rule_state(rule),
                rule["file"],
            )
            for rule in listed
        ],
    )
    if len(shown) > len(listed):
        yield Styled(f"{plural(len(shown) - len(listed), 'more rule')}; --all lists them", "hint")


def _rule_state(rule: Data) -> str:
    said = [] if rule["state"] == "equal" else [rule["state"]]
    return ", ".join([*said, "other text"] if rule["text"] else said)


def _errors(data: Data) -> Iterator[Line]:
    if data["errors"]:
        yield ""
    for error in data["errors"][:FEW]:
        side = "B" if error["a"] is None else "A"
        yield Styled(f"fails only in {side}: {error['where']}: {error['message']}", "problem")


def _environment(data: Data) -> Iterator[Line]:
    if data["environment"]:
        yield ""
        columns = Column("differs"), Column("A"), Column("B")
        yield from table(
            columns,
            [(row["what"], row["a"] or "-", row["b"] or "-") for row in data["environment"]],
        )


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "us":
        return duration(value)
    return size(int(value)) if unit == "B" else f"{value:,}"


def _change(a: float | None, b: float | None) -> str:
    """`5`, where both are; `5 > 7`; `-` on a side that has none."""
    if a is None and b is None:
        return ""
    if a == b:
        return f"{a:,}"
    return " > ".join("-" if value is None else f"{value:,}" for value in (a, b))


def _ratio(a: float | None, b: float | None) -> str:
    return figure(b / a) if a and b is not None else ""


def _time(a: float | None, b: float | None, ratio: Data | None) -> str:
    """How launches compare; of a few launches, or of the same code, the figure alone."""
    if ratio is None:
        return _ratio(a, b)
    return time_words(ratio["ratio"], ratio["low"], ratio["high"])
