"""Tensor operations that only move elements: nothing is computed or copied.

Everything here is a chain of the six movement ops; the scheduler folds them into views. The results
are views, as in NumPy: writing to one writes to what it was made from. Padding and repetition give
values of their own. Arguments out of range raise ShapeError at the user's call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from operator import index
from typing import TYPE_CHECKING, Any, Final, cast

from core.errors import ShapeError
from core.helpers import prod
from core.tensor.state.base import Shape, alone, axis_of, make, own_axis, view_of
from core.tensor.views.rearranging import Rearrangement
from core.tensor.views.varying import (
    bare,
    clad,
    extents,
    is_varying,
    part,
    repeated,
    size,
    turned,
)
from core.tensor.views.varying import reshaped as varying_reshape
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

_NOT_LISTS: Final = (str, bytes, bytearray, Mapping, Set)
"""Iterables that are not lists of lengths."""


def as_ints(*args: int | Sequence[int]) -> tuple[int, ...]:
    """`f(1, 2)` and `f((1, 2))` mean the same. Raises ShapeError for what is no integer."""
    first = args[0] if len(args) == 1 else args
    items = first if isinstance(first, Iterable) and not isinstance(first, _NOT_LISTS) else args
    try:
        return tuple(index(cast("int", item)) for item in items)
    except TypeError:
        named = ", ".join(map(repr, items))
        raise ShapeError(
            f"({named}) is not made of integers",
            hint="give whole numbers; divide with // where one is computed",
        ) from None


def items_of(shape: Sequence[object]) -> list[Any]:
    """`f(1, 2)` and `f((1, 2))` mean the same."""
    first = shape[0] if len(shape) == 1 else shape
    if isinstance(first, Iterable) and not isinstance(first, _NOT_LISTS):
        return list(cast("Iterable[Any]", first))
    return list(shape)


def sizes(*args: int | Sequence[int]) -> tuple[Any, ...]:
    """As `as_ints`; lengths that are variables stay."""
    items = items_of(args)
    return tuple(items) if is_varying(*items) else as_ints(*args)


def _varying(self: Tensor, shape: Sequence[object]) -> list[Any]:
    """The lengths of a new shape where some are variables, or where one of this is that is not to
    be an axis again; none where a view does."""
    if not self.uop.lengths and not is_varying(*items_of(shape)):
        return []
    items = items_of(shape)
    have: list[Any] = list(extents(self))
    given: list[Any] = [have[k] if n is None and k < len(have) else n for k, n in enumerate(items)]
    if is_varying(*given):
        return given
    # names the largest lengths, as `shape` does
    named = list(self.shape)
    return (
        []
        if -1 not in given and _keeps_axes(self, given)
        else [have[k] if k < len(named) and n == named[k] else n for k, n in enumerate(given)]
    )


def _keeps_axes(self: Tensor, shape: Sequence[int]) -> bool:
    """Whether each axis whose length is a variable is one of a shape again."""
    places = {(prod(shape[:k]), n) for k, n in enumerate(shape)}
    return all(
        (prod(self.shape[:axis]), self.shape[axis]) in places for axis, _ in self.uop.lengths
    )


def lengths(shape: Sequence[int | Sequence[int | None] | None]) -> list[int | None]:
    """As `as_ints`, with None where an axis keeps its length."""
    first = shape[0] if len(shape) == 1 else shape
    items = (
        list(first) if isinstance(first, Iterable) and not isinstance(first, _NOT_LISTS) else shape
    )
    known = iter(as_ints(cast("list[int]", [n for n in items if n is not None])))
    return [None if n is None else next(known) for n in items]


@property
def T(self: Tensor) -> Tensor:
    """The last two axes exchanged; of a vector, itself."""
    return self if self.ndim < 2 else self.transpose()


def reshape(self: Tensor, *shape: int | Sequence[int | None] | None) -> Tensor:
    """The same elements in row-major order; one length may be -1, None keeps the axis's own.
    Lengths may be variables."""
    if varying := _varying(self, shape):
        return varying_reshape(self, varying)
    given = lengths(shape)
    if any(n is None and i >= self.ndim for i, n in enumerate(given)):
        raise ShapeError(
            f"cannot keep an axis that {self.shape} does not have",
            hint=f"None keeps the length of the axis at its place, 0 to {self.ndim - 1}",
        )
    new = [self.shape[i] if n is None else n for i, n in enumerate(given)]
    if new.count(-1) > 1:
        raise ShapeError(
            f"cannot reshape {self.shape} to {tuple(new)}", hint="only one length can be -1"
        )
    if -1 in new:
        known = -prod(new)
        if known == 0 or self.uop.size % known:
            raise ShapeError(
                f"cannot reshape {self.shape} to {tuple(new)}",
                hint=f"{self.uop.size} elements do not split by {known}",
            )
        new[new.index(-1)] = self.uop.size // known
    if self.place is not None and self.place.repeats:
        return make(self, self.uop.reshape(new))  # as in NumPy, which copies here
    return view_of(self, self.uop.reshape(new))


def view(self: Tensor, *shape: int | Sequence[int | None] | None) -> Tensor:
    """`reshape`."""
    return self.reshape(*shape)


def expand(self: Tensor, *shape: int | Sequence[int | None] | None) -> Tensor:
    """Axes of length 1 repeated, new axes in front; -1 and None keep an axis. Lengths may be
    variables."""
    if is_varying(*items_of(shape)):
        return repeated(self, [-1 if n is None else n for n in items_of(shape)])
    given = lengths(shape)
    padded = (1,) * (len(given) - self.ndim) + self.shape
    new = [
        have if want is None or want == -1 else want
        for have, want in zip(padded, given, strict=False)
    ]
    return broadcast(self, new)


def broadcast(self: Tensor, shape: Sequence[int]) -> Tensor:
    new = tuple(shape)
    if new == self.shape:
        return self
    padded = (1,) * (len(new) - self.ndim) + self.shape
    if len(padded) != len(new) or any(
        have not in (1, want) for have, want in zip(padded, new, strict=True)
    ):
        raise ShapeError(
            f"cannot broadcast {self.shape} to {new}",
            hint="from the last axis back, lengths must be equal or 1",
        )
    return view_of(self, self.uop.reshape(padded).expand(new), prod(new) > self.uop.size)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of `other`."""
    return broadcast(self, other.shape)


