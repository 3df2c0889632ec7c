"""Hand-written linear programs, lowered as those of the compiler are: as graphs."""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import dtypes
from core.passes.decompose import decompose
from core.passes.pipeline import lower_to_text, program_of
from core.passes.program.final import final
from core.passes.vectors.devectorize import devectorize
from core.passes.vectors.loadstore import loadstore
from core.target import targets
from core.uop.ops import Ops
from core.uop.uop import UOp

STATEMENTS = (Ops.STORE, Ops.END, Ops.BARRIER)


def as_graph(uops: Sequence[UOp]) -> UOp:
    """The program as one graph: an END ends all that stands in its loop, and what is in an IF has
    its gate."""
    new: dict[UOp, UOp] = {}
    blocks: list[list[UOp]] = [[]]
    gates: list[UOp | None] = [None]
    for u in uops:
        if u.op is Ops.IF:
            gates.append(new[u.src[0]])
            continue
        if u.op is Ops.ENDIF:
            gates.pop()
            continue
        if u.op is Ops.SINK:
            continue
        if u.op is Ops.RANGE:
            blocks.append([])
        if u.op is Ops.END:
            made = UOp.group(*blocks.pop()).end(new[u.src[1]])
        else:
            src = tuple(new[s] for s in u.src)
            gate = gates[-1]
            made = u.rebuild((*src, gate) if u.op is Ops.STORE and gate is not None else src)
        new[u] = made
        for block in blocks:  # what others wait for is reached through them
            block[:] = [s for s in block if s not in made.src]
        if made.op in STATEMENTS:
            blocks[-1].append(made)
    return UOp.sink(*blocks[0])


def lowered(uops: Sequence[UOp], target: str, kind: str = "ptx") -> list[UOp]:
    """The program as `kind` wants it."""
    sink = as_graph(uops)
    own = () if targets[target].supports(dtypes.float16) else (decompose,)
    for step in (loadstore, devectorize, *own, final):
        sink = step(sink, targets[target])
    return program_of(lower_to_text(sink, kind, targets[target]))
