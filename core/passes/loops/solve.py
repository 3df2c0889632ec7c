"""Solving a condition for a loop variable: r == k, r < k or r >= k, with k free of the loop.

Understands integer sums with constant factors, through casts that keep every value of the loop.
Declines where the sum or a bound could wrap around. Never changes a graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from core.dtype import DType, dtypes
from core.uop import Ops, UOp
from core.uop.facts.derive import fold

Linear = tuple[int, UOp | None]


class Relation(Enum):
    """How the loop variable relates to a value."""

    EQUAL = "=="
    BELOW = "<"
    FROM = ">="


@dataclass(frozen=True)
class Solution:
    """loop `relation` `value`, under the further conditions `given`."""

    relation: Relation
    value: UOp
    given: tuple[UOp, ...] = ()


def size_of(loop: UOp) -> int:
    """Iterations of a loop of constant length."""
    return loop.src[0].arg


def holds(dtype: DType, n: int) -> bool:
    """Whether `dtype` holds 0..n-1."""
    return dtypes.is_int(dtype) and n - 1 <= int(dtypes.max(dtype))


def linear(x: UOp, loop: UOp) -> Linear | None:
    """(factor, rest) with x = factor * loop + rest, rest (None: 0) free of the loop; None if x is
    nothing like that."""

    def parts(u: UOp) -> Sequence[UOp]:
        if loop not in u.ranges:
            return ()
        if u.op is Ops.ADD:
            return u.src
        return u.src[:1] if u.op is Ops.MUL and u.src[1].op is Ops.CONST else ()

    return fold(x, parts, lambda u, found: _linear(u, loop, found))


def _linear(u: UOp, loop: UOp, parts: Sequence[Linear | None]) -> Linear | None:
    """`linear` of a node, given that of its sources where it is a sum or a multiple."""
    if loop not in u.ranges:
        return 0, u
    if u is loop:
        return 1, None
    if u.op is Ops.CAST and dtypes.is_int(u.src[0].dtype) and holds(u.dtype, size_of(loop)):
        # the cast of a sum may only be taken apart if the sum itself is kept
        return (1, None) if u.src[0] is loop else None
    if not parts or parts[0] is None or parts[-1] is None:
        return None
    a, rest = parts[0]
    if u.op is Ops.MUL:
        factor = u.src[1].arg
        return a * factor, None if rest is None else rest * factor
    b, other = parts[-1]
    return a + b, rest if other is None else other if rest is None else rest + other


def solve(clause: UOp, loop: UOp) -> Solution | None:
    """What `clause` (bool) says of the loop; None where that is not known in this form."""
    while _is_negation(clause) and _is_negation(clause.src[0]):
        clause = clause.src[0].src[0]
    if _is_negation(clause):
        found = _solve_comparison(clause.src[0], loop)
        if found is None or found.given or found.relation is Relation.EQUAL:
            return None
        other = Relation.FROM if found.relation is Relation.BELOW else Relation.BELOW
        return Solution(other, found.value)
    return _solve_comparison(clause, loop)


def _solve_comparison(clause: UOp, loop: UOp) -> Solution | None:
    """`solve` of what is no negation."""
    if clause.op not in (Ops.CMPEQ, Ops.CMPLT) or not dtypes.is_int(clause.src[0].dtype):
        return None
    x, y = clause.src
    left, right = linear(x, loop), linear(y, loop)
    if left is None or right is None or (left[0] != 0) == (right[0] != 0):
        return None
    form, other = (left, y) if left[0] else (right, x)
    loop_first = form is left
    if clause.op is not Ops.CMPEQ or form[0] not in (1, -1):
        if not exact(form, loop, other.dtype):
            return None
        bounded = _bounded(clause.op, form, other, loop, loop_first)
        if (
            other := next((v for v in bounded if _fits(clause.op, form, v, loop_first)), None)
        ) is None:
            return None
    return _solved(clause.op, form, other, loop_first)


def _bounded(op: Ops, form: Linear, y: UOp, loop: UOp, loop_first: bool) -> Iterator[UOp]:
    """`y`, and `y` within bounds beyond which it compares alike with all that the loop makes."""
    yield y
    low, high = _span(form, loop)
    low -= op is Ops.CMPEQ or not loop_first
    high += op is Ops.CMPEQ or loop_first
    least, most = max(low, int(dtypes.min(y.dtype))), min(high, int(dtypes.max(y.dtype)))
    yield y.maximum(least)
    yield y.minimum(most)
    yield y.maximum(least).minimum(most)


def _is_negation(u: UOp) -> bool:
    return u.op is Ops.CMPNE and u.src[1].op is Ops.CONST and u.src[1].arg is True


def _span(form: Linear, loop: UOp) -> tuple[int, int]:
    """The bounds of factor * loop + rest."""
    factor, rest = form
    last = factor * (size_of(loop) - 1)
    low = min(0, last) + (0 if rest is None else int(rest.vmin))
    return low, max(0, last) + (0 if rest is None else int(rest.vmax))


def exact(form: Linear, loop: UOp, dtype: DType) -> bool:
    """Whether factor * loop + rest stays within the dtype."""
    low, high = _span(form, loop)
    return int(dtypes.min(dtype)) <= low and high <= int(dtypes.max(dtype))


def _solved(op: Ops, form: Linear, y: UOp, loop_first: bool) -> Solution:
    """factor * loop + rest `op` y, or y `op` factor * loop + rest."""
    factor, rest = form
    if op is Ops.CMPEQ:
        difference = y if rest is None else y - rest
        if factor in (1, -1):
            return Solution(Relation.EQUAL, difference * factor if factor < 0 else difference)
        exact = (difference % abs(factor)).eq(0)
        return Solution(Relation.EQUAL, difference // factor, (exact,))
    if factor > 0:
        value = y if rest is None else y - rest
    else:
        value = y * -1 if rest is None else rest - y
    below = loop_first is (factor > 0)
    value, each = value if below else value + 1, abs(factor)
    if each > 1:  # how many steps there are below it, of which none is before 0
        value = (value.maximum(0) + (each - 1)) // each
    return Solution(Relation.BELOW if below else Relation.FROM, value)


def _fits(op: Ops, form: Linear, y: UOp, loop_first: bool) -> bool:
    """Whether what is computed for the loop's bound stays within the dtype."""
    factor, rest = form
    low, high = int(y.vmin), int(y.vmax)
    if rest is not None:
        low, high = low - int(rest.vmax), high - int(rest.vmin)
    if op is Ops.CMPLT:
        if factor < 0:
            low, high = -high, -low
        high += ((factor > 0) is not loop_first) + abs(factor) - 1
    return low >= dtypes.min(y.dtype) and high <= dtypes.max(y.dtype)
