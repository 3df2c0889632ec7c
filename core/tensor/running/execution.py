"""Asking for values: realize, copies to the host, assignment, and gradients.

The only layer of a Tensor that makes anything run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from core.dtype import ConstType, DType, dtypes
from core.errors import DeviceError, DTypeError, GradientError, RunError, ShapeError
from core.passes.schedule import ScheduleItem
from core.realize import look
from core.runtime.awaited import awaited, expect
from core.runtime.buffer import buffer_of
from core.runtime.device import Device, DeviceLike
from core.runtime.disk.device import is_disk
from core.tensor.calls.origin import here
from core.tensor.running import realization
from core.tensor.running.kept import flow, is_leaf
from core.tensor.state.base import (
    GradMode,
    TensorBase,
    in_fresh_memory,
    in_room,
    live,
    make,
    place_of,
    same_value,
    tensor_of,
)
from core.tensor.state.data import Array, numpy_dtype
from core.tensor.state.files import written_to_file
from core.tensor.state.sharding import move_hint
from core.uop.call.atlaunch import bound_value
from core.uop.call.parts import parts_of
from core.uop.facts.shapes import shown
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

_TO_RUN: Final = (
    "run what it returned, core.realize.run_schedule(items), or call realize() in its place"
)


def realize(self: Tensor, *others: Tensor) -> Tensor:
    """Computes this and `others` together and stores them."""
    realization.realize((self, *others))
    return self


def schedule(self: Tensor, *others: Tensor) -> list[ScheduleItem]:
    """The kernels and copies that `realize` would run, for the caller to run in this order, as
    `core.realize.run_schedule` does. Until then the values of these Tensors are nowhere: to
    look at one, or to compute anything from it, is a RunError."""
    items = realization.schedule((self, *others))
    expect(items, f"its kernels were left to the caller of schedule() at {here()}", _TO_RUN)
    return items


def kernelize(self: Tensor, *others: Tensor) -> Tensor:
    """Cuts the graph into kernels, as a trace shows it, without running any."""
    realization.plan((self, *others))
    return self


def stored_bytes(self: Tensor) -> bytearray:
    """A copy of the elements' bytes in row-major order. Raises RunError in a capture, and where
    the host has no room for it."""
    look(here())
    try:
        into = bytearray(self.nbytes())
    except (MemoryError, OverflowError) as error:
        raise RunError(
            f"the host has no {self.nbytes():,} bytes left for the values of this Tensor",
            hint="look at a part of it",
        ) from error
    if into:
        if awaited:
            realization.check_content([self])
        memory = _row_major_memory(self.uop)
        if memory is None and is_disk(self.device):  # which copies, and does nothing else
            memory = _row_major_memory(self.detach().to("CPU").contiguous().realize().uop)
        elif memory is None:
            # contiguous first: what is copied has an element for each one of this
            memory = _row_major_memory(self.detach().contiguous().to("CPU").realize().uop)
        assert memory is not None, "it was stored row-major"
        start = 0
        for part in parts_of(memory)[: None if memory.axis is not None else 1]:
            Device[part.one_device].synchronize()
            found = buffer_of(part).allocate()
            found.copyout(memoryview(into)[start : start + found.nbytes])
            start += found.nbytes
    return into


def counting(self: Tensor) -> Tensor:
    """What counts of axes whose length is a variable, with the values that these have."""
    uop = self.detach().contiguous().realize().uop
    while uop.op in (Ops.LENGTH, Ops.DETACH):
        uop = uop.src[0]
    for axis, _ in uop.lengths:
        uop = uop.all_of(axis)
    ends = {axis: bound_value(n) for axis, n in self.uop.lengths}
    return tensor_of(
        type(self), uop.shrink([(0, ends.get(k, size)) for k, size in enumerate(self.shape)]), False
    )


def data(self: Tensor) -> memoryview:
    """The elements in row-major order; shaped, unless memoryview lacks the dtype. Of an axis
    whose length is a variable, as many as its value says."""
    if self.uop.lengths:
        return counting(self).data()
    raw = memoryview(stored_bytes(self))
    fmt: Any = self.dtype.fmt
    return raw if fmt in (None, "e") or not raw else raw.cast(fmt, self.shape)


def numpy(self: Tensor) -> Array:
    """The elements as an array of its own. Dtypes that NumPy lacks become float32. Of an axis
    whose length is a variable, as many as its value says."""
    if self.uop.lengths:
        return counting(self).numpy()
    if self.dtype.fmt is None:
        return self.cast(dtypes.float32).numpy()
    array = np.frombuffer(stored_bytes(self), dtype=numpy_dtype(self.dtype))
    return array.reshape(self.shape)


def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers; a number where there are no axes."""
    return self.numpy().tolist()


