"""Index arithmetic of a view chain: an index per axis becomes a flat offset and a validity.

Builds plain integer arithmetic from strides, offset and mask; leaves all simplifying to the
symbolic rules. Computes in 32 bits where every intermediate value fits, whatever the indices
are, else in 64. Never looks at what the view is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from core.dtype import dtypes
from core.helpers import prod
from core.shape import ShapeTracker, View
from core.uop import Ops, UOp


def all_of(*conditions: UOp | None) -> UOp | None:
    """The conjunction of the conditions that are there; None where there is none."""
    present = [c for c in conditions if c is not None]
    return reduce(lambda a, b: a if a is b else a & b, present) if present else None


def unravel(flat: UOp, shape: Sequence[int]) -> list[UOp]:
    """The index per axis of row-major element `flat` of `shape`."""
    digits: list[UOp] = []
    place = prod(shape)
    (flat,) = _wide_enough([flat], place)
    for axis, size in enumerate(shape):
        place //= max(size, 1)
        if size == 1:
            digits.append(flat.const_like(0))
            continue
        digit = flat // place if place > 1 else flat
        digits.append(digit % size if any(n != 1 for n in shape[:axis]) else digit)
    return digits


def ravel(idxs: Sequence[UOp], shape: Sequence[int]) -> UOp:
    """The row-major element of `shape` at one index per axis."""
    return flat_offset(View.create(tuple(shape)), _wide_enough(idxs, prod(shape)))


def flat_offset(view: View, idxs: Sequence[UOp]) -> UOp:
    """offset + sum(index * stride) of one view."""
    dtype = idxs[0].dtype if idxs else dtypes.index
    total: UOp | None = None
    for idx, stride in zip(idxs, view.strides, strict=True):
        if stride and not (idx.op is Ops.CONST and idx.arg == 0):
            term = idx if stride == 1 else idx * stride
            total = term if total is None else total + term
    if total is None:
        return UOp.const(dtype, view.offset)
    return total + view.offset if view.offset else total


def inside_mask(view: View, idxs: Sequence[UOp]) -> UOp | None:
    """Whether the index is in the view's mask; None where it always is."""
    if view.mask is None:
        return None
    found: UOp | None = None
    for idx, (begin, end), size in zip(idxs, view.mask, view.shape, strict=True):
        low = idx >= begin if begin > 0 else None
        high = idx < end if end < size else None
        found = all_of(found, low, high)
    return found


def view_index(st: ShapeTracker, idxs: Sequence[UOp]) -> tuple[UOp, UOp | None]:
    """Offset in elements and validity (None: always) of `idxs` in the memory under `st`.

    The offset is int64 where some step of the way leaves int32; it is meaningless where the
    validity is false.
    """
    idxs = _wide_enough(idxs, max(map(_reach, st.views)))
    valid: UOp | None = None
    flat: UOp | None = None
    for view in reversed(st.views):
        if flat is not None:
            idxs = unravel(flat, view.shape)
        valid = all_of(valid, inside_mask(view, idxs))
        flat = flat_offset(view, idxs)
    assert flat is not None, "a ShapeTracker has at least one view"
    return flat, valid


def _wide_enough(idxs: Sequence[UOp], most: int) -> Sequence[UOp]:
    """The indices in one dtype that holds all of them and numbers up to `most`."""
    dtype = dtypes.index_up_to(most)
    if all(idx.dtype is dtypes.int32 for idx in idxs) and dtype is dtypes.int32:
        return idxs
    return [idx.cast(dtypes.int64) for idx in idxs]


def _reach(view: View) -> int:
    """The largest magnitude of the flat offset of any index, valid or not, and of its mask."""
    ends = [stride * (size - 1) for stride, size in zip(view.strides, view.shape, strict=True)]
    low = view.offset + sum(e for e in ends if e < 0)
    high = view.offset + sum(e for e in ends if e > 0)
    return max(-low, high, *view.shape)
