"""The tensor compiler: Tensor programs become kernels by rewriting one graph of UOps.

Each name is imported when it is asked for: a program that only rewrites graphs needs no Tensors, a
viewer of traces no graphs, and the command line, until it has one to open, not even NumPy.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Final

from core.helpers import Context as Context
from core.misspelled import say_misspelled
from core.observers import start_observers

if TYPE_CHECKING:
    from core import nn as nn
    from core.capture.jit import TinyJit as TinyJit
    from core.dtype import dtypes as dtypes
    from core.runtime.counters import GlobalCounters as GlobalCounters
    from core.runtime.device import Device as Device
    from core.tensor import Tensor as Tensor
    from core.uop.uop import UOp as UOp

    Variable = UOp.variable
    """An integer given at launch: `Variable(name, low, high)`."""

_HOMES: Final = {
    "Device": "core.runtime.device",
    "GlobalCounters": "core.runtime.counters",
    "Tensor": "core.tensor",
    "TinyJit": "core.capture.jit",
    "UOp": "core.uop.uop",
    "dtypes": "core.dtype",
}


def __getattr__(name: str) -> Any:
    if name == "nn":
        return importlib.import_module("core.nn")
    if name == "Variable":
        found = globals()[name] = __getattr__("UOp").variable
        return found
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "Variable", "nn"})


start_observers()
say_misspelled(os.environ)
