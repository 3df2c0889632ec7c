"""Losses: how far what a model says is from what it should say.

All are compositions of the layers below. `reduction` is "mean", "sum" or "none".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.dtype import dtypes, least_upper_float, sum_acc_dtype
from core.errors import DTypeError, ShapeError
from core.tensor.axes.creation import positions
from core.tensor.axes.reduction import count_of
from core.tensor.elements.elementwise import as_float, broadcast_shape, wide_with, with_derivatives
from core.tensor.state.base import Number, axis_of, same_value
from core.tensor.views.movement import broadcast
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


def reduced(
    self: Tensor, reduction: str, axis: int | None = None, count: Tensor | Number | None = None
) -> Tensor:
    """The losses of places, their sum, or that divided by `count`, by default their number.

    With an `axis`, losses are the negated sums along it of these values. The sum over places
    and along `axis` is one reduce, and is rounded once.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ShapeError(f"unknown reduction {reduction!r}", hint='use "mean", "sum" or "none"')
    if axis is not None and reduction != "mean":
        return -self.sum(axis if reduction == "none" else None)
    if reduction == "none":
        return same_value(self)
    if reduction == "sum":
        return self.sum()
    total = _wide_sum(self) if axis is None else -_wide_sum(self)
    mean = total / (count_of(self, tuple(range(self.ndim))) if count is None else count)
    return mean.cast(least_upper_float(self.dtype))


def _wide_sum(self: Tensor) -> Tensor:
    """The sum of all elements in the dtype in which it accumulates."""
    return self.sum(dtype=sum_acc_dtype(self.dtype))


def times_weight(self: Tensor, weight: Tensor | None) -> Tensor:
    """Losses, each multiplied by its weight, which broadcasts to their shape."""
    return self if weight is None else self * broadcast(weight, self.shape)


