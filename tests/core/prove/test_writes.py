"""Writes: which ones count, in which order, and of which dtypes; each way to be wrong is not
proved."""

from __future__ import annotations

import pytest

from core.dtype import AddrSpace, DType, dtypes
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


def copied(to: int, at: UOp, source: UOp) -> UOp:
    """memory(to)[0] = source[at]"""
    return memory(to).index(num(0)).store(source.index(at).load())


A, B = memory(0), memory(1)
SEVEN = A.index(num(3)).store(num(7))
READ = copied(1, num(3), A)
r = loop(5)
SWAPPED = {
    "a load": (SEVEN, READ),
    "a load that may be of the element": (write(i, 7), READ),
    "a load that is added to": (A.index(num(3)).store(A.index(num(3)).load() + 1), READ),
    "a condition": (SEVEN, write(i, 1, A.index(num(3)).load() < 5, to=1)),
    "an address": (SEVEN, B.index(A.index(num(3)).load()).store(num(1))),
    "what lies deep": (SEVEN, B.index(i).store((((A.index(q).load() + 1) * 2 + i) * 3 + q) * 5)),
    "loops": (write(r, 1).end(r), B.index(r).store(A.index(num(3) - r).load()).end(r)),
    "each writes what the other one reads": (copied(1, num(0), A), copied(0, num(0), B)),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_a_load_that_is_moved_over_a_store(name: str) -> None:
    pair = SWAPPED[name]
    for before, after in (pair, pair[::-1]), (pair[::-1], pair):
        assert kind(UOp.group(*before), UOp.group(*after)) == "unchecked"
        assert kind(UOp.sink(*before), UOp.sink(*after)) == "unchecked"


def test_loads_in_one_loop_that_change_places() -> None:
    stored, other = write(r, 1), B.index(r).store(A.index(num(3) - r).load())
    assert kind(UOp.group(stored, other).end(r), UOp.group(other, stored).end(r)) == "unchecked"
    apart = B.index(r).store(A.index(r + 4).load())
    assert kind(UOp.group(stored, apart).end(r), UOp.group(apart, stored).end(r)) == "proved"


def test_a_load_of_what_is_certainly_not_written_may_move() -> None:
    for other in (copied(1, num(4), A), copied(1, num(3), memory(2))):
        assert kind(UOp.group(SEVEN, other), UOp.group(other, SEVEN)) == "proved"
    waits = copied(1, num(3), A.after(SEVEN))
    assert kind(UOp.group(SEVEN, waits), UOp.group(waits, SEVEN)) == "proved"


def test_a_write_that_is_read_before_it_is_replaced() -> None:
    first, last = A.index(num(3)).store(num(1)), SEVEN
    assert kind(UOp.group(first, READ, last), UOp.group(READ, last)) == "unchecked"
    assert kind(UOp.group(first, last, READ), UOp.group(last, READ)) == "proved"
    assert kind(UOp.group(READ, first, last), UOp.group(READ, last)) == "proved"
    more = A.index(num(3)).store(A.index(num(3)).load() + 1)
    assert kind(UOp.group(SEVEN, more), more) == "unchecked"
    second = copied(2, num(3), A)
    before = UOp.group(first, READ, last, second)
    assert kind(before, UOp.group(first, READ, second, last)) == "unchecked"


def test_elements_that_are_moved_at_once_become_single_ones() -> None:
    four = dtypes.int32.vec(4)
    held = A.index(num(0)).load(dtype=four)
    single = [A.index(num(n + 1)).store(A.index(num(n)).load()) for n in range(4)]
    assert kind(A.index(num(1)).store(held), UOp.group(*single)) == "unchecked"
    more = [A.index(num(n)).store(A.index(num(n)).load() + 1) for n in range(4)]
    whole = held + UOp(Ops.VCONST, four, (), (1, 1, 1, 1))
    assert kind(A.index(num(0)).store(whole), UOp.group(*more)) == "proved"


def test_what_an_access_waits_for_is_not_dropped() -> None:
    waits = A.after(SEVEN).index(num(3))
    assert kind(UOp.group(SEVEN, copied(1, num(3), A.after(SEVEN))),
                UOp.group(SEVEN, READ)) not in RIGHT  # fmt: skip
    assert kind(waits.load(), A.index(num(3)).load()) not in RIGHT
    assert kind(waits.store(num(1)), A.index(num(3)).store(num(1))) not in RIGHT


def test_elements_in_another_order_as_other_terms() -> None:
    """x + 1 may overflow in a vector of places, and not where two elements follow each other."""
    x, y = (UOp.variable(name, -(1 << 31), (1 << 31) - 1) for name in "xy")
    values = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(4, AddrSpace.REG), (), 0).index(num(0))
    lanes = values.load(dtype=dtypes.float32.vec(4))

    def stored(at: UOp, value: UOp) -> UOp:
        return memory(1, dtypes.float32).index(at).store(value)

    def runs(first: tuple[int, int], second: tuple[int, int]) -> UOp:
        return UOp.group(
            stored(x, lanes.gep(first)), stored(y, lanes.gep(second))
        )  # two elements each

    places = UOp(Ops.VECTORIZE, dtypes.int32.vec(4), (x, y, x + 1, y + 1))
    before = stored(places, lanes)
    assert kind(before, runs((0, 2), (1, 3))) != "differs"  # x and y may be the same, too
    assert kind(before, runs((2, 0), (1, 3))) not in RIGHT
    assert kind(before, runs((1, 3), (0, 2))) not in RIGHT
