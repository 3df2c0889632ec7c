"""Along which axis a value on several devices is cut into parts, by what it is computed from.

The one place where that is decided: the pass that takes such values apart follows it. Works on any
object with the fields of a UOp; never creates a node.
"""

from __future__ import annotations

from core.helpers import prod
from core.uop.facts.shapes import gradient_source
from core.uop.node import Node, Shape
from core.uop.ops import GroupOp, Ops

Box = tuple[tuple[int, int], ...]
"""(start, end) along each axis."""


def axis_of(u: Node) -> int | None:
    """The axis along which `u` is cut into parts, one for each device; None where every device has
    the whole value, and for values on one device."""
    devices = u.device
    if not isinstance(devices, tuple):
        return None
    if u.op is Ops.MULTI:
        return u.arg
    if u.op is Ops.BUFFER:
        return 1 if isinstance(u.arg, tuple) else None
    if u.op is Ops.GRADIENT:
        return None if (source := gradient_source(u)) is None else source.axis
    if u.op is Ops.BITCAST:
        return _bitcast(u, len(devices))
    if u.op is Ops.LENGTH:
        return None if u.src[0].axis == u.arg else u.src[0].axis
    if u.op in GroupOp.Elementwise:
        return next((s.axis for s in u.src if s.axis is not None), None)
    if u.op in GroupOp.Movement or u.op is Ops.VIEW:
        return _moved(u, len(devices))
    if not u.src:
        return None
    axis = u.src[0].axis
    if u.op is Ops.REDUCE_AXIS:
        return None if axis in u.arg[1] else axis
    if u.op is Ops.COPY:
        given = u.src[0].device
        return axis if isinstance(given, tuple) and len(given) == len(devices) else None
    return None if u.op in (Ops.CONST, Ops.IOTA, Ops.ALLREDUCE) else axis


def stays(move: Node) -> bool:
    """Whether each device has what it needs for its part of a movement, or of a BITCAST."""
    x = move.src[0]
    axis, arg = x.axis, move.arg
    if axis is None:
        return True
    if move.op is Ops.PAD:
        return arg[axis] == (0, 0)
    if move.op is Ops.SHRINK:
        return arg[axis] == (0, x.shaped[axis])
    if move.op is Ops.FLIP:
        return not arg[axis]
    return move.axis is not None


def share(box: Box, axis: int | None, number: int, count: int) -> Box:
    """The share of a box that one of `count` devices has; all of it where axis is None."""
    if axis is None:
        return box
    start, end = box[axis]
    length = (end - start) // count
    return along(box, axis, start + number * length, start + (number + 1) * length)


def along(box: Box, axis: int, start: int, end: int) -> Box:
    """The box with other bounds along one axis."""
    return (*box[:axis], (start, end), *box[axis + 1 :])


def all_of(shape: Shape) -> Box:
    """The box of everything."""
    return tuple((0, n) for n in shape)


def rows_and_columns(shape: Shape, axis: int) -> tuple[int, int]:
    """A shape as two axes, the second of which is cut where `axis` is."""
    return prod(shape[:axis]), prod(shape[axis:])


def _moved(u: Node, count: int) -> int | None:
    x, arg = u.src[0], u.arg
    axis = x.axis
    if axis is None or u.op is Ops.VIEW:
        return None
    if u.op is Ops.PERMUTE:
        return arg.index(axis)
    if u.op is Ops.RESHAPE:
        return _reshaped(x.shaped, axis, arg, count)
    return axis if u.op is Ops.EXPAND or u.shaped[axis] % count == 0 else None


def _reshaped(old: Shape, axis: int, new: Shape, count: int) -> int | None:
    """The axis of `new` that has as many elements before it, and is cut at the same ones."""
    before, product = prod(old[:axis]), 1
    for at, n in enumerate(new):
        if product == before and n > 1:
            return at if n % count == 0 else None
        product *= n
    return None


def _bitcast(u: Node, count: int) -> int | None:
    """Along the last axis, parts of whole elements only."""
    x = u.src[0]
    axis, last = x.axis, len(x.shaped) - 1
    if axis is None or axis < last or u.dtype.itemsize == x.dtype.itemsize:
        return axis
    nbytes = x.shaped[axis] // count * x.dtype.itemsize
    return axis if nbytes % u.dtype.itemsize == 0 else None
