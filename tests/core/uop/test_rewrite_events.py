"""What observers of graph_rewrite are told, and that the result follows from it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.errors import RuleError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule, track_rewrites
from core.uop.engine.observe import NullObserver, Recording, Step, context, observing, recording
from tests.core.uop.test_rewrite import BOTH, a, a_to_b, b, c, identities, renaming, x, y


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


def test_what_is_told_does_not_depend_on_earlier_work() -> None:
    """A rule that looks around with a rewrite of its own is tried again in the next context, even
    where nodes that it left as they are still live; within one, not twice."""

    @rule(UPat(Ops.MUL, name="u"))
    def looking(u: UOp) -> UOp | None:
        graph_rewrite(u.src[0], renaming, name="look")
        return None

    matcher = PatternMatcher([looking], name="looking").settling()
    u = (c * 3) + b
    logs = [Log() for _ in range(3)]
    for log in logs[:2]:
        with observing(log), context("work"):
            graph_rewrite(u, matcher, name="pass")
            graph_rewrite(u, matcher, name="pass")
    with observing(logs[2]):
        graph_rewrite(u, matcher, name="pass")
    begun = [[call[1] for call in log.calls if call[0] == "rewrite"] for log in logs]
    assert begun == [["pass", "look", "pass"], ["pass", "look", "pass"], ["pass", "look"]]
