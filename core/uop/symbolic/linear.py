"""Integer expressions as sums: terms with constant coefficients, and a constant.

`term_list` reads any sum, with wraparound. `exact` reads only what provably does not wrap around,
so that the sum holds for the mathematical integers, too: division and comparison need that. Rules
rely on bounds for it; nothing assumes that indices do not overflow. Never rewrites anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from core.dtype import dtypes
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp

Terms = tuple[list[tuple[UOp, int]], int]
MAX_TERMS = 32
"""Longer sums are left alone beyond this many terms, so that a rule's work per node is bounded."""


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant` plus the sum of factor * node over `terms`, each node once, factors not 0."""

    terms: dict[UOp, int]
    constant: int

    @property
    def low(self) -> int:
        """No value of the sum is smaller."""
        return self.constant + sum(
            f * int(x.vmin if f > 0 else x.vmax) for x, f in self.terms.items()
        )

    @property
    def high(self) -> int:
        """No value of the sum is larger."""
        return self.constant + sum(
            f * int(x.vmax if f > 0 else x.vmin) for x, f in self.terms.items()
        )

    @property
    def gcd(self) -> int:
        """The greatest common divisor of the factors; 0 without terms."""
        return math.gcd(*self.terms.values())

    def fits(self, like: UOp) -> bool:
        """Whether every value is one of the dtype of `like`, and for unsigned dtypes every factor
        and the constant, too: -1 would be a large number there."""
        if dtypes.is_unsigned(like.dtype) and min(self.constant, *self.terms.values(), 0) < 0:
            return False
        return dtypes.min(like.dtype) <= self.low and self.high <= dtypes.max(like.dtype)

    def node(self, like: UOp) -> UOp:
        """The sum as a node with the dtype of `like`: terms in order, the constant last."""
        parts = [x if f == 1 else x * f for x, f in self.terms.items()]
        if self.constant or not parts:
            parts.append(like.const_like(self.constant))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


def make(terms: Iterable[tuple[UOp, int]], constant: int) -> Sum:
    """A sum from terms that may repeat or have a factor of 0."""
    found: dict[UOp, int] = {}
    for x, f in terms:
        found[x] = found.get(x, 0) + f
    return Sum({x: f for x, f in found.items() if f}, constant)


def order(u: UOp) -> tuple[int, str, int]:
    """Where a term stands in a sum: outer loops and hardware indices first, as addresses are read.
    Looks at the node alone; terms that it cannot tell apart keep their places."""
    if u.op is Ops.CONST:
        return (5, "", 0)
    if u.op is Ops.RANGE:
        return (2, "", u.arg[0] if u.arg[1] is not AxisType.REDUCE else 1000 + u.arg[0])
    if u.op is Ops.SPECIAL:
        return (1, str(u.arg), 0)
    if u.op is Ops.DEFINE_VAR:
        return (0, str(u.arg[0]), 0)
    return (4 if u.op is Ops.VCONST else 3, u.op.name, 0)


def flat(u: UOp) -> list[tuple[UOp, int]]:
    """The terms of a sum as they come, with wraparound, without its constants."""
    found = term_list(u, must_be_exact=False)
    return [(u, 1)] if found is None else found[0]


def term_list(u: UOp, must_be_exact: bool) -> Terms | None:
    """The terms of a sum, repeated as they come, and its constant; None beyond MAX_TERMS. Kept with
    a sum, as several rules ask for it; must not be changed."""
    if must_be_exact or u.op is not Ops.ADD:
        return _term_list(u, must_be_exact)
    try:
        return u.terms
    except AttributeError:
        u.terms = found = _term_list(u, False)
        return found


def _term_list(u: UOp, must_be_exact: bool) -> Terms | None:
    terms: list[tuple[UOp, int]] = []
    constant = 0
    stack: list[tuple[UOp, int]] = [(u, 1)]
    while stack:
        if len(terms) + len(stack) > MAX_TERMS:
            return None
        x, f = stack.pop()
        op = x.op
        if op is Ops.CONST:
            constant += f * int(x.arg)
        elif op is Ops.ADD and (not must_be_exact or is_exact(x)):
            stack += [(x.src[1], f), (x.src[0], f)]
        elif op is Ops.MUL and x.src[1].op is Ops.CONST and (not must_be_exact or is_exact(x)):
            stack.append((x.src[0], f * int(x.src[1].arg)))
        else:
            terms.append((x, f))
    return terms, constant


def is_exact(u: UOp) -> bool:
    """Whether an ADD or MUL of integers cannot wrap around."""
    (a, b), (c, d) = u.src[0].bounds, u.src[1].bounds
    if u.op is Ops.ADD:
        low, high = a + c, b + d
    else:
        corners = (a * c, a * d, b * c, b * d)
        low, high = min(corners), max(corners)
    return dtypes.min(u.dtype) <= low and high <= dtypes.max(u.dtype)


def exact(u: UOp) -> Sum:
    """`u` as a sum that holds without wraparound; where it is too long, `u` is its only term."""
    found = term_list(u, must_be_exact=True)
    return make(*found) if found is not None else Sum({u: 1}, 0)
