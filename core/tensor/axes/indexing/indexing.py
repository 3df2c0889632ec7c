"""Indexing: reading and writing by subscripts.

Picking compares positions with indices and sums what is equal; code generation turns that into
direct loads. Only boolean masks need values, and realize their mask; nothing else here runs.
Indices out of range raise ShapeError where they are known, and give 0 where they are in a Tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, TypeAlias, cast
from weakref import ref

import numpy as np

from core.dtype import dtypes, least_upper_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv
from core.runtime.disk.device import is_disk
from core.tensor.axes.creation import iota, positions
from core.tensor.axes.indexing.scattering import (
    added_back,
    can_write,
    read_with_gradient,
    rows_of,
    written_rows,
)
from core.tensor.axes.indexing.subscript import Index, Subscript
from core.tensor.elements.elementwise import broadcast_shape, operand, or_zero
from core.tensor.running.execution import check_in_place, check_repeats, take
from core.tensor.state.base import Number, TensorBase, in_room, make, tensor_of, view_of
from core.tensor.state.storage import Place, moved_by, moves_of
from core.tensor.views.movement import (
    broadcast,
    first_of_axis,
    part_of,
)
from core.tensor.views.varying import (
    LEAST_ROOM,
    Size,
    bounds_of,
    extent,
    is_varying,
    most,
    part,
    placed_at,
    size,
    value,
    whole,
    within,
)
from core.uop.call.scatter import Scatter
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

Item: TypeAlias = "int | UOp | slice | EllipsisType | Sequence[Any] | Tensor | None"


_LISTS: Final = (list, tuple, range, np.ndarray)
"""What names several positions along an axis, besides a Tensor."""


def _holds_tensors(item: object) -> bool:
    """Whether it is a Tensor, or one of its elements is, in nested lists and tuples."""
    if isinstance(item, list | tuple):
        return any(map(_holds_tensors, cast("list[object]", item)))
    return isinstance(item, TensorBase)


def _axes_taken(item: Index) -> int:
    """How many axes an index names; an Ellipsis takes what is left."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, TensorBase) and dtypes.is_bool(item.dtype) else 1


def __getitem__(self: Tensor, key: Item | tuple[Item, ...]) -> Tensor:
    """Integers, slices with any step, None, ..., and Tensors of integers or bools, or (nested)
    lists, tuples and ranges of these.

    Tensors and lists of integers together pick elements as in NumPy: they broadcast to one
    shape, which takes the place of the first of them, or goes to the front where an axis that
    is not indexed by one lies between.
    """
    if not self.ndim and isinstance(key, TensorBase) and key.dtype is dtypes.bool:
        return self.reshape(1)[key.reshape(1)]
    given = key
    x, key = _to_lengths(self, key)
    moved = x.place is None and x is not self
    subscript = _subscript(x, key)
    x = _cut(x, subscript)
    tensors = [(axis, as_index(x, t, axis)) for axis, t in subscript.tensors]
    made = pick(x, tensors) if tensors else x
    if tensors or moved:
        made.named = Named(self, given, places=_names_variables(self, given))
    return made


class Named:
    """Elements of a Tensor that a key names, which a Tensor is no view of: a value that is assigned
    to that is stored in them, as long as the other one is there."""

    __slots__ = ("_key", "_moves", "_of", "_places", "_storage")

    def __init__(self, of: Tensor, key: Item | tuple[Item, ...], places: bool) -> None:
        self._key, self._places = key, places
        self._of = ref(of)
        place = of.place
        self._storage = None if place is None else ref(place.storage)
        self._moves = [] if place is None else moves_of(place.form, place.storage.uop)

    def __call__(self, value: TensorBase, in_place: bool) -> bool:
        """Elements that index Tensors name are copied out, as in NumPy: to change the copy in place
        leaves them."""
        if in_place and not self._places:
            return False
        target = self._of()
        if target is None and self._storage is not None and (storage := self._storage()):
            target = tensor_of(cast("type[Tensor]", type(value)), storage.uop, False)
            form = moved_by(self._moves, storage.uop)
            target.uop, target.place = form, Place(target, storage, form, False)
        if target is None:
            return False
        target[self._key] = cast("Tensor", value)
        return True


