"""What the parts of `UOp` may rely on: its fields, declared once for the type checker.

Holds no behaviour; `UOp` implements all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from core.dtype import DType, dtypes

if TYPE_CHECKING:
    from core.dtype import ConstType
    from core.uop.ops import Ops


class Node:
    """The fields of a node, for the mixins that `UOp` is put together from."""

    __slots__ = ()

    if TYPE_CHECKING:
        op: Ops
        dtype: DType
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
        def shape(self) -> tuple[int, ...] | None: ...
        @property
        def shaped(self) -> tuple[int, ...]: ...
        def const_like(self, value: ConstType) -> Self: ...
