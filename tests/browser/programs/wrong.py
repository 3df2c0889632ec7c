"""A kernel, and a pass with a rule that is wrong: what it makes of x - 3 is 3 - x."""

from __future__ import annotations

from core import Tensor
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite

X = UOp.variable("x", 0, 9)


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def swapped(a: UOp, b: UOp) -> UOp:
    """a - b -> b + -1 * a, which is wrong"""
    return b + a * -1


@rule(UPat.var("x") * 1)
def mul_one(x: UOp) -> UOp:
    """x * 1 -> x"""
    return x


with context("made by hand", "kernel"):
    graph_rewrite(UOp.sink(X * 1 - 3), PatternMatcher([mul_one, swapped]), name="tidy")
a = Tensor([n / 102 for n in range(102)]).reshape(6, 17).realize()
b = Tensor([n / 136 for n in range(136)]).reshape(17, 8).realize()
(a @ b).realize()
