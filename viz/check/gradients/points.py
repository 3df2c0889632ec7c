"""What an operation on single elements has for a derivative, by differences at many points.

Points where it has none (a kink, the end of its domain, an overflow) say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.prove.verdict import Verdict
from core.runtime.numeric import Array
from core.uop import Ops, UOp
from viz.check.gradients.share import (
    FAILURES,
    FEW,
    KINK,
    NONE,
    OTHER,
    POINTS,
    STEP,
    Share,
    agrees,
    differs_at,
    is_input,
    ordered,
    points,
    tolerance,
)
from viz.check.gradients.wide import NO_VALUE, Wide

SLOPE: Final = "differences of the function give another derivative than the one that is given"
_GIVEN: Final = 1e-3
"""What a derivative that is given may be off by: it may be one of an approximation."""
_ROUNDED: Final = 16 * 2.0**-52


def of_points(share: Share, inputs: frozenset[UOp]) -> Verdict:
    """Many points, each one element."""
    random = np.random.default_rng(1)
    values = Wide({u: points(u, random) for u in ordered(share, inputs)}, flat=True)
    node, at = share.node, share.at
    sources = [NONE if s.op in NO_VALUE else values.value(s) for s in node.src]
    x, w, given = (
        np.broadcast_to(values.value(u), (POINTS,)).astype(np.float64)
        for u in (share.source, share.grad, share.after)
    )

    def f(value: Array) -> Array:
        if node.op is Ops.DERIVATIVE:  # its derivatives are given
            return value * sources[at + 1]
        return values.of(node, [*sources[:at], value, *sources[at + 1 :]])

    found = _differences(f, x)
    if found.there.sum() < POINTS // 16:
        return Verdict("unchecked", FEW)
    shown = [(f"source {n}", v) for n, v in enumerate(sources) if v is not NONE]
    wrong = found.other(given, w, tolerance(share, inputs, False))
    if wrong.any():
        return differs_at(wrong, [*shown, ("gradient", w)], w * found.slope, given, OTHER)
    return agrees(int(found.there.sum()), bool(found.there.all()))


def of_slope(function: UOp, slope: UOp, source: UOp, arguments: Sequence[UOp]) -> Verdict | None:
    """Where the derivative of a function by one of its arguments is not what is given for it; None
    where it is, or where the function cannot be computed from its arguments in float64."""
    random = np.random.default_rng(3)
    tried = {u: points(u, random) for u in arguments if is_input(u)}

    def f(value: Array) -> Array:
        return Wide({**tried, source: value}, flat=True).value(function)

    try:
        given = Wide(tried, flat=True).value(slope)
        found = _differences(f, tried[source])
    except FAILURES:
        return None
    given = np.broadcast_to(given, (POINTS,)).astype(np.float64)
    wrong = found.other(given, np.ones(POINTS), _GIVEN)
    if not wrong.any():
        return None
    shown = [(f"argument {n}", tried[u]) for n, u in enumerate(arguments, 1) if u in tried]
    return differs_at(wrong, shown, found.slope, given, SLOPE)


@dataclass(frozen=True)
class _Differences:
    """What differences of a function at many points say of its derivative: its `slope`, where it
    has one (`there`), and how far that may be off."""

    slope: Array
    there: Array
    error: Array

    def other(self, given: Array, w: Array, tolerance: float) -> Array:
        """Where `given` is not `w` times the slope."""
        wanted = w * self.slope
        allowed = tolerance * (np.abs(wanted) + np.abs(w)) + np.abs(w) * self.error
        return self.there & np.isfinite(w) & ~(np.abs(given - wanted) <= allowed)


def _differences(f: Callable[[Array], Array], x: Array) -> _Differences:
    h = STEP * np.maximum(1.0, np.abs(x))
    middle, ahead, behind, far, back = (
        np.broadcast_to(f(x + k * h), x.shape).astype(np.float64) for k in (0, 1, -1, 2, -2)
    )
    right, left = (ahead - middle) / h, (middle - behind) / h
    slope, wider = (ahead - behind) / (2 * h), (far - back) / (4 * h)
    apart, size = np.abs(right - left), np.maximum(np.abs(right), np.abs(left))
    there = np.isfinite(right) & np.isfinite(left) & np.isfinite(wider)
    there &= apart <= KINK * size + 1e-4
    return _Differences(
        slope, there, apart + 2 * np.abs(slope - wider) + _ROUNDED * np.abs(middle) / h
    )
