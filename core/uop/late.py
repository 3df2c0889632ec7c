"""Methods of UOp that need layers above it: filled in by `core/uop/__init__.py`, in one place.

`u.simplify()` and `u.render()` are methods, while the rules and the printer that they call are
built from UOps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.uop.uop import UOp


class Late:
    """The functions behind `UOp.simplify` and `UOp.render`."""

    simplify: Callable[[UOp], UOp]
    render: Callable[[UOp], str]


late = Late()
