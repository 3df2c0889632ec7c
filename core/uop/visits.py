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

from core.uop.matcher import PatternMatcher
from core.uop.ops import Ops
from core.uop.rule import Rule, Variant
from core.uop.uop import UOp


class Visits:
    """The visits of one walk to one matcher.

    `nodes`: how many nodes of each op were offered. `ended`: at how many of them a rule ended the
    visit, because it replaced the node or failed.
    """

    def __init__(self, matcher: PatternMatcher) -> None:
        self.matcher = matcher
        self.nodes: defaultdict[Ops, int] = defaultdict(int)
        self.ended: defaultdict[tuple[Rule, Ops], int] = defaultdict(int)

    def counting(self) -> Callable[[UOp], tuple[Variant, ...]]:
        """`matcher.candidates`, which counts the nodes that it is asked for."""
        nodes, candidates = self.nodes, self.matcher.candidates

        def find(node: UOp) -> tuple[Variant, ...]:
            nodes[node.op] += 1
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
