"""Random integer expressions: simplification never changes a value, and bounds always hold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.uop import PatternMatcher, UOp, graph_rewrite
from core.uop.engine.observe import observing
from core.uop.symbolic import gated, symbolic, symbolic_index, symbolic_simple
from tests.core.uop.evaluator import (
    assignments,
    index_expression,
    integer_expression,
    same,
    value,
)
from tests.core.uop.fuzz import MATCHES, Falling

DTYPES = (dtypes.int32, dtypes.int8, dtypes.uint8, dtypes.int64, dtypes.uint32)
LAYERS = (symbolic_simple, symbolic, symbolic_index, symbolic_index + gated)
quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


def check_keeps(u: UOp, leaves: list[UOp], matcher: PatternMatcher, data: st.DataObject) -> None:
    with observing(Falling(MATCHES * len(u.toposort()) + MATCHES)):
        simpler = graph_rewrite(u, matcher)
    assert simpler.dtype == u.dtype
    for env in assignments(data.draw, leaves, 8):
        assert same(value(u, env), value(simpler, env)), f"{u.render()} -> {simpler.render()}"
    assert graph_rewrite(simpler, matcher) is simpler, "not a fixed point"


@pytest.mark.parametrize("matcher", LAYERS, ids=lambda m: m.name)
@quick
@given(st.data())
def test_simplification_keeps_every_value(matcher: PatternMatcher, data: st.DataObject) -> None:
    u, leaves = data.draw(integer_expression(data.draw(st.sampled_from(DTYPES))))
    check_keeps(u, leaves, matcher, data)


@pytest.mark.parametrize("matcher", LAYERS[1:], ids=lambda m: m.name)
@quick
@given(st.data())
def test_simplification_keeps_every_address(matcher: PatternMatcher, data: st.DataObject) -> None:
    u, leaves = data.draw(index_expression(data.draw(st.sampled_from(DTYPES))))
    check_keeps(u, leaves, matcher, data)


@pytest.mark.parametrize("expression", [integer_expression, index_expression])
@quick
@given(st.data())
def test_bounds_hold(expression: object, data: st.DataObject) -> None:
    assert callable(expression)
    u, leaves = data.draw(expression(data.draw(st.sampled_from(DTYPES))))
    for env in assignments(data.draw, leaves, 6):
        for n in u.toposort():
            assert n.vmin <= value(n, env) <= n.vmax, n.render()
