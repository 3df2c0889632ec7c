"""The shape, device and movement rules of Tensor-level and kernel-AST nodes.

Works on any object with the fields of a UOp; never creates a node.
"""

from __future__ import annotations

from typing import cast

from core.dtype import PtrDType
from core.errors import DeviceError, ShapeError
from core.helpers import prod
from core.uop.node import DeviceName, N, Node, Shape
from core.uop.ops import GroupOp, Ops

_pass_through = frozenset(
    {
        Ops.CONTIGUOUS,
        Ops.CONTIGUOUS_BACKWARD,
        Ops.FUSE,
        Ops.LENGTH,
        Ops.DETACH,
        Ops.DERIVATIVE,
        Ops.COPY,
        Ops.ASSIGN,
        Ops.NOOP,
        Ops.CAST,
        Ops.AFTER,
    }
)
_meeting = GroupOp.Elementwise | {Ops.ASSIGN}
"""Ops whose operands have to be where the result is."""


def shape_of(u: Node) -> Shape | None:
    """The shape of `u`, None where it has none. Sources must know theirs (`UOp.shape` sees to it).

    Raises ShapeError where operands disagree or the movement is not possible.
    """
    op = u.op
    if op in GroupOp.ALU:
        return _elementwise(u)
    if op is Ops.BUFFER:
        return u.arg if isinstance(u.arg, tuple) else (u.arg,)
    if op in (Ops.MULTI, Ops.MSELECT, Ops.ALLREDUCE):
        return _several(u)
    if op is Ops.BUFFER_VIEW:
        return (u.arg[0],)
    if op is Ops.IOTA:
        return (u.arg,)
    if op in (Ops.CONST, Ops.DEFINE_VAR, Ops.BIND):
        return ()
    if op is Ops.VIEW:
        return u.arg.shape
    if op is Ops.LOAD or op is Ops.STORE:
        return u.src[0].shape
    if op in GroupOp.Movement:
        return _movement(u, u.src[0].shape)
    if op is Ops.REDUCE_AXIS:
        return _reduce(u)
    if op is Ops.BITCAST:
        return _bitcast(u)
    if op is Ops.GRADIENT:
        return None if (source := gradient_source(u)) is None else source.shape
    if op is Ops.KERNEL:
        return u.src[0].shape if u.src else None
    if op is Ops.OUTPUT:
        return u.arg[1]
    if op is Ops.DEFINE_GLOBAL and isinstance(u.dtype, PtrDType):
        return (u.dtype.size,) if u.dtype.size >= 0 else None
    if op in _pass_through and u.src:
        return u.src[0].shape
    return None


def device_of(u: Node) -> DeviceName | None:
    """The device, or devices, of `u`'s value: its own, or the first of its sources that has one.
    Raises DeviceError where several devices meet others: there is no rule for that."""
    if u.op is Ops.DEVICE:
        return u.arg
    if u.op is Ops.COPY:
        return u.src[1].arg
    if u.op is Ops.GRADIENT:
        return None if (source := gradient_source(u)) is None else source.device
    if u.op in (Ops.MULTI, Ops.ALLREDUCE):
        return tuple(name for s in u.src if isinstance(name := s.device, str))
    if u.op is Ops.MSELECT:
        devices = u.src[0].device
        return devices[u.arg[0]] if isinstance(devices, tuple) else devices
    if u.op in (Ops.BUFFER, Ops.CONST, Ops.IOTA):
        return u.src[-1].arg if u.src and u.src[-1].op is Ops.DEVICE else None
    found: DeviceName | None = None
    for s in u.src:
        other = s.device
        if found is None:
            found = other
            if found is not None and u.op not in _meeting:
                break
        elif other is not None and other != found and tuple in (type(found), type(other)):
            raise DeviceError(
                f"{u.op.name} of values on {shown(found)} and on {shown(other)}",
                hint="move the operands to the same devices first",
            )
    return found


def gradient_source(u: N) -> N | None:
    """What a GRADIENT flows on to; None where its argument is no number of a source."""
    sources = u.src[0].src if u.src else ()
    return sources[u.arg] if type(u.arg) is int and 0 <= u.arg < len(sources) else None


def shown(device: DeviceName | None) -> str:
    """A device, or several, as people read it."""
    return " and ".join(device) if isinstance(device, tuple) else str(device)


def is_devices(arg: object) -> bool:
    """Whether an argument of DEVICE names a device, or at least two different ones."""
    if not isinstance(arg, tuple):
        return isinstance(arg, str)
    names = cast("tuple[object, ...]", arg)
    return len(names) > 1 and len(set(names)) == len(names) and all(type(n) is str for n in names)


