"""How far two results in floats may be apart and count as equal: every tolerance of a check.

What a dtype is, `dtypes.finfo` says. Errors of n roundings that are multiplied come to at most
gamma_n = n u / (1 - n u), for the unit roundoff u (N. Higham, "Accuracy and Stability of Numerical
Algorithms", lemma 3.1); n follows from what is computed.

- Of one expression (`floats.py`): the errors of each operation on the way are added up, a
  first-order forward error analysis (the same book, chapter 3). Rules that declare to approximate
  may lose `ACCURATE` units in the last place.
- Of a kernel of sums, products, choices and quotients and the reference: gamma times the sum of the
  magnitudes of its terms, for each element (`magnitudes.py`).
- Of two states of a kernel (`rounding_of`): gamma of the longest sum (section 4.2) and of the
  operations on the way, times the largest value.
- Of a compiled kernel that computes other functions, and the reference (`of_result`): what
  processors and fast instructions may make of them, as a part of the largest value; measured.

Evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Final

from core.dtype import DType, PtrDType, dtypes
from core.uop import GroupOp, Ops, UOp

RESULT: Final = {
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 2e-2,
    "bfloat16": 5e-2,
    "fp8e4m3": 0.2,
    "fp8e5m2": 0.2,
}
"""By dtype, the largest error of a result of a compiled kernel relative to the largest magnitude,
which sums in another order and fast instructions may take. Other dtypes must agree exactly."""
ACCURATE: Final = 64
"""Units of the last place that a rule may lose which declares that it approximates."""
PART: Final = 8
"""No tolerance of a state is more than the largest value divided by this: beyond that, an error
could not be told from rounding."""
_EXACT: Final = frozenset({Ops.NEG, Ops.MAX, Ops.WHERE, Ops.TRUNC, Ops.BITCAST})
"""Operations on floats that round nothing."""
_ROUGH: Final = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW})
_PRODUCTS: Final = frozenset({Ops.MUL, Ops.MULACC, Ops.FDIV})
_REDUCES: Final = frozenset({Ops.REDUCE, Ops.REDUCE_AXIS, Ops.DEFINE_REG})
_OPEN: Final = frozenset({Ops.MAX, Ops.WMMA, Ops.MULACC})


def units(dtype: DType) -> tuple[float, float]:
    """The unit roundoff of a float dtype (half a unit in the last place of 1.0), and its smallest
    number above zero."""
    info = dtypes.finfo(dtype.scalar())
    return info.eps / 2, info.smallest_normal * info.eps


def gamma(rounded: float) -> float:
    """What relative errors that add up to `rounded` may come to when they are multiplied; infinity
    where that has no bound (N. Higham, lemma 3.1)."""
    return rounded / (1 - rounded) if rounded < 1 else float("inf")


def of_result(names: Iterable[str], largest: float) -> float:
    """The largest error of a result of a compiled kernel, whose largest magnitude is `largest`; at
    least that of a result as large as 1. `names`: its dtype, and those that parts of it are rounded
    to on the way, or not."""
    return max(RESULT[name] for name in names) * max(1.0, largest)


def allowed(rounding: float, scale: float) -> float:
    """The tolerance of each value of a state, without the limit of a `PART`. `rounding`: that of
    `rounding_of`; `scale`: the largest magnitude, at least 1."""
    return rounding * scale


def longest_sum(state: UOp) -> int:
    """How many values the longest reduction of a state combines."""
    longest = 1
    for u in state.toposort():
        count = max(1, u.src[0].dtype.count // max(1, u.dtype.count)) if u.src else 1
        if u.op is Ops.REDUCE_AXIS:
            count = prod(u.src[0].shaped[axis] for axis in u.arg[1])
        elif u.op is Ops.REDUCE:
            count *= prod(int(r.vmax) + 1 for r in u.src[1:] if r.op is Ops.RANGE)
        elif u.op is Ops.END:
            count = prod(int(r.vmax) + 1 for r in u.src[1:] if r.op is Ops.RANGE)
        else:
            continue
        longest = max(longest, count)
    return longest


def rounding_of(state: UOp) -> float:
    """How much all roundings of a state may come to, as a part of its largest value: those of its
    longest reduction in the dtype that it adds in, and on the way to a value those of the other
    operations, of a product those of both factors. Functions that no target rounds correctly may
    lose `ACCURATE` units."""
    reduced, worst = 0.0, 0.0
    on_the_way: dict[UOp, float] = {}
    for u in state.toposort():
        before = [on_the_way[s] for s in u.src]
        rounded = max(before, default=0.0)
        if (dtype := _float_of(u)) is not None:
            unit = 2 * units(dtype)[0]
            if u.op in _REDUCES:
                reduced = max(reduced, unit)
            elif u.op in _ROUGH:
                rounded += ACCURATE * unit
            elif u.op in GroupOp.Elementwise and u.op not in _EXACT:
                rounded = sum(before) if u.op in _PRODUCTS else rounded
                rounded += unit
        on_the_way[u] = rounded
        worst = max(worst, rounded)
    return gamma(longest_sum(state) * reduced + worst)


def signs_open(state: UOp) -> bool:
    """Whether the sign of a zero that a state stores may depend on the order of what is combined:
    of MAX it is left open (core/uop/facts/meaning.py), a sum may begin with 0.0 or with its first
    value, and a product that is not rounded before it is added need not be a zero."""
    return any(
        _float_of(u) is not None and (u.op in _REDUCES or u.op in _OPEN) for u in state.toposort()
    )


def _float_of(u: UOp) -> DType | None:
    """The dtype of the floats that a node computes, or that registers hold."""
    if isinstance(u.dtype, PtrDType) and u.op is not Ops.DEFINE_REG:
        return None
    dtype = u.dtype.base.scalar() if u.op is Ops.DEFINE_REG else u.dtype.scalar()
    return dtype if dtypes.is_float(dtype) else None
