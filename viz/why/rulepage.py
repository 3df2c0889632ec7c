"""What one rule did in a whole run: tries, declines, matches and time by pass, and where.

Made of what is known of all rules (`viz/views/rules/`); counts nothing itself.
"""

from __future__ import annotations

from typing import Any

from viz.views.store import Store


def rule_page(store: Store, rule: int, seconds: float = float("inf")) -> dict[str, Any] | None:
    """`RulePage`: the rule with its text and pattern; `passes`: a row for each name of passes that
    tried it, the one in which it matched most first (`tries`: None where the trace does not say
    it; `us`: the time of its matches, that of tries is not recorded); `rewrite` and `matches`: the
    passes in which it matched, in the order of the run, for going to the next and the one before.
    Counts for at most `seconds`; `done` where all is counted. None for a number that no rule has.
    Raises BudgetError."""
    row = next((row for row in store.rules() if row["id"] == rule), None)
    if row is None:
        return None
    totals, matches = store.rule_totals(0.0), store.rule_matches(seconds)
    passes = [
        {key: one[key] for key in ("pass", "tries", "matches", "declines", "us")}
        for one in totals["rows"]
        if one["id"] == rule
    ]
    for silent in totals["silent"]:
        for number, tries in zip(silent["id"], silent["tries"], strict=True):
            if number == rule:
                quiet = {"tries": tries, "matches": 0, "declines": 0, "us": 0.0}
                passes.append({"pass": silent["pass"], **quiet})
    passes.sort(key=lambda one: (-one["matches"], -one["declines"], -(one["tries"] or 0)))
    where = [at for at, number in enumerate(matches["rule"]) if number == rule]
    return {
        "rule": row,
        "passes": passes,
        "rewrite": [matches["rewrite"][at] for at in where],
        "matches": [matches["matches"][at] for at in where],
        "done": matches["done"],
    }
