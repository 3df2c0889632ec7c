"""The tensor compiler: Tensor programs become kernels by rewriting one graph of UOps.

Tensors, devices, `nn` and `TinyJit` are imported when they are asked for: a viewer of traces, and a
program that only rewrites graphs, need none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from core.dtype import dtypes as dtypes
from core.helpers import Context as Context
from core.observers import start_observers
from core.uop.uop import UOp as UOp

if TYPE_CHECKING:
    from core import nn as nn
    from core.jit import TinyJit as TinyJit
    from core.runtime.device import Device as Device
    from core.tensor import Tensor as Tensor

Variable = UOp.variable
"""An integer given at launch: `Variable(name, low, high)`."""

_HOMES: Final = {"Device": "core.runtime.device", "Tensor": "core.tensor", "TinyJit": "core.jit"}


def __getattr__(name: str) -> object:
    if name == "nn":
        return importlib.import_module("core.nn")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "nn"})


start_observers()
