"""Writes: which ones count, in which order, and of which dtypes; each way to be wrong is not
proved."""

from __future__ import annotations

import pytest

from core.dtype import DType, dtypes
from core.prove.decide import Checker
from core.uop import Ops, UOp
from tests.core.uop.symbols import num, var

i, q = var("i", 0, 15), var("q", 0, 15)
RIGHT = ("proved", "sampled")


def memory(number: int, dtype: DType = dtypes.int32) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(16), (), number)


def write(at: UOp, value: int, gate: UOp | None = None, to: int = 0) -> UOp:
    memory_ = memory(to)
    place = UOp(Ops.INDEX, memory_.dtype, (memory_, at, *(() if gate is None else (gate,))))
    return place.store(num(value))


def kind(before: UOp, after: UOp) -> str:
    return Checker().check(before, after).kind


def loop(number: int) -> UOp:
    return UOp.range(4, number)


def test_a_gated_write_does_not_replace_another_one() -> None:
    gate = q < 7
    both = UOp.group(write(i, 1), write(i, 2, gate))
    assert kind(both, UOp.group(write(i, 3), write(i, 2, gate))) not in RIGHT
    assert kind(both, UOp.group(write(i, 2, gate))) not in RIGHT
    assert kind(both, UOp.group(write(i, 1), write(i, 1 + 1, q < 7))) in RIGHT
    assert kind(UOp.group(write(i, 1), write(i, 2)), UOp.group(write(i, 2))) in RIGHT
    assert kind(UOp.group(write(i, 1, gate), write(i, 2, gate)), write(i, 2, gate)) in RIGHT


def test_the_order_of_writes_that_may_be_of_one_element() -> None:
    assert (
        kind(UOp.group(write(i, 1), write(q, 2)), UOp.group(write(q, 2), write(i, 1))) not in RIGHT
    )
    apart = write(i, 1), write(i + 1, 2)
    assert kind(UOp.group(*apart), UOp.group(*reversed(apart))) in RIGHT
    other = write(i, 1), write(q, 2, to=1)
    assert kind(UOp.group(*other), UOp.group(*reversed(other))) in RIGHT
    again = write(i, 1), write(q, 2), write(i, 3)
    assert kind(UOp.group(*again), UOp.group(write(i, 3), write(q, 2))) not in RIGHT
    assert kind(UOp.group(*again), UOp.group(write(q, 2), write(i, 3))) in RIGHT


def test_memories_that_change_places() -> None:
    before = UOp.group(write(i, 1), write(q, 1, to=1))
    assert kind(before, UOp.group(write(i, 1, to=1), write(q, 1))) not in RIGHT


def test_writes_in_the_loops_of_each_other() -> None:
    a, b = loop(2), loop(3)

    def stored(to: int, value: UOp) -> UOp:
        return memory(to).index(num(0)).store(value)

    before = UOp.group(stored(0, a).end(a), stored(1, b).end(b))
    assert kind(before, UOp.group(stored(0, a).end(b), stored(1, b).end(a))) not in RIGHT


def test_nested_loops_in_another_order() -> None:
    a, b = loop(0), loop(1)
    body = memory(0).index(a + b).store(a)
    assert kind(body.end(a).end(b), body.end(b).end(a)) not in RIGHT
    assert kind(body.end(a, b), body.end(b).end(a)) in RIGHT


def test_loops_that_become_one() -> None:
    a = loop(2)
    x, y = memory(0).index(a).store(a), memory(0).index(a + 1).store(a)
    assert kind(UOp.group(x.end(a), y.end(a)), UOp.group(x, y).end(a)) not in RIGHT
    assert kind(UOp.group(x, y).end(a), UOp.group(x, x, y).end(a)) in RIGHT


@pytest.mark.parametrize("dtype", [dtypes.uint32, dtypes.int64, dtypes.float64], ids=str)
def test_another_dtype_is_not_proved(dtype: DType) -> None:
    read = memory(1, dtypes.float32).index(i).load()
    for u in (i, var("j", 0, 2**31 - 1), read):
        found = Checker().check(u, u.cast(dtype))
        assert (found.kind, found.how) == ("unchecked", f"{u.dtype} becomes {dtype}")
