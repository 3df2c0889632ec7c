"""Opts: any that apply leave the result as it is; what does not apply is refused with a reason."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.errors import CompileError
from core.passes.lower import lower
from core.passes.optimize import Kernel, apply_opt
from core.passes.optimize.kernel import run_by_groups
from core.passes.optimize.merge import merge_loops
from core.passes.pipeline import lower_kernel
from core.passes.program.verify import verify_program
from core.passes.simplify import simplify
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target, targets
from core.tensor import Tensor
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU, GPU, Case, execute

SMALL = (
    kernels.matmul(4, 8, 6),
    kernels.matmul(3, 5, 7),
    kernels.row_sum(4, 12),
    kernels.row_sum(3, 8, Ops.MAX),
    kernels.elementwise((4, 6)),
    kernels.transpose(4, 6),
    kernels.padded(4, 5),
    kernels.softmax_part(2, 8),
    kernels.cumsum(6),
)
opts = st.builds(
    Opt,
    st.sampled_from([op for op in OptOps if op not in (OptOps.TC, OptOps.NOLOCALS)]),
    st.integers(0, 2),
    st.sampled_from([0, 2, 3, 4, 5, 8]),
)


def applicable(case: Case, target: Target, wanted: list[Opt]) -> list[Opt]:
    """Those of `wanted` that apply after one another."""
    found: list[Opt] = []
    for opt in wanted:
        try:
            lower_kernel(case.ast, target, [*found, opt])
        except CompileError as error:
            assert "does not apply" in str(error)  # noqa: PT017 - anything else is a failure
        else:
            found.append(opt)
    return found


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SMALL), st.sampled_from([CPU, GPU]), st.lists(opts, max_size=4))
def test_random_opts_compute_the_same(case: Case, target: Target, wanted: list[Opt]) -> None:
    execute(case, target, applicable(case, target, wanted))


def opened(case: Case, target: Target = CPU) -> Kernel:
    kernel = Kernel(simplify(lower(case.ast, target), target), target)
    merge_loops(kernel)
    return kernel


@pytest.mark.parametrize(
    ("opt", "reason"),
    [
        (Opt(OptOps.UPCAST, 0, 3), "3 does not divide 4"),
        (Opt(OptOps.UPCAST, 5, 2), "loops of sizes [4, 8]"),
        (Opt(OptOps.UPCAST, 0, -1), "must be an integer"),
        (Opt(OptOps.UPCAST, None, 2), "loops of sizes"),
        (Opt(OptOps.UNROLL, 0, 4), "4 does not divide 6"),
        (Opt(OptOps.LOCAL, 0, 2), "has no work groups"),
        (Opt(OptOps.SWAP, 0, 0), "another loop"),
        (Opt(OptOps.SWAP, 0, 2), "another loop"),
        (Opt(OptOps.PADTO, 0, 2), "a multiple of 2 already"),
        (Opt(OptOps.THREAD, 1, 0), "only the outermost"),
        (Opt(OptOps.TC, 0, 0), "it takes (row, level, use)"),
        (Opt(OptOps.TC, 0, (-1, 2, 1)), "has no tensor cores"),
    ],
    ids=str,
)
def test_what_does_not_apply_is_refused(opt: Opt, reason: str) -> None:
    kernel = opened(kernels.matmul(4, 8, 6))
    before = kernel.sink
    with pytest.raises(CompileError) as error:
        apply_opt(kernel, opt)
    assert reason in str(error.value)
    assert kernel.sink is before


def test_a_work_group_has_no_more_threads_than_the_target() -> None:
    kernel = opened(kernels.row_sum(4, 4096), GPU)
    apply_opt(kernel, Opt(OptOps.LOCAL, 0, 4))
    with pytest.raises(CompileError, match="2048 threads"):
        apply_opt(kernel, Opt(OptOps.GROUP, 0, 512))


def test_nolocals_forbids_work_groups() -> None:
    kernel = opened(kernels.elementwise((64,)), GPU)
    apply_opt(kernel, Opt(OptOps.NOLOCALS))
    with pytest.raises(CompileError, match="NOLOCALS"):
        apply_opt(kernel, Opt(OptOps.LOCAL, 0, 32))


def test_upcast_splits_the_loop() -> None:
    kernel = opened(kernels.elementwise((24,)))
    apply_opt(kernel, Opt(OptOps.UPCAST, 0, 4))
    assert kernel.sizes(AxisType.LOOP) == [6]
    assert kernel.sizes(AxisType.UPCAST) == [4]


def test_an_amount_of_zero_takes_the_whole_loop() -> None:
    kernel = opened(kernels.row_sum(4, 8))
    apply_opt(kernel, Opt(OptOps.UNROLL, 0, 0))
    assert kernel.sizes(AxisType.REDUCE) == []
    assert kernel.sizes(AxisType.UNROLL) == [8]


def test_swap_changes_the_nest() -> None:
    case = kernels.matmul(4, 8, 6)
    program = lower_kernel(case.ast, CPU, [Opt(OptOps.SWAP, 0, 1)])
    assert [u.src[0].arg for u in program if u.op is Ops.RANGE] == [8, 4, 6]


def test_padding_works_on_every_kind_of_loop() -> None:
    pads = [Opt(OptOps.PADTO, 0, 4), Opt(OptOps.PADTO, 1, 4), Opt(OptOps.PADTO, 2, 4)]
    execute(kernels.matmul(3, 5, 7), CPU, pads)
    execute(kernels.row_sum(3, 7, Ops.MAX), GPU, [Opt(OptOps.PADTO, 1, 4)])
    # the condition in the sum implies the gate of the load, which must stay all the same
    execute(kernels.cumsum(6), CPU, [Opt(OptOps.PADTO, 1, 4)])


def test_padding_gates_the_loads_of_an_address() -> None:
    """table[index[i]]: neither the table nor the index is read where i is beyond the loop's end."""
    case = kernels.one_hot_gather(5, 3, 6)
    for target in (CPU, GPU):
        execute(case, target, [Opt(OptOps.PADTO, 0, 4)])
        program = lower_kernel(case.ast, target, [Opt(OptOps.PADTO, 0, 4)])
        evaluate_kernel(program, [np.zeros(18, np.float32), *(a.ravel() for a in case.inputs)])


