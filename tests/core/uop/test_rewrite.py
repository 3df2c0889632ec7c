"""graph_rewrite: order, fixed points, maps, depth, errors, and what observers are told."""

from __future__ import annotations

import gc
import linecache
import sys
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.errors import RewriteLoopError, RuleError, SpecError
from core.uop import (
    Ops,
    PatternMatcher,
    UOp,
    UPat,
    graph_rewrite,
    graph_rewrite_map,
    rule,
    track_rewrites,
)
from core.uop.observe import (
    NullObserver,
    Recording,
    Step,
    context,
    observing,
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


# errors


@BOTH
def test_a_cycle_names_its_rules_and_nodes(bottom_up: bool) -> None:
    @rule(UPat(Ops.DEFINE_VAR, name="v"))
    def forth(v: UOp) -> UOp | None:
        """a -> b"""
        return b if v is a else None

    @rule(UPat(Ops.DEFINE_VAR, name="v"))
    def back(v: UOp) -> UOp | None:
        """b -> a"""
        return a if v is b else None

    with pytest.raises(RewriteLoopError) as caught:
        graph_rewrite(a * 2, PatternMatcher([forth, back]), bottom_up=bottom_up)
    assert "forth -> back" in caught.value.what
    assert __file__ in caught.value.where
    assert "DEFINE_VAR() arg=('a', 0, 9)" in caught.value.where


@BOTH
def test_growth_is_a_loop(bottom_up: bool) -> None:
    wrap = PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), lambda v: v + 1)])
    count = PatternMatcher([(UPat(Ops.CONST, name="v"), lambda v: v.replace(arg=v.arg + 1))])
    with pytest.raises(RewriteLoopError, match="leads back to itself"):
        graph_rewrite(a, wrap, bottom_up=bottom_up)
    with pytest.raises(RewriteLoopError, match="wait for each other"):
        graph_rewrite(UOp.const(dtypes.int64, 1), count, bottom_up=bottom_up)


@BOTH
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda v: v.nothing, "raised AttributeError"),
        (lambda v: 1 // 0, "raised ZeroDivisionError"),
        (lambda v: 7, r"returned int, which is no UOp(.|\n)*const_like"),
        (lambda v: v.cast(dtypes.float32), "made float32 of int32"),
        (lambda v: UOp.const(v.dtype.vec(4), 1), "made int32.vec\\(4\\) of int32"),
    ],
)
def test_a_rule_that_is_wrong_is_named(answer: Any, said: str, bottom_up: bool) -> None:
    matcher = PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), answer)])
    with pytest.raises(RuleError, match=said) as caught:
        graph_rewrite(a + b, matcher, bottom_up=bottom_up)
    assert __file__ in caught.value.where
    assert "DEFINE_VAR" in caught.value.where


def test_a_rule_that_changes_the_shape_is_named() -> None:
    tensor = UOp.new_buffer("CPU", 6, dtypes.float32).reshape((2, 3))
    flat = PatternMatcher([(UPat(Ops.RESHAPE, src=(x,)), lambda x: x)])
    with pytest.raises(RuleError, match=r"made shape \(6,\) of \(2, 3\)"):
        graph_rewrite(tensor, flat)

    @rule(UPat(Ops.RESHAPE, src=(x,)), changes_type=True)
    def meant(x: UOp) -> UOp:
        """reshape(x) -> x"""
        return x

    assert graph_rewrite(tensor, PatternMatcher([meant])) is tensor.src[0]


def test_deliberate_errors_pass_through() -> None:
    def refuse(v: UOp) -> UOp:
        raise SpecError("no variables here")

    with pytest.raises(SpecError, match="no variables here"):
        graph_rewrite(a, PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), refuse)]))


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


# observers


