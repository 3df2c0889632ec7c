"""graph_rewrite: order, fixed points, maps, depth; rules know where they are."""

from __future__ import annotations

import gc
import linecache
import sys
import weakref
from typing import Any

import pytest

from core.dtype import dtypes
from core.uop import (
    Ops,
    PatternMatcher,
    UOp,
    UPat,
    graph_rewrite,
    graph_rewrite_map,
    rule,
)
from core.uop.engine.observe import (
    recording,
)
from core.uop.uop import creating

a, b, c = (UOp.variable(n, 0, 9) for n in "abc")
x, y = UPat.var("x"), UPat.var("y")
BOTH = pytest.mark.parametrize("bottom_up", [False, True])


@rule(UPat.var("x", dtypes.ints) + 0)
def add_zero(x: UOp) -> UOp:
    """x + 0 -> x"""
    return x


@rule(UPat(Ops.DEFINE_VAR, name="v"))
def a_to_b(v: UOp) -> UOp | None:
    """a -> b"""
    return b if v is a else None


identities = PatternMatcher([add_zero], name="identities")
renaming = PatternMatcher([a_to_b], name="renaming")


@BOTH
def test_rewrites_to_a_fixed_point(bottom_up: bool) -> None:
    assert graph_rewrite((a + 0) + 0, identities, bottom_up=bottom_up) is a
    assert graph_rewrite(a * 2, identities, bottom_up=bottom_up) is a * 2
    assert graph_rewrite(a + a * 2, renaming, bottom_up=bottom_up) is b + b * 2
    together = identities + renaming
    assert graph_rewrite(((a + 0) * 3) + 0, together, bottom_up=bottom_up) is b * 3
    assert together.name == "identities+renaming"


def test_first_rule_that_answers_wins_and_decliners_pass() -> None:
    calls: list[str] = []

    def said(name: str, result: UOp | None) -> Any:
        def answer(x: UOp) -> UOp | None:
            calls.append(name)
            return x if result is None and name == "same" else result

        return (UPat(Ops.NEG, name="x"), answer)

    rules = [said("declines", None), said("same", None), said("wins", b), said("late", c)]
    assert PatternMatcher(rules).rewrite(-a) is b
    assert calls == ["declines", "same", "wins"]


def test_a_decline_tries_the_next_permutation() -> None:
    wanted = PatternMatcher([(x + y, lambda x, y: x * y if x is b else None)])
    with recording() as seen:
        assert graph_rewrite(a + b, wanted) is b * a
    declined = [e for e in seen.events if e.after is None]
    assert [e.before for e in declined] == [a + b]


def test_rules_may_give_anything_when_used_directly() -> None:
    text = PatternMatcher(
        [
            (UPat(Ops.ADD, name="u"), lambda ctx, u: f"{ctx[u.src[0]]} + {ctx[u.src[1]]}"),
            (UPat(Ops.DEFINE_VAR, name="u"), lambda u: u.arg[0]),
        ]
    )
    names = {u: text.rewrite(u) for u in (a, b)}
    assert text.rewrite(a + b, names) == "a + b"
    assert text.rewrite(a * b) is None


def test_default_sees_rewritten_sources_and_bottom_up_sees_old_ones() -> None:
    seen: list[UOp] = []
    watch = PatternMatcher([(UPat(Ops.NEG, name="u"), lambda u: seen.append(u)), a_to_b])
    assert graph_rewrite(-a, watch) is -b
    assert seen == [-b]
    seen.clear()
    assert graph_rewrite(-a, watch, bottom_up=True) is -b
    assert seen == [-a, -b]


def test_both_orders_in_one_walk() -> None:
    first = PatternMatcher([(UPat(Ops.NEG, src=(x,)), lambda x: x * 0)])
    after = PatternMatcher([(x * 0, lambda x: x + 0), add_zero, a_to_b])
    assert graph_rewrite(a.neg().neg(), after, before=first) is b


