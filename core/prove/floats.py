"""Compares floats: exact, equal but for rounding, equal under what a rule gives up, or different.

Never evaluates a graph by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import dtypes
from core.prove.samples.rounding import ACCURATE, units
from core.prove.samples.sample import Samples
from core.prove.terms.term import Kind, Term, postorder
from core.prove.terms.value import UnknownMeaningError
from core.prove.verdict import Verdict
from core.uop import Ops
from core.uop.patterns.rule import Assumes

Array = npt.NDArray[Any]
EXACT: Final = "exact"
ON_THE_WAY: Final = "on the way"
_EXACT: Final = frozenset(
    {Kind.INPUT, Kind.READ, Ops.CONST, Ops.CAST, Ops.BITCAST, Ops.WHERE, Ops.NEG, Ops.TRUNC}
)
"""Of floats, what has one result and is no arithmetic."""
MIN_DECIDED: Final = 8
"""The fewest decided samples that are enough where others are undecided."""
MAX_FINITE: Final = 8
"""One sample in so many may be undecided although both its numbers are finite: an overflow in
between mostly shows in the result."""


class UndecidedError(UnknownMeaningError):
    """Samples were compared, and too many of them say nothing: fewer would say no more."""


@dataclass(frozen=True)
class Floats:
    """The result for some pairs: the largest difference in units of the last place, what had to be
    assumed, and a sample that is wrong all the same. `undecided`: the samples that differ where a
    value on the way overflows, of which nothing is known; `one_sided`: in one of these, one of the
    two alone overflows, and is a finite number all the same: the difference may well be real."""

    ulps: float = 0.0
    assumed: frozenset[Assumes] = frozenset()
    wrong: int | None = None
    undecided: int = 0
    one_sided: bool = False

    def joined(self, other: Floats) -> Floats:
        """Of both together."""
        return Floats(
            max(self.ulps, other.ulps),
            self.assumed | other.assumed,
            undecided=max(self.undecided, other.undecided),
            one_sided=self.one_sided or other.one_sided,
        )

    def verdict(self, samples: int) -> Verdict:
        """As an answer."""
        if self.one_sided:
            return Verdict("unchecked", f"of the two, only one overflows {ON_THE_WAY}")
        if self.assumed:
            how = ", ".join(sorted(self.assumed))
            return Verdict("assumes", how, samples, self.ulps)
        how = "equal but for rounding" if self.ulps else EXACT
        if self.undecided:
            how = f"{how}, but for samples that overflow {ON_THE_WAY}"
        return Verdict("sampled", how, samples, self.ulps)


@np.errstate(all="ignore")  # NaNs that signal are values like others
def compare_floats(
    samples: Samples, a: Term, b: Term, x: Array, y: Array, assumes: Sequence[Assumes]
) -> Floats:
    """Compares two terms by their values in each sample."""
    left, right = np.asarray(x, np.float64), np.asarray(y, np.float64)
    open_ = ~same_values(left, right)
    if not open_.any():
        return Floats()
    assumed: set[Assumes] = set()
    zeros = open_ & (left == 0) & (right == 0)
    if zeros.any() and Assumes.EITHER_ZERO in assumes:
        assumed.add(Assumes.EITHER_ZERO)
        open_ &= ~zeros
    if Assumes.NO_NAN in assumes or Assumes.FINITE in assumes:
        special = _special(samples, a, b, Assumes.FINITE in assumes)
        if (special & open_).any():
            assumed.add(Assumes.FINITE if Assumes.FINITE in assumes else Assumes.NO_NAN)
            open_ &= ~special
    if not open_.any():
        return Floats(0.0, frozenset(assumed))
    if Assumes.ACCURACY in assumes:
        ulps = _apart(a, left, right)
        wrong = open_ & ~(ulps <= ACCURATE)
        if wrong.any():
            return Floats(0.0, frozenset(assumed), int(np.flatnonzero(wrong)[0]))
        largest = float(ulps[open_].max(initial=0.0))
        return Floats(largest, frozenset({*assumed, Assumes.ACCURACY}))
    both = shared(a, b)
    if is_exact(a, both):  # whatever `b` is made of: there is one result
        return Floats(0.0, frozenset(assumed), int(np.flatnonzero(open_)[0]))
    samples.run([a, b], errors=True, exact=both)
    errors = samples.errors[a], samples.errors[b]
    allowed = errors[0] + errors[1]
    apart, ulps = np.abs(left - right), _apart(a, left, right)
    known = np.isfinite(allowed)
    close = (apart <= allowed) & (allowed > 0) & known
    overflowed = (np.isinf(left) != np.isinf(right)) & (allowed > 0)
    largest = dtypes.finfo(a.dtype.scalar()).max
    edge = overflowed & (np.minimum(np.abs(left), np.abs(right)) + allowed >= largest)
    rest = open_ & ~close & ~edge
    undecided = open_ & ~known
    lost_samples = int(undecided.sum())
    both_finite = int((undecided & np.isfinite(left) & np.isfinite(right)).sum())
    too_many = lost_samples > min(samples.count // 2, max(0, samples.count - MIN_DECIDED))
    if too_many or both_finite > samples.count // MAX_FINITE:
        raise UndecidedError("rounding errors on the way may decide what is chosen")
    rest &= known
    if rest.any():
        return Floats(0.0, frozenset(assumed), int(np.flatnonzero(rest)[0]))
    counted = ulps[open_ & close & np.isfinite(ulps)]
    lost = [np.isinf(error) for error in errors]
    chosen = (lost[0] & ~lost[1] & np.isfinite(left)) | (lost[1] & ~lost[0] & np.isfinite(right))
    return Floats(
        float(counted.max(initial=0.0)),
        frozenset(assumed),
        undecided=int(undecided.sum()),
        one_sided=bool((undecided & chosen).any()),
    )


def is_exact(a: Term, given: frozenset[Term] = frozenset()) -> bool:
    """Whether a term has one result, and no order or rounding of arithmetic is open: it moves,
    chooses and converts numbers alone, those that are `given` among them. Each conversion rounds,
    in one way."""
    for u in _outside_of(a, given):
        if u.op is Kind.REDUCE and any(dtypes.is_float(x.dtype) for x in (u, *postorder(u.args))):
            return False
        if u.op not in _EXACT and dtypes.is_float(u.dtype) and not u.constant:
            return False
    return True


def shared(a: Term, b: Term) -> frozenset[Term]:
    """The floats that both are made of: however they were rounded, both have the same numbers."""
    left = {t for t in _outside_of(a) if dtypes.is_float(t.dtype)}
    return frozenset(left.intersection(_outside_of(b)) - {a, b})


def _outside_of(a: Term, given: frozenset[Term] = frozenset()) -> list[Term]:
    """What a term is made of, without what given terms and reductions are made of."""
    seen, left = dict[Term, None](), [a]
    while left:
        t = left.pop()
        if t in seen or t in given:
            continue
        seen[t] = None
        if t.op is not Kind.REDUCE:
            left += t.args
    return list(seen)


def _apart(t: Term, x: Array, y: Array) -> Array:
    """The difference in units of the last place of the larger one."""
    unit, tiny = units(t.dtype)
    largest = np.maximum(np.abs(x), np.abs(y))
    return np.abs(x - y) / np.maximum(2 * unit * largest, tiny)


def same_values(x: Array, y: Array) -> npt.NDArray[np.bool_]:
    """The same number, zeros by their signs; or both NaN."""
    both_nan = np.isnan(x) & np.isnan(y)
    return both_nan | ((x == y) & ((x != 0) | (np.signbit(x) == np.signbit(y))))


def _special(samples: Samples, a: Term, b: Term, infinite: bool) -> npt.NDArray[np.bool_]:
    """The samples in which an input is NaN (or infinite), or an intermediate value is."""
    found = np.zeros(samples.count, np.bool_)
    outside: list[Term] = []
    stack = [a, b]
    while stack:
        t = stack.pop()
        outside.append(t)
        if t.op is not Kind.REDUCE:
            stack += t.args
    wanted = [
        t for t in dict.fromkeys(outside) if t.dtype.name.startswith(("float", "bfloat", "fp8"))
    ]
    for values in samples.run(wanted):
        floats = np.asarray(values, np.float64)
        found |= ~np.isfinite(floats) if infinite else np.isnan(floats)
    return found
