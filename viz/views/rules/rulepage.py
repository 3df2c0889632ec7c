"""What one rule did in a whole run: tries, declines, matches and time by pass, and where.

Made of what is known of all rules (`viz/views/rules/`); counts nothing itself.
"""

from __future__ import annotations

from typing import Any, Final

from viz.views.store import Store

_OF_PASS: Final = ("pass", "tries", "matches", "declines", "us", "tryUs", "functionUs")


def rule_page(store: Store, rule: int, seconds: float = float("inf")) -> dict[str, Any] | None:
    """`RulePage`: the rule with its text and pattern; `passes`: a row for each name of passes that
    tried it, the one in which it matched most first (`tries`: None where the trace does not say
    it; `us`: the time of its matches; `tryUs`: that of all its tries, `functionUs` of these in its
    function); `rewrite` and `matches`: the passes in which it matched, in the order of the run, for
    going to the next and the one before; `times`: `RuleTimes`.
    Counts for at most `seconds`; `done` where all is counted. None for a number that no rule has.
    Raises BudgetError."""
    row = next((row for row in store.rules() if row["id"] == rule), None)
    if row is None:
        return None
    totals, matches = store.rule_totals(0.0), store.rule_matches(seconds)
    passes = [
        {key: one.get(key) for key in _OF_PASS} for one in totals["rows"] if one["id"] == rule
    ]
    for silent in totals["silent"]:
        for at in [at for at, number in enumerate(silent["id"]) if number == rule]:
            counts = {"tries": silent["tries"][at], "matches": 0, "declines": 0, "us": 0.0}
            try_us = None if silent.get("us") is None else silent["us"][at]
            times = {"tryUs": try_us, "functionUs": None if try_us is None else 0}
            passes.append({"pass": silent["pass"], **counts, **times})
    passes.sort(key=lambda one: (-one["matches"], -one["declines"], -(one["tries"] or 0)))
    where = [at for at, number in enumerate(matches["rule"]) if number == rule]
    return {
        "rule": row,
        "passes": passes,
        "rewrite": [matches["rewrite"][at] for at in where],
        "matches": [matches["matches"][at] for at in where],
        "done": matches["done"],
        "times": store.rule_times(rule),
    }
