"""Visit counts per pass, rule set and op that the next flush writes.

`viz/read/visits.py` works the tries of each rule out of them. Never looks at single events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from viz.format import schema
from viz.format.blocks import RULE_SETS, VISITS
from viz.format.schema import VisitKey
from viz.write.numbering import Block


class VisitCounts:
    """Visits that a writer has been told of; what is new becomes blocks."""

    def __init__(self) -> None:
        self._sets: dict[tuple[int, ...], int] = {}
        self._written = 0
        self._new: defaultdict[VisitKey, int] = defaultdict(int)

    def rule_set(self, rules: Sequence[int]) -> int:
        """The number of a set of rules, in their order; the same rules give the same number."""
        return self._sets.setdefault(tuple(rules), len(self._sets) + 1)

    def add(
        self,
        name: int,
        rule_set: int,
        nodes: Mapping[int, int],
        ended: Mapping[tuple[int, int], int],
    ) -> None:
        """Visits in passes named `name`: per op, and per (rule, op) that ended them."""
        for op, count in nodes.items():
            self._new[name, rule_set, op, 0] += count
        for (rule, op), count in ended.items():
            self._new[name, rule_set, op, rule] += count

    def take(self) -> list[Block]:
        """Blocks of what is new; forgets that it was new."""
        made: list[Block] = []
        if fresh := list(self._sets)[self._written :]:
            rules = [rule for found in fresh for rule in found]
            data = RULE_SETS.pack((list(map(len, fresh)), rules))
            made.append(Block(schema.RULE_SETS, self._written + 1, len(fresh), data))
            self._written += len(fresh)
        if self._new:
            rows = sorted((*key, count) for key, count in self._new.items())
            data = VISITS.pack(list(zip(*rows, strict=True)))
            made.append(Block(schema.VISITS, 0, len(rows), data))
            self._new.clear()
        return made
