"""The step that a pass is part of: a rule's function may rewrite, and what it makes of that is one
step of the pass around it.

Steps of such an inner pass may rely on what the function knows. They are right if the outer step
is; and where the function declined in the end, nothing came of them. Never checks a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz.format import schema
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile


@dataclass(frozen=True)
class Around:
    """Step `step` (from 1) of `rewrite`; 0: the function that began the inner pass declined."""

    rewrite: Rewrite
    step: int


def step_around(file: TraceFile, inner: Rewrite) -> Around | None:
    """The step whose function began a pass; None where no function did, or the trace does not have
    all of the pass around it."""
    outer = file.rewrites.get(inner.parent)
    if outer is None or outer.id >= inner.id or outer.us is None or inner.us is None:
        return None
    if outer.error is not None or inner.error is not None:
        return None
    before = total = 0
    for arrays in file.event_blocks.between(*outer.blocks):
        own = (arrays.rewrite == outer.id) & (arrays.kind == schema.MATCH)
        inside = np.flatnonzero(arrays.rewrite == inner.id)
        if len(inside):
            before = total + int(own[: inside[-1]].sum())
        total += int(own.sum())
    if total != outer.matches:
        return None
    return Around(outer, before + 1 if before < total else 0)
