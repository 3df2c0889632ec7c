"""The operators and elementwise methods of a UOp: each builds one node.

Builds nodes as they are asked for; never simplifies and never promotes a dtype.
"""

from __future__ import annotations

from typing import Self, cast

from core.dtype import ConstType, DTypeLike, dtypes, to_dtype
from core.errors import DTypeError
from core.uop.node import Node
from core.uop.ops import GroupOp, Ops


class Arithmetic(Node):
    """Elementwise operations. Operands have one dtype; Python numbers take that of the other."""

    __slots__ = ()

    def _like(self, other: Self | ConstType) -> Self:
        return self.const_like(other) if isinstance(other, bool | int | float) else other

    def alu(self, op: Ops, *src: Self) -> Self:
        """`op` of this node and `src`. Raises DTypeError where operand dtypes differ."""
        operands = (self, *src)
        values = operands[1:] if op is Ops.WHERE else operands
        if any(v.dtype is not values[0].dtype for v in values[1:]):
            raise DTypeError(
                f"{op.name} of " + " and ".join(str(v.dtype) for v in values),
                where=self.origin or "",
                hint="cast one of them",
            )
        dtype = values[0].dtype
        if op in GroupOp.Comparison:
            dtype = dtypes.bool.vec(dtype.count)
        return type(self)(op, dtype, operands)

    def _binary(self, op: Ops, other: Self | ConstType, swapped: bool = False) -> Self:
        other = self._like(other)
        return other.alu(op, self) if swapped else self.alu(op, other)

    def _operator(self, op: Ops, other: object, swapped: bool = False) -> Self:
        """What an operator gives: it leaves operands of other types, such as Tensors, to them."""
        if isinstance(other, Node | bool | int | float):
            return self._binary(op, cast("Self | ConstType", other), swapped)
        return NotImplemented

    def __add__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.ADD, x)

    def __radd__(self, x: ConstType) -> Self:
        return self._operator(Ops.ADD, x, True)

    def __sub__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.SUB, x)

    def __rsub__(self, x: ConstType) -> Self:
        return self._operator(Ops.SUB, x, True)

    def __mul__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.MUL, x)

    def __rmul__(self, x: ConstType) -> Self:
        return self._operator(Ops.MUL, x, True)

    def __truediv__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.FDIV, x)

    def __rtruediv__(self, x: ConstType) -> Self:
        return self._operator(Ops.FDIV, x, True)

    def __floordiv__(self, x: Self | ConstType) -> Self:
        """Truncates toward zero, as C does, not as Python does."""
        return self._operator(Ops.IDIV, x)

    def __rfloordiv__(self, x: ConstType) -> Self:
        """Truncates toward zero, as `x // y` of two nodes does."""
        return self._operator(Ops.IDIV, x, True)

    def __rmod__(self, x: ConstType) -> Self:
        return self._operator(Ops.MOD, x, True)

    def __mod__(self, x: Self | ConstType) -> Self:
        """Has the sign of the dividend, as in C, not as in Python."""
        return self._operator(Ops.MOD, x)

    def __and__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.AND, x)

    def __or__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.OR, x)

    def __xor__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.XOR, x)

    def __lshift__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.SHL, x)

    def __rshift__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.SHR, x)

    def __lt__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.CMPLT, x)

    def __gt__(self, x: Self | ConstType) -> Self:
        return self._operator(Ops.CMPLT, x, True)

    def __ge__(self, x: Self | ConstType) -> Self:
        """Not less: true where either side is NaN."""
        return (self < x).logical_not()

    def __le__(self, x: Self | ConstType) -> Self:
        """Not greater: true where either side is NaN."""
        return (self > x).logical_not()

    def __neg__(self) -> Self:
        return self.neg()

    def ne(self, x: Self | ConstType) -> Self:
        """Elementwise inequality (`!=` compares nodes)."""
        return self._binary(Ops.CMPNE, x)

    def eq(self, x: Self | ConstType) -> Self:
        """Elementwise equality (`==` compares nodes)."""
        return self._binary(Ops.CMPEQ, x)

    def maximum(self, x: Self | ConstType) -> Self:
        """The larger of two."""
        return self._binary(Ops.MAX, x)

    def minimum(self, x: Self | ConstType) -> Self:
        """The smaller of two, for any dtype: WHERE(x < self, x, self)."""
        other = self._like(x)
        return (other < self).where(other, self)

    def where(self, yes: Self, no: Self | ConstType) -> Self:
        """`yes` where this (bool) holds, else `no`."""
        return self.alu(Ops.WHERE, yes, yes._like(no))

    def neg(self) -> Self:
        """Minus."""
        return self.alu(Ops.NEG)

    def recip(self) -> Self:
        """1 / x."""
        return self.alu(Ops.RECIPROCAL)

    def exp2(self) -> Self:
        """2 ** x."""
        return self.alu(Ops.EXP2)

    def log2(self) -> Self:
        """Logarithm to base 2."""
        return self.alu(Ops.LOG2)

    def sin(self) -> Self:
        """Sine of radians."""
        return self.alu(Ops.SIN)

    def cos(self) -> Self:
        """Cosine of radians."""
        return self.alu(Ops.COS)

    def sqrt(self) -> Self:
        """Square root."""
        return self.alu(Ops.SQRT)

    def trunc(self) -> Self:
        """Rounded toward zero."""
        return self.alu(Ops.TRUNC)

    def logical_not(self) -> Self:
        """The other truth value."""
        return self.ne(self.const_like(True))

    def cast(self, dtype: DTypeLike) -> Self:
        """The value as another dtype; of a vector, element by element."""
        target = to_dtype(dtype)
        if target.count == 1 and self.dtype.count > 1:
            target = target.vec(self.dtype.count)
        return self if target is self.dtype else type(self)(Ops.CAST, target, (self,))

    def bitcast(self, dtype: DTypeLike) -> Self:
        """The same bits as another dtype."""
        target = to_dtype(dtype)
        return self if target is self.dtype else type(self)(Ops.BITCAST, target, (self,))
