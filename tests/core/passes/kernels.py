"""Hand-built kernel ASTs for the tests, each with the NumPy function that says what it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from core.dtype import DType, dtypes
from core.helpers import Context
from core.passes.pipeline import lower_kernel
from core.passes.program.verify import verify_program
from core.runtime.reference.kernel import evaluate_kernel
from core.shape import ShapeTracker
from core.target import Target, targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import KernelInfo, Opt

Array = np.ndarray[Any, Any]
CPU, GPU = targets["x86-64"], targets["sm_90"]
BITS: dict[DType, tuple[Any, Any]] = {
    dtypes.bfloat16: (ml_dtypes.bfloat16, np.uint16),
    dtypes.fp8e4m3: (ml_dtypes.float8_e4m3fn, np.uint8),
    dtypes.fp8e5m2: (ml_dtypes.float8_e5m2, np.uint8),
}
"""What computes with numbers that NumPy does not have, and how they lie in memory."""


@dataclass(frozen=True)
class Case:
    """An AST, its input arrays and the output that it must give."""

    name: str
    ast: UOp
    inputs: tuple[Array, ...]
    expected: tuple[Array, ...]


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of values."""
    held = BITS.get(dtype.scalar())
    return np.dtype("bool" if dtype.scalar() is dtypes.bool else held[0] if held else dtype.name)


def in_memory(values: Array) -> Array:
    """Values as a flat argument of a kernel, which shares memory with them."""
    flat = np.ascontiguousarray(values).reshape(-1)
    found = next((bits for held, bits in BITS.values() if flat.dtype == held), flat.dtype)
    return flat.view(found)


