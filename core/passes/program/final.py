"""Final: what renderers want of a program.

Before linearize: gated loads, and only these, have an alternative value, the gate of a store is a
source of the store and no longer of its address, and a choice of several lanes is made of single
lanes where the target has no vector arithmetic. After it: a gated store becomes a store in an IF,
and neighbours with the same gate share one. Never changes what is stored.

An address is arithmetic: it has a value whether or not its gate holds. With the gate at the store,
`linearize` places the address by the loops that it depends on itself, so the IF holds nothing but
stores, and other users of the address find it outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import dtypes
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat())),), name="load"))
def load_alternative(load: UOp) -> UOp:
    """load(p[i] if g) -> load(p[i] if g, else 0)"""
    return load.src[0].load(UOp.const(load.dtype, 0), dtype=load.dtype)


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, src=(UPat(), UPat()), name="place"), UPat()),
           name="load"))  # fmt: skip
def no_alternative(load: UOp, place: UOp) -> UOp:
    """load(p[i], else x) -> load(p[i])"""
    return load.rebuild((place,))


@rule(UPat(Ops.STORE, src=(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat()), name="place"),
           UPat.var("value")), name="store"))  # fmt: skip
def store_gate(store: UOp, place: UOp, value: UOp) -> UOp:
    """store(p[i] if g, v) -> store(p[i], v) if g"""
    pointer, offset, gate = place.src
    return store.rebuild((place.rebuild((pointer, offset)), value, gate))


@rule(UPat(Ops.GEP, name="gep"))
def single_lanes(gep: UOp) -> UOp | None:
    """gep(x, (i, j)) -> vectorize(gep(x, i), gep(x, j))"""
    if len(gep.arg) == 1:
        return None
    return UOp.vectorize(*(gep.src[0].gep(i) for i in gep.arg))


for_vectors = PatternMatcher([load_alternative, no_alternative, store_gate], name="final")
for_scalars = PatternMatcher(
    [load_alternative, no_alternative, store_gate, single_lanes], name="final"
)


def final(sink: UOp, target: Target) -> UOp:
    """The kernel as renderers of `target` want it."""
    wanted = for_scalars if target.alu_lanes(dtypes.float32) == 1 else for_vectors
    return graph_rewrite(sink, wanted, name="final")


_UNGATED: Final = {Ops.STORE: 2, Ops.COPY_ASYNC: 3}
"""Sources of what stores, before its gate."""


def gates_to_ifs(uops: Sequence[UOp]) -> list[UOp]:
    """The program with an IF around each run of neighbouring stores that share a gate. Gates of
    single lanes stay with their store: no target has them, the reference runtime does."""
    out: list[UOp] = []
    new: dict[UOp, UOp] = {}
    opened: UOp | None = None
    for u in uops:
        ungated = _UNGATED.get(u.op, len(u.src))
        gate = u.src[ungated] if len(u.src) > ungated else None
        gate = None if gate is None or gate.dtype.count > 1 else new.get(gate, gate)
        if opened is not None and opened.src[0] is not gate:
            out.append(UOp(Ops.ENDIF, dtypes.void, (opened,)))
            opened = None
        if gate is not None and opened is None:
            # the tag keeps several IFs with one condition apart
            opened = UOp(Ops.IF, dtypes.void, (gate,), tag=len(out))
            out.append(opened)
        src = u.src if gate is None else u.src[:ungated]
        made = u.rebuild(tuple([new.get(s, s) for s in src]))
        if made is not u:
            new[u] = made
        out.append(made)
    return out
