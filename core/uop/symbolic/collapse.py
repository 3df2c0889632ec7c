"""Reduces over ranges in closed form: what does not need its loop any more.

Never changes an integer result. A float sum of n equal values becomes one product, which is rounded
once instead of n times.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop.matcher import PatternMatcher
from core.uop.ops import Ops
from core.uop.rule import rule
from core.uop.uop import UOp
from core.uop.upat import UPat

LOOP = UPat(Ops.RANGE, name="r")
NUMBERS = (*dtypes.ints, *dtypes.floats)


def length(r: UOp) -> int | None:
    """How often a loop runs, where that is a positive constant."""
    n = r.src[0]
    return int(n.arg) if n.op is Ops.CONST and n.arg > 0 else None


@rule(UPat(Ops.REDUCE, NUMBERS, (UPat.var("x"),), name="u", allow_any_len=True))
def reduce_unused_range(u: UOp, x: UOp) -> UOp | None:
    """sum(x, r) -> x * n;  max(x, r) -> x  when x does not depend on the loop r of length n"""
    if u.arg not in (Ops.ADD, Ops.MAX) or x.dtype != u.dtype:
        return None
    unused = [r for r in u.src[1:] if r.op is Ops.RANGE and r not in x.ranges and length(r)]
    if not unused:
        return None
    rest = x.reduce(u.arg, *(r for r in u.src[1:] if r not in unused))
    for r in unused:
        rest = rest * rest.const_like(length(r) or 0) if u.arg is Ops.ADD else rest
    return rest


@rule(UPat(Ops.REDUCE, dtypes.ints, (LOOP, LOOP), arg=Ops.ADD))
def sum_of_range(r: UOp) -> UOp | None:
    """sum(r, r) -> n * (n - 1) / 2  for the loop r of length n"""
    n = length(r)
    return r.const_like(n * (n - 1) // 2) if n else None


def _clamp(x: UOp, n: int) -> UOp:
    """x, but 0 below 0 and n above n."""
    return x.maximum(0).minimum(n)


def _times(count: UOp, x: UOp) -> UOp:
    """x, `count` times; 0 for 0 times, even where x is NaN or infinite."""
    product = x * count.cast(x.dtype)
    return product if dtypes.is_int(x.dtype) else (count > 0).where(product, 0)


ZERO = UPat.const(NUMBERS, 0)


@rule(UPat(Ops.REDUCE, NUMBERS, ((UPat.var("k") > LOOP).where(UPat.var("x"), ZERO), LOOP), Ops.ADD))
def sum_below(r: UOp, k: UOp, x: UOp) -> UOp | None:
    """sum(r < k ? x : 0, r) -> clamp(k, 0, n) * x  when x and k do not depend on r"""
    n = length(r)
    if n is None or r in x.ranges or r in k.ranges or x.dtype.count > 1:
        return None
    return _times(_clamp(k, n), x)


@rule(UPat(Ops.REDUCE, NUMBERS, ((UPat.var("k") > LOOP).where(ZERO, UPat.var("x")), LOOP), Ops.ADD))
def sum_from(r: UOp, k: UOp, x: UOp) -> UOp | None:
    """sum(r < k ? 0 : x, r) -> (n - clamp(k, 0, n)) * x  when x and k do not depend on r"""
    n = length(r)
    if n is None or r in x.ranges or r in k.ranges or x.dtype.count > 1:
        return None
    return _times(_clamp(k, n) * -1 + n, x)


@rule(
    UPat.any(
        UPat(
            Ops.REDUCE, NUMBERS, (LOOP.eq(UPat.var("k")).where(UPat.var("x"), ZERO), LOOP), Ops.ADD
        ),
        UPat(
            Ops.REDUCE, NUMBERS, (LOOP.ne(UPat.var("k")).where(ZERO, UPat.var("x")), LOOP), Ops.ADD
        ),
    )
)
def sum_at_one(r: UOp, k: UOp, x: UOp) -> UOp | None:
    """sum(r == k ? x : 0, r) -> 0 <= k < n ? x[r = k] : 0  when k does not depend on r"""
    n = length(r)
    if n is None or r in k.ranges or x.dtype.count > 1:
        return None
    inside = (k < 0).logical_not() & (k < n)
    return inside.where(x.substitute({r: inside.where(k, 0)}), 0)


collapse = PatternMatcher(
    [reduce_unused_range, sum_of_range, sum_below, sum_from, sum_at_one], name="collapse"
)
