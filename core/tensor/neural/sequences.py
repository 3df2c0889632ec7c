"""The loss of sequences whose labels are in order, but at unknown places (CTC).

Sums over all alignments by a recurrence over time, of which each step is stored: work grows with
the length of the input times that of the labels, never with the number of alignments. `reduction`
is "mean", "sum" or "none".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.dtype import ConstType, dtypes
from core.errors import DTypeError, ShapeError
from core.tensor.axes.creation import iota
from core.tensor.elements.elementwise import compute_wide, with_derivatives
from core.tensor.neural.losses import reduced
from core.tensor.state.base import TensorBase, make
from core.tensor.views.movement import broadcast
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

IMPOSSIBLE: Final = -1e30
"""Stands for the logarithm of 0, so that differences are no NaN and gradients are 0."""


def ctc_loss(
    self: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-ln of the chance of the labels, over all ways to spread them over time: a label lasts,
    and `blank` stands between equal labels and anywhere else. https://doi.org/10.1145/1143844.1143891

    This holds logarithms of probabilities (time, batch, classes), targets are integers (batch,
    labels), or all of a batch one after the other; without a batch both lack that axis. Each
    sample has its number of steps and of labels. "mean" divides each loss by its number of
    labels first. Losses of labels that do not fit are infinite, or 0 with `zero_infinity`.

    Raises ShapeError for shapes and lengths that do not fit, DTypeError for targets that are
    no integers, and for a blank that is no class.
    """
    if not dtypes.is_int(targets.dtype) or self.ndim not in (2, 3):
        raise DTypeError(
            f"ctc_loss of {self.shape} with targets of {targets.dtype}",
            hint="give logarithms (time, batch, classes), and labels as integers",
        )
    if not 0 <= blank < self.shape[-1]:
        raise DTypeError(f"blank {blank} of {self.shape[-1]} classes", hint="it is a class")
    if self.ndim == 2:
        times = _lengths_of(self, input_lengths, 1, self.shape[0])
        counts = _lengths_of(self, target_lengths, 1, targets.numel())
        one = self.unsqueeze(1).ctc_loss(
            targets.reshape(1, -1), times, counts, blank, "none", zero_infinity
        )
        one = one / counts.maximum(1) if reduction == "mean" else one
        return reduced(one.reshape(()), reduction)
    steps, batch, _ = self.shape
    if targets.ndim not in (1, 2) or (targets.ndim == 2 and len(targets) != batch):
        raise ShapeError(
            f"ctc_loss of {self.shape} with targets of {targets.shape}",
            hint="targets are (batch, labels), or one vector of all labels",
        )
    most = targets.shape[-1]
    times = _lengths_of(self, input_lengths, batch, steps)
    counts = _lengths_of(self, target_lengths, batch, most)
    if targets.ndim == 1:
        places = (counts.cumsum(0) - counts).unsqueeze(1) + iota(type(self), most, self.device)
        targets = targets[places.clamp(0, max(0, most - 1))]
    losses = compute_wide(self, lambda x: _ctc(x, targets, times, counts, blank))
    impossible = losses > -IMPOSSIBLE / 10
    losses = impossible.where(0 if zero_infinity else math.inf, losses)
    if reduction == "mean":
        losses = losses / counts.maximum(1)
    return reduced(losses, reduction)


def _lengths_of(self: Tensor, given: Tensor | Sequence[int], batch: int, most: int) -> Tensor:
    """A length for each sample. Raises ShapeError for another number of them, and for known
    ones beyond `most`."""
    made = given if isinstance(given, TensorBase) else type(self)(list(given), self.device)
    known = [] if isinstance(given, TensorBase) else list(given)
    if made.numel() != batch or any(not 0 <= n <= most for n in known):
        raise ShapeError(
            f"lengths {known or made.shape} of {batch} samples of at most {most}",
            hint="give one length for each sample",
        )
    return made.reshape(batch).cast(dtypes.int32)


