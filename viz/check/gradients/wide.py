"""What nodes of Tensors compute, in float64 whatever their dtypes, where some have given values.

Each op by its definition, in NumPy: shares nothing with the passes and with the rules of gradients.
Never runs a kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from core.dtype import DType, dtypes
from core.errors import RunError
from core.runtime.numeric import Array
from core.uop import GroupOp, Ops, UOp
from core.uop.call.kernelcall import KernelCall
from core.uop.call.scatter import Scatter
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype

ITSELF: Final = frozenset(
    {
        Ops.COPY,
        Ops.CONTIGUOUS,
        Ops.CONTIGUOUS_BACKWARD,
        Ops.DETACH,
        Ops.NOOP,
        Ops.FUSE,
        Ops.DERIVATIVE,
    }
)
"""What changes no value of source 0."""
NO_VALUE: Final = frozenset({Ops.DEVICE, Ops.UNIQUE})
_REDUCED: Final[dict[Ops, tuple[Any, float]]] = {
    Ops.ADD: (np.add, 0.0),
    Ops.MUL: (np.multiply, 1.0),
    Ops.MAX: (np.maximum, -np.inf),
}


class Wide:
    """Values of nodes, those of `given` and what is made of them. `flat`: each value is a row of
    samples, and no node but those of constants may move or combine elements."""

    def __init__(self, given: Mapping[UOp, Array], flat: bool = False) -> None:
        self._values = dict(given)
        self._flat = flat

    def value(self, root: UOp) -> Array:
        """The value of a node. Raises RunError for one that has none here."""
        for u in root.toposort(lambda node: node not in self._values):
            if u not in self._values and u.op not in NO_VALUE:
                self._values[u] = self.of(u, [self._values.get(s, _NONE) for s in u.src])
        return self._values[root]

    def of(self, u: UOp, sources: Sequence[Array]) -> Array:
        """What a node makes of the values of its sources."""
        if u.op in ITSELF:
            return sources[0]
        if u.op is Ops.ASSIGN:
            return sources[1]
        if u.op is Ops.CONST:
            return np.asarray(u.arg, numpy_dtype(wide(u.dtype)))
        if u.op is Ops.BIND:
            return np.asarray(u.src[1].arg)
        if u.op is Ops.DEFINE_VAR:
            return np.asarray((u.arg[1] + u.arg[2]) // 2)
        if u.op in GroupOp.Elementwise and u.op is not Ops.BITCAST:
            return _elementwise(u, sources)
        if self._flat:
            if u.op in GroupOp.Movement and sources[0].size == 1:
                return sources[0].reshape(())
            raise RunError(f"{u.op.name} of samples")
        return self._shaped(u, sources)

    def _shaped(self, u: UOp, sources: Sequence[Array]) -> Array:
        if u.op is Ops.IOTA:
            return np.arange(u.arg).astype(numpy_dtype(u.dtype))
        if u.op is Ops.LENGTH:
            return np.where(self._counts(u.src[0], u.arg, sources[1]), sources[0], 0)
        if u.op in GroupOp.Movement:
            return _moved(u, np.broadcast_to(sources[0], u.src[0].shaped))
        if u.op is Ops.REDUCE_AXIS:
            return self._reduced(u, np.broadcast_to(sources[0], u.src[0].shaped))
        if u.op is Ops.MULTI:
            parts = [np.broadcast_to(v, s.shaped) for v, s in zip(sources, u.src, strict=True)]
            return parts[0] if u.arg is None else np.concatenate(parts, u.arg)
        if u.op is Ops.MSELECT:
            return _part(u, np.broadcast_to(sources[0], u.src[0].shaped))
        if u.op is Ops.ALLREDUCE:
            return functools.reduce(_REDUCED[u.arg][0], sources)
        if u.op is Ops.OUTPUT and scatter_of(u.src[0]) is not None:
            return sources[0]
        if u.op is Ops.KERNEL and (how := scatter_of(u)) is not None:
            given = zip(sources[1:], u.src[1:], strict=True)
            return _written(how, u, [np.broadcast_to(v, s.shaped) for v, s in given])
        raise RunError(f"{u.op.name} has no value here")

    def counts(self, u: UOp) -> Array:
        """Which elements of a node count: what lies behind a length is anything."""
        counts = np.ones(u.shaped, np.bool_)
        for axis, length in u.lengths:
            counts &= self._counts(u, axis, self.value(length))
        return counts

    def _counts(self, u: UOp, axis: int, length: Array) -> Array:
        places = np.arange(u.shaped[axis])
        return places.reshape([-1 if k == axis else 1 for k in range(len(u.shaped))]) < length

    def _reduced(self, u: UOp, value: Array) -> Array:
        op, axes = u.arg
        combine, nothing = _REDUCED[op]
        for axis, length in u.src[0].lengths:
            if axis in axes:
                inside = self._counts(u.src[0], axis, self.value(length))
                value = np.where(inside, value, nothing)
        return combine.reduce(value, axis=tuple(axes), keepdims=True)


_NONE: Final = np.zeros(0)


def wide(dtype: DType) -> DType:
    """The dtype that a value is computed in."""
    return dtypes.float64 if dtypes.is_float(dtype) else dtype


def scatter_of(u: UOp) -> Scatter | None:
    """What a KERNEL does, where that is writing to picked elements."""
    how = u.arg.does if isinstance(u.arg, KernelCall) else u.arg
    return how if u.op is Ops.KERNEL and isinstance(how, Scatter) else None


def _written(how: Scatter, u: UOp, sources: Sequence[Array]) -> Array:
    """Values written to picked elements, in their order; indices that are none write nothing."""
    whole, index, values = sources
    index, values = np.broadcast_arrays(index, values)
    made = whole.copy()
    along = index.astype(np.int64)
    inside = (along >= 0) & (along < made.shape[how.axis])
    places = np.indices(index.shape)
    at = tuple((along if k == how.axis else places[k])[inside] for k in range(index.ndim))
    if how.anew:
        made[at] = how.start(wide(u.src[1].dtype))
    if how.op is None:
        for k, value in zip(zip(*at, strict=True), values[inside], strict=True):
            made[k] = value  # of equal places the last one
    else:
        combine = np.minimum if how.least else _REDUCED[how.op][0]
        combine.at(made, at, values[inside])
    return made


def _elementwise(u: UOp, sources: Sequence[Array]) -> Array:
    if u.op is Ops.CAST and dtypes.is_float(u.dtype) and dtypes.is_float(u.src[0].dtype):
        return sources[0]
    source = u.src[1] if u.op is Ops.WHERE else u.src[0]
    return evaluate_arrays(u.op, wide(u.dtype), sources, wide(source.dtype))


def _moved(u: UOp, value: Array) -> Array:
    if u.op is Ops.RESHAPE:
        return value.reshape(u.arg)
    if u.op is Ops.PERMUTE:
        return value.transpose(u.arg)
    if u.op is Ops.EXPAND:
        return np.broadcast_to(value, u.arg)
    if u.op is Ops.PAD:
        return np.pad(value, u.arg)
    if u.op is Ops.SHRINK:
        return value[tuple(slice(start, end) for start, end in u.arg)]
    if u.op is Ops.FLIP:
        return np.flip(value, tuple(axis for axis, turned in enumerate(u.arg) if turned))
    raise RunError(f"{u.op.name} is no movement of Tensors")


def _part(u: UOp, whole: Array) -> Array:
    number, axis = u.arg
    devices = u.src[0].device
    if axis is None:
        return whole
    if not isinstance(devices, tuple):
        raise RunError("a part of what is on one device")
    return np.split(whole, len(devices), axis)[number]
