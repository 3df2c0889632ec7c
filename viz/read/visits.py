"""Works out how often each rule was tried, from the nodes of each op that passes offered.

A visit goes through the rules of a set in order, those whose pattern may begin with the node's op,
until one ends it by an answer or an error. So the tries of all rules, thousands per pass, follow
from a few counts per op; `core/uop/engine/visits.py` says what a try is. Never looks at single
events.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from core.errors import TraceError
from viz.format.blocks import RULE_SETS, VISITS
from viz.format.pack import Ints, adds_up
from viz.format.schema import VisitKey

MAX_WORK: Final = 2_000_000
"""Rules times ops that are looked at, which takes a second; the compiler of this project takes a
hundredth of it."""
MAX_COUNT: Final = 1 << 36
"""Visits of one kind in one block; more are damage."""
_DEPTH: Final = 40
_SET: Final = 250
"""Bytes that are kept of a number of a set of rules, which may be its only one."""
_VISIT: Final = 70
"""The same of a number of a visit, which has five."""


class Visits:
    """Visits as read from a file. Raises TraceError for blocks that are damaged."""

    def __init__(self) -> None:
        self.sets: dict[int, list[int]] = {}
        self.counts: defaultdict[VisitKey, int] = defaultdict(int)
        self._tries: dict[tuple[int, int], int] | None = None

    def add_sets(self, first: int, data: bytes) -> None:
        """A block of sets of rules, numbered from `first`."""
        lengths, rules = RULE_SETS.unpack(data, each=_SET).values()
        if not adds_up(lengths, rules):
            raise TraceError("a block of rule sets is damaged")
        parts: list[Ints] = np.split(rules, np.cumsum(lengths)[:-1]) if len(lengths) else []
        for number, part in enumerate(parts, first):
            self.sets[number] = part.tolist()

    def add(self, data: bytes) -> None:
        """A block of visits, which add to those before."""
        for name, rule_set, op, rule, count in VISITS.rows(data, _VISIT):
            self.counts[name, rule_set, op, rule] += max(0, min(count, MAX_COUNT))
        self._tries = None

    def tries(
        self, roots: Callable[[int], frozenset[str] | None], text: Callable[[int], str]
    ) -> dict[tuple[int, int], int]:
        """By (pass, rule), for every rule of every set that nodes were offered to; 0 where no node
        had an op of the rule. `roots`: the ops that a rule's pattern may begin with (None: any).
        Raises TraceError where this would take too long."""
        if self._tries is None:
            self._tries = self._count(roots, text)
        return self._tries

    def _count(
        self, roots: Callable[[int], frozenset[str] | None], text: Callable[[int], str]
    ) -> dict[tuple[int, int], int]:
        offered: dict[tuple[int, int], dict[str, int]] = {}
        for (name, rule_set, op, rule), count in self.counts.items():
            if not rule:
                ops = offered.setdefault((name, rule_set), {})
                ops[text(op)] = ops.get(text(op), 0) + count
        ended = {(*key[:2], text(key[2]), key[3]): n for key, n in self.counts.items() if key[3]}
        tries: dict[tuple[int, int], int] = {}
        roots = functools.cache(roots)
        work = 0
        for (name, rule_set), left in offered.items():
            for rule in dict.fromkeys(self.sets.get(rule_set, ())):
                first = roots(rule)
                met = left if first is None else first & left.keys()
                work += 1 + len(met)
                if work > MAX_WORK:
                    raise TraceError(
                        "this trace has too many rules to say how often each was tried"
                    )
                tried = tries.get((name, rule), 0)
                for op in met:
                    tried += left[op]
                    left[op] = max(0, left[op] - ended.get((name, rule_set, op, rule), 0))
                tries[name, rule] = tried
        return tries


def root_ops(pattern: object, depth: int = 0) -> frozenset[str] | None:
    """The ops that a node may have which a pattern (viz/recording/patterns.py) matches; None:
    any."""
    if not isinstance(pattern, dict) or depth > _DEPTH:
        return None
    fields = cast("dict[str, Any]", pattern)
    if isinstance(alternatives := fields.get("anyOf"), list) and alternatives:
        found = [root_ops(p, depth + 1) for p in cast("list[object]", alternatives)]
        return None if None in found else frozenset().union(*(ops for ops in found if ops))
    ops = fields.get("op")
    if not isinstance(ops, list) or not ops:
        return None
    return frozenset(op for op in cast("list[object]", ops) if isinstance(op, str))
