"""Two strided views as one, exactly or not at all. Plain integers only.

The outer view turns an index into a flat position, the inner view takes that position apart into
digits (the mixed radix of its shape). If every digit is affine in the outer index over the whole
valid box, and the inner mask cuts that box to a smaller box, then the pair is one view. Never
approximates: a result addresses the same elements, None says that this method found no one view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from core.shape.axis import Axis, merge_adjacent, unravel

Box: TypeAlias = list[tuple[int, int]]
"""Valid range (begin, end) per outer axis."""


def cut(box: Box, start: int, steps: Sequence[int], low: int, high: int) -> Box | None:
    """The part of `box` where low <= start + sum(steps[k] * (i[k] - begin[k])) < high, if a box.

    Returns None if that part is no box (nor can a box without axes be empty). An empty part has
    begin == end on some axis.
    """
    terms = [k for k, step in enumerate(steps) if step and box[k][1] - box[k][0] > 1]
    terms.sort(key=lambda k: -abs(steps[k]))
    spans = {k: steps[k] * (box[k][1] - box[k][0] - 1) for k in terms}
    least = start + sum(min(0, span) for span in spans.values())
    most = start + sum(max(0, span) for span in spans.values())
    out = list(box)
    for k in terms:
        if low <= least and most < high:
            return out
        begin, end = box[k]
        step, count = steps[k], end - begin
        span = abs(spans[k])
        rest = (most - least) - span
        # with n counted from the end of the axis where the value is least, n adds n * |step|
        touch_first = max(0, -((rest + least - low) // abs(step)))
        touch_last = min(count - 1, (high - 1 - least) // abs(step))
        if touch_first > touch_last:
            out[k] = (begin, begin)
            return out
        inside_first = max(0, -((least - low) // abs(step)))
        inside_last = min(count - 1, (high - 1 - least - rest) // abs(step))
        if step > 0:
            out[k] = (begin + touch_first, begin + touch_last + 1)
        else:
            out[k] = (end - 1 - touch_last, end - touch_first)
        if (touch_first, touch_last) == (inside_first, inside_last):
            return out
        if touch_first != touch_last:
            return None
        least += touch_first * abs(step)
        most = least + rest
    if low <= least and most < high:
        return out
    return [(begin, begin) for begin, _ in box] or None


def _empty(box: Box) -> bool:
    return any(begin >= end for begin, end in box)


def _at_begin(outer: Sequence[Axis], offset: int, box: Box) -> int:
    return offset + sum(axis.stride * begin for axis, (begin, _) in zip(outer, box, strict=True))


def _compose(
    inner: Sequence[Axis], inner_offset: int, outer: Sequence[Axis], outer_offset: int
) -> tuple[list[Axis], int] | None:
    shape = [axis.size for axis in inner]
    box: Box = [(axis.begin, axis.end) for axis in outer]
    # what is valid in the inner view lies between two flat positions; that alone may cut the box
    # down to where no digit carries
    low = high = 0
    for axis in inner:
        low, high = low * axis.size + axis.begin, high * axis.size + axis.end - 1
    flat_steps = [axis.stride for axis in outer]
    narrowed = cut(box, _at_begin(outer, outer_offset, box), flat_steps, low, high + 1)
    box = box if narrowed is None else narrowed
    if _empty(box):
        return [axis._replace(begin=0, end=0) for axis in outer], 0

    base = _at_begin(outer, outer_offset, box)
    start = unravel(base, shape)
    steps: list[list[int]] = []
    for axis, (begin, end) in zip(outer, box, strict=True):
        moved = unravel(base + axis.stride, shape) if end - begin > 1 else start
        steps.append([after - before for after, before in zip(moved, start, strict=True)])
    for digit, size in enumerate(shape):
        spans = [step[digit] * (end - begin - 1)
                 for step, (begin, end) in zip(steps, box, strict=True)]  # fmt: skip
        least = start[digit] + sum(min(0, span) for span in spans)
        most = start[digit] + sum(max(0, span) for span in spans)
        if least < 0 or most >= size:
            return None

    origin = [begin for begin, _ in box]
    waiting = [digit for digit, axis in enumerate(inner) if not axis.full]
    while waiting:
        left: list[int] = []
        for digit in waiting:
            along = [step[digit] for step in steps]
            here = start[digit] + sum(
                step * (begin - first)
                for step, (begin, _), first in zip(along, box, origin, strict=True)
            )
            narrowed = cut(box, here, along, inner[digit].begin, inner[digit].end)
            if narrowed is None:
                left.append(digit)
            elif _empty(narrowed):
                return [axis._replace(begin=0, end=0) for axis in outer], 0
            else:
                box = narrowed
        if len(left) == len(waiting):
            return None
        waiting = left

    strides = [sum(axis.stride * step[digit] for digit, axis in enumerate(inner))
               for step in steps]  # fmt: skip
    offset = inner_offset + sum(
        axis.stride * digit for axis, digit in zip(inner, start, strict=True)
    )
    offset -= sum(stride * first for stride, first in zip(strides, origin, strict=True))
    axes = [
        Axis(axis.size, stride, begin, end)
        for axis, stride, (begin, end) in zip(outer, strides, box, strict=True)
    ]
    return axes, offset


def compose_axes(
    inner: Sequence[Axis], inner_offset: int, outer: Sequence[Axis], outer_offset: int
) -> tuple[list[Axis], int] | None:
    """Axes and offset of the one view that reads `inner` through `outer`, or None.

    Both need a valid element, and every valid position of `outer` must lie inside `inner`. Merged
    inner axes carry less often, unmerged ones have simpler masks, so both forms are tried.
    """
    merged, merged_offset = merge_adjacent(inner, inner_offset)
    found = _compose(merged, merged_offset, outer, outer_offset)
    if found is None and len(merged) != len(inner):
        found = _compose(inner, inner_offset, outer, outer_offset)
    return found