def __iter__(self: Tensor) -> Iterator[Tensor]:
    """The parts along the first axis, in order."""
    if not self.ndim:
        raise ShapeError(
            "iteration over a Tensor without axes",
            hint="it is one number: .item() gives it, .reshape(1) adds an axis",
        )
    return (self[i] for i in range(self.shape[0]))


def _to_lengths(
    self: Tensor, key: Item | tuple[Item, ...]
) -> tuple[Tensor, Item | tuple[Item, ...]]:
    """This after slices of variables, and of axes whose length is one, and the rest of the key."""
    given = key if isinstance(key, tuple) else (key,)
    if not self.uop.lengths and not any(
        isinstance(i, slice) and is_varying(i.start, i.stop, i.step) for i in given
    ):
        return self, key
    items: list[Any] = list(given)
    indices = [_index(self, item) for item in given]
    named = sum(map(_axes_taken, indices))
    x, axis = self, 0
    for k, item in enumerate(indices):
        if axis < self.ndim and isinstance(item, slice):
            known = axis in dict(x.uop.lengths)
            if known or is_varying(item.start, item.stop, item.step):
                x, items[k] = _sliced(x, axis, item), slice(None)
        elif axis < self.ndim and isinstance(item, int) and axis in dict(x.uop.lengths):
            place = _place_of(x, axis, item)
            if isinstance(place, int):
                x = make(x, whole(x.uop, axis))
            items[k] = place
        axis += self.ndim - named if item is Ellipsis else _axes_taken(item)
    return x, tuple(items)


def _sliced(self: Tensor, axis: int, item: slice) -> Tensor:
    """An axis after a slice of variables. One up to a variable is a view."""
    if item.start in (None, 0) and item.step in (None, 1):
        if item.stop is None:
            return self
        alone = axis in dict(self.uop.lengths) or self.shape[axis] < LEAST_ROOM
        if isinstance(item.stop, UOp) and not alone:
            return first_of_axis(self, axis, _not_beyond(self, axis, item.stop))
    return part(self, axis, item)


def _not_beyond(self: Tensor, axis: int, end: UOp) -> UOp:
    """An end of a slice, which is that of the axis where it is larger."""
    n = self.shape[axis]
    return end if end.vmax <= n else end.minimum(end.const_like(n))


def _place_of(self: Tensor, axis: int, place: int) -> Size:
    """One place of an axis whose length is a variable. Raises ShapeError for one that is behind it
    now."""
    n = extent(self, axis)
    if not isinstance(n, UOp) or not -value(n) <= place < value(n):
        raise ShapeError(
            f"index {place} is out of range on axis {axis}", hint=f"the length is {value(n)} now"
        )
    return place if place >= 0 else n + place


def _subscript(self: Tensor, key: Item | tuple[Item, ...]) -> Subscript:
    given = key if isinstance(key, tuple) else (key,)
    items = [_index(self, item) for item in given]
    named = sum(map(_axes_taken, items))
    plain: list[Index] = []
    axis = 0
    for known, item in zip(given, items, strict=True):
        if isinstance(item, TensorBase) and dtypes.is_bool(item.dtype):
            place = self.shape[axis : axis + item.ndim]
            if not item.ndim or item.shape != place:
                raise ShapeError(
                    f"a mask of shape {item.shape} for axes of lengths {place}",
                    hint=f"the shape is {self.shape}: a mask is as long as what it selects",
                )
            plain.extend(_rows(item.nonzero().transpose(0, 1)))
        else:
            if isinstance(known, _LISTS) and axis < self.ndim and not _holds_tensors(known):
                _check_range(self, np.asarray(known), axis)
            plain.append(item)
        axis += self.ndim - named if item is Ellipsis else _axes_taken(item)
    return Subscript.parse(plain, self.shape)


