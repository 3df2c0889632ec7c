"""Losses of pairs and triplets: what is alike comes near, what is not stays a margin away.

Distances are along the last axis. `reduction` is "mean", "sum" or "none".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ShapeError
from core.tensor.axes.creation import positions
from core.tensor.elements.elementwise import as_float, wide_with
from core.tensor.neural.losses import per_class, reduced
from core.tensor.state.base import axis_of

if TYPE_CHECKING:
    from core.tensor import Tensor


def cosine_similarity(self: Tensor, other: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis; lengths are at least `eps`."""
    axis = axis_of(self, dim)

    def cosine(x: Tensor, y: Tensor) -> Tensor:
        lengths = x.norm(2, axis).clamp(eps) * y.norm(2, axis).clamp(eps)
        return (x * y).sum(axis) / lengths

    return wide_with(self, other, cosine)


def pairwise_distance(
    self: Tensor, other: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of self - other + eps along the last axis."""
    return wide_with(self, other, lambda x, y: (x - y + eps).norm(p, -1, keepdim))


def cosine_embedding_loss(
    self: Tensor, other: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cos of rows where the target is 1, max(0, cos - margin) where it is -1."""
    if self.ndim not in (1, 2) or target.ndim != self.ndim - 1:
        raise ShapeError(
            f"cosine_embedding_loss of {self.shape} with targets of {target.shape}",
            hint="give rows (batch, length) and a target for each, or a vector and a number",
        )

    def cosine(x: Tensor, y: Tensor) -> Tensor:
        squares = (x.square().sum(-1) + 1e-12) * (y.square().sum(-1) + 1e-12)
        return (x * y).sum(-1) / squares.sqrt()

    cos = wide_with(self, other, cosine)
    apart = (target == -1).where((cos - margin).relu(), 0)
    return reduced((target == 1).where(1 - cos, apart), reduction)


def margin_ranking_loss(
    self: Tensor, other: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, margin - y (self - other)) for targets y: 1 where this should be larger, else
    -1."""
    return reduced((margin - target * (as_float(self) - other)).relu(), reduction)


def hinge_embedding_loss(
    self: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """The distance x where the target is 1, max(0, margin - x) where it is -1."""
    near = (target != -1).where(self, 0)
    return reduced(near + (target != 1).where((margin - self).relu(), 0), reduction)


def soft_margin_loss(self: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """ln(1 + e ** (-y x)) for targets y, 1 or -1."""
    return reduced((-target * self).softplus(), reduction)


def multilabel_soft_margin_loss(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean over the last axis, the classes, of `binary_crossentropy_logits`, each class
    times its `weight`."""
    losses = self.binary_crossentropy_logits(target, "none", weight=weight)
    return reduced(losses.mean(-1), reduction)


def multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes, along the last axis, of max(0, margin - x[y] + x[i]) ** p for
    i other than the class y, times the `weight` of y. Raises ShapeError for a p other than 1
    and 2, and where classes do not have the shape without the last axis."""
    if p not in (1, 2) or target.shape != self.shape[:-1] or self.ndim not in (1, 2):
        raise ShapeError(
            f"multi_margin_loss of {self.shape} with classes of {target.shape} and p = {p}",
            hint="give (batch, classes) and a class for each row; p is 1 or 2",
        )
    axis = self.ndim - 1
    chosen = target.unsqueeze(-1) == positions(self, axis)
    right = chosen.where(self, 0).sum(-1, keepdim=True)
    over = chosen.where(0, (margin - right + self).relu())
    over = over.square() if p == 2 else over
    if weight is not None:
        over = over * chosen.where(per_class(self, weight, axis), 0).sum(-1, keepdim=True)
    return reduced(over.mean(-1), reduction)


def triplet_margin_loss(
    self: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + d(self, positive) - d(self, negative)) with `pairwise_distance`; `swap`
    takes d(positive, negative) where it is smaller than the last.

    V. Balntas et al., Learning local feature descriptors with triplets (2016).
    """
    near = self.pairwise_distance(positive, p, eps)
    far = self.pairwise_distance(negative, p, eps)
    if swap:
        far = far.minimum(positive.pairwise_distance(negative, p, eps))
    return reduced((near - far + margin).relu(), reduction)
