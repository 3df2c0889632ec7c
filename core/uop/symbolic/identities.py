"""Identities of integers and bool, which hold with wraparound and for every sign.

Never adds a node to the graph.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop.ops import GroupOp, Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.fold import folded
from core.uop.uop import UOp

BITS = (dtypes.bool, *dtypes.ints)
_idempotent = frozenset({Ops.AND, Ops.OR, Ops.MAX})
x_int = UPat.var("x", dtypes.ints)
x_bits = UPat.var("x", BITS)
x_bool = UPat.var("x", dtypes.bool)


@rule(UPat.any(x_int + 0, x_int - 0, x_bits | 0, x_bits ^ 0, x_int << 0, x_int >> 0, x_bool + 0))
def add_zero(x: UOp) -> UOp:
    """x + 0 -> x; so for -, |, ^, <<, >>"""
    return x


@rule(UPat.any(x_bits * 1, x_int // 1, x_bool & 1))
def mul_one(x: UOp) -> UOp:
    """x * 1 -> x; so for //"""
    return x


@rule(UPat.any(x_bits * 0, x_bits & 0))
def mul_zero(x: UOp) -> UOp:
    """x * 0 -> 0; x & 0 -> 0"""
    return x.const_like(0)


@rule(UPat.any(x_int % 1, x_int - x_int, x_bits ^ x_bits))
def nothing_left(x: UOp) -> UOp:
    """x % 1 -> 0; x - x -> 0; x ^ x -> 0"""
    return x.const_like(0)


@rule(UPat(_idempotent, src=(UPat.var("x"), UPat.var("x"))))
def idempotent(x: UOp) -> UOp:
    """x & x -> x; x | x -> x; max(x, x) -> x"""
    return x


@rule(
    UPat(
        _idempotent,
        src=[UPat(_idempotent, src=[x_bits, UPat()], name="inner"), x_bits],
        name="outer",
    )
)
def idempotent_again(outer: UOp, inner: UOp) -> UOp | None:
    """x & (x & y) -> x & y; so for |, max"""
    return inner if inner.op is outer.op else None


@rule(x_int & -1)
def and_ones(x: UOp) -> UOp:
    """x & ~0 -> x"""
    return x


@rule(UPat.cvar("c", dtypes.uints, vec=False) & UPat.var("x"))
def and_ones_unsigned(x: UOp, c: UOp) -> UOp | None:
    """x & (all ones) -> x"""
    return x if c.arg == dtypes.max(x.dtype) else None


_bitwise = frozenset({Ops.AND, Ops.OR, Ops.XOR})


@rule(
    UPat(
        _bitwise,
        src=(UPat(_bitwise, src=(x_bits, UPat.cvar("c1")), name="inner"), UPat.cvar("c2")),
        name="outer",
    )
)
def bitwise_constants(outer: UOp, inner: UOp, x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """(x & c1) & c2 -> x & (c1 & c2); so for |, ^"""
    return x.alu(outer.op, folded(c1.alu(outer.op, c2))) if inner.op is outer.op else None


@rule(UPat.any(x_bool | True, x_bool.maximum(True), x_bool + True))
def or_true(x: UOp) -> UOp:
    """x | True -> True"""
    return x.const_like(True)


@rule(UPat.var("x", dtypes.ints) // UPat.var("x"))
def divide_by_self(x: UOp) -> UOp | None:
    """x // x -> 1  when x is never 0"""
    return x.const_like(1) if x.vmin > 0 or x.vmax < 0 else None


@rule(UPat.var("x", dtypes.ints) % UPat.var("x"))
def remainder_by_self(x: UOp) -> UOp | None:
    """x % x -> 0"""
    return x.const_like(0)


@rule(UPat(GroupOp.Commutative, src=(UPat.cvar("c"), UPat.var("x")), name="u"))
def constant_last(u: UOp, c: UOp, x: UOp) -> UOp | None:
    """c op x -> x op c  for op that commutes"""
    return u.rebuild((x, c)) if x.op not in (Ops.CONST, Ops.VCONST) else None


@rule(UPat.var("x", dtypes.bool).ne(UPat.var("y", dtypes.bool)).ne(True))
def double_not(x: UOp, y: UOp) -> UOp | None:
    """!!x -> x;  !(x != y) -> x == y"""
    if y.op is Ops.CONST:
        return x if y.arg else None
    return x.eq(y)


@rule(UPat.any(UPat.var("x", dtypes.bool).ne(False), UPat.var("x", dtypes.bool).eq(True)))
def is_true(x: UOp) -> UOp:
    """x != False -> x;  x == True -> x"""
    return x


@rule(UPat.var("x", dtypes.bool).eq(False))
def is_false(x: UOp) -> UOp:
    """x == False -> !x"""
    return x.logical_not()


@rule(UPat(frozenset({Ops.CMPLT, Ops.CMPNE}), src=(UPat.var("x", BITS), UPat.var("x")), name="u"))
def compare_with_itself(u: UOp, x: UOp) -> UOp:
    """x < x -> False;  x != x -> False"""
    return u.const_like(False)


@rule(UPat.var("x", BITS).eq(UPat.var("x")), name="equal_to_itself")
def equal_to_itself(x: UOp) -> UOp:
    """x == x -> True"""
    return UOp.const(dtypes.bool.vec(x.dtype.count), True)


identities = PatternMatcher(
    [
        constant_last,
        add_zero,
        mul_one,
        mul_zero,
        nothing_left,
        idempotent,
        idempotent_again,
        and_ones,
        and_ones_unsigned,
        bitwise_constants,
        or_true,
        divide_by_self,
        remainder_by_self,
        double_not,
        is_true,
        is_false,
        compare_with_itself,
        equal_to_itself,
    ],
    name="identities",
)
