"""Tensors made from nothing: constants, sequences, and Tensors shaped like others.

Constants and sequences take no memory; the kernels that use them compute them. `device` None is the
default device, `dtype` None the natural one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.dtype import ConstType, DType, DTypeLike, dtypes, to_dtype
from core.errors import ShapeError
from core.helpers import ceildiv
from core.runtime.device import Device, DeviceLike
from core.runtime.disk.device import is_disk, path_of
from core.runtime.disk.download import fetch
from core.tensor.state.base import Number, tensor_of, with_lengths_of
from core.tensor.state.data import bytes_to_memory
from core.tensor.state.files import file_memory
from core.tensor.views.movement import as_ints, items_of, sizes
from core.tensor.views.varying import is_varying, made_with, steps_between
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


@classmethod
def full(
    cls: type[Tensor],
    shape: int | Sequence[int],
    fill_value: ConstType,
    *,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """One value everywhere."""
    wanted = dtypes.from_py(fill_value) if dtype is None else to_dtype(dtype)
    if is_varying(*items_of((shape,))):
        return made_with(
            items_of((shape,)),
            lambda most: cls.full(
                most, fill_value, device=device, dtype=dtype, requires_grad=requires_grad
            ),
        )
    lengths = as_ints(shape)
    if any(n < 0 for n in lengths):
        raise ShapeError(f"a Tensor of shape {lengths}", hint="lengths are not negative")
    uop = UOp.full(lengths, fill_value, wanted, Device.names(device))
    return tensor_of(cls, uop, requires_grad)


@classmethod
def zeros(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """0 everywhere, float32 unless said otherwise."""
    return cls.full(
        sizes(*shape),
        0.0,
        device=device,
        dtype=dtype or dtypes.default_float,
        requires_grad=requires_grad,
    )


@classmethod
def ones(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """1 everywhere, float32 unless said otherwise."""
    return cls.full(
        sizes(*shape),
        1.0,
        device=device,
        dtype=dtype or dtypes.default_float,
        requires_grad=requires_grad,
    )


@classmethod
def empty(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Memory of its own with any values in it. On a device `DISK:path`: the first bytes of the
    file, which is made, and lengthened, when it is assigned to."""
    if is_varying(*items_of(shape)):
        return made_with(
            items_of(shape),
            lambda most: cls.empty(most, device=device, dtype=dtype, requires_grad=requires_grad),
        )
    lengths = as_ints(*shape)
    if any(n < 0 for n in lengths):
        raise ShapeError(f"a Tensor of shape {lengths}", hint="lengths are not negative")
    size = 1
    for n in lengths:
        size *= n
    wanted = to_dtype(dtype or dtypes.default_float)
    where = Device.names(device)
    if isinstance(where, str) and is_disk(where):
        buffer = file_memory(path_of(where), wanted, size)
    else:
        buffer = UOp.new_buffer(where, size, wanted)
    return tensor_of(cls, buffer.reshape(lengths), requires_grad)


@classmethod
def from_bytes(
    cls: type[Tensor],
    data: bytes | memoryview,
    shape: Sequence[int],
    *,
    dtype: DTypeLike,
    device: DeviceLike = None,
) -> Tensor:
    """A Tensor of `shape` whose elements have the given bytes, in row-major order."""
    return tensor_of(cls, bytes_to_memory(data, to_dtype(dtype), Device.names(device))).reshape(
        shape
    )


@classmethod
def from_url(
    cls: type[Tensor], url: str, gunzip: bool = False, device: DeviceLike = None
) -> Tensor:
    """The bytes of what is at an address, unpacked if `gunzip`: in a file of the user's cache,
    where they stay, or on a device. Fetched once.

    Raises RunError for what cannot be fetched.
    """
    found = tensor_of(cls, file_memory(fetch(url, gunzip)))
    return found if device is None else found.to(device)


