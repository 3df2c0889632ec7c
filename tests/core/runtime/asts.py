"""Kernel ASTs, as the scheduler makes them, by name."""

from __future__ import annotations

from collections.abc import Callable

from core.dtype import DType, dtypes
from core.shape import ShapeTracker
from core.uop.ops import Ops
from core.uop.uop import UOp

F = dtypes.float32


def pointer(number: int, size: int, dtype: DType = F) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


def load(number: int, size: int, st: ShapeTracker, dtype: DType = F) -> UOp:
    return UOp(Ops.LOAD, dtype, (pointer(number, size, dtype).view(st),))


def store(number: int, st: ShapeTracker, value: UOp) -> UOp:
    place = pointer(number, st.real_size, value.dtype).view(st)
    return UOp(Ops.STORE, dtypes.void, (place, value))


def reduce(value: UOp, op: Ops, *axes: int) -> UOp:
    return UOp(Ops.REDUCE_AXIS, value.dtype, (value,), (op, axes))


def shape(*sizes: int) -> ShapeTracker:
    return ShapeTracker.from_shape(sizes)


def add(n: int = 1000) -> UOp:
    st = shape(n)
    return UOp.sink(store(0, st, load(1, n, st) + load(2, n, st) * 2.0))


def matmul(m: int = 24, n: int = 40, k: int = 36, dtype: DType = F) -> UOp:
    a = load(1, m * k, shape(m, 1, k).expand((m, n, k)), dtype)
    b = load(2, k * n, shape(k, n).permute((1, 0)).reshape((1, n, k)).expand((m, n, k)), dtype)
    product = (a * b).cast(F)
    return UOp.sink(store(0, shape(m, n, 1), reduce(product, Ops.ADD, 2).maximum(0.0)))


def transpose() -> UOp:
    st = shape(17, 33).permute((1, 0))
    return UOp.sink(store(0, shape(33, 17), load(1, 17 * 33, st)))


def pad_and_shift() -> UOp:
    st = shape(5, 7).pad(((1, 2), (3, 0))).flip((True, False))
    return UOp.sink(store(0, shape(8, 10), load(1, 35, st) + 1.0))


def two_views() -> UOp:
    st = shape(6, 8).permute((1, 0)).reshape((48,)).pad(((3, 1),)).reshape((4, 13))
    return UOp.sink(store(0, shape(4, 13), load(1, 48, st)))


def row_max() -> UOp:
    return UOp.sink(store(0, shape(9, 1), reduce(load(1, 9 * 70, shape(9, 70)), Ops.MAX, 1)))


def full_sum() -> UOp:
    return UOp.sink(store(0, shape(1, 1), reduce(load(1, 40 * 50, shape(40, 50)), Ops.ADD, 0, 1)))


def arange() -> UOp:
    iota = UOp(Ops.IOTA, dtypes.int32, (), 12).view(shape(12).reshape((12, 1)).expand((12, 5)))
    return UOp.sink(store(0, shape(12, 5), iota * 3 + UOp.const(dtypes.int32, 7)))


def int_math() -> UOp:
    a, b = (load(i, 64, shape(64), dtypes.int32) for i in (1, 2))
    return UOp.sink(store(0, shape(64), (a // b + a % b) * (a < b).cast(dtypes.int32)))


def masks() -> UOp:
    a = load(1, 50, shape(50), dtypes.bool)
    x = load(2, 50, shape(50))
    return UOp.sink(store(0, shape(50), a.where(x, x.neg()).sqrt()))


def transcendental() -> UOp:
    x = load(1, 128, shape(128))
    return UOp.sink(store(0, shape(128), x.exp2() + (x * x + 1.0).log2() + x.sin() + x.recip()))


def two_outputs() -> UOp:
    x = load(2, 32, shape(32))
    return UOp.sink(store(0, shape(32), x + 1.0), store(1, shape(32), x * x))


def conv() -> UOp:
    """A 3x3 convolution of 2 to 4 channels on 8x8, by overlapping windows."""
    st = ShapeTracker.from_shape((1, 4, 6, 6, 2, 3, 3), (0, 0, 8, 1, 64, 8, 1))
    x = load(1, 128, st)
    w = load(2, 72, ShapeTracker.from_shape((1, 4, 6, 6, 2, 3, 3), (0, 18, 0, 0, 9, 3, 1)))
    return UOp.sink(store(0, shape(1, 4, 6, 6, 1, 1, 1), reduce(x * w, Ops.ADD, 4, 5, 6)))


def half_matmul() -> UOp:
    return matmul(16, 16, 32, dtypes.float16)


def bfloat16_matmul() -> UOp:
    return matmul(16, 16, 32, dtypes.bfloat16)


KERNELS: dict[str, Callable[[], UOp]] = {
    f.__name__: f
    for f in (add, matmul, transpose, pad_and_shift, two_views, row_max, full_sum, arange,
              int_math, masks, transcendental, two_outputs, conv, half_matmul, bfloat16_matmul)
}  # fmt: skip
