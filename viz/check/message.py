"""Checked passes as one message: shares, the answers by rule, and the verdict of each step.

Never checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.prove.solver import HINT, solver_module
from core.prove.verdict import KINDS, Kind, verdict_of
from viz.check.failed import failures
from viz.format.cells import as_text
from viz.known.whole import STATES, counted
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE
from viz.views.store import Store

Data = dict[str, Any]
WORST: Final[tuple[Kind, ...]] = ("differs", "unchecked", "assumes", "sampled", "proved")
MOST: Final = 10_000
"""Rows."""


def message(store: Store, passes: Sequence[Data], kernels: Sequence[Data] = ()) -> Data:
    """`Checked` of docs/json.md: passes, and what is known of kernels as a whole."""
    rewrites = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    names = {row["id"]: row["name"] for row in rewrites}
    rules = {row["id"]: row for row in store.rules()}
    total: Counter[str] = Counter()
    integers: Counter[str] = Counter()
    rows: dict[tuple[int, str, str], Data] = {}
    for checked in passes:
        verdicts = [verdict_of(one) for one in checked["verdicts"]]
        of_integers = set(checked["integers"])
        for step, rule, at in checked["steps"]:
            verdict = verdicts[at]
            total[verdict.kind] += 1
            integers[verdict.kind] += step in of_integers
            row = rows.get((rule, verdict.kind, verdict.how))
            if row is None:
                known = rules.get(rule, {})
                row = rows[rule, verdict.kind, verdict.how] = {
                    "rule": rule,
                    "name": known.get("name", "?"),
                    "place": f"{known.get('file', '')}:{known.get('line', 0)}",
                    "verdict": verdict.data(),
                    "steps": 0,
                    "first": {
                        "rewrite": checked["rewrite"],
                        "pass": names.get(checked["rewrite"], "?"),
                        "step": step,
                    },
                }
            row["steps"] += 1
            if verdict.ulps > row["verdict"].get("ulps", 0.0):
                row["verdict"] = verdict.data()
    if not total["differs"]:  # what fails may be made of a wrong step, which is the one to name
        for failure in failures(store, frozenset(one["rewrite"] for one in passes)):
            total["differs"] += 1
            known = rules.get(failure.rule, {})
            rows[failure.rule, "differs", failure.verdict.how] = {
                "rule": failure.rule,
                "name": known.get("name", "?"),
                "place": f"{known.get('file', '')}:{known.get('line', 0)}",
                "verdict": failure.verdict.data(),
                "steps": 1,
                "first": {
                    "rewrite": failure.rewrite,
                    "pass": failure.name,
                    "step": failure.step,
                },
            }
    ordered = sorted(rows.values(), key=lambda r: (WORST.index(r["verdict"]["kind"]), -r["steps"]))
    return {
        "steps": sum(total.values()),
        "counts": {kind: total[kind] for kind in KINDS},
        "integers": {kind: integers[kind] for kind in KINDS},
        "rules": ordered[:MOST],
        "undone": [_undone(one, names) for one in passes if one["undone"] is not None],
        "unseen": [_unseen(one, names) for one in passes if one["unseen"]],
        "passes": list(passes),
        "wholes": counted(kernels),
        "kernels": _kernels(store, passes, kernels),
        "on_request": sum(row["id"] >= FIRST * STRIDE for row in rewrites),
        "z3": solver_module() is not None,
        "hint": "" if solver_module() is not None else HINT,
    }


def _undone(checked: Data, names: Mapping[int, str]) -> Data:
    """What a pass left undone, and where its graph is."""
    number = checked["rewrite"]
    return {**checked["undone"], "rewrite": number, "name": names.get(number, "?")}


def _unseen(checked: Data, names: Mapping[int, str]) -> Data:
    """From which pass on it was not looked at what passes guarantee, and why."""
    number = checked["rewrite"]
    return {"rewrite": number, "name": names.get(number, "?"), "why": checked["unseen"]}


def _kernels(store: Store, passes: Sequence[Data], kernels: Sequence[Data]) -> list[Data]:
    """Each kernel with its name, and the first of its steps that differs; the worst first."""
    if not kernels:
        return []
    kernel_of: dict[int, int] = {}
    named: dict[int, tuple[int, str]] = {}
    names: dict[int, tuple[str, str]] = {}
    for row in store.tree()["rows"]:  # parents come before their children
        kernel = kernel_of.get(row["parent"])
        if row["kind"] == "context" and row["label"] == "kernel":
            kernel = row["id"]
            names[kernel] = row["name"], _target(store, kernel)
        if kernel is not None:
            kernel_of[row["row"]] = kernel
            if row["kind"] == "rewrite":
                named[row["id"]] = kernel, row["name"]
    because: dict[int, Data] = {}
    rules = {row["id"]: str(row["name"]) for row in store.rules()}
    for checked in sorted(passes, key=lambda one: one["rewrite"]):
        kernel, name = named.get(checked["rewrite"], (None, ""))
        kinds = [verdict["kind"] for verdict in checked["verdicts"]]
        for step, rule, at in checked["steps"]:
            if kernel is not None and kinds[at] == "differs":
                first = {"rewrite": checked["rewrite"], "pass": name, "step": step}
                because.setdefault(kernel, {**first, "rule": rules.get(rule, "?")})
        if kernel is not None and (left := checked["undone"]) is not None:
            first = {"rewrite": checked["rewrite"], "pass": name, "step": 0}
            because.setdefault(kernel, {**first, "rule": f"pass {left['pass']}"})
    order = ("differs", "unknown", *(s for s in STATES if s not in ("differs", "unknown")))
    rows = [
        {
            **one,
            "name": names.get(one["kernel"], ("?", ""))[0],
            "target": names.get(one["kernel"], ("?", ""))[1],
            "because": because.get(one["kernel"]),
        }
        for one in kernels
    ]
    return sorted(rows, key=lambda one: (order.index(one["state"]), one["kernel"]))


def _target(store: Store, kernel: int) -> str:
    """The target that a kernel was compiled for."""
    context = store.processes[kernel // STRIDE].file.contexts[kernel % STRIDE]
    return as_text(context.meta.get("target"), 200)