def _index(self: Tensor, item: Item) -> Index:
    """One index, with lists and arrays as Tensors. Raises DTypeError for what is none."""
    if isinstance(item, list | tuple | range) and any(map(_holds_tensors, item)):
        return _stacked(self, item)
    if isinstance(item, list | tuple | range | np.ndarray):
        return type(self)(item, self.device, None if len(item) else dtypes.int32)
    if item is None or isinstance(item, slice | EllipsisType | TensorBase):
        return item
    if isinstance(item, UOp):
        return type(self)(item)  # a value of variables
    if isinstance(item, SupportsIndex) and not isinstance(item, bool | np.bool_):
        return operator.index(item)
    raise DTypeError(
        f"a Tensor is not indexed by {type(item).__name__}",
        hint="use integers, slices, None, ..., or Tensors of integers or bools",
    )


def _stacked(self: Tensor, items: Sequence[Any]) -> Tensor:
    """Nested lists of numbers and Tensors as one Tensor."""
    parts: list[Tensor] = [
        type(self)(item, self.device) if not _holds_tensors(item)
        else _stacked(self, item) if isinstance(item, list | tuple)
        else item.to(self.device)
        for item in items
    ]  # fmt: skip
    dtype = least_upper_dtype(*(part.dtype for part in parts))
    return parts[0].cast(dtype).stack(*(part.cast(dtype) for part in parts[1:]))


def _check_range(self: Tensor, indices: np.ndarray[Any, Any], axis: int) -> None:
    """Raises ShapeError where one of `indices` is outside the axis."""
    length = self.shape[axis]
    outside = indices[(indices < -length) | (indices >= length)]
    if outside.size and np.issubdtype(indices.dtype, np.integer):
        raise ShapeError(
            f"index {outside[0]} is out of range on axis {axis}", hint=f"the shape is {self.shape}"
        )


def _rows(self: Tensor) -> list[Index]:
    return [part_of(self, 0, i, i + 1).squeeze(0) for i in range(self.shape[0])]


def _cut(self: Tensor, subscript: Subscript) -> Tensor:
    """The part that integers and slices name, in the shape before Tensors pick from it."""
    single = all(abs(step) == 1 for step in subscript.steps)
    if single and (self.place is None or not self.place.repeats):
        cut = self.uop.shrink(subscript.bounds).flip([step < 0 for step in subscript.steps])
        return view_of(self, cut.reshape(subscript.shape))  # one view and none on the way
    x = self.shrink(subscript.bounds).flip([i for i, s in enumerate(subscript.steps) if s < 0])
    for axis, step in enumerate(subscript.steps):
        if abs(step) > 1:
            x = _every(x, axis, abs(step))
    return x.reshape(subscript.shape)


def _every(self: Tensor, axis: int, step: int) -> Tensor:
    count = ceildiv(self.shape[axis], step)
    widths = [(0, 0)] * self.ndim
    widths[axis] = (0, count * step - self.shape[axis])
    x = view_of(self, self.uop.pad(widths))
    split = x.reshape((*self.shape[:axis], count, step, *self.shape[axis + 1 :]))
    return part_of(split, axis + 1, 0, 1).squeeze(axis + 1)


def as_index(self: Tensor, index: Tensor, axis: int) -> Tensor:
    """Positions along an axis, counted from its end made positive, in a dtype that holds all of
    them. Raises ShapeError for a value of variables that may be out of range."""
    if not dtypes.is_int(index.dtype):
        raise DTypeError(f"an index of {index.dtype}", hint="index with integers or a bool mask")
    length = self.shape[axis]
    least, most = index.uop.bounds
    if index.uop.device is None and not -length <= least <= most < length:
        raise ShapeError(
            f"an index of {least} to {most} on an axis of {length} elements",
            hint=f"use a variable of at least 0 and at most {length - 1}",
        )
    made, wide = tensor_of(type(self), index.uop, False), dtypes.index_up_to(length)
    if dtypes.is_unsigned(made.dtype):
        return made.cast(wide) if made.dtype.bits < wide.bits else made
    made = made.cast(least_upper_dtype(made.dtype, wide))
    variable = dict(self.uop.lengths).get(axis)
    end = length if variable is None else tensor_of(type(self), variable, False)
    return (made < 0).where(made + end, made)


