"""Kernels that multiply matrices, and running them: for the tests of tensor cores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.dtype import DType, dtypes
from core.helpers import Context
from core.passes.pipeline import lower_kernel
from core.passes.program.verify import verify_program
from core.runtime.numeric import from_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target, targets
from core.tensor import Tensor
from core.tensor_cores import TensorCore
from core.uop import Ops, UOp
from core.uop.kernelinfo import Opt, OptOps
from core.uop.pointer import pointer_of
from tests.core.runtime.test_agreement import memory_of

ROWS = [
    (target, number)
    for name in ("sm_75", "sm_80", "sm_89", "gfx1100", "gfx1201", "gfx942", "gfx950")
    for target in (targets[name],)
    for number in range(len(target.tensor_cores))
]
"""(target, number of the row), with every instruction that any target has."""


def row_id(row: tuple[Target, int]) -> str:
    return f"{row[0].name}-{row[0].tensor_cores[row[1]]}"


def tc(row: int = -1, level: int = 2, use: int = 1, choice: int = 0) -> Opt:
    return Opt(OptOps.TC, choice, (row, level, use))


def kernel_of(t: Tensor) -> UOp:
    """The AST of the only kernel that computes a Tensor."""
    (ast,) = [item.ast for item in t.schedule() if item.ast.op is Ops.SINK]
    return ast


def tensor(dtype: DType, *shape: int) -> Tensor:
    return Tensor.empty(*shape, dtype=dtype)


def wide(t: Tensor, core: TensorCore) -> Tensor:
    """A factor in the dtype that is summed: no product is rounded."""
    return t if t.dtype is core.dtype_out else t.cast(core.dtype_out)


def product(core: TensorCore, m: int, n: int, k: int) -> Tensor:
    """m x k times k x n, in the dtypes of an instruction."""
    a, b = tensor(core.dtype_in, m, k), tensor(core.dtype_in, k, n)
    return wide(a, core).matmul(wide(b, core), dtype=core.dtype_out)


def lowered(ast: UOp, target: Target, opts: Sequence[Opt] | None) -> list[UOp]:
    """The verified linear program, every graph on the way verified too."""
    with Context(SPEC=1):
        program = lower_kernel(ast, target, opts)
    verify_program(program, target, "kernel")
    return program


def multiplies(
    ast: UOp, target: Target, opts: Sequence[Opt] | None, near: float = 2e-5
) -> list[UOp]:
    """Runs the kernel's program work item by work item, and compares with NumPy; returns it."""
    program = lowered(ast, target, opts)
    found, right = memory_of(ast), memory_of(ast)
    evaluate_kernel(ast, right, {})
    evaluate_kernel(program, found)
    for store in ast.src:
        number, dtype = pointer_of(store.src[0]).arg, store.src[1].dtype
        a, b = from_memory(found[number], dtype), from_memory(right[number], dtype)
        if dtypes.is_float(dtype):
            np.testing.assert_allclose(a, b, rtol=near, atol=near)
        else:
            np.testing.assert_array_equal(a, b)
    return program


def count(program: Sequence[UOp]) -> int:
    return sum(u.op is Ops.WMMA for u in program)
