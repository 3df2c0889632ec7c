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
    """The step whose function began a pass: what the pass around it recorded next is a match, or
    that a function declined. None where no function began it, or the trace does not have all that
    is needed to tell."""
    outer = file.rewrites.get(inner.parent)
    if outer is None or outer.id >= inner.id or outer.us is None or inner.us is None:
        return None
    if outer.error is not None or inner.error is not None:
        return None
    matches = declines = before = 0
    following: int | None = None
    begun = False
    # the first event of the pass around it may be in a later block than those of the inner one
    low, high = min(outer.blocks[0], inner.blocks[0]), max(outer.blocks[1], inner.blocks[1])
    for arrays in file.event_blocks.between(low, high):
        wanted = (arrays.kind == schema.MATCH) | (arrays.kind == schema.DECLINE)
        own = np.flatnonzero((arrays.rewrite == outer.id) & wanted)
        matched = arrays.kind[own] == schema.MATCH
        inside = np.flatnonzero(arrays.rewrite == inner.id)
        last = -1
        if len(inside):
            begun, following, last = True, None, int(inside[-1])
            before = matches + int(matched[own < last].sum())
        if begun and following is None and (own > last).any():
            following = int(arrays.kind[own[own > last][0]])
        matches += int(matched.sum())
        declines += int((~matched).sum())
    if not begun or matches != outer.matches:
        return None
    if following == schema.DECLINE or before == matches:
        return Around(outer, 0)
    return Around(outer, before + 1) if declines == outer.declines else None
