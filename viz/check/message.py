"""Checked passes as one message: shares, the answers by rule, and the verdict of each step.

Never checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from core.prove.bitvector import HINT, solver_module
from core.prove.verdict import KINDS, Kind, verdict_of
from viz.check.failed import failures
from viz.views.compiled import FIRST
from viz.views.process import STRIDE
from viz.views.store import Store

Data = dict[str, Any]
WORST: Final[tuple[Kind, ...]] = ("differs", "unchecked", "assumes", "sampled", "proved")
MOST: Final = 10_000
"""Rows."""


def message(store: Store, passes: Sequence[Data]) -> Data:
    """`Checked` of docs/json.md."""
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
        "passes": list(passes),
        "on_request": sum(row["id"] >= FIRST * STRIDE for row in rewrites),
        "z3": solver_module() is not None,
        "hint": "" if solver_module() is not None else HINT,
    }
