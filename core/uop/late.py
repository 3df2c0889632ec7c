"""Methods of UOp that need layers above it: filled in by `core/uop/__init__.py`, in one place.

`u.simplify()` and `u.render()` are methods, while the rules and the printer that they call are
built from UOps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from core.uop.node import N


class Late(Generic[N]):
    """The functions behind `UOp.simplify` and `UOp.render`."""

    simplify: Callable[[N], N]
    render: Callable[[N], str]
