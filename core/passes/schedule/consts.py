"""Shaped constants of the Tensor graph, and folding what is computed from them alone.

A Tensor-level constant of some shape is a CONST with a device under an EXPAND or VIEW. Folding uses
the one table that gives ops their meaning. Never turns a constant into memory.
"""

from __future__ import annotations

from core.dtype import ConstType, DType, dtypes
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.meaning import evaluate

shaped_const = UPat(Ops.VIEW, src=(UPat(Ops.CONST),))
const_like = UPat.any(UPat(Ops.CONST), shaped_const)


def const_of(u: UOp) -> UOp | None:
    """The CONST that every element of `u` is; None where `u` is no constant."""
    if u.op is Ops.CONST:
        return u
    if u.op is Ops.VIEW and u.src[0].op is Ops.CONST and not u.arg.masked:
        return u.src[0]
    return None


def broadcast(const: UOp, shape: tuple[int, ...]) -> UOp:
    """A CONST as a VIEW of some shape; itself where the shape is ()."""
    if not shape:
        return const
    return const.view(ShapeTracker.from_shape(shape, (0,) * len(shape)))


def _defined(value: ConstType, dtype: DType) -> bool:
    """Whether every machine casts `value` to `dtype` alike."""
    if value.__class__ is not float or not dtypes.is_int(dtype):
        return True
    return dtypes.min(dtype) <= value <= dtypes.max(dtype)


@rule(UPat(GroupOp.Elementwise - {Ops.BITCAST}, src=const_like, name="x"))
def fold_constants(x: UOp) -> UOp | None:
    """f(c1, c2) -> c"""
    consts = [const_of(s) for s in x.src]
    values = [c.arg for c in consts if c is not None]
    if len(values) != len(consts) or x.shape is None:
        return None
    if x.op is Ops.CAST and not _defined(values[0], x.dtype):
        return None
    given = x.src[0].dtype if x.op in GroupOp.Comparison or x.op is Ops.CAST else None
    value = evaluate(x.op, x.dtype, values, given)
    first = x.src[0] if x.src[0].op is Ops.CONST else x.src[0].src[0]
    return broadcast(UOp(Ops.CONST, x.dtype, first.src, value), x.shape)


@rule(UPat(Ops.MUL, src=[UPat.var("x"), const_like.named("c")]))
def mul_one(x: UOp, c: UOp) -> UOp | None:
    """x * 1 -> x"""
    const = const_of(c)
    return x if const is not None and const.arg == 1 and x.shape == c.shape else None


@rule(UPat(Ops.ADD, src=[UPat.var("x"), const_like.named("c")]))
def add_zero(x: UOp, c: UOp) -> UOp | None:
    """x + 0 -> x, for integers (for floats it would change the sign of -0)"""
    const = const_of(c)
    whole = const is not None and const.arg.__class__ is int
    return x if whole and const is not None and const.arg == 0 and x.shape == c.shape else None


@rule(UPat(Ops.WHERE, src=(const_like.named("c"), UPat.var("yes"), UPat.var("no"))))
def known_where(c: UOp, yes: UOp, no: UOp) -> UOp | None:
    """where(true, a, b) -> a; where(false, a, b) -> b"""
    const = const_of(c)
    chosen = None if const is None else yes if const.arg else no
    return chosen if chosen is not None and chosen.shape == c.shape else None


folding = PatternMatcher([fold_constants, mul_one, add_zero, known_where], name="fold constants")
