"""Tensors that share memory with NumPy or a pointer, copies and pickles.

Values are copied in by `data.py`, and out by `execution.py`. Only pickling runs anything.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from math import prod
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

import numpy as np

from core.dtype import DTypeLike, dtypes, to_dtype
from core.errors import DeviceError, DTypeError, RunError, ShapeError
from core.runtime.buffer import Buffer, buffers
from core.runtime.device import Device
from core.runtime.disk.device import is_disk
from core.tensor.running.execution import counting, stored_bytes
from core.tensor.running.realization import read_only
from core.tensor.state.base import in_fresh_memory, same_value, see, tensor_of, view_of, waiting
from core.tensor.state.data import Array, bytes_to_memory, dtype_of_array, parts_to_memory
from core.tensor.views.movement import part_of
from core.uop.node import DeviceName
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


@classmethod
def from_numpy(cls: type[Tensor], array: Array, device: str | None = None) -> Tensor:
    """The elements of an array, in its memory: nothing is copied where the device sees the
    host's memory, as the CPU does.

    Array and Tensor then are one memory. What is changed in the array is seen by what is
    computed later, lazy results included: realize them first. What is assigned to the Tensor,
    or a view of it, is in the array once it is realized; never so for a read-only array. The
    array lives as long as the Tensor. `Tensor(array)` copies, and has none of these rules.

    Transposed, reversed, sliced and broadcast arrays are views. Raises DTypeError for elements
    that no dtype holds as they are (another byte order, objects, not aligned), and ShapeError
    for strides by which elements overlap.
    """
    dtype = dtype_of_array(array.dtype)
    if not array.dtype.isnative:
        raise DTypeError(
            f"an array of {array.dtype.str} has the byte order of another machine",
            hint="Tensor(array) converts it",
        )
    where = Device.canonicalize(device)
    if not array.size:
        return tensor_of(cls, UOp.new_buffer(where, 0, dtype).reshape(array.shape))
    repeated = [n > 1 and not s for n, s in zip(array.shape, array.strides, strict=True)]
    backwards = [s < 0 for s in array.strides]
    parts = (
        slice(0, 1) if r else slice(None, None, -1) if b else slice(None)
        for r, b in zip(repeated, backwards, strict=True)
    )
    kept = array[(..., *parts)]  # an array even without axes
    order = sorted(range(kept.ndim), key=lambda i: (-kept.strides[i], -kept.shape[i]))
    sorted_ = kept.transpose(order)
    steps = _steps(sorted_)
    flat = np.lib.stride_tricks.as_strided(
        sorted_, (1 + sum((n - 1) * s for n, s in zip(sorted_.shape, steps, strict=True)),),
        (array.itemsize,), writeable=array.flags.writeable,
    )  # fmt: skip
    memory = UOp.new_buffer(where, flat.size, dtype)
    if flat.ctypes.data % array.itemsize:
        raise DTypeError(
            f"an array whose elements are not aligned to {array.itemsize} bytes",
            hint="Tensor(array) copies it",
        )
    buffers[memory] = Buffer.share(where, flat, dtype)
    if not array.flags.writeable:
        read_only(memory)
    x = _strided(tensor_of(cls, memory), sorted_.shape, steps)
    x = x.permute(sorted(range(kept.ndim), key=order.__getitem__)) if kept.ndim else x
    x = x.flip([i for i, b in enumerate(backwards) if b])
    return x.expand(array.shape) if any(repeated) else x


def _strided(self: Tensor, shape: Sequence[int], steps: Sequence[int]) -> Tensor:
    """Elements so many `steps` apart along each axis, of a vector that ends with the last."""
    x = self
    for axis, (n, step) in enumerate(zip(shape, steps, strict=True)):
        length = x.shape[axis]
        inner = length - (n - 1) * step
        if n == 1:
            x = x.reshape((*x.shape[:axis], 1, length))
            continue
        x = view_of(x, x.uop.pad([(0, 0)] * axis + [(0, n * step - length)]))
        x = part_of(x.reshape((*x.shape[:axis], n, step)), axis + 1, 0, inner)
    return x.reshape(shape)


@classmethod
def from_blob(
    cls: type[Tensor],
    ptr: int,
    shape: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Elements in row-major order in memory of the device that begins at the address `ptr`.

    The memory is shared as by `from_numpy`, and belongs to the caller, who keeps it for as long
    as the Tensor or anything that waits to be computed from it. Nothing checks that it is
    there. Raises DeviceError for a device that takes no addresses, and ShapeError for a
    negative length, and an address that is 0 or not aligned, or beyond what there can be.
    """
    wanted = to_dtype(dtype or dtypes.default_float)
    where = Device.canonicalize(device)
    end = ptr + prod(shape) * wanted.itemsize
    if any(n < 0 for n in shape) or ptr <= 0 or ptr % wanted.itemsize or end > sys.maxsize:
        raise ShapeError(
            f"memory of shape {tuple(shape)} {wanted} at address {ptr}",
            hint="lengths are not negative, an address is a multiple of the element size, and "
            "memory ends before 2**63",
        )
    memory = UOp.new_buffer(where, prod(shape), wanted)
    if memory.size:
        made = Buffer.at(where, ptr, memory.size, wanted)
        if made is None:
            raise DeviceError(
                f"{where} takes no memory by its address",
                hint="copy it: Tensor.from_blob(..., device='CPU').to(device)",
            )
        buffers[memory] = made
    return tensor_of(cls, memory).reshape(shape)


