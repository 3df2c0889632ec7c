"""exp2 from arithmetic, to 1.1 ulp in float32 and float64.

x = n + f with n the nearest integer; 2 ** f is the Taylor series of exp(f * ln 2), long enough for
|f| <= 1/2; the scaling by 2 ** n is two exact steps, so that results below the normal numbers are
rounded once.
"""

from __future__ import annotations

import math

from core.dtype import dtypes
from core.passes.decompose.bits import nearest, polynomial, power_of_two, round_half_away
from core.uop import UOp

_terms = {dtypes.float32: 8, dtypes.float64: 14}
_overflow = {dtypes.float32: 128.0, dtypes.float64: 1024.0}
_underflow = {dtypes.float32: -150.0, dtypes.float64: -1075.0}


def exp2(x: UOp, reassociates: bool = False) -> UOp:
    """2 ** x, including infinities, NaN and results below the normal numbers. `reassociates`: the
    target may take a sum apart, so that nothing may be rounded by one."""
    dtype = x.dtype.scalar()
    large, small = x >= _overflow[dtype], x < _underflow[dtype]
    safe = (large | small).where(x.const_like(0.0), x)
    if reassociates:
        whole = round_half_away(safe)
        n = whole.cast(dtypes.int32)
    else:
        whole, n = nearest(safe)
    series = [math.log(2) ** k / math.factorial(k) for k in range(_terms[dtype])]
    value = polynomial(safe - whole, series)
    half = n >> 1
    scaled = value * power_of_two(half, dtype) * power_of_two(n - half, dtype)
    # not (x >= c) holds for NaN, so NaN has to be told apart from large first
    finite = small.where(x.const_like(0.0), scaled)
    return x.ne(x).where(x, large.where(x.const_like(math.inf), finite))
