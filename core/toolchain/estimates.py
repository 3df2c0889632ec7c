"""How much a kernel does: arithmetic on floats, and bytes that it must touch.

Upper bounds from the program alone. Never measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import dtypes
from core.uop import GroupOp, Ops, UOp
from core.uop.pointer import pointer_of

_counted: Final = GroupOp.ALU - {Ops.WHERE, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}


def flops_of(uops: Sequence[UOp]) -> int:
    """Operations on floats in one launch of a linear program: one per lane, two for MULACC;
    loops count at the upper bound of their length, both sides of an IF count."""
    total, times = 0, 1
    waiting: list[int] = []
    for u in uops:
        if u.op is Ops.SPECIAL:
            times *= int(u.src[0].vmax)
        elif u.op is Ops.RANGE:
            waiting.append(times)
            times *= max(0, int(u.src[0].vmax))
        elif u.op is Ops.END and waiting:
            times = waiting.pop()
        elif u.op in _counted and dtypes.is_float(u.dtype):
            total += times * u.dtype.count * (2 if u.op is Ops.MULACC else 1)
        elif u.op is Ops.WMMA:
            m, n, k = u.arg[1] if isinstance(u.arg, tuple) else u.arg.dims
            total += times * 2 * m * n * k
    return total


def bytes_of(ast: UOp) -> int:
    """Bytes that a kernel AST reads and writes when nothing is read twice."""
    read: dict[UOp, int] = {}
    written = 0
    for u in ast.toposort():
        if u.op is Ops.LOAD:
            pointer = pointer_of(u.src[0])
            touched = min(u.src[0].arg.real_size, u.src[0].arg.size) * u.dtype.itemsize
            read[pointer] = max(read.get(pointer, 0), touched)
        elif u.op is Ops.STORE:
            written += u.src[0].arg.size * u.src[1].dtype.itemsize
    return written + sum(read.values())
