"""What a graph leaves undefined is any value at all: nothing is proved by what it happens to be."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.prove.decide import Checker, Options
from core.shape import ShapeTracker
from core.uop import Ops, UOp
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO
from core.uop.kernelinfo import AxisType
from tests.core.uop.symbols import f, num, var

X, Y, N = var("x", -9, 9), var("y", -9, 9), var("n", 0, 7)
MEMORY = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(16), (), 0)
RIGHT = ("proved", "sampled")


def kind(before: UOp, after: UOp) -> str:
    return Checker(Options(timeout=120_000)).check(before, after).kind


# arguments that promise something of the operands


@pytest.mark.parametrize("op", [Ops.IDIV, Ops.MOD])
def test_a_division_that_is_undefined_for_zero(op: Ops) -> None:
    divided = X.alu(op, Y)
    promised = divided.replace(arg=UNLESS_ZERO)
    instead = X.const_like(0) if op is Ops.IDIV else X
    assert kind(divided, Y.eq(0).where(instead, promised)) == "proved"
    assert kind(divided, promised) == "differs"
    assert kind(divided, Y.eq(1).where(instead, promised)) == "differs"
    assert kind(X.alu(op, num(3)), X.alu(op, num(3)).replace(arg=UNLESS_ZERO)) == "proved"


def test_a_cast_that_is_undefined_for_nan() -> None:
    cast = f.cast(dtypes.int64)
    promised = cast.replace(arg=UNLESS_NAN)
    assert kind(cast, f.ne(f).where(cast.const_like(0), promised)) == "sampled"
    assert kind(cast, promised) == "differs"
    assert kind(cast, f.ne(f).where(cast.const_like(1), promised)) == "differs"


def test_an_argument_that_nobody_knows_proves_nothing() -> None:
    assert kind(X * Y, UOp(Ops.MUL, dtypes.int32, (Y, X), "saturated")) == "unchecked"


# elements of a value outside of the gate of an INDEX


def test_an_index_of_a_view_needs_its_mask() -> None:
    value = UOp(Ops.VIEW, dtypes.float32, (UOp(Ops.LOAD, dtypes.float32, (
        UOp(Ops.VIEW, MEMORY.dtype, (MEMORY,), ShapeTracker.from_shape((5,))),)),),
        ShapeTracker.from_shape((5,)).pad(((0, 3),)))  # fmt: skip
    r = UOp.range(8, 0)
    valid, base = r < 5, value.src[0]
    inner = base.index(r, gate=valid)
    assert kind(value.index(r), valid.where(inner, 0.0)) in RIGHT
    assert kind(value.index(r), inner) == "differs"
    outer = X < 3
    both = base.index(r, gate=outer & valid)
    assert kind(value.index(r, gate=outer), valid.where(both, 0.0)) in RIGHT
    assert kind(value.index(r, gate=outer), both) == "differs"


def test_a_gate_is_dropped_where_its_value_is_left_open() -> None:
    constant = UOp(
        Ops.EXPAND, dtypes.float32, (UOp.const(dtypes.float32, 1.5).reshape((1,)),), (8,)
    )
    r = UOp.range(8, 0)
    scalar = UOp.const(dtypes.float32, 1.5)
    assert kind(scalar.index(r, gate=r < 5), scalar) in RIGHT
    assert kind(constant.index(r, gate=r < 5), UOp.const(dtypes.float32, 1.5)) in RIGHT
    assert kind(constant.index(r, gate=r < 5), UOp.const(dtypes.float32, 1.0)) == "differs"


# loops whose length is a variable


def total(length: UOp, op: Ops = Ops.ADD) -> UOp:
    r = UOp(Ops.RANGE, dtypes.int32, (length,), (3, AxisType.REDUCE))
    return MEMORY.index(r).load().reduce(op, r)


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.MAX])
def test_a_reduction_ends_with_its_loop(op: Ops) -> None:
    five = num(5)
    shorter = (N < 5).where(N, five)
    r = UOp.range(5, 3, AxisType.REDUCE)
    nothing = {Ops.ADD: 0.0, Ops.MUL: 1.0, Ops.MAX: -float("inf")}[op]
    gated = (r < shorter).where(MEMORY.index(r).load(), nothing).reduce(op, r)
    assert kind(total(five, op), total(shorter, op)) == "differs"
    assert kind(gated, total(shorter, op)) in RIGHT
    assert kind(total(N, op), total(N + 1, op)) not in RIGHT
    assert kind(total(N, op), total(N * 2 - N, op)) in RIGHT


def test_a_store_happens_in_the_iterations_of_its_loop() -> None:
    def stored(length: UOp, gate: bool = False) -> UOp:
        r = UOp(Ops.RANGE, dtypes.int32, (length,), (0, AxisType.LOOP))
        at = (r, r < N) if gate else (r,)
        return UOp(Ops.INDEX, MEMORY.dtype, (MEMORY, *at)).store(num(1).cast(dtypes.float32)).end(r)

    assert kind(stored(N), stored(N + 1)) not in RIGHT
    assert kind(stored(N), stored(num(7))) not in RIGHT


# refinement: what is replaced is undefined, its replacement is anything


def test_an_op_that_is_undefined_may_become_one_that_is_not() -> None:
    promised = X.alu(Ops.IDIV, Y).replace(arg=UNLESS_ZERO)
    assert kind(promised, X.alu(Ops.IDIV, Y)) == "proved"
    assert kind(promised + 1, X.alu(Ops.IDIV, Y) + 1) == "proved"
    assert kind(promised, Y.eq(0).where(num(7), promised)) == "proved"
    assert kind(promised, Y.eq(1).where(num(7), promised)) == "differs"
    assert kind(promised, X.alu(Ops.MOD, Y)) == "differs"
    cast = f.cast(dtypes.int64)
    assert kind(cast.replace(arg=UNLESS_NAN), cast) == "proved"


def test_a_difference_only_where_the_first_is_undefined_is_none() -> None:
    promised = X.alu(Ops.IDIV, Y).replace(arg=UNLESS_ZERO)
    assert kind(promised + 1, Y.eq(0).where(num(7), X.alu(Ops.IDIV, Y) + 1)) != "differs"


def test_a_difference_only_where_the_first_leaves_its_memory_is_none() -> None:
    at = X + Y
    assert (
        kind(MEMORY.index(at).load(), MEMORY.index((at < 0).where(num(0), at)).load()) != "differs"
    )
    assert (
        kind(MEMORY.index(at).load(), MEMORY.index((at < 2).where(num(0), at)).load()) == "differs"
    )


# elements that are not there


def test_a_value_of_another_shape_is_not_proved() -> None:
    def viewed(*shape: int) -> UOp:
        return UOp(Ops.LOAD, dtypes.float32, (MEMORY.view(ShapeTracker.from_shape(shape)),))

    assert kind(viewed(1, 3).ne(viewed(1, 3)), viewed(3, 1).ne(viewed(3, 1))) not in RIGHT


def test_an_element_beyond_the_shape_is_not_read() -> None:
    value = UOp(Ops.EXPAND, dtypes.int32, (num(7).reshape((1,)),), (2,))
    assert kind(value.index(UOp.range(2, 0)), value.index(UOp.range(3, 1))) not in RIGHT


def test_what_a_new_read_needs_is_looked_into() -> None:
    deep = MEMORY.index(num(-3)).load().ne(1.0).where(num(1), num(2))
    same = MEMORY.index(num(3)).load().ne(1.0).where(num(1), num(2))
    assert kind(same - same * 1 + 5, deep - deep * 1 + 5) not in RIGHT


def test_memory_is_left_for_one_value_alone() -> None:
    """No sample may show it: that nothing lies outside is proved, too."""
    pytest.importorskip("z3")
    wide = UOp.variable("w", 0, (1 << 31) - 1)
    at = wide.eq(123_456_789).where(num(99), num(1))
    ids = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(16), (), 1)
    before, after = (ids.index(place).load() * 0 + wide for place in (num(1), at))
    assert kind(before, after) not in RIGHT


# what a checker keeps


def test_answers_that_are_kept_know_variables_and_lengths() -> None:
    checker = Checker()
    n, m = (UOp.variable(name, 0, 5) for name in "nm")
    assert checker.check(n.bind(3) + n, n + n).kind == "proved"
    assert checker.check(m.bind(3) + n, n + n).kind != "proved"
    whole = UOp(Ops.LOAD, dtypes.int32, (UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(5), (), 0).view(
        ShapeTracker.from_shape((5,))),))  # fmt: skip
    for value in (whole, whole.length(0, n)):
        doubled = (value + value).r(Ops.ADD, (0,))
        found = checker.check(value.r(Ops.ADD, (0,)) * 2, doubled)
        fresh = Checker().check(value.r(Ops.ADD, (0,)) * 2, doubled)
        assert found.kind == fresh.kind


def test_a_loop_that_is_none_is_not_reduced_over() -> None:
    assert kind((X + 3).reduce(Ops.ADD, UOp.range(2, 0)), (X + 3).reduce(Ops.ADD, X)) == "unchecked"


def test_what_is_written_for_a_value_is_not_dropped_from_sight() -> None:
    register = UOp(Ops.DEFINE_REG, dtypes.int32.ptr(1), (), 0)
    stored = register.after(register.index(num(1)).store(X)).index(num(0)).load()
    assert kind(X - X, stored - stored) not in RIGHT


def test_a_read_in_more_iterations_is_looked_into() -> None:
    """In no iteration of the first loop, nothing is read: in one of the second, something is."""
    at = X.alu(Ops.MOD, X).replace(arg=UNLESS_ZERO)

    def largest(length: UOp) -> UOp:
        r = UOp(Ops.RANGE, dtypes.int32, (length,), (3, AxisType.REDUCE))
        found = MEMORY.index(r + at).load().reduce(Ops.MAX, r)
        return found.ne(found) & (X < X)

    assert kind(largest((N + 3) // 4), largest(N + 3)) not in RIGHT


def test_a_loop_of_negative_length_is_none() -> None:
    def looped(n: int) -> UOp:
        return MEMORY.index(num(3)).store(num(1).cast(dtypes.float32)).end(UOp.range(num(n), 0))

    assert kind(looped(1), looped(-2)) not in RIGHT


def test_values_of_a_reduction_that_do_not_go_together_are_no_difference() -> None:
    pytest.importorskip("z3")
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(2), (), 3)
    two = UOp(Ops.LOAD, dtypes.int32, (memory.view(ShapeTracker.from_shape((2,))),))
    sides = (((0, 1),), ((1, 0),))
    before, after = (two.flip((True,)).pad(side).r(Ops.MAX, (0,)) for side in sides)
    assert kind(before, after) != "differs"
