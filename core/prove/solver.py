"""Whether z3 is there, which is optional. Never asks it anything."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

HINT: Final = 'pip install "uopviz[check]" to have integers proved with z3'


@cache
def solver_module() -> Any:
    """The module z3; None where it is not installed."""
    try:
        return importlib.import_module("z3")
    except ImportError:
        return None