def test_ctx_and_gate() -> None:
    count = PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), lambda ctx, v: ctx.append(v))])
    ctx: list[UOp] = []
    graph_rewrite(a + b * a, count, ctx)
    assert sorted(v.arg[0] for v in ctx) == ["a", "b"]
    assert graph_rewrite(a + a * 2, renaming, gate=lambda u: u.op is not Ops.MUL) is b + a * 2


@BOTH
def test_map_has_every_node_and_composes(bottom_up: bool) -> None:
    u = (a + 0) * c
    found = graph_rewrite_map(u, identities + renaming, bottom_up=bottom_up)
    assert set(found) == set(u.toposort())
    assert found[u] is b * c
    assert found[a + 0] is b
    assert found[a] is b
    to_c = PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), lambda v: c if v is b else None)])
    both = graph_rewrite_map(found[u], to_c, input_map=found, bottom_up=bottom_up)
    assert both[u] is c * c
    assert both[a] is c
    assert both[b * c] is c * c


def test_map_covers_what_bottom_up_never_reaches() -> None:
    drop = PatternMatcher([(UPat(Ops.NEG, name="u"), lambda u: c), a_to_b])
    found = graph_rewrite_map(-a, drop, bottom_up=True)
    assert found[-a] is c
    assert found[a] is b


# depth


@BOTH
def test_a_chain_of_100_000_nodes(bottom_up: bool) -> None:
    u = a
    for i in range(100_000):
        u = u + UOp.const(dtypes.int32, i % 7)
    done = graph_rewrite(u, identities + renaming, bottom_up=bottom_up)
    for i in reversed(range(100_000)):
        if i % 7:
            assert done.op is Ops.ADD
            done = done.src[0]
    assert done is b


def test_pushing_down_a_deep_chain_is_no_endless_loop() -> None:
    """More rewrites wait for each other than REWRITE_LIMIT, as many as the graph is deep."""
    u = a
    for _ in range(12_000):
        u = -u
    down = PatternMatcher(
        [
            (
                UPat(Ops.CAST, dtypes.int64, (UPat(Ops.NEG, src=(x,)),)),
                lambda x: -x.cast(dtypes.int64),
            )
        ]
    )
    cast = graph_rewrite(u.cast(dtypes.int64), down)
    for _ in range(12_000):
        assert cast.op is Ops.NEG
        cast = cast.src[0]
    assert cast is a.cast(dtypes.int64)


def test_nothing_is_kept_alive() -> None:
    u = -(UOp.variable("only here", 0, 3) + 0)
    seen = weakref.ref(graph_rewrite(u, identities))
    del u
    gc.collect()
    assert seen() is None


def test_recursion_limit_is_never_near() -> None:
    limit = sys.getrecursionlimit()
    u = a
    for _ in range(5000):
        u = -u
    sys.setrecursionlimit(100)
    try:
        graph_rewrite(u, renaming)
        graph_rewrite(u, renaming, bottom_up=True)
    finally:
        sys.setrecursionlimit(limit)


# rules know where they are


def test_rules_know_name_place_equation_and_source() -> None:
    assert (add_zero.name, add_zero.equation, add_zero.file) == ("add_zero", "x + 0 -> x", __file__)
    assert "return x" in add_zero.source
    assert linecache.getline(__file__, add_zero.line).startswith("@rule")
    lambdas = PatternMatcher([(UPat.var("x"), lambda x: None)]).rules[0]
    assert lambdas.name == f"test_rewrite.py:{lambdas.line}"
    assert "lambda x" in lambdas.source
    assert add_zero(a) is a
    assert rule(UPat.var("x"), name="mine")(lambda x: x).name == "mine"


def test_new_nodes_inherit_the_users_line() -> None:
    creating.origin = "user.py:7"
    try:
        u = UOp.variable("from user", 0, 3) * 2
    finally:
        creating.origin = None
    expand = PatternMatcher([(UPat(Ops.MUL, src=(x, y)), lambda x, y: x + x)])
    made = graph_rewrite(u, expand)
    assert made.origin == "user.py:7"
    assert creating.origin is None
