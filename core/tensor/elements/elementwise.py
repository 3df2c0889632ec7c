"""Arithmetic, comparisons and bit operations of Tensors: broadcast, promote, build one node.

A Python number takes the dtype of the Tensor beside it, unless it is a float beside integers or an
int beside bools. Two Tensors meet in `least_upper_dtype`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from core.dtype import ConstType, DType, dtypes, least_upper_dtype, least_upper_float
from core.errors import DeviceError, DTypeError, ShapeError
from core.runtime.disk.device import is_disk
from core.tensor.calls.origin import here
from core.tensor.state.base import Number, Shape, TensorBase
from core.tensor.state.sharding import move_hint
from core.tensor.views.exchange import Exchange
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.shapes import shown
from core.uop.uop import UOp


def _met(uop: UOp, dtype: DType, shape: Shape) -> UOp:
    """An operand in the dtype and shape of all; no Tensor, for nobody else sees it. A constant
    without a shape is left without one: it takes part in every element."""
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
                where=here(),
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
        f"a Tensor does not combine with {type(value).__name__}",
        where=here(),
        hint="make a Tensor of it first",
    )


def scalar_dtype(value: ConstType, beside: DType) -> DType:
    """The dtype in which a Python number meets a Tensor of dtype `beside`."""
    if dtypes.is_float(beside) or (dtypes.is_int(beside) and not isinstance(value, float)):
        return beside
    return dtypes.bool if isinstance(value, bool) else dtypes.from_py(value)


def _computing(*tensors: TensorBase) -> DeviceName:
    """The device of the first that is in no file."""
    return next((t.device for t in tensors if not is_disk(t.device)), "CPU")


class Elementwise(Exchange):
    """Operations on elements at the same place. Operands broadcast to one shape.

    Raises ShapeError where shapes do not broadcast, DTypeError for a dtype that the operation does
    not take, DeviceError for operands on different devices.
    """

    __slots__ = ()

    def _operand(self, other: Self | Number) -> Self:
        """`other` as a Tensor; a number, or a value of bound variables, in the dtype in which it
        meets this one."""
        if isinstance(other, TensorBase):
            places = self.uop.device, other.uop.device
            if other.device != self.device and None not in places:
                raise DeviceError(
                    f"operands on {shown(self.device)} and on {shown(other.device)}",
                    where=here(),
                    hint=move_hint(_computing(self, other)),
                )
            return other
        if isinstance(other, UOp):
            return self._of_variables(other)
        value = number(other)
        dtype = scalar_dtype(value, self.dtype)
        if self.uop.device is None:  # of variables alone: it goes where the other operand is
            return type(self)._new(UOp.const(dtype, value), False)
        return type(self)._new(UOp.full((), value, dtype, self.device), False)

    def _of_variables(self, value: UOp) -> Self:
        """A value of bound variables, which takes part as a Python number of its kind does."""
        if value.shape != () or value.device is not None:
            raise DTypeError(
                f"a Tensor does not combine with {value.op.name}",
                where=here(),
                hint="it combines with bound variables and what is computed from them",
            )
        kind: ConstType = 0 if dtypes.is_int(value.dtype) else 0.0
        kind = False if dtypes.is_bool(value.dtype) else kind
        return type(self)._new(value.cast(scalar_dtype(kind, self.dtype)), False)

    def _meet(self, *others: Self | Number) -> list[Self]:
        """This and `others` in one shape and one dtype."""
        values = [self, *(self._operand(o) for o in others)]
        dtype = least_upper_dtype(*(v.dtype for v in values))
        shape = broadcast_shape(*(v.shape for v in values))
        return [v.cast(dtype)._broadcast_to(shape) for v in values]

    def _binary(self, op: Ops, other: Self | Number, reverse: bool = False) -> Self:
        b = self._operand(other)
        dtype = least_upper_dtype(self.dtype, b.dtype)
        shape = broadcast_shape(self.shape, b.shape)
        x, y = _met(self.uop, dtype, shape), _met(b.uop, dtype, shape)
        return self._make(y.alu(op, x) if reverse else x.alu(op, y), b)

    def _unary(self, op: Ops) -> Self:
        return self._make(self.uop.alu(op))

    def _as_float(self) -> Self:
        return self.cast(least_upper_float(self.dtype))

    def _wide(self, function: Callable[[Self], Self]) -> Self:
        """`function` of this as a float; in float32 for narrower ones, which would lose digits."""
        dtype = least_upper_float(self.dtype)
        wide = dtype if dtype.bits >= 32 else dtypes.float32
        return function(self.cast(wide)).cast(dtype)

    def _wide_with(self, other: Self | Number, function: Callable[[Self, Self], Self]) -> Self:
        """`function` of this and another as floats; as `_wide`."""
        a, b = self._as_float()._meet(other)
        wide = a.dtype if a.dtype.bits >= 32 else dtypes.float32
        return function(a.cast(wide), b.cast(wide)).cast(a.dtype)

    def _with_derivatives(self, *partial: tuple[Self, Self]) -> Self:
        """This, a function whose derivative by each argument is given: (argument, derivative), of
        the shape and dtype of this. Gradients do not see how this was computed."""
        pairs = [(argument.uop, slope.uop) for argument, slope in partial]
        return self._make(self.uop.derivative(*pairs), *(argument for argument, _ in partial))

    # arithmetic

    def add(self, x: Self | Number, reverse: bool = False, *, alpha: Number = 1) -> Self:
        """self + alpha x. Of bools: whether one holds."""
        return self._binary(Ops.ADD, self._times(x, alpha), reverse)

    def _times(self, x: Self | Number, alpha: Number) -> Self | Number:
        """alpha x, an operand of this."""
        return x if isinstance(alpha, int) and alpha == 1 else self._operand(x).mul(alpha)

    def sub(self, x: Self | Number, reverse: bool = False, *, alpha: Number = 1) -> Self:
        """self - alpha x. Raises DTypeError for bools."""
        a, b = self._meet(self._times(x, alpha))
        if dtypes.is_bool(a.dtype):
            raise DTypeError("minus of bools", where=here(), hint="use ^ or cast to int")
        return a._binary(Ops.SUB, b, reverse)

    def mul(self, x: Self | Number, reverse: bool = False) -> Self:
        """self * x. Of bools: whether both hold."""
        return self._binary(Ops.MUL, x, reverse)

    def addcmul(self, tensor1: Self, tensor2: Self, *, value: Number = 1) -> Self:
        """self + value * tensor1 * tensor2"""
        return self._plus(value, lambda b, c: b.mul(c), tensor1, tensor2)

    def _plus(
        self, value: Number, function: Callable[[Self, Self], Self], b: Self, c: Self
    ) -> Self:
        """self + value * function(b, c); of narrow floats in float32, rounded once."""
        dtype = least_upper_dtype(self.dtype, b.dtype, c.dtype)
        if not dtypes.is_float(dtype) or dtype.bits >= 32:
            return self.add(function(b, c), alpha=value)
        x, b, c = (t.cast(dtypes.float32) for t in (self, b, c))
        return x.add(function(b, c), alpha=value).cast(dtype)

    def usum(self, *others: Self | Number) -> Self:
        """This and all others added, one after another; of bools, whether any holds."""
        total = self
        for x in others:
            total = total.bitwise_or(x) if self.dtype is dtypes.bool else total.add(x)
        return total

    def uprod(self, *others: Self | Number) -> Self:
        """This and all others multiplied, one after another; of bools, whether all hold."""
        total = self
        for x in others:
            total = total.bitwise_and(x) if self.dtype is dtypes.bool else total.mul(x)
        return total

    def maximum(self, x: Self | Number) -> Self:
        """The larger of two."""
        return self._binary(Ops.MAX, x)

    def minimum(self, x: Self | Number) -> Self:
        """The smaller of two."""
        a, b = self._meet(x)
        if dtypes.is_float(a.dtype):
            return a.neg()._binary(Ops.MAX, b.neg()).neg()
        if dtypes.is_bool(a.dtype):
            return a._binary(Ops.AND, b)
        return b.lt(a).where(b, a)

    def neg(self) -> Self:
        """Minus; of unsigned integers modulo 2^bits. Raises DTypeError for bools."""
        if dtypes.is_bool(self.dtype):
            raise DTypeError("minus of bools", where=here(), hint="use logical_not or ~")
        return self.mul(-1) if dtypes.is_unsigned(self.dtype) else self._unary(Ops.NEG)

    def where(self, x: Self | Number, y: Self | Number) -> Self:
        """x where this holds (a number: where it is not 0), y elsewhere."""
        condition = self if dtypes.is_bool(self.dtype) else self.ne(0)
        if isinstance(x, TensorBase):
            a, b = x._meet(y)
        elif isinstance(y, TensorBase):
            b, a = y._meet(x)
        else:
            kinds = [v.dtype if isinstance(v, UOp) else dtypes.from_py(v) for v in (x, y)]
            both = self._new(UOp.full((), 0, least_upper_dtype(*kinds), self.device))
            a, b = (both._operand(v) for v in (x, y))
        self._operand(a)
        shape = broadcast_shape(self.shape, a.shape)
        condition, a, b = (v._broadcast_to(shape) for v in (condition, a, b))
        return a._make(condition.uop.where(a.uop, b.uop), b)

    def _or_zero(self, mask: Self) -> Self:
        """This where the mask holds, zero elsewhere; bools stay bools."""
        return mask.where(self, False if dtypes.is_bool(self.dtype) else 0)

    def masked_fill(self, mask: Self, value: Self | Number) -> Self:
        """`value` where the mask holds. Raises DTypeError for a mask that is not of bools."""
        return mask._as_mask("masked_fill").where(value, self)

    def _as_mask(self, name: str) -> Self:
        if not dtypes.is_bool(self.dtype):
            raise DTypeError(
                f"{name} with a mask of {self.dtype}",
                where=here(),
                hint="compare it with something, or mask.bool()",
            )
        return self

    # comparisons: NaN equals nothing, and is neither less nor greater

    def eq(self, x: Self | Number) -> Self:
        """Whether equal."""
        return self._binary(Ops.CMPEQ, x)

    def ne(self, x: Self | Number) -> Self:
        """Whether different."""
        return self._binary(Ops.CMPNE, x)

    def lt(self, x: Self | Number) -> Self:
        """self < x"""
        return self._binary(Ops.CMPLT, x)

    def gt(self, x: Self | Number) -> Self:
        """self > x"""
        return self._binary(Ops.CMPLT, x, True)

    def le(self, x: Self | Number) -> Self:
        """self <= x"""
        a, b = self._meet(x)
        if dtypes.is_float(a.dtype):
            return a.lt(b)._binary(Ops.OR, a.eq(b))
        return a.gt(b).logical_not()

    def ge(self, x: Self | Number) -> Self:
        """self >= x"""
        a, b = self._meet(x)
        return b.le(a)

    def logical_not(self) -> Self:
        """Whether zero or False."""
        return self.cast(dtypes.bool).ne(True)

    def logical_and(self, x: Self | Number) -> Self:
        """Whether both are neither zero nor False."""
        return self.cast(dtypes.bool).bitwise_and(self._operand(x).cast(dtypes.bool))

    def logical_or(self, x: Self | Number) -> Self:
        """Whether one is neither zero nor False."""
        return self.cast(dtypes.bool).bitwise_or(self._operand(x).cast(dtypes.bool))

    def logical_xor(self, x: Self | Number) -> Self:
        """Whether one is zero or False, and the other is not."""
        return self.cast(dtypes.bool).bitwise_xor(self._operand(x).cast(dtypes.bool))

    # bits

    def _bitwise(self, op: Ops, x: Self | Number, reverse: bool = False) -> Self:
        a, b = self._meet(x)
        if dtypes.is_float(a.dtype):
            raise DTypeError(
                f"{op.name} of {a.dtype}",
                where=here(),
                hint="bit operations take integers and bools",
            )
        return a._binary(op, b, reverse)

    def bitwise_and(self, x: Self | Number, reverse: bool = False) -> Self:
        """Bits set in both."""
        return self._bitwise(Ops.AND, x, reverse)

    def bitwise_or(self, x: Self | Number, reverse: bool = False) -> Self:
        """Bits set in one or both."""
        return self._bitwise(Ops.OR, x, reverse)

    def bitwise_xor(self, x: Self | Number, reverse: bool = False) -> Self:
        """Bits set in one, not in both."""
        return self._bitwise(Ops.XOR, x, reverse)

    def bitwise_not(self) -> Self:
        """All bits changed; of bools: not."""
        if dtypes.is_bool(self.dtype):
            return self.logical_not()
        return self._bitwise(
            Ops.XOR, dtypes.max(self.dtype) if dtypes.is_unsigned(self.dtype) else -1
        )

    def lshift(self, x: Self | Number, reverse: bool = False) -> Self:
        """Bits moved up; zeros come in."""
        return self._bitwise(Ops.SHL, x, reverse)

    def rshift(self, x: Self | Number, reverse: bool = False) -> Self:
        """Bits moved down; copies of the sign come in for signed dtypes, zeros for unsigned."""
        return self._bitwise(Ops.SHR, x, reverse)
