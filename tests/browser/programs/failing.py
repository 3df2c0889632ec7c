"""Two passes that fail: a rule that raises, and two rules without a fixed point."""

from __future__ import annotations

from core.errors import UopvizError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.observe import context

a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)
x = UPat.var("x")


@rule(x + 0)
def add_zero(x: UOp) -> UOp:
    """x + 0 -> x"""
    return x


@rule(x * 3)
def explodes(x: UOp) -> UOp:
    """x * 3 -> a source that x has not"""
    return x.src[7]


@rule(x * 5)
def to_seven(x: UOp) -> UOp:
    """x * 5 -> x * 7"""
    return x * 7


@rule(x * 7)
def to_five(x: UOp) -> UOp:
    """x * 7 -> x * 5"""
    return x * 5


for name, rules in (("raises", (add_zero, explodes)), ("circles", (add_zero, to_seven, to_five))):
    sink = UOp.sink((a + 0).alu(Ops.MAX, b), a.alu(Ops.MAX, b) * 3, b * 5)
    try:
        with context(f"k_{name}", "kernel"):
            graph_rewrite(sink, PatternMatcher(rules), name=name)
    except UopvizError as error:
        print(error.what)
