"""What is read, and what it waits for: gates, dependencies, lanes, memory that is written."""

from __future__ import annotations

from core.dtype import dtypes
from core.prove.decide import Checker
from core.shape import ShapeTracker
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType
from tests.core.uop.symbols import num, var

RIGHT = ("proved", "sampled")
X, Q = var("x", 0, 9), var("q", 0, 7)


def memory(number: int) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(8), (), number)


def kind(before: UOp, after: UOp) -> str:
    return Checker().check(before, after).kind


def test_the_gate_of_a_load_counts() -> None:
    place, five, gate = memory(0).index(Q), num(5), Q < 2
    gated = UOp(Ops.LOAD, dtypes.int32, (place, five, gate))
    assert kind(gated, UOp(Ops.LOAD, dtypes.int32, (place, five))) not in RIGHT
    assert kind(gated, gate.where(place.load(), five)) in RIGHT


def test_what_waits_keeps_what_it_waits_for() -> None:
    read, stored = memory(0).index(Q).load(), memory(0).index(Q).store(num(1))
    barrier = UOp(Ops.BARRIER, dtypes.void, (memory(1).index(Q).store(num(2)),))
    assert kind(read.after(stored), read) not in RIGHT
    assert kind(stored.after(barrier), stored) not in RIGHT
    assert kind(read.after(stored) + 0, read.after(stored)) in RIGHT
    assert kind(read.after(stored) + 0, read.after(barrier)) not in RIGHT


def test_lanes_of_an_unroll_below_a_cut() -> None:
    lanes = UOp(Ops.VCONST, dtypes.int32.vec(4), (), (0, 1, 2, 3))
    deep = ((UOp(Ops.UNROLL, dtypes.int32, (lanes,), ((3, 4),)) * 3) + 1) * 5
    each = deep + X
    gathered = UOp(Ops.CONTRACT, dtypes.int32.vec(4), (each,), ((3, 4),))
    repeated = UOp(Ops.VECTORIZE, dtypes.int32.vec(4), (each,) * 4)
    assert kind(gathered, repeated) not in RIGHT
    swapped = UOp(Ops.CONTRACT, dtypes.int32.vec(4), (X + deep,), ((3, 4),))
    assert kind(gathered, swapped) in RIGHT


def stored_in_place(flip: bool) -> tuple[UOp, UOp]:
    """A store of a memory's elements over themselves, backwards or not, and the loop of it."""
    to = memory(0)
    view = UOp(Ops.VIEW, to.dtype, (to,), ShapeTracker.from_shape((8,)))
    value = UOp(Ops.LOAD, dtypes.int32, (view,))
    if flip:
        value = UOp(Ops.FLIP, dtypes.int32, (value,), (True,))
    r = UOp.range(8, 0)
    at = num(7) - r if flip else r
    before = UOp(Ops.STORE, dtypes.void, (view, value * 2))
    return before, to.index(r).store(to.index(at).load() * 2).end(r)


def test_a_loop_that_overwrites_what_it_still_reads() -> None:
    assert kind(*stored_in_place(flip=False)) in RIGHT
    assert kind(*stored_in_place(flip=True)) not in RIGHT


def test_the_gate_of_an_address_below_a_cut_counts() -> None:
    place = UOp(Ops.INDEX, memory(0).dtype, (memory(0), Q, X < 2))
    five, six = (UOp(Ops.LOAD, dtypes.int32, (place, num(n))) for n in (5, 6))
    assert kind(five, six) == "differs"
    stored = memory(1).index(Q).store(five), memory(1).index(Q).store(six)
    assert kind(*stored) not in RIGHT
    assert kind(UOp.group(memory(0).index(Q).store(num(1)), place.store(num(2))),
                place.store(num(2))) not in RIGHT  # fmt: skip


def test_lanes_of_a_loop_that_is_cut_short() -> None:
    four, three = (UOp.range(n, 1, AxisType.UPCAST) for n in (4, 3))
    assert kind(four * 2 + X, three * 2 + X) not in RIGHT
