"""Tensors made from nothing: constants, sequences, and Tensors shaped like others.

Constants and sequences take no memory; the kernels that use them compute them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from core.dtype import ConstType, DType, DTypeLike, dtypes, to_dtype
from core.errors import ShapeError
from core.helpers import ceildiv
from core.runtime.device import Device, DeviceLike
from core.runtime.disk.device import is_disk, path_of
from core.runtime.disk.download import fetch
from core.tensor.calls.origin import here
from core.tensor.elements.activation import Activation
from core.tensor.state.data import bytes_to_memory
from core.tensor.state.files import file_memory
from core.tensor.views.movement import as_ints
from core.uop.uop import UOp


class Creation(Activation):
    """Static constructors. `device` None is the default device, `dtype` None the natural one."""

    __slots__ = ()

    @classmethod
    def full(
        cls,
        shape: int | Sequence[int],
        fill_value: ConstType,
        *,
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """One value everywhere."""
        wanted = dtypes.from_py(fill_value) if dtype is None else to_dtype(dtype)
        lengths = as_ints(shape)
        if any(n < 0 for n in lengths):
            raise ShapeError(
                f"a Tensor of shape {lengths}", where=here(), hint="lengths are not negative"
            )
        uop = UOp.full(lengths, fill_value, wanted, Device.names(device))
        return cls._new(uop, requires_grad)

    @classmethod
    def zeros(
        cls,
        *shape: int | Sequence[int],
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """0 everywhere, float32 unless said otherwise."""
        return cls.full(
            as_ints(*shape),
            0.0,
            device=device,
            dtype=dtype or dtypes.default_float,
            requires_grad=requires_grad,
        )

    @classmethod
    def ones(
        cls,
        *shape: int | Sequence[int],
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """1 everywhere, float32 unless said otherwise."""
        return cls.full(
            as_ints(*shape),
            1.0,
            device=device,
            dtype=dtype or dtypes.default_float,
            requires_grad=requires_grad,
        )

    @classmethod
    def empty(
        cls,
        *shape: int | Sequence[int],
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """Memory of its own with any values in it. On a device `DISK:path`: the first bytes of the
        file, which is made, and lengthened, when it is assigned to."""
        lengths = as_ints(*shape)
        if any(n < 0 for n in lengths):
            raise ShapeError(
                f"a Tensor of shape {lengths}", where=here(), hint="lengths are not negative"
            )
        size = 1
        for n in lengths:
            size *= n
        wanted = to_dtype(dtype or dtypes.default_float)
        where = Device.names(device)
        if isinstance(where, str) and is_disk(where):
            buffer = file_memory(path_of(where), wanted, size)
        else:
            buffer = UOp.new_buffer(where, size, wanted)
        return cls._new(buffer.reshape(lengths), requires_grad)

    @classmethod
    def from_bytes(
        cls,
        data: bytes | memoryview,
        shape: Sequence[int],
        *,
        dtype: DTypeLike,
        device: DeviceLike = None,
    ) -> Self:
        """A Tensor of `shape` whose elements have the given bytes, in row-major order."""
        return cls._new(bytes_to_memory(data, to_dtype(dtype), Device.names(device))).reshape(shape)

    @classmethod
    def from_url(cls, url: str, gunzip: bool = False, device: DeviceLike = None) -> Self:
        """The bytes of what is at an address, unpacked if `gunzip`: in a file of the user's cache,
        where they stay, or on a device. Fetched once.

        Raises RunError for what cannot be fetched.
        """
        found = cls._new(file_memory(fetch(url, gunzip)))
        return found if device is None else found.to(device)

    @classmethod
    def arange(
        cls,
        start: float,
        stop: float | None = None,
        step: float = 1,
        *,
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """start, start + step, ... up to but without `stop`; 0 to `start` where that is alone."""
        if stop is None:
            start, stop = 0, start
        if step == 0 or not all(map(math.isfinite, (start, stop, step))):
            raise ShapeError(
                f"arange from {start} to {stop} with step {step}",
                where=here(),
                hint="bounds are finite, and the step is finite and not 0",
            )
        ints = all(isinstance(v, int) for v in (start, stop, step))
        wanted = to_dtype(dtype or (dtypes.default_int if ints else dtypes.default_float))
        count = max(
            0, ceildiv(int(stop - start), int(step)) if ints else -int((start - stop) // step)
        )
        steps = cls._iota(count, device).cast(wanted)
        made = steps if step == 1 else steps * step
        made = made if start == 0 else made + start
        return cls._new(made.cast(wanted).uop, requires_grad)

    @classmethod
    def _iota(cls, count: int, device: DeviceLike) -> Self:
        return cls._new(UOp.iota(count, dtypes.int32, Device.names(device)))

    @classmethod
    def linspace(
        cls,
        start: float,
        stop: float,
        steps: int,
        *,
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """`steps` numbers from `start` to `stop`, both included, equally spaced."""
        wanted = to_dtype(dtype or dtypes.default_float)
        if steps < 0:
            raise ShapeError(f"linspace with {steps} steps", where=here(), hint="give 0 or more")
        step = (stop - start) / (steps - 1) if steps > 1 else 0.0
        made = (
            cls._iota(steps, device).cast(dtypes.float32 if wanted.bits < 64 else wanted) * step
            + start
        ).cast(wanted)
        return cls._new(made.uop, requires_grad)

    @classmethod
    def eye(
        cls,
        n: int,
        m: int | None = None,
        *,
        device: DeviceLike = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """1 where row and column are the same, else 0; n rows, m columns (None: n)."""
        columns = n if m is None else m
        if n < 0 or columns < 0:
            raise ShapeError(
                f"eye of shape ({n}, {columns})", where=here(), hint="lengths are not negative"
            )
        rows = cls._iota(n, device).reshape(n, 1)
        same = rows == cls._iota(columns, device).reshape(1, columns)
        return cls._new(same.cast(dtype or dtypes.default_float).uop, requires_grad)

    def full_like(self, fill_value: ConstType, **options: Any) -> Self:
        """One value everywhere, with this shape, dtype and device unless said otherwise."""
        made = self._cut_alike(type(self).full(self.shape, fill_value, **self._like_this(options)))
        return made._with_lengths_of(self)

    def zeros_like(self, **options: Any) -> Self:
        """0 everywhere, shaped like this."""
        return self.full_like(0, **options)

    def ones_like(self, **options: Any) -> Self:
        """1 everywhere, shaped like this."""
        return self.full_like(1, **options)

    def empty_like(self, **options: Any) -> Self:
        """Memory with any values in it, shaped like this."""
        made = type(self).empty(self.shape, **self._like_this(options))
        return made._with_lengths_of(self)

    def _cut_alike(self, made: Self) -> Self:
        """A Tensor of this shape, cut as this is where it is on the same devices."""
        return made if self.axis is None or made.device != self.device else made.shard_like(self)

    def _like_this(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"dtype": self.dtype, "device": self.device, **options}

    def _positions(self, axis: int, dtype: DType = dtypes.int32) -> Self:
        """The index along `axis`, shaped to broadcast against this."""
        shape = [1] * self.ndim
        shape[axis] = self.shape[axis]
        return type(self)._iota(self.shape[axis], self.device).cast(dtype).reshape(shape)
