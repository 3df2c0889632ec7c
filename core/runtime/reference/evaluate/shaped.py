"""Shaped values: a kernel AST evaluated by NumPy, one node at a time.

Views are evaluated by their definition, and all loads happen before all stores. A sum of floats is
added in float64 and rounded once. Knows no loops: a graph that has some is evaluated by machine.py,
which asks here for the shaped values that are left in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from core.dtype import PtrDType, dtypes
from core.errors import RunError
from core.helpers import prod
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.runtime.reference.evaluate.slices import slices_of
from core.shape import ShapeTracker, View
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype, round_array
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

Buffers = Mapping[int, Array] | Sequence[Array]
_SLICE: Final = 1 << 24
"""Elements of the largest intermediate, where the kernel can be evaluated in slices."""
_MAX_ELEMENTS: Final = 1 << 28
"""Elements of the largest intermediate where it cannot."""

_TEMPORARIES: Final = 3
"""Arrays of the size of a value that NumPy allocates to compute it: operands converted to one
dtype, and the value before it is rounded."""

_INDEXED: Final = 48
"""Bytes per element of a store at computed indices."""

_reducers: Final[dict[Ops, Any]] = {Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum}


def evaluate_ast(
    ast: UOp, buffers: Buffers, variables: Mapping[str, int], room: int | None = None
) -> None:
    """Runs a kernel of shaped values. `buffers[n]` is the flat memory of DEFINE_GLOBAL n, in the
    dtype that `numeric.memory_dtype` names; outputs are written in place. Raises RunError for an
    AST that is not one, or that takes more than `room` bytes apart from `buffers`.
    """
    parts = slices_of(ast, _SLICE) or [ast]
    needed = working_bytes(parts[0], len(parts) > 1)
    if room is not None and needed > room:
        raise RunError(f"the reference would need {needed:,} bytes more than the arguments",
                       hint="verify this kernel at a smaller size")  # fmt: skip
    if len(parts) > 1:  # a slice must not read what another one has written
        written = {pointer_of(store.src[0]).arg for store in ast.src}
        numbers = {u.arg for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
        before = {n: buffers[n].copy() if n in written else buffers[n] for n in numbers}
        for part in parts:
            _evaluate_part(part, before, buffers, variables)
    else:
        _evaluate_part(ast, buffers, buffers, variables)


def working_bytes(part: UOp, sliced: bool) -> int:
    """An upper bound of the bytes that evaluating a part of a kernel takes, apart from the kernel's
    memory: live values, and NumPy's temporaries."""
    order = list(part.toposort())
    uses = Counter(s for u in order for s in u.src)
    live = worst = 0
    sizes: dict[UOp, int] = {}
    for u in order:
        if u.op in (Ops.SINK, Ops.DEFINE_GLOBAL) or _is_place(u):
            continue
        count = prod(u.shape or ())
        if u.op is Ops.STORE:  # what is stored stays until all is computed
            direct = cast("ShapeTracker", u.src[0].arg).contiguous
            worst = max(worst, live + (8 if direct else _INDEXED) * count)
            continue
        size = count * (1 if dtypes.is_bool(u.dtype) else max(4, u.dtype.itemsize))
        sizes[u] = size
        live += size
        worst = max(worst, live + _TEMPORARIES * size + _decoded_bytes(u))
        for s in u.src:
            uses[s] -= 1
            if not uses[s]:
                live -= sizes.get(s, 0)
    copies = 0
    if sliced:
        written = {pointer_of(store.src[0]) for store in part.src}
        copies = sum(cast("PtrDType", p.dtype).size * p.dtype.base.itemsize for p in written)
    return worst + copies


def _decoded_bytes(u: UOp) -> int:
    """Bytes of the decoded memory of a LOAD whose dtype NumPy does not have."""
    if u.op is not Ops.LOAD or memory_dtype(u.dtype) == numpy_dtype(u.dtype):
        return 0
    return 8 * cast("PtrDType", pointer_of(u.src[0]).dtype).size


def _evaluate_part(ast: UOp, reads: Buffers, writes: Buffers, variables: Mapping[str, int]) -> None:
    values: dict[UOp, Array] = {}
    uses: dict[UOp, int] = {}
    order = list(ast.toposort())
    for u in order:
        for s in u.src:
            uses[s] = uses.get(s, 0) + 1
    results: list[tuple[UOp, Array]] = []
    for u in order:
        if u.op is Ops.STORE:
            results.append((u, values[u.src[1]]))
        elif u.op not in (Ops.SINK, Ops.DEFINE_GLOBAL) and not _is_place(u):
            values[u] = evaluate_shaped(u, values.__getitem__, reads, variables)
        for s in u.src:  # free what nothing needs any more
            uses[s] -= 1
            if uses[s] == 0:
                values.pop(s, None)
    for store, value in results:  # after every load: an output may be an input too
        store_shaped(store, value, writes)


def _is_place(u: UOp) -> bool:
    return u.op is Ops.VIEW and u.src[0].op is Ops.DEFINE_GLOBAL


