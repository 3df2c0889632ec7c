"""Lower to PTX: what PTX has no instruction for becomes what it has one for, by rules.

Afterwards `core/render/ptx.py` finds a line for each node in a table. Every pass keeps the meaning
of `core/uop/facts/meaning.py`, so that the reference runs the program before and after.
"""

from __future__ import annotations

from core.passes.ptx.casts import casts
from core.passes.ptx.copies import copies
from core.passes.ptx.memory import memory
from core.passes.ptx.operands import operands
from core.passes.ptx.operations import operations

__all__ = ["casts", "copies", "memory", "operands", "operations"]
