"""Which nodes a walk offered to a matcher, so that one can tell how often each rule was tried, and
how long that took.

A try of a rule: a node was visited, its op is one that the rule's pattern may begin with, and no
rule before it had ended the visit. How far the pattern was then followed makes no difference: a
node that is ruled out by its dtype or by the ops of its sources counts as one that is ruled out by
anything else. Counting nodes by op is enough, because the first rule that answers ends a visit.
Only tries in which the pattern is run take time of their own: those are timed, one by one. Never
counts where no observer is attached.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule, Variant
from core.uop.uop import UOp

_OPS: Final = {op.value: op for op in Ops}
"""Every op by its number: the lookup of an enum takes ten times as long."""


@dataclass(slots=True)
class Spent:
    """The time of a rule's tries: of how many nodes its pattern was run on (`tries`), nanoseconds
    in all (`ns`), and those of them in its function (`function_ns`), whether it declined or not."""

    tries: int = 0
    ns: int = 0
    function_ns: int = 0


Try = tuple[Callable[..., Any], Rule, Spent]
"""What tries a variant of a rule for an observer (`Variant.observed`), the rule, and its time."""


def _unheard(_rule: Rule, _node: UOp) -> None:
    """Reports no decline."""


def noting(gate: Callable[[UOp], bool], kept: list[UOp]) -> Callable[[UOp], bool]:
    """`gate`, which notes the nodes where it is false."""

    def noted(node: UOp) -> bool:
        if gate(node):
            return True
        kept.append(node)
        return False

    return noted


class Visits:
    """The visits of one walk to one matcher.

    `ended`: at how many nodes of an op a rule ended the visit, because it replaced the node or
    failed. `spent`: the time of each rule whose pattern was run. `decline` is called for each
    decline.
    """

    def __init__(
        self, matcher: PatternMatcher, decline: Callable[[Rule, UOp], None] = _unheard
    ) -> None:
        self.matcher = matcher
        self._decline = decline
        self._ops = bytearray()
        """Of the nodes that were offered: to append a byte costs a third of counting in a dict."""
        self.ended: defaultdict[tuple[Rule, Ops], int] = defaultdict(int)
        self.spent: defaultdict[Rule, Spent] = defaultdict(Spent)
        self._ready: dict[int, tuple[tuple[Variant, ...], list[Try]]] = {}

    @property
    def nodes(self) -> dict[Ops, int]:
        """How many nodes of each op were offered."""
        return {_OPS[op]: self._ops.count(op) for op in set(self._ops)}

    def add(self, other: Visits) -> None:
        """Adds the visits, but not the times, of another walk to the same matcher."""
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

    def ready(self, tried: tuple[Variant, ...]) -> list[Try]:
        """The patterns of candidates, compiled before any of them is timed."""
        found = self._ready.get(id(tried))
        if found is None:  # kept with what it is made of: no other tuple may get its number
            made = [(one.observed, one.rule, self.spent[one.rule]) for one in tried]
            found = self._ready[id(tried)] = tried, made
        return found[1]

    def declined(self, rule: Rule, node: UOp, ns: int) -> None:
        """The function of a rule declined a node, after `ns` nanoseconds."""
        self.spent[rule].function_ns += ns
        self._decline(rule, node)

    def tries(self) -> dict[Rule, int]:
        """How often each rule of the matcher was tried."""
        made = dict.fromkeys(self.matcher.rules, 0)
        for op, left in self.nodes.items():
            for rule in self.matcher.rules_of(op):
                made[rule] += left
                left -= self.ended.get((rule, op), 0)
        return made
