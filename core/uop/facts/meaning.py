"""What each op computes: one table, on Python numbers.

`meaning_arrays.py` is the same for NumPy arrays; a property test holds the two together. Constant
folding, bounds, the reference runtime and the tests share them. Choices where C leaves the
result undefined or machines differ:

- Integers wrap around. IDIV and MOD truncate toward zero; x / 0 is 0 and x % 0 is x, so that
  x == x / y * y + x % y for every y; the smallest integer / -1 is itself.
- A shift by less than 0 or by at least the width of the dtype gives 0 (SHR of a negative: -1).
- On bool, ADD and MAX are OR, MUL is AND.
- MAX is NaN where an operand is; which zero MAX(0.0, -0.0) gives is left open.
- CAST of a float to an integer truncates toward zero and saturates: what is beyond the integers of
  the dtype becomes the nearest of them, NaN becomes 0. So do the conversions of GPUs, and it keeps
  order, which wrapping around does not. CAST of an integer to a narrower one wraps around.
- An op whose argument is `UNLESS_ZERO` or `UNLESS_NAN` promises that nothing uses its result where
  that does not hold, so that machines may leave there what they like. The tables below give it the
  value that it has without the argument; a proof must not rely on that.
- Every float result is rounded once to the dtype of the op (of SIN, COS, EXP2, LOG2, POW: of the
  value that float64 gives). MULACC has a single rounding, too, except for float64 arrays.

Never sees a graph: it maps (op, dtype, values) to values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from core.dtype import ConstType, DType, dtypes, round_float, truncate
from core.errors import DTypeError
from core.uop.bits import from_bits, to_bits
from core.uop.ops import GroupOp, Ops

UNLESS_ZERO: Final = "y != 0"
"""The argument of an IDIV or MOD that is undefined where its divisor is 0."""
UNLESS_NAN: Final = "x == x"
"""The argument of a CAST that is undefined where its operand is NaN."""


def divide(a: int, b: int) -> int:
    """a / b truncated toward zero; 0 for b = 0."""
    if b == 0:
        return 0
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def remainder(a: int, b: int) -> int:
    """What `divide` leaves, with the sign of a; a for b = 0."""
    return a - divide(a, b) * b


def _shift_left(a: int, n: int) -> int:
    return a << n if 0 <= n < 64 else 0


def _shift_right(a: int, n: int) -> int:
    return a >> (n if 0 <= n < 64 else 64)


def int_power(a: int, n: int) -> int:
    """a ** n, to 64 bits; of a negative power, what is left after truncation toward zero."""
    if n >= 0:
        return pow(a, n, 1 << 64) if a >= 0 else (-1) ** (n & 1) * pow(-a, n, 1 << 64)
    return a ** (n & 1) if a in (1, -1) else 0


def _float_divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a != 0:
            return math.nan  # a negative base and a fraction
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf


def _reciprocal(a: float) -> float:
    return _float_divide(1.0, a)


def _choose(test: bool, yes: Any, no: Any) -> Any:
    return yes if test else no


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, of integers or arrays."""
    return a * b + c


def _exp2(a: float) -> float:
    try:
        return 2.0**a
    except OverflowError:
        return math.inf


def _log2(a: float) -> float:
    return math.log2(a) if a > 0 else -math.inf if a == 0 else math.nan


def _sin(a: float) -> float:
    return math.sin(a) if math.isfinite(a) else math.nan


def _cos(a: float) -> float:
    return math.cos(a) if math.isfinite(a) else math.nan


def _sqrt(a: float) -> float:
    return math.sqrt(a) if a >= 0 or a == 0 else math.nan


def _float_trunc(a: float) -> float:
    return math.copysign(float(math.trunc(a)), a) if math.isfinite(a) else a


def _float_max(a: float, b: float) -> float:
    return math.nan if a != a or b != b else a if a > b else b


_ROUNDS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(counter: Any, key: Any) -> Any:
    """threefry2x32 with 20 rounds (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
    SC 2011) of a 64-bit counter and key, whose low halves are the first words. For Python integers
    and for NumPy arrays of uint64."""
    low = type(counter)(0xFFFFFFFF) if isinstance(counter, int) else np.uint64(0xFFFFFFFF)
    word = int if isinstance(counter, int) else np.uint64
    a, b = counter & low, counter >> word(32)
    k = [key & low, key >> word(32)]
    k.append(k[0] ^ k[1] ^ word(0x1BD11BDA))
    a, b = (a + k[0]) & low, (b + k[1]) & low
    for i in range(5):
        for r in _ROUNDS[i % 2]:
            a = (a + b) & low
            b = (((b << word(r)) | (b >> word(32 - r))) & low) ^ a
        a, b = (a + k[(i + 1) % 3]) & low, (b + k[(i + 2) % 3] + word(i + 1)) & low
    return b << word(32) | a


_shared: Final[dict[Ops, Callable[..., Any]]] = {
    Ops.CMPLT: operator.lt,
    Ops.CMPNE: operator.ne,
    Ops.CMPEQ: operator.eq,
    Ops.WHERE: _choose,
}

on_bools: Final[dict[Ops, Callable[..., Any]]] = {
    **_shared,
    Ops.ADD: operator.or_,
    Ops.MUL: operator.and_,
    Ops.MAX: operator.or_,
    Ops.AND: operator.and_,
    Ops.OR: operator.or_,
    Ops.XOR: operator.xor,
}
"""The ops that bool has, on Python bools."""

