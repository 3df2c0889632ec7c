"""Kernels written with tiles: a small language that builds the graph of a kernel from Python.

layout.py and swizzle.py say where elements lie; order.py, in which order memory is read and
written; tiles.py has the objects and kernel.py makes them; group.py has the operations, which
transfer.py, elementwise.py, reduce.py and product.py do. `kernels/` has kernels written with it.
"""

from __future__ import annotations

from core.tile.group import Group
from core.tile.kernel import Kernel
from core.tile.memory.layout import LAYOUTS, Layout
from core.tile.memory.swizzle import Swizzle
from core.tile.tiles import GL, RT, RV, ST, SV, Window

__all__ = [
    "GL",
    "LAYOUTS",
    "RT",
    "RV",
    "ST",
    "SV",
    "Group",
    "Kernel",
    "Layout",
    "Swizzle",
    "Window",
]
