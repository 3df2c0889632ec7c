"""From Python and NumPy data to a UOp that holds it.

Scalars become constants, anything with axes becomes a buffer filled at once. Never casts silently
between kinds that a user would notice: dtypes come from the data unless one is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.dtype import ConstType, DType, dtypes, least_upper_dtype, to_dtype
from core.errors import DTypeError, ShapeError
from core.runtime.buffer import buffer_of
from core.uop.call.parts import parts_of
from core.uop.facts.shards import rows_and_columns
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.uop import UOp

Array: TypeAlias = NDArray[Any]
Data: TypeAlias = (
    "ConstType | bytes | bytearray | memoryview | Array | np.generic | Sequence[Any] | None"
)

_numpy: Final[dict[DType, np.dtype[Any]]] = {
    dtypes.bool: np.dtype(np.bool_),
    **{d: np.dtype(d.name) for d in (*dtypes.ints, dtypes.float16, dtypes.float32, dtypes.float64)},
}
_from_numpy: Final = {n: d for d, n in _numpy.items()}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of the same bytes. Raises DTypeError where NumPy has none."""
    if dtype not in _numpy:
        raise DTypeError(f"NumPy has no {dtype}", hint="cast to float32 first")
    return _numpy[dtype]


def uop_from_data(data: Data | UOp, device: DeviceName, dtype: DType | None) -> UOp:
    """A UOp for `data` on `device`, as `dtype` where one is given.

    Raises DTypeError for data of a kind that no dtype holds, ShapeError for ragged lists. A UOp of
    variables alone has no device until it is stored (see `core.tensor.state.base.placed`).
    """
    if isinstance(data, UOp):
        return _from_uop(data, device, dtype)
    if isinstance(data, bool | int | float):
        return UOp.full((), data, dtype or dtypes.from_py(data), device)
    if data is None:
        return UOp.new_buffer(device, 0, dtype or dtypes.default_float)
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes_to_memory(bytes(data), dtype or dtypes.uint8, device)
    if isinstance(data, np.generic):
        value = data.item()
        if not isinstance(value, bool | int | float):
            raise _no_dtype(data.dtype)
        return UOp.full((), value, dtype or dtype_of_array(data.dtype), device)
    if isinstance(data, np.ndarray):
        return _from_array(data, device, dtype)
    return _from_list(data, device, dtype)


