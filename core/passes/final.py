"""Final: what renderers want of a program.

Before linearize: every gated load has an alternative value, a choice of several lanes is made of
single lanes where the target has no vector arithmetic. After it: a gated store becomes a store in
an IF, and neighbours with the same gate share one. Never changes what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import dtypes
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat())),), name="load"))
def load_alternative(load: UOp) -> UOp:
    """load(p[i] if g) -> load(p[i] if g, else 0)"""
    return load.src[0].load(UOp.const(load.dtype, 0), dtype=load.dtype)


@rule(UPat(Ops.GEP, name="gep"))
def single_lanes(gep: UOp) -> UOp | None:
    """gep(x, (i, j)) -> vectorize(gep(x, i), gep(x, j))"""
    if len(gep.arg) == 1:
        return None
    return UOp.vectorize(*(gep.src[0].gep(i) for i in gep.arg))


for_vectors = PatternMatcher([load_alternative], name="final")
for_scalars = PatternMatcher([load_alternative, single_lanes], name="final")


def final(sink: UOp, target: Target) -> UOp:
    """The kernel as renderers of `target` want it."""
    wanted = for_scalars if target.alu_lanes(dtypes.float32) == 1 else for_vectors
    return graph_rewrite(sink, wanted, name="final")


def gates_to_ifs(uops: Sequence[UOp]) -> list[UOp]:
    """The program with an IF around each run of neighbouring stores that share a gate."""
    loaded = {u.src[0] for u in uops if u.op is Ops.LOAD}
    out: dict[UOp, None] = {}
    new: dict[UOp, UOp] = {}
    opened: UOp | None = None
    for u in uops:
        if _is_gated(u):
            new[u] = u.src[0].index(u.src[1])
            if u in loaded:
                out[u] = None
            out.setdefault(new[u])
            continue
        gate = u.src[0].src[2] if u.op is Ops.STORE and _is_gated(u.src[0]) else None
        if opened is not None and opened.src[0] is not gate:
            out[UOp(Ops.ENDIF, dtypes.void, (opened,))] = None
            opened = None
        if gate is not None and opened is None:
            # the tag keeps several IFs with one condition apart
            opened = UOp(Ops.IF, dtypes.void, (gate,), tag=len(out))
            out[opened] = None
        reads = u.op is Ops.LOAD
        made = u.rebuild(tuple([s if reads and _is_gated(s) else new.get(s, s) for s in u.src]))
        if made is not u:
            new[u] = made
        out.setdefault(made)
    return list(out)


def _is_gated(u: UOp) -> bool:
    return u.op is Ops.INDEX and len(u.src) > 2
