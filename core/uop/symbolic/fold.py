"""Constant folding: what can be computed now. Never drops a node that reads memory or loops.

Folding uses the meaning table, so a folded value is what every device must give, except that SIN,
COS, EXP2, LOG2 and POW of a device may differ in the last place.
"""

from __future__ import annotations

from core.dtype import ConstType, dtypes
from core.uop.facts.meaning import evaluate, on_bools, on_floats, on_ints
from core.uop.ops import GroupOp, Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp

CONSTANT = UPat((Ops.CONST, Ops.VCONST))
bounded = (GroupOp.ALU - {Ops.THREEFRY}) | {Ops.CAST}


def lanes(u: UOp) -> tuple[ConstType, ...]:
    """The elements of a constant, one per lane."""
    return u.arg if u.op is Ops.VCONST else (u.arg,) * u.dtype.count


def constant(like: UOp, values: tuple[ConstType, ...]) -> UOp:
    """A constant in place of `like`, with these elements."""
    if like.dtype.count == 1:
        return like.const_like(values[0])
    return UOp.const(like.dtype, values)


def folded(u: UOp) -> UOp:
    """The constant that an op of constants gives; `u` where the op has no meaning on its dtype."""
    source = u.src[0].dtype if u.op in GroupOp.Comparison else u.dtype
    table = on_bools if dtypes.is_bool(source) else on_ints if dtypes.is_int(source) else on_floats
    if u.op not in table and u.op is not Ops.MULACC:
        return u
    rows = zip(*map(lanes, u.src), strict=True)
    return constant(u, tuple(evaluate(u.op, u.dtype, row, source) for row in rows))


@rule(UPat(GroupOp.ALU, src=CONSTANT, name="u"))
def fold_constants(u: UOp) -> UOp | None:
    """op(c0, c1, ...) -> c"""
    made = folded(u)
    return made if made is not u else None


def folded_cast(u: UOp) -> UOp | None:
    """The constant that a CAST or BITCAST of one gives; None where their sizes differ."""
    source = u.src[0].dtype
    if source.count != u.dtype.count or (source.bits != u.dtype.bits and u.op is Ops.BITCAST):
        return None
    values = lanes(u.src[0])
    return constant(u, tuple(evaluate(u.op, u.dtype, (v,), source) for v in values))


@rule(UPat((Ops.CAST, Ops.BITCAST), src=(CONSTANT,), name="u"))
def fold_cast(u: UOp) -> UOp | None:
    """cast(c) -> c"""
    return folded_cast(u)


@rule(UPat(bounded, (dtypes.bool, *dtypes.ints), name="u"))
def fold_bounds(u: UOp) -> UOp | None:
    """x -> c  when both bounds of x are c"""
    low, high = u.bounds
    return u.const_like(low) if low == high else None


@rule(UPat(Ops.GEP, src=(CONSTANT.named("c"),), name="u"))
def fold_gep(u: UOp, c: UOp) -> UOp:
    """(c0, c1, ...)[i] -> ci"""
    values = lanes(c)
    return constant(u, tuple(values[i] for i in u.arg))


@rule(UPat(Ops.VECTORIZE, src=UPat(Ops.CONST), name="u"))
def fold_vectorize(u: UOp) -> UOp:
    """vectorize(c0, c1, ...) -> (c0, c1, ...)"""
    return UOp.const(u.dtype, tuple(s.arg for s in u.src))


fold = PatternMatcher([fold_constants, fold_cast, fold_gep, fold_vectorize], name="fold")
