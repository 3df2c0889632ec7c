"""What HLO's operations that only move elements compute, in NumPy."""

from __future__ import annotations

import math
import re
from typing import Final

import numpy as np

from viz.foreign.hlo.errors import CannotError, InvalidError
from viz.foreign.hlo.text import Instruction, names
from viz.foreign.hlo.types import ArrayType, Values

OPS: Final = names(
    "broadcast reshape transpose slice dynamic-slice dynamic-update-slice pad concatenate reverse "
    "bitcast copy"
)
_SLICE: Final = re.compile(r"\[\s*(\d+)\s*:\s*(\d+)\s*(?::\s*(\d+)\s*)?\]")
_PADDED: Final = re.compile(r"(-?\d+)_(-?\d+)(?:_(\d+))?$")


def hold(one: Instruction, operand: ArrayType, result: ArrayType) -> None:
    """Raises InvalidError where an operand cannot become what an op states."""
    fits = one.opcode == "bitcast" or operand.dtype == result.dtype
    if one.opcode == "reshape":
        fits &= operand.size == result.size
    if one.opcode == "transpose":
        fits &= sorted(one.ints("dimensions")) == [*range(len(operand.dims))]
    if not fits:
        raise InvalidError(f"{one.opcode} {one.name} of {operand} gives {result}")


def move(
    one: Instruction, given: list[Values], types: list[ArrayType], result: ArrayType
) -> Values:
    """The result of an op. Raises CannotError and InvalidError."""
    x, dims = given[0], one.ints("dimensions")
    match one.opcode:
        case "copy":
            return x
        case "broadcast":
            return _broadcast(x, dims, result)
        case "reshape":
            return x.reshape(result.dims)
        case "bitcast":
            return _bitcast(x, types[0], result)
        case "transpose":
            return np.transpose(x, dims)
        case "reverse":
            return np.flip(x, dims)
        case "concatenate":
            return np.concatenate(given, axis=one.int("dimensions"))
        case "slice":
            return _slice(one, x)
        case "dynamic-slice":
            return x[_window(one, x, given[1:], one.ints("dynamic_slice_sizes"))]
        case "dynamic-update-slice":
            made = np.array(x)
            made[_window(one, x, given[2:], given[1].shape)] = given[1]
            return made
        case _:
            return padded(x, given[1], pads_of(one.attributes.get("padding", ""), x.ndim))


def _broadcast(x: Values, dims: tuple[int, ...], result: ArrayType) -> Values:
    if len(dims) != x.ndim or any(not 0 <= d < len(result.dims) for d in dims):
        raise InvalidError("broadcast has dimensions that its operand has not")
    order = sorted(range(len(dims)), key=dims.__getitem__)
    if len({*dims}) != len(dims):
        raise InvalidError("broadcast has a dimension twice")
    if any(x.shape[at] != result.dims[d] for at, d in enumerate(dims)):
        raise InvalidError(f"broadcast of {[*x.shape]} along {[*dims]} does not give {result}")
    shape = [1] * len(result.dims)
    for at, d in enumerate(dims):
        shape[d] = x.shape[at]
    return np.broadcast_to(np.transpose(x, order).reshape(shape), result.dims)


def _bitcast(x: Values, old: ArrayType, new: ArrayType) -> Values:
    """What lies in memory, in the order of the one layout, read in that of the other."""
    if old.size != new.size:
        raise CannotError("a bitcast to another number of elements is not executed")
    if (old.tiled or new.tiled) and (old.dims, old.layout) != (new.dims, new.layout):
        raise CannotError("a bitcast of tiles is not executed")
    laid = np.transpose(x, old.layout[::-1]) if old.layout else x
    if not new.layout:
        return laid.reshape(new.dims)
    order = new.layout[::-1]
    back = [order.index(at) for at in range(len(order))]
    return np.transpose(laid.reshape([new.dims[d] for d in order]), back)


def _slice(one: Instruction, x: Values) -> Values:
    found = _SLICE.findall(one.attributes.get("slice", ""))
    if len(found) != x.ndim:
        raise InvalidError("slice has other dimensions than its operand")
    parts = [(int(low), int(high), int(step or 1)) for low, high, step in found]
    if any(not low <= high <= size for (low, high, _), size in zip(parts, x.shape, strict=True)):
        raise InvalidError("slice leaves its operand")
    return x[tuple(slice(low, high, step) for low, high, step in parts)]


def _window(
    one: Instruction, x: Values, starts: list[Values], sizes: tuple[int, ...]
) -> tuple[slice, ...]:
    """A part of an operand, moved so that it lies inside."""
    if len(starts) == 1 and starts[0].ndim == 1:  # of older versions: a vector
        starts = [*starts[0]]
    if not len(starts) == len(sizes) == x.ndim:
        raise InvalidError(f"{one.opcode} has other dimensions than its operand")
    if any(size > whole for size, whole in zip(sizes, x.shape, strict=True)):
        raise InvalidError(f"{one.opcode} leaves its operand")
    made: list[slice] = []
    for start, size, whole in zip(starts, sizes, x.shape, strict=True):
        begin = min(max(int(start), 0), whole - size)
        made.append(slice(begin, begin + size))
    return tuple(made)


Pads = list[tuple[int, int, int]]
"""Elements before, behind and between those of each dimension."""


def pads_of(text: str, dims: int) -> Pads:
    """Such as `1_1x0_2_1`. Raises CannotError."""
    found = [_PADDED.match(part) for part in text.split("x")] if text else []
    if len(found) != dims or any(one is None for one in found):
        raise CannotError(f"the padding {text[:40]} is not understood")
    return [(int(m[1]), int(m[2]), int(m[3] or 0)) for m in found if m is not None]


def padded(x: Values, value: Values, pads: Pads) -> Values:
    """Elements before and behind that are negative are cut off."""
    shape = [
        low + high + n + max(0, n - 1) * inner
        for n, (low, high, inner) in zip(x.shape, pads, strict=True)
    ]
    if min(shape, default=0) < 0:
        raise InvalidError("padding cuts off more than there is")
    if math.prod(shape) > 1 << 26:
        raise CannotError("a value is too large")
    made = np.full(shape, value, x.dtype)
    into: list[slice] = []
    of: list[slice] = []
    for n, size, (low, _, inner) in zip(x.shape, shape, pads, strict=True):
        step = inner + 1
        first = -(low // step) if low < 0 else 0  # the first element that is not cut off
        last = min(n, (size - 1 - low) // step + 1) if size else 0
        first = min(first, max(last, 0))
        of.append(slice(first, max(last, first)))
        begin = low + first * step
        into.append(slice(begin, begin + max(0, (max(last, first) - first - 1) * step + 1)
                          if last > first else begin, step))  # fmt: skip
    made[tuple(into)] = x[tuple(of)]
    return made
