"""UOps: interning, what follows from sources, and the errors of building wrong nodes."""

from __future__ import annotations

import gc
import math
import pickle
import threading
import weakref

import pytest

from core.dtype import dtypes
from core.errors import DTypeError, ShapeError
from core.uop.interned import nodes
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp, creating


def test_same_fields_are_the_same_node() -> None:
    a = UOp.variable("a", 0, 10)
    assert a + 1 is a + 1
    assert a + 1 is not a + 2
    assert UOp.const(dtypes.int, 1) is not UOp.const(dtypes.float32, 1)
    assert (a + 1).replace(tag="x") is not a + 1
    assert (a + 1).replace(tag="x").replace(tag=None) is a + 1


def test_constants_that_python_holds_equal_are_apart() -> None:
    zero, minus = UOp.const(dtypes.float32, 0.0), UOp.const(dtypes.float32, -0.0)
    assert zero is not minus
    assert math.copysign(1, minus.arg) == -1
    assert UOp.const(dtypes.float32, math.nan) is UOp.const(dtypes.float32, -math.nan)
    v = dtypes.float32.vec(2)
    assert UOp.const(v, (0.0, 1.0)) is not UOp.const(v, (-0.0, 1.0))
    assert UOp.const(v, (1.0, 1.0)) is UOp.const(v, 1.0)


def test_dead_nodes_are_forgotten() -> None:
    x = UOp.variable("dead", 0, 1)
    made = [weakref.ref(x)]
    for _ in range(100_000):
        x = x + 1
        made.append(weakref.ref(x))
    assert made[0]() is not None
    held = len(nodes)
    del x
    gc.collect()
    assert not any(node() for node in made)
    assert len(nodes) <= held - 100_000 + 1_000  # other threads make nodes too


def test_deep_graphs_have_properties() -> None:
    x = UOp.range(8, 0)
    loop = x
    for _ in range(50_000):
        x = x + 1
    assert x.ranges == {loop}
    assert len(x.toposort()) == 50_003
    assert x.shape is None or x.shape == ()
    assert x.device is None


def test_threads_get_the_same_node() -> None:
    made: list[list[UOp]] = [[] for _ in range(8)]

    def build(out: list[UOp]) -> None:
        x = UOp.variable("t", 0, 1)
        for _ in range(2000):
            x = x + 1
            out.append(x)

    threads = [threading.Thread(target=build, args=(out,)) for out in made]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(all(a is b for a, b in zip(made[0], other, strict=True)) for other in made)


def test_toposort_has_sources_first() -> None:
    a, b = UOp.variable("a", 0, 3), UOp.variable("b", 0, 3)
    graph = (a + b) * (a - b)
    order = list(graph.toposort())
    assert all(order.index(s) < order.index(u) for u in order for s in u.src)
    assert list(graph.toposort(lambda u: u.op is not Ops.SUB)) == [a, b, a + b, graph]


def test_substitute() -> None:
    a, b = UOp.variable("a", 0, 3), UOp.variable("b", 0, 3)
    assert ((a + 1) * (a + 2)).substitute({a: b}) is (b + 1) * (b + 2)
    assert (a + 1).substitute({a: a + 1}) is a + 1 + 1


def test_ranges_end() -> None:
    i = UOp.range(4, 0, AxisType.LOOP)
    j = UOp.range(8, 1, AxisType.REDUCE)
    total = (i * 8 + j).reduce(Ops.ADD, j)
    assert (i * 8 + j).ranges == {i, j}
    assert total.ranges == {i}
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), (), 0)
    assert pointer.index(i).store(total).end(i).ranges == frozenset()


def test_tensor_shapes() -> None:
    x = UOp.new_buffer("CPU", 24, dtypes.float32).reshape((2, 3, 4))
    assert x.shape == (2, 3, 4)
    assert x.device == "CPU"
    assert x.permute((2, 0, 1)).shape == (4, 2, 3)
    assert x.pad(((0, 1), (0, 0), (2, 2))).shape == (3, 3, 8)
    assert x.shrink(((0, 1), (1, 3), (0, 4))).shape == (1, 2, 4)
    assert x.r(Ops.ADD, (1, 2)).shape == (2, 1, 1)
    assert x.r(Ops.ADD, (1, 2)).expand((2, 5, 1)).shape == (2, 5, 1)
    assert x.base.op is Ops.BUFFER
    assert (x + 1.0).shape == (2, 3, 4)
    assert x.copy_to_device("NULL").device == "NULL"
    assert x.bitcast(dtypes.uint8).shape == (2, 3, 16)


def test_two_buffers_are_never_one() -> None:
    assert UOp.new_buffer("CPU", 4, dtypes.int) is not UOp.new_buffer("CPU", 4, dtypes.int)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: x.reshape((5, 5)), r"cannot reshape \(2, 3, 4\) to \(5, 5\)"),
        (lambda x: x.permute((0, 0, 1)), "not an order of 3 axes"),
        (lambda x: x.expand((2, 6, 4)), "cannot expand"),
        (lambda x: x.pad(((0, -1), (0, 0), (0, 0))), "negative padding"),
        (lambda x: x.shrink(((0, 3), (0, 3), (0, 4))), "cannot take"),
        (lambda x: x.r(Ops.ADD, (3,)), "cannot reduce axes"),
        (lambda x: x.permute((0, 1)), "PERMUTE with 2 axes of a value with 3"),
        (lambda x: (x + x.permute((0, 2, 1))).shape, "ADD of shapes"),
    ],
)
def test_impossible_movements_say_why(build: object, message: str) -> None:
    x = UOp.new_buffer("CPU", 24, dtypes.float32).reshape((2, 3, 4))
    with pytest.raises(ShapeError, match=message):
        build(x)


def test_operands_of_two_dtypes_are_an_error() -> None:
    with pytest.raises(DTypeError, match="ADD of int32 and float32"):
        UOp.variable("a", 0, 3).alu(Ops.ADD, UOp.const(dtypes.float32, 1.0))


def test_variable_out_of_bounds() -> None:
    with pytest.raises(DTypeError, match=r"n = 11 is outside 1\.\.10"):
        UOp.variable("n", 1, 10).bind(11)


def test_origin_is_taken_from_the_creator_and_is_no_identity() -> None:
    creating.origin = "user.py:3"
    try:
        a = UOp.variable("fresh", 0, 77)
    finally:
        creating.origin = None
    assert a.origin == "user.py:3"
    assert UOp.variable("fresh", 0, 77) is a
    assert (a + 1).replace(tag=1).origin is None


def test_nodes_are_not_pickled() -> None:
    with pytest.raises(TypeError, match=r"core/uop/data/serial\.py"):
        pickle.dumps(UOp.variable("a", 0, 1))
