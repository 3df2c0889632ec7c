"""What differs between a kernel of a run and the same kernel compiled otherwise: by compare.

Never compiles, and never runs anything.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np

from viz.budget import answering
from viz.compare.comparison import Comparison
from viz.compare.matching.pairing import ScopeMatch
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Scope, Side
from viz.compare.pairs import compare_pair
from viz.views.store import Store

Data = dict[str, Any]
MAX_RULES: Final = 200


class Differences:
    """A run, and one that was recorded when kernels of it were compiled otherwise. Closes the
    second one only."""

    def __init__(self, before: Store, path: Path) -> None:
        self.before, self.now = before, Store(path)
        self._comparison = Comparison(before, self.now)
        self._sides = Side(before), Side(self.now)
        for side in self._sides:
            side.refresh()
        self._rules = Rules(*self._sides)

    def close(self) -> None:
        """Closes what was recorded."""
        self.now.close()

    def kernels(self) -> list[int]:
        """The kernels that were compiled otherwise, by their numbers there, in order."""
        return self.now.kernels()

    def of(self, before: int, now: int) -> Data:
        """What differs between kernel `before` and kernel `now`, each by its number in its run: the
        pair as `uopviz diff` has it, its passes and texts that are not equal, and the rules that
        match more or less often. Raises BudgetError."""
        a, b = self._sides[0].scope(before), self._sides[1].scope(now)
        scopes = self._comparison.scopes(before, now) or {"passes": [], "sources": []}
        with answering("two kernels"):
            pair = compare_pair(ScopeMatch(a, b, "structure"), self._rules)
            return {
                "pair": pair.data(self._sides, self._rules),
                "passes": [one for one in scopes["passes"] if one["state"] != "equal"],
                "samePasses": sum(one["state"] == "equal" for one in scopes["passes"]),
                "sources": [
                    {key: one[key] for key in ("kind", "target", "equal")}
                    for one in scopes["sources"]
                    if one["a"] and one["b"]
                ],
                "rules": self._changed_rules(a, b),
            }

    def _changed_rules(self, a: Scope | None, b: Scope | None) -> list[Data]:
        """Rules that match more or less often, those that differ most first."""
        of_a = _counts(a, self._rules.classes_a)
        of_b = _counts(b, self._rules.classes_b)
        changed = [n for n in {*of_a, *of_b} if of_a[n] != of_b[n] and n]
        changed.sort(key=lambda n: (-abs(of_a[n] - of_b[n]), n))
        return [
            {
                "name": self._rules.record(self._rules.matches[n - 1]).name[:300],
                "a": of_a[n],
                "b": of_b[n],
            }
            for n in changed[:MAX_RULES]
        ]


def _counts(scope: Scope | None, classes: dict[int, int]) -> Counter[int]:
    """Matches of each rule, by the number that it has for both runs."""
    found: Counter[int] = Counter()
    for rewrite in scope.passes if scope is not None else ():
        rows = scope.part.matches.of(rewrite.id) if scope is not None else None
        if rows is None or not len(rows):
            continue
        numbers, counts = np.unique(rows[:, 0], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            rule = scope.part.process.rules.get(number, 0) if scope is not None else 0
            found[classes.get(rule, 0)] += count
    return found
