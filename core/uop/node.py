"""`Node`: what modules below `UOp` may know of a node, declared once for the type checker.

Holds no behaviour; `UOp` implements all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from core.dtype import ConstType, DType, dtypes
from core.uop.ops import Ops

Shape = tuple[int, ...]
DeviceName = str | tuple[str, ...]
"""The name of a device, or of several that each hold a part or a copy of a value."""


class Node:
    """A node, as far as it is known below `UOp`."""

    __slots__ = ()

    if TYPE_CHECKING:
        op: Ops
        dtype: DType
        src: tuple[Self, ...]
        arg: Any
        tag: Any
        origin: str | None

        def __new__(
            cls,
            op: Ops,
            dtype: DType = dtypes.void,
            src: tuple[Self, ...] = (),
            arg: Any = None,
            tag: Any = None,
        ) -> Self: ...

        @property
        def shape(self) -> Shape | None: ...
        @property
        def shaped(self) -> Shape: ...
        @property
        def device(self) -> DeviceName | None: ...
        @property
        def axis(self) -> int | None: ...
        @property
        def bounds(self) -> tuple[ConstType, ConstType]: ...
        @property
        def vmin(self) -> ConstType: ...
        @property
        def vmax(self) -> ConstType: ...
        @property
        def lengths(self) -> tuple[tuple[int, Self], ...]: ...
        @property
        def ranges(self) -> frozenset[Self]: ...
        def const_like(self, value: ConstType) -> Self: ...


N = TypeVar("N", bound=Node)
"""A kind of node: what is asked about nodes of a kind is answered with nodes of that kind."""