def permute(self: Tensor, *order: int | Sequence[int]) -> Tensor:
    """Axis k of the result is axis order[k]."""
    axes = [axis_of(self, a) for a in as_ints(*order)]
    if sorted(axes) != list(range(self.ndim)):
        raise ShapeError(
            f"{as_ints(*order)} does not name every axis of {self.shape} once",
            hint=f"give each of 0 to {self.ndim - 1} once, in the new order",
        )
    return view_of(self, self.uop.permute(axes))


def transpose(self: Tensor, dim0: int = -2, dim1: int = -1) -> Tensor:
    """Two axes exchanged."""
    order = list(range(self.ndim))
    a, b = axis_of(self, dim0), axis_of(self, dim1)
    if a == b:
        return self
    order[a], order[b] = order[b], order[a]
    return self.permute(order)


def flip(self: Tensor, *axis: int | Sequence[int]) -> Tensor:
    """Axes reversed."""
    axes = [axis_of(self, a) for a in as_ints(*axis)]
    if len(set(axes)) != len(axes):
        raise ShapeError(
            f"flip names an axis twice: {as_ints(*axis)}",
            hint="leave out those that stay as they are",
        )
    known = dict(self.uop.lengths)
    if varying := [axis for axis in axes if axis in known]:
        x = self
        for k in varying:
            x = turned(x, k)
        return x.flip([axis for axis in axes if axis not in known])
    return view_of(self, self.uop.flip([i in axes for i in range(self.ndim)]))


def shrink(self: Tensor, arg: Sequence[tuple[int, int | UOp] | None]) -> Tensor:
    """The part start <= index < end of each axis; None keeps all of it.

    Both may be values of bound variables, and what is between them becomes the length of the axis:
    kernels are made once for all values. `shape` names the largest; reduces, products and
    elementwise operations and what is read keep to the value. From a variable on, the result is no
    view.
    """
    if len(arg) != self.ndim:
        raise ShapeError(
            f"shrink with {len(arg)} ranges of a Tensor with {self.ndim} axes",
            hint="give one (start, end) or None per axis",
        )
    parts: list[tuple[int, int]] = []
    lengths: list[tuple[int, UOp]] = []
    known = dict(self.uop.lengths)
    for axis, given in enumerate(arg):
        if given is not None and (is_varying(given[0]) or (axis in known and given[0] != 0)):
            rest = [None if k == axis else other for k, other in enumerate(arg)]
            return part(self, axis, slice(*given)).shrink(rest)
    for axis, (given, n) in enumerate(zip(arg, self.shape, strict=True)):
        start, end = given or (0, n)
        if isinstance(end, UOp) and start == 0:
            lengths.append((axis, end))
            end = n
        parts.append((start, cast("int", end)))
    x = view_of(self, self.uop.shrink(parts))
    for axis, n in lengths:
        x = first_of_axis(x, axis, n)
    return x


