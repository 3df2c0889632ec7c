"""Value bounds. (First version: the dtype's.)"""
from __future__ import annotations
from typing import TYPE_CHECKING
from core.dtype import ConstType, dtypes
if TYPE_CHECKING:
    from core.uop.uop import UOp
def bounds(u: UOp) -> tuple[ConstType, ConstType]:
    """(smallest, largest) value."""
    return dtypes.min(u.dtype), dtypes.max(u.dtype)
