"""Bools are predicates: all that PTX does with two of them is AND, OR and XOR.

Never touches a comparison of numbers, which gives a predicate.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

_a, _b = UPat.var("a", dtypes.bool), UPat.var("b", dtypes.bool)
_true, _false = UPat.const(dtypes.bool, True), UPat.const(dtypes.bool, False)


def negated(a: UOp) -> UOp:
    """!a, which is a XOR with true."""
    return a.alu(Ops.XOR, UOp.const(dtypes.bool, True))


@rule(UPat((Ops.ADD, Ops.MAX), src=(_a, _b)))
def sum_of_bools(a: UOp, b: UOp) -> UOp:
    """a + b, max(a, b) -> a | b"""
    return a | b


@rule(UPat(Ops.MUL, src=(_a, _b)))
def product_of_bools(a: UOp, b: UOp) -> UOp:
    """a * b -> a & b"""
    return a & b


@rule(UPat(Ops.CMPNE, src=(_a, _b)))
def unequal_bools(a: UOp, b: UOp) -> UOp:
    """a != b -> a ^ b"""
    return a ^ b


@rule(UPat(Ops.CMPEQ, src=(_a, _b)))
def equal_bools(a: UOp, b: UOp) -> UOp:
    """a == b -> !(a ^ b)"""
    return negated(a ^ b)


@rule(UPat(Ops.CMPLT, src=(_a, _b)))
def smaller_bool(a: UOp, b: UOp) -> UOp:
    """a < b -> !a & b"""
    return negated(a) & b


@rule(UPat(Ops.WHERE, src=(UPat.var("c"), _true, _b)))
def true_or_bool(c: UOp, b: UOp) -> UOp:
    """c ? true : b -> c | b"""
    return c | b


@rule(UPat(Ops.WHERE, src=(UPat.var("c"), _a, _false)))
def bool_or_false(c: UOp, a: UOp) -> UOp:
    """c ? a : false -> c & a"""
    return c & a


@rule(UPat(Ops.WHERE, src=(UPat.var("c"), _a, _b)))
def choice_of_bools(c: UOp, a: UOp, b: UOp) -> UOp:
    """c ? a : b -> ((a ^ b) & c) ^ b"""
    return ((a ^ b) & c) ^ b


@rule(UPat(Ops.XOR, src=[_a, _false]))
def xor_with_false(a: UOp) -> UOp:
    """a ^ false -> a"""
    return a


bools = PatternMatcher(
    [
        sum_of_bools,
        product_of_bools,
        unequal_bools,
        equal_bools,
        smaller_bool,
        true_or_bool,
        bool_or_false,
        choice_of_bools,
        xor_with_false,
    ],
    name="bools",
)
