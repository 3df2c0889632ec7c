"""Arithmetic, comparisons and bit operations of Tensors: broadcast, promote, build one node.

A Python number takes the dtype of the Tensor beside it, unless it is a float beside integers or an
int beside bools. Two Tensors meet in `least_upper_dtype`. Raises ShapeError where shapes do not
broadcast, DTypeError for a dtype that the operation does not take, DeviceError for operands on
different devices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import numpy as np

from core.dtype import ConstType, DType, dtypes, least_upper_dtype, least_upper_float
from core.errors import DeviceError, DTypeError, ShapeError
from core.runtime.disk.device import is_disk
from core.tensor.state.base import Number, Shape, TensorBase, in_room, make, tensor_of
from core.tensor.state.sharding import move_hint
from core.tensor.views.movement import broadcast
from core.tensor.views.varying import LEAST_ROOM
from core.uop.facts.shapes import shown
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

P = ParamSpec("P")


def _met(uop: UOp, dtype: DType, shape: Shape) -> UOp:
    """An operand in the dtype and shape of all; no Tensor, since it is seen nowhere else. A
    constant without a shape is left without one: it takes part in every element."""
    if uop.dtype is not dtype:
        uop = uop.cast(dtype)
    have = uop.shaped
    if have == shape or uop.op is Ops.CONST:
        return uop
    return uop.reshape((1,) * (len(shape) - len(have)) + have).expand(shape)


def broadcast_shape(*shapes: Shape) -> Shape:
    """The shape that all broadcast to. Raises ShapeError where lengths differ and none is 1."""
    if all(s == shapes[0] for s in shapes):
        return shapes[0]
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    result: list[int] = []
    for axis, lengths in enumerate(zip(*padded, strict=True)):
        wide = {n for n in lengths if n != 1}
        if len(wide) > 1:
            raise ShapeError(
                "cannot broadcast shapes " + " and ".join(map(str, shapes)),
                hint=f"axis {axis - rank} has lengths {sorted(wide)}: they must be equal or 1",
            )
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def number(value: object) -> ConstType:
    """A Python number from itself or from a NumPy scalar. Raises DTypeError for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    raise DTypeError(
        f"a Tensor does not combine with {type(value).__name__}", hint="make a Tensor of it first"
    )


def scalar_dtype(value: ConstType, beside: DType) -> DType:
    """The dtype in which a Python number meets a Tensor of dtype `beside`."""
    if dtypes.is_float(beside) or (dtypes.is_int(beside) and not isinstance(value, float)):
        return beside
    return dtypes.bool if isinstance(value, bool) else dtypes.from_py(value)


def _computing(*tensors: Tensor) -> DeviceName:
    """The device of the first that is in no file."""
    return next((t.device for t in tensors if not is_disk(t.device)), "CPU")


def operand(self: Tensor, other: Tensor | Number) -> Tensor:
    """`other` as a Tensor; a number, or a value of bound variables, in the dtype in which it
    meets this one."""
    if isinstance(other, TensorBase):
        places = self.uop.device, other.uop.device
        if other.device != self.device and None not in places:
            raise DeviceError(
                f"operands on {shown(self.device)} and on {shown(other.device)}",
                hint=move_hint(_computing(self, other)),
            )
        return other
    if isinstance(other, UOp):
        return _of_variables(self, other)
    value = number(other)
    dtype = scalar_dtype(value, self.dtype)
    if self.uop.device is None:  # of variables alone: it goes where the other operand is
        return tensor_of(type(self), UOp.const(dtype, value), False)
    return tensor_of(type(self), UOp.full((), value, dtype, self.device), False)


def _of_variables(self: Tensor, value: UOp) -> Tensor:
    """A value of bound variables, which takes part as a Python number of its kind does."""
    if value.shape != () or value.device is not None:
        raise DTypeError(
            f"a Tensor does not combine with {value.op.name}",
            hint="it combines with bound variables and what is computed from them",
        )
    kind: ConstType = 0 if dtypes.is_int(value.dtype) else 0.0
    kind = False if dtypes.is_bool(value.dtype) else kind
    return tensor_of(type(self), value.cast(scalar_dtype(kind, self.dtype)), False)


