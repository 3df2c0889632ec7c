"""Cuts a kernel AST into ASTs that each compute a slice of the output, so that the reference needs
no more memory than a slice takes.

Gives None where the AST computes something that is not sliced alike everywhere. Evaluates nothing.
"""

from __future__ import annotations

from core.helpers import ceildiv, prod
from core.shape import ShapeTracker
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

Shape = tuple[int, ...]


def largest_shape(ast: UOp) -> Shape:
    """The shape of the largest value in the AST."""
    largest: Shape = ()
    for u in ast.toposort():
        shape = u.shape if u.op not in (Ops.SINK, Ops.STORE, Ops.DEFINE_GLOBAL) else None
        if shape is not None and prod(shape) > prod(largest):
            largest = shape
    return largest


def slices_of(ast: UOp, limit: int) -> list[UOp] | None:
    """ASTs whose values have at most `limit` elements and that together do what `ast` does; None
    where there is no axis to cut."""
    shape = largest_shape(ast)
    if prod(shape) <= limit:
        return [ast]
    axis = _axis(ast, shape)
    if axis is None:
        return None
    pieces = min(shape[axis], ceildiv(prod(shape), limit))
    step = ceildiv(shape[axis], pieces)
    found: list[UOp] = []
    for begin in range(0, shape[axis], step):
        part = _cut(ast, axis, begin, min(begin + step, shape[axis]))
        inner = slices_of(part, limit)
        if inner is None:
            return None
        found += inner
    return found


def _axis(ast: UOp, shape: Shape) -> int | None:
    """The longest axis along which every value of the AST can be cut."""
    good = [axis for axis, size in enumerate(shape) if size > 1 and _cuttable(ast, axis, shape)]
    return max(good, key=lambda axis: shape[axis], default=None)


def _cuttable(ast: UOp, axis: int, shape: Shape) -> bool:
    for u in ast.toposort():
        if u.op is Ops.REDUCE_AXIS and axis in u.arg[1]:
            return False
        if u.op is Ops.VIEW and u.src[0].op not in _sources:
            return False  # a view of a computed value may read across slices
        if u.op is Ops.LOAD or u.op is Ops.STORE or u.op in GroupOp.Elementwise or _is_value(u):
            own = u.shape
            if own and (len(own) != len(shape) or own[axis] != shape[axis]):
                return False
    return True


_sources = frozenset({Ops.DEFINE_GLOBAL, Ops.CONST, Ops.IOTA})


def _is_value(u: UOp) -> bool:
    return u.op is Ops.REDUCE_AXIS or u.op is Ops.VIEW


def _cut(ast: UOp, axis: int, begin: int, end: int) -> UOp:
    new: dict[UOp, UOp] = {}
    for u in ast.toposort():
        made = u.rebuild(tuple(new[s] for s in u.src))
        if u.op is Ops.VIEW:
            st: ShapeTracker = u.arg
            if st.shape:
                ranges = [(begin, end) if i == axis else (0, n) for i, n in enumerate(st.shape)]
                made = made.replace(arg=st.shrink(ranges))
        new[u] = made
    return new[ast]
