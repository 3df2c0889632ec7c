"""The Tensor-level methods of a UOp: movements, reduction, and what makes values real.

Checks shapes when a node is made, at the caller. Never moves or computes an element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from core.shape import ShapeTracker
from core.uop.node import DeviceName, Node
from core.uop.ops import Ops


class Movement(Node):
    """Tensor-level operations on one value."""

    __slots__ = ()

    def _move(self, op: Ops, arg: tuple[Any, ...], same: bool) -> Self:
        if same:
            return self
        return type(self)(op, self.dtype, (self,), arg).possible()

    def possible(self) -> Self:
        """Itself: what is impossible raises here, at the caller, and not where its shape is first
        asked for. Raises ShapeError."""
        _ = self.shaped, self.lengths
        return self

    def reshape(self, shape: Iterable[int]) -> Self:
        """The same elements in row-major order under another shape."""
        arg = tuple(shape)
        return self._move(Ops.RESHAPE, arg, arg == self.shape)

    def permute(self, axes: Iterable[int]) -> Self:
        """Axes in another order."""
        arg = tuple(axes)
        return self._move(Ops.PERMUTE, arg, arg == tuple(range(len(self.shaped))))

    def expand(self, shape: Iterable[int]) -> Self:
        """Axes of length 1 repeated."""
        arg = tuple(shape)
        return self._move(Ops.EXPAND, arg, arg == self.shape)

    def pad(self, amounts: Iterable[tuple[int, int]]) -> Self:
        """Zeros (before, after) each axis."""
        arg = tuple(amounts)
        return self._move(
            Ops.PAD, arg, all(p == (0, 0) for p in arg) and len(arg) == len(self.shaped)
        )

    def shrink(self, bounds: Iterable[tuple[int, int]]) -> Self:
        """The part (start, end) of each axis."""
        arg = tuple(bounds)
        return self._move(Ops.SHRINK, arg, arg == tuple((0, n) for n in self.shaped))

    def flip(self, axes: Iterable[bool]) -> Self:
        """Axes reversed where true."""
        arg = tuple(bool(a) for a in axes)
        return self._move(Ops.FLIP, arg, not any(arg) and len(arg) == len(self.shaped))

    def view(self, st: ShapeTracker) -> Self:
        """Any chain of movements at once."""
        return type(self)(Ops.VIEW, self.dtype, (self,), st)

    def r(self, op: Ops, axes: Iterable[int]) -> Self:
        """Reduce over `axes`, which stay as length 1."""
        arg = tuple(sorted(axes))
        return self._move(Ops.REDUCE_AXIS, (op, arg), not arg)

    def contiguous(self) -> Self:
        """The value in memory of its own, in row-major order."""
        return type(self)(Ops.CONTIGUOUS, self.dtype, (self,))

    def contiguous_backward(self) -> Self:
        """Itself; the gradient through it is made contiguous."""
        return type(self)(Ops.CONTIGUOUS_BACKWARD, self.dtype, (self,))

    def fuse(self) -> Self:
        """Itself, computed in one kernel."""
        return type(self)(Ops.FUSE, self.dtype, (self,))

    def length(self, axis: int, n: Self) -> Self:
        """Itself, of which only the first `n` elements along `axis` count. Raises ShapeError."""
        return type(self)(Ops.LENGTH, self.dtype, (self, n), axis).possible()

    def detach(self) -> Self:
        """Itself, without gradient."""
        return type(self)(Ops.DETACH, self.dtype, (self,))

    def derivative(self, *partial: tuple[Self, Self]) -> Self:
        """Itself, a function with these (argument, derivative by that argument)."""
        pairs = (u for pair in partial for u in pair)
        return type(self)(Ops.DERIVATIVE, self.dtype, (self, *pairs))

    def derivative_by(self, function: Callable[..., Any], *arguments: Self) -> Self:
        """Itself, a function of these; function(gradient, arguments) gives the gradient of each."""
        return type(self)(Ops.DERIVATIVE, self.dtype, (self, *arguments), function)

    def copy_to_device(self, device: DeviceName) -> Self:
        """The value on another device."""
        return type(self)(Ops.COPY, self.dtype, (self, type(self)(Ops.DEVICE, arg=device)))

    def assign(self, value: Self) -> Self:
        """This buffer (or view of one) after `value` was stored in it."""
        return type(self)(Ops.ASSIGN, self.dtype, (self, value))
