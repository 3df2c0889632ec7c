"""Reduces over axes whose length is a variable: their loops end there."""

from __future__ import annotations

import numpy as np
import pytest

from core import Context, Tensor, Variable
from core.dtype import dtypes
from core.passes.loops.trim import trim
from core.target import targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType

N = UOp.variable("n", 0, 24)


def loops(u: UOp) -> list[UOp]:
    return [v for v in u.toposort() if v.op is Ops.RANGE]


def reduced(condition: UOp, op: Ops, otherwise: float, *ranges: UOp) -> UOp:
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(64), (), 0)
    value = memory.index(sum(ranges[1:], ranges[0])).load()
    return condition.where(value, value.const_like(otherwise)).reduce(op, *ranges)


def trimmed(u: UOp) -> UOp:
    return trim(u, targets["sm_90"])


def test_a_loop_ends_at_the_length() -> None:
    r = UOp.range(24, 0, AxisType.REDUCE)
    found = trimmed(reduced(r < N, Ops.ADD, 0.0, r))
    (loop,) = loops(found)
    assert loop.src[0] is N
    assert not any(u.op is Ops.WHERE for u in found.toposort())


def test_a_loop_of_several_elements_ends_at_the_last_of_them() -> None:
    r, lane = UOp.range(6, 0, AxisType.REDUCE), UOp.range(4, 1, AxisType.UNROLL)
    found = trimmed(reduced(r * 4 + lane < N, Ops.ADD, 0.0, r, lane))
    outer = next(u for u in loops(found) if u.arg[1] is AxisType.REDUCE)
    for n, iterations in ((0, 0), (1, 1), (4, 1), (5, 2), (24, 6)):
        assert outer.src[0].substitute({N: N.const_like(n)}).simplify().arg == iterations
    assert any(u.op is Ops.WHERE for u in found.toposort())


def test_a_length_longer_than_the_loop_is_cut() -> None:
    r = UOp.range(8, 0, AxisType.REDUCE)
    found = trimmed(reduced(r < N - 2, Ops.MAX, -np.inf, r))
    (loop,) = loops(found)
    for n, iterations in ((0, 0), (2, 0), (5, 3), (24, 8)):
        assert loop.src[0].substitute({N: N.const_like(n)}).simplify().arg == iterations


@pytest.mark.parametrize(
    "case", ["identity", "threads", "backwards", "memory", "before", "constant"]
)
def test_what_does_not_end_is_left_alone(case: str) -> None:
    r, other = UOp.range(24, 0, AxisType.REDUCE), UOp.range(4, 1, AxisType.LOOP)
    op, otherwise, condition = Ops.ADD, 0.0, r < N
    if case == "identity":
        op, otherwise = Ops.MAX, 0.0
    elif case == "threads":
        r = UOp.range(24, 0, AxisType.GROUP_REDUCE)
        condition = r < N
    elif case == "backwards":
        condition = r > N
    elif case == "memory":
        lengths = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(1), (), 1)
        condition = r < lengths.index(UOp.const(dtypes.index, 0)).load()
    elif case == "before":
        condition = r - other < N
    else:
        condition = r < 20
    u = reduced(condition, op, otherwise, r)
    assert trimmed(u) is u


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
def test_every_length_on_every_device(device: str) -> None:
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((40, 6)).astype(np.float32), rng.standard_normal(40)
    a, b = Tensor(x, device).realize(), Tensor(w.astype(np.float32), device).realize()
    n = Variable("n", 0, 40)
    for value in (0, 1, 7, 40):
        part = slice(None, value)
        end = n.bind(value)
        np.testing.assert_allclose(
            (b[:end] @ a[:end]).numpy(), w[part] @ x[part], rtol=1e-4, atol=1e-5
        )
        with Context(NOOPT=1):
            assert np.isclose(a[:end].sum().item(), x[part].sum(), rtol=1e-4, atol=1e-4)


def stored(condition: UOp, value: float, *ranges: UOp) -> UOp:
    """A store that leaves what is there where the condition does not hold."""
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(64), (), 0)
    place = memory.index(sum((r * s for r, s in zip(ranges, (4, 1), strict=False)), ranges[0] * 0))
    kept = condition.where(UOp.const(dtypes.float32, value), place.load())
    return UOp.sink(place.store(kept).end(*ranges))


