"""Python's operators on Tensors.

Each is one named method of the layer below; nothing is defined here but the spelling.
"""

from __future__ import annotations

from typing import Self, cast

from core.tensor.elements.division import Division
from core.tensor.state.base import Number


class Operators(Division):
    """`a + b` and the like. `/` divides to floats, `//` and `%` round down as in Python."""

    __slots__ = ()
    __hash__ = Division.__hash__

    def __neg__(self) -> Self:
        return self.neg()

    def __pos__(self) -> Self:
        return self._same_value()

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __add__(self, x: Self | Number) -> Self:
        return self.add(x)

    def __radd__(self, x: Self | Number) -> Self:
        return self.add(x, reverse=True)

    def __sub__(self, x: Self | Number) -> Self:
        return self.sub(x)

    def __rsub__(self, x: Self | Number) -> Self:
        return self.sub(x, reverse=True)

    def __mul__(self, x: Self | Number) -> Self:
        return self.mul(x)

    def __rmul__(self, x: Self | Number) -> Self:
        return self.mul(x, reverse=True)

    def __truediv__(self, x: Self | Number) -> Self:
        return self.div(x)

    def __rtruediv__(self, x: Self | Number) -> Self:
        return self.div(x, reverse=True)

    def __mod__(self, x: Self | Number) -> Self:
        return self.mod(x)

    def __rmod__(self, x: Self | Number) -> Self:
        return self.mod(x, reverse=True)

    def __lshift__(self, x: Self | Number) -> Self:
        return self.lshift(x)

    def __rlshift__(self, x: Self | Number) -> Self:
        return self.lshift(x, reverse=True)

    def __rshift__(self, x: Self | Number) -> Self:
        return self.rshift(x)

    def __rrshift__(self, x: Self | Number) -> Self:
        return self.rshift(x, reverse=True)

    def __and__(self, x: Self | Number) -> Self:
        return self.bitwise_and(x)

    def __rand__(self, x: Self | Number) -> Self:
        return self.bitwise_and(x)

    def __or__(self, x: Self | Number) -> Self:
        return self.bitwise_or(x)

    def __ror__(self, x: Self | Number) -> Self:
        return self.bitwise_or(x)

    def __xor__(self, x: Self | Number) -> Self:
        return self.bitwise_xor(x)

    def __rxor__(self, x: Self | Number) -> Self:
        return self.bitwise_xor(x)

    def __floordiv__(self, x: Self | Number) -> Self:
        return self.div(x, rounding_mode="floor")

    def __rfloordiv__(self, x: Self | Number) -> Self:
        return self.div(x, reverse=True, rounding_mode="floor")

    def __lt__(self, x: Self | Number) -> Self:
        return self.lt(x)

    def __le__(self, x: Self | Number) -> Self:
        return self.le(x)

    def __gt__(self, x: Self | Number) -> Self:
        return self.gt(x)

    def __ge__(self, x: Self | Number) -> Self:
        return self.ge(x)

    def __eq__(self, x: object) -> Self:  # type: ignore[override]
        return self.eq(cast("Self | Number", x))

    def __ne__(self, x: object) -> Self:  # type: ignore[override]
        return self.ne(cast("Self | Number", x))

    # In place: this Tensor takes the result, and with it all that is a view of it or that it is a
    # view of, as in NumPy. See `assign`.

    def __iadd__(self, x: Self | Number) -> Self:
        return self._take_result(self.add(x))

    def __isub__(self, x: Self | Number) -> Self:
        return self._take_result(self.sub(x))

    def __imul__(self, x: Self | Number) -> Self:
        return self._take_result(self.mul(x))

    def __itruediv__(self, x: Self | Number) -> Self:
        return self._take_result(self.div(x))

    def __ifloordiv__(self, x: Self | Number) -> Self:
        return self._take_result(self.div(x, rounding_mode="floor"))

    def __imod__(self, x: Self | Number) -> Self:
        return self._take_result(self.mod(x))

    def __ilshift__(self, x: Self | Number) -> Self:
        return self._take_result(self.lshift(x))

    def __irshift__(self, x: Self | Number) -> Self:
        return self._take_result(self.rshift(x))

    def __iand__(self, x: Self | Number) -> Self:
        return self._take_result(self.bitwise_and(x))

    def __ior__(self, x: Self | Number) -> Self:
        return self._take_result(self.bitwise_or(x))

    def __ixor__(self, x: Self | Number) -> Self:
        return self._take_result(self.bitwise_xor(x))
