"""Copies: asynchronous stores of what was just loaded become copies that no register takes part in.

Where the target has none, or none of so many bytes, they stay stores. Keeps what is in memory after
each wait.
"""

from __future__ import annotations

from core.dtype import AddrSpace, dtypes
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.bits import to_bits
from core.uop.pointer import address_space
from core.uop.spec.flight import ASYNCHRONOUS

_load = UPat(Ops.LOAD, src=(UPat(Ops.INDEX, name="source"),), allow_any_len=True, name="load")
_place = UPat(Ops.INDEX, name="place")


@rule(UPat(Ops.STORE, arg=ASYNCHRONOUS, src=(_place, _load), allow_any_len=True, name="store"))
def copy_of_load(ctx: Target, store: UOp, place: UOp, load: UOp, source: UOp) -> UOp | None:
    """store(p, load(q if g, 0)) in time -> copy(p, q, g ? all bytes : 0)"""
    size = load.dtype.itemsize
    if size not in ctx.async_bytes or address_space(source) is not AddrSpace.GLOBAL:
        return None
    pointer, offset, *gate = source.src
    whole = UOp.const(dtypes.uint32, size)
    if gate and not _is_zero(load.src[1]):
        return None
    taken = gate[0].where(whole, whole.const_like(0)) if gate else whole
    src = (place, pointer.index(offset), taken, *store.src[2:])
    return UOp(Ops.COPY_ASYNC, dtypes.void, src, size)


def _is_zero(other: UOp) -> bool:
    """Whether all bits of a constant are 0: those of -0.0 are not."""
    if other.op is not Ops.CONST:
        return False
    return other.arg == 0 and to_bits(other.arg, other.dtype.scalar()) == 0


copying = PatternMatcher([copy_of_load], name="copies")


def copies(sink: UOp, target: Target) -> UOp:
    """The kernel with copies of PTX."""
    return graph_rewrite(sink, copying, target, name="ptx: copies")
