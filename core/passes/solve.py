"""Solving a condition for a loop variable: r == k, r < k or r >= k, with k free of the loop.

Understands integer sums with constant factors, through casts that keep every value of the loop.
Declines where the sum or a bound could wrap around. Never changes a graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from core.dtype import DType, dtypes
from core.uop import Ops, UOp


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


def linear(x: UOp, loop: UOp) -> tuple[int, UOp | None] | None:
    """(factor, rest) with x = factor * loop + rest, rest (None: 0) free of the loop; None if x is
    nothing like that."""
    if loop not in x.ranges:
        return 0, x
    if x is loop:
        return 1, None
    if x.op is Ops.CAST and dtypes.is_int(x.src[0].dtype) and holds(x.dtype, size_of(loop)):
        # the cast of a sum may only be taken apart if the sum itself is kept
        return (1, None) if x.src[0] is loop else None
    if x.op is Ops.ADD:
        parts = [linear(s, loop) for s in x.src]
        if parts[0] is None or parts[1] is None:
            return None
        (a, rest), (b, other) = parts[0], parts[1]
        total = rest if other is None else other if rest is None else rest + other
        return a + b, total
    if x.op is Ops.MUL and x.src[1].op is Ops.CONST:
        part = linear(x.src[0], loop)
        if part is None:
            return None
        factor, rest = part
        return factor * x.src[1].arg, None if rest is None else rest * x.src[1].arg
    return None


def solve(clause: UOp, loop: UOp) -> Solution | None:
    """What `clause` (bool) says of the loop; None where that is not known in this form."""
    if clause.op is Ops.CMPNE and clause.src[1].op is Ops.CONST and clause.src[1].arg is True:
        found = solve(clause.src[0], loop)
        if found is None or found.given or found.relation is Relation.EQUAL:
            return None
        other = Relation.FROM if found.relation is Relation.BELOW else Relation.BELOW
        return Solution(other, found.value)
    if clause.op not in (Ops.CMPEQ, Ops.CMPLT) or not dtypes.is_int(clause.src[0].dtype):
        return None
    x, y = clause.src
    left, right = linear(x, loop), linear(y, loop)
    if left is None or right is None or (left[0] != 0) == (right[0] != 0):
        return None
    form, other = (left, y) if left[0] else (right, x)
    unique = clause.op is Ops.CMPEQ and form[0] in (1, -1)
    if not unique and not _exact(form, loop, other.dtype):
        return None
    return _solved(clause.op, form, other, loop_first=form is left)


def _exact(form: tuple[int, UOp | None], loop: UOp, dtype: DType) -> bool:
    """Whether factor * loop + rest stays within the dtype."""
    factor, rest = form
    last = factor * (size_of(loop) - 1)
    low = min(0, last) + (0 if rest is None else int(rest.vmin))
    high = max(0, last) + (0 if rest is None else int(rest.vmax))
    return int(dtypes.min(dtype)) <= low and high <= int(dtypes.max(dtype))


def _solved(op: Ops, form: tuple[int, UOp | None], y: UOp, loop_first: bool) -> Solution | None:
    """factor * loop + rest `op` y, or y `op` factor * loop + rest."""
    factor, rest = form
    if op is Ops.CMPEQ:
        difference = y if rest is None else y - rest
        if factor in (1, -1):
            return Solution(Relation.EQUAL, difference * factor if factor < 0 else difference)
        if rest is not None and not _fits(op, form, y, loop_first):
            return None
        exact = (difference % abs(factor)).eq(0)
        return Solution(Relation.EQUAL, difference // factor, (exact,))
    if factor not in (1, -1) or not _fits(op, form, y, loop_first):
        return None
    if factor == 1:
        value = y if rest is None else y - rest
        return Solution(Relation.BELOW, value) if loop_first else Solution(Relation.FROM, value + 1)
    value = y * -1 if rest is None else rest - y
    return Solution(Relation.FROM, value + 1) if loop_first else Solution(Relation.BELOW, value)


def _fits(op: Ops, form: tuple[int, UOp | None], y: UOp, loop_first: bool) -> bool:
    """Whether what is computed for the loop's bound stays within the dtype."""
    factor, rest = form
    low, high = int(y.vmin), int(y.vmax)
    if rest is not None:
        low, high = low - int(rest.vmax), high - int(rest.vmin)
    if factor < 0 and op is Ops.CMPLT:
        low, high = -high, -low
    more = op is Ops.CMPLT and (factor > 0) is not loop_first
    return low >= dtypes.min(y.dtype) and high + more <= dtypes.max(y.dtype)
