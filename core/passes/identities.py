"""The identity of each reduce op: what a reduce of nothing is.

One table; nothing here touches a graph.
"""

from __future__ import annotations

from core.dtype import ConstType, DType, dtypes, truncate
from core.errors import CompileError
from core.uop import Ops


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
