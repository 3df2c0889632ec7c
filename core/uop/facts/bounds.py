"""The smallest and the largest value that a node can have, from those of its sources.

Sound for every integer dtype with wraparound: where exact arithmetic could leave the dtype, the
bounds are the whole dtype. For floats they bound what is not NaN; a comparison of floats is decided
only where NaN could not change it. Works on any object with the fields of a UOp whose sources know
their bounds (`UOp.bounds` sees to it); never creates a node.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Final

from core.dtype import ConstType, DType, PtrDType, dtypes, int_limits
from core.uop.facts.meaning import cast_value, divide
from core.uop.node import Node
from core.uop.ops import GroupOp, Ops

Bounds = tuple[ConstType, ConstType]
IntBounds = tuple[int, int]

_same_as_source: Final = frozenset(
    {
        *(GroupOp.Movement - {Ops.PAD}),
        Ops.CONTIGUOUS,
        Ops.CONTIGUOUS_BACKWARD,
        Ops.FUSE,
        Ops.LENGTH,
        Ops.DETACH,
        Ops.DERIVATIVE,
        Ops.COPY,
        Ops.AFTER,
        Ops.NOOP,
        Ops.GEP,
        Ops.SHUFFLE,
        Ops.UNROLL,
        Ops.CONTRACT,
    }
)


_arithmetic: Final = GroupOp.ALU - GroupOp.Comparison - {Ops.WHERE}


def bounds(u: Node) -> Bounds:
    """(smallest, largest) value that an element of `u` can have."""
    dtype, op, src = u.dtype, u.op, u.src
    if op in _arithmetic and len(u.src) == 2 and dtype.__class__ is DType:
        limits = int_limits.get(dtype.name)
        if limits is not None:
            found = _integer(op, dtype, src[0].bounds, src[1].bounds)
            if found is not None and limits[0] <= found[0] and found[1] <= limits[1]:
                return found
            return limits
    if op is Ops.CONST:
        return (u.arg, u.arg) if u.arg == u.arg else _all(dtype)
    if op is Ops.VCONST:
        numbers = all(a == a for a in u.arg)
        return (min(u.arg), max(u.arg)) if numbers else _all(dtype)
    if isinstance(dtype, PtrDType) or dtype is dtypes.void:
        return _all(dtype)
    if op is Ops.DEFINE_VAR:
        return (u.arg[1], u.arg[2])
    if op is Ops.BIND:
        return src[0].bounds
    if op in (Ops.RANGE, Ops.SPECIAL):
        return (0, max(0, int(src[0].vmax) - 1))
    if op is Ops.IOTA:
        return (0, max(0, u.arg - 1))
    if op in _same_as_source and not isinstance(src[0].dtype, PtrDType):
        return src[0].bounds
    if op is Ops.VECTORIZE:
        return _union(*(s.bounds for s in src))
    if op is Ops.PAD or (op is Ops.VIEW and not isinstance(src[0].dtype, PtrDType)):
        return _union(src[0].bounds, (_zero(dtype), _zero(dtype)))
    if op is Ops.WHERE:
        low, high = src[0].bounds
        if low or not high:
            return src[1 if low else 2].bounds
        return _union(_chosen(src[1], src[0], True), _chosen(src[2], src[0], False))
    if op is Ops.CAST:
        return _cast(src[0], dtype)
    if op is Ops.REDUCE:
        return _reduce(u)
    if op in GroupOp.Comparison:
        return _comparison(op, src[0], src[1])
    if op in GroupOp.ALU:
        if dtypes.is_bool(dtype):
            return _bool(op, *(s.bounds for s in src))
        if dtypes.is_int(dtype):
            return _fit(_integer(op, dtype, *(s.bounds for s in src)), dtype)
        return _float(op, dtype, *(s.bounds for s in src))
    return _all(dtype)


def never_nan(u: Node) -> bool:
    """Whether no element of a float node can be NaN, as far as one can tell from the node alone."""
    if u.op is Ops.CONST:
        return u.arg == u.arg
    return u.op is Ops.CAST and not dtypes.is_float(u.src[0].dtype) and u.dtype.name != "fp8e4m3"


def _all(dtype: DType) -> Bounds:
    return dtypes.min(dtype), dtypes.max(dtype)


def _zero(dtype: DType) -> ConstType:
    return False if dtypes.is_bool(dtype) else 0 if dtypes.is_int(dtype) else 0.0


def _union(*parts: Bounds) -> Bounds:
    return min(p[0] for p in parts), max(p[1] for p in parts)


def _fit(found: IntBounds | None, dtype: DType) -> Bounds:
    if found is None or found[0] < dtypes.min(dtype) or found[1] > dtypes.max(dtype):
        return _all(dtype)
    return found


def _chosen(x: Node, test: Node, holds: bool) -> Bounds:
    """The bounds of `x` where `test` holds, or where it does not: of integers that it compares."""
    low, high = x.bounds
    if test.op is Ops.CMPNE and test.src[1].op is Ops.CONST and test.src[1].arg is True:
        test, holds = test.src[0], not holds
    if test.op is not Ops.CMPLT or not dtypes.is_int(x.dtype):
        return low, high
    a, b = test.src
    if x is a:  # a < b, or a >= b
        low, high = (low, min(high, b.vmax - 1)) if holds else (max(low, b.vmin), high)
    elif x is b:
        low, high = (max(low, a.vmin + 1), high) if holds else (low, min(high, a.vmax))
    return (low, high) if low <= high else x.bounds


def _cast(x: Node, dtype: DType) -> Bounds:
    low, high = x.bounds
    if dtypes.is_bool(dtype):  # NaN is not 0, so it is True
        maybe_nan = dtypes.is_float(x.dtype) and not never_nan(x)
        return (low > 0 or high < 0, low != 0 or high != 0 or maybe_nan)
    if dtypes.is_float(x.dtype):
        if not dtypes.is_float(dtype):
            return _all(dtype)
        ends = cast_value(low, dtype.scalar()), cast_value(high, dtype.scalar())
        return ends if ends[0] == ends[0] and ends[1] == ends[1] else _all(dtype)
    if dtypes.is_float(dtype):
        ends = cast_value(int(low), dtype.scalar()), cast_value(int(high), dtype.scalar())
        return ends if ends[0] == ends[0] and ends[1] == ends[1] else _all(dtype)
    return _fit((int(low), int(high)), dtype)


def _reduce(u: Node) -> Bounds:
    x, ranges = u.src[0], u.src[1:]
    if any(r.op is not Ops.RANGE or r.src[0].vmin != r.src[0].vmax for r in ranges):
        return _all(u.dtype)
    count = math.prod(int(r.src[0].vmax) for r in ranges) * x.dtype.count // u.dtype.count
    if count > 0 and u.arg is Ops.MAX:
        return x.bounds
    if count > 0 and u.arg is Ops.ADD and dtypes.is_int(u.dtype):
        return _fit((int(x.vmin) * count, int(x.vmax) * count), u.dtype)
    return _all(u.dtype)


def _comparison(op: Ops, x: Node, y: Node) -> Bounds:
    (a, b), (c, d) = x.bounds, y.bounds
    safe = not dtypes.is_float(x.dtype) or (never_nan(x) and never_nan(y))
    if op is Ops.CMPLT:
        return safe and b < c, a < d
    apart = b < c or d < a
    same = a == b == c == d and safe
    return (apart, not same) if op is Ops.CMPNE else (same, not apart)


def _bool(op: Ops, x: Bounds, y: Bounds) -> Bounds:
    if op in (Ops.AND, Ops.MUL):
        return bool(x[0] and y[0]), bool(x[1] and y[1])
    if op in (Ops.OR, Ops.ADD, Ops.MAX):
        return bool(x[0] or y[0]), bool(x[1] or y[1])
    if op is Ops.XOR and x[0] == x[1] and y[0] == y[1]:
        return x[0] != y[0], x[0] != y[0]
    return False, True


def _integer(op: Ops, dtype: DType, *parts: Bounds) -> IntBounds | None:
    """In exact arithmetic; None where nothing is known."""
    (a, b), rest = (int(parts[0][0]), int(parts[0][1])), parts[1:]
    if op is Ops.NEG:
        return -b, -a
    if not rest:
        return None
    c, d = int(rest[0][0]), int(rest[0][1])
    if op is Ops.ADD:
        return a + c, b + d
    if op is Ops.SUB:
        return a - d, b - c
    if op is Ops.MAX:
        return max(a, c), max(b, d)
    found = _by_op.get(op)
    if found is None or len(rest) > 1:
        return None
    if op in (Ops.SHL, Ops.SHR) and not (c >= 0 and d < dtype.bits):
        return None
    return found((a, b), (c, d))


def _corners(f: Callable[[int, int], int], xs: IntBounds, ys: tuple[int, ...]) -> IntBounds:
    values = [f(x, y) for x, y in itertools.product(xs, ys)]
    return min(values), max(values)


def _multiply(x: IntBounds, y: IntBounds) -> IntBounds:
    return _corners(int.__mul__, x, y)


def _divide(x: IntBounds, y: IntBounds) -> IntBounds:
    """On either side of zero, the quotient is monotonic in both operands."""
    ends = tuple(v for v in (*y, -1, 0, 1) if y[0] <= v <= y[1])
    return _corners(divide, x, ends)


def _remainder(x: IntBounds, y: IntBounds) -> IntBounds:
    """Has the sign of x; is smaller than y and no larger than x; is x where y is 0."""
    (a, b), (c, d) = x, y
    if c > 0 or d < 0:
        near, far = min(abs(c), abs(d)), max(abs(c), abs(d))
        if -near < a and b < near:
            return x
        if a >= 0 and (q := a // far) == b // near:  # the same quotient for all
            return a - q * far, b - q * near
        if b <= 0 and (q := -b // far) == -a // near:
            return a + q * near, b + q * far
    largest = max(abs(a), abs(b)) if c <= 0 <= d else max(abs(c), abs(d)) - 1
    return (0 if a >= 0 else max(a, -largest)), (0 if b <= 0 else min(b, largest))


def _and(x: IntBounds, y: IntBounds) -> IntBounds:
    if x[0] >= 0 and y[0] >= 0:
        return 0, min(x[1], y[1])
    if x[0] >= 0 or y[0] >= 0:
        return 0, x[1] if x[0] >= 0 else y[1]
    return _bit_span(x, y)[0], max(x[1], y[1])


def _or(x: IntBounds, y: IntBounds) -> IntBounds:
    low, high = _bit_span(x, y)
    return (max(x[0], y[0]), high) if x[0] >= 0 and y[0] >= 0 else (low, high)


def _xor(x: IntBounds, y: IntBounds) -> IntBounds:
    low, high = _bit_span(x, y)
    return (0, high) if x[0] >= 0 and y[0] >= 0 else (low, high)


def _bit_span(x: IntBounds, y: IntBounds) -> IntBounds:
    """What any bitwise operation stays in: as many bits as the wider operand, and the sign."""
    bits = max(v.bit_length() if v >= 0 else (~v).bit_length() for v in (*x, *y))
    return -(1 << bits), (1 << bits) - 1


def _shift_left(x: IntBounds, y: IntBounds) -> IntBounds:
    return _corners(int.__lshift__, x, y)


def _shift_right(x: IntBounds, y: IntBounds) -> IntBounds:
    return _corners(int.__rshift__, x, y)


_by_op: Final[dict[Ops, Callable[[IntBounds, IntBounds], IntBounds]]] = {
    Ops.MUL: _multiply,
    Ops.IDIV: _divide,
    Ops.MOD: _remainder,
    Ops.AND: _and,
    Ops.OR: _or,
    Ops.XOR: _xor,
    Ops.SHL: _shift_left,
    Ops.SHR: _shift_right,
}


def _float(op: Ops, dtype: DType, *parts: Bounds) -> Bounds:
    low, high = parts[0]
    if op is Ops.NEG:
        return -high, -low
    if op is Ops.MAX:
        return max(low, parts[1][0]), max(high, parts[1][1])
    if op in (Ops.SIN, Ops.COS):
        return -1.0, 1.0
    if op in (Ops.EXP2, Ops.SQRT):
        return 0.0, math.inf
    return _all(dtype)
