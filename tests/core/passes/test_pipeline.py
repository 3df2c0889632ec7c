"""Every kernel of `kernels.py`, for vector units and work groups, computes what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import core.compile
import core.passes
from core import Tensor
from core.helpers import Context
from core.passes.pipeline import PASSES, lower_kernel
from core.passes.schedule import pipeline as schedule
from core.target import Target, targets
from core.uop import Ops, PatternMatcher, UOp
from core.uop.engine.observe import NullObserver, observing
from core.uop.kernelinfo import KernelInfo, Opt, OptOps
from tests.core.passes import kernels
from tests.core.passes.kernels import CASES, CPU, GPU, Case, execute

TARGETS = (CPU, GPU, targets["aarch64"], targets["gfx942"])


@pytest.mark.parametrize("make", CASES, ids=lambda make: make().name)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_chosen_opts_compute_the_same(make: Callable[[], Case], target: Target) -> None:
    execute(make(), target)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make().name)
@pytest.mark.parametrize("target", [CPU, GPU], ids=lambda target: target.name)
def test_without_opts(make: Callable[[], Case], target: Target) -> None:
    execute(make(), target, ())


def test_a_kernel_without_elements_does_nothing() -> None:
    value = kernels.plain(1, (0, 4)) + 1.0
    program = lower_kernel(kernels.kernel(value), CPU)
    assert not any(u.op is Ops.STORE for u in program)


def test_a_reduce_of_nothing_is_the_identity() -> None:
    for op, want in ((Ops.ADD, 0.0), (Ops.MUL, 1.0), (Ops.MAX, float("-inf"))):
        value = kernels.plain(1, (4, 0)).r(op, (1,))
        program = lower_kernel(kernels.kernel(value), CPU)
        assert not any(u.op is Ops.LOAD for u in program)
        stored = next(u.src[1] for u in program if u.op is Ops.STORE)
        assert stored.op is Ops.CONST
        assert stored.arg == want


def test_passes_are_named_and_state_what_they_guarantee() -> None:
    for table in (PASSES, schedule.PASSES):
        assert all(step.name and step.keeps and step.guarantees for step in table)
        assert len({step.name for step in table}) == len(table)


class Names(NullObserver):
    def __init__(self) -> None:
        self.open: list[str] = []
        self.outermost: set[str] = set()

    def rewrite_begin(self, name: str, *rest: object) -> None:
        if not self.open:
            self.outermost.add(name)
        self.open.append(name)

    def rewrite_end(self, *rest: object) -> None:
        self.open.pop()


def test_a_rewrite_is_named_after_its_module() -> None:
    """In a trace, "loops: nest" leads to core/passes/loops/loops.py."""
    folder = Path(core.passes.__file__).parent
    stems = {path.stem for path in folder.rglob("*.py")} | {path.name for path in folder.iterdir()}
    x = Tensor.ones(4, 6).contiguous()
    with observing(Names()) as names, Context(OPT=3, SPLIT_REDUCE=4):
        x.assign(x + 1).pad(((1, 1), (0, 0))).sum().schedule()
        for target in TARGETS:
            lower_kernel(kernels.matmul(8, 32, 8).ast, target)
            lower_kernel(kernels.row_sum(4, 512).ast, target)
        lower_kernel(kernels.matmul(3, 5, 7).ast, CPU, [Opt(OptOps.PADTO, 0, 4)])
    assert len(names.outermost) > 25
    assert {name.partition(":")[0].replace(" ", "_") for name in names.outermost} <= stems


def test_lowering_is_deterministic() -> None:
    case = kernels.matmul(8, 32, 8)
    assert lower_kernel(case.ast, CPU) == lower_kernel(case.ast, CPU)


def test_the_opts_that_were_applied_are_in_the_program() -> None:
    program = lower_kernel(kernels.matmul(8, 32, 8).ast, CPU)
    info = program[-1].arg
    assert isinstance(info, KernelInfo)
    assert info.opts
    assert lower_kernel(kernels.matmul(8, 32, 8).ast, CPU, info.opts) == program


def count(program: list[UOp], op: Ops) -> int:
    return sum(u.op is op for u in program)


def test_matmul_on_vectors_is_a_register_tile() -> None:
    program = lower_kernel(kernels.matmul(64, 64, 64).ast, CPU)
    fused = [u for u in program if u.op is Ops.MULACC and u.dtype.count == 8]
    assert len(fused) == 8
    loop = [u for u in program if u.op is Ops.LOAD and u.dtype.count == 8]
    assert sum(kernels.pointer(2, 64 * 64) in u.toposort() for u in loop[:10]) >= 2
    assert count(program, Ops.RANGE) == 3


def test_a_panel_that_rows_read_again_is_copied_first() -> None:
    rows_inside = (Opt(OptOps.UPCAST, 1, 16), Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.SWAP, 0, 1))
    program = lower_kernel(kernels.matmul(32, 128, 6).ast, CPU, rows_inside)
    assert count(program, Ops.DEFINE_LOCAL) == 1
    assert [u.src[0].arg for u in program if u.op is Ops.RANGE] == [8, 6, 8, 6]
    near = lower_kernel(kernels.matmul(32, 16, 6).ast, CPU, rows_inside[:2])
    assert count(near, Ops.DEFINE_LOCAL) == 0


def test_an_image_is_copied_with_its_margin_before_channels_read_it() -> None:
    """What a convolution's padding gates is gated where it is copied, and not inside the reduce."""
    ast = Tensor.empty(1, 4, 6, 6).conv2d(Tensor.empty(16, 4, 3, 3), padding=1).schedule()[-1].ast
    x, w = (np.random.default_rng(n).random(s, np.float32) for n, s in enumerate(SHAPES))
    margin = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(margin, (3, 3), (1, 2))
    expected = np.einsum("cyxij,ocij->oyx", windows, w)
    rows = (Opt(OptOps.PADTO, 2, 8), Opt(OptOps.UPCAST, 2, 8))
    channels_inside = (*rows, Opt(OptOps.SWAP, 0, 1))
    for opts, copies in ((rows, 0), (channels_inside, 1)):
        execute(Case("convolution", ast, (x, w), (expected,)), CPU, opts)
        assert count(lower_kernel(ast, CPU, opts), Ops.DEFINE_LOCAL) == copies


