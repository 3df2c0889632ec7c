"""Values that a pair of terms is likely to differ for, of those that random ones hardly meet: ties
where a cast rounds, what lies beside them, subnormals and the ends of narrow floats, integers that
a float does not hold, and integers beside the constants of the terms.

Never evaluates a term.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import DType, dtypes
from core.prove.samples.rounding import units
from core.prove.terms.term import Kind, Term, postorder
from core.uop import Ops, UOp
from core.uop.facts.meaning_arrays import numpy_dtype, round_array

Array = npt.NDArray[Any]
MAX_CONSTANTS: Final = 24
"""Constants of a pair whose neighbours are tried."""
_LARGE: Final = 32
"""Bits of the integers that a float may not hold."""
_BESIDE: Final = (1.0, 1.0 + 2.0**-40, 1.0 - 2.0**-40, 1.0 + 2.0**-20, 1.0 - 2.0**-20)
"""Factors: exactly a tie; off it by less than float32 tells, which is lost where it is rounded
twice; and by as little as float32 does."""


def hints_of(pairs: Sequence[tuple[Term, Term]]) -> Mapping[DType, Array]:
    """For each dtype of what the pairs read, such values; of dtypes for which there are none,
    nothing."""
    terms = postorder(t for pair in pairs for t in pair)
    rounded = {t.dtype.scalar() for t in terms if _rounds(t)}
    constants = {int(t.data) for t in terms if t.op is Ops.CONST and dtypes.is_int(t.dtype)}
    read = {t.dtype.scalar() for t in terms if t.op in (Kind.INPUT, Kind.READ)}
    return _hints(rounded, constants, (), read)


def hints_of_kernel(ast: UOp) -> Mapping[DType, Array]:
    """The same for each dtype that a kernel reads, of what its AST converts and divides by."""
    nodes = ast.toposort()
    casts = [u for u in nodes if u.op is Ops.CAST and u.dtype.scalar() != u.src[0].dtype.scalar()]
    rounded = {u.dtype.scalar() for u in casts if dtypes.is_float(u.dtype)}
    rounded |= {u.src[0].dtype.scalar() for u in casts if dtypes.is_float(u.src[0].dtype)}
    numbers = [u for u in nodes if u.op is Ops.CONST and dtypes.is_int(u.dtype)]
    divided = [u.src[1].base for u in nodes if u.op in (Ops.IDIV, Ops.MOD)]
    divisors = {int(u.arg) for u in divided if u.op is Ops.CONST and u.arg}
    read = {u.dtype.base.scalar() for u in nodes if u.op is Ops.DEFINE_GLOBAL}
    return _hints(rounded, {int(u.arg) for u in numbers}, sorted(divisors), read)


def _hints(
    rounded: Iterable[DType], constants: Iterable[int], divisors: Iterable[int],
    read: Iterable[DType],
) -> Mapping[DType, Array]:  # fmt: skip
    """By dtype of what is read: ties of what is rounded to, and integers beside others."""
    found: dict[DType, Array] = {}
    rounded, constants, divisors = list(rounded), list(constants), list(divisors)
    for dtype in read:
        if dtypes.is_float(dtype):
            narrower = [n for n in rounded if units(n)[0] > units(dtype)[0]]
            with np.errstate(all="ignore"):  # beyond the largest number is infinity
                values = round_array(np.array([*_floats(narrower)], np.float64), dtype)
        elif dtypes.is_int(dtype):
            low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
            wanted = {*_integers(rounded, dtype), *_beside(constants)}
            wanted.update(n for c in divisors for n in _multiples(c, low, high))
            kept = sorted(n for n in wanted if low <= n <= high)
            values = np.array(kept, np.object_).astype(numpy_dtype(dtype))
        else:
            continue
        if len(values):
            found[dtype] = values
    return found


def _multiples(divisor: int, low: int, high: int) -> Iterator[int]:
    """Multiples of a divisor and what is before them, toward both ends of a dtype: a quotient that
    is a little off is first wrong there."""
    for top in {high, low, high // 2, high // 3, low // 2}:
        whole = abs(top) // abs(divisor) * abs(divisor) * (1 if top > 0 else -1)
        yield from (whole - 1, whole, whole + 1)


def _rounds(t: Term) -> bool:
    """Whether floats are rounded to the dtype of a term: it converts to it; or, as bits, is one
    that integers make of others."""
    if not dtypes.is_float(t.dtype):
        return False
    return (t.op is Ops.CAST and t.dtype.scalar() != t.args[0].dtype) or t.op is Ops.BITCAST


def _floats(narrower: Iterable[DType]) -> Iterator[float]:
    for dtype in sorted(narrower, key=str):
        info, (unit, tiny) = dtypes.finfo(dtype), units(dtype)
        last = 2.0 ** np.floor(np.log2(info.max)) * 2 * unit
        ties = [1 + unit, 1 + 3 * unit, tiny / 2, 3 * tiny / 2, info.max + last / 2]
        ties.append(info.smallest_normal - tiny / 2)
        plain = [tiny, 3 * tiny, info.smallest_normal, info.max, info.max - last, info.max + last]
        for sign in (1.0, -1.0):
            yield from (sign * tie * factor for tie in ties for factor in _BESIDE)
            yield from (sign * value for value in plain)


def _integers(rounded: Iterable[DType], dtype: DType) -> Iterator[int]:
    """Ties of floats among integers, from the first that a float does not hold to the largest."""
    if dtype.bits < _LARGE:
        return
    for narrow in sorted(rounded, key=str):
        digits = round(-np.log2(units(narrow)[0]))  # of the significand, the first one with it
        for top in (digits, digits + 1, dtype.bits - 3, dtype.bits - 2):
            if top < digits:
                continue
            for odd in (1, 3):
                tie = (1 << top) + odd * (1 << (top - digits))
                for near in (tie - 1, tie, tie + 1):
                    yield from (near, -near)


def _beside(constants: Iterable[int]) -> Iterator[int]:
    for n in sorted(constants, key=abs)[:MAX_CONSTANTS]:
        yield from (n - 1, n, n + 1)
