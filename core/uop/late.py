"""Methods of UOp that need layers above it: found there when they are first called.

`u.simplify()` and `u.render()` are methods, while the rules and the printer that they call are
built from UOps.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final, Generic

from core.uop.node import N

_HOMES: Final = {"simplify": "core.uop.symbolic", "render": "core.uop.show"}
"""The module of each."""


class Late(Generic[N]):
    """The functions behind `UOp.simplify` and `UOp.render`."""

    simplify: Callable[[N], N]
    render: Callable[[N], str]

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(name)
        found = getattr(importlib.import_module(_HOMES[name]), name)
        setattr(self, name, found)
        return found
