"""Whether a step of the pass `gradient` is right: what a rule gives for a source, against
differences of the operation itself, which is computed by its definition in float64.

Where the operation has no derivative a rule may choose one: nothing is said of such points. Reads
no rule.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from core.prove.terms.cut import key_of
from core.prove.verdict import Verdict
from core.uop import Ops, UOp
from viz.check.gradients.points import of_points, of_slope
from viz.check.gradients.shapes import of_shapes
from viz.check.gradients.share import (
    FAILURES,
    Share,
    below,
    is_by_function,
    is_flat,
    is_input,
    uncomputed,
)

BY_HAND: Final = "the gradient of a kernel written by hand is made by a function of the program"
TWICE: Final = "it is made of one value twice: what of its change comes by which is not known"
MAX_OPENED: Final = 3
"""Levels of nodes below the inputs."""


class Gradients:
    """Answers for steps, and keeps what it has answered."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Verdict] = {}
        self._slopes: dict[tuple[Any, ...], Verdict | None] = {}

    def judge(self, before: UOp, after: UOp) -> Verdict:
        """What is known of `after` in place of `before`, a GRADIENT. Never raises for graphs that
        it cannot compute: then the answer is "unchecked"."""
        try:
            node, grad = before.src[:2]
            if node.op is Ops.KERNEL:
                return Verdict("unchecked", BY_HAND)
            share = Share(node, grad, before.arg, after)
            if is_by_function(node) and share.made_of.count(share.source) > 1:
                return Verdict("unchecked", TWICE)
            have, want = (f"{u.dtype} of shape {u.shape}" for u in (after, share.source))
            if have != want:
                return Verdict("differs", "a gradient is like its source", 0, 0.0, (), want, have)
            if node.op is Ops.DETACH:
                return _stopped(share)
            return self._judge(share)
        except FAILURES as error:
            return uncomputed(error)

    def _judge(self, share: Share) -> Verdict:
        """A difference is believed only where it is still there when the inputs are opened: what a
        rule gives may depend on what they are made of."""
        inputs = frozenset(s for s in (share.grad, *share.made_of) if is_input(s))
        inputs |= {share.grad}
        found = self._compared(share, inputs)
        for _ in range(MAX_OPENED):
            opened = frozenset(s for u in inputs for s in below(u, is_flat(share, inputs)))
            if found.kind not in ("differs", "unchecked") or opened == inputs:
                break
            inputs, deeper = opened, self._compared(share, opened)
            if deeper.kind != "unchecked":
                if deeper.kind == found.kind:
                    break
                found = deeper
        given = share.node.op is Ops.DERIVATIVE and not is_by_function(share.node)
        if given and found.kind == "sampled":
            return self._given(share) or found
        return found

    def _given(self, share: Share) -> Verdict | None:
        """What is wrong with the derivative that a DERIVATIVE is given."""
        function, *pairs = share.node.src
        arguments = frozenset(u for u in pairs[::2] if is_input(u))
        if share.source not in arguments:
            return None
        slope = pairs[share.at]
        key = (*key_of(function, slope, arguments), share.at)
        if key not in self._slopes:
            with np.errstate(all="ignore"):
                self._slopes[key] = of_slope(function, slope, share.source, pairs[::2])
        return self._slopes[key]

    def _compared(self, share: Share, inputs: frozenset[UOp]) -> Verdict:
        both = UOp.sink(share.node, share.grad)
        key = (*key_of(both, share.after, inputs), share.at)
        if (answer := self._known.get(key)) is None:
            try:
                with np.errstate(all="ignore"):
                    flat = is_flat(share, inputs)
                    answer = of_points(share, inputs) if flat else of_shapes(share, inputs)
            except FAILURES as error:
                answer = uncomputed(error)
            self._known[key] = answer
        return answer


def _stopped(share: Share) -> Verdict:
    """The answer about what is detached, which has no gradient whatever it computes."""
    zero = share.source.const_like(0)
    if share.after is zero:
        return Verdict("proved", "what is detached has no gradient")
    return Verdict("differs", "what is detached has no gradient", 0, 0.0, (), "0", "a gradient")
