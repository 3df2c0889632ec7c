"""Python's operators on Tensors, and the methods in place: other spellings of a method.

In place, a Tensor takes the result of the method, as `x += y` does. With it change all that is a
view of the Tensor or that it is a view of, and gradients flow from the new values to what they were
computed from. None changes a shape or a dtype: DTypeError for a result of another kind, such as
floats for integers; ShapeError where the result is larger, and for views that repeat elements; and
GradientError for a leaf that requires a gradient, outside of `Tensor.no_grad()`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias

from core.tensor.running.execution import take_result
from core.tensor.state.base import Number, same_value

if TYPE_CHECKING:
    from core.tensor import Tensor

P = ParamSpec("P")
Binary: TypeAlias = "Callable[[Tensor, Tensor | Number], Tensor]"


def operator_of(function: Callable[..., Tensor], **options: Any) -> Binary:
    """`x + y` of the method `add`."""

    def operator(self: Tensor, x: Tensor | Number) -> Tensor:
        return function(self, x, **options)

    return operator


def operators_of(
    function: Callable[..., Tensor], commutes: bool = False, **options: Any
) -> tuple[Binary, Binary, Binary]:
    """`x + y`, `y + x` and `x += y` of the method `add`."""
    plain = operator_of(function, **options)
    swapped = plain if commutes else operator_of(function, **options, reverse=True)

    def storing(self: Tensor, x: Tensor | Number) -> Tensor:
        return take_result(self, plain(self, x))

    return plain, swapped, storing


def in_place(
    function: Callable[Concatenate[Tensor, P], Tensor],
) -> Callable[Concatenate[Tensor, P], Tensor]:
    """A method that stores what `function` gives in the Tensor and returns the Tensor."""

    @functools.wraps(function)
    def method(self: Tensor, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        return take_result(self, function(self, *args, **kwargs))

    method.__doc__ = f"`{function.__name__}`, stored in this Tensor."
    method.__name__ = f"{function.__name__}_"
    return method


def __pos__(self: Tensor) -> Tensor:
    return same_value(self)
