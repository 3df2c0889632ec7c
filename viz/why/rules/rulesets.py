"""The sets of rules that passes offered nodes to, by the name of the pass, as a trace has them.

Never says what a rule did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from viz.budget import take
from viz.read.tracefile import TraceFile

_RULE: Final = 50
"""Bytes of a rule in a set."""
RuleSet = Sequence[int]
"""Rules in the order in which they are tried."""


class RuleSets:
    """Those of one file as it is now. Raises BudgetError."""

    def __init__(self, file: TraceFile) -> None:
        self._sets: dict[str, dict[int, RuleSet]] = {}
        self._offered: dict[str, Counter[str]] = {}
        counts = dict(file.visits.counts)
        take(len(counts))
        for (name, number, op, rule), count in counts.items():
            text = file.name(name)
            known = self._sets.setdefault(text, {})
            if number not in known and number in file.visits.sets:
                rules = file.visits.sets[number]
                take(len(rules), _RULE * len(rules))
                known[number] = rules
            if not rule:
                self._offered.setdefault(text, Counter())[file.text(op)] += count

    def of(self, name: str) -> list[RuleSet]:
        """The sets that passes of a name offered nodes to, in the order in which they first did;
        none where the trace does not say it."""
        known = self._sets.get(name, {})
        return [known[number] for number in sorted(known)]

    def with_any(self, rules: Collection[int]) -> list[str]:
        """The names of passes that offered nodes to any of some rules."""
        wanted = frozenset(rules)
        return [
            name
            for name, sets in self._sets.items()
            if any(not wanted.isdisjoint(rule_set) for rule_set in sets.values())
        ]

    def offered(self, name: str, op: str) -> int:
        """How many nodes of an op all passes of a name offered to all their sets."""
        return self._offered.get(name, Counter[str]())[op]