def part_shape(shape: Shape, axis: int | None, count: int) -> Shape:
    """The shape of each of `count` parts of a value cut along `axis`. Raises ShapeError where they
    would not be alike."""
    if axis is None:
        return shape
    if not 0 <= axis < len(shape):
        raise ShapeError(f"axis {axis} of a value with {len(shape)} axes", hint=f"shape {shape}")
    if shape[axis] % count:
        raise ShapeError(
            f"{count} devices do not divide axis {axis} of {shape}",
            hint=f"make its length a multiple of {count}, as with pad, or cut another axis",
        )
    return (*shape[:axis], shape[axis] // count, *shape[axis + 1 :])


def _several(u: Node) -> Shape | None:
    """Of a MULTI, a MSELECT or an ALLREDUCE."""
    shape = u.src[0].shape
    if shape is None or u.op is Ops.ALLREDUCE:
        return shape
    if u.op is Ops.MSELECT:
        devices = u.src[0].device
        return part_shape(shape, u.arg[1], len(devices) if isinstance(devices, tuple) else 1)
    axis = u.arg
    if axis is None:
        return shape
    if not 0 <= axis < len(shape):
        raise ShapeError(f"parts of shape {shape} are not cut along axis {axis}")
    return (*shape[:axis], shape[axis] * len(u.src), *shape[axis + 1 :])


def _elementwise(u: Node) -> Shape | None:
    """Operands are shaped alike, or are scalars without a shape of their own ()."""
    found: Shape | None = None
    for s in u.src:
        shape = s.shape
        if shape is None:
            return None
        if found is None or found == ():
            found = shape
        elif shape not in ((), found):
            raise ShapeError(
                f"{u.op.name} of shapes {found} and {shape}",
                where=_excerpt(u),
                hint="expand the operands to one shape first",
            )
    return found


def _movement(u: Node, shape: Shape | None) -> Shape:
    if shape is None:
        raise ShapeError(f"{u.op.name} of a value without a shape", where=_excerpt(u))
    arg = u.arg
    if u.op is Ops.RESHAPE:
        if prod(arg) != prod(shape) or any(n < 0 for n in arg):
            raise ShapeError(
                f"cannot reshape {shape} to {arg}",
                where=_excerpt(u),
                hint=f"{prod(shape)} elements are not {prod(arg)}",
            )
        return arg
    if u.op is not Ops.RESHAPE and len(arg) != len(shape):
        raise ShapeError(
            f"{u.op.name} with {len(arg)} axes of a value with {len(shape)}",
            where=_excerpt(u),
            hint=f"shape {shape}, argument {arg}",
        )
    if u.op is Ops.PERMUTE:
        if sorted(arg) != list(range(len(shape))):
            raise ShapeError(f"{arg} is not an order of {len(shape)} axes", where=_excerpt(u))
        return tuple(shape[i] for i in arg)
    if u.op is Ops.EXPAND:
        if any((n != m and n != 1) or m < 0 for n, m in zip(shape, arg, strict=True)):
            raise ShapeError(
                f"cannot expand {shape} to {arg}",
                where=_excerpt(u),
                hint="only axes of length 1 expand",
            )
        return arg
    if u.op is Ops.PAD:
        if any(b < 0 or e < 0 for b, e in arg):
            raise ShapeError(f"negative padding {arg}", where=_excerpt(u), hint="use shrink")
        return tuple(n + b + e for n, (b, e) in zip(shape, arg, strict=True))
    if u.op is Ops.SHRINK:
        if any(not 0 <= b <= e <= n for n, (b, e) in zip(shape, arg, strict=True)):
            raise ShapeError(
                f"cannot take {arg} of shape {shape}",
                where=_excerpt(u),
                hint="each axis wants 0 <= start <= end <= length",
            )
        return tuple(e - b for b, e in arg)
    return shape  # FLIP


def _reduce(u: Node) -> Shape | None:
    shape, (_, axes) = u.src[0].shape, u.arg
    if shape is None:
        return None
    if any(not 0 <= a < len(shape) for a in axes) or len(set(axes)) != len(axes):
        raise ShapeError(f"cannot reduce axes {axes} of shape {shape}", where=_excerpt(u))
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def _bitcast(u: Node) -> Shape | None:
    shape, old, new = u.src[0].shape, u.src[0].dtype.itemsize, u.dtype.itemsize
    if shape is None or old == new:
        return shape
    if not shape or shape[-1] * old % new:
        raise ShapeError(
            f"cannot bitcast {shape} of {u.src[0].dtype} to {u.dtype}",
            where=_excerpt(u),
            hint="the last axis must fill whole elements",
        )
    return (*shape[:-1], shape[-1] * old // new)


def _excerpt(u: Node) -> str:
    lines = [f"{u.op.name} {u.dtype} arg={u.arg}" + (f"  from {u.origin}" if u.origin else "")]
    lines += [f"  {s.op.name} {s.dtype}" for s in u.src]
    return "\n".join(lines)
