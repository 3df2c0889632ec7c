"""Policies: rules left out or replaced, and matching that ends after n matches."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core import Tensor
from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import PolicyError
from core.passes.pipeline import lower_kernel, run_passes
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.observe import NullObserver, observing, recording
from core.uop.patterns.policy import Policy, following, in_force, stage
from core.uop.patterns.rule import Rule
from core.uop.symbolic import symbolic
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU, GPU, Case
from tests.docs.of_core import rule_sets


@rule(UPat.var("x", dtypes.ints) + 0)
def first_of_two(x: UOp) -> UOp:
    """x + 0 -> x"""
    return x


@rule(UPat(Ops.ADD, src=(UPat.var("x"), UPat.cvar("c")), name="a"))
def second_of_two(a: UOp, x: UOp, c: UOp) -> UOp | None:
    """x + c -> x - (-c)"""
    return x.alu(Ops.SUB, c.const_like(-c.arg))


two = PatternMatcher([first_of_two, second_of_two], name="two")


def variable(name: str = "v") -> UOp:
    return UOp.variable(name, 0, 100)


def chain(length: int) -> UOp:
    x = variable()
    for i in range(length):
        x = x.alu(Ops.ADD, UOp.const(dtypes.int, i + 1))
    return x


def test_without_a_policy_nothing_changes() -> None:
    assert in_force() is None
    assert graph_rewrite(variable() + 0, two) is variable()


def test_a_later_rule_gets_its_chance() -> None:
    x = variable().alu(Ops.ADD, UOp.const(dtypes.int, 0))
    with following(Policy(skip=frozenset({"first_of_two"}))), recording() as seen:
        assert graph_rewrite(x, two).op is Ops.SUB
        assert two.rewrite(x).op is Ops.SUB
    assert seen.rules == ["second_of_two"]
    assert graph_rewrite(x, two) is variable()


def test_rules_are_left_out_of_what_goes_first_too() -> None:
    x = variable().alu(Ops.ADD, UOp.const(dtypes.int, 0))
    nothing = PatternMatcher([], name="nothing")
    with following(Policy(skip=frozenset({"first_of_two", "second_of_two"}))):
        assert graph_rewrite(x, nothing, before=two) is x
    assert graph_rewrite(x, nothing, before=two) is variable()


def test_a_rule_can_take_anothers_place() -> None:
    @rule(UPat.var("x", dtypes.ints) + 0)
    def otherwise(x: UOp) -> UOp:
        """x + 0 -> 7"""
        return x.const_like(7)

    with following(Policy(replace={"first_of_two": otherwise})):
        assert graph_rewrite(variable() + 0, two).arg == 7


def test_only_inside_the_rewrites_that_are_named() -> None:
    x = variable().alu(Ops.ADD, UOp.const(dtypes.int, 0))
    policy = Policy(skip=frozenset({"first_of_two"}), inside=frozenset({"here"}))
    with following(policy):
        assert graph_rewrite(x, two, name="here").op is Ops.SUB
        assert graph_rewrite(x, two, name="there") is variable()


def test_it_holds_in_its_thread_only() -> None:
    found: list[object] = []
    with following(Policy(skip=frozenset({"first_of_two"}))):
        thread = threading.Thread(target=lambda: found.append(in_force()))
        thread.start()
        thread.join()
        assert in_force() is not None
    assert found == [None]


def test_matching_ends_after_n() -> None:
    whole = chain(9)
    with recording() as seen:
        done = graph_rewrite(whole, two)
    assert len(seen.matches) == 9
    for limit in range(12):
        with following(Policy(limit=limit)) as applied, recording() as seen:
            part = graph_rewrite(whole, two)
        assert applied.matches == len(seen.matches) == min(limit, 9)
        assert sum(u.op is Ops.SUB for u in part.toposort()) == min(limit, 9)
        assert (part is whole) == (limit == 0)
        assert (part is done) == (limit >= 9)


@pytest.mark.parametrize("bottom_up", [False, True])
def test_the_first_matches_are_those_of_the_whole_rewrite(bottom_up: bool) -> None:
    whole = (variable("a") + variable("b") * 3 + 4) * 5 + variable("a") * 2
    with recording() as seen:
        graph_rewrite(whole, symbolic, bottom_up=bottom_up)
    want = [(step.rule, step.before, step.after) for step in seen.matches]
    assert want
    for limit in range(len(want) + 1):
        with following(Policy(limit=limit)), recording() as seen:
            graph_rewrite(whole, symbolic, bottom_up=bottom_up)
        assert [(s.rule, s.before, s.after) for s in seen.matches] == want[:limit]


def test_a_limit_for_one_rewrite_of_a_kernel() -> None:
    ast = kernels.matmul(8, 12, 16).ast
    seen = matches_of(ast)
    number = next(i for i, (name, count) in enumerate(seen) if name == "simplify" and count > 3)
    nth = sum(name == "simplify" for name, _ in seen[:number])
    policy = Policy(limit=3, rewrite="simplify", nth=nth)
    with following(policy) as applied:
        limited = matches_of(ast)
    assert applied.matches == 3
    assert limited[:number] == seen[:number]
    assert limited[number] == ("simplify", 3)


@rule(UPat(Ops.MUL, src=(UPat.var("x"), UPat.cvar("c"))))
def multiply_simplified(x: UOp, c: UOp) -> UOp:
    """x * c -> simplified x, shifted"""
    return graph_rewrite(x, two, name="inside").alu(Ops.SHL, c)


nesting = PatternMatcher([multiply_simplified], name="nesting")


def test_a_match_comes_after_those_inside_it() -> None:
    """A limit that is reached inside a match leaves that match out."""
    whole = chain(2).alu(Ops.MUL, UOp.const(dtypes.int, 2)).alu(Ops.MUL, UOp.const(dtypes.int, 3))
    with recording() as seen:
        graph_rewrite(whole, nesting)
    assert seen.rules == ["second_of_two", "second_of_two", *["multiply_simplified"] * 2]
    for limit in range(6):
        with following(Policy(limit=limit)) as applied, recording() as seen:
            part = graph_rewrite(whole, nesting)
        done = 0 if limit < 3 else min(limit - 2, 2)
        assert sum(u.op is Ops.SHL for u in part.toposort()) == done
        assert seen.rules.count("multiply_simplified") == done
        assert len(seen.rules) == applied.matches == min(limit, 4)


def test_a_match_can_be_finished_without_those_inside_it() -> None:
    whole = chain(2).alu(Ops.MUL, UOp.const(dtypes.int, 2)).alu(Ops.MUL, UOp.const(dtypes.int, 3))
    for limit in range(3):
        with following(Policy(limit=limit, whole=1)), recording() as seen:
            part = graph_rewrite(whole, nesting)
        assert seen.rules == [*["second_of_two"] * limit, "multiply_simplified"]
        ops = [u.op for u in part.toposort()]
        assert (ops.count(Ops.SHL), ops.count(Ops.SUB), ops.count(Ops.MUL)) == (1, limit, 1)


class Counting(NullObserver):
    def __init__(self) -> None:
        self.open: list[list[Any]] = []
        self.rewrites: list[list[Any]] = []

    def rewrite_begin(self, name: str, *rest: object) -> None:
        self.open.append([name, 0])
        self.rewrites.append(self.open[-1])

    def match(self, *rest: object) -> None:
        self.open[-1][1] += 1

    def rewrite_end(self, *rest: object) -> None:
        self.open.pop()


def matches_of(ast: UOp) -> list[tuple[str, int]]:
    """(name, matches) of each rewrite of a kernel's passes, in the order in which they begin."""
    with observing(Counting()) as counting:
        run_passes(ast, CPU)
    return [(name, count) for name, count in counting.rewrites]


