"""Finds the value that a kernel has stored in the memory of an AFTER. Never translates anything."""

from __future__ import annotations

from core.uop import Ops, UOp


def stored_by(after: UOp) -> tuple[UOp, tuple[int, ...], UOp] | None:
    """The value, its shape and the kernel, where the kernel stores it row-major in all of the
    memory; None where it is not so simple."""
    if after.op is not Ops.AFTER or len(after.src) != 2:
        return None
    if after.src[1].op is not Ops.KERNEL or not after.src[1].src:
        return None
    kernel = after.src[1]
    ast, *arguments = kernel.src
    if ast.op is not Ops.SINK or after.src[0] not in arguments:
        return None
    number = arguments.index(after.src[0])
    for store in ast.src:
        place = store.src[0]
        if store.op is not Ops.STORE or place.op is not Ops.VIEW:
            return None
        if place.src[0].op is Ops.DEFINE_GLOBAL and place.src[0].arg == number:
            whole = place.arg.contiguous and place.arg.size == after.src[0].size
            return (store.src[1], place.arg.shape, kernel) if whole else None
    return None
