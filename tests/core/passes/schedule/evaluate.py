"""Two independent ways to a Tensor graph's values: NumPy on the graph, NumPy on its schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.dtype import dtypes
from core.helpers import Context
from core.passes.identities import identity
from core.passes.schedule import ScheduleItem, create_schedule
from core.runtime.reference.kernel import evaluate_kernel
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp
from core.uop.call.kernelcall import inputs_of_call
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype
from core.uop.kernels import is_lowered

Array = NDArray[Any]
Memory = dict[UOp, Array]
_reduce = {Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum}


def read(flat: Array, st: ShapeTracker) -> Array:
    """What a tracker reads from flat memory."""
    offsets, valid = st.indices()
    if not flat.size:
        return np.zeros(st.shape, flat.dtype)
    return np.where(valid, flat[offsets], np.zeros((), flat.dtype))


def _value(u: UOp, src: Sequence[Array], variables: Mapping[str, int]) -> Array:
    held = numpy_dtype(u.dtype)
    if u.op is Ops.CONST:
        return np.asarray(u.arg, held)
    if u.op is Ops.IOTA:
        return np.arange(u.arg).astype(held)
    if u.op is Ops.DEFINE_VAR:
        return np.asarray(variables[u.arg[0]], held)
    if u.op is Ops.BIND:
        return src[-1]
    if u.op in GroupOp.Elementwise:
        with np.errstate(all="ignore"):
            return evaluate_arrays(u.op, u.dtype, np.broadcast_arrays(*src), u.src[-1].dtype)
    if u.op is Ops.REDUCE_AXIS:
        op, axes = u.arg
        start = identity(op, u.dtype)
        return _reduce[op].reduce(src[0], axis=axes, keepdims=True, initial=start).astype(held)
    if u.op is Ops.VIEW:
        return read(src[0].reshape(-1), u.arg)
    if u.op is Ops.PAD:
        return np.pad(src[0], u.arg) if u.arg else src[0]
    if u.op is Ops.SHRINK:
        return src[0][tuple(slice(b, e) for b, e in u.arg)]
    if u.op is Ops.FLIP:
        return np.flip(src[0], tuple(k for k, flipped in enumerate(u.arg) if flipped))
    if u.op is Ops.PERMUTE:
        return src[0].transpose(u.arg)
    if u.op is Ops.EXPAND:
        return np.broadcast_to(src[0], u.arg)
    if u.op is Ops.RESHAPE:
        return src[0].reshape(u.arg)
    if u.op is Ops.ASSIGN:
        return src[1]
    same = {Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE, Ops.DETACH, Ops.DERIVATIVE}
    assert u.op in same | {Ops.COPY, Ops.LENGTH}, u.op
    return src[0]


def _output(u: UOp, inputs: Sequence[Array]) -> Array:
    """What a kernel written by hand stores, by the reference."""
    call = u.src[0].arg
    outputs = [np.zeros(prod(shape), numpy_dtype(dtype)) for shape, dtype in call.outputs]
    flat = (np.ascontiguousarray(a).reshape(-1) for a in inputs)
    evaluate_kernel(call.ast, [*outputs, *flat])
    return outputs[u.arg[0]].reshape(u.shaped)


def of_graph(u: UOp, memory: Memory) -> Array:
    """The value of a Tensor graph; an assignment gives what it stores, and stores nothing."""
    values: dict[UOp, Array] = {}
    for v in u.toposort():
        if v.op is Ops.BUFFER:
            values[v] = memory[v]
        elif v.op is Ops.OUTPUT:
            values[v] = _output(v, [values[s] for s in inputs_of_call(v.src[0])])
        elif v.op not in (Ops.UNIQUE, Ops.DEVICE, Ops.DEFINE_VAR, Ops.KERNEL):
            values[v] = _value(v, [values[s] for s in v.src if s in values], {})
    return values[u]


def run(items: Sequence[ScheduleItem], memory: Memory) -> None:
    """Runs a schedule on NumPy memory."""
    for item in items:
        bufs = [_memory_of(b, memory) for b in item.bufs]
        if item.ast.op is Ops.COPY:
            bufs[0][:] = bufs[1]
            continue
        if is_lowered(item.ast):
            evaluate_kernel(item.ast, bufs, item.variables)
            continue
        values: dict[UOp, Array] = {}
        stores: list[tuple[Array, Array, Array]] = []
        for u in item.ast.toposort():
            if u.op is Ops.DEFINE_GLOBAL:
                assert u.dtype.held is item.bufs[u.arg].dtype
                assert u.size == item.bufs[u.arg].size
                values[u] = bufs[u.arg]
            elif u.op is Ops.LOAD:
                values[u] = values[u.src[0]]
            elif u.op is Ops.STORE:
                offsets, valid = u.src[0].arg.indices()
                assert valid.all()
                value = np.broadcast_to(values[u.src[1]], offsets.shape)
                stores.append((bufs[u.src[0].src[0].arg], offsets, value))
            elif u.op is not Ops.SINK:
                values[u] = _value(u, [values[s] for s in u.src], item.variables)
        for flat, offsets, value in stores:
            flat[offsets] = value


def _memory_of(buf: UOp, memory: Memory) -> Array:
    base = buf.src[0] if buf.op is Ops.BUFFER_VIEW else buf
    if base not in memory:
        memory[base] = np.full(base.size, 99, numpy_dtype(base.dtype))
    if buf.op is Ops.BUFFER:
        return memory[base]
    count, start = buf.arg
    return memory[base].view(numpy_dtype(buf.dtype))[start : start + count]


def realize(*roots: UOp, memory: Memory) -> tuple[list[Array], list[ScheduleItem]]:
    """The values of the roots by way of their schedule, and the schedule."""
    with Context(SPEC=1):
        items, realized = create_schedule(UOp.sink(*roots))
    run(items, memory)
    for root in roots:
        form = realized[root]
        assert form.shape == root.shape
        assert form.dtype is root.dtype
        assert all(
            u.op
            in GroupOp.Movement | {Ops.VIEW, Ops.BUFFER, Ops.BUFFER_VIEW, Ops.UNIQUE, Ops.DEVICE}
            or not root.size
            for u in form.toposort()
        )
        base = form.base
        if base.op is Ops.BUFFER and base not in memory and not base.size:
            memory[base] = np.zeros(0, numpy_dtype(base.dtype))
    return [of_graph(realized[root], memory) for root in roots], items


class Graphs:
    """Makes buffers with known contents."""

    def __init__(self, seed: int = 0) -> None:
        self.memory: Memory = {}
        self.random = np.random.default_rng(seed)

    def buffer(self, *shape: int, dtype: Any = dtypes.int32, device: str = "CPU") -> UOp:
        """A filled buffer of some shape."""
        flat = UOp.new_buffer(device, prod(shape), dtype)
        values = self.random.integers(-9, 9, flat.size)
        self.memory[flat] = values.astype(numpy_dtype(dtype))
        return flat.reshape(shape)

    def kernels(self, *roots: UOp) -> int:
        """Number of kernels and copies, after checking the values against those of the graph."""
        want = [of_graph(root, self.memory) for root in roots]
        got, items = realize(*roots, memory=dict(self.memory))
        for a, b in zip(got, want, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-5)
        return len(items)
