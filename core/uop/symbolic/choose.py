"""WHERE, MAX and casts. Never evaluates what a WHERE would not have chosen."""

from __future__ import annotations

from core.dtype import DType, PtrDType, dtypes
from core.uop.ops import GroupOp, Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.fold import folded, folded_cast
from core.uop.uop import UOp

c, x, y, z = UPat.var("c"), UPat.var("x"), UPat.var("y"), UPat.var("z")
NUMBER = UPat(Ops.CONST)
FOLDING = GroupOp.Binary - {Ops.THREEFRY, Ops.POW}


def _folded(u: UOp) -> UOp:
    return folded(u) if all(s.op is Ops.CONST for s in u.src) else u


@rule(UPat.var().where(x, x))
def where_same(x: UOp) -> UOp:
    """c ? x : x -> x"""
    return x


@rule(UPat.cvar("c", dtypes.bool, vec=False).where(x, y))
def where_decided(c: UOp, x: UOp, y: UOp) -> UOp:
    """True ? x : y -> x;  False ? x : y -> y"""
    return x if c.arg else y


@rule(UPat.var("c", dtypes.bool).ne(True).where(x, y))
def where_not(c: UOp, x: UOp, y: UOp) -> UOp:
    """!c ? x : y -> c ? y : x"""
    return c.where(y, x)


@rule(UPat.var("c").where(UPat.const(dtypes.bool, True), UPat.const(dtypes.bool, False)))
def where_is_condition(c: UOp) -> UOp:
    """c ? True : False -> c"""
    return c


@rule(UPat.var("c").where(UPat.const(dtypes.bool, False), UPat.const(dtypes.bool, True)))
def where_is_not(c: UOp) -> UOp:
    """c ? False : True -> !c"""
    return c.logical_not()


@rule(UPat.var("c").where(UPat.var("x", dtypes.bool), UPat.const(dtypes.bool, False)))
def where_is_and(c: UOp, x: UOp) -> UOp:
    """c ? x : False -> c & x"""
    return c & x


@rule(UPat.var("c").where(UPat.const(dtypes.bool, True), UPat.var("x", dtypes.bool)))
def where_is_or(c: UOp, x: UOp) -> UOp:
    """c ? True : x -> c | x"""
    return c | x


@rule(c.where(c.where(x, y), z))
def where_known_true(c: UOp, x: UOp, z: UOp) -> UOp:
    """c ? (c ? x : y) : z -> c ? x : z"""
    return c.where(x, z)


@rule(c.where(x, c.where(y, z)))
def where_known_false(c: UOp, x: UOp, z: UOp) -> UOp:
    """c ? x : (c ? y : z) -> c ? x : z"""
    return c.where(x, z)


@rule(UPat.var("a").where(UPat.var("b").where(x, y), y))
def where_both(a: UOp, b: UOp, x: UOp, y: UOp) -> UOp:
    """a ? (b ? x : y) : y -> a & b ? x : y"""
    return (a & b).where(x, y)


@rule(
    UPat(
        FOLDING,
        src=(UPat.var("c").where(NUMBER.named("x"), NUMBER.named("y")), NUMBER.named("k")),
        name="u",
    )
)
def where_of_constants(u: UOp, c: UOp, x: UOp, y: UOp, k: UOp) -> UOp:
    """(c ? c1 : c2) op c3 -> c ? (c1 op c3) : (c2 op c3)"""
    return c.where(_folded(x.alu(u.op, k)), _folded(y.alu(u.op, k)))


@rule(UPat(FOLDING, src=(c.where(x, y), c.where(z, UPat.var("w"))), name="u"))
def where_of_both(u: UOp, c: UOp, x: UOp, y: UOp, z: UOp, w: UOp) -> UOp | None:
    """(c ? x : y) op (c ? z : w) -> c ? (x op z) : (y op w)  when x and z or y and w are
    constants"""
    if not (x.op is z.op is Ops.CONST or y.op is w.op is Ops.CONST):
        return None
    return c.where(_folded(x.alu(u.op, z)), _folded(y.alu(u.op, w)))


@rule(UPat(Ops.CAST, src=(UPat.var("c").where(NUMBER.named("x"), NUMBER.named("y")),), name="u"))
def where_of_constants_cast(u: UOp, c: UOp, x: UOp, y: UOp) -> UOp:
    """cast(c ? c1 : c2) -> c ? cast(c1) : cast(c2)"""
    yes, no = (u.rebuild((v,)) for v in (x, y))
    return c.where(folded_cast(yes) or yes, folded_cast(no) or no)


