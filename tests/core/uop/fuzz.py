"""Random conditions, gates and view indices, and what every rewrite of them must keep."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from core.dtype import DType, dtypes
from core.passes.view_index import view_index
from core.shape import ShapeTracker
from core.uop import Ops, Rule, UOp, graph_rewrite
from core.uop.engine.observe import NullObserver, observing
from core.uop.engine.substitute import substitution
from core.uop.symbolic import gated, symbolic_index
from core.uop.symbolic.measure import measure
from tests.core.uop.evaluator import value
from tests.core.uop.symbols import num

SIMPLIFYING = symbolic_index + gated
MATCHES = 40
"""Matches per node of a graph beyond which a rewrite counts as endless."""
pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(64), (), 0)


class Falling(NullObserver):
    """Holds that each match makes the measure smaller, and that there are not too many. What stands
    in for a node while a condition is known to hold simplifies nothing by itself."""

    def __init__(self, most: int) -> None:
        self.left = most

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """See Observer."""
        if rule in substitution.rules:
            return
        self.left -= 1
        assert self.left >= 0, f"too many matches; now {rule.name} of {before.render()}"
        old, new = measure(before), measure(after)
        shown = f"{rule.name}: {before.render()} -> {after.render()}"
        assert new < old, f"{shown}: from {old} to {new}"


def simplified(u: UOp) -> UOp:
    """`u` with all rules of a kernel, each match of which is checked; a fixed point."""
    with observing(Falling(MATCHES * len(u.toposort()) + MATCHES)):
        result = graph_rewrite(u, SIMPLIFYING)
    assert graph_rewrite(result, SIMPLIFYING) is result, f"no fixed point: {result.render()}"
    return result


class Cases:
    """Random expressions over loops and variables of one dtype."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.dtype: DType = rng.choice((dtypes.int32,) * 5 + (dtypes.int8, dtypes.uint8))
        self.leaves = [self._leaf(k) for k in range(rng.randint(1, 4))]

    def _leaf(self, k: int) -> UOp:
        rng = self.rng
        if self.dtype is dtypes.int32 and rng.random() < 0.4:
            return UOp.range(rng.randint(1, 12), k)
        low = 0 if dtypes.is_unsigned(self.dtype) else rng.choice((0, 0, 0, 1, -3, -9))
        return UOp.variable(f"v{k}", low, low + rng.randint(0, 12), self.dtype)

    def factor(self) -> int:
        """A factor of a term."""
        factors = (1, 1, 1, 1, 2, 3, 4, 5, 8)
        return self.rng.choice(
            factors if dtypes.is_unsigned(self.dtype) else (*factors, -1, -1, -2)
        )

    def term(self) -> UOp:
        """A variable, or a quotient or remainder of something linear."""
        rng = self.rng
        x: UOp = rng.choice(self.leaves)
        if rng.random() < 0.75:
            return x
        if rng.random() < 0.5:
            x = x * self.factor() + rng.choice(self.leaves)
        c = num(rng.choice((2, 3, 4, 6, 8)), self.dtype)
        x = x + rng.randint(0, 5) if rng.random() < 0.3 else x
        return x // c if rng.random() < 0.5 else x % c

    def linear(self) -> UOp:
        """A sum of a few terms, in any order."""
        total = self.term() * self.factor()
        for _ in range(self.rng.randint(0, 2)):
            more = self.term() * self.factor()
            total = total + more if self.rng.random() < 0.5 else more + total
        return total + self.rng.randint(0, 7) if self.rng.random() < 0.4 else total

    def clause(self) -> UOp:
        """A comparison of something linear, perhaps negated."""
        rng = self.rng
        low = 0 if dtypes.is_unsigned(self.dtype) else -6
        y = num(rng.randint(low, 15), self.dtype) if rng.random() < 0.85 else self.linear()
        x, op = self.linear(), rng.choice((Ops.CMPLT,) * 6 + (Ops.CMPEQ, Ops.CMPNE))
        test = x.alu(op, y) if rng.random() < 0.8 else y.alu(op, x)
        return test.logical_not() if rng.random() < 0.4 else test

    def condition(self) -> UOp:
        """A conjunction of up to six clauses, some of them disjunctions."""
        total = self.clause()
        for _ in range(self.rng.randint(0, 5)):
            more = self.clause()
            more = more | self.clause() if self.rng.random() < 0.1 else more
            total = total & more if self.rng.random() < 0.7 else more & total
        return total

    def choice(self) -> UOp:
        """WHEREs of conditions, perhaps of the same one, and of linear values."""
        c, x, y = self.condition(), self.linear(), self.linear()
        if self.rng.random() < 0.5:
            d = c if self.rng.random() < 0.5 else self.condition()
            inner = d.where(self.linear(), self.linear())
            x, y = (inner, y) if self.rng.random() < 0.5 else (x, inner)
        return c.where(x, y)

    def points(self, count: int) -> list[dict[UOp, int]]:
        """Values for the variables."""
        ends = [(int(v.vmin), int(v.vmax)) for v in self.leaves]
        return [
            {v: self.rng.randint(*end) for v, end in zip(self.leaves, ends, strict=True)}
            for _ in range(count)
        ]


def check_value(u: UOp, cases: Cases) -> None:
    """Simplification of `u` ends, and keeps its value at points."""
    result = simplified(u)
    for env in cases.points(12):
        old, new = value(u, env), value(result, env)
        assert old == new, f"{u.render()} -> {result.render()}: {old}, {new} at {shown(env)}"


def check_gate(address: UOp, gate: UOp, points: list[dict[UOp, int]]) -> None:
    """Simplification of a gated load ends, and keeps the gate and the address where it holds."""
    nothing = num(0.0, dtypes.float32)
    before = pointer.index(address, gate=gate).load(nothing)
    after = simplified(before)
    for env in points:
        holds, where = value(gate, env), f"{before.render()} -> {after.render()} at {shown(env)}"
        if after is nothing:
            assert not holds, where
            continue
        index = after.src[0]
        assert (value(index.src[2], env) if len(index.src) > 2 else True) == holds, where
        assert not holds or value(address, env) == value(index.src[1], env), where


def check_view(tracker: ShapeTracker, rng: random.Random) -> None:
    """The index arithmetic of a view chain, simplified, addresses what the tracker says."""
    loops = [UOp.range(n, k) for k, n in enumerate(tracker.shape)]
    address, valid = view_index(tracker, loops)
    gate = UOp.const(dtypes.bool, True) if valid is None else valid
    sizes = dict(zip(loops, tracker.shape, strict=True))
    points = [{r: rng.randrange(n) for r, n in sizes.items()} for _ in range(8)]
    for env in points:
        at, holds = tracker.index(list(env.values()))
        assert value(gate, env) == holds and (not holds or value(address, env) == at)
    check_gate(address, gate, points)


def shown(env: Mapping[UOp, Any]) -> str:
    return ", ".join(f"{v.render()} = {n}" for v, n in env.items())
