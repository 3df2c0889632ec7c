"""Operations: arithmetic, comparisons and choices that PTX has no instruction for are made of those
that it has."""

from __future__ import annotations

from typing import Final

from core.passes.ptx.bools import bools
from core.passes.ptx.halves import halves
from core.passes.ptx.integers import integers
from core.target import Target
from core.uop import UOp, graph_rewrite

_operations: Final = bools + integers + halves


def operations(sink: UOp, target: Target) -> UOp:
    """The kernel with operations of PTX."""
    return graph_rewrite(sink, _operations, target, name="ptx: operations")
