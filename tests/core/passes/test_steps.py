"""Single passes and their parts, on small graphs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.errors import CompileError
from core.passes.address import Lane, factor, lane_at, pieces, runs
from core.passes.loops.gpudims import dimensions, gpudims
from core.passes.loops.loops import loops
from core.passes.loops.reduce import reduce
from core.passes.loops.solve import linear, solve
from core.passes.lower import lower
from core.passes.program.final import final, gates_to_ifs
from core.passes.program.linearize import linearize
from core.passes.vectors.expand import expand, lanes_of
from core.passes.vectors.loadstore import affine, loadstore
from core.passes.view_index import view_index
from core.runtime.reference.kernel import evaluate_kernel
from core.shape import ShapeTracker
from core.target import targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU, GPU


def value(u: UOp) -> int:
    folded = u.simplify()
    assert folded.op is Ops.CONST
    return folded.arg


MOVES = st.lists(st.integers(0, 5), max_size=5)


def tracker(moves: list[int]) -> ShapeTracker:
    found = ShapeTracker.from_shape((2, 3, 4))
    for move in moves:
        rank = len(found.shape)
        if move == 0:
            found = found.permute(tuple(reversed(range(rank))))
        elif move == 1:
            found = found.pad(tuple((i % 2, 1) for i in range(rank)))
        elif move == 2:
            found = found.flip((True,) * rank)
        elif move == 3:
            found = found.reshape((found.size,))
        elif move == 4:
            found = found.shrink(tuple((0 if n < 3 else 1, n) for n in found.shape))
        elif found.size % 2 == 0:
            found = found.reshape((2, found.size // 2))
    return found


@settings(max_examples=60, deadline=None)
@given(MOVES, st.randoms(use_true_random=False))
def test_view_arithmetic_is_what_the_tracker_says(moves: list[int], random: object) -> None:
    st_ = tracker(moves)
    points = list(itertools.product(*(range(n) for n in st_.shape)))
    for point in points[:: max(1, len(points) // 12)]:
        offset, valid = view_index(st_, [UOp.const(dtypes.int32, i) for i in point])
        at, inside = st_.index(point)
        assert (True if valid is None else value(valid)) == inside
        if inside:
            assert value(offset) == at


def test_large_views_count_in_64_bits() -> None:
    big = ShapeTracker.from_shape((1 << 20, 1 << 12))
    offset, _ = view_index(big, [UOp.range(1 << 20, 0), UOp.range(1 << 12, 1)])
    assert offset.dtype is dtypes.int64


def test_lowering_leaves_no_shape() -> None:
    sink = lower(kernels.softmax_part(3, 5).ast, CPU)
    gone = {Ops.VIEW, Ops.REDUCE_AXIS, Ops.IOTA}
    assert not any(u.op in gone for u in sink.toposort())


def test_stores_of_one_shape_share_their_loops() -> None:
    x = kernels.plain(2, (4, 6))
    sink = loops(lower(kernels.kernel(x + 1.0, x * 2.0), CPU), CPU)
    assert sum(u.op is Ops.END for u in sink.toposort()) == 2


def test_a_bitcast_to_another_size_is_refused() -> None:
    x = kernels.plain(1, (4,), dtypes.float32)
    value_ = UOp(Ops.BITCAST, dtypes.int8, (x,))
    with pytest.raises(CompileError, match="bitcast"):
        lower(UOp.sink(UOp(Ops.STORE, src=(kernels.pointer(0, 16, dtypes.int8).view(
            ShapeTracker.from_shape((16,))), value_))), CPU)  # fmt: skip


def test_lanes_are_repeated_for_axes_that_a_value_lacks() -> None:
    assert lanes_of(((0, 2), (1, 3)), ((1, 3),)) == (0, 1, 2, 0, 1, 2)
    assert lanes_of(((0, 2), (1, 3)), ((0, 2),)) == (0, 0, 0, 1, 1, 1)
    assert lanes_of(((1, 2),), ((1, 2),)) == (0, 1)


def test_expand_leaves_no_unrolled_axis() -> None:
    up, un = UOp.range(4, 0, AxisType.UPCAST), UOp.range(2, 1, AxisType.UNROLL)
    source = kernels.pointer(1, 8).index(up * 2 + un).load()
    total = source.reduce(Ops.ADD, un)
    sink = UOp.sink(kernels.pointer(0, 4).index(up).store(total).end(up))
    made = expand(sink, CPU)
    assert not any(u.op in (Ops.UNROLL, Ops.CONTRACT, Ops.RANGE) for u in made.toposort())
    load = next(u for u in made.toposort() if u.op is Ops.LOAD)
    assert load.dtype.count == 8
    assert not any(u.op is Ops.REDUCE for u in reduce(made, CPU).toposort())


def test_dimensions_merge_and_split_to_the_limits() -> None:
    assert dimensions((4, 8, 16), (1024, 1024, 64)) == (16, 8, 4)
    assert dimensions((2, 3, 4, 5), (1 << 20,) * 3) == (5, 4, 6)
    assert dimensions((1, 7, 1), (64,)) == (7,)
    assert dimensions((1 << 20,), (1024, 1024, 64)) == (1024, 1024)
    with pytest.raises(CompileError, match="do not fit"):
        dimensions((1021 * 1021,), (1000, 1000))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=5))
def test_merged_dimensions_reach_every_iteration_once(sizes: list[int]) -> None:
    axes = [UOp.range(n, i, AxisType.GLOBAL) for i, n in enumerate(sizes)]
    place = kernels.pointer(0, 1000)
    flat = axes[0]
    for axis, n in zip(axes[1:], sizes[1:], strict=True):
        flat = flat * n + axis
    sink = gpudims(UOp.sink(place.index(flat).store(1.0).end(*axes)), GPU)
    offset = next(u.src[1] for u in sink.toposort() if u.op is Ops.INDEX)
    specials = [u for u in offset.toposort() if u.op is Ops.SPECIAL]
    seen = []
    for point in itertools.product(*(range(u.src[0].arg) for u in specials)):
        env = {u: UOp.const(dtypes.int32, i) for u, i in zip(specials, point, strict=True)}
        seen.append(value(offset.substitute(env)))
    total = 1
    for n in sizes:
        total *= n
    assert sorted(seen) == list(range(total))


def test_runs_of_lanes() -> None:
    x, y = UOp.range(9, 0), UOp.range(9, 1)
    lanes = [Lane(x, 0), Lane(x, 1), Lane(y, 5), Lane(x, 1), Lane(x, 7), Lane(None, 0, None, True)]
    found = [(run.base, run.start, run.lanes) for run in runs(lanes)]
    assert found == [(x, 0, ((0,), (1, 3))), (x, 7, ((4,),)), (y, 5, ((2,),))]


def test_pieces_are_aligned_where_they_must_be() -> None:
    (run,) = runs([Lane(UOp.range(4, 0) * 8, i) for i in range(1, 8)])
    assert list(pieces(run, 4, aligned=True)) == [(0, 1), (1, 2), (3, 4)]
    assert list(pieces(run, 4, aligned=False)) == [(0, 4), (4, 2), (6, 1)]


def test_factor_divides() -> None:
    r = UOp.range(9, 0)
    assert factor(r * 12 + 8) == 4
    assert factor((r * 6).cast(dtypes.int64)) == 6
    assert factor(None) == 0
    assert factor(r) == 1


def test_any_depth_of_expressions_is_understood() -> None:
    depth = 50_000
    loop, total = UOp.range(9, 0), UOp.range(9, 0) * 4
    seen = UOp.variable("v", 0, 1) * 8
    lanes = UOp.vectorize(loop, loop)
    ones = UOp(Ops.VCONST, lanes.dtype, (), (0, 1))
    # a sum that is built without simplification, from leaves that are shared
    for _ in range(depth):
        total = UOp(Ops.ADD, total.dtype, (total, seen))
        lanes = UOp(Ops.ADD, lanes.dtype, (lanes, ones))
    assert factor(total) == 4
    found = linear(total, loop)
    assert found is not None
    assert found[0] == 4
    offsets = affine(lanes)
    assert offsets is not None
    assert offsets[1] == (0, depth)
    clause = total < 7
    for _ in range(depth):
        clause = UOp(Ops.CMPNE, dtypes.bool, (clause, UOp.const(dtypes.bool, True)))
    assert solve(clause, loop) == solve(total < 7, loop) is not None


def test_shared_expressions_are_looked_at_once() -> None:
    x = UOp.range(9, 0) * 2
    for _ in range(200):  # 2 ** 200 ways down
        x = UOp(Ops.ADD, x.dtype, (x, x))
    assert factor(x) == 2
    assert linear(x, UOp.range(9, 0)) == (2**201, None)


def test_a_lane_with_a_false_gate_is_never_there() -> None:
    assert lane_at(UOp.range(4, 0), UOp.const(dtypes.bool, False)).never
    assert lane_at(UOp.range(4, 0) + 3, UOp.const(dtypes.bool, True)) == Lane(UOp.range(4, 0), 3)


def test_invariant_code_is_outside_the_loop() -> None:
    i = UOp.range(4, 0)
    outside = kernels.pointer(1, 1).index(0).load()
    body = kernels.pointer(0, 4).index(i).store(outside * 2.0)
    program = linearize(UOp.sink(body.end(i)))
    loop = program.index(i)
    assert program.index(outside * 2.0) < loop
    assert program.index(body) > loop


def test_stores_follow_the_loads_of_their_loop() -> None:
    i = UOp.range(4, 0)
    a, b = kernels.pointer(0, 4), kernels.pointer(1, 4)
    first = a.index(i).store(b.index(i).load())
    second = b.index(i).store(a.index(i).load())
    program = linearize(UOp.sink(UOp.group(first, second).end(i)))
    ops = [u.op for u in program if u.op in (Ops.LOAD, Ops.STORE)]
    assert ops == [Ops.LOAD, Ops.LOAD, Ops.STORE, Ops.STORE]


def test_a_loop_that_never_ends_is_an_error() -> None:
    i = UOp.range(4, 0)
    with pytest.raises(CompileError, match="never ended"):
        linearize(UOp.sink(kernels.pointer(0, 4).index(i).store(1.0)))


def test_a_very_deep_kernel_is_lowered() -> None:
    x = kernels.plain(1, (8,))
    u = x
    for _ in range(3000):
        u = u + x
    program = linearize(loops(lower(kernels.kernel(u), CPU), CPU))
    assert sum(u.op is Ops.ADD for u in program) == 3000


def test_neighbouring_stores_with_one_gate_share_an_if() -> None:
    gate = UOp.special(8, "lidx0").eq(0)
    place = kernels.pointer(0, 8)
    stores = [place.index(i, gate=gate).store(1.0) for i in range(3)]
    other = place.index(4).store(2.0)
    program = gates_to_ifs(linearize(final(UOp.sink(*stores[:2], other, stores[2]), GPU)))
    ops = [u.op for u in program if u.op in (Ops.IF, Ops.ENDIF, Ops.STORE)]
    assert ops == [Ops.IF, Ops.STORE, Ops.STORE, Ops.ENDIF, Ops.STORE, Ops.IF, Ops.STORE, Ops.ENDIF]
    assert len(set(program)) == len(program)


def test_targets_differ_only_in_data() -> None:
    programs = {name: lower(kernels.total(64).ast, targets[name]) for name in ("sm_80", "sm_90")}
    assert programs["sm_80"] is programs["sm_90"]


def test_loops_inside_other_loops_are_not_shared_with_those_outside() -> None:
    """The sum of all of w, which no row changes, starts from zero once: its loop runs once, too."""
    row, column = UOp.range(4, 0), UOp.range(6, 1, AxisType.REDUCE)
    x = kernels.pointer(1, 24).index(row * 6 + column).load()
    w = kernels.pointer(2, 6).index(column).load()
    product = x.reduce(Ops.ADD, column) * w.reduce(Ops.ADD, column)
    sink = UOp.sink(kernels.pointer(0, 4).index(row).store(product).end(row))
    program = linearize(loops(loadstore(reduce(sink, CPU), CPU), CPU))
    memory = {
        0: np.zeros(4, np.float32),
        1: np.arange(24, dtype=np.float32),
        2: np.arange(1, 7, dtype=np.float32),
    }
    evaluate_kernel(program, memory)
    want = memory[1].reshape(4, 6).sum(1) * memory[2].sum()
    np.testing.assert_array_equal(memory[0], want)