def _ctc(self: Tensor, targets: Tensor, times: Tensor, counts: Tensor, blank: int) -> Tensor:
    """The loss of each sample. A. Graves et al., Connectionist temporal classification (2006),
    section 4.1: labels with a blank around each are places that a walk goes through, staying,
    or one on, or two on from a label to another one. Its gradient is the chance to be at each
    place, from the walks up to there and those that go on from there (equation 16)."""
    steps, batch, _ = self.shape
    blanks = targets.full_like(blank)
    labels = blanks.unsqueeze(-1).cat(targets.unsqueeze(-1), dim=-1).flatten(1)
    labels = labels.pad(((0, 0), (0, 1)), value=blank)
    length = labels.shape[1]
    places, last = iota(type(self), length, self.device), counts.unsqueeze(1) * 2
    ends = ((places == last) | (places == last - 1)).where(0, IMPOSSIBLE).cast(self.dtype)
    skips = (labels != blank) & (labels != _shifted(labels, 2, blank)) & (places > 1)
    every = broadcast(labels.unsqueeze(0), (steps, batch, length))
    chances = self.gather(2, every).clamp(IMPOSSIBLE)
    if not steps:
        return make(self, self.uop.const_like(0)).sum((0, 2))
    walk = _Walk(chances.detach().contiguous(), skips.contiguous(), times.unsqueeze(1))
    before = walk.up_to((places < 2).where(0, IMPOSSIBLE).cast(self.dtype))
    total = (before[steps - 1] + ends).logsumexp(1)
    here_ = before + walk.on_from(ends.contiguous()) - total.unsqueeze(1)
    going = iota(type(self), steps, self.device).reshape(steps, 1, 1) < walk.times
    share = going.where(here_.exp(), 0)
    flow = with_derivatives(make(chances, chances.uop.const_like(0)), (chances, share))
    return -(total + flow.sum((0, 2)))


@dataclass(frozen=True)
class _Walk:
    """Chances of places in time (steps, batch, places), as logarithms; which places are reached
    from two before; and the number of steps of each sample. A step is the same kernel at each
    time: which one it is comes as a variable."""

    chances: Tensor
    skips: Tensor
    times: Tensor

    def up_to(self, first: Tensor) -> Tensor:
        """Logarithms of the chances of all walks up to each place, at each time."""
        reached = self.chances[0] + first
        every = [reached.contiguous()]
        for at in self._steps():
            reached = every[-1]
            two = self.skips.where(_shifted(reached, 2), IMPOSSIBLE)
            moved = _log_sum(reached, _shifted(reached, 1), two) + self.chances[at]
            reached = (self.times > at).where(moved.clamp(IMPOSSIBLE), reached)
            every.append(reached.contiguous())
        return every[0].stack(*every[1:])

    def on_from(self, ends: Tensor) -> Tensor:
        """Logarithms of the chances of all walks that go on from each place, at each time."""
        skipped = _shifted(self.skips, -2, False)
        every = [ends]
        for at in reversed(self._steps()):
            after = every[-1] + self.chances[at]
            two = skipped.where(_shifted(after, -2), IMPOSSIBLE)
            moved = _log_sum(after, _shifted(after, -1), two).clamp(IMPOSSIBLE)
            every.append((self.times > at).where(moved, every[-1]).contiguous())
        return every[-1].stack(*every[-2::-1])

    def _steps(self) -> list[UOp]:
        most = self.chances.shape[0] - 1
        step = UOp.variable("step", 1, max(1, most))
        return [step.bind(t) for t in range(1, most + 1)]


def _shifted(x: Tensor, by: int, value: ConstType = IMPOSSIBLE) -> Tensor:
    """Along the last axis, `value` where nothing comes in."""
    n = x.shape[-1]
    x = x.pad(((0, 0), (max(0, by), max(0, -by))), value=value)
    return x.shrink((None, (max(0, -by), max(0, -by) + n)))


def _log_sum(first: Tensor, *others: Tensor) -> Tensor:
    """ln of the sum of e ** x."""
    most = first
    for x in others:
        most = most.maximum(x)
    total = (first - most).exp()
    for x in others:
        total = total + (x - most).exp()
    return most + total.log()
