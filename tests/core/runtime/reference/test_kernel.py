"""What `evaluate_kernel` says of loops, memory and threads, on kernels made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from core.dtype import AddrSpace, DType, dtypes
from core.errors import RunError
from core.runtime.reference.evaluate.plan import plan_of
from core.runtime.reference.kernel import evaluate_kernel
from core.shape import ShapeTracker
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType


def pointer(number: int, size: int, dtype: DType = dtypes.int32) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


def shared(size: int) -> UOp:
    return UOp(Ops.DEFINE_LOCAL, dtypes.int32.ptr(size, AddrSpace.LOCAL), (), 0)


def register(size: int = 1) -> UOp:
    return UOp(Ops.DEFINE_REG, dtypes.int32.ptr(size, AddrSpace.REG), (), 0)


def ran(kernel: UOp | list[UOp], *arrays: Iterable[int], **variables: int) -> list[list[int]]:
    memory = [np.array([*a], np.int32) for a in arrays]
    evaluate_kernel(kernel, memory, variables)
    return [a.tolist() for a in memory]


def sequential(kernel: UOp, **variables: int) -> set[int]:
    """The numbers of the loops that run in sequence from the start."""
    plan = plan_of(kernel, tuple(variables.items()), False)
    loops = {u for u in kernel.toposort() if u.op is Ops.RANGE}
    return {u.arg[0] for u in loops if plan.axes.of(u) is None}


def running_sum(n: int) -> UOp:
    """A register that a loop carries on."""
    i = UOp.range(n, 0)
    total = register()
    now = total.after(total.index(0).store(0)).after(i)
    added = now.index(0).store(now.index(0).load() + pointer(1, n).index(i).load())
    return UOp.sink(pointer(0, n).index(i).store(now.after(added).index(0).load()).end(i))


def test_a_register_that_is_carried_on() -> None:
    kernel = running_sum(4)
    assert sequential(kernel) == {0}
    assert ran(kernel, [0] * 4, [1, 2, 3, 4])[0] == [1, 3, 6, 10]


def test_a_register_of_each_iteration() -> None:
    """The outer loop is an axis: each row has an accumulator of its own."""
    i, k = UOp.range(3, 0), UOp.range(4, 1, AxisType.REDUCE)
    total = register()
    start = total.after(i).index(0).store(0)
    inside = total.after(start, k).index(0)
    added = inside.store(inside.load() + pointer(1, 12).index(i * 4 + k).load()).end(k)
    row = total.after(added).index(0).load()
    kernel = UOp.sink(pointer(0, 3).index(i).store(row).end(i))
    assert sequential(kernel) == {1}
    assert ran(kernel, [0] * 3, range(12))[0] == [6, 22, 38]


def test_a_register_that_is_read_before_it_is_written_in_an_iteration() -> None:
    """What the iteration before has left there: found while all of them are evaluated at once."""
    i = UOp.range(4, 0)
    held = register().after(i)
    before = held.index(0).load()
    left = held.after(pointer(0, 4).index(i).store(before)).index(0).store(i + 10)
    kernel = UOp.sink(UOp.group(left, pointer(0, 4).index(i).store(before)).end(i))
    assert sequential(kernel) == set()
    assert ran(kernel, [0] * 4)[0] == [2**31 - 1, 10, 11, 12]


def test_memory_that_an_iteration_before_has_written() -> None:
    i = UOp.range(5, 0)
    x = pointer(0, 6)
    kernel = UOp.sink(x.index(i + 1).store(x.index(i).load() * 2).end(i))
    assert ran(kernel, [1, 0, 0, 0, 0, 0])[0] == [1, 2, 4, 8, 16, 32]


def test_memory_that_an_iteration_after_writes() -> None:
    i = UOp.range(5, 0)
    x = pointer(0, 6)
    kernel = UOp.sink(x.index(i).store(x.index(i + 1).load()).end(i))
    assert ran(kernel, [1, 2, 3, 4, 5, 6])[0] == [2, 3, 4, 5, 6, 6]


def test_in_place_at_once() -> None:
    i = UOp.range(5, 0)
    x = pointer(0, 5)
    kernel = UOp.sink(x.index(i).store(x.index(i).load() * 2).end(i))
    assert sequential(kernel) == set()
    assert ran(kernel, [1, 2, 3, 4, 5])[0] == [2, 4, 6, 8, 10]


def test_all_loads_come_before_stores_of_two_outputs() -> None:
    i = UOp.range(3, 0)
    a, b = pointer(0, 3), pointer(1, 3)
    stores = [a.index(i).store(b.index(i).load()), b.index(i).store(a.index(i).load())]
    for kernel in (UOp.sink(*(s.end(i) for s in stores)), UOp.sink(UOp.group(*stores).end(i))):
        assert ran(kernel, [1, 2, 3], [4, 5, 6]) == [[4, 5, 6], [1, 2, 3]]


def test_of_several_stores_to_an_element_the_last_iteration_counts() -> None:
    i, j = UOp.range(3, 0), UOp.range(4, 1)
    kernel = UOp.sink(pointer(0, 3).index(i).store(i * 10 + j).end(i, j))
    assert ran(kernel, [0] * 3)[0] == [3, 13, 23]


def test_stores_of_one_iteration_come_before_those_of_the_next() -> None:
    i = UOp.range(3, 0)
    stores = pointer(0, 4).index(i).store(i + 10), pointer(0, 4).index(i + 1).store(i + 20)
    kernel = UOp.sink(UOp.group(*stores).end(i))
    assert ran(kernel, [0] * 4)[0] == [10, 11, 12, 22]


def test_a_loop_whose_length_an_outer_loop_gives() -> None:
    i = UOp.range(4, 0)
    k = UOp(Ops.RANGE, dtypes.int32, (i + 1,), (1, AxisType.REDUCE))
    kernel = UOp.sink(pointer(0, 4).index(i).store(k.reduce(Ops.ADD, k)).end(i))
    assert sequential(kernel) == {1}
    assert ran(kernel, [0] * 4)[0] == [0, 1, 3, 6]


def test_a_maximum_over_lengths_in_memory() -> None:
    i = UOp.range(3, 0)
    k = UOp(Ops.RANGE, dtypes.int32, (pointer(1, 3).index(i).load(),), (1, AxisType.REDUCE))
    most = pointer(2, 4).index(k).load().reduce(Ops.MAX, k)
    kernel = UOp.sink(pointer(0, 3).index(i).store(most).end(i))
    assert ran(kernel, [0] * 3, [0, 2, 4], [5, 1, 9, 7])[0] == [-(2**31), 5, 9]


def test_a_length_that_is_a_variable() -> None:
    n = UOp.variable("n", 1, 5)
    k = UOp(Ops.RANGE, dtypes.int32, (n,), (0, AxisType.REDUCE))
    kernel = UOp.sink(pointer(0, 1).index(0).store(k.reduce(Ops.ADD, k)))
    assert [ran(kernel, [0], n=n)[0] for n in (1, 3, 5)] == [[0], [3], [10]]


def test_a_loop_of_no_iteration() -> None:
    i = UOp.range(0, 0)
    kernel = UOp.sink(pointer(0, 3).index(i).store(i).end(i))
    assert ran(kernel, [7] * 3)[0] == [7] * 3


def test_threads_see_what_the_others_stored() -> None:
    g, lane = UOp.special(2, "gidx0"), UOp.special(4, "lidx0")
    memory = shared(4)
    stored = memory.index(lane).store(g * 100 + lane)
    ready = memory.after(UOp(Ops.BARRIER, src=(stored,)))
    other = ready.index(lane * -1 + 3).load()
    kernel = UOp.sink(pointer(0, 8).index(g * 4 + lane).store(other))
    assert ran(kernel, [0] * 8)[0] == [3, 2, 1, 0, 103, 102, 101, 100]


def test_lanes_are_iterations_until_they_are_elements() -> None:
    """UNROLL and CONTRACT, as they stand in the middle of a pass."""
    lanes = UOp(Ops.UNROLL, dtypes.int32, (UOp.const(dtypes.int32.vec(3), (1, 2, 3)),), ((5, 3),))
    k = UOp.range(2, 0)
    vector = UOp(Ops.CONTRACT, dtypes.int32.vec(3), (lanes * 10 + k,), ((5, 3),))
    kernel = UOp.sink(pointer(0, 6).index(k * 3).store(vector).end(k))
    assert ran(kernel, [0] * 6)[0] == [10, 20, 30, 11, 21, 31]


def test_a_shaped_value_at_an_index() -> None:
    """The middle of `lower`: a view of a value, at a loop's index."""
    x = UOp(Ops.LOAD, dtypes.int32, (pointer(1, 4).view(ShapeTracker.from_shape((4,))),))
    wide = (x + 1).view(ShapeTracker.from_shape((4,)).pad(((1, 1),)))
    i = UOp.range(6, 0)
    kernel = UOp.sink(pointer(0, 6).index(i).store(wide.index(i)).end(i))
    assert ran(kernel, [9] * 6, [1, 2, 3, 4])[0] == [0, 2, 3, 4, 5, 0]


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runtime.reference.evaluate.plan.ELEMENTS", 50)
    g, lane = UOp.special(7, "gidx0"), UOp.special(4, "lidx0")
    x = pointer(0, 28)
    kernel = UOp.sink(x.index(g * 4 + lane).store(x.index(g * 4 + lane).load() + g))
    assert len(list(plan_of(kernel, (), False).pieces())) > 1
    assert ran(kernel, [1] * 28)[0] == [1 + i // 4 for i in range(28)]
    i = UOp.range(28, 0)
    kernel = UOp.sink(
        x.index(i).store(x.index(i).load() + i).end(i), pointer(1, 2).index(0).store(3)
    )
    assert len(list(plan_of(kernel, (), False).pieces())) == 1, "a store is outside of the loop"
    assert ran(kernel, [1] * 28, [0, 0]) == [[1 + i for i in range(28)], [3, 0]]


REFUSED: dict[str, tuple[Callable[[], UOp], str]] = {
    "outside": (lambda: UOp.sink(pointer(0, 4).index(UOp.range(5, 0)).store(1)
                                 .end(UOp.range(5, 0))), "STORE of 1 elements at 4 in memory of 4"),
    "below": (lambda: UOp.sink(pointer(0, 4).index(-1).store(1)), "at -1 in memory of 4"),
    "no meaning": (lambda: UOp.sink(pointer(0, 4).index(0).store(
        UOp(Ops.ALLREDUCE, dtypes.int32, (UOp.const(dtypes.int32, 1),), Ops.ADD))),
        "ALLREDUCE cannot be evaluated"),
    "no value": (lambda: UOp.sink(pointer(0, 4).index(0).store(UOp.variable("n", 0, 3))),
                 "needs a value for n"),
    "no memory": (lambda: UOp.sink(pointer(3, 4).index(0).store(1)), "argument 3 has no memory"),
    "other memory": (lambda: UOp.sink(pointer(0, 4, dtypes.float32).index(0).store(1.0)),
                     "is of float32, its memory of int32"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_run_is_said(name: str) -> None:
    make, what = REFUSED[name]
    with pytest.raises(RunError, match=what):
        ran(make(), [0] * 4)


def test_an_error_says_which_node_and_iteration() -> None:
    i = UOp.range(5, 3)
    kernel = UOp.sink(pointer(0, 4).index(i).store(1).end(i))
    with pytest.raises(RunError) as found:
        ran(kernel, [0] * 4)
    assert "STORE" in found.value.where
    assert "loop 3 = 4" in found.value.where


def test_a_variable_outside_of_its_bounds() -> None:
    kernel = UOp.sink(pointer(0, 4).index(0).store(UOp.variable("n", 0, 3)))
    with pytest.raises(RunError, match="n is 4"):
        ran(kernel, [0] * 4, n=4)


def test_what_cannot_be_cut_into_pieces_is_refused() -> None:
    k = UOp.range(1 << 30, 0, AxisType.REDUCE)
    kernel = UOp.sink(pointer(0, 4).index(0).store(k.reduce(Ops.ADD, k)))
    with pytest.raises(RunError, match="bytes more than the arguments"):
        ran(kernel, [0] * 4)


def test_memory_is_limited() -> None:
    i = UOp.range(1000, 0)
    kernel = UOp.sink(pointer(0, 1000).index(i).store(i).end(i))
    with pytest.raises(RunError, match="bytes more than the arguments"):
        evaluate_kernel(kernel, [np.zeros(1000, np.int32)], {}, room=100)