def item(self: Tensor) -> ConstType:
    """The only element. Raises ShapeError where there are more or none."""
    if self.uop.lengths:
        return counting(self).item()
    if self.numel() != 1:
        raise ShapeError(
            f"item of a Tensor with {self.numel()} elements",
            hint=f"the shape is {self.shape}; use tolist or numpy",
        )
    return self.numpy().item()


def __bool__(self: Tensor) -> bool:
    if self.uop.lengths:
        return bool(counting(self))
    if self.numel() != 1:
        raise ShapeError(
            f"a Tensor of shape {self.shape} is neither true nor false",
            hint="ask for .any() or .all() of its elements",
        )
    return bool(self.item())


def __int__(self: Tensor) -> int:
    return int(self.item())


def __float__(self: Tensor) -> float:
    return float(self.item())


def __index__(self: Tensor) -> int:
    if not dtypes.is_int(self.dtype) or self.numel() != 1:
        raise DTypeError(
            f"a Tensor of {self.dtype} and shape {self.shape} is no integer",
            hint="a Tensor of one integer can stand for it",
        )
    return int(self.item())


def __format__(self: Tensor, spec: str) -> str:
    return format(self.item(), spec) if spec else repr(self)


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """For NumPy, which asks for it: `numpy()`."""
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def assign(self: Tensor, x: Tensor | ConstType | Sequence[Any] | Array) -> Tensor:
    """Takes the values of `x`, broadcast to this shape; in this Tensor's memory, if it has any.

    This Tensor changes, and with it all that is a view of it or that it is a view of. No other
    Tensor ever does: what was computed from it, or took its value, keeps the value of then; and
    `x` may read this Tensor in any way. Nothing runs before a value is needed.

    A Tensor that requires a gradient stays what gradients are taken for: its new value is where
    they are taken, and no gradient flows from it to `x`. Raises ShapeError, DTypeError and
    DeviceError where `x` does not fit, and ShapeError for a view that repeats elements.

    In a file, on a device `DISK:path`, elements that follow each other are written at once,
    with values from any device; all that is in the file changes, and what was computed from it
    before keeps its value.
    """
    place = "CPU" if is_disk(self.device) else self.device
    value = x if isinstance(x, TensorBase) else type(self)(x, place, self.dtype)
    if value.dtype is not self.dtype:
        raise DTypeError(
            f"cannot assign {value.dtype} to {self.dtype}", hint=f"use .cast(dtypes.{self.dtype})"
        )
    if value.device != self.device and not is_disk(self.device):
        raise DeviceError(
            f"cannot assign a Tensor on {shown(value.device)} to one on {shown(self.device)}",
            hint=move_hint(self.device),
        )
    return take(self, value, apart=True)


def take(self: Tensor, value: Tensor, apart: bool = False) -> Tensor:
    """Takes the values of `value`, of the same dtype and device. `apart`: no gradient flows
    from a leaf to `value`, as inside of no_grad."""
    if self.named is not None:
        self.named(value, not apart)
    place = place_of(self)
    check_repeats(self)
    new = _as_long(self, _fit(_in_room_of(self, value.uop), self.shape))
    if is_disk(self.device):
        if new.size:
            realization.write_to_file(self.uop, partial(stored_bytes, tensor_of(type(self), new)))
        return self
    if new.size:
        realization.write(place.storage, place.written(new), apart or not GradMode.enabled)
    if value.requires_grad and GradMode.enabled and not apart:
        for seen in place.storage.places:
            if (tensor := seen.tensor()) is not None and tensor.wants_grad is None:
                tensor.wants_grad = True  # so that its expression is kept when it is computed
    return self