def test_it_can_be_for_one_kernel() -> None:
    case, other = kernels.matmul(8, 12, 16), kernels.row_sum(4, 512)
    name = compile_kernel(case.ast, CPU).name
    plain = compile_kernel(other.ast, CPU)
    with following(Policy(limit=0, kernel=name)):
        assert compile_kernel(other.ast, CPU).uops == plain.uops
        with pytest.raises(PolicyError, match=r"pass lower cannot do without .* after 0 m"):
            compile_kernel(case.ast, CPU)


def test_nothing_is_kept() -> None:
    ast = kernels.row_sum(4, 96).ast
    before = compile_kernel(ast, CPU)
    with following(Policy(skip=frozenset({"add_zero"}))):
        assert compile_kernel(ast, CPU) is not before
    assert compile_kernel(ast, CPU) is before


def test_the_error_names_the_pass_that_needed_the_rule() -> None:
    ast = kernels.matmul(40, 60, 96).ast
    for name, match in (
        ("index_reduce", "pass lower cannot do without what was changed: left out index_reduce"),
        ("reduce_in_loop", "pass reduce cannot do without"),
        ("nest_loops", "pass loops cannot do without what was changed: left out nest_loops"),
        ("store_runs", "pass loadstore cannot do without what was changed: left out store_runs"),
        ("spread_ranges", "pass optimize cannot do without what was changed"),
    ):
        with following(Policy(skip=frozenset({name}))), pytest.raises(PolicyError, match=match):
            compile_kernel(ast, CPU)
    x = Tensor([1.0, 2.0]) + 1
    with (
        following(Policy(skip=frozenset({"load_memory"}))),
        pytest.raises(
            PolicyError, match="pass kernel: arguments left undone what pass kernelize needs"
        ),
    ):
        x.schedule()
    with pytest.raises(ZeroDivisionError), stage("anything"):
        _ = 1 // 0