def shaped_values(nodes: Iterable[UOp]) -> frozenset[UOp]:
    """The nodes of a graph, sources first, that are values with a shape: no places in memory, and
    no scalars that belong to no shape."""
    found: set[UOp] = set()
    for u in nodes:
        if u.op is Ops.VIEW:
            begins = not isinstance(u.dtype, PtrDType)
        elif u.op is Ops.LOAD:
            begins = u.src[0].op is Ops.VIEW
        else:
            begins = u.op is Ops.REDUCE_AXIS or u.op is Ops.IOTA
        passes = u.op in GroupOp.Elementwise or u.op is Ops.CONTIGUOUS or u.op is Ops.NOOP
        if begins or (passes and not found.isdisjoint(u.src)):
            found.add(u)
    return frozenset(found)


def evaluate_shaped(
    u: UOp, value_of: Callable[[UOp], Array], buffers: Buffers, variables: Mapping[str, int]
) -> Array:
    """The value of a node, of its shape; `value_of` has those of its sources. Raises RunError for a
    node that has no meaning in a kernel AST, and for a value that is too large."""
    shape = u.shape
    if shape is not None and prod(shape) > _MAX_ELEMENTS:
        raise RunError(f"the reference would need an array of shape {shape}",
                       hint="verify this kernel at a smaller size")  # fmt: skip
    if u.op is Ops.CONST:
        return np.asarray(u.arg, numpy_dtype(u.dtype))
    if u.op is Ops.IOTA:
        return np.arange(u.arg, dtype=numpy_dtype(u.dtype))
    if u.op is Ops.DEFINE_VAR:
        return np.asarray(variables[u.arg[0]], numpy_dtype(u.dtype))
    if u.op is Ops.LOAD:
        memory = from_memory(buffers[pointer_of(u.src[0]).arg], u.dtype)
        return read_view(memory, u.src[0].arg)
    if u.op is Ops.VIEW:
        inner = value_of(u.src[0])
        below = u.src[0].shape or ()
        return read_view(np.broadcast_to(inner, below).reshape(-1), u.arg)
    if u.op is Ops.REDUCE_AXIS:
        return _reduce(u, value_of(u.src[0]))
    if u.op in GroupOp.Elementwise:
        source = u.src[-1].dtype
        return evaluate_arrays(u.op, u.dtype, [value_of(s) for s in u.src], source)
    if u.op in (Ops.CONTIGUOUS, Ops.NOOP):
        return value_of(u.src[0])
    raise RunError(f"{u.op.name} has no meaning in a kernel AST", u.origin or "",
                   "see the kernel AST's specification in core/uop/spec/spec.py")  # fmt: skip


def _reduce(u: UOp, value: Array) -> Array:
    op, axes = u.arg
    shape = u.src[0].shape or ()
    value = np.broadcast_to(value, shape)
    ufunc, held = _reducers[op], numpy_dtype(u.dtype)
    if 0 in shape and op is Ops.MAX:
        empty = tuple(1 if i in axes else n for i, n in enumerate(shape))
        return np.full(empty, dtypes.min(u.dtype), held)
    if held == np.bool_:
        found = np.logical_and if op is Ops.MUL else np.logical_or
        return found.reduce(value, axis=tuple(axes), keepdims=True)
    with np.errstate(all="ignore"):
        wide = np.float64 if held.kind == "f" and op is not Ops.MAX else held
        found = ufunc.reduce(value, axis=tuple(axes), keepdims=True, dtype=wide)
        return round_array(found, u.dtype)


def read_view(flat: Array, st: ShapeTracker) -> Array:
    """The elements that `st` reads from flat memory, 0 where an index is masked."""
    for view in st.views:
        flat = _read_one(flat.reshape(-1), view)
    return flat


def _read_one(flat: Array, view: View) -> Array:
    if view.empty:
        return np.zeros(view.shape, flat.dtype)
    axes = view.axes
    start = view.offset + sum(a.begin * a.stride for a in axes)
    sizes = tuple(a.end - a.begin for a in axes)
    (item,) = flat.strides
    inside = np.lib.stride_tricks.as_strided(
        flat[start:], sizes, tuple(a.stride * item for a in axes), writeable=False
    )
    if view.mask is None:
        return inside
    found = np.zeros(view.shape, flat.dtype)
    found[tuple(slice(a.begin, a.end) for a in axes)] = inside
    return found


def store_shaped(store: UOp, value: Array, buffers: Buffers) -> None:
    """Writes a shaped value where a STORE of a VIEW says."""
    place, dtype = store.src[0], store.src[1].dtype
    st: ShapeTracker = place.arg
    memory = buffers[pointer_of(place).arg]
    full = to_memory(np.broadcast_to(value, st.shape), dtype)
    if st.contiguous:
        memory[: st.size] = full.reshape(-1)
        return
    offsets, valid = st.indices()
    memory[offsets[valid]] = full[valid]
