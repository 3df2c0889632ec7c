"""Throughput of the rewriting engine on graphs where nothing, and where everything, matches."""

from __future__ import annotations

import time

from core.dtype import dtypes
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.symbolic import symbolic
from tests.bench.measure import spread, table

NODES, RUNS = 20_000, 7


@rule(UPat(Ops.MUL, src=(UPat.var("x"), UPat.cvar("c"))))
def mul_to_shift(x: UOp, c: UOp) -> UOp:
    """x * c -> x << c"""
    return x << c


def chain(number: int) -> UOp:
    """A chain of `NODES` nodes that no other run has seen."""
    x = UOp.variable(f"v{number}", 0, 1 << 20)
    for i in range(NODES // 2):
        x = x.alu(Ops.MUL, UOp.const(dtypes.int, i))
    return x


def seconds(matcher: PatternMatcher, graph: UOp) -> float:
    """Time of one graph_rewrite."""
    start = time.perf_counter()
    graph_rewrite(graph, matcher)
    return time.perf_counter() - start


def figures() -> str:
    """The table."""
    every = PatternMatcher([mul_to_shift], name="bench")
    nothing = PatternMatcher([], name="nothing")
    rows: list[list[object]] = []
    for name, matcher in (("no rules", nothing), ("every other node matches", every)):
        rates = [NODES / seconds(matcher, chain(i)) / 1000 for i in range(RUNS)]
        rows.append([name, spread(rates, 0)])
    done = graph_rewrite(chain(0), every)
    rates = [len(done.toposort()) / seconds(symbolic, done) / 1000 for _ in range(RUNS)]
    rows.append(["all symbolic rules, nothing matches", spread(rates, 0)])
    return table("Rewriting engine", ["graph", "thousand nodes per second"], rows)
