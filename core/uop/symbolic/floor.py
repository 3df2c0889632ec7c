"""Division and remainder of indices that round down, from IDIV and MOD, which truncate toward zero.

Never divides by a variable: indices are divided by lengths, which are positive constants.
"""

from __future__ import annotations

from core.uop.uop import UOp


def floor_divide(x: UOp, n: int) -> UOp:
    """floor(x / n) for n > 0: `x // n` itself where x is never negative."""
    quotient = x // n
    return quotient if x.vmin >= 0 else (x % n < 0).where(quotient + -1, quotient)


def floor_remainder(x: UOp, n: int) -> UOp:
    """x - n * floor(x / n) for n > 0, which is in 0..n-1."""
    rest = x % n
    return rest if x.vmin >= 0 else (rest < 0).where(rest + n, rest)