def _in_room_of(self: Tensor, value: UOp) -> UOp:
    """A value with room for as many elements as this has along axes that have one length. Raises
    ShapeError for a value that has others."""
    mine, more = dict(self.uop.lengths), self.ndim - len(value.shaped)
    for axis, n in value.lengths:
        if axis + more < 0:
            continue  # of more axes than this has
        if mine.get(axis + more) is not n:
            raise ShapeError(
                f"cannot store a value whose axis {axis + more} is as long as "
                f"{n.unbound().render()}",
                hint="an axis keeps its length; take the part x[:n] into a Tensor of its own",
            )
        if value.shaped[axis] != self.shape[axis + more]:
            value = in_room(value, axis, self.shape[axis + more])
    return value


def _as_long(self: Tensor, value: UOp) -> UOp:
    """`value`, with the lengths of this that are variables."""
    for axis, n in self.uop.lengths:
        value = value.length(axis, n)
    return value


def check_repeats(self: Tensor) -> None:
    """Raises ShapeError for a view that sees elements more than once."""
    if self.place is not None and self.place.repeats:
        raise ShapeError(
            f"cannot store several values in one element: a view of {self.shape} repeats some",
            hint="assign to the Tensor before it is expanded, or to a copy: x.clone()",
        )


def take_result(self: Tensor, result: Tensor) -> Tensor:
    """Takes what an operator of this and another operand gave, as `x += y` does.

    Raises DTypeError for a dtype of another kind, such as floats for integers, ShapeError where
    the result is larger, and GradientError for a leaf that requires a gradient.
    """
    check_in_place(self)
    if _kind(result.dtype) > _kind(self.dtype):
        raise DTypeError(
            f"the result is {result.dtype}, which a Tensor of {self.dtype} cannot take",
            hint="write x = x + y instead of x += y, or cast the operand",
        )
    take(self, result.cast(self.dtype))
    if result.requires_grad:
        self.wants_grad = True
    return self


def check_in_place(self: Tensor) -> None:
    """Raises GradientError for a leaf that requires a gradient, outside of no_grad."""
    if self.requires_grad and GradMode.enabled and is_leaf(self.uop):
        raise GradientError(
            "a Tensor that requires a gradient is changed in place",
            hint="do it inside `with Tensor.no_grad():`, or compute a new Tensor: x = x + y",
        )


def own_memory(self: Tensor) -> bool:
    """Gives this, and what shares its value, row-major memory of their own to be stored in.

    False, and nothing changes, for a view of a part or in another order.
    """
    place = place_of(self)
    whole = place.form
    while whole is not place.storage.uop and whole.op is Ops.RESHAPE:
        whole = whole.src[0]
    if whole is not place.storage.uop:
        return False
    realization.own_memory(place.storage)
    return True


def to(self: Tensor, device: DeviceLike) -> Tensor:
    """The values on another device (None: the default device), or all of them on each of several.
    From several devices to as many others, parts stay parts. To `DISK:path` they are written at
    once, to a file that takes the place of one of this name: whole, or after an error not at all;
    of an axis whose length is a variable, as many elements as its value says. Raises RunError for
    a file that cannot be written."""
    wanted = Device.names(device)
    if wanted == self.device:
        return same_value(self)
    if not is_disk(wanted):
        no_device = self.uop.device is None
        copy = in_fresh_memory(self.uop, wanted) if no_device else self.uop.copy_to_device(wanted)
        return make(self, copy)
    if self.uop.lengths:
        return counting(self).to(wanted)
    raw = memoryview(stored_bytes(self))
    memory = written_to_file(wanted, raw, self.dtype, self.numel())
    return tensor_of(type(self), memory.reshape(self.shape), False)


def to_(self: Tensor, device: DeviceLike) -> Tensor:
    """Moves this Tensor (and its gradient) to another device, or others."""
    if Device.names(device) != self.device:
        self.place = None
        self.uop = self.to(device).uop
    if self.grad is not None:
        self.grad = self.grad.to(device)
    return self


