"""Losses of pairs and triplets: what is alike comes near, what is not stays a margin away.

Distances are along the last axis.
"""

from __future__ import annotations

from typing import Self

from core.errors import ShapeError
from core.tensor.calls.origin import here
from core.tensor.neural.regression import Regression


class Margins(Regression):
    """`reduction` is "mean", "sum" or "none"."""

    __slots__ = ()

    def cosine_similarity(self, other: Self, dim: int = 1, eps: float = 1e-8) -> Self:
        """The cosine of the angle between vectors along an axis; lengths are at least `eps`."""
        axis = self._axis(dim)

        def cosine(x: Self, y: Self) -> Self:
            lengths = x.norm(2, axis).clamp(eps) * y.norm(2, axis).clamp(eps)
            return (x * y).sum(axis) / lengths

        return self._wide_with(other, cosine)

    def pairwise_distance(
        self, other: Self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
    ) -> Self:
        """The p-norm of self - other + eps along the last axis."""
        return self._wide_with(other, lambda x, y: (x - y + eps).norm(p, -1, keepdim))

    def cosine_embedding_loss(
        self, other: Self, target: Self, margin: float = 0.0, reduction: str = "mean"
    ) -> Self:
        """1 - cos of rows where the target is 1, max(0, cos - margin) where it is -1."""
        if self.ndim not in (1, 2) or target.ndim != self.ndim - 1:
            raise ShapeError(
                f"cosine_embedding_loss of {self.shape} with targets of {target.shape}",
                where=here(),
                hint="give rows (batch, length) and a target for each, or a vector and a number",
            )

        def cosine(x: Self, y: Self) -> Self:
            squares = (x.square().sum(-1) + 1e-12) * (y.square().sum(-1) + 1e-12)
            return (x * y).sum(-1) / squares.sqrt()

        cos = self._wide_with(other, cosine)
        apart = (target == -1).where((cos - margin).relu(), 0)
        return (target == 1).where(1 - cos, apart)._reduced(reduction)

    def margin_ranking_loss(
        self, other: Self, target: Self, margin: float = 0.0, reduction: str = "mean"
    ) -> Self:
        """max(0, margin - y (self - other)) for targets y: 1 where this should be larger, else
        -1."""
        return (margin - target * (self - other)).relu()._reduced(reduction)

    def hinge_embedding_loss(
        self, target: Self, margin: float = 1.0, reduction: str = "mean"
    ) -> Self:
        """The distance x where the target is 1, max(0, margin - x) where it is -1."""
        near = (target != -1).where(self, 0)
        return (near + (target != 1).where((margin - self).relu(), 0))._reduced(reduction)

    def soft_margin_loss(self, target: Self, reduction: str = "mean") -> Self:
        """ln(1 + e ** (-y x)) for targets y, 1 or -1."""
        return (-target * self).softplus()._reduced(reduction)

    def multilabel_soft_margin_loss(
        self, target: Self, weight: Self | None = None, reduction: str = "mean"
    ) -> Self:
        """The mean over the last axis, the classes, of `binary_crossentropy_logits`, each class
        times its `weight`."""
        losses = self.binary_crossentropy_logits(target, "none", weight=weight)
        return losses.mean(-1)._reduced(reduction)

    def multi_margin_loss(
        self,
        target: Self,
        p: int = 1,
        margin: float = 1.0,
        weight: Self | None = None,
        reduction: str = "mean",
    ) -> Self:
        """The mean over the classes, along the last axis, of max(0, margin - x[y] + x[i]) ** p for
        i other than the class y, times the `weight` of y. Raises ShapeError for a p other than 1
        and 2, and where classes do not have the shape without the last axis."""
        if p not in (1, 2) or target.shape != self.shape[:-1] or self.ndim not in (1, 2):
            raise ShapeError(
                f"multi_margin_loss of {self.shape} with classes of {target.shape} and p = {p}",
                where=here(),
                hint="give (batch, classes) and a class for each row; p is 1 or 2",
            )
        axis = self.ndim - 1
        chosen = target.unsqueeze(-1) == self._positions(axis)
        right = chosen.where(self, 0).sum(-1, keepdim=True)
        over = chosen.where(0, (margin - right + self).relu())
        over = over.square() if p == 2 else over
        if weight is not None:
            over = over * chosen.where(self._per_class(weight, axis), 0).sum(-1, keepdim=True)
        return over.mean(-1)._reduced(reduction)

    def triplet_margin_loss(
        self,
        positive: Self,
        negative: Self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
    ) -> Self:
        """max(0, margin + d(self, positive) - d(self, negative)) with `pairwise_distance`; `swap`
        takes d(positive, negative) where it is smaller than the last.

        V. Balntas et al., Learning local feature descriptors with triplets (2016).
        """
        near = self.pairwise_distance(positive, p, eps)
        far = self.pairwise_distance(negative, p, eps)
        if swap:
            far = far.minimum(positive.pairwise_distance(negative, p, eps))
        return (near - far + margin).relu()._reduced(reduction)
