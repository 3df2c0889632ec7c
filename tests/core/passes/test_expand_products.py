"""Products of matrices on their way through `expand`: loops over elements become vectors, and other
lanes further tiles."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.helpers import Context
from core.passes.optimize.pad import Padding, pad_product
from core.passes.vectors.devectorize import Width, operand_lanes
from core.passes.vectors.expand import expand, unroll_unrolled
from core.target import targets
from core.uop import Ops, PatternMatcher, UOp, graph_rewrite
from core.uop.kernelinfo import AxisType
from core.uop.spec.spec import index_spec, verify, violation

TARGET = targets["sm_80"]
CORE = TARGET.tensor_cores[0]
SINGLE = targets["gfx942"].tensor_cores[2]
"""float32, one element of A and B to a lane."""


def loops(*sizes: int, start: int = 10) -> list[UOp]:
    return [UOp.range(n, start + i, AxisType.UPCAST) for i, n in enumerate(sizes)]


def value(number: int, at: UOp) -> UOp:
    """An element of memory number `number`, in the dtype that CORE multiplies."""
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float16.ptr(4096), (), number).index(at).load()


def stored(product: UOp, *own: UOp) -> UOp:
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(4096), (), 0)
    at = own[0]
    for r in own[1:]:
        at = at * r.src[0].arg + r
    return UOp.sink(out.index(at).store(product).end(*own))


def only(sink: UOp) -> UOp:
    (found,) = (u for u in sink.toposort() if u.op is Ops.WMMA)
    return found


def test_loops_over_elements_become_vectors() -> None:
    """wmma(a, b, lanes i, j, k) -> unroll(wmma(contract(a, i), contract(b, j), 0), k)"""
    i, j, k = loops(8, 4, 4)
    sink = stored(UOp(Ops.WMMA, dtypes.float32, (value(1, i), value(2, j), i, j, k), CORE), k)
    verify(sink, index_spec, "before")
    assert sink.src[0].src[0].ranges == frozenset({k}), "loops over operands end in the product"
    made = only(expand(sink, TARGET))
    assert [s.dtype.count for s in made.src] == [8, 4, 4]
    assert made.src[2] is UOp.const(dtypes.float32.vec(4), 0.0)
    assert made.src[0].op is Ops.LOAD


def test_one_element_needs_no_loop() -> None:
    (k,) = loops(4)
    one = UOp.const(dtypes.index, 0)
    single = [value(n, one).cast(dtypes.float32) for n in (1, 2)]
    sink = stored(UOp(Ops.WMMA, dtypes.float32, (*single, k), SINGLE), k)
    verify(sink, index_spec, "before")
    made = only(expand(sink, TARGET))
    assert [s.dtype.count for s in made.src] == [1, 1, 4]


def test_other_lanes_are_further_tiles() -> None:
    """wmma(unroll(a), b, c) -> unroll(wmma(a, b for each lane, c for each lane))"""
    i, j, k, rows = loops(8, 4, 4, 2)
    a, b = value(1, rows * 8 + i), value(2, j)
    sink = stored(UOp(Ops.WMMA, dtypes.float32, (a, b, i, j, k), CORE), k, rows)
    made = only(expand(sink, TARGET))
    assert [s.dtype.count for s in made.src] == [16, 8, 8]
    assert made.src[1].arg == (0, 0, 1, 1, 2, 2, 3, 3), "each element of B, for both tiles"
    with Context(SPEC=1):
        verify(expand(sink, TARGET), index_spec, "expand")


def test_lanes_of_lanes() -> None:
    """unroll(unroll(x, r), l) -> unroll(x, l and r)"""
    x = UOp.const(dtypes.float32.vec(8), tuple(map(float, range(8))))
    inner = UOp(Ops.UNROLL, dtypes.float32.vec(4), (x,), ((3, 2),))
    outer = UOp(Ops.UNROLL, dtypes.float32, (inner,), ((5, 4),))
    made = graph_rewrite(outer, PatternMatcher([unroll_unrolled], name="test"))
    assert made is UOp(Ops.UNROLL, dtypes.float32, (x,), ((5, 4), (3, 2)))


def test_operands_are_computed_element_by_element() -> None:
    """wmma(f(a), b, c) -> wmma(vectorize(f(a[0]), f(a[1]), ...), b, c)"""
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float16.ptr(64), (), 1)
    a, b = (memory.index(0).load(dtype=dtypes.float16.vec(n)) for n in (8, 4))
    c = UOp.const(dtypes.float32.vec(4), 0.0)
    wide = UOp(Ops.WMMA, c.dtype, (a + a, b, c), CORE)
    made = graph_rewrite(wide, PatternMatcher([operand_lanes], name="test"), Width(1))
    assert made.src[0].op is Ops.VECTORIZE
    assert made.src[1:] == (b, c)
    assert graph_rewrite(wide, PatternMatcher([operand_lanes], name="test"), Width(8)) is wide


def test_what_is_multiplied_is_zero_beyond_the_end() -> None:
    """reduce(a * b, r) -> reduce((a if r < n else 0) * (b if r < n else 0), r)"""
    r, longer = UOp.range(5, 1, AxisType.REDUCE), UOp.range(8, 2, AxisType.REDUCE)
    a, b = value(1, r), value(2, r) + 1
    red = (a * b).cast(dtypes.float32).reduce(Ops.ADD, r)
    made = graph_rewrite(
        red, PatternMatcher([pad_product], name="test"), Padding(r, longer), bottom_up=True
    )
    left, right = made.src[0].src[0].src
    assert left is a, "its load gets a gate, and is 0 there"
    assert right.op is Ops.WHERE
    assert right.src[2] is UOp.const(dtypes.float16, 0.0)
    assert made.src[1:] == (longer,)


@pytest.mark.parametrize("wrong", ["no loops", "another size", "order", "operand"])
def test_products_over_other_loops_are_refused(wrong: str) -> None:
    i, j, k = loops(8, 4, 4)
    a, b = value(1, i), value(2, j)
    src = {
        "no loops": (a, b),
        "another size": (a, b, i, j, UOp.range(8, 30, AxisType.UPCAST)),
        "order": (a, b, j, i, k),
        "operand": (a.cast(dtypes.float32), b, i, j, k),
    }[wrong]
    assert violation(UOp(Ops.WMMA, dtypes.float32, src, CORE), index_spec) is not None