def binary_crossentropy(
    self: Tensor,
    Y: Tensor,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """-(y ln(p) + (1 - y) ln(1 - p)) of probabilities p, times `weight`. Logarithms count as at
    least -100, and p (1 - p) as at least 1e-12 in gradients, so that both are finite."""

    def losses(p: Tensor, y: Tensor) -> Tensor:
        yes, no = p.log(), (-p).log1p()
        slope = (p - y) / (p * (1 - p)).clamp(1e-12)
        value = (y - 1) * no.clamp(-100) - y * yes.clamp(-100)
        return with_derivatives(value, (p, slope), (y, no - yes))

    return reduced(times_weight(wide_with(self, Y, losses), weight), reduction)


def binary_crossentropy_logits(
    self: Tensor,
    Y: Tensor,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    weight: Tensor | None = None,
) -> Tensor:
    """`binary_crossentropy` of sigmoid(x), as max(x, 0) - x y + ln(1 + e ** -|x|).

    `pos_weight`, which broadcasts to the shape of `Y`, multiplies what y counts:
    (1 - y) x + (1 + (pos_weight - 1) y) ln(1 + e ** -x).
    """

    def losses(x: Tensor, y: Tensor) -> Tensor:
        value = (x > 0).where((1 - y) * x, -y * x) + (-x.abs()).exp().log1p()
        return with_derivatives(value, (x, x.sigmoid() - y), (y, -x))

    if pos_weight is None:
        return reduced(times_weight(wide_with(self, Y, losses), weight), reduction)
    both = broadcast_shape(self.shape, Y.shape)
    positive = broadcast(as_float(pos_weight), both)

    def weighed(x: Tensor, y: Tensor) -> Tensor:
        w = positive.cast(x.dtype)
        share = 1 + (w - 1) * y
        no = (-x.abs()).exp().log1p() + (x < 0).where(-x, 0)  # ln(1 + e ** -x)
        value = (1 - y) * x + share * no
        slope = (1 - y) - share * (-x).sigmoid()
        return with_derivatives(value, (x, slope), (y, (w - 1) * no - x), (w, y * no))

    return reduced(times_weight(wide_with(self, Y, weighed), weight), reduction)


def sparse_categorical_crossentropy(
    self: Tensor,
    Y: Tensor,
    ignore_index: int = -1,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """-ln(softmax(x)[y]) of logits (..., classes) and integer classes (...,).

    Places where y is `ignore_index` count for nothing.
    """
    if Y.shape != self.shape[:-1] or not self.ndim:
        raise ShapeError(
            f"logits of {self.shape} and classes of {Y.shape}",
            hint="classes have the shape of the logits without the last axis",
        )
    _check_smoothing(label_smoothing)
    counted = Y.ne(ignore_index)
    count = counted.cast(dtypes.int32).sum() if reduction == "mean" else None
    logs = _weighed(self.log_softmax(-1), -1, Y, label_smoothing)
    losses = reduced(counted.unsqueeze(-1).where(logs, 0), reduction, -1, count)
    return counted.where(losses, 0) if reduction == "none" else losses


def cross_entropy(
    self: Tensor,
    Y: Tensor,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    weight: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """-sum(y ln(softmax(x))) of logits (batch, classes, ...) and integer classes (batch, ...),
    or probabilities of the logits' shape, each class counted by its `weight`.

    The mean of classes is divided by the weights of those that count: not of `ignore_index`.
    Raises ShapeError where shapes do not fit, and for probabilities with an `ignore_index`.
    """
    if not self.ndim:
        raise ShapeError(
            "cross_entropy of logits without axes", hint="logits have an axis of classes"
        )
    axis = 1 if self.ndim > 1 else 0
    _check_smoothing(label_smoothing)
    logs = self.log_softmax(axis)
    factor = None if weight is None else per_class(logs, weight, axis)
    logs = logs if factor is None else logs * factor
    places = tuple(a for a in range(self.ndim) if a != axis)
    if Y.shape == self.shape and dtypes.is_float(Y.dtype):
        if ignore_index is not None:
            raise ShapeError(
                "cross_entropy of probabilities with an ignore_index",
                hint="give classes, or probabilities of 0 where nothing counts",
            )
        logs = logs * (Y * (1 - label_smoothing) + _shared(self, label_smoothing, axis))
        return reduced(logs, reduction, axis, count_of(self, places))
    if Y.shape != self.shape[:axis] + self.shape[axis + 1 :]:
        raise ShapeError(
            f"logits of {self.shape} and classes of {Y.shape}",
            hint="classes have the shape of the logits without the class axis",
        )
    logs = _weighed(logs, axis, Y, label_smoothing)
    count: Tensor | Number | None = count_of(self, places)
    if ignore_index is not None:
        logs = Y.ne(ignore_index).unsqueeze(axis).where(logs, 0)
    if reduction == "mean" and (factor is not None or ignore_index is not None):
        count = _counted(self, axis, Y, factor, ignore_index)
    return reduced(logs, reduction, axis, count)


def per_class(self: Tensor, weight: Tensor, axis: int) -> Tensor:
    """One weight per class, shaped to broadcast against this."""
    if weight.shape != (self.shape[axis],):
        raise ShapeError(
            f"weights of {weight.shape} for {self.shape[axis]} classes",
            hint="give a vector with one for each class",
        )
    return weight.reshape([n if i == axis else 1 for i, n in enumerate(self.shape)])


def _counted(
    self: Tensor, axis: int, classes: Tensor, factor: Tensor | None, ignore_index: int | None
) -> Tensor:
    """The weights of the classes that are not `ignore_index`, added; without any, their
    number."""
    if factor is None:
        return classes.ne(ignore_index or 0).cast(dtypes.int32).sum()
    chosen = classes.unsqueeze(axis).eq(positions(self, axis))
    if ignore_index is not None:
        chosen = chosen & classes.unsqueeze(axis).ne(ignore_index)
    return _wide_sum(chosen.where(factor, 0))


def nll_loss(
    self: Tensor,
    Y: Tensor,
    weight: Tensor | None = None,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-x[y] of log probabilities (batch, classes, ...) and integer classes (batch, ...), each
    class counted by its `weight`."""
    if Y.shape != self.shape[:1] + self.shape[2:]:
        raise ShapeError(
            f"log probabilities of {self.shape} and classes of {Y.shape}",
            hint="classes have that shape without axis 1",
        )
    axis = axis_of(self, 1)
    chosen = Y.unsqueeze(axis).eq(positions(self, axis))
    if ignore_index is not None:
        chosen = chosen & Y.unsqueeze(axis).ne(ignore_index)
    factor = None if weight is None else per_class(self, weight, axis)
    logs = self if factor is None else self * factor
    count: Tensor | Number | None = count_of(Y, tuple(range(Y.ndim)))
    if reduction == "mean" and (factor is not None or ignore_index is not None):
        count = _counted(self, axis, Y, factor, ignore_index)
    return reduced(chosen.where(logs, 0), reduction, axis, count)


def _shared(self: Tensor, total: float, axis: int) -> Number:
    """A number shared by the elements along an axis."""
    count = count_of(self, (axis,))
    if isinstance(count, int):
        return total / count
    dtype = least_upper_float(self.dtype)
    return UOp.const(dtype, total) / count.cast(dtype)


def _weighed(self: Tensor, axis: int, classes: Tensor, smoothing: float) -> Tensor:
    """These log probabilities, of which the negated sum along `axis` is the loss at a place."""
    chosen = classes.unsqueeze(axis).eq(positions(self, axis))
    if not smoothing:
        # chosen, not multiplied by 0: logits of -inf are fine where they are not the target
        return chosen.where(self, 0)
    even = _shared(self, smoothing, axis)
    return chosen.where(self * (1 - smoothing + even), self * even)


def _check_smoothing(share: float) -> None:
    if not 0 <= share <= 1:
        raise DTypeError(
            f"label smoothing of {share}", hint="give the share of all classes, 0 to 1"
        )
