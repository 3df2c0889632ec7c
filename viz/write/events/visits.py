"""Visit counts per pass, rule set and op that the next flush writes.

`viz/read/visits.py` works the tries of each rule out of them. Never looks at single events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from viz.format import schema
from viz.format.blocks import RULE_SETS, VISITS
from viz.format.schema import VisitKey
from viz.write.log import Block, Log, Taken


class VisitCounts:
    """Visits that a writer has been told of; what is new becomes blocks."""

    def __init__(self) -> None:
        self._sets: dict[tuple[int, ...], int] = {}
        self._written = 0
        self._new: Log[list[tuple[VisitKey, int]]] = Log()

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
        by_op = [((name, rule_set, op, 0), count) for op, count in nodes.items()]
        by_rule = [((name, rule_set, op, rule), count) for (rule, op), count in ended.items()]
        self._new.add(by_op + by_rule)

    def take(self) -> Taken:
        """Blocks of what is new."""
        made: list[Block] = []
        written, told = len(self._sets), self._new.items()
        if fresh := list(self._sets)[self._written :]:
            rules = [rule for found in fresh for rule in found]
            data = RULE_SETS.pack((list(map(len, fresh)), rules))
            made.append(Block(schema.RULE_SETS, self._written + 1, len(fresh), data))
        sums: defaultdict[VisitKey, int] = defaultdict(int)
        for key, count in (one for part in told for one in part):
            sums[key] += count
        if sums:
            rows = sorted((*key, count) for key, count in sums.items())
            data = VISITS.pack(list(zip(*rows, strict=True)))
            made.append(Block(schema.VISITS, 0, len(rows), data))
        end = self._new.forgotten + len(told)

        def forget() -> None:
            self._written = written
            self._new.forget(end)

        return Taken(made, forget)
