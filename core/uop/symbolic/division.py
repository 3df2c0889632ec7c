"""Integer division and remainder, which truncate toward zero as in C.

Each rule states when it holds; the conditions are checked on bounds, with sums that provably do not
wrap around (`linear.exact`). No rule assumes that an index does not overflow or is not negative.
"""

from __future__ import annotations

import math

from core.dtype import dtypes
from core.uop.facts.meaning import remainder
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.linear import Sum, exact, is_exact, make
from core.uop.uop import UOp

x, y = UPat.var("x", dtypes.ints), UPat.var("y", dtypes.ints)
c, c1, c2 = (UPat.cvar(name, vec=False) for name in ("c", "c1", "c2"))


@rule(x % y)
def remainder_of_small(x: UOp, y: UOp) -> UOp | None:
    """x % y -> x  when -|y| < x < |y|"""
    nearest = 0 if y.vmin <= 0 <= y.vmax else min(abs(int(y.vmin)), abs(int(y.vmax)))
    return x if -nearest < x.vmin and x.vmax < nearest else None


@rule(UPat.var("x", dtypes.sints) // c)
def divide_by_negative(x: UOp, c: UOp) -> UOp | None:
    """x // -c -> x // c * -1"""
    return (x // -c.arg) * -1 if dtypes.min(c.dtype) < c.arg < 0 else None


@rule(UPat.var("x", dtypes.sints) % c)
def remainder_by_negative(x: UOp, c: UOp) -> UOp | None:
    """x % -c -> x % c"""
    return x % -c.arg if dtypes.min(c.dtype) < c.arg < 0 else None


@rule((x // c1) // c2)
def divide_twice(x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """x // c1 // c2 -> x // (c1 * c2)  when c1, c2 > 0; 0 where c1 * c2 is beyond the dtype"""
    if c1.arg <= 0 or c2.arg <= 0:
        return None
    both = c1.arg * c2.arg
    if both > dtypes.max(x.dtype):
        return x.const_like(0) if x.vmin > -both else None
    return x // both


@rule((x // c1 + UPat.cvar("k", vec=False)) // c2)
def divide_quotient_and_constant(x: UOp, c1: UOp, k: UOp, c2: UOp) -> UOp | None:
    """(x // c1 + k) // c2 -> (x + c1 * k) // (c1 * c2)  when x and x // c1 + k are never negative,
    and nothing wraps around"""
    if c1.arg <= 0 or c2.arg <= 0 or x.vmin < 0:
        return None
    inside = Sum({x // c1: 1}, int(k.arg))
    made = Sum({x: 1}, int(k.arg) * c1.arg)
    if inside.low < 0 or not (inside.fits(x) and made.fits(x)):
        return None
    both = c1.arg * c2.arg
    return made.node(x) // both if both <= dtypes.max(x.dtype) else None


@rule((UPat.var("x", dtypes.sints) // c1) * -1 + UPat.cvar("k", vec=False))
def add_negated_quotient(x: UOp, c1: UOp, k: UOp) -> UOp | None:
    """k - (a - x) // c -> (x + k * c + c - 1 - a) // c  when c > 0, neither dividend is ever
    negative, and nothing wraps around"""
    c, total = int(c1.arg), exact(x)
    if c <= 0 or not total.terms or max(total.terms.values()) > 0 or x.vmin < 0:
        return None
    terms = {term: -f for term, f in total.terms.items()}
    made = Sum(terms, int(k.arg) * c + c - 1 - total.constant)
    return made.node(x) // c if made.low >= 0 and made.fits(x) else None


@rule(x // (y * c))
def divide_by_multiple(x: UOp, y: UOp, c: UOp) -> UOp | None:
    """(k a) // (k y) -> a // y, for sums a and a constant k > 1, when nothing wraps around"""
    total = exact(x)
    common = math.gcd(total.gcd, total.constant, int(c.arg))
    if common < 2 or c.arg <= 0 or not is_exact(y * c):
        return None
    terms = {term: f // common for term, f in total.terms.items()}
    made = Sum(terms, total.constant // common)
    rest = int(c.arg) // common
    return made.node(x) // (y if rest == 1 else y * rest) if made.fits(x) else None


@rule((x % c1) % c2)
def remainder_twice(x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """x % c1 % c2 -> x % c2  when c2 divides c1"""
    return x % c2 if c1.arg > 0 and c2.arg > 0 and c1.arg % c2.arg == 0 else None


@rule((x % c1) // c2)
def divide_remainder(x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """x % c1 // c2 -> x // c2 % (c1 // c2)  when c2 divides c1"""
    if not (0 < c2.arg < c1.arg and c1.arg % c2.arg == 0):
        return None
    return (x // c2) % (c1.arg // c2.arg)


@rule((x * y) // y)
def divide_product(x: UOp, y: UOp) -> UOp | None:
    """x * y // y -> x  when y is never 0 and x * y does not wrap around"""
    if (y.vmin <= 0 <= y.vmax) or not is_exact(x * y):
        return None
    return x


@rule((x * y) % y)
def remainder_of_product(x: UOp, y: UOp) -> UOp | None:
    """x * y % y -> 0  when x * y does not wrap around"""
    return x.const_like(0) if is_exact(x * y) else None


def split(total: Sum, c: int, near: bool) -> tuple[Sum, Sum]:
    """(q, r) with total = q * c + r. Factors of r are smaller than c with the sign of the factor of
    total or, `near`, those nearest to 0; the constant of r is in 0..c-1."""

    def rest(f: int) -> int:
        if not near:
            return remainder(f, c)
        r = f % c
        return r - c if 2 * r > c else r

    q = make([(x, (f - rest(f)) // c) for x, f in total.terms.items()], total.constant // c)
    r = make([(x, rest(f)) for x, f in total.terms.items()], total.constant % c)
    return q, r


def parts(total: Sum, c: int, like: UOp, reduce: bool) -> tuple[Sum, Sum] | None:
    """(q, r) with total // c = q + r // c and total % c = r % c, both truncating, q not nothing.

    Terms whose factor c divides go to q as a whole, the others stay; with `reduce`, their factors
    become what c leaves of them. The constant of r is smaller than c. With total = q * c + r, the
    two hold where total and r have no opposite signs, that is, both are >= 0, or both <= 0, or r
    is 0. None where no such split is found.
    """

    def rest(f: int) -> int:
        return remainder(f, c) if reduce or f % c == 0 else f

    fixed = total.constant
    for kept in dict.fromkeys((remainder(fixed, c), fixed % c)):
        q = make([(x, (f - rest(f)) // c) for x, f in total.terms.items()], (fixed - kept) // c)
        r = make([(x, rest(f)) for x, f in total.terms.items()], kept)
        if not q.terms and abs(kept) >= abs(fixed):
            continue  # nothing leaves, or a constant only that comes back larger
        same_sign = (total.low >= 0 and r.low >= 0) or (total.high <= 0 and r.high <= 0)
        if (same_sign or (not r.terms and not r.constant)) and r.fits(like) and q.fits(like):
            return q, r
    return None


def single_block(total: Sum, c: int, like: UOp) -> tuple[Sum, Sum] | None:
    """(q, r) with total = q * c + r, total >= 0 and r always in 0..c-1: the quotient and the
    remainder themselves. None where no such split is found."""
    if total.low < 0:
        return None
    for near in (False, True):
        q, r = split(total, c, near)
        block = r.low // c
        if block == r.high // c:
            q, r = Sum(q.terms, q.constant + block), Sum(r.terms, r.constant - block * c)
            if q.fits(like) and r.fits(like):
                return q, r
    return None


@rule(x // c)
def divide_sum_exactly(x: UOp, c: UOp) -> UOp | None:
    """(x * (c * k) + y) // c -> x * k + m  when the sum is >= 0, y in m * c .. m * c + c - 1"""
    found = _apart(x, c)
    return found[0].node(x) if found else None


@rule(x % c)
def remainder_of_sum_exactly(x: UOp, c: UOp) -> UOp | None:
    """(x * (c * k) + y) % c -> y - m * c  when the sum is >= 0, y in m * c .. m * c + c - 1"""
    found = _apart(x, c)
    return found[1].node(x) if found and (found[0].terms or found[0].constant) else None


def _apart(x: UOp, c: UOp) -> tuple[Sum, Sum] | None:
    if c.arg <= 1 or x.op not in (Ops.ADD, Ops.MUL):
        return None
    return single_block(exact(x), c.arg, x)


@rule(x // c)
def divide_sum(x: UOp, c: UOp) -> UOp | None:
    """(x * c + y) // c -> x + y // c  when the sum and y have the same sign, or y is 0"""
    if c.arg <= 1 or x.op not in (Ops.ADD, Ops.MUL):
        return None
    if (found := parts(exact(x), c.arg, x, reduce=False)) is None:
        return None
    q, r = found
    return q.node(x) + r.node(x) // c if r.terms else q.node(x)  # a constant is less than c


@rule(x % c)
def remainder_of_sum(x: UOp, c: UOp) -> UOp | None:
    """(x * c + y) % c -> y % c;  x * (c * k + d) % c -> x * d % c;  when the sums before and after
    have the same sign, or y is 0"""
    if c.arg <= 1 or x.op not in (Ops.ADD, Ops.MUL):
        return None
    total = exact(x)
    found = parts(total, c.arg, x, reduce=True) or parts(total, c.arg, x, reduce=False)
    if found is None:
        return None
    r = found[1]
    return r.node(x) % c if r.terms else r.node(x)


def moderate(total: Sum, like: UOp) -> bool:
    """Whether all numbers of a sum are in the inner half of the dtype of `like`: others are close
    to wrapping around, where the measure takes -x for less than 2 * x."""
    most = dtypes.max(like.dtype) // 2
    return all(abs(f) <= most for f in (*total.terms.values(), total.constant))


def common(x: UOp, c: int) -> tuple[int, Sum, Sum] | None:
    """(g, s, k) with x = s * g + k, k in 0..g-1, where g > 1 divides c; k is 0 or x >= 0, so that
    x // g = s. The largest such g; None without one."""
    if c <= 1 or x.op not in (Ops.ADD, Ops.MUL):
        return None
    total = exact(x)
    if not moderate(total, x):
        return None
    shared = {math.gcd(c, f) for f in (total.gcd, *total.terms.values())}
    for g in sorted(shared, reverse=True):
        s = Sum({t: f // g for t, f in total.terms.items() if f % g == 0}, total.constant // g)
        k = Sum({t: f for t, f in total.terms.items() if f % g}, total.constant % g)
        fits = k.low >= 0 and k.high < g and s.fits(x) and s.terms
        if g > 1 and fits and (total.low >= 0 or not (k.terms or k.constant)):
            return g, s, k
    return None


@rule(x // c)
def divide_by_common(x: UOp, c: UOp) -> UOp | None:
    """(x * g + y) // (c * g) -> x // c  when y is in 0..g-1 and the sum is >= 0, or y is 0"""
    found = common(x, c.arg)
    return found[1].node(x) // (c.arg // found[0]) if found else None


@rule(x % c)
def remainder_by_common(x: UOp, c: UOp) -> UOp | None:
    """(x * g + y) % (c * g) -> x % c * g + y  when y is in 0..g-1 and the sum is >= 0, or y is 0"""
    if (found := common(x, c.arg)) is None:
        return None
    g, s, k = found
    if s.constant < 0 and k.constant:  # (x * 6 - 5) % 24 would be (x - 1) % 4 * 6 + 1
        return None
    made = (s.node(x) % (c.arg // g)) * g
    return made + k.node(x) if k.terms or k.constant else made


def negated(x: UOp) -> UOp | None:
    """-x, of a sum in which no number is positive, none is large, and nothing wraps around."""
    if x.op not in (Ops.ADD, Ops.MUL) or dtypes.is_unsigned(x.dtype):
        return None
    total = exact(x)
    numbers = (*total.terms.values(), total.constant)
    if not total.terms or max(numbers) > 0 or not moderate(total, x):
        return None
    opposite = Sum({t: -f for t, f in total.terms.items()}, -total.constant)
    return opposite.node(x) if opposite.fits(x) else None


@rule(x // c)
def divide_negated(x: UOp, c: UOp) -> UOp | None:
    """-x // c -> x // c * -1  when -x does not wrap around"""
    made = negated(x) if c.arg > 0 else None
    return (made // c) * -1 if made is not None else None


@rule(x % c)
def remainder_of_negated(x: UOp, c: UOp) -> UOp | None:
    """-x % c -> x % c * -1  when -x does not wrap around"""
    made = negated(x) if c.arg > 0 else None
    return (made % c) * -1 if made is not None else None


division = PatternMatcher(
    [
        remainder_of_small,
        divide_by_negative,
        remainder_by_negative,
        divide_twice,
        divide_quotient_and_constant,
        add_negated_quotient,
        divide_by_multiple,
        remainder_twice,
        divide_remainder,
        divide_product,
        remainder_of_product,
        divide_sum_exactly,
        remainder_of_sum_exactly,
        divide_sum,
        remainder_of_sum,
        divide_by_common,
        remainder_by_common,
        divide_negated,
        remainder_of_negated,
    ],
    name="division",
)
