"""What a Tensor and its views share: one value, of which each of them is a part or another order.

A view is made by movement alone. Writing to one of them writes to the value, and so to all of them.
Never decides where a value is in memory, and never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import ref

from core.dtype import dtypes
from core.runtime.device import Device
from core.tensor.state.live import Holder
from core.uop.ops import Ops
from core.uop.uop import UOp

T = TypeVar("T", bound=Holder)


class Storage(Generic[T]):
    """A value and the Tensors that see it. `uop` computes it; `changed` hears of another form."""

    __slots__ = ("__weakref__", "_changed", "_many", "_places", "_uop")

    def __init__(self, uop: UOp, changed: Callable[[Storage[T]], None]) -> None:
        self._uop, self._changed = uop, changed
        self._places: list[ref[Place[T]]] = []
        self._many = 8
        changed(self)

    @property
    def places(self) -> list[Place[T]]:
        """How each of the Tensors that see the value sees it."""
        return [place for known in self._places if (place := known()) is not None]

    def add(self, place: Place[T]) -> None:
        """Another Tensor sees the value. Those that are gone are let go of from time to time."""
        self._places.append(ref(place))
        if len(self._places) > self._many:
            self._places = [known for known in self._places if known() is not None]
            self._many = 8 + 2 * len(self._places)

    @property
    def uop(self) -> UOp:
        """The graph that computes the value."""
        return self._uop

    @uop.setter
    def uop(self, uop: UOp) -> None:
        """Another form of the same value."""
        old, self._uop = self._uop, uop
        for place in self.places:
            place.form = moved_alike(place.form, old, uop)
        self._changed(self)

    def write(self, uop: UOp) -> None:
        """Another value: every Tensor that sees it changes."""
        self.uop = uop
        for place in self.places:
            if (tensor := place.tensor()) is not None:
                tensor.uop = place.form


class Place(Generic[T]):
    """How one Tensor sees a Storage: `form` is movement of the graph of the storage. `repeats`: it
    sees some element more than once."""

    __slots__ = ("__weakref__", "form", "repeats", "storage", "tensor")

    def __init__(self, tensor: T, storage: Storage[T], form: UOp, repeats: bool) -> None:
        self.tensor = ref(tensor)
        self.storage, self.form, self.repeats = storage, form, repeats
        storage.add(self)

    @property
    def alone(self) -> bool:
        """Whether no other Tensor sees the storage."""
        return len(self.storage.places) == 1

    def written(self, value: UOp) -> UOp:
        """The value of the storage with `value` where this sees it. Not for one that repeats."""
        return put_back(self.form, self.storage.uop, value)


def moved_alike(form: UOp, old: UOp, new: UOp) -> UOp:
    """The movement that `form` is of `old`, of `new` instead."""
    return moved_by(moves_of(form, old), new)


Move: TypeAlias = tuple[Ops, Any, tuple[UOp, ...]]
"""The op of a movement, its argument, and its other sources."""


def moves_of(form: UOp, old: UOp) -> list[Move]:
    """The movement that `form` is of `old`, the first one first; nothing of `old` is kept."""
    moves: list[Move] = []
    while form is not old:
        moves.insert(0, (form.op, form.arg, form.src[1:]))
        form = form.src[0]
    return moves


def moved_by(moves: Sequence[Move], new: UOp) -> UOp:
    """`new` after movement."""
    for op, arg, others in moves:
        new = UOp(op, new.dtype, (new, *others), arg)
    return new


def put_back(form: UOp, whole: UOp, value: UOp) -> UOp:
    """`whole` with `value` where `form` is, movement of `whole` that repeats no element."""
    while form is not whole:
        value = _put_back(form, value)
        form = form.src[0]
    return value


def _put_back(move: UOp, value: UOp) -> UOp:
    """The source of a movement once the moved elements are those of `value`."""
    source, arg = move.src[0], move.arg
    match move.op:
        case Ops.RESHAPE:
            return value.reshape(source.shaped)
        case Ops.PERMUTE:
            return value.permute(sorted(range(len(arg)), key=arg.__getitem__))
        case Ops.FLIP:
            return value.flip(arg)
        case Ops.PAD:
            sides = zip(arg, source.shaped, strict=True)
            return value.shrink([(before, before + n) for (before, _), n in sides])
        case Ops.SHRINK:
            sides = zip(arg, source.shaped, strict=True)
            widths = [(start, n - end) for (start, end), n in sides]
            device = source.device or value.device or Device.DEFAULT
            ones = UOp.full(value.shaped, True, dtypes.bool, device)
            return ones.pad(widths).where(value.pad(widths), source)
        case Ops.LENGTH:
            return source.before(arg, move.src[1]).where(value.all_of(arg), source)
        case Ops.EXPAND:
            return source  # no elements, or it would repeat some
        case _:
            return value
