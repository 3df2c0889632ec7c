"""What each op computes on NumPy arrays: the meaning of `meaning.py`, element by element.

Never sees a graph. Arrays come in the dtype that `numpy_dtype` names.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import DType, dtypes
from core.errors import DTypeError
from core.uop.bits import from_bits, to_bits
from core.uop.facts.meaning import int_power, multiply_add, threefry
from core.uop.ops import Ops

Array = npt.NDArray[Any]


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """What an array of `dtype` is held in: its own dtype where NumPy has it, else float32."""
    name = dtype.scalar().name
    return np.dtype(
        np.float32 if name in ("bfloat16", *_fp8) else "bool" if name == "bool" else name
    )


_fp8 = tuple(d.name for d in dtypes.fp8s)


def round_array(values: Array, dtype: DType) -> Array:
    """An array rounded once to `dtype`, in the array dtype that holds it."""
    held = numpy_dtype(dtype)
    if dtype.scalar().fmt is not None or not dtypes.is_float(dtype):
        return values.astype(held)
    return _rounded_narrow(_as_float64(values), dtype.scalar()).astype(held)


def _rounded_narrow(values: Array, dtype: DType) -> Array:
    """Float64s rounded to a float dtype that NumPy does not have: `dtype.round_float` for arrays,
    by scaling the last place to 1."""
    info = dtypes.finfo(dtype)
    mantissa, least = 1 - math.frexp(info.eps)[1], math.frexp(info.smallest_normal)[1] - 1
    finite = np.isfinite(values)
    known = np.where(finite, values, 0.0)
    exponent = np.maximum(np.frexp(known)[1] - 1, least)
    with np.errstate(over="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(known, mantissa - exponent)), exponent - mantissa)
    infinity = np.nan if dtype.name == "fp8e4m3" else np.inf
    over = np.copysign(infinity, values)
    rounded = np.where(np.abs(rounded) > info.max, over, np.copysign(rounded, values))
    return np.where(finite, rounded, np.where(np.isnan(values), values, over))


def _as_float64(values: Array) -> Array:
    """Numbers as float64; integers that it cannot hold are rounded to odd, so that rounding them
    once more, to fewer bits, is as rounding them once (S. Boldo and G. Melquiond, "Emulation of FMA
    and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008)."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return values.astype(np.float64)
    bits, spare = values.astype(np.uint64), np.uint64(11)
    negative = values < 0
    size = np.where(negative, ~bits + np.uint64(1), bits)
    odd = (size >> spare | (size & np.uint64(0x7FF) != 0)) << spare
    found = np.where(size >> np.uint64(53) != 0, odd, size).astype(np.float64)
    return np.where(negative, -found, found)


