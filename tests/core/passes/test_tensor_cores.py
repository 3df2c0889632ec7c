"""Tensor cores: what the opt TC makes of products of matrices is right with every instruction of
every target, work item by work item; what it does not apply to is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import AddrSpace, DType, dtypes
from core.errors import CompileError
from core.helpers import Context
from core.passes.optimize import Kernel, apply_opt
from core.passes.pipeline import run_passes
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target, targets
from core.tensor import Tensor
from core.tensor_cores import TensorCore
from core.toolchain.estimates import flops_of
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps
from core.uop.pointer import address_space
from tests.core.passes.matrices import (
    ROWS,
    count,
    kernel_of,
    lowered,
    multiplies,
    product,
    row_id,
    tc,
    tensor,
    wide,
)
from tests.core.passes.programs import opened
from tests.core.runtime.test_agreement import memory_of

NEAR = {dtypes.float16: 2e-2, dtypes.float32: 2e-5, dtypes.int32: 0.0}
SM_80 = targets["sm_80"]
HALF = SM_80.tensor_cores[0]
"""float16 to float32, 16 x 8 x 16."""
Row = tuple[Target, int]
every_row = pytest.mark.parametrize("row", ROWS, ids=row_id)


def core_of(row: Row) -> TensorCore:
    return row[0].tensor_cores[row[1]]


@every_row
def test_sizes_that_divide(row: Row) -> None:
    core = core_of(row)
    ast = kernel_of(product(core, 2 * core.m, core.n, 3 * core.k))
    program = multiplies(ast, row[0], [tc(row[1], level=1)], NEAR[core.dtype_out])
    assert count(program) == 1
    assert flops_of(program) >= 2 * 2 * core.m * core.n * 3 * core.k


@every_row
def test_sizes_that_do_not_divide(row: Row) -> None:
    core = core_of(row)
    ast = kernel_of(product(core, core.m + 3, core.n - 1, 2 * core.k - 1))
    with pytest.raises(CompileError, match="0 such products"):
        lowered(ast, row[0], [tc(row[1], level=1)])
    assert count(multiplies(ast, row[0], [tc(row[1])], NEAR[core.dtype_out])) == 1


@every_row
def test_one_tile_needs_no_loop(row: Row) -> None:
    core = core_of(row)
    program = multiplies(kernel_of(product(core, *core.dims)), row[0], [tc(row[1])], 2e-2)
    assert not [u for u in program if u.op in (Ops.RANGE, Ops.DEFINE_REG)]


@every_row
def test_with_the_other_opts(row: Row) -> None:
    """Tiles of registers, several warps, unrolled sums: further products, each with its
    accumulator."""
    core = core_of(row)
    ast = kernel_of(product(core, 4 * core.m, 2 * core.n, 4 * core.k))
    opts = [
        tc(row[1]),
        Opt(OptOps.UPCAST, 0, 2),
        Opt(OptOps.LOCAL, 1, 2),
        Opt(OptOps.UNROLL, 0, 2),
    ]
    program = multiplies(ast, row[0], opts, NEAR[core.dtype_out])
    assert count(program) == 4


@every_row
def test_the_loops_alone(row: Row) -> None:
    """`use` 2 splits the loops as for the instruction and multiplies lane by lane."""
    core = core_of(row)
    ast = kernel_of(product(core, core.m, 2 * core.n, 2 * core.k))
    near = 1e-2 if core.dtype_out is dtypes.float16 else 2e-5
    assert count(multiplies(ast, row[0], [tc(row[1], use=2)], near)) == 0


def test_sums_are_taken_by_the_instruction() -> None:
    """The accumulator is what the instruction adds to: no addition of floats remains."""
    ast = kernel_of(product(HALF, 64, 32, 64))
    for more in ([], [Opt(OptOps.UPCAST, 0, 2)], [Opt(OptOps.UNROLL, 0, 2)]):
        program = lowered(ast, SM_80, [tc(), *more])
        assert not [u for u in program if u.op is Ops.ADD and dtypes.is_float(u.dtype)]


def test_lanes_load_neighbours() -> None:
    """A row of A that lies along k comes in moves of 4 elements: the order of k is chosen so."""
    ast = kernel_of(wide(tensor(HALF.dtype_in, 64, 64), HALF)
                    @ wide(tensor(HALF.dtype_in, 64, 64), HALF).T)  # fmt: skip
    program = lowered(ast, SM_80, [tc()])
    loads = [u.dtype.count for u in program if u.op is Ops.LOAD and u.dtype.scalar() is dtypes.half]
    assert loads == [4, 4, 4]


def half(*shape: int) -> Tensor:
    return wide(tensor(dtypes.float16, *shape), HALF)


SHAPES: dict[str, Callable[[], Tensor]] = {
    "transposed left": lambda: half(48, 32).T @ half(48, 16),
    "transposed right": lambda: half(32, 48) @ half(16, 48).T,
    "transposed output": lambda: (half(32, 48) @ half(48, 16)).T.contiguous(),
    "batched": lambda: half(3, 32, 32) @ half(3, 32, 16),
    "one batch of two": lambda: half(3, 32, 32) @ half(32, 16),
    "epilogue": lambda: (half(32, 32) @ half(32, 16)).relu() * 2 + Tensor.empty(16),
    "epilogue reads what it multiplied": lambda: half(32, 32) @ half(32, 32) + half(32, 32),
    "rounded output": lambda: (half(32, 32) @ half(32, 16)).cast("float16"),
    "cast in front": lambda: Tensor.empty(32, 32).half().float() @ half(32, 16),
    "computed in front": lambda: (tensor(dtypes.float16, 32, 32).relu() + 1).float() @ half(32, 16),
    "padded values": lambda: half(30, 30).pad(((1, 1), (2, 0))) @ half(32, 16),
    "flipped": lambda: half(32, 32).flip(1) @ half(32, 16).flip(0),
    "convolution": lambda: half(2, 16, 10, 10).conv2d(half(32, 16, 3, 3)),
    "padded convolution": lambda: half(1, 5, 9, 9).conv2d(half(7, 5, 3, 3), padding=1),
    "square": lambda: (lambda x: x @ x)(half(32, 32)),
    "rows times rows": lambda: (lambda x: x @ x.T)(half(32, 32)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("target", ["sm_80", "gfx1100", "gfx942"])
def test_products_of_many_forms(target: str, name: str) -> None:
    ast = kernel_of(SHAPES[name]())
    near = 2e-2 if "rounded" in name else 1e-4
    assert count(multiplies(ast, targets[target], [tc()], near)) == 1


@pytest.mark.parametrize("target", ["sm_80", "gfx1100", "gfx942"])
@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=str)
def test_products_are_not_rounded_before_they_are_summed(dtype: DType, target: str) -> None:
    """x @ y of float16 rounds each product to float16 in the AST; the instruction is exact, so it
    gives what x.float() @ y.float() is."""
    x, y = (tensor(dtype, 32, 48), tensor(dtype, 48, 32))
    rounded = kernel_of(x.matmul(y, dtype=dtypes.float32))
    exact = kernel_of(tensor(dtype, 32, 48).float() @ tensor(dtype, 48, 32).float())
    assert rounded is not exact
    program = lowered(rounded, targets[target], None)
    assert count(program) > 0
    found, right = memory_of(rounded), memory_of(exact)
    evaluate_kernel(program, found)
    evaluate_kernel(exact, right, {})
    np.testing.assert_allclose(found[0], right[0], rtol=2e-6, atol=2e-6)


REFUSED: dict[str, Callable[[], Tensor]] = {
    "products of bytes that wrap around": lambda: tensor(dtypes.int8, 32, 32).matmul(
        tensor(dtypes.int8, 32, 32), dtype=dtypes.int32
    ),
    "products rounded to 8 bits": lambda: (
        tensor(dtypes.fp8e4m3, 32, 32) @ tensor(dtypes.fp8e4m3, 32, 32)
    ),
    "no columns": lambda: half(32, 32) @ half(32),
    "no sum": lambda: half(32, 1) * half(1, 32),
    "a maximum": lambda: (half(32, 1, 32) * half(1, 32, 32)).max(2),
    "a sum of sums": lambda: (half(32, 1, 32) + half(1, 32, 32)).sum(2),
    "float64": lambda: tensor(dtypes.float64, 32, 32) @ tensor(dtypes.float64, 32, 32),
    "float32, which would lose bits": lambda: Tensor.empty(32, 32) @ Tensor.empty(32, 32),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_product_of_an_instruction_is_refused(name: str) -> None:
    kernel = opened(kernel_of(REFUSED[name]()), targets["sm_90"])
    before = kernel.sink
    with pytest.raises(CompileError, match="0 such products"):
        apply_opt(kernel, tc())
    assert kernel.sink is before


def test_float32_by_its_leading_bits_where_that_is_allowed() -> None:
    ast = kernel_of(Tensor.empty(32, 32) @ Tensor.empty(32, 16))
    row = next(i for i, core in enumerate(SM_80.tensor_cores) if not core.exact)
    with Context(ALLOW_TF32=1):
        assert count(multiplies(ast, SM_80, [tc()], 1e-5)) == 1  # its numbers have few bits
    assert count(multiplies(ast, SM_80, [tc(row)], 1e-5)) == 1  # asked for by number


def matmul() -> Kernel:
    return opened(kernel_of(half(32, 48) @ half(48, 16)), SM_80)


@pytest.mark.parametrize(
    ("opts", "reason"),
    [
        ([tc(choice=9)], "such products"),
        ([tc(), tc()], "work together already"),
        ([Opt(OptOps.NOLOCALS), tc()], "NOLOCALS was applied"),
        ([Opt(OptOps.TC, None, (-1, 2, 1))], "such products"),
        ([Opt(OptOps.TC, 0, None)], "it takes (row, level, use)"),
        ([Opt(OptOps.TC, 0, (-2, 2, 1))], "it takes (row, level, use)"),
        ([Opt(OptOps.TC, 0, (-1, 3, 1))], "it takes (row, level, use)"),
        ([Opt(OptOps.TC, 0, (-1, 2, 0))], "it takes (row, level, use)"),
        ([tc(row=99)], "0 such products"),
        ([Opt(OptOps.LOCAL, 0, 0), tc()], "0 such products"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_what_does_not_apply_is_refused(opts: list[Opt], reason: str) -> None:
    kernel = matmul()
    for opt in opts[:-1]:
        apply_opt(kernel, opt)
    before = kernel.sink
    with pytest.raises(CompileError) as error:
        apply_opt(kernel, opts[-1])
    assert reason in str(error.value)
    assert kernel.sink is before


def test_a_group_of_too_many_threads_is_refused() -> None:
    kernel = opened(kernel_of(half(64, 4096, 48) @ half(48, 64)), SM_80)
    outer = [r.src[0].arg for r in kernel.loops(AxisType.GLOBAL)]
    assert outer == [64 * 4096, 64]
    apply_opt(kernel, Opt(OptOps.LOCAL, 0, 64))
    with pytest.raises(CompileError, match="2048 threads"):
        apply_opt(kernel, tc())


def test_loops_are_a_lane_and_positions() -> None:
    kernel = matmul()
    apply_opt(kernel, tc())
    assert kernel.sizes(AxisType.WARP) == [32]
    assert sorted(kernel.sizes(AxisType.UPCAST)) == [4, 4, 8]
    assert kernel.lanes(AxisType.UPCAST) == 4, "operands make no value of the kernel wider"
    assert kernel.sizes(AxisType.GLOBAL, AxisType.REDUCE) == [2, 2, 3]


def test_lanes_of_a_warp_are_neighbouring_threads() -> None:
    """Whatever other threads a group has, 32 in a row are a warp."""
    ast = kernel_of(product(HALF, 64, 32, 64))
    opts = [tc(), Opt(OptOps.LOCAL, 0, 2), Opt(OptOps.LOCAL, 1, 2), Opt(OptOps.GROUP, 0, 2)]
    program = multiplies(ast, SM_80, opts)
    assert next(u.src[0].arg for u in program if u.op is Ops.SPECIAL and u.arg == "lidx0") == 32


def test_flops_count_each_warp_once() -> None:
    ast = kernel_of(product(HALF, 64, 32, 64))
    assert flops_of(lowered(ast, SM_80, [tc()])) == 2 * 64 * 32 * 64


def test_the_opt_is_in_the_kernels_info() -> None:
    ast = kernel_of(product(HALF, 32, 32, 32))
    lowest = run_passes(ast, SM_80, opts=[tc()])
    assert lowest.arg.opts == (tc(),)
    assert str(tc()) == "TC(0, (-1, 2, 1))"


def default_opts(ast: UOp, target: str) -> list[str]:
    return [opt.op.name for opt in run_passes(ast, targets[target], stop="optimize").arg.opts]


@pytest.mark.parametrize("name", ["sm_75", "sm_90", "gfx1100", "gfx942"])
def test_large_products_are_tiled(name: str) -> None:
    """Columns are upcast before the instruction takes its part: loads and stores are wide."""
    ast = kernel_of(product(HALF, 512, 512, 32))
    program = multiplies(ast, targets[name], None)
    opts = default_opts(ast, name)
    assert opts[0] == "UPCAST"
    assert "TC" in opts[1:]
    outside = [u for u in program if u.op in (Ops.LOAD, Ops.STORE)
               and address_space(u.src[0]) is AddrSpace.GLOBAL]  # fmt: skip
    widths = [(u if u.op is Ops.LOAD else u.src[1]).dtype.count for u in outside]
    assert min(widths) >= 4
    assert count(program) >= 4


@pytest.mark.parametrize("name", ["sm_80", "gfx1201", "gfx950"])
def test_groups_share_long_sums_where_there_are_few_tiles(name: str) -> None:
    ast = kernel_of(product(HALF, 32, 32, 512))
    program = multiplies(ast, targets[name], None)
    assert count(program) > 0
    assert "GROUP" in default_opts(ast, name)
    assert any(u.op is Ops.BARRIER for u in program)


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (lambda: half(64, 64) @ half(64, 64), True),
        (lambda: half(30, 60) @ half(60, 60), True),
        (lambda: half(4, 60) @ half(60, 4), False),
        (lambda: half(2, 16, 12, 12).conv2d(half(32, 16, 3, 3)), True),
        (lambda: Tensor.empty(64, 64) @ Tensor.empty(64, 64), False),
        (lambda: tensor(dtypes.bfloat16, 64, 64) @ tensor(dtypes.bfloat16, 64, 64), True),
    ],
    ids=["divides", "padded", "mostly padding", "convolution", "float32", "bfloat16"],
)
def test_what_is_given_to_tensor_cores(made: Callable[[], Tensor], used: bool) -> None:
    ast = kernel_of(made())
    assert (count(multiplies(ast, SM_80, None, 2e-2)) > 0) is used


def test_settings_of_tensor_cores() -> None:
    ast, odd = kernel_of(half(64, 64) @ half(64, 64)), kernel_of(half(60, 60) @ half(60, 60))
    single = kernel_of(Tensor.empty(64, 64) @ Tensor.empty(64, 64))

    def used(kernel: UOp, **flags: int) -> bool:
        with Context(**flags):  # through the cache of compiled kernels, which knows of settings
            found = compile_kernel(kernel, SM_80).uops
        return any(u.op is Ops.WMMA for u in found)

    assert used(ast)
    assert not used(ast, TC=0)
    assert not used(ast, TC=2)
    assert used(ast, TC_OPT=1)
    assert used(odd)
    assert not used(odd, TC_OPT=1)
    assert not used(single)
    assert used(single, ALLOW_TF32=1)
    with Context(TC=2):
        assert count(multiplies(ast, SM_80, None)) == 0
        assert "TC" in default_opts(ast, "sm_80")


def test_upcasts_before_the_instruction() -> None:
    """What a place of the instruction stands for is free: lanes of a vector are neighbours."""
    ast = kernel_of(product(HALF, 64, 64, 64))
    opts = [Opt(OptOps.UPCAST, 1, 4), Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.UNROLL, 0, 2), tc()]
    assert count(multiplies(ast, SM_80, opts)) == 16
