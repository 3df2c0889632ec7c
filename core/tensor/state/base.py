"""What every Tensor is: a UOp that says how to compute it, and whether it wants a gradient.

Defines identity, dtype and device of a Tensor; arithmetic and movement are layers above.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeAlias

from core.dtype import ConstType, DType, DTypeLike, dtypes, to_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import TRAINING, Context
from core.runtime.device import Device, DeviceLike
from core.tensor.calls.origin import here
from core.tensor.state.data import Data, uop_from_data
from core.tensor.state.files import file_memory
from core.tensor.state.live import Live
from core.tensor.state.storage import Place, Storage, moved_alike
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.shapes import shown
from core.uop.show import shape_text
from core.uop.uop import UOp

Shape = tuple[int, ...]
Number: TypeAlias = "ConstType | UOp"
"""What stands beside a Tensor as one number: a Python number, or a value of bound variables."""


class GradMode:
    """Whether results keep a path for gradients to the tensors they are made from."""

    enabled = True


class TensorMeta(type):
    """Gives the class `Tensor.training`, the flag TRAINING as an attribute of the class."""

    @property
    def training(cls) -> bool:
        """Whether dropout and batch norm behave as in training."""
        return bool(TRAINING)

    @training.setter
    def training(cls, value: bool) -> None:
        TRAINING.value = int(value)


class TensorBase(metaclass=TensorMeta):
    """A lazy array: `uop` is the graph that computes it. See `core.tensor.Tensor`."""

    __slots__ = ("__weakref__", "_requires_grad", "_uop", "grad", "place")
    __array_priority__ = 1000
    """Above that of NumPy's arrays and scalars, which leave `scalar * tensor` to the Tensor."""
    _uop: UOp
    place: Place[TensorBase] | None
    """How it sees the value that it shares with its views, once it has any."""
    grad: Self | None

    def __init__(
        self,
        data: Data | UOp | TensorBase | Path,
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> None:
        wanted = None if dtype is None else to_dtype(dtype)
        where = Device.names(device)
        if isinstance(data, TensorBase):
            data = data.uop if device is None else data.to(where).uop
        if isinstance(data, Path):
            data, wanted = file_memory(data, wanted), None
            data = data if device is None else data.copy_to_device(where)
        uop = uop_from_data(data, where, wanted)
        if uop.device is None and where != Device.DEFAULT:
            uop = in_fresh_memory(uop, where)
        self._setup(uop, None)
        self.requires_grad = requires_grad

    def _setup(self, uop: UOp, requires_grad: bool | None) -> None:
        self.place = None
        self.uop, self._requires_grad, self.grad = uop, requires_grad, None

    @classmethod
    def _new(cls, uop: UOp, requires_grad: bool | None = None) -> Self:
        """A Tensor of `uop` as it is."""
        self = object.__new__(cls)
        self._setup(uop, None)
        if requires_grad is not None:
            self.requires_grad = requires_grad
        return self

    @property
    def is_param(self) -> bool:
        """Whether an optimizer that is given this trains it: unless `requires_grad` is False."""
        return self._requires_grad is not False

    def is_param_(self, is_param: bool = True) -> Self:
        """Sets `requires_grad` and returns the Tensor."""
        return self.requires_grad_(is_param)

    def _make(self, uop: UOp, *others: TensorBase) -> Self:
        """The result of an operation on this and `others`; wants a gradient where one does."""
        return self._waiting(uop, *others)

    def _waiting(self, uop: UOp, *others: TensorBase) -> Self:
        """As `_make`, computed when it is needed, whatever LAZY says."""
        wants = self._requires_grad
        for other in others:
            mine = other._requires_grad
            wants = True if wants or mine else None if wants is None or mine is None else False
        if not GradMode.enabled:
            uop, wants = uop.detach(), False
        made = object.__new__(type(self))
        made._setup(uop, wants)
        return made

    def _moved(self, uop: UOp, repeats: bool = False) -> Self:
        """The result of movement: a view. Writing to one of the two writes to the other."""
        return self._see(self._waiting(uop), repeats)  # nothing to compute

    def _see(self, view: Self, repeats: bool = False) -> Self:
        """Makes `view`, whose graph is movement of this one, a view."""
        mine = self._placed()
        form = moved_alike(view.uop, self.uop, mine.form)
        view.place = Place(view, mine.storage, form, repeats or mine.repeats)
        return view

    def _placed(self) -> Place[TensorBase]:
        """Its place in the value that it shares with its views; the whole where it has none."""
        if self.place is None:
            storage = Storage[TensorBase](self.uop, live.add_storage)
            self.place = Place(self, storage, self.uop, repeats=False)
        return self.place

    def _with_lengths_of(self, other: TensorBase) -> Self:
        """This, with the lengths that are variables of a Tensor of the same shape."""
        made = self
        for axis, n in other.uop.lengths:
            made = made._make(made.uop.length(axis, n))
        return made

    def _same_value(self) -> Self:
        """Another Tensor with the same value, no view: writing to one leaves the other."""
        made = object.__new__(type(self))
        made._setup(self.uop, self._requires_grad)
        return made if GradMode.enabled else made.detach()._alone()

    def _alone(self) -> Self:
        """This, no longer a view of any other Tensor."""
        self.place = None
        return self

    def __repr__(self) -> str:
        grad = ", requires_grad=True" if self._requires_grad else ""
        cut = "" if self.uop.axis is None else f" cut along axis {self.uop.axis}"
        where = f"{shown(self.device)}{cut}"
        shape = shape_text(self.shape, self.uop.lengths)
        return f"<Tensor {shape} {self.dtype} on {where}, {self.uop.op.name}{grad}>"

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        if not self.shape:
            raise ShapeError(
                "a Tensor without axes has no length",
                where=here(),
                hint="it is one number: .numel() is 1, .item() gives it",
            )
        if dict(self.uop.lengths).get(0) is not None:
            self.numel()  # raises
        return self.shape[0]

    @property
    def uop(self) -> UOp:
        """The graph that computes it."""
        return self._uop

    @uop.setter
    def uop(self, uop: UOp) -> None:
        self._uop = uop
        live.add(self)

    @property
    def requires_grad(self) -> bool | None:
        """True: `backward` fills `grad`. None: an optimizer may decide. False: never."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool | None) -> None:
        if value and not dtypes.is_float(self.dtype):
            raise DTypeError(
                f"a Tensor of {self.dtype} cannot have a gradient",
                where=here(),
                hint="cast it to a float dtype first",
            )
        if value and not self._requires_grad and not _has_memory(self.uop):
            # equal constants are one node, which would make two parameters one
            self.uop = in_fresh_memory(self.uop)
            if self.place is not None and self.place.form is self.place.storage.uop:
                self.place.storage.uop = self.uop
            else:
                self.place = None
        self._requires_grad = value

    def requires_grad_(self, requires_grad: bool | None = True) -> Self:
        """Sets `requires_grad` and returns the Tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def shape(self) -> Shape:
        """Length of each axis; the largest, where it is a variable."""
        return self.uop.shaped

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.uop.dtype

    @property
    def device(self) -> DeviceName:
        """The device that holds, or will hold, the elements; or the names of several."""
        return self.uop.device or Device.DEFAULT

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def numel(self) -> int:
        """Number of elements. Raises ShapeError where it depends on a variable."""
        if self.uop.lengths:
            raise ShapeError(
                "the number of elements is a variable, as the length of an axis is",
                where=here(),
                hint="count in a Tensor: x.ones_like().sum()",
            )
        return self.uop.size

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def nbytes(self) -> int:
        """Bytes of all elements; with the largest length of each axis."""
        return self.uop.size * self.element_size()

    def is_floating_point(self) -> bool:
        """Whether elements are floating point."""
        return dtypes.is_float(self.dtype)

    def size(self, dim: int | None = None) -> Shape | int:
        """The shape, or the length of one axis."""
        return self.shape if dim is None else self.shape[self._own_axis("size", dim)]

    def _axis(self, axis: int, extra: int = 0) -> int:
        """A non-negative axis number. `extra` counts axes that the result has more.

        A Tensor without axes is its one element along axis 0 (or -1), which gives 0 here; what has
        to have an axis asks `_own_axis`.
        """
        total = self.ndim + extra
        if not -max(1, total) <= axis < max(1, total):
            raise ShapeError(
                f"axis {axis} of a Tensor with {total} axes",
                where=here(),
                hint=f"the shape is {self.shape}",
            )
        return axis % total if total else 0

    def _own_axis(self, name: str, axis: int) -> int:
        """As `_axis`, for the operation `name` that needs one to be there."""
        if not self.ndim:
            raise ShapeError(
                f"{name} along axis {axis} of a Tensor without axes",
                where=here(),
                hint="give it an axis with reshape(1)",
            )
        return self._axis(axis)

    def cast(self, dtype: DTypeLike) -> Self:
        """Values converted to `dtype`: floats to integers truncate toward zero."""
        wanted = to_dtype(dtype)
        if wanted is self.dtype:
            return self._same_value()
        return self._make(self.uop.cast(wanted))

    def bitcast(self, dtype: DTypeLike) -> Self:
        """The same bytes read as `dtype`; the last axis changes length with the element size.

        Raises ShapeError where the last axis does not fill whole elements.
        """
        wanted = to_dtype(dtype)
        made = self.uop.bitcast(wanted)
        _ = made.shaped  # raises here, at the user's call
        return self._same_value() if made is self.uop else self._make(made)

    def detach(self) -> Self:
        """A view of the same values; no gradient flows through."""
        made = object.__new__(type(self))
        made._setup(self.uop.detach(), False)
        return self._see(made)

    def clone(self, device: DeviceLike = None) -> Self:
        """The same values in memory of their own, when they are realized; on another device where
        one is given."""
        if device is not None and Device.names(device) != self.device:
            return self.to(device)
        return self._make(in_fresh_memory(self.uop))

    def contiguous(self) -> Self:
        """The values stored in row-major order, when they are realized.

        Costs nothing where they already are; even so, a later assignment to one of the two leaves
        the other unchanged.
        """
        if self.uop.op in (Ops.CONTIGUOUS, Ops.BUFFER) or _stored(self.uop):
            return self._same_value()
        if (self.uop.base.op is Ops.CONST or self.uop.device is None) and self.uop.size:
            return self._make(in_fresh_memory(self.uop))
        return self._make(self.uop.contiguous())

    def contiguous_backward(self) -> Self:
        """The same values; the gradient that flows back is made contiguous."""
        return self._make(self.uop.contiguous_backward())

    def fuse(self) -> Self:
        """The same values, computed by one kernel from what is in memory: no reduce or costly value
        on the way is stored, but what other values need, too. Faster where that would only be
        written and read again; slower where it is then computed many times."""
        return self._make(self.uop.fuse())

    def to(self, device: DeviceLike) -> Self:
        """The values on another device (None: the default device), or all of them on each of
        several. From several devices to as many others, parts stay parts."""
        wanted = Device.names(device)
        if wanted == self.device:
            return self._same_value()
        if self.uop.device is None:
            return self._make(in_fresh_memory(self.uop, wanted))
        return self._make(self.uop.copy_to_device(wanted))

    def to_(self, device: DeviceLike) -> Self:
        """Moves this Tensor (and its gradient) to another device, or others."""
        if Device.names(device) != self.device:
            self.place = None
            self.uop = self.to(device).uop
        if self.grad is not None:
            self.grad = self.grad.to(device)
        return self

    @staticmethod
    def train(mode: bool = True) -> Context:
        """A context in which dropout and batch norm behave as in training (or not)."""
        return Context(TRAINING=int(mode))

    @staticmethod
    @contextmanager
    def no_grad() -> Generator[None]:
        """A context in which results do not lead gradients back to their sources."""
        saved, GradMode.enabled = GradMode.enabled, False
        try:
            yield
        finally:
            GradMode.enabled = saved


live: Live[TensorBase] = Live()
"""Every Tensor that is alive."""


def in_fresh_memory(uop: UOp, device: DeviceName | None = None) -> UOp:
    """The value in memory of its own: a new buffer, after the value was stored in it. `device` is
    for a value that has none."""
    return uop.new_memory(device or Device.DEFAULT).assign(uop)


def placed(tensor: TensorBase) -> UOp:
    """The graph of a Tensor that is to be stored: a value of variables alone, which is computed
    wherever it is used, gets memory on the Tensor's device."""
    if tensor.uop.device is None:
        tensor.uop = in_fresh_memory(tensor.uop)
    return tensor.uop


def _stored(uop: UOp) -> bool:
    """Whether `uop` is all of a buffer in row-major order (perhaps after an assign)."""
    while uop.op is Ops.RESHAPE:
        uop = uop.src[0]
    return uop.op is Ops.BUFFER or (uop.op is Ops.ASSIGN and _stored(uop.src[0]))


def _has_memory(uop: UOp) -> bool:
    return any(u.op in (Ops.BUFFER, Ops.CONTIGUOUS) for u in uop.toposort())
