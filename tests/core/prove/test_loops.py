"""Proofs of steps that change loops: what is right is proved, and each way to be wrong is not."""

from __future__ import annotations

from core.dtype import AddrSpace, dtypes
from core.prove.decide import Checker
from core.prove.loops import (
    EACH_ONCE,
    FUSED,
    NESTED,
    RENUMBERED,
    change_of_variables,
    renumbered,
    same_work,
)
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType


def loop(size: int, number: int, kind: AxisType = AxisType.LOOP) -> UOp:
    return UOp.range(size, number, kind)


def memory(number: int, size: int = 64) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(size, AddrSpace.GLOBAL), (), number)


def store(to: UOp, at: UOp, value: float | UOp = 1.0) -> UOp:
    found = value if isinstance(value, UOp) else UOp.const(dtypes.float32, value)
    return to.index(at).store(found)


def split(old: UOp, expression: UOp) -> str | None:
    sink = UOp.sink(store(memory(0), old).end(old))
    loops = [u for u in expression.toposort() if u.op is Ops.RANGE]
    result = UOp.sink(store(memory(0), expression).end(*loops))
    return change_of_variables([(old, expression)], sink, result)


def test_a_split_takes_each_value_once() -> None:
    outer, inner = loop(8, 1), loop(4, 2, AxisType.UPCAST)
    assert split(loop(32, 0), outer * 4 + inner) == EACH_ONCE
    assert split(loop(32, 0), inner * 8 + outer) == EACH_ONCE


def test_a_wrong_split_is_not_proved() -> None:
    outer, inner = loop(8, 1), loop(4, 2)
    assert split(loop(32, 0), outer * 3 + inner) is None  # some twice
    assert split(loop(32, 0), outer * 4 + inner + 1) is None  # past the end
    assert split(loop(33, 0), outer * 4 + inner) is None  # not all of them
    assert split(loop(32, 0), outer * 4) is None


