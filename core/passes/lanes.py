"""Lanes: rules that bring the choice of vector elements (GEP) down to where the vector comes from.

A GEP passes through elementwise ops to their sources, so that what is left of a wide op is the
lanes that someone wants. Keeps every value. Never repeats an op for lanes that are alike: a GEP
that names a lane twice takes single lanes first.
"""

from __future__ import annotations

from core.dtype import AddrSpace
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.pointer import address_space


def pick_of_elementwise(gep: UOp, x: UOp) -> UOp:
    """The lanes that a GEP picks of an elementwise op, as that op of lanes."""
    if len(set(gep.arg)) != len(gep.arg):
        single = {i: x.gep(i) for i in gep.arg}
        return UOp.vectorize(*(single[i] for i in gep.arg))
    src = tuple(s.gep(gep.arg) for s in x.src)
    return UOp(x.op, x.dtype.scalar().vec(len(gep.arg)), src, x.arg, x.tag)


@rule(UPat(Ops.GEP, src=(UPat(Ops.GEP, name="inner"),), name="outer"))
def gep_of_gep(outer: UOp, inner: UOp) -> UOp:
    """gep(gep(x, a), b) -> gep(x, a[b])"""
    return inner.src[0].gep(tuple(inner.arg[i] for i in outer.arg))


@rule(UPat(Ops.GEP, src=(UPat(Ops.VECTORIZE, name="v"),), name="gep"))
def gep_of_vectorize(gep: UOp, v: UOp) -> UOp:
    """gep(vectorize(a, b, ...), i) -> b"""
    return UOp.vectorize(*(v.src[i] for i in gep.arg))


@rule(UPat(Ops.GEP, src=(UPat.cvar("c"),), name="gep"))
def gep_of_const(gep: UOp, c: UOp) -> UOp:
    """gep(constant, i) -> the constant's element i"""
    if c.op is Ops.CONST:
        return UOp.const(gep.dtype, c.arg)
    return UOp.const(gep.dtype, tuple(c.arg[i] for i in gep.arg))


@rule(UPat(Ops.GEP, src=(UPat(GroupOp.Elementwise, name="x"),), name="gep"))
def gep_of_elementwise(gep: UOp, x: UOp) -> UOp:
    """gep(f(a, b), i) -> f(gep(a, i), gep(b, i))"""
    return pick_of_elementwise(gep, x)


@rule(UPat(Ops.GEP, src=(UPat(Ops.SHUFFLE, src=(UPat.var("x"),), name="moved"),), name="gep"))
def gep_of_shuffle(gep: UOp, moved: UOp, x: UOp) -> UOp:
    """gep(shuffle(x), i) -> shuffle(gep(x, i))"""
    return UOp(Ops.SHUFFLE, gep.dtype, (x.gep(gep.arg),), moved.arg, moved.tag)


@rule(UPat(Ops.VECTORIZE, src=UPat(Ops.GEP, src=(UPat(Ops.LOAD),)), name="v"))
def vectorize_of_geps(v: UOp) -> UOp | None:
    """vectorize(gep(load, i), gep(load, j), ...) -> gep(load, (i, j, ...)), or load"""
    base = v.src[0].src[0]
    picks = tuple(s.arg[0] for s in v.src)
    if any(s.src[0] is not base for s in v.src) or len(set(picks)) != len(picks):
        return None
    return None if address_space(base.src[0]) is AddrSpace.REG else base.gep(picks)


@rule(UPat(Ops.VECTORIZE, src=UPat(Ops.CONST), name="v"))
def vectorize_of_consts(v: UOp) -> UOp:
    """vectorize(constants) -> one vector constant"""
    return UOp.const(v.dtype, tuple(s.arg for s in v.src))


sink_lanes = PatternMatcher(
    [
        gep_of_gep,
        gep_of_vectorize,
        gep_of_const,
        gep_of_elementwise,
        gep_of_shuffle,
        vectorize_of_geps,
        vectorize_of_consts,
    ],
    name="lanes",
)
