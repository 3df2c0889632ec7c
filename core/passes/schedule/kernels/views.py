"""View algebra: every chain of movement ops becomes at most one VIEW between two other nodes.

Afterwards the graph has no movement op, no VIEW of a VIEW, no VIEW that changes nothing, and no
VIEW of nothing but padding. Never moves a view past a computation; that is push_views.py.
"""

from __future__ import annotations

from core.dtype import truncate
from core.passes.schedule.simplify.consts import broadcast
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule


def moved(st: ShapeTracker, movement: UOp) -> ShapeTracker:
    """The tracker after one movement op."""
    arg = movement.arg
    match movement.op:
        case Ops.RESHAPE:
            return st.reshape(arg)
        case Ops.PERMUTE:
            return st.permute(arg)
        case Ops.EXPAND:
            return st.expand(arg)
        case Ops.SHRINK:
            return st.shrink(arg)
        case Ops.PAD:
            return st.pad(arg)
        case _:
            return st.flip(arg)


@rule(UPat(GroupOp.Movement, src=(UPat.var("x"),), name="m"))
def movement_to_view(m: UOp, x: UOp) -> UOp:
    """movement(x) -> view(x)"""
    return x.view(moved(ShapeTracker.from_shape(x.shaped), m))


@rule(UPat(Ops.VIEW, src=(UPat(Ops.VIEW, src=(UPat.var("x"),), name="inner"),), name="outer"))
def merge_views(outer: UOp, inner: UOp, x: UOp) -> UOp:
    """view(view(x, a), b) -> view(x, a + b)"""
    return x.view(inner.arg + outer.arg)


@rule(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"))
def drop_view(v: UOp, x: UOp) -> UOp | None:
    """view(x) -> x where the view changes nothing; loads and stores keep theirs"""
    if x.op is Ops.DEFINE_GLOBAL:
        return None
    return x if v.arg.contiguous and v.arg.shape == x.shape else None


@rule(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"))
def view_of_padding(v: UOp, x: UOp) -> UOp | None:
    """view(x) -> 0 where no element of x is seen"""
    device = x.device
    if device is None or not v.size or all(not view.empty for view in v.arg.views):
        return None
    zero = UOp(Ops.CONST, v.dtype, (UOp(Ops.DEVICE, arg=device),), truncate(0, v.dtype))
    return broadcast(zero, v.shaped)


view_algebra = PatternMatcher(
    [movement_to_view, merge_views, drop_view, view_of_padding], name="views"
)