def as_long_as(self: Tensor, other: Tensor, axis: int) -> Tensor:
    """This, with the length that `axis` of `other` has, where that is a variable."""
    n = dict(other.uop.lengths).get(axis)
    return self if n is None else length_of(self, axis, n)


def length_of(self: Tensor, axis: int, n: UOp) -> Tensor:
    """This, of which only the first `n` elements along `axis` count."""
    checked = size(n)
    if isinstance(checked, int) and checked == self.shape[axis]:
        return self
    return make(self, self.uop.length(axis, n if isinstance(checked, int) else checked))


def first_of_axis(self: Tensor, axis: int, n: UOp) -> Tensor:
    """`length_of`, as a view: writing to one of the two writes to the other."""
    return view_of(self, length_of(self, axis, n).uop)


def pad_zeros(self: Tensor, widths: Sequence[tuple[int, int]]) -> Tensor:
    return make(self, self.uop.pad(widths))


def squeeze(self: Tensor, dim: int | None = None) -> Tensor:
    """Without the axes of length 1, or without that one axis if its length is 1."""
    if dim is None:
        return self.reshape([n for n in self.shape if n != 1])
    axis = axis_of(self, dim)
    known = dict(self.uop.lengths)
    if not self.ndim or self.shape[axis] != 1 or axis in known:
        return self
    if any(self.shape[k] == 1 for k in known):
        x, known = bare(self.uop)
        x = x.reshape(x.shaped[:axis] + x.shaped[axis + 1 :])
        return make(self, clad(x, {k - (k > axis): n for k, n in known.items()}))
    return self.reshape(self.shape[:axis] + self.shape[axis + 1 :])


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """With an axis of length 1 at `dim`."""
    axis = axis_of(self, dim, extra=1)
    if any(self.shape[k] == 1 for k, _ in self.uop.lengths):
        x, known = bare(self.uop)
        x = x.reshape((*x.shaped[:axis], 1, *x.shaped[axis:]))
        return make(self, clad(x, {k + (k >= axis): n for k, n in known.items()}))
    return self.reshape((*self.shape[:axis], 1, *self.shape[axis:]))


