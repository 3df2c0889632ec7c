"""Asking for values: realize, copies to the host, assignment, and gradients.

The only layer of a Tensor that makes anything run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np

from core.dtype import ConstType, DType, dtypes
from core.errors import DeviceError, DTypeError, GradientError, RunError, ShapeError
from core.helpers import LAZY
from core.passes.schedule import ScheduleItem
from core.realize import look
from core.runtime.awaited import awaited, expect
from core.runtime.buffer import buffer_of
from core.runtime.device import Device, DeviceLike
from core.runtime.disk.device import is_disk
from core.tensor.calls.origin import here
from core.tensor.running.kept import flow, is_leaf
from core.tensor.running.realization import (
    check_content,
    own_memory,
    plan,
    realize,
    schedule,
    write,
    write_to_file,
)
from core.tensor.state.base import GradMode, TensorBase, live
from core.tensor.state.data import Array, numpy_dtype
from core.tensor.state.files import written_to_file
from core.tensor.state.sharding import Sharding, move_hint
from core.uop.atlaunch import bound_value
from core.uop.ops import Ops
from core.uop.parts import parts_of
from core.uop.shapes import shown
from core.uop.uop import UOp

_TO_RUN: Final = (
    "run what it returned, core.realize.run_schedule(items), or call realize() in its place"
)


class Execution(Sharding):
    """Values on demand. Nothing runs before a value is needed."""

    __slots__ = ()

    def realize(self, *others: TensorBase) -> Self:
        """Computes this and `others` together and stores them."""
        realize((self, *others))
        return self

    def _make(self, uop: UOp, *others: TensorBase) -> Self:
        made = self._waiting(uop, *others)
        return made if LAZY.value else made.realize()

    def schedule(self, *others: TensorBase) -> list[ScheduleItem]:
        """The kernels and copies that `realize` would run, for the caller to run in this order, as
        `core.realize.run_schedule` does. Until then the values of these Tensors are nowhere: to
        look at one, or to compute anything from it, is a RunError."""
        items = schedule((self, *others))
        expect(items, f"its kernels were left to the caller of schedule() at {here()}", _TO_RUN)
        return items

    def kernelize(self, *others: TensorBase) -> Self:
        """Cuts the graph into kernels, as a trace shows it, without running any."""
        plan((self, *others))
        return self

    def _stored_bytes(self) -> bytearray:
        """A copy of the elements' bytes in row-major order. Raises RunError in a capture, and where
        the host has no room for it."""
        look(here())
        try:
            into = bytearray(self.nbytes())
        except (MemoryError, OverflowError) as error:
            raise RunError(
                f"the host has no {self.nbytes():,} bytes left for the values of this Tensor",
                where=here(),
                hint="look at a part of it",
            ) from error
        if into:
            if awaited:
                check_content([self])
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

    def _counting(self) -> Self:
        """What counts of axes whose length is a variable, with the values that these have."""
        uop = self.detach().contiguous().realize().uop
        while uop.op in (Ops.LENGTH, Ops.DETACH):
            uop = uop.src[0]
        ends = {axis: bound_value(n) for axis, n in self.uop.lengths}
        return self._new(
            uop.shrink([(0, ends.get(k, size)) for k, size in enumerate(self.shape)]), False
        )

    def data(self) -> memoryview:
        """The elements in row-major order; shaped, unless memoryview lacks the dtype. Of an axis
        whose length is a variable, as many as its value says."""
        if self.uop.lengths:
            return self._counting().data()
        raw = memoryview(self._stored_bytes())
        fmt: Any = self.dtype.fmt
        return raw if fmt in (None, "e") or not raw else raw.cast(fmt, self.shape)

    def numpy(self) -> Array:
        """The elements as an array of its own. Dtypes that NumPy lacks become float32. Of an axis
        whose length is a variable, as many as its value says."""
        if self.uop.lengths:
            return self._counting().numpy()
        if self.dtype.fmt is None:
            return self.cast(dtypes.float32).numpy()
        array = np.frombuffer(self._stored_bytes(), dtype=numpy_dtype(self.dtype))
        return array.reshape(self.shape)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a number where there are no axes."""
        return self.numpy().tolist()

    def item(self) -> ConstType:
        """The only element. Raises ShapeError where there are more or none."""
        if self.uop.lengths:
            return self._counting().item()
        if self.numel() != 1:
            raise ShapeError(
                f"item of a Tensor with {self.numel()} elements",
                where=here(),
                hint=f"the shape is {self.shape}; use tolist or numpy",
            )
        return self.numpy().item()

    def __bool__(self) -> bool:
        if self.uop.lengths:
            return bool(self._counting())
        if self.numel() != 1:
            raise ShapeError(
                f"a Tensor of shape {self.shape} is neither true nor false",
                where=here(),
                hint="ask for .any() or .all() of its elements",
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if not dtypes.is_int(self.dtype) or self.numel() != 1:
            raise DTypeError(
                f"a Tensor of {self.dtype} and shape {self.shape} is no integer",
                where=here(),
                hint="a Tensor of one integer can stand for it",
            )
        return int(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else repr(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """For NumPy, which asks for it: `numpy()`."""
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def assign(self, x: Self | ConstType | Sequence[Any] | Array) -> Self:
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
                f"cannot assign {value.dtype} to {self.dtype}",
                where=here(),
                hint=f"use .cast(dtypes.{self.dtype})",
            )
        if value.device != self.device and not is_disk(self.device):
            raise DeviceError(
                f"cannot assign a Tensor on {shown(value.device)} to one on {shown(self.device)}",
                where=here(),
                hint=move_hint(self.device),
            )
        return self._take(value, apart=True)

    def _take(self, value: TensorBase, apart: bool = False) -> Self:
        """Takes the values of `value`, of the same dtype and device. `apart`: no gradient flows
        from a leaf to `value`, as inside of no_grad."""
        place = self._placed()
        self._check_repeats()
        new = self._as_long(_fit(value.uop, self.shape))
        if is_disk(self.device):
            if new.size:
                write_to_file(self.uop, type(self)._new(new)._stored_bytes)
            return self
        if new.size:
            write(place.storage, place.written(new), apart or not GradMode.enabled)
        return self

    def _as_long(self, value: UOp) -> UOp:
        """`value`, with the lengths of this that are variables. Raises ShapeError for a value that
        has others."""
        for axis, n in value.lengths:
            if (axis, n) not in self.uop.lengths:
                raise ShapeError(
                    f"cannot store a value whose axis {axis} is as long as {n.unbound().render()}",
                    where=here(),
                    hint="an axis keeps its length; take the part x[:n] into a Tensor of its own",
                )
        for axis, n in self.uop.lengths:
            value = value.length(axis, n)
        return value

    def _check_repeats(self) -> None:
        """Raises ShapeError for a view that sees elements more than once."""
        if self.place is not None and self.place.repeats:
            raise ShapeError(
                f"cannot store several values in one element: a view of {self.shape} repeats some",
                where=here(),
                hint="assign to the Tensor before it is expanded, or to a copy: x.clone()",
            )

    def _take_result(self, result: Self) -> Self:
        """Takes what an operator of this and another operand gave, as `x += y` does.

        Raises DTypeError for a dtype of another kind, such as floats for integers, ShapeError where
        the result is larger, and GradientError for a leaf that requires a gradient.
        """
        self._check_in_place()
        if _kind(result.dtype) > _kind(self.dtype):
            raise DTypeError(
                f"the result is {result.dtype}, which a Tensor of {self.dtype} cannot take",
                where=here(),
                hint="write x = x + y instead of x += y, or cast the operand",
            )
        self._take(result.cast(self.dtype))
        if result._requires_grad:
            self._requires_grad = True
        return self

    def _check_in_place(self) -> None:
        """Raises GradientError for a leaf that requires a gradient, outside of no_grad."""
        if self._requires_grad and GradMode.enabled and is_leaf(self.uop):
            raise GradientError(
                "a Tensor that requires a gradient is changed in place",
                where=here(),
                hint="do it inside `with Tensor.no_grad():`, or compute a new Tensor: x = x + y",
            )

    def _own_memory(self) -> bool:
        """Gives this, and what shares its value, row-major memory of their own to be stored in.

        False, and nothing changes, for a view of a part or in another order.
        """
        place = self._placed()
        whole = place.form
        while whole is not place.storage.uop and whole.op is Ops.RESHAPE:
            whole = whole.src[0]
        if whole is not place.storage.uop:
            return False
        own_memory(place.storage)
        return True

    def to(self, device: DeviceLike) -> Self:
        """The values on another device (None: the default device), or on others. To `DISK:path`
        they are written at once, to a file that takes the place of one of this name: whole, or
        after an error not at all; of an axis whose length is a variable, as many elements as its
        value says. Raises RunError for a file that cannot be written."""
        wanted = Device.names(device)
        if not is_disk(wanted) or wanted == self.device:
            return super().to(wanted)
        if self.uop.lengths:
            return self._counting().to(wanted)
        raw = memoryview(self._stored_bytes())
        memory = written_to_file(wanted, raw, self.dtype, self.numel())
        return self._new(memory.reshape(self.shape), False)

    def replace(self, x: Self) -> Self:
        """Becomes `x`, which has the same shape, without storing anything."""
        if x.shape != self.shape:
            raise ShapeError(
                f"cannot replace {self.shape} by {x.shape}",
                where=here(),
                hint="give a Tensor of the same shape",
            )
        self.place = None
        self.uop = x.uop
        return self

    def gradient(
        self, *targets: Self, gradient: Self | None = None, materialize_grads: bool = False
    ) -> list[Self]:
        """The derivative of this with respect to each target, times `gradient` (1 for a scalar).
        On several devices it is cut as the target is.

        Raises GradientError for a target that this does not depend on, unless `materialize_grads`,
        which gives zeros; and where a value that is needed was changed in place since this was made
        from it. Raises DeviceError for a `gradient` on another device.
        """
        found = flow(self.uop, self._seed(gradient), [t.uop for t in targets])
        result: list[Self] = []
        for target in targets:
            grad = found.get(target.uop)
            if grad is None:
                if not materialize_grads:
                    raise GradientError(
                        f"no gradient flows to a target of shape {target.shape}",
                        where=here(),
                        hint="nothing here is computed from it; materialize_grads=True gives zeros",
                    )
                grad = target.uop.const_like(0)
            result.append(self._new(grad.cut(target.uop.axis)))
        return result

    def backward(self, gradient: Self | None = None) -> Self:
        """Adds the derivative of this to `grad` of every Tensor it needs that requires a gradient.

        Values that were computed before, of Tensors that require a gradient, lead on to what they
        were computed from. Raises ShapeError without `gradient` where this has more than one
        element, DeviceError for a `gradient` on another device, and GradientError where a Tensor
        that requires a gradient, or a value that the gradient is computed from, was changed in
        place since this was made from it.
        """
        seed = self._seed(gradient)
        wanted = [t for t in live.all() if t.requires_grad]
        found = flow(self.uop, seed, [t.uop for t in wanted])
        for t in wanted:
            if (grad := found.get(t.uop)) is not None:
                grad = grad.cut(t.uop.axis)
                total = grad if t.grad is None else t.grad.uop + grad
                t.grad = type(t)._new(total, requires_grad=False)
        return self

    def _seed(self, gradient: Self | None) -> UOp:
        if not dtypes.is_float(self.dtype):
            raise GradientError(
                f"a Tensor of {self.dtype} has no gradient",
                where=here(),
                hint="only functions with float results have one",
            )
        if gradient is None:
            if self.numel() != 1:
                raise GradientError(
                    f"a gradient needs a single number to start from, not shape {self.shape}",
                    where=here(),
                    hint="sum or average it, or give `gradient` in that shape",
                )
            return self.uop.const_like(1)
        if gradient.shape != self.shape:
            raise ShapeError(
                f"a gradient of shape {gradient.shape} for a Tensor of {self.shape}", where=here()
            )
        if gradient.device != self.device:
            raise DeviceError(
                f"a gradient on {shown(gradient.device)} for a Tensor on {shown(self.device)}",
                where=here(),
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
            where=here(),
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
