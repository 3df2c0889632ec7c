"""What differs between a kernel of a run and the same kernel compiled otherwise: by compare.

Never compiles, and never runs anything.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np

from viz.budget import answering
from viz.compare.matching.difference import PassMatch, compare_passes
from viz.compare.matching.pairing import ScopeMatch
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Scope, Side
from viz.compare.matching.texts import digests_of
from viz.compare.pairs import compare_pair
from viz.views.store import Store

Data = dict[str, Any]
MAX_RULES: Final = 200
MAX_NAME: Final = 300


class Differences:
    """A run, whose side of the comparison is `before`, and one that was recorded when kernels of it
    were compiled otherwise. Raises TraceError where that is no trace, and BudgetError."""

    def __init__(self, before: Side, path: Path) -> None:
        self._now = Store(path)
        self._sides = before, Side(self._now)
        for side in self._sides:
            side.refresh()
        self._rules = Rules(*self._sides)

    def close(self) -> None:
        """Closes what was recorded."""
        self._now.close()

    def kernels(self) -> list[int]:
        """The kernels that were compiled otherwise, by their numbers there, in order."""
        return self._now.kernels()

    def of(self, before: int, now: int) -> Data:
        """What differs between kernel `before` and kernel `now`, each by its number in its run: the
        pair as `uopviz diff` has it, its passes and texts that are not equal, and the rules that
        match more or less often. Raises BudgetError."""
        a, b = self._sides[0].scope(before), self._sides[1].scope(now)
        with answering("two kernels"):
            pair = compare_pair(ScopeMatch(a, b, "structure"), self._rules)
            passes = compare_passes(a, b, self._rules) if a is not None and b is not None else []
            return {
                "pair": pair.data(self._sides, self._rules),
                "passes": [_pass_data(one) for one in passes if not one.equal],
                "samePasses": sum(one.equal for one in passes),
                "sources": _sources(a, b),
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
                "name": self._rules.record(self._rules.matches[n - 1]).name[:MAX_NAME],
                "a": of_a[n],
                "b": of_b[n],
            }
            for n in changed[:MAX_RULES]
        ]


def _pass_data(one: PassMatch) -> Data:
    """A pass that is not the same in both; `stepA` and `stepB`: the first step that differs, None
    where the graphs before it do, or only one of the two has it."""
    named = one.b or one.a
    both = one.a is not None and one.b is not None
    return {
        "name": named.name[:MAX_NAME] if named is not None else "",
        "state": "changed" if both else "added" if one.b is not None else "removed",
        "stepsA": one.a.matches if one.a is not None else None,
        "stepsB": one.b.matches if one.b is not None else None,
        "stepA": one.first.a if one.first is not None else None,
        "stepB": one.first.b if one.first is not None else None,
    }


def _sources(a: Scope | None, b: Scope | None) -> list[Data]:
    """The texts that both have, and whether they are the same but for names."""
    if a is None or b is None:
        return []
    texts_a, texts_b = digests_of(a), digests_of(b)
    return [
        {"kind": key[0], "target": key[1], "equal": texts_a[key].key == texts_b[key].key}
        for key in texts_a
        if key in texts_b
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
