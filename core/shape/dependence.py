"""What an index of a chain of views does to the element address, axis by axis.

Works on strides and ranges alone, at a cost of rank squared per view. Never claims a stride that
is not exact: an axis whose effect is not affine is reported as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from core.shape.axis import merge_adjacent
from core.shape.view import View


@dataclass(frozen=True)
class AxisEffects:
    """Effects of the logical axes of a view chain.

    `strides[k]` is the exact step of the address along axis k, or None where it is not affine;
    `masked` are the axes on which the validity of an index may depend.
    """

    strides: tuple[int | None, ...]
    masked: frozenset[int]


@dataclass
class _Affine:
    """start + sum(steps[k] * i[k]), plus something unknown in the axes `unknown`."""

    start: int
    steps: dict[int, int]
    unknown: frozenset[int]

    @property
    def axes(self) -> frozenset[int]:
        return self.unknown | {k for k, step in self.steps.items() if step}


def _bounds(
    start: int, steps: Mapping[int, int], ranges: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    low = high = start
    for k, step in steps.items():
        ends = (step * ranges[k][0], step * (ranges[k][1] - 1))
        low, high = low + min(ends), high + max(ends)
    return low, high


def _below(
    start: int, steps: Mapping[int, int], base: int, ranges: Sequence[tuple[int, int]]
) -> tuple[set[int], int]:
    """(axes, g): the small steps that, with start % g, always stay in 0..g-1, where g divides
    `base` and all other steps. They are the lowest digit of the sum, for base g."""
    small = sorted(steps, key=lambda k: abs(steps[k]))
    for count in range(len(small), -1, -1):
        g = gcd(base, *(steps[k] for k in small[count:]))
        low, high = _bounds(start % g, {k: steps[k] for k in small[:count]}, ranges)
        if low >= 0 and high < g:
            return set(small[:count]), g
    return set(), 1


def _digit(flat: _Affine, place: int, size: int, ranges: Sequence[tuple[int, int]]) -> _Affine:
    """flat // place % size, affine in the axes that neither carry into it nor wrap it."""
    if flat.unknown:
        return _Affine(0, {}, flat.axes)
    steps = {k: step for k, step in flat.steps.items() if step % (place * size)}
    lost, g = _below(flat.start, steps, place, ranges)
    steps = {k: step for k, step in steps.items() if k not in lost}
    start, rest = divmod(flat.start - flat.start % g, place)
    high = {k: step // place for k, step in steps.items() if step % place == 0}
    low = {k: step for k, step in steps.items() if step % place}
    least, most = _bounds(rest, low, ranges)
    # flat // place is start + high + carry; the carry is unknown in the low axes
    carries = (least // place, most // place)
    least, most = _bounds(start % size, high, ranges)
    if least + carries[0] >= 0 and most + carries[1] < size:
        return _Affine(start % size, high, frozenset(low))
    if low:
        return _Affine(0, {}, frozenset(steps))
    kept, g = _below(start, high, size, ranges)
    wrapped = frozenset(high) - kept
    return _Affine(start % g, {k: step for k, step in high.items() if k in kept}, wrapped)


def axis_effects(views: Sequence[View]) -> AxisEffects:
    """Effects of the axes of the last view on the address in the memory under the first."""
    last = views[-1]
    ranges = [(axis.begin, axis.end) for axis in last.axes]
    if last.empty:
        return AxisEffects((0,) * len(ranges), frozenset(range(len(ranges))))
    masked = {k for k, axis in enumerate(last.axes) if not axis.full}
    flat = _Affine(last.offset, dict(enumerate(last.strides)), frozenset())
    for view in reversed(views[:-1]):
        place = view.size
        total = _Affine(view.offset, {}, frozenset())
        axes, total.start = merge_adjacent(view.axes, view.offset)
        for axis in axes:
            place = place // axis.size if axis.size else 1
            digit = _digit(flat, max(place, 1), max(axis.size, 1), ranges)
            if not axis.full:
                masked |= digit.axes
            if axis.stride:
                total.start += axis.stride * digit.start
                total.unknown |= digit.unknown
                for k, step in digit.steps.items():
                    total.steps[k] = total.steps.get(k, 0) + axis.stride * step
        if view.empty:
            masked |= set(range(len(ranges)))
        flat = total
    strides = tuple(None if k in flat.unknown else flat.steps.get(k, 0) for k in range(len(ranges)))
    return AxisEffects(strides, frozenset(masked))