def pick(self: Tensor, tensors: list[tuple[int, Tensor]]) -> Tensor:
    """The elements at index tensors, one (axis, positions) pair each."""
    axes = [axis for axis, _ in tensors]
    shape = broadcast_shape(*(t.shape for _, t in tensors))
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    at = axes[0] if together else 0
    rank = len(shape)
    # the result's index axes go in before axis `at`, then the picked axes are summed away
    x = self.reshape((*self.shape[:at], *[1] * rank, *self.shape[at:]))
    mask: Tensor | None = None
    for axis, index in tensors:
        moved = axis + rank if axis >= at else axis
        places = positions(x, moved)
        lead = broadcast(index, shape).reshape(
            [shape[i - at] if at <= i < at + rank else 1 for i in range(x.ndim)]
        )
        here_ = lead == places
        mask = here_ if mask is None else mask & here_
    assert mask is not None
    moved_axes = tuple(a + rank if a >= at else a for a in axes)
    made = sum_exact(or_zero(x, mask), moved_axes)
    gradient = partial(added_back, axes=tuple(axes))
    return read_with_gradient(self, made, gradient, *(broadcast(t, shape) for _, t in tensors))


def sum_exact(self: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The sum of values of which at most one is not 0, which needs no wider dtype."""
    if dtypes.is_bool(self.dtype):
        return self.any(axes)
    return self.sum(axes, dtype=self.dtype)


def __setitem__(self: Tensor, key: Item | tuple[Item, ...], value: Tensor | Number) -> None:
    """Stores `value`, broadcast and cast, in the elements that `key` names, as `assign` does:
    this Tensor changes, and with it what is a view of it or it is a view of.

    Of elements that index Tensors name several times the last one is stored; indices out of
    range store nothing. A file takes values from every device.

    Raises ShapeError where the value does not broadcast to the place, DeviceError where it is
    elsewhere, and GradientError for a leaf that requires a gradient.
    """
    check_in_place(self)
    check_repeats(self)
    if isinstance(value, TensorBase) and is_disk(self.device):
        new = value.cast(self.dtype)
    else:
        new = operand(self, value).cast(self.dtype)
    if _names_variables(self, key):
        _write_varying(self, key, new)
        return
    mask = key if isinstance(key, TensorBase) and dtypes.is_bool(key.dtype) else None
    if mask is not None and mask.shape == self.shape and new.numel() == 1:
        take(self, mask.where(new.reshape(()), self))  # without looking at its values
        return
    subscript = _subscript(self, key)
    part = _cut(self, subscript)
    if not subscript.tensors:
        if not isinstance(value, TensorBase) or not _is_same_view(value, part):
            take(part, _spread(new, part.shape))
        return
    tensors = [(axis, as_index(part, t, axis)) for axis, t in subscript.tensors]
    if part.shape == self.shape == subscript.shape and can_write(
        self, new, *dict(tensors).values()
    ):
        shape = broadcast_shape(*(t.shape for _, t in tensors))
        tensors = [(axis, broadcast(t, shape)) for axis, t in tensors]
        order, _, _ = rows_of(self.shape, tensors)
        before = [self.shape[k] for k in order[: order.index(tensors[0][0])]]
        behind = [self.shape[k] for k in order[len(before) + len(tensors) :]]
        values = _spread(new, (*before, *shape, *behind))
        if values.numel() and self.numel():
            take(self, written_rows(self, tensors, values, Scatter(1)))
        return
    # where each named element is in the flat Tensor, counted from 1: 0 is out of range
    places = iota(type(self), self.numel(), self.device).reshape(self.shape) + 1
    named = pick(_cut(places, subscript), tensors)
    if not named.numel():
        return
    flat = self.flatten().scatter(0, named.flatten() - 1, _spread(new, named.shape).flatten())
    take(self, flat.reshape(self.shape))


def _spread(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A value that is stored, repeated along axes; of more axes than there are those in front may
    be of length 1, as in NumPy."""
    more = max(0, value.ndim - len(shape))
    if more and all(n == 1 for n in value.shape[:more]):
        value = value.reshape(value.shape[more:])
    return broadcast(value, shape)


def _names_variables(self: Tensor, key: Item | tuple[Item, ...]) -> bool:
    """Whether a key has a place or a slice made of variables, or one of an axis whose length is."""
    items = key if isinstance(key, tuple) else (key,)
    if any(isinstance(i, TensorBase | np.ndarray | list) for i in items):
        return False
    return bool(self.uop.lengths) or any(
        isinstance(i, UOp) or (isinstance(i, slice) and is_varying(i.start, i.stop, i.step))
        for i in items
    )


def _write_varying(self: Tensor, key: Item | tuple[Item, ...], new: Tensor) -> None:
    """Stores a value in places and slices that variables name: what is not there stays. Of a value
    as long as such a slice is now, all is stored."""
    items: list[Any] = list(key) if isinstance(key, tuple) else [key]
    named = sum(i is not None and i is not Ellipsis for i in items)
    at = items.index(Ellipsis) if Ellipsis in items else len(items)
    items[at : at + 1] = [slice(None)] * (self.ndim - named)
    items = [i for i in items if i is not None]
    known = dict(self.uop.lengths)
    parts: dict[int, tuple[Size, Size]] = {}
    for axis, item in enumerate(items):
        varying = isinstance(item, UOp) or axis in known
        if isinstance(item, slice):
            if not (varying or is_varying(item.start, item.stop, item.step)):
                continue
            if item.step not in (None, 1):
                raise ShapeError(
                    "a slice of variables with a step is not assigned to",
                    hint="assign to x[a:b], or to x[Tensor.arange(a, b, step)]",
                )
            if item == slice(None):
                continue
            parts[axis] = bounds_of(self, axis, item)
        elif varying:
            place = item if isinstance(item, UOp) else _place_of(self, axis, item)
            if isinstance(place, UOp):
                place = size(as_index(self, type(self)(place), axis).uop)
            parts[axis] = (place, 1)
    base = self[tuple(slice(None) if axis in parts else item for axis, item in enumerate(items))]
    # the axes that are left, of those that numbers do not name
    left = [axis for axis, item in enumerate(items) if axis in parts or isinstance(item, slice)]
    wide = [
        most(parts[axis][1]) if axis in parts else base.shape[left.index(axis)] for axis in left
    ]
    shown = [n for n, axis in zip(wide, left, strict=True) if isinstance(items[axis], slice)]
    sizes = [parts[axis][1] if axis in parts else None for axis in left
             if isinstance(items[axis], slice)]  # fmt: skip
    filled = new.uop
    lead = len(filled.shaped) - len(shown)
    if lead > 0 and all(n == 1 for n in filled.shaped[:lead]):
        filled = filled.reshape(filled.shaped[lead:])
    for k in range(1, 1 + min(len(shown), len(filled.shaped))):
        count, have = sizes[-k], filled.shaped[-k]
        axis = len(filled.shaped) - k
        if have != shown[-k] and dict(filled.lengths).get(axis) is count and count is not None:
            filled = in_room(filled, axis, shown[-k])
        elif isinstance(count, UOp) and have not in (1, shown[-k]) and have == value(count):
            more = [(0, 0)] * len(filled.shaped)
            more[-k] = (0, shown[-k] - have)
            filled = filled.pad(more)
    filled = broadcast(make(new, filled), shown).uop.reshape(tuple(wide))
    old = base.uop
    for axis, (begin, count) in parts.items():
        k = left.index(axis)
        filled, old = placed_at(filled, k, count, begin, base.shape[k])[0], whole(old, k)
    for axis, (begin, count) in parts.items():
        filled = within(filled, left.index(axis), begin, count).where(filled, old)
    take(base, make(new, filled))


def _is_same_view(self: Tensor, other: Tensor) -> bool:
    """Whether the two are views of one value and the same part of it."""
    mine, place = self.place, other.place
    same = mine is not None and place is not None and mine.storage is place.storage
    return same and mine is not None and place is not None and mine.form is place.form
