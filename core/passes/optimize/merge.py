"""Merging loops: neighbours that every address walks through as one become one loop.

Never merges loops of different kinds or loops that a gate or a value (other than an address) looks
at one by one.
"""

from __future__ import annotations

from itertools import pairwise

from core.dtype import dtypes
from core.passes.optimize.access import accesses
from core.passes.optimize.kernel import OUTER, Kernel
from core.uop import Ops, UOp, graph_rewrite
from core.uop.kernelinfo import AxisType
from core.uop.symbolic import symbolic_index


def merge_loops(kernel: Kernel) -> None:
    """Merges while there are loops to merge: outer * n + inner, everywhere, becomes one loop."""
    while (pair := _mergeable(kernel)) is not None:
        outer, inner = pair
        n, m = outer.src[0].arg, inner.src[0].arg
        made = kernel.new_loop(n * m, inner.arg[1], kernel.path[outer])
        name = f"merge loops of {n} and {m}"
        kernel.replace({outer: made // m, inner: made % m}, name)
        kernel.sink = graph_rewrite(kernel.sink, symbolic_index, name="optimize: simplify indices")


def _mergeable(kernel: Kernel) -> tuple[UOp, UOp] | None:
    if not (candidates := [*_neighbours(kernel)]):
        return None
    found = accesses(kernel.sink)
    used = _used_as_values(kernel.sink)
    for outer, inner in candidates:
        n = inner.src[0].arg
        if outer in used or inner in used:
            continue
        if dtypes.index_up_to(outer.src[0].arg * n) is not outer.dtype:
            continue  # two short loops are faster than one that counts with 64 bits
        for access in found:
            a, b = access.stride(outer), access.stride(inner)
            if a is None or b is None or a != b * n or access.gated_by & {outer, inner}:
                break
        else:
            return outer, inner
    return None


def _neighbours(kernel: Kernel) -> list[tuple[UOp, UOp]]:
    """Pairs of loops of one kind, next to each other in the nest, that are ended together."""
    together: list[frozenset[UOp]] = [
        frozenset(u.src[1:]) for u in kernel.sink.toposort() if u.op in (Ops.END, Ops.REDUCE)
    ]
    return [
        (a, b)
        for kinds in (OUTER, (AxisType.REDUCE,))
        for a, b in pairwise(kernel.loops(*kinds))
        if all((a in ended) == (b in ended) for ended in together)
    ]


def _used_as_values(sink: UOp) -> set[UOp]:
    """Loops that something else than an address, its gate or an END looks at."""
    addresses: set[UOp] = set()
    used: set[UOp] = set()
    for u in sink.toposort():
        if u.op is Ops.INDEX:
            addresses.update(u.src[1:])
    for u in sink.toposort(lambda u: u not in addresses):
        if u.op not in (Ops.END, Ops.REDUCE, Ops.INDEX):
            used.update(s for s in u.src if s.op is Ops.RANGE)
    return used
