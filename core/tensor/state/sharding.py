"""Tensors on several devices: cut into parts along an axis, or all of the values on each.

Everything else works on them as on any Tensor. Operations never need to know: what each device
computes is worked out when a value is asked for (core/passes/schedule/multi).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import DeviceError, ShapeError
from core.runtime.device import Device
from core.tensor.state.base import make, same_value
from core.uop.facts.shapes import part_shape
from core.uop.facts.shards import all_of, share
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


@property
def axis(self: Tensor) -> int | None:
    """The axis along which the values are cut into parts, one for each device; None where each
    device has all of them, and on one device."""
    return self.uop.axis


def shard(self: Tensor, devices: Sequence[str], axis: int | None = None) -> Tensor:
    """The values on several devices: cut along `axis` into equal parts, one for each device in
    order, or (None) all of them on each.

    Results of operations are cut as their operands are; a sum over the axis that is cut is on
    all devices. Raises DeviceError for fewer than two devices, or one that is named twice, and
    ShapeError where the devices do not divide the axis.
    """
    names = Device.names(devices)
    if isinstance(names, str):
        raise DeviceError(
            f"a Tensor on {names} alone has no parts",
            hint="name two devices or more, or use .to(device)",
        )
    if axis is None and self.uop.axis is None:
        return self.to(names)
    cut = None if axis is None else _cut_axis(self, axis, len(names))
    uop = self.uop
    if isinstance(uop.device, tuple) or uop.device is None:
        same = self.device == names and cut == uop.axis
        return same_value(self) if same else make(self, self.to(names).uop.cut(cut))
    shares = (share(all_of(uop.shaped), cut, i, len(names)) for i in range(len(names)))
    pairs = zip(shares, names, strict=True)
    parts = (uop.shrink(own).copy_to_device(name) for own, name in pairs)
    return make(self, UOp(Ops.MULTI, uop.dtype, tuple(parts), cut))


def shard_(self: Tensor, devices: Sequence[str], axis: int | None = None) -> Tensor:
    """Moves this Tensor (and its gradient) to several devices, as `shard` does."""
    made = self.shard(devices, axis)
    if made.uop is not self.uop:
        self.place = None
        self.uop = made.uop
    if self.grad is not None:
        self.grad = self.grad.shard(devices, axis)
    return self


def shard_like(self: Tensor, y: Tensor) -> Tensor:
    """The values on the device or devices of `y`, cut along the same axis.

    Raises ShapeError where the devices do not divide it.
    """
    if isinstance(y.device, str):
        return self.to(y.device)
    return self.shard(y.device, y.axis)


def _cut_axis(self: Tensor, axis: int, count: int) -> int:
    """The number of an axis that `count` devices are to share."""
    if not -self.ndim <= axis < self.ndim:
        raise ShapeError(
            f"shard along axis {axis} of a Tensor with {self.ndim} axes",
            hint=f"the shape is {self.shape}; axis=None gives each device all of it",
        )
    found = axis % self.ndim
    part_shape(self.shape, found, count)
    return found


def move_hint(device: DeviceName) -> str:
    """How another Tensor gets to where one on `device` is."""
    if isinstance(device, str):
        return f"move one of them: .to({device!r})"
    return f"move one of them: .to({device!r}), or cut it as the other is: .shard_like(other)"
