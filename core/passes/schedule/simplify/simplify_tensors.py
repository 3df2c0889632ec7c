"""Tensor simplification: removes what needs no kernel before the graph is cut into kernels.

Works on the Tensor graph as the user built it, with its movement ops. Keeps every value. Never
decides what is stored.
"""

from __future__ import annotations

from core.dtype import ConstType
from core.helpers import PUSH_CONTIGUOUS
from core.passes.identities import identity
from core.passes.schedule.images import images, is_image
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule

_computed = GroupOp.Elementwise | GroupOp.Movement | {Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.COPY}


def _filled(u: UOp, value: ConstType) -> UOp | None:
    """A constant with the shape, dtype and device of `u`; None without a device."""
    return None if u.device is None else UOp.full(u.shaped, value, u.dtype, u.device)


@rule(UPat((Ops.DETACH, Ops.CONTIGUOUS_BACKWARD, Ops.NOOP), src=(UPat.var("x"),)))
def forget_gradient_marks(x: UOp) -> UOp:
    """detach(x) -> x; contiguous_backward(x) -> x"""
    return x


@rule(UPat(Ops.DERIVATIVE, name="u"))
def forget_derivative(u: UOp) -> UOp:
    """derivative(f, x, df/dx, ...) -> f"""
    return u.src[0]


@rule(UPat(GroupOp.Elementwise, name="u"))
def push_contiguous(u: UOp) -> UOp | None:
    """f(contiguous(x)) -> f(x)  with PUSH_CONTIGUOUS=1: the barrier holds for what is stored"""
    if not PUSH_CONTIGUOUS or not any(s.op is Ops.CONTIGUOUS for s in u.src):
        return None
    if any(is_image(s.dtype) for s in u.src):
        return None
    return u.rebuild(tuple(s.src[0] if s.op is Ops.CONTIGUOUS else s for s in u.src))


@rule(UPat(_computed, name="x"))
def empty_result(x: UOp) -> UOp | None:
    """f(...) without elements -> 0"""
    if not x.shape or 0 not in x.shape or x.base.op is Ops.CONST:
        return None
    return _filled(x, 0)


@rule(UPat(Ops.PAD, src=(UPat.var("x"),), name="pad"))
def pad_of_nothing(pad: UOp, x: UOp) -> UOp | None:
    """pad(x without elements) -> 0"""
    return _filled(pad, 0) if 0 in x.shaped else None


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="r"))
def reduce_of_nothing(r: UOp, x: UOp) -> UOp | None:
    """reduce(x without elements) -> the identity of the op"""
    if 0 not in x.shaped or 0 in r.shaped:
        return None
    return _filled(r, identity(r.arg[0], r.dtype))


@rule(UPat(Ops.COPY, src=(UPat.var("x"), UPat(Ops.DEVICE, name="device"))))
def copy_to_same_device(x: UOp, device: UOp) -> UOp | None:
    """copy(x, device of x) -> x"""
    return x if x.device == device.arg else None


@rule(UPat(Ops.COPY, src=(UPat((Ops.CONST, Ops.IOTA), name="x"), UPat(Ops.DEVICE, name="device"))))
def copy_of_constant(x: UOp, device: UOp) -> UOp:
    """copy(c, device) -> c made on that device"""
    return x.replace(src=(device,))


_row_major = (Ops.CONTIGUOUS, Ops.BUFFER, Ops.AFTER, Ops.OUTPUT)


@rule(UPat(Ops.CONTIGUOUS, src=(UPat(_row_major, name="x"),)))
def contiguous_of_stored(x: UOp) -> UOp:
    """contiguous(x) -> x where x is row-major memory already"""
    return x


@rule(
    UPat(Ops.ASSIGN, src=(UPat.var("t"), UPat(Ops.ASSIGN, src=(UPat.var("t"), UPat()), name="a")))
)
def assign_twice(t: UOp, a: UOp) -> UOp:
    """assign(t, assign(t, x)) -> assign(t, x)"""
    return a


@rule(UPat(Ops.ASSIGN, src=(UPat.var("t"), UPat.var("t"))))
def assign_itself(t: UOp) -> UOp:
    """assign(t, t) -> t"""
    return t


@rule(UPat(Ops.ASSIGN, src=(UPat.var("t"), UPat.var("x"))))
def assign_to_value(t: UOp, x: UOp) -> UOp | None:
    """assign(t, x) -> contiguous(x) where t is no memory"""
    memory = (Ops.BUFFER, Ops.BUFFER_VIEW, Ops.ASSIGN, Ops.CONTIGUOUS, Ops.COPY)
    return None if t.base.op in memory else x.contiguous()


simplification = PatternMatcher(
    [
        forget_gradient_marks,
        forget_derivative,
        push_contiguous,
        empty_result,
        pad_of_nothing,
        reduce_of_nothing,
        copy_to_same_device,
        copy_of_constant,
        contiguous_of_stored,
        assign_twice,
        assign_itself,
        assign_to_value,
        *images,
    ],
    name="simplify tensors",
)