def bytes_to_memory(data: bytes | memoryview, dtype: DType, device: DeviceName) -> UOp:
    """Memory on `device` with the bytes of `data`. Raises DTypeError where they are no elements."""
    if len(data) % dtype.itemsize:
        raise DTypeError(
            f"{len(data)} bytes are no whole number of {dtype}",
            hint=f"one element takes {dtype.itemsize} bytes",
        )
    uop = UOp.new_buffer(device, len(data) // dtype.itemsize, dtype)
    for part in parts_of(uop) if data else ():
        buffer_of(part).copyin(memoryview(data))
    return uop


def parts_to_memory(
    data: memoryview, shape: tuple[int, ...], dtype: DType, devices: tuple[str, ...], axis: int
) -> UOp:
    """Memory on several devices, cut along an axis, with these bytes in row-major order."""
    rows, columns = rows_and_columns(shape, axis)
    memory = UOp.new_buffer(devices, (rows, columns), dtype)
    if len(data):
        shares = np.frombuffer(data, np.uint8).reshape(rows, len(devices), -1)
        for i, part in enumerate(parts_of(memory)):
            buffer_of(part).copyin(shares[:, i].reshape(-1).data)
    return memory.reshape(shape)


def _from_uop(uop: UOp, device: DeviceName, dtype: DType | None) -> UOp:
    if uop.shape is None:
        raise DTypeError(
            f"{uop.op.name} is not the value of a Tensor",
            hint="give a constant, a bound variable, or a node with a shape",
        )
    if uop.op is Ops.CONST and not uop.src:
        uop = UOp.full((), uop.arg, uop.dtype, device)
    return uop if dtype is None else uop.cast(dtype)


def dtype_of_array(dtype: np.dtype[Any]) -> DType:
    """The dtype of an array's elements, in whichever byte order. Raises DTypeError for others."""
    found = _from_numpy.get(dtype.newbyteorder("=") if dtype.isbuiltin != 1 else dtype)
    if found is None:
        raise _no_dtype(dtype)
    return found


def _no_dtype(dtype: object) -> DTypeError:
    return DTypeError(
        f"no Tensor holds elements of {dtype}",
        hint="use one of " + ", ".join(d.name for d in dtypes.all),
    )


def _from_array(array: Array, device: DeviceName, dtype: DType | None) -> UOp:
    """Strides that only reorder, reverse or repeat axes stay views of the memory that is copied."""
    native = dtype_of_array(array.dtype)
    array = array.astype(numpy_dtype(native), copy=False)  # to this machine's byte order
    if dtype is not None and dtype is not native and dtype in _numpy:
        array, native = array.astype(_numpy[dtype]), dtype
    if array.size == 0:
        return UOp.new_buffer(device, 0, native).reshape(array.shape)
    repeated = [stride == 0 and n > 1 for stride, n in zip(array.strides, array.shape, strict=True)]
    reverse = [stride < 0 for stride in array.strides]
    kept = array[
        tuple(
            slice(0, 1) if r else slice(None, None, -1) if f else slice(None)
            for r, f in zip(repeated, reverse, strict=True)
        )
    ]
    order = sorted(range(array.ndim), key=lambda axis: -kept.strides[axis])
    stored = kept.transpose(order)
    uop = bytes_to_memory(stored.tobytes(), native, device).reshape(stored.shape)
    inverse = sorted(range(array.ndim), key=order.__getitem__)
    uop = uop.permute(inverse).flip(reverse).expand(array.shape)
    return uop if dtype is None else uop.cast(dtype)


MOST_AXES: Final = 64
"""Of a Tensor made from lists, as in NumPy."""


def _from_list(data: Any, device: DeviceName, dtype: DType | None) -> UOp:
    shape = _shape_of_list(data)
    flat: list[ConstType] = []
    _flatten(data, shape, flat)
    if dtype is None:
        kinds = {dtypes.from_py(v) for v in flat}
        dtype = least_upper_dtype(*kinds) if kinds else dtypes.default_float
        if dtype is dtypes.default_int and any(not -(1 << 31) <= v < 1 << 31 for v in flat):
            dtype = dtypes.int64
    via = dtype if dtype in _numpy else to_dtype(dtypes.float32)
    values = flat
    if not dtypes.is_float(via) and any(isinstance(v, float) for v in flat):
        values = [int(v) for v in flat]
    try:
        array = np.array(values, dtype=_numpy[via])
    except OverflowError:  # wrap around, as a cast does
        wide = np.array([int(v) & 0xFFFF_FFFF_FFFF_FFFF for v in values], dtype=np.uint64)
        array = wide.astype(_numpy[via])
    uop = bytes_to_memory(array.tobytes(), via, device).reshape(shape)
    return uop.cast(dtype)


def _shape_of_list(data: Any) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(data, list | tuple | range):
        shape.append(len(data))
        if len(shape) > MOST_AXES:
            raise ShapeError(
                f"lists nested more than {MOST_AXES} deep",
                hint="a Tensor has an axis per level; is a list an element of itself?",
            )
        if not data:
            break
        data = data[0]
    if isinstance(data, np.ndarray):
        shape.extend(data.shape)
    return tuple(shape)


def _flatten(
    data: Any, shape: tuple[int, ...], into: list[ConstType], place: tuple[int, ...] = ()
) -> None:
    """Appends the numbers of nested lists to `into`. `place` is where `data` stands in them."""
    if not shape:
        single = isinstance(data, np.generic | np.ndarray) and not data.shape
        value = data.item() if single else data
        if isinstance(value, list | tuple | range | np.ndarray):
            raise _ragged(_elements(len(value)), "is a number", place)
        if not isinstance(value, bool | int | float):
            raise DTypeError(
                f"no Tensor holds a value of type {type(data).__name__}",
                hint="give numbers, nested lists of numbers, or an array",
            )
        into.append(value)
        return
    if not isinstance(data, list | tuple | range | np.ndarray):
        raise _ragged("is a number", _elements(shape[0]), place)
    if len(data) != shape[0]:
        raise _ragged(_elements(len(data)), _elements(shape[0]), place)
    for at, inner in enumerate(data):
        _flatten(inner, shape[1:], into, (*place, at))


def _ragged(this: str, first: str, place: tuple[int, ...]) -> ShapeError:
    """The error for what stands at `place`, which is unlike the first one of its level."""
    start = _brackets((0,) * len(place))
    return ShapeError(
        f"rows of different lengths: {start} {first}, and {_brackets(place)} {this}",
        hint="all rows need the same length: pad the shorter ones, or make a Tensor of each",
    )


def _elements(count: int) -> str:
    return f"has {count} element{'' if count == 1 else 's'}"


def _brackets(place: tuple[int, ...]) -> str:
    return "".join(f"[{i}]" for i in place)