def test_adjacent_loops_merge() -> None:
    kernel = opened(kernels.elementwise((3, 5, 7)))
    assert kernel.sizes(AxisType.LOOP) == [105]
    kernel = opened(kernels.transpose(3, 5))
    assert kernel.sizes(AxisType.LOOP) == [5, 3]


def loops(program: list[UOp]) -> list[str]:
    return [u.arg[1].name for u in program if u.op is Ops.RANGE]


def test_group_on_vector_units_keeps_partial_sums_in_lanes() -> None:
    program = lower_kernel(kernels.row_sum(2, 64).ast, CPU, [Opt(OptOps.GROUP, 0, 8)])
    assert loops(program) == ["LOOP", "REDUCE"]
    assert any(u.op is Ops.ADD and u.dtype.count == 8 for u in program)
    assert not any(u.op is Ops.BARRIER for u in program)


def test_neighbouring_threads_read_neighbours() -> None:
    """In a sum over columns of a matrix, the fastest hardware index goes along the rows."""
    case = kernels.column_sum(64, 32)
    program = execute(case, GPU, [Opt(OptOps.GROUPTOP, 0, 4), Opt(OptOps.LOCAL, 0, 16)])
    sizes = {u.arg: u.src[0].arg for u in program if u.op is Ops.SPECIAL}
    assert sizes == {"gidx0": 2, "lidx0": 16, "lidx1": 4}
    along = execute(
        kernels.row_sum(4, 64), GPU, [Opt(OptOps.GROUP, 0, 16), Opt(OptOps.LOCAL, 0, 4)]
    )
    sizes = {u.arg: u.src[0].arg for u in along if u.op is Ops.SPECIAL}
    assert sizes == {"lidx0": 16, "lidx1": 4}


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_shared_memory_is_limited_whatever_comes_last(target: str) -> None:
    """Lanes that come after the threads of a reduce take shared memory for each of them."""
    case = kernels.row_sum(64, 4096)
    opts = [Opt(OptOps.UPCAST, 0, 16), Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.GROUP, 0, 512)]
    for order in permutations(opts):
        kernel = opened(case, targets[target])
        run_by_groups(kernel)
        for opt in order[:2]:
            apply_opt(kernel, opt)
        with pytest.raises(CompileError, match="131072 bytes of shared memory"):
            apply_opt(kernel, order[2])
        program = lower_kernel(case.ast, targets[target], order[:2])
        verify_program(program, targets[target], "limits")