def every_rule() -> list[tuple[PatternMatcher, Rule]]:
    return [(matcher, r) for matcher, _, _ in rule_sets() for r in matcher.rules]


def test_every_rule_can_be_left_out() -> None:
    assert len(every_rule()) > 300
    for matcher, r in every_rule():
        with following(Policy(skip=frozenset({r.name}))) as applied:
            left = applied.rules(matcher, "any")
        assert r not in left.rules
        assert [other for other in matcher.rules if other is not r] == list(left.rules)


def compiled_without(name: str, ast: UOp, target: Target) -> tuple[Sequence[UOp] | None, str]:
    """The program, or None and the error."""
    try:
        with following(Policy(skip=frozenset({name}))):
            return compile_kernel(ast, target).uops, ""
    except PolicyError as error:
        return None, error.what


CASES = (kernels.matmul(4, 6, 8), kernels.softmax_part(3, 20), kernels.padded(4, 5),
         kernels.argmax_like(3, 7), kernels.one_hot_gather(12, 4, 5))  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("target", [CPU, GPU], ids=lambda target: target.name)
def test_without_a_rule_the_result_is_right_or_an_error_says_who_needed_it(
    case: Case, target: Target
) -> None:
    with recording() as seen:
        lower_kernel(case.ast, target)
    needed: list[str] = []
    used = sorted(set(seen.rules))
    assert len(used) > 7
    for name in used:
        outs = [np.empty(e.size, e.dtype) for e in case.expected]
        program, refused = compiled_without(name, case.ast, target)
        if program is None:
            assert name in refused
            assert refused.startswith(("pass ", "linearize", "the verifier", "rendering"))
            needed.append(name)
            continue
        evaluate_kernel(program, [*outs, *(np.ascontiguousarray(a).ravel() for a in case.inputs)])
        for out, want in zip(outs, case.expected, strict=True):
            kernels.close(out.reshape(want.shape), want)
    assert "store_in_loops" in needed
    assert len(needed) < len(used)