@pytest.mark.parametrize(
    ("low", "high"), [(None, N), (N - 2, None), (N, N + 3), (N, N + 1), (N + 20, N + 40)]
)
def test_a_store_runs_where_something_changes(low: UOp | None, high: UOp | None) -> None:
    r, column = UOp.range(16, 0), UOp.range(4, 1, AxisType.UPCAST)
    clauses = [] if high is None else [r < high]
    clauses += [] if low is None else [(r < low).ne(True)]
    condition = clauses[0] if len(clauses) == 1 else clauses[0] & clauses[1]
    found = trimmed(stored(condition, 7.0, r, column))
    (store,) = (u for u in found.toposort() if u.op is Ops.STORE)
    assert store.src[1].op is Ops.CONST
    (loop,) = (u for u in loops(found) if u.arg[1] is AxisType.LOOP)
    for n in range(25):

        def known(u: UOp, n: int = n) -> int:
            return u.substitute({N: N.const_like(n)}).simplify().arg

        first = 0 if low is None else max(0, known(low))
        last = 16 if high is None else min(16, known(high))
        assert known(loop.src[0]) == max(0, last - first)
        if last > first:
            offset = (
                store.src[0]
                .src[1]
                .substitute({loop: loop.const_like(0), column: column.const_like(0)})
            )
            assert known(offset) == 4 * first


def test_part_of_a_tile_is_still_chosen() -> None:
    r, lane = UOp.range(4, 0), UOp.range(4, 1, AxisType.UPCAST)
    found = trimmed(stored(r * 4 + lane < N, 7.0, r, lane))
    (loop,) = (u for u in loops(found) if u.arg[1] is AxisType.LOOP)
    for n, iterations in ((0, 0), (1, 1), (4, 1), (5, 2), (16, 4), (24, 4)):
        assert loop.src[0].substitute({N: N.const_like(n)}).simplify().arg == iterations
    (store,) = (u for u in found.toposort() if u.op is Ops.STORE)
    assert store.src[1].op is Ops.WHERE


@pytest.mark.parametrize("kind", [AxisType.THREAD, AxisType.GLOBAL])
def test_cores_and_work_groups_end_there(kind: AxisType) -> None:
    r = UOp.range(16, 0, kind)
    found = trimmed(stored(r < N, 7.0, r))
    assert [loop.src[0].render() for loop in loops(found)] == ["(n<17?n:16)"]
    (store,) = (u for u in found.toposort() if u.op is Ops.STORE)
    assert store.src[1].op is Ops.CONST


def test_threads_store_behind_a_gate() -> None:
    group, thread = UOp.range(4, 0, AxisType.GLOBAL), UOp.range(4, 1, AxisType.LOCAL)
    condition = group * 4 + thread < N
    found = trimmed(stored(condition, 7.0, group, thread))
    (outer,) = (u for u in loops(found) if u.arg[1] is AxisType.GLOBAL)
    assert outer.src[0].substitute({N: N.const_like(5)}).simplify().arg == 2
    (store,) = (u for u in found.toposort() if u.op is Ops.STORE)
    gate = condition.substitute({group: outer})
    assert store.src[0].src[2] is gate
    assert store.src[1].op is Ops.CONST


def test_a_grid_of_more_loops_than_dimensions_stays() -> None:
    grid = [UOp.range(4, k, AxisType.GLOBAL) for k in range(4)]
    found = trimmed(stored(grid[0] < N, 7.0, *grid))
    assert all(loop.src[0].op is Ops.CONST for loop in loops(found))
    (store,) = (u for u in found.toposort() if u.op is Ops.STORE)
    assert store.src[0].src[2].op is Ops.CMPLT


@pytest.mark.parametrize("case", ["memory", "constant"])
def test_what_is_stored_everywhere_is_left_alone(case: str) -> None:
    r = UOp.range(16, 0)
    condition = r < N
    if case == "memory":
        counts = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(1), (), 1)
        condition = r < counts.index(0).load()
    elif case == "constant":
        condition = r < 5
    kernel = stored(condition, 7.0, r)
    assert trimmed(kernel) is kernel


@pytest.mark.parametrize("opt", [0, 1, 2, 3])
@pytest.mark.parametrize("device", ["CPU", "REFERENCE", "PTX:EMU", "AMD:EMU"])
def test_parts_are_written(device: str, opt: int) -> None:
    x = np.arange(48, dtype=np.float32).reshape(12, 4)
    begin, end = Variable("b", 0, 12), Variable("e", 0, 12)
    with Context(OPT=opt):
        for b, e in ((0, 5), (3, 7), (4, 4), (7, 3), (11, 12)):
            t, wanted = Tensor(x, device=device).realize(), x.copy()
            t[begin.bind(b) : end.bind(e)] = 5.0
            wanted[b:e] = 5
            np.testing.assert_array_equal(t.numpy(), wanted)
            t[: end.bind(e)] += 1
            wanted[:e] += 1
            np.testing.assert_array_equal(t.numpy(), wanted)
            if b < 12:
                place = Variable("p", 0, 11).bind(b)
                t[place, 1:3] = Tensor([8.0, 9.0], device=device)
                wanted[b, 1:3] = 8, 9
                np.testing.assert_array_equal(t.numpy(), wanted)
