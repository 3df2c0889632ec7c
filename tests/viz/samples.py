"""Graphs and rules that the tests of viz share."""

from __future__ import annotations

import random

from core.dtype import dtypes
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp


@rule(UPat.var("x", dtypes.ints) + 0)
def add_zero(x: UOp) -> UOp:
    """x + 0 -> x

    The sum with nothing."""
    return x


@rule(UPat.var("x") * 1)
def mul_one(x: UOp) -> UOp:
    """x * 1 -> x"""
    return x


@rule(UPat.var("x") * UPat.cvar("c"))
def double(x: UOp, c: UOp) -> UOp | None:
    """x * 2 -> x + x"""
    return x + x if c.arg == 2 else None


@rule(UPat.var("x") - UPat.var("y"))
def subtract(x: UOp, y: UOp) -> UOp:
    """x - y -> x + y * -1"""
    return x + y * -1


@rule(UPat(Ops.ADD, src=(UPat(Ops.ADD, src=(UPat.var("a"), UPat.cvar("c"))), UPat.cvar("d"))))
def add_constants(a: UOp, c: UOp, d: UOp) -> UOp:
    """(a + c) + d -> a + (c + d)"""
    return a + UOp.const(a.dtype, c.arg + d.arg)


@rule(UPat(Ops.MAX, src=(UPat.var("a"), UPat.var("b")), name="m"))
def wrap(m: UOp, a: UOp, b: UOp) -> UOp | None:
    """max(a, b) -> detach(max(a, b)), once"""
    return m.replace(tag="wrapped").detach() if m.tag is None else None


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("a"))))
def same(a: UOp) -> UOp:
    """a - a -> 0"""
    return UOp.const(a.dtype, 0)


rules = PatternMatcher(
    [add_zero, mul_one, double, same, subtract, add_constants, wrap], name="arithmetic"
)


def random_graph(seed: int, size: int = 60) -> UOp:
    """A graph of integer arithmetic with much sharing."""
    choose = random.Random(seed)
    nodes = [UOp.variable(f"v{i}", 0, 10) for i in range(3)]
    for _ in range(size):
        a, b = choose.choice(nodes[-12:]), choose.choice(nodes)
        kind = choose.randrange(8)
        nodes.append(
            [a + 0, a * 1, a * 2, a * 3, a - b, a + b, a.alu(Ops.MAX, b), a + choose.randrange(4)][
                kind
            ]
        )
    return UOp.sink(*choose.sample(nodes[-8:], 3))