def replace(self: Tensor, x: Tensor) -> Tensor:
    """Becomes `x`, which has the same shape, without storing anything."""
    if x.shape != self.shape:
        raise ShapeError(
            f"cannot replace {self.shape} by {x.shape}", hint="give a Tensor of the same shape"
        )
    self.place = None
    self.uop = x.uop
    return self


def gradient(
    self: Tensor, *targets: Tensor, gradient: Tensor | None = None, materialize_grads: bool = False
) -> list[Tensor]:
    """The derivative of this with respect to each target, times `gradient` (1 for a scalar).
    On several devices it is cut as the target is.

    Raises GradientError for a target that this does not depend on, unless `materialize_grads`,
    which gives zeros; and where a value that is needed was changed in place since this was made
    from it. Raises DeviceError for a `gradient` on another device.
    """
    found = flow(self.uop, _seed(self, gradient), [t.uop for t in targets])
    result: list[Tensor] = []
    for target in targets:
        grad = found.get(target.uop)
        if grad is None:
            if not materialize_grads:
                raise GradientError(
                    f"no gradient flows to a target of shape {target.shape}",
                    hint="nothing here is computed from it; materialize_grads=True gives zeros",
                )
            grad = target.uop.const_like(0)
        result.append(tensor_of(type(self), grad.cut(target.uop.axis)))
    return result


def backward(self: Tensor, gradient: Tensor | None = None) -> Tensor:
    """Adds the derivative of this to `grad` of every Tensor it needs that requires a gradient.

    Values that were computed before, of Tensors that require a gradient, lead on to what they
    were computed from. Raises ShapeError without `gradient` where this has more than one
    element, DeviceError for a `gradient` on another device, and GradientError where a Tensor
    that requires a gradient, or a value that the gradient is computed from, was changed in
    place since this was made from it.
    """
    seed = _seed(self, gradient)
    wanted = [t for t in live.all() if t.requires_grad]
    found = flow(self.uop, seed, [t.uop for t in wanted])
    for t in wanted:
        if (grad := found.get(t.uop)) is not None:
            grad = grad.cut(t.uop.axis)
            total = grad if t.grad is None else t.grad.uop + grad
            t.grad = tensor_of(type(self), total, requires_grad=False)
    return self


def _seed(self: Tensor, gradient: Tensor | None) -> UOp:
    if not dtypes.is_float(self.dtype):
        raise GradientError(
            f"a Tensor of {self.dtype} has no gradient",
            hint="only functions with float results have one",
        )
    if gradient is None:
        if self.numel() != 1:
            raise GradientError(
                f"a gradient needs a single number to start from, not shape {self.shape}",
                hint="sum or average it, or give `gradient` in that shape",
            )
        return self.uop.const_like(1)
    if gradient.shape != self.shape:
        raise ShapeError(f"a gradient of shape {gradient.shape} for a Tensor of {self.shape}")
    if gradient.device != self.device:
        raise DeviceError(
            f"a gradient on {shown(gradient.device)} for a Tensor on {shown(self.device)}",
            hint=f"use .to({self.device!r})",
        )
    return gradient.uop.cast(self.dtype)


def _kind(dtype: DType) -> int:
    """0 for bool, 1 for integers, 2 for floats."""
    return 2 if dtypes.is_float(dtype) else 0 if dtypes.is_bool(dtype) else 1


def _fit(uop: UOp, shape: tuple[int, ...]) -> UOp:
    have = uop.shaped
    padded = (1,) * (len(shape) - len(have)) + have
    if len(padded) != len(shape) or any(
        n not in (1, m) for n, m in zip(padded, shape, strict=True)
    ):
        raise ShapeError(
            f"cannot store a value of shape {have} in {shape}",
            hint="from the last axis back, lengths must be equal or 1",
        )
    return uop.reshape(padded).expand(shape)


def _row_major_memory(uop: UOp) -> UOp | None:
    """The BUFFER, or part of one, that holds the elements of `uop` in order, where there is one; of
    a BUFFER on several devices its parts do, one after the other."""
    while uop.op in (Ops.RESHAPE, Ops.DETACH):
        uop = uop.src[0]
    if uop.op is Ops.BUFFER_VIEW:
        return uop
    in_order = uop.op is Ops.BUFFER and (uop.axis is None or uop.arg[0] == 1)
    return uop if in_order else None