def pointer(number: int, size: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


def load(number: int, st: ShapeTracker, size: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.LOAD, dtype, (pointer(number, size, dtype).view(st),))


def plain(number: int, shape: Sequence[int], dtype: DType = dtypes.float32) -> UOp:
    st = ShapeTracker.from_shape(shape)
    return load(number, st, st.size, dtype)


def store(value: UOp, number: int = 0, st: ShapeTracker | None = None, size: int = 0) -> UOp:
    place = st or ShapeTracker.from_shape(value.shaped)
    return pointer(number, size or place.size, value.dtype).view(place).store(value)


def kernel(*values: UOp) -> UOp:
    return UOp.sink(*(store(v, i) for i, v in enumerate(values)), arg=KernelInfo())


def execute(case: Case, target: Target, opts: Sequence[Opt] | None = None) -> list[UOp]:
    """Lowers and runs the case, and compares; returns the program."""
    with Context(SPEC=1):
        program = lower_kernel(case.ast, target, opts)
    verify_program(program, target, case.name)
    outs = [np.empty(e.size, e.dtype) for e in case.expected]
    for out in outs:
        out.view(np.uint8)[:] = 0x5A
    evaluate_kernel(program, [in_memory(a) for a in (*outs, *case.inputs)])
    for out, want in zip(outs, case.expected, strict=True):
        close(out.reshape(want.shape), want)
    return program


def close(got: Array, want: Array) -> None:
    """Fails unless integers are equal and floats are within a few roundings."""
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    near = {2: 2e-3, 4: 2e-5, 8: 1e-12}[want.dtype.itemsize]
    wide = (a.astype(np.float64) for a in (got, want))
    np.testing.assert_allclose(*wide, rtol=near, atol=near)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def elementwise(shape: tuple[int, ...]) -> Case:
    a, b = (rng().standard_normal(shape, dtype=np.float32) + i for i in range(2))
    x, y = plain(1, shape), plain(2, shape)
    ast = kernel((x * y + 1.0).maximum(0.5) - x)
    return Case(f"elementwise{shape}", ast, (a, b), (np.maximum(a * b + 1, 0.5) - a,))


def broadcast(m: int, n: int) -> Case:
    a = rng().standard_normal((m, 1), dtype=np.float32)
    b = rng().standard_normal((1, n), dtype=np.float32)
    x = load(1, ShapeTracker.from_shape((m, 1)).expand((m, n)), m)
    y = load(2, ShapeTracker.from_shape((1, n)).expand((m, n)), n)
    return Case(f"broadcast{m}x{n}", kernel(x + y * x), (a, b), (a + b * a,))


def transpose(m: int, n: int) -> Case:
    a = rng().standard_normal((m, n), dtype=np.float32)
    x = load(1, ShapeTracker.from_shape((m, n)).permute((1, 0)), m * n)
    return Case(f"transpose{m}x{n}", kernel(x + 0.25), (a,), (a.T + np.float32(0.25),))


def padded(m: int, n: int) -> Case:
    a = rng().standard_normal((m, n), dtype=np.float32)
    x = load(1, ShapeTracker.from_shape((m, n)).pad(((1, 2), (0, 3))), m * n)
    want = np.pad(a, ((1, 2), (0, 3)))
    return Case(f"padded{m}x{n}", kernel(x * 2.0), (a,), (want * 2,))


def padded_value(n: int) -> Case:
    """A pad around a computed value: f(0) is not 0, so the mask stays outside of f."""
    a = rng().standard_normal(n, dtype=np.float32)
    value = plain(1, (n,)) + 1.0
    value = value.view(ShapeTracker.from_shape((n,)).pad(((2, 3),)))
    return Case(f"padded_value{n}", kernel(value), (a,), (np.pad(a + 1, (2, 3)),))


def flipped_reshaped(m: int, n: int) -> Case:
    a = rng().standard_normal((m, n), dtype=np.float32)
    st = ShapeTracker.from_shape((m, n)).permute((1, 0)).reshape((m * n,)).flip((True,))
    x = load(1, st.reshape((m, n)), m * n)
    want = a.T.reshape(-1)[::-1].reshape(m, n)
    return Case(f"flipped{m}x{n}", kernel(x * 3.0), (a,), (want * np.float32(3),))


def row_sum(m: int, n: int, op: Ops = Ops.ADD) -> Case:
    a = rng().standard_normal((m, n), dtype=np.float32)
    value = plain(1, (m, n)).r(op, (1,))
    want = {Ops.ADD: np.sum, Ops.MAX: np.max, Ops.MUL: np.prod}[op](a, axis=1, keepdims=True)
    return Case(f"row_{op.name}{m}x{n}", kernel(value), (a,), (want,))


def column_sum(m: int, n: int) -> Case:
    a = rng().standard_normal((m, n), dtype=np.float32)
    value = plain(1, (m, n)).r(Ops.ADD, (0,)) * 0.5
    return Case(f"column_sum{m}x{n}", kernel(value), (a,), (a.sum(0, keepdims=True) / 2,))


def total(n: int) -> Case:
    a = rng().standard_normal(n, dtype=np.float32)
    return Case(f"total{n}", kernel(plain(1, (n,)).r(Ops.ADD, (0,))), (a,), (a.sum(keepdims=True),))


def matmul(m: int, n: int, k: int, relu: bool = True) -> Case:
    a = rng().standard_normal((m, k), dtype=np.float32)
    b = rng().standard_normal((k, n), dtype=np.float32)
    x = load(1, ShapeTracker.from_shape((m, k)).reshape((m, 1, k)).expand((m, n, k)), m * k)
    st = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    value = (x * load(2, st, k * n)).r(Ops.ADD, (2,))
    want = (a @ b)[..., None]
    if relu:
        value, want = value.maximum(0.0), np.maximum(want, 0)
    return Case(f"matmul{m}x{n}x{k}", kernel(value), (a, b), (want,))


def conv(c: int, o: int, size: int, pad: int = 0) -> Case:
    """3x3 convolution of (c, size, size) with (o, c, 3, 3), as views of the padded image."""
    a = rng().standard_normal((c, size, size), dtype=np.float32)
    w = rng().standard_normal((o, c, 3, 3), dtype=np.float32)
    out, full = size + 2 * pad - 2, size + 2 * pad
    st = ShapeTracker.from_shape((c, size, size)).pad(((0, 0), (pad, pad), (pad, pad)))
    # windows: repeat each axis 3 times, one step longer, as movement ops say it
    st = st.reshape((1, c, 1, full, 1, full)).expand((1, c, 3, full, 3, full))
    st = st.reshape((c, 3 * full, 3 * full)).pad(((0, 0), (0, 3), (0, 3)))
    st = st.reshape((c, 3 * full + 3, 3 * full + 3)).shrink(
        ((0, c), (0, 3 * (full + 1)), (0, 3 * (full + 1)))
    )
    st = st.reshape((c, 3, full + 1, 3, full + 1)).shrink(
        ((0, c), (0, 3), (0, out), (0, 3), (0, out))
    )
    st = st.permute((2, 4, 0, 1, 3)).reshape((1, out, out, c, 3, 3)).expand((o, out, out, c, 3, 3))
    ws = ShapeTracker.from_shape((o, 1, 1, c, 3, 3)).expand((o, out, out, c, 3, 3))
    value = (load(1, st, a.size) * load(2, ws, w.size)).r(Ops.ADD, (3, 4, 5))
    image = np.pad(a, ((0, 0), (pad, pad), (pad, pad)))
    want = np.zeros((o, out, out), np.float32)
    for i in range(3):
        for j in range(3):
            part = image[:, i : i + out, j : j + out]
            want += np.einsum("oc,cyx->oyx", w[:, :, i, j], part)
    return Case(f"conv{c}_{o}_{size}_{pad}", kernel(value), (a, w), (want[..., None, None, None],))


def softmax_part(m: int, n: int) -> Case:
    """exp2(x - max) summed, the max from another buffer."""
    a = rng().standard_normal((m, n), dtype=np.float32)
    top = a.max(1, keepdims=True)
    x = plain(1, (m, n))
    t = load(2, ShapeTracker.from_shape((m, 1)).expand((m, n)), m)
    value = (x - t).exp2().r(Ops.ADD, (1,)).recip()
    want = 1 / np.exp2(a - top).sum(1, keepdims=True)
    return Case(f"softmax{m}x{n}", kernel(value), (a, top), (want,))


def softmax_kernel(m: int, n: int) -> Case:
    """A whole softmax as one kernel: two reduces that the elements need again."""
    a = rng().standard_normal((m, n), dtype=np.float32)
    back = ShapeTracker.from_shape((m, 1)).expand((m, n))
    x = plain(1, (m, n))
    shifted = (x - x.r(Ops.MAX, (1,)).view(back)).exp2()
    value = shifted / shifted.r(Ops.ADD, (1,)).view(back)
    want = np.exp2(a - a.max(1, keepdims=True))
    return Case(f"softmax_kernel{m}x{n}", kernel(value), (a,), (want / want.sum(1, keepdims=True),))


def argmax_like(m: int, n: int) -> Case:
    """max of (x == max) * (n - index), all in one kernel apart from the max."""
    a = rng().integers(0, 5, (m, n)).astype(np.float32)
    top = a.max(1, keepdims=True)
    x = plain(1, (m, n))
    t = load(2, ShapeTracker.from_shape((m, 1)).expand((m, n)), m)
    down = UOp(Ops.IOTA, dtypes.int32, (), n)
    index = down.view(ShapeTracker.from_shape((1, n)).expand((m, n)))
    value = x.eq(t).where(index * -1 + n, UOp.const(dtypes.int32, 0)).r(Ops.MAX, (1,)) * -1 + n
    return Case(f"argmax{m}x{n}", kernel(value), (a, top), (a.argmax(1).astype(np.int32)[:, None],))


def one_hot_gather(rows: int, width: int, picks: int, dtype: DType = dtypes.int32) -> Case:
    """table[index]: sum over rows of (row == index) ? table : 0; some indices are out of range."""
    table = rng().standard_normal((rows, width), dtype=np.float32)
    index = rng().integers(-2 if dtype is dtypes.int32 else 0, rows + 2, picks)
    index = index.astype(numpy_dtype(dtype))
    shape = (picks, width, rows)
    i = load(2, ShapeTracker.from_shape((picks, 1, 1)).expand(shape), picks, dtype)
    row = UOp(Ops.IOTA, dtypes.int32, (), rows)
    row = row.view(ShapeTracker.from_shape((1, 1, rows)).expand(shape)).cast(dtype)
    st = ShapeTracker.from_shape((rows, width)).permute((1, 0)).reshape((1, width, rows))
    value = row.eq(i).where(load(1, st.expand(shape), table.size), 0.0).r(Ops.ADD, (2,))
    known = (index >= 0) & (index < rows)
    want = np.where(known[:, None], table[np.clip(index, 0, rows - 1)], 0)[..., None]
    return Case(f"gather{rows}_{dtype}", kernel(value), (table, index), (want.astype(np.float32),))


def count_below(n: int) -> Case:
    """For each i the number of j < i + 1: what a sum over a triangle of ones is."""
    shape = (n, n)
    row = UOp(Ops.IOTA, dtypes.int32, (), n).view(ShapeTracker.from_shape((n, 1)).expand(shape))
    col = UOp(Ops.IOTA, dtypes.int32, (), n).view(ShapeTracker.from_shape((1, n)).expand(shape))
    one = UOp.const(dtypes.int32, 1)
    value = (col < row + 1).where(one, 0).r(Ops.ADD, (1,))
    return Case(f"count{n}", kernel(value), (), (np.arange(1, n + 1, dtype=np.int32)[:, None],))


def cumsum(n: int) -> Case:
    """Prefix sums by a masked triangle."""
    a = rng().integers(-9, 9, n).astype(np.int32)
    shape = (n, n)
    row = UOp(Ops.IOTA, dtypes.int32, (), n).view(ShapeTracker.from_shape((n, 1)).expand(shape))
    col = UOp(Ops.IOTA, dtypes.int32, (), n).view(ShapeTracker.from_shape((1, n)).expand(shape))
    x = load(1, ShapeTracker.from_shape((1, n)).expand(shape), n, dtypes.int32)
    value = (col < row + 1).where(x, 0).r(Ops.ADD, (1,))
    return Case(f"cumsum{n}", kernel(value), (a,), (np.cumsum(a, dtype=np.int32)[:, None],))


def bools(n: int) -> Case:
    a = rng().integers(0, 2, n).astype(np.bool_)
    b = rng().integers(0, 9, n).astype(np.int8)
    x, y = plain(2, (n,), dtypes.bool), plain(3, (n,), dtypes.int8)
    value = (x & (y < 5)).ne(True)
    other = x.where(y * 2, y - 3)
    return Case(
        f"bools{n}", kernel(value, other), (a, b), (~(a & (b < 5)), np.where(a, b * 2, b - 3))
    )


def halves(n: int) -> Case:
    a = rng().standard_normal(n).astype(np.float16)
    x = plain(2, (n,), dtypes.float16)
    value = (x * x).maximum(x + 1.0).cast(dtypes.float32) * 2.0
    want = np.maximum(a * a, a + np.float16(1)).astype(np.float32) * 2
    total_ = x.cast(dtypes.float32).r(Ops.ADD, (0,)).cast(dtypes.float16)
    return Case(
        f"halves{n}",
        UOp.sink(store(value), store(total_, 1), arg=KernelInfo()),
        (a,),
        (want, a.astype(np.float32).sum(keepdims=True).astype(np.float16)),
    )


CASES: tuple[Callable[[], Case], ...] = (
    lambda: elementwise((5, 7)),
    lambda: elementwise((64,)),
    lambda: elementwise((1,)),
    lambda: elementwise((3, 1, 16)),
    lambda: broadcast(6, 16),
    lambda: broadcast(1, 5),
    lambda: transpose(8, 16),
    lambda: transpose(5, 3),
    lambda: padded(4, 5),
    lambda: padded(6, 13),
    lambda: padded_value(11),
    lambda: flipped_reshaped(4, 6),
    lambda: row_sum(4, 32),
    lambda: row_sum(3, 7, Ops.MAX),
    lambda: row_sum(2, 9, Ops.MUL),
    lambda: column_sum(16, 32),
    lambda: total(1),
    lambda: total(256),
    lambda: total(300),
    lambda: matmul(8, 32, 8),
    lambda: matmul(3, 5, 7, relu=False),
    lambda: matmul(32, 128, 6),
    lambda: matmul(8, 1, 32),
    lambda: matmul(1, 16, 64),
    lambda: conv(2, 4, 6),
    lambda: conv(2, 4, 8, 1),
    lambda: softmax_part(4, 24),
    lambda: argmax_like(5, 12),
    lambda: one_hot_gather(10, 8, 6),
    lambda: one_hot_gather(10, 8, 6, dtypes.int64),
    lambda: one_hot_gather(10, 3, 6, dtypes.uint8),
    lambda: count_below(9),
    lambda: cumsum(12),
    lambda: bools(32),
    lambda: bools(5),
    lambda: halves(24),
    lambda: softmax_kernel(3, 20),
    lambda: softmax_kernel(1, 32),
    lambda: elementwise((2, 14)),
    lambda: matmul(4, 14, 6),
)