# copies


def __copy__(self: Tensor) -> Tensor:
    made = see(self, waiting(self, self.uop))
    made.grad = self.grad
    return made


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """The same value in memory of its own, with a copy of the gradient: a leaf if this requires
    gradients. Nothing runs."""
    if is_disk(self.device):
        made = same_value(self)  # the file is the value
    else:
        made = tensor_of(type(self), in_fresh_memory(self.uop.detach()), self.requires_grad)
    memo[id(self)] = made
    made.grad = copy.deepcopy(self.grad, memo)
    return made


def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """Computes the Tensor: a pickle holds its values as bytes, out of band where the pickler takes
    these (protocol 5). Views become Tensors of their own, and variable lengths become numbers."""
    if self.uop.lengths:
        return __reduce_ex__(counting(self), protocol)
    raw = stored_bytes(self)
    data = PickleBuffer(raw) if protocol >= 5 else bytes(raw)
    state = (self.shape, self.dtype.name, self.device, self.requires_grad, self.grad)
    state = (*state, self.uop.axis)
    return restored, (type(self), data, *state)


def restored(
    cls: type[Tensor],
    data: Any,
    shape: tuple[int, ...],
    dtype: str,
    device: DeviceName,
    requires_grad: bool | None,
    grad: Any,
    axis: int | None = None,
) -> Tensor:
    """A Tensor as it was pickled; on the default device where one of its own is not present,
    or is a file."""
    where, kind = _present(device), to_dtype(dtype)
    if isinstance(where, tuple) and axis is not None:
        memory = parts_to_memory(memoryview(data), shape, kind, where, axis)
    else:
        memory = bytes_to_memory(memoryview(data), kind, where).reshape(shape)
    made = tensor_of(cls, memory, requires_grad)
    made.grad = grad
    return made


def _present(device: DeviceName) -> DeviceName:
    """The device or devices of a pickle where all are here and compute, else the default one."""
    names = (device,) if isinstance(device, str) else device
    try:
        found = [Device.DEFAULT if is_disk(name) else Device[name].name for name in names]
    except (DeviceError, RunError):
        return Device.DEFAULT
    return Device.names(found) if len({*found}) == len(found) else Device.DEFAULT


def _steps(array: Array) -> list[int]:
    """The strides of an array in elements, the longest first. Raises DTypeError for strides of
    parts of elements, ShapeError where elements overlap."""
    steps: list[int] = []
    inside = 1
    for n, stride in reversed(list(zip(array.shape, array.strides, strict=True))):
        step, rest = divmod(stride, array.itemsize)
        if n > 1 and (rest or step < inside):
            raise (DTypeError if rest else ShapeError)(
                f"an array with strides of {array.strides} bytes, of elements of {array.itemsize}",
                hint="its elements overlap or are not aligned: Tensor(array) copies it",
            )
        steps.append(step if n > 1 else 1)
        inside = (n - 1) * step + inside if n > 1 else inside
    return steps[::-1]
