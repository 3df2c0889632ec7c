"""What every Tensor is: a UOp that says how to compute it, and whether it wants a gradient.

The class has the state of a Tensor. The functions below it make others of it: results, views, the
same value once more. Arithmetic and movement are rooms above.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

from core.dtype import ConstType, DType, DTypeLike, dtypes, to_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import LAZY, TRAINING, Context
from core.runtime.device import Device, DeviceLike
from core.tensor.state.data import Data, uop_from_data
from core.tensor.state.files import file_memory
from core.tensor.state.live import Live
from core.tensor.state.storage import Place, Storage, moved_alike
from core.uop.facts.shapes import shown
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.show import shape_text
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

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

    __slots__ = ("__weakref__", "_uop", "grad", "named", "place", "wants_grad")
    __array_priority__ = 1000
    """Above that of NumPy's arrays and scalars, which leave `scalar * tensor` to the Tensor."""
    _uop: UOp
    place: Place[TensorBase] | None
    """How it sees the value that it shares with its views, once it has any."""
    named: Callable[[TensorBase, bool], bool] | None
    """What is no view, but a name of elements of another Tensor: stores a value there when this is
    assigned to (or changed in place, which the second argument says), and whether it did."""
    grad: Self | None
    wants_grad: bool | None
    """`requires_grad`, which results of operations get without its checks."""

    def __init__(
        self,
        data: Data | UOp | Tensor | Path,
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
        self.uop, self.place, self.wants_grad, self.grad = uop, None, None, None
        self.named = None
        self.requires_grad = requires_grad

    @property
    def is_param(self) -> bool:
        """Whether an optimizer that is given this trains it: unless `requires_grad` is False."""
        return self.wants_grad is not False

    def is_param_(self, is_param: bool = True) -> Self:
        """Sets `requires_grad` and returns the Tensor."""
        return self.requires_grad_(is_param)

    def __repr__(self) -> str:
        grad = ", requires_grad=True" if self.wants_grad else ""
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
        return self.wants_grad

    @requires_grad.setter
    def requires_grad(self, value: bool | None) -> None:
        if value and not dtypes.is_float(self.dtype):
            raise DTypeError(
                f"a Tensor of {self.dtype} cannot have a gradient",
                hint="cast it to a float dtype first",
            )
        if value and not self.wants_grad and not _has_memory(self.uop):
            # equal constants are one node, which would make two parameters one
            self.uop = in_fresh_memory(self.uop)
            if self.place is not None and self.place.form is self.place.storage.uop:
                self.place.storage.uop = self.uop
            else:
                self.place = None
        self.wants_grad = value

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
        return self.shape if dim is None else self.shape[own_axis(self, "size", dim)]

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


def tensor_of(cls: type[Tensor], uop: UOp, requires_grad: bool | None = None) -> Tensor:
    """A Tensor of `uop` as it is."""
    made = _made(cls, uop, None)
    if requires_grad is not None:
        made.requires_grad = requires_grad
    return made


def _made(cls: type[Tensor], uop: UOp, wants: bool | None) -> Tensor:
    made = object.__new__(cls)
    made.uop, made.place, made.wants_grad, made.grad = uop, None, wants, None
    made.named = None
    return made


def make(self: Tensor, uop: UOp, *others: TensorBase) -> Tensor:
    """The result of an operation on this and `others`; wants a gradient where one does."""
    made = waiting(self, uop, *others)
    return made if LAZY.value else made.realize()


def waiting(self: Tensor, uop: UOp, *others: TensorBase) -> Tensor:
    """As `make`, computed when it is needed, whatever LAZY says."""
    wants = self.wants_grad
    for other in others:
        mine = other.wants_grad
        wants = True if wants or mine else None if wants is None or mine is None else False
    if not GradMode.enabled:
        uop, wants = uop.detach(), False
    return _made(type(self), uop, wants)


def view_of(self: Tensor, uop: UOp, repeats: bool = False) -> Tensor:
    """The result of movement: a view. Writing to one of the two writes to the other."""
    return see(self, waiting(self, uop), repeats)  # nothing to compute


def see(self: Tensor, view: Tensor, repeats: bool = False) -> Tensor:
    """Makes `view`, whose graph is movement of this one, a view."""
    mine = place_of(self)
    form = moved_alike(view.uop, self.uop, mine.form)
    view.place = Place(view, mine.storage, form, repeats or mine.repeats)
    return view


def place_of(self: Tensor) -> Place[TensorBase]:
    """Its place in the value that it shares with its views; the whole where it has none."""
    if self.place is None:
        storage = Storage[TensorBase](self.uop, live.add_storage)
        self.place = Place(self, storage, self.uop, repeats=False)
    return self.place


def with_lengths_of(self: Tensor, other: TensorBase) -> Tensor:
    """This, with the lengths that are variables of a Tensor of the same shape."""
    made = self
    for axis, n in other.uop.lengths:
        made = make(made, made.uop.length(axis, n))
    return made


def in_room(u: UOp, axis: int, room: int) -> UOp:
    """`u`, whose length along `axis` is a variable, in memory for `room` elements along it."""
    have, n = u.shaped[axis], dict(u.lengths)[axis]
    u = u.all_of(axis)
    if have < room:
        u = u.pad([(0, room - have if k == axis else 0) for k in range(len(u.shaped))])
    elif have > room:
        u = u.shrink([(0, room if k == axis else size) for k, size in enumerate(u.shaped)])
    return u.length(axis, n)


def same_value(self: Tensor) -> Tensor:
    """Another Tensor with the same value, no view: writing to one leaves the other."""
    made = _made(type(self), self.uop, self.wants_grad)
    return made if GradMode.enabled else alone(made.detach())


def alone(self: Tensor) -> Tensor:
    """This, no longer a view of any other Tensor."""
    self.place = None
    return self


def axis_of(self: TensorBase, axis: int, extra: int = 0) -> int:
    """A non-negative axis number. `extra` counts axes that the result has more.

    A Tensor without axes is its one element along axis 0 (or -1), which gives 0 here; what has
    to have an axis asks `own_axis`.
    """
    total = self.ndim + extra
    if not -max(1, total) <= axis < max(1, total):
        raise ShapeError(
            f"axis {axis} of a Tensor with {total} axes", hint=f"the shape is {self.shape}"
        )
    return axis % total if total else 0


def own_axis(self: TensorBase, name: str, axis: int) -> int:
    """As `axis_of`, for the operation `name` that needs one to be there."""
    if not self.ndim:
        raise ShapeError(
            f"{name} along axis {axis} of a Tensor without axes",
            hint="give it an axis with reshape(1)",
        )
    return axis_of(self, axis)


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


def _has_memory(uop: UOp) -> bool:
    return any(u.op in (Ops.BUFFER, Ops.CONTIGUOUS) for u in uop.toposort())
