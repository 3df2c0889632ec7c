"""Integer division by constants, from multiplication and shifts.

x // c is (x * m) >> s for every x in 0..n, where m = ceil(2 ** s / c) and
(m * c - 2 ** s) * n < 2 ** s (T. Granlund, P. Montgomery, "Division by invariant integers using
multiplication", PLDI 1994).
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop import UOp

_INT32_MAX = (1 << 31) - 1


def multiplier(c: int, largest: int) -> tuple[int, int]:
    """The smallest (m, s) for divisor c and dividends 0..largest."""
    s = 0
    while True:
        m = -(-(1 << s) // c)
        if (m * c - (1 << s)) * largest < 1 << s:
            return m, s
        s += 1


def divide(x: UOp, c: int) -> UOp | None:
    """x // c for an int32 or int64 x that is never negative and c > 0; None where the product could
    leave 64 bits."""
    largest = int(x.vmax)
    m, s = multiplier(c, largest)
    if largest * m <= _INT32_MAX:
        return (x * m) >> s
    if largest * m < 1 << 63:
        return ((x.cast(dtypes.int64) * m) >> s).cast(x.dtype)
    return None
