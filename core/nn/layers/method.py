"""Layers and losses that are one method of Tensor, called with what the layer is made with."""

from __future__ import annotations

from typing import Any, ClassVar

from core.tensor import Tensor


class _Called:
    """The fields of a dataclass are arguments of the method, by their names."""

    _method: ClassVar[str]

    def __init_subclass__(cls, method: str = "") -> None:
        if method:
            cls._method = method

    def _call(self, x: Tensor, *tensors: Tensor) -> Tensor:
        """`inplace` is there for programs that give it, and changes nothing."""
        given: dict[str, Any] = {k: v for k, v in vars(self).items() if k != "inplace"}
        return getattr(x, self._method)(*tensors, **given)


class MethodOf(_Called):
    """A layer that is a method of its input."""

    def __call__(self, x: Tensor) -> Tensor:
        return self._call(x)


class Loss(_Called):
    """A loss that is a method of its input, given the target."""

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return self._call(x, target)