def test_transposed_assignments_of_every_small_size() -> None:
    """A loop that the first UPCAST uses up has no position any more."""
    for m, n in [(4, 4), (8, 8), (4, 8), (8, 4), (2, 4), (12, 4), (16, 8), (3, 5)]:
        value = np.arange(m * n, dtype=np.float32).reshape(m, n)
        place, source = Tensor.zeros(n, m).contiguous().realize(), Tensor(value).realize()
        place.T.assign(source).realize()
        np.testing.assert_array_equal(place.numpy(), value.T)


@pytest.mark.parametrize(("columns", "along"), [(1, 64), (64, 64), (32, 32)])
def test_lanes_along_a_reduce_are_loaded_as_they_lie(columns: int, along: int) -> None:
    """A product with a transposed matrix: vectors along the sum, with nothing moved between lanes
    in the loop."""
    product = Tensor.empty(8, along) @ Tensor.empty(columns, along).transpose(0, 1)
    opts = (Opt(OptOps.GROUP, 0, 8), Opt(OptOps.UPCAST, 0, 4))
    uops = lower_kernel(product.schedule()[-1].ast, targets["x86-64"], opts)
    begin = max(n for n, u in enumerate(uops) if u.op is Ops.RANGE)
    end = next(n for n in range(begin, len(uops)) if uops[n].op is Ops.END)
    inside = [u.op for u in uops[begin:end]]
    assert Ops.LOAD in inside
    assert not {Ops.GEP, Ops.VECTORIZE, Ops.SHUFFLE} & set(inside)


def test_a_sum_of_lanes_stays_in_vectors() -> None:
    """A short row is one vector: what is summed is computed in vectors, not lane by lane."""
    rows = (Tensor.empty(64, 32) * 2).exp().sum(1)
    uops = lower_kernel(rows.schedule()[-1].ast, targets["x86-64"])
    products = [u for u in uops if u.op in (Ops.MUL, Ops.MULACC) and dtypes.is_float(u.dtype)]
    assert products
    assert all(u.dtype.count == 8 for u in products)


def test_the_gradient_of_a_small_filter_is_summed_along_rows() -> None:
    """Three neighbouring outputs are too few lanes, where what is summed lies side by side."""
    x, grown = Tensor.empty(2, 8, 16, 16), Tensor.empty(2, 8, 18, 18)
    windows = grown.unfold(2, 16, 1).unfold(3, 16, 1)  # (2, 8, 3, 3, 16, 16)
    product = x.reshape(2, 8, 1, 1, 1, 16, 16) * windows.reshape(2, 1, 8, 3, 3, 16, 16)
    uops = lower_kernel(product.sum((0, 5, 6)).schedule()[-1].ast, targets["x86-64"])
    sums = [u for u in uops if u.op is Ops.MULACC]
    assert sums
    assert all(u.dtype.count == 8 for u in sums)
