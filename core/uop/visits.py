"""Which nodes a walk offered to a matcher, so that one can tell how often each rule was tried.

A try of a rule: a node was visited, its op is one that the rule's pattern may begin with, and no
rule before it had ended the visit. How far the pattern was then followed makes no difference: a
node that is ruled out by its dtype or by the ops of its sources counts as one that is ruled out by
anything else. Counting nodes by op is enough, because the first rule that answers ends a visit.
Never counts where nobody observes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final

from core.uop.matcher import PatternMatcher
from core.uop.ops import Ops
from core.uop.rule import Rule, Variant
from core.uop.uop import UOp

_OPS: Final = {op.value: op for op in Ops}
"""Every op by its number: the lookup of an enum takes ten times as long."""


class Visits:
    """The visits of one walk to one matcher.

    `ended`: at how many nodes of an op a rule ended the visit, because it replaced the node or
    failed.
    """

    def __init__(self, matcher: PatternMatcher) -> None:
        self.matcher = matcher
        self._ops = bytearray()
        """Of the nodes that were offered: to append a byte costs a third of counting in a dict."""
        self.ended: defaultdict[tuple[Rule, Ops], int] = defaultdict(int)

    @property
    def nodes(self) -> dict[Ops, int]:
        """How many nodes of each op were offered."""
        return {_OPS[op]: self._ops.count(op) for op in set(self._ops)}

    def add(self, other: Visits) -> None:
        """Adds those of another walk to the same matcher."""
        self._ops += other._ops
        for end, count in other.ended.items():
            self.ended[end] += count

    def counting(self) -> Callable[[UOp], tuple[Variant, ...]]:
        """`matcher.candidates`, which counts the nodes that it is asked for."""
        note, candidates = self._ops.append, self.matcher.candidates

        def find(node: UOp) -> tuple[Variant, ...]:
            note(node.op)
            return candidates(node)

        return find

    def tries(self) -> dict[Rule, int]:
        """How often each rule of the matcher was tried."""
        made = dict.fromkeys(self.matcher.rules, 0)
        for op, left in self.nodes.items():
            for rule in self.matcher.rules_of(op):
                made[rule] += left
                left -= self.ended.get((rule, op), 0)
        return made
