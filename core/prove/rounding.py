"""How far two results in floats may be apart and count as equal: every tolerance of a check.

Three questions are asked. What a dtype is, `dtypes.finfo` says.

- Of one expression (`floats.py`): the errors of each operation on the way are added up, a
  first-order forward error analysis with the `units` of each dtype (N. Higham, "Accuracy and
  Stability of Numerical Algorithms", chapter 3). Rules that declare to approximate may lose
  `ACCURATE` units in the last place.
- Of two states of a kernel (`allowed`): a sum of n values in another order is off by at most n
  roundings of the largest value (the same book, section 4.2), and each other operation adds one.
- Of a compiled kernel and the reference (`of_result`): what processors and fast instructions may
  make of it, as a part of the largest value; measured, and never as little as the analysis allows.

Evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

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
NEAR: Final = 4
"""Units of the last place of a value that it may be off by, whatever its state computes."""
STEPS: Final = 64
"""Operations of a state, beside its reductions, whose roundings may add up."""
PART: Final = 8
"""No tolerance of a state is more than the largest value divided by this: beyond that, an error
could not be told from rounding."""
_EXACT: Final = frozenset({Ops.NEG, Ops.MAX, Ops.WHERE, Ops.TRUNC, Ops.BITCAST})
"""Operations on floats that round nothing."""
_REDUCES: Final = frozenset({Ops.REDUCE, Ops.REDUCE_AXIS, Ops.DEFINE_REG})
_OPEN: Final = frozenset({Ops.MAX, Ops.WMMA, Ops.MULACC})


def units(dtype: DType) -> tuple[float, float]:
    """The unit roundoff of a float dtype (half a unit in the last place of 1.0), and its smallest
    number above zero."""
    info = dtypes.finfo(dtype.scalar())
    return info.eps / 2, info.smallest_normal * info.eps


def of_result(names: Iterable[str], largest: float) -> float:
    """The largest error of a result of a compiled kernel, whose largest magnitude is `largest`; at
    least that of a result as large as 1. `names`: its dtype, and those that parts of it are rounded
    to on the way, or not."""
    return max(RESULT[name] for name in names) * max(1.0, largest)


def allowed(dtype: DType, size: npt.NDArray[np.float64], rounding: float, scale: float) -> Any:
    """The tolerance of each value of a state, without the limit of a `PART`. `size`: magnitudes;
    `rounding`: that of `rounding_of`; `scale`: the largest magnitude, at least 1."""
    return NEAR * 2 * units(dtype)[0] * size + rounding * scale


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
    """How much all roundings of a state may add up to, as a part of its largest value: those of its
    reductions in the dtype that they add in, and those of its other operations, at most `STEPS`, in
    the coarsest dtype of these."""
    reduced = single = 0.0
    steps, longest = 0, longest_sum(state)
    for u in state.toposort():
        dtype = _float_of(u)
        if dtype is None:
            continue
        if u.op in _REDUCES:
            reduced = max(reduced, 2 * units(dtype)[0])
        elif u.op in GroupOp.Elementwise and u.op not in _EXACT:
            steps, single = steps + 1, max(single, 2 * units(dtype)[0])
    return longest * reduced + min(steps, STEPS) * single


def signs_open(state: UOp) -> bool:
    """Whether the sign of a zero that a state stores may depend on the order of what is combined:
    of MAX it is left open (core/uop/meaning.py), a sum may begin with 0.0 or with its first value,
    and a product that is not rounded before it is added need not be a zero."""
    return any(
        _float_of(u) is not None and (u.op in _REDUCES or u.op in _OPEN) for u in state.toposort()
    )


def _float_of(u: UOp) -> DType | None:
    """The dtype of the floats that a node computes, or that registers hold."""
    if isinstance(u.dtype, PtrDType) and u.op is not Ops.DEFINE_REG:
        return None
    dtype = u.dtype.base.scalar() if u.op is Ops.DEFINE_REG else u.dtype.scalar()
    return dtype if dtypes.is_float(dtype) else None