def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from `start_dim` to `end_dim`, both included, as one."""
    start, end = axis_of(self, start_dim), axis_of(self, end_dim)
    if start > end:
        raise ShapeError(
            f"flatten from axis {start} to axis {end}",
            hint="the first axis must not come after the last",
        )
    merged = prod(self.shape[start : end + 1])
    if any(start <= axis <= end for axis, _ in self.uop.lengths) and start != end:
        have = extents(self)
        return varying_reshape(self, [*have[:start], -1, *have[end + 1 :]])
    return self.reshape((*self.shape[:start], merged, *self.shape[end + 1 :]))


def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One axis split into several; one of `sizes` may be -1."""
    axis = own_axis(self, "unflatten", dim)
    known = prod(n for n in sizes if n != -1)
    lengths = [self.shape[axis] // known if n == -1 and known else n for n in sizes]
    if prod(lengths) != self.shape[axis]:
        raise ShapeError(
            f"cannot split {self.shape[axis]} elements into {tuple(sizes)}",
            hint="the lengths multiply to that of the axis; one of them may be -1",
        )
    return self.reshape((*self.shape[:axis], *lengths, *self.shape[axis + 1 :]))


def rearrange(self: Tensor, formula: str, **sizes: int) -> Tensor:
    """Axes split, ordered and merged as a formula of their names says:
    "batch (head width) -> batch head width" with head=4. "..." stands for the axes not named,
    1 or () for an axis of length 1, and `sizes` give the lengths that the shape leaves open.

    Raises ShapeError for a formula that does not fit. https://openreview.net/forum?id=oapKSVM2bcj
    """
    steps = Rearrangement.parse(formula, self.shape, sizes)
    return self.reshape(steps.split).permute(steps.order).reshape(steps.merged)


def movedim(self: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Axes moved to other places; the rest keep their order. Raises ShapeError for lists of
    different lengths, or that name an axis twice."""
    taken, places = (
        [own_axis(self, "movedim", axis) for axis in as_ints(axes)]
        for axes in (source, destination)
    )
    if len(taken) != len(places) or any(len(set(x)) < len(x) for x in (taken, places)):
        raise ShapeError(
            f"movedim from {source} to {destination}", hint="name as many places as axes, each once"
        )
    rest = (axis for axis in range(self.ndim) if axis not in taken)
    moved = dict(zip(places, taken, strict=True))
    order = [moved[i] if i in moved else next(rest) for i in range(self.ndim)]
    return self.permute(order)


def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The parts of an axis, one for each place, without the axis."""
    axis = own_axis(self, "unbind", dim)
    return tuple(part_of(self, axis, i, i + 1).squeeze(axis) for i in range(self.shape[axis]))


def broadcast_to(self: Tensor, *shape: int | Sequence[int]) -> Tensor:
    """`expand`, as NumPy calls it."""
    return self.expand(*shape)


def tile(self: Tensor, *repeats: int | Sequence[int]) -> Tensor:
    """`repeat`, with one copy along axes that are not named."""
    times = as_ints(*repeats)
    return self.repeat(*(1,) * (self.ndim - len(times)), *times)


def repeat(self: Tensor, *repeats: int | Sequence[int]) -> Tensor:
    """Whole copies one after the other along each axis; new axes in front."""
    times = as_ints(*repeats)
    base: Shape = (1,) * (len(times) - self.ndim) + self.shape
    if len(times) < self.ndim:
        raise ShapeError(
            f"repeat {times} of a Tensor with {self.ndim} axes",
            hint="give one number per axis, or more",
        )
    split = [m for n in base for m in (1, n)]
    wide = [m for r, n in zip(times, base, strict=True) for m in (r, n)]
    return alone(
        self.reshape(split).expand(wide).reshape([r * n for r, n in zip(times, base, strict=True)])
    )


def repeat_interleave(self: Tensor, repeats: int, dim: int | None = None) -> Tensor:
    """Each element `repeats` times in a row along an axis (of the flat Tensor for None)."""
    axis = 0 if dim is None else axis_of(self, dim)
    x = self.flatten() if dim is None or not self.ndim else self
    if repeats < 0:
        raise ShapeError(f"repeats of {repeats}", hint="give 0 or more")
    shape = x.shape
    wide = x.unsqueeze(axis + 1).expand((*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    wide = wide.reshape((*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))
    return alone(wide)


def split(self: Tensor, sizes: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of an axis: of the given lengths, or all of one length and a shorter last one."""
    axis = own_axis(self, "split", dim)
    total = self.shape[axis]
    if isinstance(sizes, int):
        if sizes < 1:
            raise ShapeError(f"cannot split by {sizes}", hint="give 1 or more")
        sizes = [min(sizes, total - at) for at in range(0, max(total, 1), sizes)]
    if sum(sizes) != total:
        raise ShapeError(
            f"cannot split {total} elements into {tuple(sizes)}",
            hint=f"the lengths sum to {sum(sizes)}",
        )
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(part_of(self, axis, at, at + n) for at, n in zip(starts, sizes, strict=True))


def chunk(self: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """At most `chunks` parts of an axis, equal except for a shorter last one."""
    axis = own_axis(self, "chunk", dim)
    if chunks < 1:
        raise ShapeError(f"cannot cut into {chunks} chunks", hint="give 1 or more")
    length = max(1, -(-self.shape[axis] // chunks))
    return list(self.split(length, axis))


def part_of(self: Tensor, axis: int, start: int, end: int) -> Tensor:
    return self.shrink([(start, end) if i == axis else None for i in range(self.ndim)])


def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements whose indices on two axes differ by `offset`, as a last axis."""
    a, b = own_axis(self, "diagonal", dim1), own_axis(self, "diagonal", dim2)
    if a == b:
        raise ShapeError(f"diagonal of axis {a} with itself", hint="name two axes")
    rest = [i for i in range(self.ndim) if i not in (a, b)]
    x = self.permute([*rest, a, b])
    rows, cols = x.shape[-2:]
    length = max(0, min(rows, cols - offset) if offset >= 0 else min(rows + offset, cols))
    row, col = max(0, -offset), max(0, offset)
    lead = [None] * len(rest)
    x = x.shrink([*lead, (row, row + length), (col, col + length)])
    # rows one element longer put the diagonal into the first column
    flat = x.reshape((*x.shape[:-2], length * length))
    flat = view_of(flat, flat.uop.pad([(0, 0)] * len(rest) + [(0, length)]))
    rows_longer = flat.reshape((*x.shape[:-2], length, length + 1))
    return part_of(rows_longer, len(rest) + 1, 0, 1).squeeze(-1)