SHAPES = (4, 6, 6), (16, 4, 3, 3)


def test_gather_has_no_loop_over_rows() -> None:
    program = lower_kernel(kernels.one_hot_gather(1000, 8, 6).ast, CPU)
    assert all(u.src[0].arg < 1000 for u in program if u.op is Ops.RANGE)
    assert count(program, Ops.DEFINE_REG) == 0


def test_counting_has_no_loop() -> None:
    program = lower_kernel(kernels.count_below(99).ast, CPU, ())
    assert count(program, Ops.RANGE) == 1


def test_a_long_row_is_reduced_by_a_work_group() -> None:
    program = lower_kernel(kernels.total(1024).ast, GPU)
    assert count(program, Ops.BARRIER) == 1
    assert count(program, Ops.DEFINE_LOCAL) == 1
    assert count(program, Ops.IF) == count(program, Ops.ENDIF) == 1


def test_gpu_elementwise_moves_four_floats_at_once() -> None:
    program = lower_kernel(kernels.elementwise((1 << 16,)).ast, GPU)
    assert {u.dtype.count for u in program if u.op is Ops.LOAD} == {4}
    assert all(u.dtype.count == 1 for u in program if u.op in (Ops.ADD, Ops.MUL, Ops.MAX))


def test_a_large_kernel_is_shared_between_cores() -> None:
    program = lower_kernel(kernels.elementwise((1 << 20,)).ast, CPU)
    kinds = [u.arg[1].name for u in program if u.op is Ops.RANGE]
    assert kinds == ["THREAD"]


class Begun(NullObserver):
    """The rewrites, nested ones too, and the nodes that they began with, which so stay."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.nodes: list[UOp] = []

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        self.names.append(name)
        self.nodes += sink.toposort()


def test_passes_of_a_kernel_are_the_same_whatever_was_compiled_before() -> None:
    first, second = Begun(), Begun()
    for observer in (first, second):
        with observing(observer):
            execute(kernels.padded(5, 7), CPU)
            vars(core.compile)["_kept"].cache_clear()
    assert first.names.count("given") > 3
    assert first.names == second.names
