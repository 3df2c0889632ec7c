"""Sums and products of integers in a normal form: constants last, like terms combined.

All rules hold with wraparound, because integers modulo 2**n are a ring. SUB and NEG of signed
integers and of floats become ADD and MUL with -1, which is exact for floats, too.
"""

from __future__ import annotations

from itertools import pairwise

from core.dtype import dtypes
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.fold import folded
from core.uop.symbolic.linear import make, order, term_list
from core.uop.uop import UOp

SIGNED = (*dtypes.sints, *dtypes.floats)
x, y, z = UPat.var("x"), UPat.var("y"), UPat.var("z")
xi = UPat.var("x", dtypes.ints)
c1, c2 = UPat.cvar("c1", vec=False), UPat.cvar("c2", vec=False)


@rule(UPat(Ops.SUB, SIGNED, (x, y)))
def subtract(x: UOp, y: UOp) -> UOp:
    """x - y -> x + y * -1"""
    return x + (folded(y * -1) if y.op in (Ops.CONST, Ops.VCONST) else y * -1)


@rule(UPat(Ops.NEG, SIGNED, (x,)))
def negate(x: UOp) -> UOp:
    """-x -> x * -1"""
    return x * -1


@rule((xi + UPat.cvar("c1")) + UPat.cvar("c2"))
def add_constants(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """(x + c1) + c2 -> x + (c1 + c2)"""
    return x + folded(c1 + c2)


@rule((xi * UPat.cvar("c1")) * UPat.cvar("c2"))
def multiply_constants(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """(x * c1) * c2 -> x * (c1 * c2)"""
    return x * folded(c1 * c2)


@rule(UPat(Ops.ADD, src=[xi + c1, y], name="u"))
def constant_out_of_sum(u: UOp, x: UOp, c1: UOp, y: UOp) -> UOp | None:
    """(x + c) + y -> (x + y) + c;  y + (x + c) -> (y + x) + c"""
    if y.op in (Ops.CONST, Ops.VCONST):
        return None
    return (x + y if u.src[1] is y else y + x) + c1


@rule(UPat(Ops.MUL, src=[xi * c1, y], name="u"))
def constant_out_of_product(u: UOp, x: UOp, c1: UOp, y: UOp) -> UOp | None:
    """(x * c) * y -> (x * y) * c;  y * (x * c) -> (y * x) * c"""
    if y.op in (Ops.CONST, Ops.VCONST):
        return None
    return (x * y if u.src[1] is y else y * x) * c1


@rule((xi + c1) * c2)
def distribute_constant(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """(x + c1) * c2 -> x * c2 + c1 * c2"""
    return x * c2 + c1.arg * c2.arg


@rule(UPat(Ops.ADD, dtypes.ints, name="u"))
def combine_terms(u: UOp) -> UOp | None:
    """x * c1 + y + x * c2 -> x * (c1 + c2) + y"""
    if (listed := term_list(u, must_be_exact=False)) is None:
        return None
    terms, constant = listed
    if len({x for x, _ in terms}) == len(terms) and all(f for _, f in terms):
        return None
    return make(terms, constant).node(u)


@rule(UPat(Ops.ADD, dtypes.ints, name="u"))
def order_terms(u: UOp) -> UOp | None:
    """y + x -> x + y  in the order of loops"""
    if (listed := term_list(u, must_be_exact=False)) is None:
        return None
    terms, constant = listed
    places = [order(x) for x, _ in terms]
    if all(a <= b for a, b in pairwise(places)):
        return None
    return make(sorted(terms, key=lambda t: order(t[0])), constant).node(u)


arithmetic = PatternMatcher(
    [
        subtract,
        negate,
        add_constants,
        multiply_constants,
        constant_out_of_sum,
        constant_out_of_product,
        distribute_constant,
        combine_terms,
        order_terms,
    ],
    name="arithmetic",
)