def in_one_room(*uops: UOp) -> tuple[UOp, ...]:
    """Operands, where axes of one length that is a variable have room for different numbers of
    elements: for as many as the length may be."""
    if not any(u.lengths for u in uops):
        return uops
    made = list(uops)
    for k in range(1, 1 + max(len(u.shaped) for u in uops)):
        axes = [(i, len(u.shaped) - k) for i, u in enumerate(made) if len(u.shaped) >= k]
        known = {i: n for i, axis in axes if (n := dict(made[i].lengths).get(axis)) is not None}
        plain = {made[i].shaped[axis] for i, axis in axes if i not in known} - {1}
        rooms = plain | {made[i].shaped[axis] for i, axis in axes if i in known}
        if plain:
            rooms -= {1}
        if len(rooms) < 2:
            continue
        for i, n in known.items():
            room = max(LEAST_ROOM, int(n.vmax))
            if plain - {room}:
                raise ShapeError(
                    f"cannot expand an axis whose length is a variable to {max(plain)} elements",
                    hint="operands share the variable that an axis has as its length",
                )
            made[i] = in_room(made[i], len(made[i].shaped) - k, room)
    return tuple(made)


def meet(self: Tensor, *others: Tensor | Number) -> list[Tensor]:
    """This and `others` in one shape and one dtype."""
    values = [self, *(operand(self, o) for o in others)]
    dtype = least_upper_dtype(*(v.dtype for v in values))
    values = fitted(*values)
    shape = broadcast_shape(*(v.shape for v in values))
    return [broadcast(v.cast(dtype), shape) for v in values]


def fitted(*values: Tensor) -> list[Tensor]:
    """As `in_one_room`, of Tensors."""
    uops = [v.uop for v in values]
    return [v if new is old else make(v, new)
            for v, old, new in zip(values, uops, in_one_room(*uops), strict=True)]  # fmt: skip


def binary(self: Tensor, op: Ops, other: Tensor | Number, reverse: bool = False) -> Tensor:
    b = operand(self, other)
    dtype = least_upper_dtype(self.dtype, b.dtype)
    x, y = self.uop, b.uop
    if x.shaped != y.shaped:
        x, y = in_one_room(x, y)
    shape = broadcast_shape(x.shaped, y.shaped)
    x, y = _met(x, dtype, shape), _met(y, dtype, shape)
    return make(self, y.alu(op, x) if reverse else x.alu(op, y), b)


def unary(self: Tensor, op: Ops) -> Tensor:
    return make(self, self.uop.alu(op))


def as_float(self: Tensor) -> Tensor:
    return self.cast(least_upper_float(self.dtype))


