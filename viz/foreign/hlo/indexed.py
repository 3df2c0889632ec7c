"""What HLO's gather and scatter compute, in NumPy."""

from __future__ import annotations

import math

import numpy as np

from viz.foreign.hlo.errors import CannotError, InvalidError
from viz.foreign.hlo.sums import Combine, put
from viz.foreign.hlo.text import Instruction
from viz.foreign.hlo.types import Values


def _rows(one: Instruction, indices: Values, given: int) -> Values:
    """Indices with the vectors that they are made of in the last dimension."""
    at = one.int("index_vector_dim")
    rows = indices[..., None] if at == indices.ndim else np.moveaxis(indices, at, -1)
    if rows.shape[-1] != given:
        raise InvalidError(f"{one.opcode} has other indices than dimensions for them")
    return rows.astype(np.int64)


def _batch_at(rows: Values, batching: int) -> Values:
    """The place in a dimension of the batch, for each vector of indices."""
    size = rows.shape[batching]
    shape = [1] * (rows.ndim - 1)
    shape[batching] = size
    return np.broadcast_to(np.arange(size).reshape(shape), rows.shape[:-1])


def _batches(one: Instruction, name: str) -> tuple[int, ...]:
    """Dimensions of the batch among those of the vectors of indices."""
    at = one.int("index_vector_dim")
    return tuple(d - (d > at) for d in one.ints(name))


def gather(one: Instruction, given: list[Values]) -> Values:
    """Parts of an operand, each moved so that it lies inside. Raises InvalidError."""
    operand, indices = given
    sizes = one.ints("slice_sizes")
    offsets, collapsed = one.ints("offset_dims"), one.ints("collapsed_slice_dims")
    batched = one.ints("operand_batching_dims")
    batches = _batches(one, "start_indices_batching_dims")
    to = one.ints("start_index_map")
    rows = _rows(one, indices, len(to))
    if len(sizes) != operand.ndim or any(n > m for n, m in zip(sizes, operand.shape, strict=True)):
        raise InvalidError("gather has slices that its operand has not")
    window = [d for d in range(operand.ndim) if d not in (*collapsed, *batched)]
    if len(window) != len(offsets) or any(sizes[d] != 1 for d in (*collapsed, *batched)):
        raise InvalidError("gather has other slices than dimensions for them")
    lead, rank = rows.ndim - 1, len(window)
    index: list[Values] = []
    for d in range(operand.ndim):
        start = np.zeros(rows.shape[:-1], np.int64)
        if d in to:
            start = np.clip(rows[..., to.index(d)], 0, operand.shape[d] - sizes[d])
        elif d in batched:
            start = _batch_at(rows, batches[batched.index(d)])
        start = start.reshape((*start.shape, *[1] * rank))
        if d in window:
            shape = [1] * (lead + rank)
            shape[lead + window.index(d)] = sizes[d]
            start = start + np.arange(sizes[d]).reshape(shape)
        index.append(start)
    made = operand[tuple(index)] if index else operand
    shape = (*rows.shape[:-1], *(sizes[d] for d in window))
    made = np.broadcast_to(made, shape)
    rest = iter(range(lead))
    order = [lead + offsets.index(at) if at in offsets else next(rest) for at in range(lead + rank)]
    return np.transpose(made, order)


def scatter(one: Instruction, given: list[Values], combine: Combine) -> list[Values]:
    """Combines updates with the elements at indices, those of one element in their order; what
    would leave an operand is left out. Raises CannotError and InvalidError."""
    count = (len(given) - 1) // 2
    operands, indices, updates = given[:count], given[count], given[count + 1 :]
    shape = operands[0].shape
    dims, inserted = one.ints("update_window_dims"), one.ints("inserted_window_dims")
    batched = one.ints("input_batching_dims")
    batches = _batches(one, "scatter_indices_batching_dims")
    to = one.ints("scatter_dims_to_operand_dims")
    rows = _rows(one, indices, len(to))
    window = [d for d in range(len(shape)) if d not in (*inserted, *batched)]
    lead = [d for d in range(updates[0].ndim) if d not in dims]
    if len(window) != len(dims) or len(lead) != rows.ndim - 1:
        raise InvalidError("scatter has other updates than dimensions for them")
    laid = [np.transpose(u, (*lead, *dims)) for u in updates]
    if any(u.shape[: len(lead)] != rows.shape[:-1] for u in laid):
        raise InvalidError("scatter has other updates than indices")
    sizes = dict(zip(window, laid[0].shape[len(lead) :], strict=True))
    flat = np.zeros(laid[0].shape, np.int64)
    inside = np.ones(rows.shape[:-1], bool)
    for d in range(len(shape)):
        start = np.zeros(rows.shape[:-1], np.int64)
        if d in to:
            start = rows[..., to.index(d)]
        elif d in batched:
            start = _batch_at(rows, batches[batched.index(d)])
        inside &= (start >= 0) & (start <= shape[d] - sizes.get(d, 1))
        place = start.reshape((*start.shape, *[1] * len(window)))
        if d in window:
            around = [1] * flat.ndim
            around[len(lead) + window.index(d)] = sizes[d]
            place = place + np.arange(sizes[d]).reshape(around)
        flat = flat + place * math.prod(shape[d + 1 :])
    kept = np.broadcast_to(inside.reshape((*inside.shape, *[1] * len(window))), flat.shape)
    at = flat[kept]
    is_once = np.unique(at).size == at.size
    if not is_once and one.attributes.get("unique_indices") == "true":
        raise CannotError("indices that are to be unique are not, of random ones")
    made = [np.array(o).reshape(-1) for o in operands]
    values = [u[kept] for u in laid]
    put(made, at, values, combine)
    return [m.reshape(o.shape) for m, o in zip(made, operands, strict=True)]
