"""Random kernels: the CPU's machine code agrees with the reference, optimised and not; and the
GPU's linear program does, too. Hypothesis prints the kernel and the seed of a failure."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.isolation.safety import check_kernel
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.numeric import from_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.shape import ShapeTracker
from core.target import targets
from core.toolchain.processor import host_target
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp
from tests.core.runtime.asts import load, reduce, store
from tests.core.runtime.test_agreement import memory_of

LEAVES = [dtypes.float32, dtypes.int32, dtypes.uint8, dtypes.int64, dtypes.float16, dtypes.bool]
"""Float arithmetic below stays exact: small multiples of 1/8, added and multiplied a few times."""


def random_view(draw: st.DrawFn, shape: tuple[int, ...]) -> ShapeTracker:
    """Some movement of memory that ends at `shape`."""
    order = draw(st.permutations(range(len(shape))))
    pads = [draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 2)])) for _ in shape]
    pads = [p if sum(p) < n else (0, 0) for p, n in zip(pads, shape, strict=True)]
    inner = [n - b - e for n, (b, e) in zip(shape, pads, strict=True)]
    expands = [draw(st.booleans()) and draw(st.booleans()) for _ in shape]
    base = [1 if x else n for n, x in zip(inner, expands, strict=True)]
    tracker = ShapeTracker.from_shape([base[i] for i in order])
    tracker = tracker.permute(sorted(range(len(order)), key=lambda i: order[i]))
    tracker = tracker.expand(inner).flip([draw(st.booleans()) for _ in shape])
    return tracker.pad(pads)


def random_value(
    draw: st.DrawFn, shape: tuple[int, ...], dtype: DType, depth: int, pointers: list[int]
) -> UOp:
    kind = draw(st.integers(0, 7)) if depth else draw(st.integers(0, 1))
    if kind == 0 and pointers:
        return UOp.const(dtype, draw(st.integers(0, 3)))
    if kind <= 1:
        pointers.append(1)
        view = random_view(draw, shape)
        return load(len(pointers), max(1, view.real_size), view, dtype)
    if kind == 2:
        other = draw(st.sampled_from(LEAVES))
        if other in (dtypes.float32, dtypes.float16) and dtypes.is_unsigned(dtype):
            other = dtypes.int32  # a negative float to an unsigned integer is left open by C
        return random_value(draw, shape, other, depth - 1, pointers).cast(dtype)
    a = random_value(draw, shape, dtype, depth - 1, pointers)
    if kind == 3:
        test = a.cast(dtypes.bool) if dtype is not dtypes.bool else a
        return test.where(a, random_value(draw, shape, dtype, depth - 1, pointers))
    b = random_value(draw, shape, dtype, depth - 1, pointers)
    if kind == 4:
        return a.maximum(b)
    if kind == 5 and dtype is not dtypes.bool:
        return (a < b).where(a, b)
    if kind == 6 and dtypes.is_int(dtype):
        return draw(st.sampled_from([a // b, a % b, a & b, a ^ b]))
    return draw(st.sampled_from([a + b, a * b]))


@st.composite
def kernels(draw: st.DrawFn) -> UOp:
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 7, 8, 16]), min_size=1, max_size=3)))
    pointers: list[int] = []
    dtype = draw(st.sampled_from(LEAVES))
    value = random_value(draw, shape, dtype, draw(st.integers(0, 3)), pointers)
    if dtype is dtypes.float16:
        value = value.cast(dtypes.float32)
    op = draw(st.sampled_from([None, None, Ops.ADD, Ops.MAX]))
    if op is not None and value.shape:
        value = reduce(value, op, draw(st.integers(0, len(shape) - 1)))
    out = value.shape or shape
    return UOp.sink(store(0, ShapeTracker.from_shape(out), value))


def agree(ast: UOp, found: list[Any], right: list[Any]) -> None:
    (output,) = ast.src
    dtype = output.src[1].dtype
    a, b = (from_memory(m[pointer_of(output.src[0]).arg], dtype) for m in (found, right))
    if dtypes.is_float(dtype):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(kernels())
def test_cpu_agrees_with_reference(ast: UOp) -> None:
    check_kernel(ast)
    memory = memory_of(ast)
    right = [a.copy() for a in memory]
    evaluate_kernel(ast, right, {})
    for opts in (None, ()):
        program = compile_kernel(ast, host_target(), opts)
        sizes = {a.number: a for a in program.arguments}
        buffers = [
            Buffer("CPU", a.size, sizes[i].dtype if i in sizes else dtypes.uint8)
            if i in sizes else Buffer("CPU", a.nbytes, dtypes.uint8)
            for i, a in enumerate(memory)
        ]  # fmt: skip
        for buffer, a in zip(buffers, memory, strict=True):
            buffer.copyin(a.view(np.uint8).data)
        Device["CPU"].load(program)(buffers, {}, wait=True)
        agree(ast, [b.as_array() for b in buffers], right)


@settings(max_examples=30, deadline=None)
@given(kernels(), st.sampled_from(["sm_80", "gfx1100"]))
def test_gpu_programs_agree_with_reference(ast: UOp, target: str) -> None:
    right = memory_of(ast)
    evaluate_kernel(ast, right, {})
    program = compile_kernel(ast, targets[target])
    for uops in dict.fromkeys((program.uops, program.lowered)):
        found = memory_of(ast)
        evaluate_kernel(uops, found)
        agree(ast, found, right)