on_ints: Final[dict[Ops, Callable[..., Any]]] = {
    **_shared,
    Ops.NEG: operator.neg,
    Ops.ADD: operator.add,
    Ops.SUB: operator.sub,
    Ops.MUL: operator.mul,
    Ops.IDIV: divide,
    Ops.MOD: remainder,
    Ops.MAX: max,
    Ops.POW: int_power,
    Ops.SHL: _shift_left,
    Ops.SHR: _shift_right,
    Ops.AND: operator.and_,
    Ops.OR: operator.or_,
    Ops.XOR: operator.xor,
    Ops.THREEFRY: threefry,
    Ops.MULACC: multiply_add,
    Ops.TRUNC: operator.pos,
}
"""The ops that integers have, on Python integers, before wrapping around."""

on_floats: Final[dict[Ops, Callable[..., Any]]] = {
    **_shared,
    Ops.NEG: operator.neg,
    Ops.RECIPROCAL: _reciprocal,
    Ops.EXP2: _exp2,
    Ops.LOG2: _log2,
    Ops.SIN: _sin,
    Ops.COS: _cos,
    Ops.SQRT: _sqrt,
    Ops.TRUNC: _float_trunc,
    Ops.ADD: operator.add,
    Ops.SUB: operator.sub,
    Ops.MUL: operator.mul,
    Ops.FDIV: _float_divide,
    Ops.MAX: _float_max,
    Ops.POW: _float_power,
}
"""The ops that floats have, on Python floats, before rounding to the dtype."""


def evaluate(
    op: Ops, dtype: DType, values: Sequence[ConstType], source: DType | None = None
) -> Any:
    """`op` of one element's values, as an element of `dtype`, the dtype of the result.

    `source` is the dtype of the operands where it differs: of comparisons, CAST and BITCAST.
    Raises DTypeError for an op that the dtype does not have.
    """
    scalar = dtype.scalar()
    if op is Ops.CAST:
        return cast_value(values[0], scalar)
    if op is Ops.BITCAST:
        return from_bits(to_bits(values[0], (source or dtype).scalar()), scalar)
    operand = source.scalar() if source is not None else _operand_dtype(op, scalar, values)
    if op is Ops.MULACC and dtypes.is_float(operand):
        return _fused(*map(float, values), dtype=scalar)
    if dtypes.is_int(operand) and op in (Ops.SHL, Ops.SHR) and not 0 <= values[1] < operand.bits:
        return -1 if op is Ops.SHR and values[0] < 0 else 0
    table = (
        on_bools if dtypes.is_bool(operand) else on_ints if dtypes.is_int(operand) else on_floats
    )
    if op not in table:
        raise DTypeError(
            f"{op.name} has no meaning on {operand}", hint="see core/uop/facts/meaning.py"
        )
    found = table[op](*values)
    return found if op is Ops.WHERE else truncate(found, scalar)


def cast_value(value: ConstType, dtype: DType) -> ConstType:
    """`value` converted to a scalar dtype."""
    if dtypes.is_bool(dtype):
        return value != 0
    if isinstance(value, float):
        if dtypes.is_float(dtype):
            return round_float(value, dtype)
        return _saturated(value, dtype)
    if dtypes.is_float(dtype):
        return _int_to_float(int(value), dtype)
    return truncate(value, dtype)


def _saturated(value: float, dtype: DType) -> int:
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


def _int_to_float(value: int, dtype: DType) -> float:
    spare = abs(value).bit_length() - 53
    if spare <= 0 or dtype.name == "float64":
        return round_float(float(value), dtype)
    lost = abs(value) & ((1 << spare) - 1)  # rounding to odd, then to the narrower dtype, is exact
    odd = (abs(value) >> spare | (lost != 0)) << spare
    return round_float(math.copysign(float(odd), value), dtype)


def _fused(a: float, b: float, c: float, dtype: DType) -> float:
    """a * b + c with one rounding (IEEE 754 fusedMultiplyAdd)."""
    if not all(map(math.isfinite, (a, b, c))) or a * b == 0 or c == 0:
        return round_float(a * b + c, dtype)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if dtype.name == "float64":
        try:
            return float(exact) if exact else 0.0
        except OverflowError:
            return math.inf if exact > 0 else -math.inf
    near = float(exact) if abs(exact) < Fraction(2) ** 1000 else math.inf * (1 if exact > 0 else -1)
    if (
        math.isfinite(near) and Fraction(near) != exact
    ):  # rounding to odd before the second rounding
        down = near if abs(Fraction(near)) < abs(exact) else math.nextafter(near, 0.0)
        near = down if _is_odd(down) else math.nextafter(down, math.copysign(math.inf, down))
    return round_float(near, dtype)


def _is_odd(value: float) -> bool:
    return bool(to_bits(value, dtypes.float64) & 1)


def _operand_dtype(op: Ops, dtype: DType, values: Sequence[ConstType]) -> DType:
    if op not in GroupOp.Comparison:
        return dtype
    return (
        dtypes.float64
        if any(isinstance(v, float) for v in values)
        else (dtypes.bool if all(isinstance(v, bool) for v in values) else dtypes.int64)
    )
