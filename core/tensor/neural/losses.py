"""Losses: how far what a model says is from what it should say.

All are compositions of the layers below.
"""

from __future__ import annotations

from typing import Self

from core.dtype import dtypes, least_upper_float, sum_acc_dtype
from core.errors import DTypeError, ShapeError
from core.tensor.calls.origin import here
from core.tensor.elements.elementwise import broadcast_shape
from core.tensor.neural.normalization import Normalization
from core.tensor.state.base import Number
from core.uop.uop import UOp


class Losses(Normalization):
    """`reduction` is "mean", "sum" or "none"."""

    __slots__ = ()

    def _reduced(
        self, reduction: str, axis: int | None = None, count: Self | Number | None = None
    ) -> Self:
        """The losses of places, their sum, or that divided by `count`, by default their number.

        With an `axis`, losses are the negated sums along it of these values. The sum over places
        and along `axis` is one reduce, and is rounded once.
        """
        if reduction not in ("mean", "sum", "none"):
            raise ShapeError(
                f"unknown reduction {reduction!r}", where=here(), hint='use "mean", "sum" or "none"'
            )
        if axis is not None and reduction != "mean":
            return -self.sum(axis if reduction == "none" else None)
        if reduction == "none":
            return self._same_value()
        if reduction == "sum":
            return self.sum()
        total = self._wide_sum() if axis is None else -self._wide_sum()
        mean = total / (self._count(tuple(range(self.ndim))) if count is None else count)
        return mean.cast(least_upper_float(self.dtype))

    def _wide_sum(self) -> Self:
        """The sum of all elements in the dtype in which it accumulates."""
        return self.sum(dtype=sum_acc_dtype(self.dtype))

    def _times_weight(self, weight: Self | None) -> Self:
        """Losses, each multiplied by its weight, which broadcasts to their shape."""
        return self if weight is None else self * weight._broadcast_to(self.shape)

    def binary_crossentropy(
        self,
        Y: Self,
        reduction: str = "mean",
        weight: Self | None = None,
    ) -> Self:
        """-(y ln(p) + (1 - y) ln(1 - p)) of probabilities p, times `weight`. Logarithms count as at
        least -100, and p (1 - p) as at least 1e-12 in gradients, so that both are finite."""

        def losses(p: Self, y: Self) -> Self:
            yes, no = p.log(), (-p).log1p()
            slope = (p - y) / (p * (1 - p)).clamp(1e-12)
            value = (y - 1) * no.clamp(-100) - y * yes.clamp(-100)
            return value._with_derivatives((p, slope), (y, no - yes))

        return self._wide_with(Y, losses)._times_weight(weight)._reduced(reduction)

    def binary_crossentropy_logits(
        self,
        Y: Self,
        reduction: str = "mean",
        pos_weight: Self | None = None,
        weight: Self | None = None,
    ) -> Self:
        """`binary_crossentropy` of sigmoid(x), as max(x, 0) - x y + ln(1 + e ** -|x|).

        `pos_weight`, which broadcasts to the shape of `Y`, multiplies what y counts:
        (1 - y) x + (1 + (pos_weight - 1) y) ln(1 + e ** -x).
        """

        def losses(x: Self, y: Self) -> Self:
            value = (x > 0).where((1 - y) * x, -y * x) + (-x.abs()).exp().log1p()
            return value._with_derivatives((x, x.sigmoid() - y), (y, -x))

        if pos_weight is None:
            return self._wide_with(Y, losses)._times_weight(weight)._reduced(reduction)
        both = broadcast_shape(self.shape, Y.shape)
        positive = pos_weight._as_float()._broadcast_to(both)

        def weighed(x: Self, y: Self) -> Self:
            w = positive.cast(x.dtype)
            share = 1 + (w - 1) * y
            no = (-x.abs()).exp().log1p() + (x < 0).where(-x, 0)  # ln(1 + e ** -x)
            value = (1 - y) * x + share * no
            slope = (1 - y) - share * (-x).sigmoid()
            return value._with_derivatives((x, slope), (y, (w - 1) * no - x), (w, y * no))

        return self._wide_with(Y, weighed)._times_weight(weight)._reduced(reduction)

    def sparse_categorical_crossentropy(
        self,
        Y: Self,
        ignore_index: int = -1,
        label_smoothing: float = 0.0,
        reduction: str = "mean",
    ) -> Self:
        """-ln(softmax(x)[y]) of logits (..., classes) and integer classes (...,).

        Places where y is `ignore_index` count for nothing.
        """
        if Y.shape != self.shape[:-1] or not self.ndim:
            raise ShapeError(
                f"logits of {self.shape} and classes of {Y.shape}",
                where=here(),
                hint="classes have the shape of the logits without the last axis",
            )
        _check_smoothing(label_smoothing)
        counted = Y.ne(ignore_index)
        count = counted.cast(dtypes.int32).sum() if reduction == "mean" else None
        logs = self.log_softmax(-1)._weighed(-1, Y, label_smoothing)
        losses = counted.unsqueeze(-1).where(logs, 0)._reduced(reduction, -1, count)
        return counted.where(losses, 0) if reduction == "none" else losses

    def cross_entropy(
        self,
        Y: Self,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        weight: Self | None = None,
        ignore_index: int | None = None,
    ) -> Self:
        """-sum(y ln(softmax(x))) of logits (batch, classes, ...) and integer classes (batch, ...),
        or probabilities of the logits' shape, each class counted by its `weight`.

        The mean of classes is divided by the weights of those that count: not of `ignore_index`.
        Raises ShapeError where shapes do not fit, and for probabilities with an `ignore_index`.
        """
        if not self.ndim:
            raise ShapeError(
                "cross_entropy of logits without axes",
                where=here(),
                hint="logits have an axis of classes",
            )
        axis = 1 if self.ndim > 1 else 0
        _check_smoothing(label_smoothing)
        logs = self.log_softmax(axis)
        factor = None if weight is None else logs._per_class(weight, axis)
        logs = logs if factor is None else logs * factor
        places = tuple(a for a in range(self.ndim) if a != axis)
        if Y.shape == self.shape and dtypes.is_float(Y.dtype):
            if ignore_index is not None:
                raise ShapeError(
                    "cross_entropy of probabilities with an ignore_index",
                    where=here(),
                    hint="give classes, or probabilities of 0 where nothing counts",
                )
            logs = logs * (Y * (1 - label_smoothing) + self._shared(label_smoothing, axis))
            return logs._reduced(reduction, axis, self._count(places))
        if Y.shape != self.shape[:axis] + self.shape[axis + 1 :]:
            raise ShapeError(
                f"logits of {self.shape} and classes of {Y.shape}",
                where=here(),
                hint="classes have the shape of the logits without the class axis",
            )
        logs = logs._weighed(axis, Y, label_smoothing)
        count: Self | Number | None = self._count(places)
        if ignore_index is not None:
            logs = Y.ne(ignore_index).unsqueeze(axis).where(logs, 0)
        if reduction == "mean" and (factor is not None or ignore_index is not None):
            count = self._counted(axis, Y, factor, ignore_index)
        return logs._reduced(reduction, axis, count)

    def _per_class(self, weight: Self, axis: int) -> Self:
        """One weight per class, shaped to broadcast against this."""
        if weight.shape != (self.shape[axis],):
            raise ShapeError(
                f"weights of {weight.shape} for {self.shape[axis]} classes",
                where=here(),
                hint="give a vector with one for each class",
            )
        return weight.reshape([n if i == axis else 1 for i, n in enumerate(self.shape)])

    def _counted(
        self, axis: int, classes: Self, factor: Self | None, ignore_index: int | None
    ) -> Self:
        """The weights of the classes that are not `ignore_index`, added; without any, their
        number."""
        if factor is None:
            return classes.ne(ignore_index or 0).cast(dtypes.int32).sum()
        chosen = classes.unsqueeze(axis).eq(self._positions(axis))
        if ignore_index is not None:
            chosen = chosen & classes.unsqueeze(axis).ne(ignore_index)
        return chosen.where(factor, 0)._wide_sum()

    def nll_loss(
        self,
        Y: Self,
        weight: Self | None = None,
        ignore_index: int | None = None,
        reduction: str = "mean",
    ) -> Self:
        """-x[y] of log probabilities (batch, classes, ...) and integer classes (batch, ...), each
        class counted by its `weight`."""
        if Y.shape != self.shape[:1] + self.shape[2:]:
            raise ShapeError(
                f"log probabilities of {self.shape} and classes of {Y.shape}",
                where=here(),
                hint="classes have that shape without axis 1",
            )
        axis = self._axis(1)
        chosen = Y.unsqueeze(axis).eq(self._positions(axis))
        if ignore_index is not None:
            chosen = chosen & Y.unsqueeze(axis).ne(ignore_index)
        factor = None if weight is None else self._per_class(weight, axis)
        logs = self if factor is None else self * factor
        count: Self | Number | None = Y._count(tuple(range(Y.ndim)))
        if reduction == "mean" and (factor is not None or ignore_index is not None):
            count = self._counted(axis, Y, factor, ignore_index)
        return chosen.where(logs, 0)._reduced(reduction, axis, count)

    def _shared(self, total: float, axis: int) -> Number:
        """A number shared by the elements along an axis."""
        count = self._count((axis,))
        if isinstance(count, int):
            return total / count
        dtype = least_upper_float(self.dtype)
        return UOp.const(dtype, total) / count.cast(dtype)

    def _weighed(self, axis: int, classes: Self, smoothing: float) -> Self:
        """These log probabilities, of which the negated sum along `axis` is the loss at a place."""
        chosen = classes.unsqueeze(axis).eq(self._positions(axis))
        if not smoothing:
            # chosen, not multiplied by 0: logits of -inf are fine where they are not the target
            return chosen.where(self, 0)
        even = self._shared(smoothing, axis)
        return chosen.where(self * (1 - smoothing + even), self * even)


def _check_smoothing(share: float) -> None:
    if not 0 <= share <= 1:
        raise DTypeError(
            f"label smoothing of {share}",
            where=here(),
            hint="give the share of all classes, 0 to 1",
        )