def _array_divide(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        safe = np.where(b == 0, np.ones_like(b), b)
        quotient = a // safe
        if a.dtype.kind == "i":  # NumPy rounds down
            quotient = quotient + (((a < 0) != (safe < 0)) & (quotient * safe != a)).astype(a.dtype)
        return np.where(b == 0, np.zeros_like(a), quotient)


def _array_remainder(a: Array, b: Array) -> Array:
    return a - _array_divide(a, b) * b


def _array_shift_left(a: Array, n: Array) -> Array:
    fits = (n >= 0) & (n < a.dtype.itemsize * 8)
    return np.where(fits, np.left_shift(a, np.where(fits, n, 0).astype(a.dtype)), np.zeros_like(a))


def _array_shift_right(a: Array, n: Array) -> Array:
    fits = (n >= 0) & (n < a.dtype.itemsize * 8)
    kept = np.right_shift(a, np.where(fits, n, 0).astype(a.dtype))
    return np.where(fits, kept, np.where(a < 0, -1, 0).astype(a.dtype))


def _array_reciprocal(a: Array) -> Array:
    return np.divide(np.ones_like(a), a)


def _array_int_power(a: Array, n: Array) -> Array:
    flat = [int_power(int(x), int(y)) & (1 << 64) - 1 for x, y in np.broadcast(a, n)]
    shape = np.broadcast_shapes(a.shape, n.shape)
    return np.array(flat, np.uint64).reshape(shape).astype(a.dtype)


_arrays: Final[dict[Ops, Callable[..., Any]]] = {
    Ops.CMPLT: np.less,
    Ops.CMPNE: np.not_equal,
    Ops.CMPEQ: np.equal,
    Ops.WHERE: np.where,
    Ops.ADD: np.add,
    Ops.MUL: np.multiply,
    Ops.MAX: np.maximum,
}
_bool_arrays: Final[dict[Ops, Callable[..., Any]]] = {
    **_arrays,
    Ops.AND: np.logical_and,
    Ops.OR: np.logical_or,
    Ops.XOR: np.logical_xor,
}
_int_arrays: Final[dict[Ops, Callable[..., Any]]] = {
    **_arrays,
    Ops.NEG: np.negative,
    Ops.SUB: np.subtract,
    Ops.IDIV: _array_divide,
    Ops.MOD: _array_remainder,
    Ops.POW: _array_int_power,
    Ops.SHL: _array_shift_left,
    Ops.SHR: _array_shift_right,
    Ops.AND: np.bitwise_and,
    Ops.OR: np.bitwise_or,
    Ops.XOR: np.bitwise_xor,
    Ops.THREEFRY: threefry,
    Ops.MULACC: multiply_add,
    Ops.TRUNC: operator.pos,
}
_float_arrays: Final[dict[Ops, Callable[..., Any]]] = {
    **_arrays,
    Ops.NEG: np.negative,
    Ops.RECIPROCAL: _array_reciprocal,
    Ops.EXP2: np.exp2,
    Ops.LOG2: np.log2,
    Ops.SIN: np.sin,
    Ops.COS: np.cos,
    Ops.SQRT: np.sqrt,
    Ops.TRUNC: np.trunc,
    Ops.SUB: np.subtract,
    Ops.FDIV: np.divide,
    Ops.POW: np.power,
    Ops.MULACC: multiply_add,
}
_through_float64: Final = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW, Ops.MULACC})


def evaluate_arrays(op: Ops, dtype: DType, arrays: Sequence[Array], source: DType) -> Array:
    """`op` of whole arrays of dtype `source`, as an array of `dtype` (`numpy_dtype` says in which
    array dtype each is held). Raises DTypeError as `evaluate` does. (WHERE: `source` is the dtype
    of what is chosen from.)"""
    scalar, operand = dtype.scalar(), source.scalar()
    with np.errstate(all="ignore"):
        if op is Ops.CAST:
            return _cast_array(arrays[0], operand, scalar)
        if op is Ops.BITCAST:
            return _bitcast_array(arrays[0], operand, scalar)
        is_float = dtypes.is_float(operand)
        table = _float_arrays if is_float else _int_arrays
        table = _bool_arrays if dtypes.is_bool(operand) else table
        if op not in table:
            raise DTypeError(
                f"{op.name} has no meaning on {operand}", hint="see core/uop/facts/meaning.py"
            )
        if is_float and op is not Ops.WHERE and (op in _through_float64 or operand.fmt is None):
            arrays = [np.asarray(a, np.float64) for a in arrays]
        found = np.asarray(table[op](*arrays))
        return round_array(found, scalar)


def _cast_array(a: Array, source: DType, dtype: DType) -> Array:
    if dtypes.is_bool(dtype):
        return a != 0
    if dtypes.is_float(source) and not dtypes.is_float(dtype):
        return _saturated(np.asarray(a, np.float64), dtype)
    return round_array(a, dtype)


def _saturated(a: Array, dtype: DType) -> Array:
    held = numpy_dtype(dtype)
    low, high = dtypes.min(dtype), dtypes.max(dtype)
    limit = float(int(high) + 1)  # a power of two, so exact
    inside = (a > low) & (a < limit)
    found = np.where(inside, a, 0.0).astype(held)
    found = np.where(a <= low, np.asarray(low, held), found)
    return np.where(a >= limit, np.asarray(high, held), found)


def _bitcast_array(a: Array, source: DType, dtype: DType) -> Array:
    if source.fmt is not None and dtype.fmt is not None:
        # `ascontiguousarray` would give what has no axes one
        return np.asarray(a, order="C").view(numpy_dtype(dtype))
    values = [from_bits(to_bits(v, source), dtype) for v in a.ravel().tolist()]
    return np.array(values).astype(numpy_dtype(dtype)).reshape(a.shape)
