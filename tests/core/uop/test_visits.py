"""How often each rule was tried: counted by op while observed, against counting rule by rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.errors import RewriteLoopError, RuleError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, graph_rewrite_map, rule
from core.uop.engine.observe import NullObserver, context, observing
from core.uop.engine.visits import Visits
from core.uop.patterns.interpreted import matches
from core.uop.patterns.rule import Rule, Variant
from tests.viz.samples import random_graph
from tests.viz.samples import rules as samples

a, b = (UOp.variable(n, 0, 9) for n in "ab")
x = UPat.var("x")


@rule(UPat(name="u", custom=lambda u: u.op is Ops.DETACH))
def drop_detach(u: UOp) -> UOp:
    """detach(x) -> x, with a pattern of any op"""
    return u.src[0]


@rule(UPat.any(x + x, UPat(Ops.MUL, src=(x, x)), x * 7))
def alternatives(x: UOp) -> UOp | None:
    """x + x -> x * 2, of some constants"""
    return x * 2 if x.op is Ops.CONST else None


@rule(UPat((Ops.ADD, Ops.MAX), name="u", early_reject=[Ops.DEFINE_VAR]))
def rejected_early(u: UOp, ctx: Any) -> UOp | None:
    """max(a, ctx) -> a"""
    return u.src[0] if ctx is not None and u.src[1] is ctx else None


inner = PatternMatcher([samples.rules[0], alternatives], name="inner")


@rule(UPat(Ops.SUB, src=(x, UPat.var("y"))))
def nested(x: UOp, y: UOp) -> UOp | None:
    """x - y -> x, where y is found to be 0"""
    return x if graph_rewrite(y, inner) is UOp.const(y.dtype, 0) else None


POOL = (*samples.rules, drop_detach, alternatives, rejected_early, nested)


class Slow(PatternMatcher):
    """Offers each node to one rule after the other, by the interpreted form of matching."""

    def __init__(self, rules: tuple[Rule, ...], ctx: Any = None) -> None:
        super().__init__(rules)
        self.ctx, self.tried = ctx, Counter[Rule]()

    def candidates(self, node: UOp) -> tuple[Variant, ...]:
        for r in dict.fromkeys(self.rules):
            if any(v.pattern.op is None or node.op in v.pattern.op for v in r.variants):
                self.tried[r] += 1
                call = r.variants[0].call
                for binds in matches(r.pattern, node):
                    made = r.function(**call.keywords(dict(binds), self.ctx))
                    if made is not None and made is not node:
                        return super().candidates(node)
        return super().candidates(node)


class Seen(NullObserver):
    """The visits of all rewrites."""

    def __init__(self) -> None:
        self.visits: list[tuple[str, Visits]] = []

    def visited(self, name: str, visits: Visits) -> None:
        self.visits.append((name, visits))

    def of(self, matcher: PatternMatcher) -> dict[Rule, int]:
        found = [v.tries() for _, v in self.visits if v.matcher is matcher]
        return {r: sum(tries[r] for tries in found) for r in matcher.rules}


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 1 << 30),
    st.integers(1, 60),
    st.lists(st.sampled_from(POOL), min_size=1, max_size=12),
    st.sampled_from(["default", "bottom_up", "map", "both"]),
    st.booleans(),
)
def test_tries_are_those_of_offering_rule_by_rule(
    seed: int, size: int, chosen: list[Rule], how: str, with_ctx: bool
) -> None:
    sink = random_graph(seed, size)
    ctx = sink.src[0] if with_ctx else None
    slow, other = Slow(tuple(chosen), ctx), Slow(tuple(chosen[::2]), ctx)
    seen = Seen()
    try:
        with observing(seen):
            if how == "both":
                graph_rewrite(sink, slow, ctx, before=other)
            elif how == "map":
                graph_rewrite_map(sink, slow, ctx)
            else:
                graph_rewrite(sink, slow, ctx, bottom_up=how == "bottom_up")
    except RewriteLoopError:  # of constants, `double` and `alternatives` undo each other
        reject()
    assert seen.of(slow) == {r: slow.tried[r] for r in slow.rules}
    assert seen.of(other) == {r: other.tried[r] for r in other.rules}


def test_nested_rewrites_tell_their_own_visits() -> None:
    slow = Slow((*inner.rules,))
    outer = PatternMatcher(
        [(UPat(Ops.NEG, src=(x,)), lambda x: graph_rewrite(x, slow, name="within"))]
    )
    seen = Seen()
    with observing(seen):
        assert graph_rewrite(-(a + 0), outer, name="outer") is a
    assert [name for name, _ in seen.visits] == ["within", "outer"]
    assert seen.of(slow) == {r: slow.tried[r] for r in slow.rules}
    assert seen.of(outer)[outer.rules[0]] == 1


@pytest.mark.parametrize("made", ["raises", "another dtype", "no node"])
def test_a_rule_that_fails_was_tried_and_those_after_it_were_not(made: str) -> None:
    def fails(x: UOp) -> Any:
        answers = {"another dtype": lambda: x.cast(dtypes.float), "no node": lambda: 3}
        return answers[made]()

    pattern = UPat(Ops.MUL, src=(x, UPat.var("y")))
    matcher = PatternMatcher([(pattern, lambda x, y: None), (x * 3, fails), (pattern, fails)])
    first, second, third = matcher.rules
    seen = Seen()
    with observing(seen), pytest.raises(RuleError):
        graph_rewrite(b * 3, matcher)
    tries = seen.of(matcher)
    assert (tries[first], tries[second], tries[third]) == (1, 1, 0)


def test_nothing_is_counted_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.uop.engine.rewrite.Visits", lambda _: pytest.fail("counted"))
    assert graph_rewrite(a + 0, samples) is a


class Clock:
    """A clock that only goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def timed(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.uop.engine.rewrite.perf_counter_ns", clock)
    monkeypatch.setattr("core.uop.patterns.compiled.perf_counter_ns", clock)


def test_the_time_of_a_try_is_that_of_its_pattern_and_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    timed(clock, monkeypatch)

    def looks(u: UOp) -> bool:
        clock.now += 10
        return u.arg != 7

    def declines(c: UOp) -> None:
        clock.now += 100

    def fires(c: UOp) -> UOp:
        clock.now += 1000
        return a

    wanted = UPat(Ops.CONST, name="c", custom=looks)
    matcher = PatternMatcher([(wanted, declines), (wanted, fires), (wanted, declines)])
    seen = Seen()
    with observing(seen):
        graph_rewrite(UOp.sink(UOp.const(dtypes.int, 7), UOp.const(dtypes.int, 8)), matcher)
    ((_, visits),) = seen.visits
    spent = [visits.spent[r] for r in matcher.rules]
    assert [(s.tries, s.ns, s.function_ns) for s in spent] == [
        (2, 20 + 100, 100),
        (2, 20 + 1000, 1000),
        (1, 10, 0),
    ]


def test_alternatives_of_a_rule_are_one_try_and_an_error_is_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    timed(clock, monkeypatch)

    def looks(u: UOp) -> bool:
        clock.now += 10
        return False

    def fails(x: UOp) -> UOp:
        clock.now += 1000
        raise ValueError

    def declines(x: UOp, y: UOp) -> None:
        """Never called."""

    two = UPat.any(*(UPat(Ops.MUL, src=(x, UPat.var("y")), custom=looks) for _ in range(2)))
    matcher = PatternMatcher([(two, declines), (x * 3, fails)])
    seen = Seen()
    with observing(seen), pytest.raises(RuleError):
        graph_rewrite(b * 3, matcher)
    ((_, visits),) = seen.visits
    first, second = (visits.spent[r] for r in matcher.rules)
    assert (first.tries, first.ns, first.function_ns) == (1, 20, 0)
    assert (second.tries, second.ns, second.function_ns) == (1, 1000, 0)


def test_a_gate_is_told_where_it_was_false() -> None:
    class Gated(Seen):
        def __init__(self) -> None:
            super().__init__()
            self.kept: list[list[UOp]] = []

        def gated(self, nodes: Any) -> None:
            self.kept.append([*nodes])

    seen = Gated()
    shut = (a + 0).cast(dtypes.float)
    with observing(seen):
        sink = UOp.sink(shut, b + 0)
        assert graph_rewrite(sink, samples, gate=lambda u: u is not shut).src == (shut, b)
        graph_rewrite(sink, samples, gate=lambda u: True)
        graph_rewrite(sink, samples)
    assert seen.kept == [[shut], []]


def test_what_the_same_rules_have_left_as_it_is_is_kept_without_a_try() -> None:
    class Kept(Seen):
        def __init__(self) -> None:
            super().__init__()
            self.kept: list[UOp] = []

        def gated(self, nodes: Any) -> None:
            self.kept += nodes

    matcher = PatternMatcher(samples.rules).settling()
    left = UOp.variable("left", 0, 9).sqrt() * UOp.variable("right", 0, 9)
    seen = Kept()
    with context("work"):
        assert graph_rewrite(left, matcher) is left  # observed or not, it is known from here on
        with observing(seen):
            assert graph_rewrite(UOp.sink(left, a + 0), matcher) is UOp.sink(left, a)
            assert graph_rewrite(left, matcher) is left
    assert seen.kept == [left, left]
    assert [visits.nodes.get(Ops.MUL, 0) for _, visits in seen.visits] == [0, 0]