def compute_wide(self: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """`function` of this as a float; in float32 for narrower ones, which would lose digits."""
    dtype = least_upper_float(self.dtype)
    wide = dtype if dtype.bits >= 32 else dtypes.float32
    return function(self.cast(wide)).cast(dtype)


def compute_infinite(self: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """`function` of this, a float; in float32 for those of 8 bits: of these fp8e4m3 has no infinity
    to leave elements out with, and a value rounded on the way loses most of its digits."""
    if self.dtype.bits >= 16:
        return function(self)
    return function(self.cast(dtypes.float32)).cast(self.dtype)


def in_wide_floats(
    function: Callable[Concatenate[Tensor, P], Tensor],
) -> Callable[Concatenate[Tensor, P], Tensor]:
    """A method that `compute_wide` computes."""

    @functools.wraps(function)
    def method(self: Tensor, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        return compute_wide(self, lambda x: function(x, *args, **kwargs))

    return method


def wide_with(
    self: Tensor, other: Tensor | Number, function: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """`function` of this and another as floats; as `_wide`."""
    a, b = meet(as_float(self), other)
    wide = a.dtype if a.dtype.bits >= 32 else dtypes.float32
    return function(a.cast(wide), b.cast(wide)).cast(a.dtype)


def with_derivatives(self: Tensor, *partial: tuple[Tensor, Tensor]) -> Tensor:
    """This, a function whose derivative by each argument is given: (argument, derivative), of
    the shape and dtype of this. Gradients do not see how this was computed."""
    pairs = [(argument.uop, slope.uop) for argument, slope in partial]
    return make(self, self.uop.derivative(*pairs), *(argument for argument, _ in partial))


# arithmetic


def add(self: Tensor, x: Tensor | Number, reverse: bool = False, *, alpha: Number = 1) -> Tensor:
    """self + alpha x. Of bools: whether one holds."""
    return binary(self, Ops.ADD, _times(self, x, alpha), reverse)


def _times(self: Tensor, x: Tensor | Number, alpha: Number) -> Tensor | Number:
    """alpha x, an operand of this."""
    return x if isinstance(alpha, int) and alpha == 1 else operand(self, x).mul(alpha)


def sub(self: Tensor, x: Tensor | Number, reverse: bool = False, *, alpha: Number = 1) -> Tensor:
    """self - alpha x. Raises DTypeError for bools."""
    a, b = meet(self, _times(self, x, alpha))
    if dtypes.is_bool(a.dtype):
        raise DTypeError("minus of bools", hint="use ^ or cast to int")
    return binary(a, Ops.SUB, b, reverse)


def mul(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """self * x. Of bools: whether both hold."""
    return binary(self, Ops.MUL, x, reverse)


def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """self + value * tensor1 * tensor2"""
    return plus(self, value, lambda b, c: b.mul(c), tensor1, tensor2)


def plus(
    self: Tensor, value: Number, function: Callable[[Tensor, Tensor], Tensor], b: Tensor, c: Tensor
) -> Tensor:
    """self + value * function(b, c); of narrow floats in float32, rounded once."""
    dtype = least_upper_dtype(self.dtype, b.dtype, c.dtype)
    if not dtypes.is_float(dtype) or dtype.bits >= 32:
        return self.add(function(b, c), alpha=value)
    x, b, c = (t.cast(dtypes.float32) for t in (self, b, c))
    return x.add(function(b, c), alpha=value).cast(dtype)


def usum(self: Tensor, *others: Tensor | Number) -> Tensor:
    """This and all others added, one after another; of bools, whether any holds."""
    total = self
    for x in others:
        total = total.bitwise_or(x) if self.dtype is dtypes.bool else total.add(x)
    return total


def uprod(self: Tensor, *others: Tensor | Number) -> Tensor:
    """This and all others multiplied, one after another; of bools, whether all hold."""
    total = self
    for x in others:
        total = total.bitwise_and(x) if self.dtype is dtypes.bool else total.mul(x)
    return total


def maximum(self: Tensor, x: Tensor | Number) -> Tensor:
    """The larger of two."""
    return binary(self, Ops.MAX, x)


def minimum(self: Tensor, x: Tensor | Number) -> Tensor:
    """The smaller of two."""
    a, b = meet(self, x)
    if dtypes.is_float(a.dtype):
        return binary(a.neg(), Ops.MAX, b.neg()).neg()
    if dtypes.is_bool(a.dtype):
        return binary(a, Ops.AND, b)
    return b.lt(a).where(b, a)


def neg(self: Tensor) -> Tensor:
    """Minus; of unsigned integers modulo 2^bits. Raises DTypeError for bools."""
    if dtypes.is_bool(self.dtype):
        raise DTypeError("minus of bools", hint="use logical_not or ~")
    return self.mul(-1) if dtypes.is_unsigned(self.dtype) else unary(self, Ops.NEG)


def where(self: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor:
    """x where this holds (a number: where it is not 0), y elsewhere."""
    condition = self if dtypes.is_bool(self.dtype) else self.ne(0)
    if isinstance(x, TensorBase):
        a, b = meet(x, y)
    elif isinstance(y, TensorBase):
        b, a = meet(y, x)
    else:
        kinds = [v.dtype if isinstance(v, UOp) else dtypes.from_py(v) for v in (x, y)]
        both = tensor_of(type(self), UOp.full((), 0, least_upper_dtype(*kinds), self.device))
        a, b = (operand(both, v) for v in (x, y))
    operand(self, a)
    condition, a, b = fitted(condition, a, b)
    shape = broadcast_shape(condition.shape, a.shape)
    condition, a, b = (broadcast(v, shape) for v in (condition, a, b))
    return make(a, condition.uop.where(a.uop, b.uop), b)


def or_zero(self: Tensor, mask: Tensor) -> Tensor:
    """This where the mask holds, zero elsewhere; bools stay bools."""
    return mask.where(self, False if dtypes.is_bool(self.dtype) else 0)


def masked_fill(self: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """`value` where the mask holds. Raises DTypeError for a mask that is not of bools."""
    return as_mask(mask, "masked_fill").where(value, self)


def as_mask(self: Tensor, name: str) -> Tensor:
    if not dtypes.is_bool(self.dtype):
        raise DTypeError(
            f"{name} with a mask of {self.dtype}", hint="compare it with something, or mask.bool()"
        )
    return self


# comparisons: NaN equals nothing, and is neither less nor greater


def eq(self: Tensor, x: Tensor | Number) -> Tensor:
    """Whether equal."""
    return binary(self, Ops.CMPEQ, x)


def ne(self: Tensor, x: Tensor | Number) -> Tensor:
    """Whether different."""
    return binary(self, Ops.CMPNE, x)


def lt(self: Tensor, x: Tensor | Number) -> Tensor:
    """self < x"""
    return binary(self, Ops.CMPLT, x)


def gt(self: Tensor, x: Tensor | Number) -> Tensor:
    """self > x"""
    return binary(self, Ops.CMPLT, x, True)


def le(self: Tensor, x: Tensor | Number) -> Tensor:
    """self <= x"""
    a, b = meet(self, x)
    if dtypes.is_float(a.dtype):
        return binary(a.lt(b), Ops.OR, a.eq(b))
    return a.gt(b).logical_not()


def ge(self: Tensor, x: Tensor | Number) -> Tensor:
    """self >= x"""
    a, b = meet(self, x)
    return b.le(a)


def logical_not(self: Tensor) -> Tensor:
    """Whether zero or False."""
    return self.cast(dtypes.bool).ne(True)


def logical_and(self: Tensor, x: Tensor | Number) -> Tensor:
    """Whether both are neither zero nor False."""
    return self.cast(dtypes.bool).bitwise_and(operand(self, x).cast(dtypes.bool))


def logical_or(self: Tensor, x: Tensor | Number) -> Tensor:
    """Whether one is neither zero nor False."""
    return self.cast(dtypes.bool).bitwise_or(operand(self, x).cast(dtypes.bool))


def logical_xor(self: Tensor, x: Tensor | Number) -> Tensor:
    """Whether one is zero or False, and the other is not."""
    return self.cast(dtypes.bool).bitwise_xor(operand(self, x).cast(dtypes.bool))


# bits


def _bitwise(self: Tensor, op: Ops, x: Tensor | Number, reverse: bool = False) -> Tensor:
    a, b = meet(self, x)
    if dtypes.is_float(a.dtype):
        raise DTypeError(f"{op.name} of {a.dtype}", hint="bit operations take integers and bools")
    return binary(a, op, b, reverse)


def bitwise_and(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """Bits set in both."""
    return _bitwise(self, Ops.AND, x, reverse)


def bitwise_or(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """Bits set in one or both."""
    return _bitwise(self, Ops.OR, x, reverse)


def bitwise_xor(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """Bits set in one, not in both."""
    return _bitwise(self, Ops.XOR, x, reverse)


def bitwise_not(self: Tensor) -> Tensor:
    """All bits changed; of bools: not."""
    if dtypes.is_bool(self.dtype):
        return self.logical_not()
    return _bitwise(self, Ops.XOR, dtypes.max(self.dtype) if dtypes.is_unsigned(self.dtype) else -1)


def lshift(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """Bits moved up; zeros come in."""
    return _bitwise(self, Ops.SHL, x, reverse)


def rshift(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """Bits moved down; copies of the sign come in for signed dtypes, zeros for unsigned."""
    return _bitwise(self, Ops.SHR, x, reverse)