def test_loops_that_are_joined_take_each_pair_once() -> None:
    rows, columns, joined = loop(6, 0), loop(2, 1), loop(12, 2)
    old = store(memory(0), rows * 2 + columns).end(rows, columns)
    result = UOp.sink(store(memory(0), joined).end(joined))
    steps = [(rows, joined // 2), (columns, joined % 2)]
    assert change_of_variables(steps, UOp.sink(old), result) == EACH_ONCE
    steps = [(rows, joined // 2), (columns, joined // 6)]
    assert change_of_variables(steps, UOp.sink(old), result) is None


def test_a_new_loop_that_is_in_use_captures() -> None:
    old, used, fresh = loop(8, 0), loop(4, 1), loop(2, 2)
    sink = UOp.sink(store(memory(0), old + used).end(old, used))
    result = UOp.sink(store(memory(0), used * 2 + fresh + used).end(used, fresh))
    assert change_of_variables([(old, used * 2 + fresh)], sink, result) is None


def test_an_old_loop_that_is_left_is_not_proved() -> None:
    old, new = loop(8, 0), loop(8, 1)
    sink = UOp.sink(store(memory(0), old).end(old))
    left = UOp.sink(store(memory(0), new).end(new), store(memory(1), old).end(old))
    assert change_of_variables([(old, new)], sink, left) is None


def test_other_numbers_of_loops() -> None:
    a, b = loop(8, 0), loop(4, 1)
    body = UOp.sink(store(memory(0), a * 4 + b).end(a, b))
    new = body.substitute({a: loop(8, 5), b: loop(4, 3)})
    assert same_work(body, new, body, new) == RENUMBERED
    assert not renumbered(body, body.substitute({a: loop(9, 5)}))
    square = UOp.sink(store(memory(0), a * 8 + loop(8, 2)).end(a, loop(8, 2)))
    one = UOp.sink(store(memory(0), a * 8 + a).end(a, a))
    assert not renumbered(square, one) and not renumbered(one, square)


def test_nested_ends() -> None:
    a, b = loop(8, 0), loop(4, 1)
    body = store(memory(0), a * 4 + b)
    both, none = body.end(a, b), UOp.sink()
    nested = body.end(b).end(a)
    assert same_work(both, nested, UOp.sink(both), none) == NESTED
    assert same_work(both, body.end(b), UOp.sink(both), none) is None
    other = store(memory(0), a * 4 + b, 2.0)
    assert same_work(both, other.end(b).end(a), UOp.sink(both), none) is None
    assert same_work(nested, body.end(a).end(b), UOp.sink(nested), none) is None  # who writes last


def test_fused_loops_that_share_nothing() -> None:
    r = loop(8, 0)
    x, y = store(memory(0), r), store(memory(1), r, memory(2).index(r).load())
    sink = UOp.sink(x.end(r), y.end(r))
    fused = UOp.group(x, y).end(r)
    result = UOp.sink(fused)
    assert same_work(x.end(r), fused, sink, result) == FUSED
    assert same_work(y.end(r), fused, sink, result) == FUSED


def test_fused_loops_of_which_one_is_left() -> None:
    """What it does would be done twice."""
    r = loop(8, 0)
    x, y = store(memory(0), r), store(memory(1), r, memory(1).index(r).load() + 1.0)
    fused = UOp.group(x, y).end(r)
    sink, result = UOp.sink(x.end(r), y.end(r)), UOp.sink(fused, y.end(r))
    assert same_work(x.end(r), fused, sink, result) is None


def test_fused_loops_where_one_reads_what_the_other_writes() -> None:
    r = loop(8, 0)
    x, y = store(memory(0), r), store(memory(1), r, memory(0).index(r).load())
    sink, fused = UOp.sink(x.end(r), y.end(r)), UOp.group(x, y).end(r)
    assert same_work(x.end(r), fused, sink, UOp.sink(fused)) is None


def test_fused_loops_with_work_that_no_loop_had() -> None:
    r = loop(8, 0)
    x, y = store(memory(0), r), store(memory(1), r)
    both, one = UOp.group(x, y).end(r), UOp.group(y).end(r)
    assert same_work(x.end(r), both, UOp.sink(x.end(r)), UOp.sink(both)) is None
    assert same_work(x.end(r), one, UOp.sink(x.end(r), y.end(r)), UOp.sink(one)) is None


def test_zeros_of_other_signs_are_not_the_same_work() -> None:
    zero, minus = (UOp.sink(store(memory(0), loop(1, 0), value)) for value in (0.0, -0.0))
    assert not renumbered(zero, minus)


def test_a_loop_that_is_not_ended_keeps_its_number() -> None:
    a, b = loop(8, 0), loop(4, 1)
    body = store(memory(0), a * 4 + b).end(b)
    assert not renumbered(body, body.substitute({a: loop(8, 5)}))
    assert renumbered(body, body.substitute({b: loop(4, 5)}))


def rows() -> tuple[UOp, UOp, UOp]:
    """A loop, a loop that is reduced over in it, and the kernel that stores the sums."""
    row, r = loop(4, 0), loop(4, 1, AxisType.REDUCE)
    total = memory(1).index(row * 4 + r).load().reduce(Ops.ADD, r)
    return row, r, UOp.sink(store(memory(0), row, total).end(row))


def test_a_loop_of_a_reduction_joined_with_another_one() -> None:
    row, r, sink = rows()
    joined, done = loop(16, 7), UOp.sink()
    assert change_of_variables([(row, joined // 4), (r, joined % 4)], sink, done) is None
    a, b = loop(4, 10), loop(4, 11, AxisType.REDUCE)
    assert change_of_variables([(row, (a + b) % 4), (r, b)], sink, done) is None
    assert change_of_variables([(row, (a + 1) % 4), (r, b)], sink, done) == EACH_ONCE


def test_loops_become_loops_of_their_kind() -> None:
    row, r, sink = rows()
    done = UOp.sink()
    for new in (loop(4, 9, AxisType.GLOBAL), UOp.special(4, "lidx0").cast(dtypes.int32)):
        assert change_of_variables([(r, new)], sink, done) is None
        assert change_of_variables([(row, new)], sink, done) == EACH_ONCE
    for kind in (AxisType.UNROLL, AxisType.GROUP_REDUCE):
        assert change_of_variables([(r, loop(4, 9, kind))], sink, done) == EACH_ONCE
    assert change_of_variables([(row, loop(4, 9, AxisType.REDUCE))], sink, done) is None


def test_loops_of_a_part_that_does_not_end_them() -> None:
    _, r, _ = rows()
    part = memory(1).index(r).load()
    assert change_of_variables([(r, loop(4, 9))], part, UOp.sink()) == EACH_ONCE


def test_loops_that_are_joined_end_together() -> None:
    a, b, joined = loop(6, 0), loop(2, 1), loop(12, 2)
    inner = store(memory(0), a * 2 + b).end(b)
    sink = UOp.sink(UOp.group(inner, store(memory(1), a)).end(a))
    steps = [(a, joined // 2), (b, joined % 2)]
    assert change_of_variables(steps, sink, UOp.sink()) is None


def test_loops_without_iterations() -> None:
    assert change_of_variables([(loop(0, 0), loop(0, 5))], UOp.sink(), UOp.sink()) is None


def test_what_lies_deep_depends_on_a_loop_that_is_reduced_over() -> None:
    r = loop(6, 0, AxisType.REDUCE)
    value = memory(1).index(r).load() * memory(2).index(r * 3).load()
    total = UOp(Ops.REDUCE, dtypes.float32, (value, r), Ops.ADD)
    same = UOp(Ops.CONTRACT, dtypes.float32.vec(6), (value,), ((0, 6),))
    wrong = UOp(Ops.REDUCE, dtypes.float32, (same,), Ops.ADD)
    assert Checker().check(total, wrong).kind == "differs"
    lane = loop(4, 1, AxisType.UNROLL)
    value = memory(1, 300).index(loop(75, 0, AxisType.REDUCE) * 4 + lane).load()
    both = UOp(Ops.REDUCE, dtypes.float32, (value, loop(75, 0, AxisType.REDUCE), lane), Ops.ADD)
    lanes = UOp(Ops.CONTRACT, dtypes.float32.vec(300), (value,), ((0, 75), (1, 4)))
    assert Checker().check(both, both.rebuild((lanes,))).kind == "differs"  # places in memory, too
    value = memory(1).index(r).load() * memory(2).index(r * 3).load()
    other = UOp(Ops.REDUCE, dtypes.float32, (value * 1.0, r), Ops.ADD)
    assert Checker().check(other, total).kind in ("proved", "sampled")


def accumulated(begin: int, update: int, read: int) -> tuple[UOp, UOp]:
    """A sum, and registers that are begun, updated and read at these elements."""
    r = loop(9, 0, AxisType.REDUCE)
    value = memory(1).index(r).load()
    total = UOp(Ops.REDUCE, dtypes.float32, (value, r), Ops.ADD)
    registers = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(2, AddrSpace.REG), (), 0)
    zero = UOp.const(dtypes.float32, 0.0)
    start = registers.after(*total.ranges).index(begin).store(zero)
    inside = registers.after(start, r).index(update)
    ended = inside.store(inside.load() + value).end(r)
    return total, registers.after(ended).index(read).load()


def test_registers_that_are_begun_elsewhere_are_no_sum() -> None:
    assert Checker().check(*accumulated(0, 0, 0)).kind == "proved"
    for places in ((1, 0, 0), (0, 1, 1), (0, 0, 1)):
        assert Checker().check(*accumulated(*places)).kind not in ("proved", "sampled")


def nested_sum(start_in: str = "outer", inside_in: bool = True) -> tuple[UOp, UOp]:
    """The sum of each row, and registers that are begun within some loops and updated within the
    inner one, or outside of it."""
    row, r = loop(4, 0), loop(4, 1, AxisType.REDUCE)
    value = memory(1).index(row * 4 + r).load()
    total = UOp(Ops.REDUCE, dtypes.float32, (value, r), Ops.ADD)
    registers = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(1, AddrSpace.REG), (), 0)
    around = {"none": (), "outer": (row,), "both": (row, r)}[start_in]
    begun = registers.after(*around) if around else registers
    start = begun.index(0).store(UOp.const(dtypes.float32, 0.0))
    inside = registers.after(start, *((r,) if inside_in else ())).index(0)
    ended = inside.store(inside.load() + value).end(r)
    return total, registers.after(ended).index(0).load()


def test_registers_that_are_begun_in_another_loop_are_no_sum() -> None:
    assert Checker().check(*nested_sum()).kind == "proved"
    for wrong in (nested_sum("none"), nested_sum("both"), nested_sum(inside_in=False)):
        assert Checker().check(*wrong).kind == "unchecked"  # the whole pass decides


def largest(start: int) -> tuple[UOp, UOp]:
    """The largest of some integers, and registers that are begun with a value."""
    r = loop(4, 1, AxisType.REDUCE)
    value = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(4), (), 1).index(r).load()
    registers = UOp(Ops.DEFINE_REG, dtypes.int32.ptr(1, AddrSpace.REG), (), 0)
    begun = registers.index(0).store(UOp.const(dtypes.int32, start))
    inside = registers.after(begun, r).index(0)
    ended = inside.store(inside.load().alu(Ops.MAX, value)).end(r)
    return value.reduce(Ops.MAX, r), registers.after(ended).index(0).load()


def test_registers_begin_with_what_changes_nothing() -> None:
    assert Checker().check(*largest(-(1 << 31))).kind == "proved"
    assert Checker().check(*largest(0)).kind not in ("proved", "sampled")
