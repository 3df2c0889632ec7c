"""Operations: arithmetic of narrow integers and of floats that may be NaN is made of what WGSL has.

Raises CompileError for float64, of which nothing in WGSL is a substitute.
"""

from __future__ import annotations

from typing import Final

from core.dtype import dtypes
from core.errors import CompileError
from core.passes.wgsl.floats import floats
from core.passes.wgsl.integers import integers
from core.target import Target
from core.uop import UOp, graph_rewrite
from core.uop.show import excerpt

_operations: Final = integers + floats


def operations(sink: UOp, target: Target) -> UOp:
    """The kernel with operations of WGSL. Raises CompileError where it has a float64."""
    for u in sink.toposort():
        if u.dtype.base.scalar() is dtypes.float64:
            origin = f"\nfrom {u.origin}" if u.origin else ""
            raise CompileError(
                "WebGPU has no float64",
                where=excerpt(u) + origin,
                hint="compute in float32 (.float()), or run this kernel on another device",
            )
    return graph_rewrite(sink, _operations, target, name="wgsl: operations")
