"""Casts by name: `x.float()` and the like.

Apart from the other layers because these names hide the builtins inside a class body.
"""

from __future__ import annotations

from typing import Self

from core.dtype import dtypes
from core.tensor.state.base import TensorBase


class Shortcuts(TensorBase):
    """A method per common dtype; each is `cast` to it."""

    __slots__ = ()

    def float(self) -> Self:
        """As float32."""
        return self.cast(dtypes.float32)

    def half(self) -> Self:
        """As float16."""
        return self.cast(dtypes.float16)

    def bfloat16(self) -> Self:
        """As bfloat16."""
        return self.cast(dtypes.bfloat16)

    def double(self) -> Self:
        """As float64."""
        return self.cast(dtypes.float64)

    def int(self) -> Self:
        """As int32."""
        return self.cast(dtypes.int32)

    def long(self) -> Self:
        """As int64."""
        return self.cast(dtypes.int64)

    def short(self) -> Self:
        """As int16."""
        return self.cast(dtypes.int16)

    def bool(self) -> Self:
        """Whether each element differs from zero."""
        return self.cast(dtypes.bool)
