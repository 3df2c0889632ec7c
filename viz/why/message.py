"""Answers about rules that did not fire, as data for the page and for `--json`.

Nodes, rules and passes by their numbers in the run. Never decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from viz.budget import take
from viz.why.fit import Fit
from viz.why.history import Event
from viz.why.nearmisses import NearMisses
from viz.why.reason import Reason
from viz.why.rules.declining import Line
from viz.why.rules.rulesat import RulesAt
from viz.why.subject import Subject

_PART: Final = 300
"""Bytes of a part of a pattern with its node."""
_ARG: Final = 60
"""Characters of an argument in the text of a node."""


def reason_data(subject: Subject, found: Reason, line: Line | str | None) -> dict[str, Any]:
    """`WhyNot`: `line` is where the function declined, or why that cannot be told; None where it
    was not looked for."""
    numbers = subject.process
    return {
        "kind": found.kind,
        "said": found.said,
        "rewrite": subject.number,
        "pass": subject.rewrite.name,
        "rule": numbers.rule(found.rule),
        "name": subject.rule_name(found.rule),
        "node": numbers.node(found.node),
        "text": node_text(subject, found.node),
        "step": found.step,
        "by": None if found.by is None else _event(subject, found.by),
        "passes": [*found.passes],
        "pattern": None if isinstance(found.fit, str) else fit_data(subject, found.fit),
        "unknown": found.fit if isinstance(found.fit, str) and found.fit else None,
        "line": _line(subject, line) if isinstance(line, Line) else None,
        "notCalled": line if isinstance(line, str) else None,
    }


def near_data(subject: Subject, rule: int, found: NearMisses) -> dict[str, Any]:
    """`NearMisses`: `rule` is that of the run."""
    return {
        "rewrite": subject.number,
        "pass": subject.rewrite.name,
        "rule": rule,
        "name": subject.store.rule_name(rule),
        "inPass": any(subject.process.rule(n) == rule for n in subject.order),
        "rulesKnown": bool(subject.order),
        "known": found.known,
        "nodes": found.nodes,
        "tried": found.tried,
        "fitting": found.fitting,
        "missed": found.missed,
        "rows": [
            {
                "node": subject.process.node(row.node),
                "text": node_text(subject, row.node),
                "fitted": len(row.fit.fitted),
                "pattern": fit_data(subject, row.fit),
            }
            for row in found.rows
        ],
        "fits": [
            {"node": subject.process.node(node), "text": node_text(subject, node)}
            for node in found.fits
        ],
        "leftOut": found.left_out or None,
    }


def rules_data(subject: Subject, node: int, found: RulesAt) -> dict[str, Any]:
    """`RulesAtNode`: `node` is a number of the file."""
    take(len(found.rows), _PART * len(found.rows))
    return {
        "rewrite": subject.number,
        "pass": subject.rewrite.name,
        "node": subject.process.node(node),
        "text": node_text(subject, node),
        "known": bool(subject.order),
        "rows": [_rule_row(subject, row) for row in found.rows],
        "leftOut": found.left_out or None,
    }


def _rule_row(subject: Subject, row: Reason) -> dict[str, Any]:
    fit = row.fit if isinstance(row.fit, Fit) else None
    bad = fit.misfit if fit is not None else None
    return {
        "rule": subject.process.rule(row.rule),
        "name": subject.rule_name(row.rule),
        "kind": row.kind,
        "fits": fit is not None and fit.fits,
        "fitted": 0 if fit is None else len(fit.fitted),
        "expected": "" if bad is None else bad.expected,
        "found": "" if bad is None else bad.found,
        "by": None if row.by is None else _event(subject, row.by),
    }


def fit_data(subject: Subject, fit: Fit) -> dict[str, Any]:
    """How far a pattern fits. `path`: which child of the pattern, from the whole one down."""
    node = subject.process.node
    take(len(fit.fitted), _PART * (1 + len(fit.fitted) + len(fit.binds)))
    bad = fit.misfit
    return {
        "fits": fit.fits,
        "installed": fit.installed,
        "why": fit.why or None,
        "binds": _bound(subject, fit.binds),
        "fitted": [{"path": [*path], "node": node(n)} for path, n in fit.fitted],
        "misfit": None
        if bad is None
        else {
            "kind": bad.kind,
            "path": [*bad.path],
            "node": node(bad.node) if bad.node else 0,
            "text": node_text(subject, bad.node),
            "expected": bad.expected,
            "found": bad.found,
        },
    }


def node_text(subject: Subject, node: int) -> str:
    """A node in a line: `ADD(u4, u7) int32`; "" for none."""
    file = subject.file
    if not 0 < node <= file.nodes.count:
        return ""
    op, dtype, arg = (file.text(int(file.nodes.field(f)[node])) for f in ("op", "dtype", "arg"))
    below = file.nodes.sources(node)
    names = [subject.u(s) for s in below[:8]] + (["..."] if len(below) > 8 else [])
    said = [f"{op[:_ARG]}({', '.join(names)})", "" if dtype == "void" else dtype[:_ARG]]
    if arg:
        said.append(arg if len(arg) <= _ARG else arg[: _ARG - 3] + "...")
    return " ".join(part for part in said if part)


def _bound(subject: Subject, binds: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    node: Callable[[int], int] = subject.process.node
    return [
        {"name": name, "node": node(n) if n else 0, "text": node_text(subject, n)}
        for name, n in binds
    ]


def _line(subject: Subject, line: Line) -> dict[str, Any]:
    return {
        "file": subject.store.places.file(line.file),
        "line": line.line,
        "text": line.text,
        "values": [{"name": name, "value": value} for name, value in line.values],
        "ways": line.ways,
        "binds": _bound(subject, line.binds),
    }


def _event(subject: Subject, event: Event) -> dict[str, Any]:
    numbers = subject.process
    return {
        "rewrite": numbers.id(event.rewrite),
        "pass": event.passed,
        "step": event.step,
        "rule": numbers.rule(event.rule) if event.rule else -1,
        "name": event.name,
    }