@rule(UPat(Ops.MAX, dtypes.ints, (x, y)))
def max_decided(x: UOp, y: UOp) -> UOp | None:
    """max(x, y) -> x  when x is never smaller than y"""
    return x if x.vmin >= y.vmax else y if y.vmin >= x.vmax else None


@rule(
    UPat.var("x", dtypes.ints)
    .maximum(UPat.cvar("c1", vec=False))
    .maximum(UPat.cvar("c2", vec=False))
)
def max_of_max(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """max(max(x, c1), c2) -> max(x, max(c1, c2))"""
    return x.maximum(max(c1.arg, c2.arg))


def lossless(source: DType, target: DType) -> bool:
    """Whether every value of `source` is one of `target`."""
    if source.name == target.name or dtypes.is_bool(source):
        return True
    if dtypes.is_float(source):
        return target.name in _wider_floats.get(source.name, ())
    if dtypes.is_float(target):
        return source.bits <= _integer_bits[target.name]
    if dtypes.is_unsigned(source):
        return dtypes.is_int(target) and target.bits > source.bits - dtypes.is_unsigned(target)
    return dtypes.is_int(target) and not dtypes.is_unsigned(target) and target.bits >= source.bits


_integer_bits = {
    "float64": 32,
    "float32": 16,
    "float16": 8,
    "bfloat16": 8,
    "fp8e4m3": 0,
    "fp8e5m2": 0,
}
_wider_floats = {
    "fp8e4m3": ("float16", "bfloat16", "float32", "float64"),
    "fp8e5m2": ("float16", "bfloat16", "float32", "float64"),
    "float16": ("float32", "float64"),
    "bfloat16": ("float32", "float64"),
    "float32": ("float64",),
}


@rule(UPat(Ops.CAST, src=(UPat(Ops.CAST, src=(x,), name="inner"),), name="outer"))
def cast_of_cast(outer: UOp, inner: UOp, x: UOp) -> UOp | None:
    """cast(cast(x, a), b) -> cast(x, b)  when a holds every x, or all are integers, b no wider
    than a; not where an integer would wrap around and the float a would saturate"""
    if outer.dtype.count != x.dtype.count or any(_pointer(u) for u in (outer, inner, x)):
        return None
    all_ints = all(dtypes.is_int(u.dtype) for u in (outer, inner)) and (
        dtypes.is_int(x.dtype) or dtypes.is_bool(x.dtype)
    )
    if all_ints and outer.dtype.bits <= inner.dtype.bits:
        return x.cast(outer.dtype)
    saturates = dtypes.is_float(inner.dtype) and dtypes.is_int(outer.dtype)
    if not lossless(x.dtype, inner.dtype) or (saturates and not _fits(x, outer.dtype)):
        return None
    return x.cast(outer.dtype)


def _fits(x: UOp, dtype: DType) -> bool:
    """Whether an integer or bool is always one of `dtype`; a float saturates either way."""
    if dtypes.is_float(x.dtype):
        return True
    return dtypes.min(dtype) <= x.vmin and x.vmax <= dtypes.max(dtype)


def _pointer(u: UOp) -> bool:
    return isinstance(u.dtype, PtrDType)


@rule(UPat(Ops.CAST, src=(x,), name="u"))
def cast_to_same(u: UOp, x: UOp) -> UOp | None:
    """cast(x, dtype of x) -> x"""
    return x if x.dtype == u.dtype else None


@rule(UPat(Ops.BITCAST, src=(UPat.var("x"),), name="u"))
def bitcast_to_same(u: UOp, x: UOp) -> UOp | None:
    """bitcast(x, dtype of x) -> x;  bitcast(bitcast(x)) -> bitcast(x)"""
    if x.dtype == u.dtype:
        return x
    if x.op is Ops.BITCAST and x.src[0].dtype.bits == x.dtype.bits == u.dtype.bits:
        return x.src[0].bitcast(u.dtype)
    return None


@rule(UPat.var("x", dtypes.bool).cast(dtypes.ints).ne(UPat.cvar("c", vec=False)))
def cast_bool_ne(x: UOp, c: UOp) -> UOp:
    """int(b) != 0 -> b;  int(b) != 1 -> !b;  int(b) != c -> True"""
    return x if c.arg == 0 else x.logical_not() if c.arg == 1 else x.const_like(True)


choose = PatternMatcher(
    [
        where_same,
        where_decided,
        where_not,
        where_is_condition,
        where_is_not,
        where_is_and,
        where_is_or,
        where_known_true,
        where_known_false,
        where_both,
        where_of_constants,
        where_of_constants_cast,
        where_of_both,
        max_decided,
        max_of_max,
        cast_to_same,
        cast_of_cast,
        bitcast_to_same,
        cast_bool_ne,
    ],
    name="choose",
)
