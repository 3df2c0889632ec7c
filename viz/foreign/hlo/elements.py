"""What HLO's operations on elements compute, in NumPy. Where HLO leaves a result to the
implementation, such as a quotient by 0, it is what XLA folds it to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from viz.foreign.hlo.errors import CannotError, NarrowError
from viz.foreign.hlo.text import Instruction, names
from viz.foreign.hlo.types import COMPLEX, FLOATS, STORED, ArrayType, Values, rounded


def divide(a: Values, b: Values) -> Values:
    """Of integers toward zero; by 0 all bits are 1."""
    if a.dtype.kind not in "iu":
        return np.divide(a, b)
    safe = np.where(b == 0, np.ones_like(b), b)
    if a.dtype.kind == "i":
        safe = np.where(b == -1, np.ones_like(b), safe)
    quotient = np.floor_divide(a, safe)
    if a.dtype.kind == "i":
        up = (a - quotient * safe != 0) & ((a < 0) != (safe < 0))
        quotient = np.where(b == -1, np.negative(a), quotient + up.astype(a.dtype))
    return np.where(b == 0, np.invert(np.zeros_like(a)), quotient)


def remainder(a: Values, b: Values) -> Values:
    """It has the sign of `a`; of integers by 0 it is `a`."""
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    is_plain = (b != 0) if a.dtype.kind == "u" else (b != 0) & (b != -1)
    left = np.fmod(a, np.where(is_plain, b, np.ones_like(b)))
    return np.where(is_plain, left, np.where(b == 0, a, np.zeros_like(a)))


def _power(a: Values, b: Values) -> Values:
    if b.dtype.kind == "i" and bool((b < 0).any()):
        raise CannotError("integers to a negative power are not executed")
    return np.power(a, b)


def _shift(how: Callable[[Values, Values], Values], fill: Callable[[Values], Values]) -> Any:
    def shift(a: Values, b: Values) -> Values:
        bits = a.dtype.itemsize * 8
        inside = (b >= 0) & (b < bits)
        return np.where(inside, how(a, np.where(inside, b, np.zeros_like(b))), fill(a))

    return shift


def _unsigned(values: Values) -> Values:
    return values.view(f"u{values.dtype.itemsize}") if values.dtype.kind == "i" else values


def _logical(a: Values, b: Values) -> Values:
    return np.right_shift(_unsigned(a), _unsigned(b)).view(a.dtype)


def _sign_bits(a: Values) -> Values:
    return np.where(a < 0, np.invert(np.zeros_like(a)), np.zeros_like(a))


def _away(x: Values) -> Values:
    whole = np.trunc(x)
    return whole + np.copysign((np.abs(x - whole) >= 0.5).astype(x.dtype), x)


def _popcnt(x: Values) -> Values:
    bits = _unsigned(np.array(x))
    places = range(x.dtype.itemsize * 8)
    count = sum((bits >> np.asarray(at, bits.dtype)) & 1 for at in places)
    return np.asarray(count).astype(x.dtype)


def _leading(x: Values) -> Values:
    bits = _unsigned(np.array(x))
    places = range(x.dtype.itemsize * 8)
    length = sum((bits >> np.asarray(at, bits.dtype)) != 0 for at in places)
    return np.asarray(len(places) - length).astype(x.dtype)


def _erf(x: Values) -> Values:
    flat = [math.erf(v) for v in x.astype(np.float64).reshape(-1).tolist()]
    return np.array(flat, np.float64).reshape(x.shape)


def _logistic(x: Values) -> Values:
    return 1 / (1 + np.exp(-x))


def _rsqrt(x: Values) -> Values:
    return 1 / np.sqrt(x)


def _clamp(low: Values, x: Values, high: Values) -> Values:
    return np.minimum(np.maximum(x, low), high)


SAME: Final[Mapping[str, Callable[..., Values]]] = {
    "abs": np.abs,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": divide,
    "remainder": remainder,
    "power": _power,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "negate": np.negative,
    "sign": np.sign,
    "exponential": np.exp,
    "exponential-minus-one": np.expm1,
    "log": np.log,
    "log-plus-one": np.log1p,
    "logistic": _logistic,
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "cbrt": np.cbrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round-nearest-afz": _away,
    "round-nearest-even": np.rint,
    "atan2": np.arctan2,
    "popcnt": _popcnt,
    "count-leading-zeros": _leading,
    "erf": _erf,
    "shift-left": _shift(np.left_shift, np.zeros_like),
    "shift-right-logical": _shift(_logical, np.zeros_like),
    "shift-right-arithmetic": _shift(np.right_shift, _sign_bits),
    "clamp": _clamp,
}
"""Ops whose operands and result have one dtype, but for the precision of floats."""
OTHERS: Final = names(
    "compare select convert bitcast-convert is-finite real imag complex reduce-precision"
)
_COMPARES: Final = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def compute(one: Instruction, given: list[Values], types: list[ArrayType], wide: bool) -> Values:
    """The result of an op on elements, not rounded yet. Raises CannotError and NarrowError."""
    opcode = one.opcode
    if opcode in SAME:
        narrow = [v.astype(np.float32) if v.dtype == np.float16 else v for v in given]
        return SAME[opcode](*narrow)
    if opcode == "compare":
        compare = _COMPARES.get(one.attributes.get("direction", ""))
        if compare is None:
            raise CannotError("compare without a direction that is known")
        if one.attributes.get("type") == "TOTALORDER":
            given = [_ordered(v) for v in given]
        return compare(*given)
    if opcode == "select":
        return np.where(*given)
    if opcode == "is-finite":
        return np.isfinite(given[0])
    if opcode == "real":
        return given[0].real
    if opcode == "imag":
        return given[0].imag
    if opcode == "complex":
        return given[0] + 1j * given[1]
    if opcode == "convert":
        to = one.type
        if isinstance(to, ArrayType) and to.dtype == "pred":
            return given[0] != 0
        return given[0]
    if opcode == "reduce-precision":
        if wide:
            return given[0]
        return _less_precise(one, given[0], types[0].dtype)
    return bits_as(given[0], types[0], one.type, wide)


def bits_as(values: Values, old: ArrayType, new: object, wide: bool) -> Values:
    """The same bits as another dtype of the same width. Raises CannotError and NarrowError."""
    if not isinstance(new, ArrayType) or old.dtype == new.dtype:
        return values
    if wide and any(one.dtype in (*FLOATS, *COMPLEX) for one in (old, new)):
        raise NarrowError
    if old.dtype not in STORED or new.dtype not in STORED or "pred" in (old.dtype, new.dtype):
        raise CannotError(f"bits of {old.dtype} as {new.dtype} are not executed")
    if _width(old.dtype) != _width(new.dtype):
        raise CannotError(f"bits of {old.dtype} as {new.dtype} are not executed")
    laid = np.ascontiguousarray(values)
    if old.dtype == "bf16":
        bits = (laid.view(np.uint32) >> 16).astype(np.uint16)
        return bits.view(STORED[new.dtype]).reshape(values.shape)
    if new.dtype == "bf16":
        bits = laid.view(np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(values.shape)
    return laid.view(STORED[new.dtype]).reshape(values.shape)


def _width(dtype: str) -> int:
    return 2 if dtype == "bf16" else STORED[dtype].itemsize


def _ordered(values: Values) -> Values:
    """Integers in the total order of floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    if values.dtype.kind != "f":
        return values
    bits = np.ascontiguousarray(values).view(f"i{values.dtype.itemsize}").reshape(values.shape)
    return np.where(bits < 0, np.iinfo(bits.dtype).max ^ bits, bits)


def _less_precise(one: Instruction, values: Values, dtype: str) -> Values:
    narrow = {(8, 7): "bf16", (5, 10): "f16", (8, 23): "f32", (11, 52): "f64"}
    to = narrow.get((one.int("exponent_bits"), one.int("mantissa_bits")))
    if to is None:
        raise CannotError("reduce-precision to a float that has no name is not executed")
    with np.errstate(all="ignore"):
        return rounded(rounded(values, to, False), dtype, False)
