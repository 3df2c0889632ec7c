"""Putting Tensors together and filling the space around them: cat, stack, pad, roll, triangles.

Joins by padding with zeros and adding, so that a join is part of the kernel that uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from core.dtype import ConstType, dtypes, least_upper_dtype
from core.errors import ShapeError
from core.tensor.axes.linear import Linear
from core.tensor.calls.origin import here
from core.tensor.views.movement import lengths

Widths = Sequence[int] | Sequence[tuple[int, int] | None]


class Joining(Linear):
    """Tensors made of parts of others."""

    __slots__ = ()

    def cat(self, *others: Self, dim: int = 0) -> Self:
        """This and `others` one after the other along an axis.

        Raises ShapeError where another axis differs.
        """
        parts = [self, *others]
        axis = self._axis(dim)
        for part in others:
            same = part.ndim == self.ndim and all(
                i == axis or n == m
                for i, (n, m) in enumerate(zip(part.shape, self.shape, strict=True))
            )
            if not same or not self.ndim:
                raise ShapeError(
                    f"cannot join {self.shape} and {part.shape} along axis {axis}",
                    where=here(),
                    hint="all other axes must be equal",
                )
        dtype = least_upper_dtype(*(p.dtype for p in parts))
        total = sum(p.shape[axis] for p in parts)
        joined: Self | None = None
        start = 0
        for part in parts:
            n = part.shape[axis]
            widths = [(0, 0)] * self.ndim
            widths[axis] = (start, total - start - n)
            placed = part.cast(dtype)._pad_zeros(widths)
            start += n
            if joined is None:
                joined = placed
            else:
                joined = joined | placed if dtypes.is_bool(dtype) else joined + placed
        return self._same_value() if joined is None else joined

    def stack(self, *others: Self, dim: int = 0) -> Self:
        """This and `others`, all of one shape, along a new axis."""
        for other in others:
            if other.shape != self.shape:
                raise ShapeError(
                    f"cannot stack {self.shape} and {other.shape}",
                    where=here(),
                    hint="all shapes must be equal",
                )
        axis = self._axis(dim, extra=1)
        return self.unsqueeze(axis).cat(*(o.unsqueeze(axis) for o in others), dim=axis)

    def pad(self, padding: Widths, mode: str = "constant", value: ConstType = 0.0) -> Self:
        """More elements before and after axes.

        `padding` is one (before, after) or None per axis, or flat: before and after of the last
        axis, then of the one before it, and so on. `mode` is "constant" (filled with `value`),
        "reflect", "replicate" or "circular". A negative width takes elements away: before others
        are added in mode "circular", else after that. Raises ShapeError for more than there is to
        take away, reflect or repeat.
        """
        widths = self._widths(padding)
        less = [(max(0, -before), max(0, -after)) for before, after in widths]
        if any(map(any, less)):
            more = [(max(0, before), max(0, after)) for before, after in widths]
            if mode == "circular":
                return self._without(less).pad(more, mode)
            return self.pad(more, mode, value)._without(less)
        if mode == "constant":
            padded = self._pad_zeros(widths)
            if value == 0:
                return padded
            inside = self._make(self.uop.const_like(1).cast(dtypes.bool))._pad_zeros(widths)
            return inside.where(padded, value)
        if mode not in ("reflect", "replicate", "circular"):
            raise ShapeError(
                f"unknown padding mode {mode!r}",
                where=here(),
                hint="use constant, reflect, replicate or circular",
            )
        x = self
        for axis, (before, after) in enumerate(widths):
            if before or after:
                x = x._pad_axis(mode, axis, before, after)
        return x

    def _widths(self, padding: Widths) -> list[tuple[int, int]]:
        flat = [p for p in padding if isinstance(p, int)]
        if flat:
            if len(flat) != len(padding) or len(flat) % 2 or len(flat) > 2 * self.ndim:
                raise ShapeError(
                    f"padding {tuple(padding)} of a Tensor with {self.ndim} axes",
                    where=here(),
                    hint="give before and after for each axis, last first",
                )
            pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
            widths = [(0, 0)] * (self.ndim - len(pairs)) + pairs[::-1]
        else:
            widths = [(0, 0) if p is None else p for p in padding if not isinstance(p, int)]
        if len(widths) != self.ndim:
            raise ShapeError(
                f"padding {tuple(padding)} of a Tensor with {self.ndim} axes",
                where=here(),
                hint="give one (before, after) or None per axis",
            )
        return widths

    def _without(self, less: Sequence[tuple[int, int]]) -> Self:
        """A copy without so many elements before and after each axis."""
        cut = [(b, n - a) for (b, a), n in zip(less, self.shape, strict=True)]
        if any(start > end for start, end in cut):
            raise ShapeError(
                f"padding takes {tuple(map(sum, less))} elements of {self.shape} away",
                where=here(),
                hint="an axis has no more elements than its length",
            )
        return self.shrink(cut)._alone()

    def pad_to(self, *shape: int | Sequence[int | None] | None, value: ConstType = 0.0) -> Self:
        """`pad` after each axis up to a length; None keeps an axis. Raises ShapeError for a length
        below that of the axis."""
        return self.pad([(0, n - m) for n, m in self._towards("pad_to", shape, 1)], value=value)

    def shrink_to(self, *shape: int | Sequence[int | None] | None) -> Self:
        """The first elements of each axis up to a length; None keeps an axis. Raises ShapeError for
        a length above that of the axis."""
        return self.shrink([(0, n) for n, _ in self._towards("shrink_to", shape, -1)])

    def _towards(
        self, name: str, shape: Sequence[int | Sequence[int | None] | None], sign: int
    ) -> list[tuple[int, int]]:
        """(wanted length, length) of each axis, of which the first is not less (`sign` 1), or not
        more (-1)."""
        given = lengths(shape)
        known = given if len(given) == self.ndim else [-1]
        pairs = [(m if n is None else n, m) for n, m in zip(known, self.shape, strict=False)]
        if len(given) != self.ndim or any(n < 0 or sign * (n - m) < 0 for n, m in pairs):
            raise ShapeError(
                f"{name} {tuple(given)} of a Tensor of {self.shape}",
                where=here(),
                hint="give each axis a length, or None: pad_to lengthens, shrink_to shortens",
            )
        return pairs

    def _pad_axis(self, mode: str, axis: int, before: int, after: int) -> Self:
        n = self.shape[axis]
        most = {"reflect": n - 1, "replicate": max(before, after) if n else 0, "circular": n}[mode]
        if max(before, after) > most:
            raise ShapeError(
                f"{mode} padding ({before}, {after}) of {n} elements",
                where=here(),
                hint=f"there are only {most} elements to take",
            )

        def edge(start: int, count: int) -> Self:
            if mode == "replicate":
                widths = [count if i == axis else m for i, m in enumerate(self.shape)]
                return self._part(axis, start, start + 1)._broadcast_to(widths)
            part = self._part(axis, start, start + count)
            return part.flip(axis) if mode == "reflect" else part

        first = {"reflect": 1, "replicate": 0, "circular": n - before}[mode]
        last = {"reflect": n - 1 - after, "replicate": n - 1, "circular": 0}[mode]
        parts = [
            *([edge(first, before)] if before else []),
            self,
            *([edge(last, after)] if after else []),
        ]
        return parts[0].cat(*parts[1:], dim=axis)

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Self:
        """Elements moved along axes; what leaves at one end comes in at the other. Without `dims`,
        along the flattened Tensor."""
        if dims is None:
            return self.flatten().roll(shifts, 0).reshape(self.shape)
        x = self
        by = (shifts,) if isinstance(shifts, int) else tuple(shifts)
        along = (dims,) if isinstance(dims, int) else tuple(dims)
        if len(by) != len(along):
            raise ShapeError(
                f"roll by {by} along {along}", where=here(), hint="give one shift per axis"
            )
        for shift, dim in zip(by, along, strict=True):
            axis = self._own_axis("roll", dim)
            cut = -shift % self.shape[axis] if self.shape[axis] else 0
            if cut:
                x = x._part(axis, cut, self.shape[axis]).cat(x._part(axis, 0, cut), dim=axis)
        return x

    def tril(self, diagonal: int = 0) -> Self:
        """The part of the last two axes on and below a diagonal, zeros above."""
        rows, columns = self._grid("tril")
        return self._or_zero(columns <= rows + diagonal)

    def triu(self, diagonal: int = 0) -> Self:
        """The part of the last two axes on and above a diagonal, zeros below."""
        rows, columns = self._grid("triu")
        return self._or_zero(rows + diagonal <= columns)

    def _grid(self, name: str) -> tuple[Self, Self]:
        if self.ndim < 2:
            raise ShapeError(
                f"{name} of shape {self.shape}", where=here(), hint="it takes a matrix"
            )
        return self._positions(self.ndim - 2), self._positions(self.ndim - 1)

    def diag(self) -> Self:
        """A vector as the diagonal of a square matrix."""
        if self.ndim != 1:
            raise ShapeError(
                f"diag of shape {self.shape}",
                where=here(),
                hint="it takes a vector; use diagonal to read one",
            )
        n = self.shape[0]
        rows, columns = (type(self)._iota(n, self.device).reshape(s) for s in ((n, 1), (1, n)))
        return self.unsqueeze(0)._or_zero(rows == columns)

    def meshgrid(self, *others: Self, indexing: str = "ij") -> tuple[Self, ...]:
        """Every combination of the elements of vectors: Tensor k varies along axis k.

        `indexing` "xy" exchanges the first two axes.
        """
        for t in (self, *others):
            if t.ndim > 1:
                raise ShapeError(
                    f"meshgrid of shape {t.shape}", where=here(), hint="it takes vectors"
                )
        vectors = [t.reshape(-1) for t in (self, *others)]
        if indexing not in ("ij", "xy"):
            raise ShapeError(
                f"unknown indexing {indexing!r}", where=here(), hint='use "ij" or "xy"'
            )
        if indexing == "xy" and len(vectors) > 1:
            vectors[:2] = vectors[1::-1]
        shape = [v.shape[0] for v in vectors]
        grids = [
            v.reshape([-1 if i == k else 1 for i in range(len(shape))])._broadcast_to(shape)
            for k, v in enumerate(vectors)
        ]
        if indexing == "xy" and len(grids) > 1:
            grids[:2] = grids[1::-1]
        return tuple(grids)
