"""Graphs as text: node lines, expressions, excerpts, and the bound on their size."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType
from core.uop.show import MAX_EXPRESSION, excerpt, graph_text, render
from core.uop.uop import creating

a, b = UOp.special(8, "gidx0"), UOp.special(4, "lidx0")
v = UOp.variable("v", 0, 9)
r = UOp.range(8, 3, AxisType.REDUCE)
data = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8), (), 1)
f = UOp(Ops.DEFINE_VAR, dtypes.float32, (), ("f", 0.0, 1.0))


@pytest.mark.parametrize(
    ("u", "text"),
    [
        (a * 4 + b, "(gidx0*4+lidx0)"),
        ((a + b) * 4, "((gidx0+lidx0)*4)"),
        (a - (b - v), "(gidx0-(lidx0-v))"),
        (a // 3 % 2, "(gidx0//3%2)"),
        ((a < 3) & (b < 2), "((gidx0<3)&(lidx0<2))"),
        ((a < 3).logical_not(), "(!(gidx0<3))"),
        ((a < 3).where(a, -b), "(gidx0<3?gidx0:-lidx0)"),
        (v.cast(dtypes.float32).exp2(), "exp2(float32(v))"),
        (a.maximum(2), "max(gidx0, 2)"),
        (data.index(r).load(), "data1[R3]"),
        (data.index(r, gate=r < 3).load(f), "load(data1[R3, R3<3], f)"),
        (UOp.const(dtypes.float32, -0.5), "(-0.5)"),
        (UOp.const(dtypes.bool, True), "True"),
        (v * -1, "(v*-1)"),
        (a.ne(b), "(gidx0!=lidx0)"),
    ],
)
def test_expressions(u: UOp, text: str) -> None:
    assert render(u) == u.render() == text


def test_node_lines() -> None:
    x = UOp.new_buffer("CPU", 6, dtypes.float32).reshape((2, 3))
    lines = graph_text((x + x).r(Ops.ADD, (1,))).splitlines()
    assert lines[1:] == [
        "u1 = DEVICE() arg='CPU'",
        "u2 = BUFFER(u0, u1) arg=6 float32  [6]",
        "u3 = RESHAPE(u2) arg=(2, 3) float32  [2,3]",
        "u4 = ADD(u3, u3) float32  [2,3]",
        "u5 = REDUCE_AXIS(u4) arg=(<Ops.ADD: 58>, (1,)) float32  [2,1]".replace(
            "<Ops.ADD: 58>", repr(Ops.ADD)
        ),
    ]
    assert len(graph_text(a, b, a).splitlines()) == len(UOp.sink(a, b).toposort()) - 1
    wide = graph_text(UOp.sink(*(UOp.variable(f"x{i}", 0, i) for i in range(30))))
    assert "... 20 more" in wide


def test_excerpts_are_short_and_name_the_users_line() -> None:
    creating.origin = "digits.py:41"
    try:
        u = UOp.variable("mine", 0, 5) + 1
    finally:
        creating.origin = None
    deep = u
    for i in range(50):
        deep = deep * 2 + i
    assert len(excerpt(deep, 5).splitlines()) == 5
    assert excerpt(u).splitlines()[-1] == "from digits.py:41"


def test_size_is_bounded_where_nodes_are_shared() -> None:
    u = v
    for _ in range(200):
        u = u * u
    assert len(render(u)) <= 2 * MAX_EXPRESSION + 3
    deep = v
    for i in range(20_000):
        deep = deep + i
    assert len(render(deep)) <= 2 * MAX_EXPRESSION + 3
    assert len(graph_text(deep).splitlines()) == len(deep.toposort())
