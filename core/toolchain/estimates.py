"""How much a kernel does: arithmetic on floats, and bytes that it must touch.

Upper bounds from the program alone. Never measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import PtrDType, dtypes
from core.helpers import prod
from core.uop import GroupOp, Ops, UOp
from core.uop.kernels import length_of
from core.uop.pointer import pointer_of

_counted: Final = GroupOp.ALU - {Ops.WHERE, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}


def flops_of(uops: Sequence[UOp]) -> int:
    """Operations on floats in one launch of a linear program: one per lane, two for MULACC;
    two for each multiplication of a WMMA; loops count at the upper bound of their length, both
    sides of an IF count."""
    total, times = 0, 1
    waiting: list[int] = []
    for u in uops:
        if u.op is Ops.SPECIAL:
            times *= length_of(u)
        elif u.op is Ops.RANGE:
            waiting.append(times)
            times *= length_of(u)
        elif u.op is Ops.END and waiting:
            times = waiting.pop()
        elif u.op in _counted and dtypes.is_float(u.dtype):
            total += times * u.dtype.count * (2 if u.op is Ops.MULACC else 1)
        elif u.op is Ops.WMMA:
            m, n, k = u.arg.dims  # by all lanes of a warp together
            total += times * 2 * m * n * k * (u.dtype.count // u.arg.c.count) // u.arg.threads
    return total


def iterations_of(uops: Sequence[UOp]) -> int:
    """Iterations of the loops of a linear program in all, at the upper bounds of their lengths."""
    total, times = 0, 1
    waiting: list[int] = []
    for u in uops:
        if u.op is Ops.RANGE:
            waiting.append(times)
            times *= length_of(u)
            total += times
        elif u.op is Ops.END and waiting:
            times = waiting.pop()
    return total


def bytes_of(ast: UOp) -> int:
    """Bytes that a kernel reads and writes when nothing is read twice: of shaped values, what their
    views reach; of loops, an element for each iteration, up to the whole memory."""
    read: dict[UOp, int] = {}
    written = 0
    for u in ast.toposort():
        if u.op is Ops.LOAD:
            pointer = pointer_of(u.src[0])
            if pointer.op is Ops.DEFINE_GLOBAL:
                read[pointer] = max(read.get(pointer, 0), _touched(u.src[0]) * u.dtype.itemsize)
        elif u.op is Ops.STORE and pointer_of(u.src[0]).op is Ops.DEFINE_GLOBAL:
            place = u.src[0]
            count = place.arg.size if place.op is Ops.VIEW else _touched(place)
            written += count * u.src[1].dtype.itemsize
    return written + sum(read.values())


def _touched(place: UOp) -> int:
    """How many times a kernel moves what is at `place`, where no element is moved twice."""
    if place.op is Ops.VIEW:
        return min(place.arg.real_size, place.arg.size)
    offset = place.src[1]
    indices = [u for u in offset.toposort() if u.op in (Ops.RANGE, Ops.SPECIAL)]
    times = prod(length_of(u) for u in indices)
    size = pointer_of(place).dtype
    return min(times, size.size) if isinstance(size, PtrDType) and size.size >= 0 else times
