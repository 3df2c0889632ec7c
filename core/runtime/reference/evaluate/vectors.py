"""What nodes do with axes and with the elements of vectors: VECTORIZE, GEP, UNROLL, CONTRACT,
REDUCE, on arrays as axes.py describes. Knows no loops and no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from core.dtype import DType, dtypes
from core.helpers import prod
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.uop.facts.meaning_arrays import numpy_dtype, round_array
from core.uop.ops import Ops

reducers: Final[dict[Ops, Any]] = {Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum}


def vectorize(parts: Sequence[Array]) -> Array:
    """A vector whose elements are those of all parts."""
    shape = np.broadcast_shapes(*(p.shape[:-1] for p in parts))
    return np.concatenate([np.broadcast_to(p, (*shape, p.shape[-1])) for p in parts], axis=-1)


def unroll(value: Array, axes: Sequence[tuple[int, int]]) -> Array:
    """Elements as iterations. `axes` are (axis of the array, its length), the slowest first; an
    iteration may have several elements, which lie as far apart as there are iterations."""
    to, lengths = [at for at, _ in axes], [n for _, n in axes]
    flat = value.squeeze(axis=tuple(to))
    apart = flat.reshape(*flat.shape[:-1], flat.shape[-1] // prod(lengths), *lengths)
    return np.moveaxis(apart, range(flat.ndim, apart.ndim), to)


def contract(value: Array, axes: Sequence[tuple[int, int]]) -> Array:
    """Iterations as elements: the inverse of `unroll`. A value that is the same in every iteration
    is repeated."""
    shape = list(value.shape)
    for at, n in axes:
        shape[at] = n
    lanes = np.moveaxis(np.broadcast_to(value, shape), [at for at, _ in axes],
                        range(value.ndim - len(axes), value.ndim))  # fmt: skip
    for at, _ in axes:
        shape[at] = 1
    return lanes.reshape(*shape[:-1], -1)


def fold(
    op: Ops, value: Array, axes: Sequence[tuple[int, int]], dtype: DType, rounded: bool = True
) -> Array:
    """A reduce over axes of the array, (axis, length), and over elements: element j of n combines
    elements j, j + n, ... of its source. Floats are combined in float64, and then rounded once
    unless `rounded` says otherwise."""
    shape = list(value.shape)
    for at, n in axes:
        shape[at] = n
    over = tuple(at for at, _ in axes)
    full = np.broadcast_to(value, shape)
    apart = full.reshape(*shape[:-1], shape[-1] // dtype.count, dtype.count)
    found = combined(op, apart, (*over, apart.ndim - 2), dtype)
    found = found.reshape(*(1 if at in over else n for at, n in enumerate(shape[:-1])), dtype.count)
    return round_array(found, dtype) if rounded else found


def combined(op: Ops, value: Array, axes: tuple[int, ...], dtype: DType) -> Array:
    """A reduce over axes, which stay with length 1; floats that are added or multiplied are
    float64 from then on."""
    held = numpy_dtype(dtype)
    if held == np.bool_:
        found = np.logical_and if op is Ops.MUL else np.logical_or
        return found.reduce(value, axis=axes, keepdims=True)
    with np.errstate(all="ignore"):
        if op is Ops.MAX:
            least = dtypes.min(dtype.scalar())
            return reducers[op].reduce(value, axis=axes, keepdims=True, initial=least)
        kind = np.float64 if held.kind == "f" else held
        return reducers[op].reduce(value, axis=axes, keepdims=True, dtype=kind)


def as_bits(values: Array, source: DType, dtype: DType) -> Array:
    """Elements of `source`, on the last axis, read as elements of `dtype`."""
    raw = np.ascontiguousarray(to_memory(values, source.scalar()))
    return from_memory(raw.view(memory_dtype(dtype.scalar())), dtype.scalar())
