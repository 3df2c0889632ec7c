"""`PatternMatcher`: an ordered set of rules. The first one that gives a result wins.

Which rules are tried for a node is looked up by its op, its dtype and the ops of its sources, so
that a node which no rule can match costs one lookup. Never walks a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Self

from core.errors import PatternError
from core.uop.frames import caller_place
from core.uop.ops import OP_BITS, Ops
from core.uop.patterns.compiled import could_match
from core.uop.patterns.policy import in_force
from core.uop.patterns.rule import Rule, Variant
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp

LONGEST_KEY = 3
"""Nodes with more sources are looked up by the set of the sources' ops."""


class PatternMatcher:
    """Rules in order of precedence, given as `Rule`s or as plain (UPat, function) pairs.

    `a + b` tries the rules of a, then those of b. Raises PatternError for anything else than rules.
    """

    def __init__(
        self, rules: Iterable[Rule | tuple[UPat, Callable[..., Any]]], name: str = ""
    ) -> None:
        place = caller_place(1)
        self.rules: tuple[Rule, ...] = tuple(_as_rule(r, place) for r in rules)
        self.name = name
        self._by_op: list[list[Variant]] = [[] for _ in range(max(Ops) + 1)]
        for r in self.rules:
            for variant in r.variants:
                for op in Ops if variant.pattern.op is None else variant.pattern.op:
                    self._by_op[op].append(variant)
        self._lookup: dict[tuple[Any, ...], tuple[Variant, ...]] = {}
        self.roots = sum(bit for bit, some in zip(OP_BITS, self._by_op, strict=True) if some)
        """The bits of the ops that a pattern may begin with."""
        self.settles = False
        """Whether it is kept which nodes no rule would change (`core/uop/engine/settled.py`)."""

    def settling(self) -> Self:
        """Itself. Of each node that a rewrite leaves as it is, that is kept for the next ones: the
        rules look at nothing but the node and what is below it."""
        self.settles = True
        return self

    def __add__(self, other: PatternMatcher) -> PatternMatcher:
        names = [n for n in (self.name, other.name) if n]
        return PatternMatcher(self.rules + other.rules, name="+".join(names))

    def __repr__(self) -> str:
        return f"PatternMatcher({self.name!r}, {len(self.rules)} rules)"

    def changed(self, skip: Collection[str], replace: Mapping[str, Rule]) -> Self:
        """These rules without those named in `skip`, and others in place of those in `replace`;
        itself, where it has none of them."""
        rules = [replace.get(r.name, r) for r in self.rules if r.name not in skip]
        return self if tuple(rules) == self.rules else type(self)(rules, self.name)

    def rules_of(self, op: Ops) -> list[Rule]:
        """The rules whose pattern may begin with `op`, in order, each once."""
        return list(dict.fromkeys(variant.rule for variant in self._by_op[op]))

    def candidates(self, node: UOp) -> tuple[Variant, ...]:
        """The rules (by variant of their pattern) that could match `node`, in order."""
        op, src = node.op, node.src
        if not self._by_op[op]:
            return ()
        count = len(src)
        key: tuple[Any, ...]
        if count == 2:
            key = (op, node.dtype.name, src[0].op, src[1].op)
        elif count == 1:
            key = (op, node.dtype.name, src[0].op)
        elif count <= LONGEST_KEY:
            key = (op, node.dtype.name, *[s.op for s in src])
        else:
            key = (op, node.dtype.name, frozenset([s.op for s in src]))
        found = self._lookup.get(key)
        return found if found is not None else self._fill(node, key)

    def _fill(self, node: UOp, key: tuple[Any, ...]) -> tuple[Variant, ...]:
        ops = key[2] if len(node.src) > LONGEST_KEY else tuple(s.op for s in node.src)
        found = tuple(
            v for v in self._by_op[node.op] if could_match(v.pattern, node.op, node.dtype.name, ops)
        )
        self._lookup[key] = found
        return found

    def rewrite(self, node: UOp, ctx: Any = None) -> Any:
        """The first result of a rule for `node` that is not None and not `node`; None without one.
        A result may be anything: renderers use rules that give text."""
        applied = in_force()
        rules = self if applied is None else applied.rules(self, self.name)
        for variant in rules.candidates(node):
            result = variant.plain(node, ctx)
            if result is not None:
                return result
        return None


def _as_rule(r: object, place: str) -> Rule:
    match r:
        case Rule():
            return r
        case (UPat() as pattern, function) if callable(function):
            return Rule(pattern, function, fallback=place)
        case _:
            raise PatternError(
                f"a rule is a Rule or a (UPat, function) pair, not {type(r).__name__}",
                where=place,
                hint="decorate a function with @rule(pattern)",
            )
