"""Simplifies reduces of repeated elements and of other reduces; splits very long ones in two.

Keeps every value (a float sum that is merged or split is added in another order). Never
touches a reduce of constants and IOTA, which is computed inside its user.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.helpers import (
    FUSE_CONV_BW,
    SPLIT_REDUCE,
    SPLIT_REDUCE_PARTS,
    SPLIT_REDUCE_SIZE,
    prod,
)
from core.passes.identities import repeated
from core.passes.schedule.copies import MEMORY
from core.passes.schedule.kernels.push_views import reduced_under
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

FEWEST_PARTS = 8
"""Parts that are worth a kernel of their own."""


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="r"))
def reduce_of_one(r: UOp, x: UOp) -> UOp | None:
    """reduce(x, axes) -> reduce without the axes of length 1"""
    op, axes = r.arg
    kept = [axis for axis in axes if x.shaped[axis] != 1]
    return None if len(kept) == len(axes) else x.r(op, kept)


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"),), name="r"))
def reduce_of_expanded(r: UOp, v: UOp, x: UOp) -> UOp | None:
    """sum(expand(x, n)) -> x * n; max(expand(x)) -> x; prod(expand(x, n)) -> x ** n"""
    op, axes = r.arg
    st = v.arg
    strides = st.real_strides()
    same = [k for k in axes if strides[k] == 0 and st.shape[k] > 1 and not st.axis_is_masked(k)]
    if not same:
        return None
    shrunk = st.shrink([(0, 1) if k in same else (0, n) for k, n in enumerate(st.shape)])
    rest = x.view(shrunk).r(op, [k for k in axes if k not in same])
    return repeated(op, rest, prod(st.shape[k] for k in same))


def shared_reduces(order: Iterable[UOp]) -> set[UOp]:
    """The reduces of a graph of views, given its nodes, that several of them use."""
    once: set[UOp] = set()
    shared: set[UOp] = set()
    for u in order:
        if u.op is not Ops.VIEW:
            reduces = {s.base for s in u.src if s.base.op is Ops.REDUCE_AXIS}
            shared |= reduces & once
            once |= reduces
    return shared


_reduce = UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="inner")


@rule(UPat(Ops.REDUCE_AXIS, src=(_reduce,), name="outer"))
def merge_reduces(ctx: set[UOp], outer: UOp, inner: UOp, x: UOp) -> UOp | None:
    """reduce(reduce(x, axes1), axes2) -> reduce(x, axes1 + axes2) of one op, where nothing else
    uses the inner one"""
    if outer.arg[0] is not inner.arg[0] or inner in ctx:
        return None
    return x.r(outer.arg[0], {*outer.arg[1], *inner.arg[1]})


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat(Ops.VIEW, src=(_reduce,), name="v"),), name="outer"))
def merge_viewed_reduces(ctx: set[UOp], outer: UOp, v: UOp, inner: UOp, x: UOp) -> UOp | None:
    """reduce(view(reduce(x))) -> reduce(view'(x)) of one op, where nothing else uses the inner
    reduce, and the view reads each of its elements at most once; with FUSE_CONV_BW, sums among
    padding, too"""
    if outer.arg[0] is not inner.arg[0] or inner in ctx:
        return None
    st: ShapeTracker = v.arg
    padded = st.masked or st.size > inner.size
    if not st.once or (padded and not (FUSE_CONV_BW and outer.arg[0] is Ops.ADD)):
        return None
    moved, last = reduced_under(v.arg, inner, x)
    return moved.r(outer.arg[0], {*outer.arg[1], *last}).reshape(outer.shaped)


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="r"))
def split_reduce(r: UOp, x: UOp) -> UOp | None:
    """reduce(x) -> reduce(contiguous(reduce of parts of x)) where it is very long"""
    op, axes = r.arg
    limit = SPLIT_REDUCE.value
    if not limit or x.size // max(r.size, 1) < limit or not reads_memory(x):
        return None
    strides = x.arg.real_strides() if x.op is Ops.VIEW else (1,) * len(x.shaped)
    for axis in axes:
        size = x.shaped[axis]
        for chunks in range(SPLIT_REDUCE_PARTS.value, FEWEST_PARTS - 1, -1):
            if size % chunks or strides[axis] == 0 or r.size * chunks > SPLIT_REDUCE_SIZE.value:
                continue
            if chunks >= limit or chunks == size:
                continue  # the second reduce would be as long
            shape = [*x.shaped[:axis], chunks, size // chunks, *x.shaped[axis + 1 :]]
            parts = x.reshape(shape).r(op, [k + (k >= axis) for k in axes])
            partial = parts.reshape([n for k, n in enumerate(parts.shaped) if k != axis + 1])
            return partial.contiguous().r(op, (axis,))
    return None


def reads_memory(x: UOp) -> bool:
    """Whether some element of `x` comes from memory."""
    seen: set[UOp] = set()
    stack = [x]
    while stack:
        u = stack.pop()
        if u.op in MEMORY:
            return True
        stack.extend(s for s in u.src if s not in seen)
        seen.update(u.src)
    return False


reducing = PatternMatcher([reduce_of_one, reduce_of_expanded], name="reduces")
merging_reduces = PatternMatcher([merge_reduces, merge_viewed_reduces], name="reduces: merge")
splitting = PatternMatcher([split_reduce], name="reduces: split")
