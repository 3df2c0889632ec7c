"""What is known of each reduce op: the reduce of nothing, and of equal values.

Never rewrites a graph.
"""

from __future__ import annotations

from core.dtype import ConstType, DType, dtypes, truncate
from core.errors import CompileError
from core.uop import Ops, UOp


def identity(op: Ops, dtype: DType) -> ConstType:
    """The value e with op(e, x) = x for every x of `dtype`. Raises CompileError for other ops."""
    scalar = dtype.scalar()
    if op is Ops.ADD:
        return truncate(0, scalar)
    if op is Ops.MUL:
        return truncate(1, scalar)
    if op is Ops.MAX:
        return dtypes.min(scalar)
    raise CompileError(f"{op.name} does not reduce", hint="reduces are of ADD, MUL or MAX")


def repeated(op: Ops, x: UOp, n: int) -> UOp | None:
    """The reduce of `n` values (n >= 1) that are all `x`: x * n, max(x, ...) = x, x ** n. None for
    a sum of floats too narrow to hold n. A float sum is rounded once instead of n times."""
    if op is Ops.MAX:
        return x
    if op is Ops.MUL:
        return _power(x, n)
    return None if not exactly(n, x.dtype) else x * x.const_like(n)


def exactly(n: int, dtype: DType) -> bool:
    """Whether a product with the count `n` is what n additions give, but for rounding: integers
    wrap around alike, and a float dtype has to hold n."""
    return not dtypes.is_float(dtype) or truncate(n, dtype.scalar()) == n


def _power(x: UOp, n: int) -> UOp:
    """x ** n in at most 2 log2(n) multiplications."""
    result: UOp | None = None
    while True:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        if not n:
            return x if result is None else result
        x = x * x
