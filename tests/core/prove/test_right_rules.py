"""Rules that are right are not called wrong: for zeros and infinities, without elements, with a
length that is a variable, and for bools that are bytes."""

from __future__ import annotations

from core.dtype import dtypes
from core.prove.decide import Checker
from core.uop import Ops, UOp
from tests.core.uop.symbols import num, p, var, x

RIGHT = ("proved", "sampled")


def half(number: int) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float16.ptr(4), (), number).index(num(0)).load()


def wide(x: UOp) -> UOp:
    return x.cast(dtypes.float32)


def test_which_zero_a_maximum_gives_is_left_open() -> None:
    a, b = half(0), half(1)
    widened = wide(a).alu(Ops.MAX, wide(b)).cast(dtypes.float16)
    assert Checker().check(a.alu(Ops.MAX, b), widened).kind == "sampled"
    assert Checker().check(a.alu(Ops.MAX, b), (a < b).where(b, a)).kind == "differs"  # of NaN


def test_a_product_in_another_order_where_one_value_is_infinite() -> None:
    lanes = [wide(half(n)) for n in range(6)]
    forwards, backwards = lanes[0], lanes[-1]
    for lane in lanes[1:]:
        forwards = forwards * lane
    for lane in lanes[-2::-1]:
        backwards = backwards * lane
    assert Checker().check(forwards, backwards).kind in RIGHT
    assert Checker().check(forwards, backwards * lanes[0]).kind not in RIGHT


def test_what_has_no_elements_is_equal() -> None:
    empty = UOp(Ops.BUFFER, dtypes.float32, (), (7, 0)).reshape((3, 0))
    assert Checker().check(empty, UOp.const(dtypes.float32, 1.0).reshape((1, 1)).expand((3, 0)))
    total = UOp(Ops.REDUCE_AXIS, dtypes.float32, (empty,), (Ops.ADD, (1,)))
    zero = UOp.const(dtypes.float32, 0.0).reshape((1, 1)).expand((3, 1))
    assert Checker().check(total, zero).kind == "proved"
    one = UOp.const(dtypes.float32, 1.0).reshape((1, 1)).expand((3, 1))
    assert Checker().check(total, one).kind == "differs"


def test_bools_in_memory_are_bytes_that_are_0_or_1() -> None:
    place = UOp(Ops.DEFINE_GLOBAL, dtypes.bool.ptr(8), (), 0).index(x)
    byte = UOp(Ops.LOAD, dtypes.uint8, (place,))
    zero, one = num(0, dtypes.uint8), num(1, dtypes.uint8)
    assert Checker().check(place.load(), byte.ne(zero)).kind == "proved"
    assert Checker().check(place.load(), byte.eq(one)).kind == "proved"
    assert Checker().check(place.load(), byte.ne(one)).kind == "differs"
    stored = place.store(p)
    assert Checker().check(stored, place.store(p.where(one, zero))).kind == "proved"
    assert Checker().check(stored, place.store(p.where(zero, one))).kind == "differs"
    assert (
        Checker().check(stored, place.store(p.where(num(2, dtypes.uint8), zero))).kind not in RIGHT
    )


# lengths


def total_of(value: UOp) -> UOp:
    return UOp(Ops.REDUCE_AXIS, dtypes.float32, (value,), (Ops.ADD, (0,)))


def test_a_reduce_ends_at_the_length_of_its_axis() -> None:
    n = var("n", 1, 8)
    data = UOp(Ops.BUFFER, dtypes.float32, (), (8,))
    part = UOp(Ops.LENGTH, dtypes.float32, (data, n), 0)
    nothing = part.const_like(0.0)
    summed = total_of(part)
    assert Checker().check(summed, total_of(part.before(0, n).where(part, nothing))).kind in RIGHT
    for wrong in (n - 1, (n < 8).where(n + 1, n)):
        found = Checker().check(summed, total_of(part.before(0, wrong).where(part, nothing)))
        assert found.kind not in RIGHT, wrong
    assert Checker().check(summed, total_of(data)).kind not in RIGHT
    assert Checker().check(part, data).kind in RIGHT
    assert Checker().check(data, part).kind not in RIGHT