@classmethod
def arange(
    cls: type[Tensor],
    start: Number,
    stop: Number | None = None,
    step: float = 1,
    *,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """start, start + step, ... up to but without `stop`; 0 to `start` where that is alone. Integer
    ends may be values of bound variables."""
    if stop is None:
        start, stop = 0, start
    if isinstance(start, UOp) or isinstance(stop, UOp):
        first, count = steps_between(start, stop, step)
        wanted = dtype or dtypes.default_int
        made = made_with([count], lambda most: cls.arange(most[0], device=device, dtype=wanted))
        made = made * int(step) + first
        return made if requires_grad is None else made.requires_grad_(requires_grad)
    if step == 0 or not all(map(math.isfinite, (start, stop, step))):
        raise ShapeError(
            f"arange from {start} to {stop} with step {step}",
            hint="bounds are finite, and the step is finite and not 0",
        )
    ints = all(isinstance(v, int) for v in (start, stop, step))
    wanted = to_dtype(dtype or (dtypes.default_int if ints else dtypes.default_float))
    count = max(0, ceildiv(int(stop - start), int(step)) if ints else -int((start - stop) // step))
    steps = iota(cls, count, device).cast(wanted)
    made = steps if step == 1 else steps * step
    made = made if start == 0 else made + start
    return tensor_of(cls, made.cast(wanted).uop, requires_grad)


def iota(cls: type[Tensor], count: int, device: DeviceLike) -> Tensor:
    return tensor_of(cls, UOp.iota(count, dtypes.int32, Device.names(device)))


@classmethod
def linspace(
    cls: type[Tensor],
    start: float,
    stop: float,
    steps: int,
    *,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """`steps` numbers from `start` to `stop`, both included, equally spaced."""
    wanted = to_dtype(dtype or dtypes.default_float)
    if steps < 0:
        raise ShapeError(f"linspace with {steps} steps", hint="give 0 or more")
    step = (stop - start) / (steps - 1) if steps > 1 else 0.0
    made = (
        iota(cls, steps, device).cast(dtypes.float32 if wanted.bits < 64 else wanted) * step + start
    ).cast(wanted)
    return tensor_of(cls, made.uop, requires_grad)


@classmethod
def eye(
    cls: type[Tensor],
    n: int,
    m: int | None = None,
    *,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """1 where row and column are the same, else 0; n rows, m columns (None: n)."""
    columns = n if m is None else m
    if n < 0 or columns < 0:
        raise ShapeError(f"eye of shape ({n}, {columns})", hint="lengths are not negative")
    rows = iota(cls, n, device).reshape(n, 1)
    same = rows == iota(cls, columns, device).reshape(1, columns)
    return tensor_of(cls, same.cast(dtype or dtypes.default_float).uop, requires_grad)


def full_like(self: Tensor, fill_value: ConstType, **options: Any) -> Tensor:
    """One value everywhere, with this shape, dtype and device unless said otherwise."""
    made = cut_alike(self, type(self).full(self.shape, fill_value, **like_this(self, options)))
    return with_lengths_of(made, self)


def zeros_like(self: Tensor, **options: Any) -> Tensor:
    """0 everywhere, shaped like this."""
    return self.full_like(0, **options)


def ones_like(self: Tensor, **options: Any) -> Tensor:
    """1 everywhere, shaped like this."""
    return self.full_like(1, **options)


def empty_like(self: Tensor, **options: Any) -> Tensor:
    """Memory with any values in it, shaped like this."""
    made = type(self).empty(self.shape, **like_this(self, options))
    return with_lengths_of(made, self)


def cut_alike(self: Tensor, made: Tensor) -> Tensor:
    """A Tensor of this shape, cut as this is where it is on the same devices."""
    return made if self.axis is None or made.device != self.device else made.shard_like(self)


def like_this(self: Tensor, options: dict[str, Any]) -> dict[str, Any]:
    return {"dtype": self.dtype, "device": self.device, **options}


def positions(self: Tensor, axis: int, dtype: DType = dtypes.int32) -> Tensor:
    """The index along `axis`, shaped to broadcast against this."""
    shape = [1] * self.ndim
    shape[axis] = self.shape[axis]
    return iota(type(self), self.shape[axis], self.device).cast(dtype).reshape(shape)
