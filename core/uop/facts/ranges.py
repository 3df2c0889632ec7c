"""Which loops a node depends on.

Works on any object with the fields of a UOp; never creates a node.
"""

from __future__ import annotations

from core.uop.node import N
from core.uop.ops import Ops


def ranges_of(u: N) -> frozenset[N]:
    """The RANGEs that `u` needs and that are not ended (END), reduced (REDUCE) or gathered into
    operands (WMMA) below it."""
    if u.op is Ops.RANGE:
        return u.src[0].ranges | {u}
    none: frozenset[N] = frozenset()
    found = none
    for s in u.src:
        if s.ranges and s.ranges is not found:
            found = found | s.ranges if found and not s.ranges <= found else found or s.ranges
    if u.op in (Ops.END, Ops.REDUCE):
        found = found.difference(*({r} if r.op is Ops.RANGE else r.ranges for r in u.src[1:]))
    elif u.op is Ops.WMMA:  # its loops over elements of A and B; that of its own elements remains
        own = [r for r in u.src[2:] if r.op is Ops.RANGE]
        counts = [part.count > 1 for part in u.arg.fragments]
        found = found.difference(own[: sum(counts[:2])])
    return found
