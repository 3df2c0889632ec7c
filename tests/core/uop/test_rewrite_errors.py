"""graph_rewrite that cannot end, or whose rules are wrong: the error names rules, nodes, places."""

from __future__ import annotations

from typing import Any

import pytest

from core.dtype import dtypes
from core.errors import RewriteLoopError, RuleError, SpecError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule

a, b = (UOp.variable(n, 0, 9) for n in "ab")
x = UPat.var("x")
BOTH = pytest.mark.parametrize("bottom_up", [False, True])


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
