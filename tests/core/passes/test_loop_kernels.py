"""Kernels written by hand as loops: they enter the pipeline after `lower`, are named, compiled and
run like the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import AddrSpace, dtypes
from core.errors import CompileError, RunError, SpecError
from core.helpers import Context
from core.isolation.safety import check_kernel
from core.kernelname import kernel_name
from core.passes.pipeline import LOWERED, PASSES, entry, lower_kernel, run_passes
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.kernels import is_lowered, output_count, sizes_of
from core.uop.spec.spec import index_spec, verify
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU, GPU

Array = np.ndarray[Any, Any]
M, N = 12, 20
TARGETS = (CPU, GPU, targets["aarch64"], targets["gfx942"])


def loop(n: int, number: int, kind: AxisType = AxisType.LOOP) -> UOp:
    return UOp.range(n, number, kind)


def matrix_copy(kind: AxisType = AxisType.LOOP) -> UOp:
    """out[i, j] = x[i, j]"""
    i, j = loop(M, 0, kind), loop(N, 1, kind)
    at = i * N + j
    value = kernels.pointer(1, M * N).index(at).load()
    stored = kernels.pointer(0, M * N).index(at).store(value)
    return UOp.sink(stored.end(i, j), arg=KernelInfo(opts=()))


def row_sums(info: KernelInfo) -> UOp:
    """out[i] = sum over k of x[i, k], with a REDUCE for the passes to lower."""
    i, k = loop(M, 0), loop(N, 1, AxisType.REDUCE)
    value = kernels.pointer(1, M * N).index(i * N + k).load().reduce(Ops.ADD, k)
    return UOp.sink(kernels.pointer(0, M).index(i).store(value).end(i), arg=info)


def shifted(gate_from: int) -> UOp:
    """out[i] = x[i - 1], 0 where there is none."""
    i = loop(M, 0)
    gate = i >= gate_from
    value = kernels.pointer(1, M).index(i - 1, gate=gate).load(UOp.const(dtypes.float32, 0))
    return UOp.sink(kernels.pointer(0, M).index(i).store(value).end(i), arg=KernelInfo(opts=()))


def through_shared(number: int = 0) -> UOp:
    """out[g, i] = x[g, 7 - i]: a group of 8 threads passes values through shared memory."""
    g, i = loop(4, 0, AxisType.GLOBAL), loop(8, 1, AxisType.LOCAL)
    shared = UOp(Ops.DEFINE_LOCAL, dtypes.float32.ptr(8, AddrSpace.LOCAL), (), number)
    put = shared.index(i).store(kernels.pointer(1, 32).index(g * 8 + i).load())
    ready = UOp(Ops.BARRIER, dtypes.void, (put,))
    value = shared.after(ready).index(i * -1 + 7).load()
    stored = kernels.pointer(0, 32).index(g * 8 + i).store(value)
    return UOp.sink(stored.end(g, i), arg=KernelInfo(opts=()))


def run_on(device: str, ast: UOp, out: int, data: Array) -> Array:
    buffers = [Buffer(device, out, dtypes.float32), Buffer(device, data.size, dtypes.float32)]
    buffers[0].allocate()
    buffers[1].copyin(np.ascontiguousarray(data).reshape(-1).view(np.uint8).data)
    found = Device[device]
    if found.target is None:
        runner = found.load_ast(ast, kernel_name(ast))
    else:
        runner = found.load(compile_kernel(ast, found.target))
    runner(buffers, {}, wait=True)
    return buffers[0].as_array().copy()


X = np.random.default_rng(3).standard_normal((M, N), dtype=np.float32)
V = X.reshape(-1)[:M]
G = X.reshape(-1)[:32].reshape(4, 8)
CASES: Sequence[tuple[str, Callable[[], UOp], Array, Array]] = (
    ("copy", matrix_copy, X, X.reshape(-1)),
    ("rows", lambda: row_sums(KernelInfo(opts=())), X, X.sum(1)),
    ("rows, chosen", lambda: row_sums(KernelInfo()), X, X.sum(1)),
    ("gate", lambda: shifted(1), V, np.concatenate([[np.float32(0)], V[:-1]])),
)


@pytest.mark.parametrize(("name", "make", "data", "want"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_it_runs(name: str, make: Callable[[], UOp], data: Array, want: Array, device: str) -> None:
    with Context(SPEC=1):
        got = run_on(device, make(), want.size, data)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize(("name", "make", "data", "want"), CASES, ids=[c[0] for c in CASES])
def test_every_target_has_a_program_and_texts(
    name: str, make: Callable[[], UOp], data: Array, want: Array, target: Any
) -> None:
    with Context(SPEC=1):
        program = compile_kernel(make(), target)
    out = np.full(want.size, np.nan, np.float32)
    evaluate_kernel(program.uops, [out, np.ascontiguousarray(data).reshape(-1)], {})
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-6)
    assert all(program.name in source.text for source in sources_for(make(), target))


def test_a_group_of_threads_passes_values_through_shared_memory() -> None:
    want = G[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(run_on("REFERENCE", through_shared(), 32, G), want)
    program = compile_kernel(through_shared(), GPU)
    out = np.full(32, np.nan, np.float32)
    evaluate_kernel(program.uops, [out, G.reshape(-1)], {})
    np.testing.assert_array_equal(out, want)
    assert program.source.text.count("bar.sync") == 1


def test_it_enters_after_lower() -> None:
    assert is_lowered(matrix_copy())
    assert entry(matrix_copy()) == LOWERED != PASSES[0].name
    assert entry(kernels.matmul(4, 4, 4).ast) == PASSES[0].name


def test_names_and_estimates_come_from_the_loops() -> None:
    assert re.fullmatch(r"E_12_20_[a-z]{4}", kernel_name(matrix_copy()))
    assert re.fullmatch(r"r_12_20_[a-z]{4}", kernel_name(row_sums(KernelInfo())))
    assert sizes_of(row_sums(KernelInfo())) == ([12], [20])
    assert sizes_of(through_shared()) == ([4, 8], [])
    own = matrix_copy().replace(arg=KernelInfo("tile_copy", ()))
    assert compile_kernel(own, CPU).name == "tile_copy"
    program = compile_kernel(matrix_copy(), CPU)
    assert program.bytes == 2 * 4 * M * N
    assert program.flops == 0
    assert compile_kernel(row_sums(KernelInfo()), CPU).bytes == 4 * (M * N + M)


def test_the_same_kernel_in_stages() -> None:
    """Cut short after any pass and entered again at the next, it is the same kernel."""
    case = kernels.matmul(8, 12, 16)
    whole = run_passes(case.ast, CPU)
    for before, after in pairwise(PASSES):
        part = run_passes(case.ast, CPU, stop=before.name)
        verify(part, index_spec, before.name)
        assert run_passes(part, CPU, start=after.name) is whole
    assert run_passes(case.ast, CPU, stop=PASSES[-1].name) is whole


def test_every_pass_can_be_entered_with_the_verifier_on() -> None:
    case = kernels.row_sum(4, 64)
    with Context(SPEC=1):
        part = run_passes(case.ast, GPU, stop="reduce")
        assert run_passes(part, GPU, start="loadstore")
        with pytest.raises(SpecError, match="appears after pass entry at loops"):
            run_passes(row_sums(KernelInfo()), CPU, start="loops")


def test_wrong_names_are_errors() -> None:
    ast = matrix_copy()
    with pytest.raises(CompileError, match="no pass 'nothing'"):
        run_passes(ast, CPU, stop="nothing")
    with pytest.raises(CompileError, match="comes after"):
        run_passes(ast, CPU, start="loops", stop="reduce")
    assert lower_kernel(ast, CPU, start="loops")


def test_only_what_stays_in_its_memory_is_run_for_a_stranger() -> None:
    for make in (matrix_copy, lambda: row_sums(KernelInfo()), through_shared):
        check_kernel(make())
    with pytest.raises(RunError, match="elements -1 to 10 of memory with 12"):
        check_kernel(shifted(1))  # a gate is no proof
    i = loop(M + 1, 0)
    beyond = kernels.pointer(0, M).index(i).store(UOp.const(dtypes.float32, 1.0)).end(i)
    with pytest.raises(RunError, match="elements 0 to 12 of memory with 12"):
        check_kernel(UOp.sink(beyond))
    check_kernel(UOp.sink(beyond), inside=False)  # where every access is checked as it happens
    huge = UOp(Ops.DEFINE_LOCAL, dtypes.float32.ptr(1 << 40, AddrSpace.LOCAL), (), 0)
    j = loop(M, 0)
    value = huge.index(j).load()
    sink = UOp.sink(kernels.pointer(0, M).index(j).store(value).end(j))
    for inside in (True, False):
        with pytest.raises(RunError, match="memory of its own"):
            check_kernel(sink, inside=inside)


def running_sum(info: KernelInfo) -> UOp:
    """out[g, i] = the sum of x[g, 0..i]: a loop in sequence inside of one that is not."""
    g, i = loop(M, 0), loop(N, 1)
    total = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(1, AddrSpace.REG), (), 0).after(g)
    start = total.after(total.index(0).store(0.0))
    now = start.after(i)
    added = now.index(0).store(
        now.index(0).load() + kernels.pointer(1, M * N).index(g * N + i).load()
    )
    value = now.after(added).index(0).load()
    return UOp.sink(kernels.pointer(0, M * N).index(g * N + i).store(value).end(i, g), arg=info)


def triangle(info: KernelInfo) -> UOp:
    """out[i] = the sum of x[i, 0..i]: a loop whose length another loop says."""
    i = loop(M, 0)
    k = UOp.range(i + 1, 1, AxisType.REDUCE)
    value = kernels.pointer(1, M * N).index(i * N + k).load().reduce(Ops.ADD, k)
    return UOp.sink(kernels.pointer(0, M).index(i).store(value).end(i), arg=info)


SEQUENTIAL = [("running", running_sum, X.cumsum(1).reshape(-1)),
              ("triangle", triangle, np.tril(X).sum(1))]  # fmt: skip


@pytest.mark.parametrize("info", [KernelInfo(), KernelInfo(opts=())], ids=["chosen", "plain"])
@pytest.mark.parametrize("device", ["CPU", "REFERENCE", "PTX:EMU", "AMD:EMU"])
@pytest.mark.parametrize(("name", "make", "want"), SEQUENTIAL, ids=[c[0] for c in SEQUENTIAL])
def test_loops_in_sequence_stay_as_they_are(
    name: str, make: Callable[[KernelInfo], UOp], want: Array, device: str, info: KernelInfo
) -> None:
    with Context(SPEC=1):
        got = run_on(device, make(info), want.size, X)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_only_loops_that_nothing_waits_for_are_work_groups() -> None:
    program = compile_kernel(running_sum(KernelInfo(opts=())), GPU)
    assert program.global_size == (M, 1, 1)
    assert sum(u.op is Ops.RANGE for u in program.uops) == 1
    copied = compile_kernel(matrix_copy(), GPU)
    assert not any(u.op is Ops.RANGE for u in copied.uops)


def test_a_loop_of_variable_length() -> None:
    n = UOp.variable("n", 1, N)
    i, k = loop(M, 0), UOp.range(n, 1, AxisType.REDUCE)
    value = kernels.pointer(1, M * N).index(i * N + k).load().reduce(Ops.ADD, k)
    for info in (KernelInfo(), KernelInfo(opts=())):
        ast = UOp.sink(kernels.pointer(0, M).index(i).store(value).end(i), arg=info)
        for target in TARGETS:
            out = np.full(M, np.nan, np.float32)
            evaluate_kernel(compile_kernel(ast, target).uops, [out, X.reshape(-1)], {"n": 7})
            np.testing.assert_allclose(out, X[:, :7].sum(1), rtol=1e-5, atol=1e-6)


def test_outputs_are_counted_by_what_is_stored() -> None:
    assert [output_count(make()) for make in (matrix_copy, through_shared)] == [1, 1]
    assert output_count(kernels.kernel(kernels.plain(2, (4,)), kernels.plain(2, (4,)) * 2.0)) == 2
    i = loop(4, 0)
    both = UOp.group(*(kernels.pointer(k, 4).index(i).store(1.0) for k in range(2)))
    again = kernels.pointer(0, 4).index(0).store(2.0)
    assert output_count(UOp.sink(both.end(i))) == 2
    assert output_count(UOp.sink(both.end(i), again)) == 2
    copy = UOp(Ops.COPY, dtypes.float32, (kernels.pointer(1, 4), UOp(Ops.DEVICE, arg="CPU")))
    assert output_count(copy) == 1


def grid_of(*sizes: UOp) -> UOp:
    """Each work group of a grid stores 1.0."""
    loops = [UOp.range(size, k, AxisType.GLOBAL) for k, size in enumerate(sizes)]
    place = kernels.pointer(0, 4).index(sum(loops, UOp.const(dtypes.int32, 0)) % 4)
    return UOp.sink(place.store(1.0).end(*loops), arg=KernelInfo(opts=()))


def test_grids_of_variables() -> None:
    n, m = UOp.variable("n", 0, 60000), UOp.variable("m", 1, 4)
    program = compile_kernel(grid_of(m, n, m * 2), GPU)
    assert program.groups({"n": 7, "m": 3}) == (6, 7, 3)
    assert program.global_size == (8, 60000, 4)
    for wrong in ((m, m, m, n), (n + 6000, n, m), (m, m, UOp.variable("w", 1, 1 << 31))):
        with pytest.raises(CompileError, match="parallel loops of sizes") as found:
            compile_kernel(grid_of(*wrong), GPU)
        assert "at most 3 such loops, of at most (2147483647, 65535, 65535)" in found.value.hint
