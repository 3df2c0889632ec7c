"""What a product of matrices (WMMA) may look like: over loops first, then of vectors.

The rules are in the specs of `rules.py`. Nothing here changes a graph.
"""

from __future__ import annotations

from core.tensor_cores import TensorCore
from core.uop.ops import Ops
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp


@rule(UPat(Ops.WMMA, src=(UPat.var("a"), UPat.var("b"), UPat.var("c")), name="u"))
def wmma_spec(u: UOp, a: UOp, b: UOp, c: UOp) -> bool | None:
    """WMMA of vectors multiplies what lanes hold of a and b and adds c: one tile or several"""
    core = u.arg
    if not isinstance(core, TensorCore) or c.op is Ops.RANGE:
        return None
    kinds = (core.dtype_in, core.dtype_in, core.dtype_out)
    tiles = u.dtype.count // core.c.count
    return (
        u.dtype == c.dtype
        and tiles > 0
        and all(
            s.dtype == kind.vec(part.count * tiles)
            for s, kind, part in zip(u.src, kinds, core.fragments, strict=True)
        )
    )


@rule(UPat(Ops.WMMA, src=(UPat.var("a"), UPat.var("b")), allow_any_len=True, name="u"))
def wmma_loop_spec(u: UOp, a: UOp, b: UOp) -> bool:
    """WMMA of single elements has loops over what lanes hold of a, of b and of the product"""
    core = u.arg
    if not isinstance(core, TensorCore):
        return False
    sizes = [part.count for part in core.fragments if part.count > 1]
    loops = u.src[2:]
    whole = [r.op is Ops.RANGE and r.src[0].arg == n for r, n in zip(loops, sizes, strict=False)]
    kinds = a.dtype == b.dtype == core.dtype_in and u.dtype == core.dtype_out
    return kinds and len(loops) == len(sizes) and all(whole)
