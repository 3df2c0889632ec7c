"""One axis of a strided view, and how axes are merged, split and narrowed. Plain integers only.

Never looks at more than one view; composing two views is in compose.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Axis(NamedTuple):
    """Index i of this axis adds i * stride to the address and is valid in begin <= i < end."""

    size: int
    stride: int
    begin: int
    end: int

    @property
    def full(self) -> bool:
        """Every index is valid."""
        return self.begin == 0 and self.end == self.size

    @property
    def single(self) -> bool:
        """Exactly one index is valid, so the stride can be anything once the offset agrees."""
        return self.end - self.begin == 1


def strides_for(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements; 0 where the dimension is 1, all 0 where the size is 0."""
    if 0 in shape:
        return (0,) * len(shape)
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(strides))


def unravel(flat: int, shape: Sequence[int]) -> list[int]:
    """Mixed-radix digits of a flat index. The first digit is not reduced, so it shows overflow."""
    digits: list[int] = []
    for size in reversed(shape[1:]):
        flat, digit = divmod(flat, size)
        digits.append(digit)
    digits.append(flat)
    return digits[::-1] if shape else []


def merge_pair(outer: Axis, inner: Axis) -> tuple[Axis, int] | None:
    """Axis with index outer * inner.size + inner, and what to add to the offset, if there is one.

    An axis with a single valid index takes whatever stride fits, which is what makes views of
    padded data merge.
    """
    size = outer.size * inner.size
    if outer.single:
        row, step = outer.begin, inner.stride * inner.size
        merged = Axis(size, inner.stride, row * inner.size + inner.begin,
                      row * inner.size + inner.end)  # fmt: skip
        return merged, row * (outer.stride - step)
    if inner.full and outer.stride == inner.stride * inner.size:
        return Axis(size, inner.stride, outer.begin * inner.size, outer.end * inner.size), 0
    return None


def merge_all(axes: Sequence[Axis]) -> tuple[Axis, int] | None:
    """One axis that walks all the given ones in row-major order, and what to add to the offset."""
    merged, offset = axes[0], 0
    for axis in axes[1:]:
        pair = merge_pair(merged, axis)
        if pair is None:
            return None
        merged, offset = pair[0], offset + pair[1]
    return merged, offset


def merge_adjacent(axes: Sequence[Axis], offset: int) -> tuple[list[Axis], int]:
    """The fewest axes that neighbours can be merged into, and the offset that goes with them."""
    merged: list[Axis] = []
    for axis in reversed(axes):
        if axis.size == 1:
            continue
        pair = merge_pair(axis, merged[-1]) if merged else None
        if pair is None:
            merged.append(axis)
        else:
            merged[-1], offset = pair[0], offset + pair[1]
    return merged[::-1], offset


def split(axis: Axis, sizes: Sequence[int]) -> list[Axis] | None:
    """Axes of the given sizes (product: the axis size) for one axis; None if its valid range is
    no box in them."""
    axes: list[Axis] = []
    size, begin, end = axis.size, axis.begin, axis.end
    for outer in sizes:
        size //= outer
        if begin % size == 0 and end % size == 0:
            axes.append(Axis(outer, axis.stride * size, begin // size, end // size))
            begin, end = 0, size
        elif begin // size == (end - 1) // size:
            row = begin // size
            axes.append(Axis(outer, axis.stride * size, row, row + 1))
            begin, end = begin - row * size, end - row * size
        else:
            return None
    return axes


def reshape_axes(
    axes: Sequence[Axis], offset: int, shape: Sequence[int]
) -> tuple[list[Axis], int] | None:
    """Axes over `shape` with the same elements in row-major order; None if one view cannot say it.

    `axes` must have a valid element and `shape` the same product. Old and new axes are cut into
    the smallest groups of equal product; each group is merged into one axis, then split.
    """
    old = [axis for axis in axes if axis.size != 1]
    out: list[Axis] = []
    position, target = 0, 0
    while target < len(shape):
        if shape[target] == 1:
            out.append(Axis(1, 0, 0, 1))
            target += 1
            continue
        first_old, first_new = position, target
        have, want = old[position].size, shape[target]
        position, target = position + 1, target + 1
        while have != want:
            if have < want:
                have *= old[position].size
                position += 1
            else:
                want *= shape[target]
                target += 1
        if position - first_old == target - first_new == 1:
            out.append(old[first_old])
            continue
        merged = merge_all(old[first_old:position])
        parts = None if merged is None else split(merged[0], shape[first_new:target])
        if merged is None or parts is None:
            return None
        out.extend(parts)
        offset += merged[1]
    return out, offset
