"""Lower to WGSL: what WGSL has no words for becomes what it has, by rules.

WGSL computes with bool, integers of 32 bits and float32. Afterwards `core/render/wgsl.py` finds a
text for each node in a table. Every pass keeps the meaning of `core/uop/facts/meaning.py`, so that
the reference runs the program before and after.
"""

from __future__ import annotations

from core.passes.wgsl.narrow import narrowed
from core.passes.wgsl.operations import operations
from core.passes.wgsl.pairs import pairs

__all__ = ["narrowed", "operations", "pairs"]
