"""Arithmetic on elements that are repeated, done once for each element before they are.

The kernel that makes a value which is then repeated stores what users want of it:
`x.sum(1).expand(...).exp2()` takes as many powers as there are sums. Never makes what is stored
wider, and leaves the memory of outputs as it is: each of their elements has its own.
"""

from __future__ import annotations

from core.helpers import prod
from core.passes.schedule.grouping.fanout import COMPUTE
from core.passes.schedule.images import is_image
from core.passes.schedule.kernels.push_views import keeps_zero
from core.passes.schedule.simplify.consts import broadcast, const_of
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule

_ARITHMETIC = GroupOp.Elementwise - {Ops.BITCAST}
_USERS = _ARITHMETIC | {Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.ASSIGN}


def reads(st: ShapeTracker) -> int:
    """How many elements a view reads, at most: padding is not read."""
    return prod(axis.end - axis.begin for axis in st.views[-1].axes)


@rule(UPat(_USERS, name="user"))
def compute_before_repeat(user: UOp) -> UOp | None:
    """f(g(view(x), c)) -> f(view(g(x, c)))  where the view repeats a computed x, g(x, c) is no
    wider than x, and g(0, c) = 0 if the view has padding"""
    first = user.op is Ops.ASSIGN  # the target of an assignment stays
    src = tuple(s if k < first else _early(s) or s for k, s in enumerate(user.src))
    return None if src == user.src else user.rebuild(src)


@rule(UPat(Ops.SINK, name="sink"))
def output_before_repeat(sink: UOp) -> UOp | None:
    """sink(g(view(x), c)) -> sink(contiguous(view(g(x, c))))  as for other users"""
    src = tuple(s if (e := _early(s)) is None else e.contiguous() for s in sink.src)
    return None if src == sink.src else sink.rebuild(src)


def _early(s: UOp) -> UOp | None:
    """What a user reads, computed before it is repeated; None where it is not that."""
    g = s.base
    if g.op not in _ARITHMETIC or is_image(g.dtype):
        return None
    views = [v for v in g.src if const_of(v) is None]
    if len(views) != 1 or views[0].op is not Ops.VIEW:
        return None
    view, x = views[0], views[0].base
    if x.op not in COMPUTE or reads(view.arg) <= x.size or g.dtype.itemsize > x.dtype.itemsize:
        return None
    consts = [const_of(v) for v in g.src]
    if view.arg.masked and not keeps_zero(g.rebuild(tuple(c or x for c in consts))):
        return None
    made = g.rebuild(tuple(x if c is None else broadcast(c, x.shaped) for c in consts))
    made = made.view(view.arg)
    return made if s is g else made.view(s.arg)


repeats = PatternMatcher([compute_before_repeat, output_before_repeat], name="repeats")
