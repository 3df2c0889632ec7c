"""Decompose: ops and dtypes that the target has no arithmetic for become ones that it has.

Where it has images, their texels get two coordinates. The next rewrite replaces functions (exp2,
log2, sin, pow, threefry), narrow floats and missing
ops; the second picks what machines do well: subtraction, shifts, multiply-add. Afterwards every op
is one of the target's. Results are within the error that the module of each function states.
"""

from __future__ import annotations

from core.passes.decompose.fuse import fusing
from core.passes.decompose.replace import replacing
from core.passes.images import at_coordinates
from core.target import Target
from core.uop import UOp, graph_rewrite
from core.uop.symbolic import symbolic_simple

__all__ = ["decompose"]

_folding = replacing + symbolic_simple


def decompose(sink: UOp, target: Target) -> UOp:
    """The kernel in ops of the target."""
    sink = at_coordinates(sink, target)
    sink = graph_rewrite(sink, _folding, target, name="decompose")
    return graph_rewrite(sink, fusing, target, name="decompose: fuse")
