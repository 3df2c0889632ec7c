"""Reduces of repeated elements, and reduces so long that two kernels are faster than one.

Keeps every value (a split float sum is added in another order). Never touches a reduce of
constants and IOTA, which is computed inside its user.
"""

from __future__ import annotations

from core.helpers import SPLIT_REDUCE, prod
from core.passes.identities import repeated
from core.passes.schedule.copies import MEMORY
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

_CHUNKS = range(256, 7, -1)
_LARGEST_PARTIAL = 1 << 22
"""Elements of the intermediate result of a split reduce, at most."""


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
        for chunks in _CHUNKS:
            if size % chunks or strides[axis] == 0 or r.size * chunks > _LARGEST_PARTIAL:
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
splitting = PatternMatcher([split_reduce], name="reduces: split")
