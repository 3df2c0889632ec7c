"""The same values in another form: another dtype, detached, or in separate memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.dtype import DType, DTypeLike, ImageDType, dtypes, to_dtype
from core.runtime.device import Device, DeviceLike
from core.tensor.state.base import in_fresh_memory, make, same_value, see, tensor_of
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


def cast(self: Tensor, dtype: DTypeLike) -> Tensor:
    """Values converted to `dtype`: floats to integers truncate toward zero. An image is memory
    that they are kept in, and read from as float32."""
    wanted = to_dtype(dtype)
    if isinstance(wanted, ImageDType):
        return make(self, self.uop.cast(wanted.base).cast(wanted).cast(wanted.base))
    if wanted is self.dtype:
        return same_value(self)
    return make(self, self.uop.cast(wanted))


def bitcast(self: Tensor, dtype: DTypeLike) -> Tensor:
    """The same bytes read as `dtype`; the last axis changes length with the element size.

    Raises ShapeError where the last axis does not fill whole elements.
    """
    wanted = to_dtype(dtype)
    made = self.uop.bitcast(wanted)
    _ = made.shaped  # raises here, at the user's call
    return same_value(self) if made is self.uop else make(self, made)


def cast_to(dtype: DType) -> Callable[[Tensor], Tensor]:
    """The method that is a cast to one dtype."""

    def method(self: Tensor) -> Tensor:
        return self.cast(dtype)

    is_bool = "Whether each element differs from zero."
    method.__doc__ = is_bool if dtype is dtypes.bool else f"As {dtype}."
    return method


def detach(self: Tensor) -> Tensor:
    """A view of the same values; no gradient flows through."""
    return see(self, tensor_of(type(self), self.uop.detach(), False))


def clone(self: Tensor, device: DeviceLike = None) -> Tensor:
    """The same values in memory of their own, when they are realized; on another device where
    one is given."""
    if device is not None and Device.names(device) != self.device:
        return self.to(device)
    return make(self, in_fresh_memory(self.uop))


def contiguous(self: Tensor) -> Tensor:
    """The values stored in row-major order, when they are realized.

    Costs nothing where they already are; even so, a later assignment to one of the two leaves
    the other unchanged.
    """
    if self.uop.op in (Ops.CONTIGUOUS, Ops.BUFFER) or _stored(self.uop):
        return same_value(self)
    if (self.uop.base.op is Ops.CONST or self.uop.device is None) and self.uop.size:
        return make(self, in_fresh_memory(self.uop))
    return make(self, self.uop.contiguous())


def contiguous_backward(self: Tensor) -> Tensor:
    """The same values; the gradient that flows back is made contiguous."""
    return make(self, self.uop.contiguous_backward())


def fuse(self: Tensor) -> Tensor:
    """The same values, computed by one kernel from what is in memory: no reduce or costly
    intermediate value is stored, except what other values need as well. Faster where that would
    only be written and read again; slower where it is then computed many times."""
    return make(self, self.uop.fuse())


def _stored(uop: UOp) -> bool:
    """Whether `uop` is all of a buffer in row-major order (perhaps after an assign)."""
    while uop.op is Ops.RESHAPE:
        uop = uop.src[0]
    return uop.op is Ops.BUFFER or (uop.op is Ops.ASSIGN and _stored(uop.src[0]))
