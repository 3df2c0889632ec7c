"""Putting Tensors together and filling the space around them: cat, stack, pad, roll, triangles.

Joins by padding with zeros and adding, so that a join is part of the kernel that uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.dtype import ConstType, dtypes, least_upper_dtype
from core.errors import ShapeError
from core.tensor.axes.creation import iota, positions
from core.tensor.elements.elementwise import operand, or_zero
from core.tensor.state.base import alone, axis_of, make, own_axis, same_value
from core.tensor.views.movement import broadcast, lengths, pad_zeros, part_of
from core.tensor.views.varying import extent, is_varying, padded
from core.tensor.views.varying import joined as joined_parts
from core.tensor.views.varying import part as slice_of
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

Widths = Sequence[int] | Sequence[tuple[int, int] | None]


def cat(self: Tensor, *others: Tensor, dim: int = 0) -> Tensor:
    """This and `others` one after the other along an axis.

    Raises ShapeError where another axis differs.
    """
    parts = [self, *others]
    axis = axis_of(self, dim)
    for part in others:
        same = part.ndim == self.ndim and all(
            i == axis or n == m for i, (n, m) in enumerate(zip(part.shape, self.shape, strict=True))
        )
        if not same or not self.ndim:
            raise ShapeError(
                f"cannot join {self.shape} and {part.shape} along axis {axis}",
                hint="all other axes must be equal",
            )
    dtype = least_upper_dtype(*(p.dtype for p in parts))
    if any(axis == known for p in parts for known, _ in p.uop.lengths):
        return joined_parts([p.cast(dtype) for p in parts], axis)
    total = sum(p.shape[axis] for p in parts)
    joined: Tensor | None = None
    start = 0
    for part in parts:
        n = part.shape[axis]
        widths = [(0, 0)] * self.ndim
        widths[axis] = (start, total - start - n)
        placed = pad_zeros(part.cast(dtype), widths)
        start += n
        if joined is None:
            joined = placed
        else:
            joined = joined | placed if dtypes.is_bool(dtype) else joined + placed
    return same_value(self) if joined is None else joined


def stack(self: Tensor, *others: Tensor, dim: int = 0) -> Tensor:
    """This and `others`, all of one shape, along a new axis."""
    for other in others:
        if other.shape != self.shape:
            raise ShapeError(
                f"cannot stack {self.shape} and {other.shape}", hint="all shapes must be equal"
            )
    axis = axis_of(self, dim, extra=1)
    return self.unsqueeze(axis).cat(*(o.unsqueeze(axis) for o in others), dim=axis)


def pad(self: Tensor, padding: Widths, mode: str = "constant", value: ConstType = 0.0) -> Tensor:
    """More elements before and after axes.

    `padding` is one (before, after) or None per axis, or flat: before and after of the last
    axis, then of the one before it, and so on. `mode` is "constant" (filled with `value`),
    "reflect", "replicate" or "circular". A negative width takes elements away: before others
    are added in mode "circular", else after that. Raises ShapeError for more than there is to
    take away, reflect or repeat.
    """
    if (
        any(isinstance(n, UOp) for n in padding)
        or any(is_varying(*n) for n in padding if isinstance(n, tuple | list))
        or self.uop.lengths
    ):
        widths = _widths(self, padding)
        known = dict(self.uop.lengths)
        axes = [k for k, w in enumerate(widths) if is_varying(*w) or (k in known and any(w))]
        if axes:
            return _pad_varying(self, widths, axes, mode, value)
    widths = _widths(self, padding)
    less = [(max(0, -before), max(0, -after)) for before, after in widths]
    if any(map(any, less)):
        more = [(max(0, before), max(0, after)) for before, after in widths]
        if mode == "circular":
            return _without(self, less).pad(more, mode)
        return _without(self.pad(more, mode, value), less)
    if mode == "constant":
        padded = pad_zeros(self, widths)
        if value == 0:
            return padded
        inside = pad_zeros(make(self, self.uop.const_like(1).cast(dtypes.bool)), widths)
        return inside.where(padded, value)
    if mode not in ("reflect", "replicate", "circular"):
        raise ShapeError(
            f"unknown padding mode {mode!r}", hint="use constant, reflect, replicate or circular"
        )
    x = self
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = _pad_axis(x, mode, axis, before, after)
    return x


def _pad_varying(
    self: Tensor,
    widths: Sequence[tuple[Any, Any]],
    axes: Sequence[int],
    mode: str,
    value: ConstType,
) -> Tensor:
    """`pad` where lengths or widths of `axes` are variables."""
    if mode != "constant":
        raise ShapeError(
            f"{mode} padding of an axis whose length is a variable",
            hint='pad it with a value: mode="constant"',
        )
    x = self
    filled = operand(self, value).cast(self.dtype).uop
    for axis in axes:
        before, after = widths[axis]
        if not is_varying(before, after) and min(before, after) < 0:
            n = extent(x, axis)
            stop = n if after >= 0 else n + after
            x = slice_of(x, axis, slice(max(0, -before), stop))
            before, after = max(0, before), max(0, after)
        x = padded(x, axis, before, after, filled)
    return x.pad([(0, 0) if k in axes else w for k, w in enumerate(widths)], mode, value)


def _widths(self: Tensor, padding: Widths) -> list[tuple[int, int]]:
    flat = [p for p in padding if isinstance(p, int | UOp)]
    if flat:
        if len(flat) != len(padding) or len(flat) % 2 or len(flat) > 2 * self.ndim:
            raise ShapeError(
                f"padding {tuple(padding)} of a Tensor with {self.ndim} axes",
                hint="give before and after for each axis, last first",
            )
        pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
        widths = [(0, 0)] * (self.ndim - len(pairs)) + pairs[::-1]
    else:
        widths = [(0, 0) if p is None else p for p in padding if not isinstance(p, int | UOp)]
    if len(widths) != self.ndim:
        raise ShapeError(
            f"padding {tuple(padding)} of a Tensor with {self.ndim} axes",
            hint="give one (before, after) or None per axis",
        )
    return widths


def _without(self: Tensor, less: Sequence[tuple[int, int]]) -> Tensor:
    """A copy without so many elements before and after each axis."""
    cut = [(b, n - a) for (b, a), n in zip(less, self.shape, strict=True)]
    if any(start > end for start, end in cut):
        raise ShapeError(
            f"padding takes {tuple(map(sum, less))} elements of {self.shape} away",
            hint="an axis has no more elements than its length",
        )
    return alone(self.shrink(cut))


def pad_to(
    self: Tensor, *shape: int | Sequence[int | None] | None, value: ConstType = 0.0
) -> Tensor:
    """`pad` after each axis up to a length; None keeps an axis. Raises ShapeError for a length
    below that of the axis."""
    return self.pad([(0, n - m) for n, m in _towards(self, "pad_to", shape, 1)], value=value)


def shrink_to(self: Tensor, *shape: int | Sequence[int | None] | None) -> Tensor:
    """The first elements of each axis up to a length; None keeps an axis. Raises ShapeError for
    a length above that of the axis."""
    return self.shrink([(0, n) for n, _ in _towards(self, "shrink_to", shape, -1)])


def _towards(
    self: Tensor, name: str, shape: Sequence[int | Sequence[int | None] | None], sign: int
) -> list[tuple[int, int]]:
    """(wanted length, length) of each axis, of which the first is not less (`sign` 1), or not
    more (-1)."""
    given = lengths(shape)
    known = given if len(given) == self.ndim else [-1]
    pairs = [(m if n is None else n, m) for n, m in zip(known, self.shape, strict=False)]
    if len(given) != self.ndim or any(n < 0 or sign * (n - m) < 0 for n, m in pairs):
        raise ShapeError(
            f"{name} {tuple(given)} of a Tensor of {self.shape}",
            hint="give each axis a length, or None: pad_to lengthens, shrink_to shortens",
        )
    return pairs


def _pad_axis(self: Tensor, mode: str, axis: int, before: int, after: int) -> Tensor:
    n = self.shape[axis]
    most = {"reflect": n - 1, "replicate": max(before, after) if n else 0, "circular": n}[mode]
    if max(before, after) > most:
        raise ShapeError(
            f"{mode} padding ({before}, {after}) of {n} elements",
            hint=f"there are only {most} elements to take",
        )

    def edge(start: int, count: int) -> Tensor:
        if mode == "replicate":
            widths = [count if i == axis else m for i, m in enumerate(self.shape)]
            return broadcast(part_of(self, axis, start, start + 1), widths)
        part = part_of(self, axis, start, start + count)
        return part.flip(axis) if mode == "reflect" else part

    first = {"reflect": 1, "replicate": 0, "circular": n - before}[mode]
    last = {"reflect": n - 1 - after, "replicate": n - 1, "circular": 0}[mode]
    parts = [
        *([edge(first, before)] if before else []),
        self,
        *([edge(last, after)] if after else []),
    ]
    return parts[0].cat(*parts[1:], dim=axis)


def roll(
    self: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None
) -> Tensor:
    """Elements moved along axes; what leaves at one end comes in at the other. Without `dims`,
    along the flattened Tensor."""
    if dims is None:
        return self.flatten().roll(shifts, 0).reshape(self.shape)
    x = self
    by = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    along = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(by) != len(along):
        raise ShapeError(f"roll by {by} along {along}", hint="give one shift per axis")
    for shift, dim in zip(by, along, strict=True):
        axis = own_axis(self, "roll", dim)
        if axis in dict(x.uop.lengths):
            n = extent(x, axis)
            assert isinstance(n, UOp), "it is a variable"
            cut = ((n * abs(shift) - shift) % n).maximum(0)
            x = slice_of(x, axis, slice(cut, None)).cat(slice_of(x, axis, slice(0, cut)), dim=axis)
            continue
        cut = -shift % self.shape[axis] if self.shape[axis] else 0
        if cut:
            x = part_of(x, axis, cut, self.shape[axis]).cat(part_of(x, axis, 0, cut), dim=axis)
    return x


def tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """The part of the last two axes on and below a diagonal, zeros above."""
    rows, columns = grid(self, "tril")
    return or_zero(self, columns <= rows + diagonal)


def triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """The part of the last two axes on and above a diagonal, zeros below."""
    rows, columns = grid(self, "triu")
    return or_zero(self, rows + diagonal <= columns)


def grid(self: Tensor, name: str) -> tuple[Tensor, Tensor]:
    if self.ndim < 2:
        raise ShapeError(f"{name} of shape {self.shape}", hint="it takes a matrix")
    return positions(self, self.ndim - 2), positions(self, self.ndim - 1)


def diag(self: Tensor) -> Tensor:
    """A vector as the diagonal of a square matrix."""
    if self.ndim != 1:
        raise ShapeError(
            f"diag of shape {self.shape}", hint="it takes a vector; use diagonal to read one"
        )
    n = self.shape[0]
    rows, columns = (iota(type(self), n, self.device).reshape(s) for s in ((n, 1), (1, n)))
    return or_zero(self.unsqueeze(0), rows == columns)


def meshgrid(self: Tensor, *others: Tensor, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Every combination of the elements of vectors: Tensor k varies along axis k.

    `indexing` "xy" exchanges the first two axes.
    """
    for t in (self, *others):
        if t.ndim > 1:
            raise ShapeError(f"meshgrid of shape {t.shape}", hint="it takes vectors")
    vectors = [t.reshape(-1) for t in (self, *others)]
    if indexing not in ("ij", "xy"):
        raise ShapeError(f"unknown indexing {indexing!r}", hint='use "ij" or "xy"')
    if indexing == "xy" and len(vectors) > 1:
        vectors[:2] = vectors[1::-1]
    shape = [v.shape[0] for v in vectors]
    grids = [
        broadcast(v.reshape([-1 if i == k else 1 for i in range(len(shape))]), shape)
        for k, v in enumerate(vectors)
    ]
    if indexing == "xy" and len(grids) > 1:
        grids[:2] = grids[1::-1]
    return tuple(grids)