class Log(NullObserver):
    """Every call, as its name and what identifies it."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def context_begin(self, name: str, kind: str, meta: Any) -> None:
        self.calls.append(("begin", name, kind, dict(meta)))

    def context_rename(self, name: str) -> None:
        self.calls.append(("rename", name))

    def context_end(self, error: BaseException | None) -> None:
        self.calls.append(("end", type(error).__name__ if error else None))

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: Any, bottom_up: bool, caller: str
    ) -> None:
        self.calls.append(("rewrite", name, sink, bottom_up, caller.rpartition(":")[0]))

    def match(self, rule: Any, before: UOp, after: UOp, binds: Any, ns: int) -> None:
        assert ns >= 0
        self.calls.append(("match", rule.name, before, after, dict(binds)))

    def rebuild(self, old: UOp, new: UOp) -> None:
        self.calls.append(("rebuild", old, new))

    def decline(self, rule: Any, node: UOp) -> None:
        self.calls.append(("decline", rule.name, node))

    def rewrite_end(self, result: Any, error: Any, rule: Any, node: Any) -> None:
        kind = type(error).__name__ if error else None
        self.calls.append(("done", result, kind, rule.name if rule else None, node))


def test_an_observer_is_told_everything_in_order() -> None:
    log = Log()
    u = (a + 0) * c
    with observing(log):
        graph_rewrite(u, identities + renaming, name="pass")
    assert log.calls == [
        ("rewrite", "pass", u, False, __file__),
        ("match", "a_to_b", a, b, {"v": a}),
        ("decline", "a_to_b", b),
        ("rebuild", a + 0, b + 0),
        ("match", "add_zero", b + 0, b, {"x": b}),
        ("decline", "a_to_b", c),
        ("rebuild", u, b * c),
        ("done", b * c, None, None, None),
    ]
    before = len(log.calls)
    graph_rewrite(u, identities)
    assert len(log.calls) == before


def test_errors_are_told_with_rule_and_node() -> None:
    log = Log()
    wrong = PatternMatcher([rule(UPat(Ops.DEFINE_VAR, name="v"), name="wrong")(lambda v: 1)])
    with observing(log), pytest.raises(RuleError):
        graph_rewrite(a + b, wrong)
    assert log.calls[-1] == ("done", None, "RuleError", "wrong", a)


def test_contexts_nest_and_get_their_final_name() -> None:
    log = Log()

    @track_rewrites(name=lambda result, args: f"{args[0]} gave {result}", kind="kernel")
    def compile_it(n: int) -> int:
        """What is tracked."""
        graph_rewrite(a + 0, identities)
        return n + 1

    @track_rewrites(kind="schedule")
    def fails() -> None:
        raise ValueError("no")

    assert compile_it(1) == 2
    with observing(log), context("outer", "group", extra=3):
        assert compile_it(4) == 5
        with pytest.raises(ValueError, match="no"):
            fails()
    told = [entry for entry in log.calls if entry[0] in ("begin", "end", "rename")]
    assert told == [
        ("begin", "outer", "group", {"extra": 3}),
        ("begin", "compile_it", "kernel", {}),
        ("rename", "4 gave 5"),
        ("end", None),
        ("begin", "fails", "schedule", {}),
        ("end", "ValueError"),
        ("end", None),
    ]
    assert compile_it.__doc__ == "What is tracked."


def test_several_observers_and_threads() -> None:
    first, second = Recording(), Recording()
    with observing(first), observing(second):
        thread = threading.Thread(target=graph_rewrite, args=(a + 0, identities))
        thread.start()
        thread.join()
    assert first.rules == second.rules == ["add_zero"]


def test_nested_rewrites_are_bracketed() -> None:
    log = Log()
    nested = PatternMatcher(
        [(UPat(Ops.MUL, src=(x, y), name="u"), lambda u, x, y: graph_rewrite(x, identities) - y)]
    )
    with observing(log):
        graph_rewrite((a + 0) * 2, nested, name="outer")
    names = [e[1] if e[0] == "rewrite" else e[0] for e in log.calls if e[0] in ("rewrite", "done")]
    assert names == ["outer", "identities", "done", "done"]


# replay: the input graph and the events give the result

CHANGES = PatternMatcher(
    [
        (UPat(Ops.ADD, src=(x, x)), lambda x: x * 2),
        (UPat(Ops.MUL, src=(x, UPat.const(None, 4))), lambda x: x * 2 + x * 2),
        (UPat(Ops.NEG, src=(UPat(Ops.NEG, src=(x,)),)), lambda x: x),
        (UPat(Ops.NEG, src=(UPat.var("x") + y,)), lambda x, y: -x + -y),
        (UPat(Ops.MUL, src=(UPat.var("x"), UPat.const(None, 1))), lambda x: x),
        (UPat(Ops.SUB, src=(x, x)), lambda x: x * 4),
        (UPat(Ops.MAX, src=(x, y)), lambda x, y: x if x is not a else None),
        a_to_b,
    ],
    name="changes",
)


def outcome(u: UOp, events: Iterable[Step]) -> UOp:
    """What the events say becomes of `u`: each event moves on from `before` to `after`."""
    moved = {e.before: e.after for e in events if e.after is not None}
    while (next_one := moved.get(u)) is not None:
        u = next_one
    return u


def in_order(u: UOp, events: Iterable[Step]) -> UOp:
    """Every event applied to the whole graph as a substitution, one after the other."""
    for e in events:
        if e.after is not None:
            u = u.substitute({e.before: e.after})
    return u


@st.composite
def graphs(draw: st.DrawFn) -> UOp:
    nodes = [a, b, c, UOp.const(dtypes.int32, 1), UOp.const(dtypes.int32, 4)]
    for _ in range(draw(st.integers(1, 12))):
        p, q = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        kind = draw(st.integers(0, 4))
        nodes.append(
            (p + q, p * q, -p, p - q, p.maximum(q))[kind] if kind else p + draw(st.just(p))
        )
    return UOp.sink(*nodes[-3:])


@BOTH
@settings(max_examples=300, deadline=None)
@given(u=graphs())
def test_events_reconstruct_the_result(u: UOp, bottom_up: bool) -> None:
    with recording() as seen:
        result = graph_rewrite(u, CHANGES, bottom_up=bottom_up)
    assert outcome(u, seen.events) is result
    if not bottom_up:
        assert in_order(u, seen.events) is result
    assert graph_rewrite(u, CHANGES, bottom_up=bottom_up) is result
    assert all(CHANGES.rewrite(n) is None for n in result.toposort())


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_both_directions_agree_here(u: UOp) -> None:
    """These rules meet in the same result from both directions only where they are confluent."""
    simple = PatternMatcher([CHANGES.rules[2], CHANGES.rules[4], a_to_b])
    assert graph_rewrite(u, simple) is graph_rewrite(u, simple, bottom_up=True)
