"""Sums that pick one element: written as a choice over counting, with no loop once compiled.

`sum(i == k ? x[i] : 0)` over i is x[k]: the pass `collapse` of a kernel makes a load of it. To
compute one where it is used costs as much as any elementwise value, so grouping takes it for one.
"""

from __future__ import annotations

from core.passes.schedule.simplify.consts import const_of
from core.uop import GroupOp, Ops, UOp

MOST_NODES = 64
"""Nodes of a condition that are looked at."""


def picks(u: UOp) -> bool:
    """Whether a REDUCE_AXIS is a sum over one axis of which at most one element is not 0: where the
    place along the axis equals something that is the same for all of it."""
    if u.op is not Ops.REDUCE_AXIS or u.arg[0] is not Ops.ADD or len(u.arg[1]) != 1:
        return False
    (axis,) = u.arg[1]
    choice = u.src[0]
    if choice.op is not Ops.WHERE:
        return False
    otherwise = const_of(choice.src[2])
    return otherwise is not None and not otherwise.arg and _names_one(choice.src[0], axis)


def _names_one(condition: UOp, axis: int) -> bool:
    if condition.op is Ops.AND:
        return any(_names_one(s, axis) for s in condition.src)
    if condition.op is not Ops.CMPEQ:
        return False
    a, b = condition.src
    return (_counts(a, axis) and not _varies(b, axis)) or (
        _counts(b, axis) and not _varies(a, axis)
    )


def _counts(u: UOp, axis: int) -> bool:
    """Whether a value is the place along an axis."""
    while u.op is Ops.CAST:
        u = u.src[0]
    if u.op is not Ops.VIEW or u.src[0].op is not Ops.IOTA or u.arg.masked:
        return False
    strides = u.arg.real_strides()
    return strides[axis] == 1 and all(n == 0 for k, n in enumerate(strides) if k != axis)


def _varies(u: UOp, axis: int) -> bool:
    """Whether a value may differ along an axis."""
    stack, seen = [u], 0
    while stack:
        v = stack.pop()
        seen += 1
        if seen > MOST_NODES:
            return True
        if v.op is Ops.CONST or not v.shape or v.shape[axis] == 1:
            continue
        if v.op in GroupOp.Elementwise:
            stack += v.src
        elif v.op is not Ops.VIEW or v.arg.masked or v.arg.real_strides()[axis] != 0:
            return True
    return False
