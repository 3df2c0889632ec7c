"""Substitution as steps: what is replaced is what `UOp.substitute` replaces, and each is told."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from core import Tensor
from core.compile import compile_kernel
from core.helpers import Context
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.observe import recording
from core.uop.engine.substitute import substitute
from core.uop.symbolic.valid import given as given_that
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU
from tests.viz.replay.test_replay import replay
from tests.viz.samples import random_graph

a, b, c = (UOp.variable(name, 0, 99) for name in "abc")


def test_each_replacement_is_a_step() -> None:
    with recording() as seen:
        assert substitute((a + b) * a, {a: c, b: c * 2}, "renamed") is (c + c * 2) * c
    assert seen.rules == ["substitute_node", "substitute_node"]
    assert [(s.before, s.after) for s in seen.matches] == [(a, c), (b, c * 2)]
    assert [s.before for s in seen.events if s.rule is None] == [a + b, (a + b) * a]


def test_an_exchange_is_one_step() -> None:
    """One after the other, the second would replace what the first one put in place."""
    with recording() as seen:
        assert substitute(a - b, {a: b, b: a}, "exchange") is b - a
    assert seen.rules == ["substitute_together"]


def test_what_is_not_there_is_no_step() -> None:
    with recording() as seen:
        assert substitute(a + b, {c: a, a: a}, "nothing") is a + b
    assert seen.events == []


def test_a_replacement_is_not_searched_again() -> None:
    with recording() as seen:
        assert substitute(a * 2, {a: a + 1}, "once") is (a + 1) * 2
    assert seen.rules == ["substitute_together"]


def test_the_root_itself() -> None:
    replay(a, lambda: substitute(a, {a: b}, "root"))
    assert substitute(a, {a: b}, "root") is b


@rule(UPat(Ops.ADD, src=(UPat.var("x"), UPat.cvar("k"))))
def add_to_sub(x: UOp, k: UOp) -> UOp:
    """x + k -> x - -k"""
    return x - k.const_like(-k.arg)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 60), st.booleans())
def test_the_steps_lead_to_what_substitute_gives(seed: int, size: int, apart: bool) -> None:
    sink = random_graph(seed, size)
    rng = random.Random(seed)
    nodes = list(sink.toposort())
    old = rng.sample(nodes[:-1], min(len(nodes) - 1, rng.randrange(1, 6)))
    fresh = [UOp.variable(f"fresh{i}", 0, 9, u.dtype) for i, u in enumerate(old)]
    new = fresh if apart else [rng.choice([u for u in nodes if u.dtype is o.dtype]) for o in old]
    replaced = dict(zip(old, new, strict=True))
    wanted = sink.substitute(replaced)
    assert replay(sink, lambda: substitute(sink, replaced, "some")).rebuilt() is wanted
    rules = PatternMatcher([add_to_sub])
    rewritten = graph_rewrite(wanted, rules)
    replay(sink, lambda: graph_rewrite(sink, rules, substituting=replaced))
    assert graph_rewrite(sink, rules, substituting=replaced) is rewritten


def test_what_a_condition_tells_is_steps() -> None:
    """`x` is known to be 3 at least: the trace says where `_given` comes from, and that it goes."""
    x = UOp.variable("x", 0, 9)
    with recording() as seen:
        assert given_that((x + 1) // 4, x.alu(Ops.CMPLT, x.const_like(3))) is x.const_like(0)
    assert "substitute_node" in seen.rules


def test_merged_kernels_say_what_became_of_their_loads() -> None:
    with Context(OPT=3), recording() as seen:
        weight, gradient = Tensor.ones(8).contiguous().realize(), Tensor.ones(8).contiguous()
        gradient.realize()
        moment = Tensor.zeros(8).contiguous().realize()
        moment.assign(moment * 0.5 + gradient)
        weight.assign(weight - moment)
        moment.realize(weight)
    assert {"substitute_node", "substitute_together"} & set(seen.rules)


def test_a_copied_panel_says_which_loops_are_its_own() -> None:
    with recording() as seen:
        compile_kernel(kernels.matmul(256, 256, 256).ast, CPU)
    assert "read_panel" in seen.rules
    assert "substitute_node" in seen.rules[: seen.rules.index("read_panel")]
