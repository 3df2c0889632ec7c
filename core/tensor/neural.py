"""Functions of neural networks: normalisation, dropout and losses.

All are compositions of the layers below. Random parts act only while `Tensor.training`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self

from core.dtype import DTypeLike, dtypes, least_upper_float, sum_acc_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import TRAINING
from core.runtime.device import DeviceLike
from core.tensor.base import Number
from core.tensor.elementwise import broadcast_shape
from core.tensor.interpolation import Interpolation
from core.tensor.origin import here
from core.tensor.reduction import Axes
from core.uop.uop import UOp


class Neural(Interpolation):
    """Building blocks of models. `reduction` is "mean", "sum" or "none"."""

    __slots__ = ()

    def sequential(self, layers: Sequence[Callable[[Self], Self]]) -> Self:
        """The layers applied one after the other."""
        x = self
        for layer in layers:
            x = layer(x)
        return x

    def layernorm(self, axis: Axes = -1, eps: float = 1e-5) -> Self:
        """(x - mean) / sqrt(var + eps) over the axes, https://arxiv.org/abs/1607.06450"""
        centered = self - self.mean(axis, keepdim=True)
        return centered * (centered.square().mean(axis, keepdim=True) + eps).rsqrt()

    def batchnorm(
        self,
        weight: Self | None,
        bias: Self | None,
        mean: Self,
        invstd: Self,
        axis: int | Sequence[int] = 1,
    ) -> Self:
        """(x - mean) * invstd * weight + bias, with those four along `axis`.

        https://arxiv.org/abs/1502.03167
        """
        axes = self._axes(axis)
        shape = [n if i in axes else 1 for i, n in enumerate(self.shape)]
        x = self - mean.reshape(shape)
        if weight is not None:
            x = x * weight.reshape(shape)
        result = x * (invstd.reshape(shape) if invstd.ndim == len(axes) else invstd)
        return result if bias is None else result + bias.reshape(shape)

    def dropout(self, p: float = 0.5) -> Self:
        """While training: 0 with probability p, else x / (1 - p). Otherwise x."""
        if not 0 <= p <= 1:
            raise DTypeError(f"dropout with probability {p}", where=here(), hint="give 0 to 1")
        if not TRAINING or p == 0:
            return self._same_value()
        if p == 1:
            return self._make(self.uop.const_like(0))
        drawn = type(self).rand(self.shape, device=self.device, contiguous=False)
        kept = (self._cut_alike(drawn) >= p).contiguous()
        return kept.where(self, 0) / (1 - p)

    # losses

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

    def binary_crossentropy(self, Y: Self, reduction: str = "mean") -> Self:  # noqa: N803
        """-(y ln(p) + (1 - y) ln(1 - p)) of probabilities p. Logarithms count as at least -100, and
        p (1 - p) as at least 1e-12 in gradients, so that both are finite."""

        def losses(p: Self, y: Self) -> Self:
            yes, no = p.log(), (-p).log1p()
            slope = (p - y) / (p * (1 - p)).clamp(1e-12)
            value = (y - 1) * no.clamp(-100) - y * yes.clamp(-100)
            return value._with_derivatives((p, slope), (y, no - yes))

        return self._wide_with(Y, losses)._reduced(reduction)

    def binary_crossentropy_logits(
        self,
        Y: Self,  # noqa: N803
        reduction: str = "mean",
        pos_weight: Self | None = None,
    ) -> Self:
        """`binary_crossentropy` of sigmoid(x), as max(x, 0) - x y + ln(1 + e ** -|x|).

        `pos_weight`, which broadcasts to the shape of `Y`, multiplies what y counts:
        (1 - y) x + (1 + (pos_weight - 1) y) ln(1 + e ** -x).
        """

        def losses(x: Self, y: Self) -> Self:
            value = (x > 0).where((1 - y) * x, -y * x) + (-x.abs()).exp().log1p()
            return value._with_derivatives((x, x.sigmoid() - y), (y, -x))

        if pos_weight is None:
            return self._wide_with(Y, losses)._reduced(reduction)
        both = broadcast_shape(self.shape, Y.shape)
        weight = pos_weight._as_float()._broadcast_to(both)

        def weighed(x: Self, y: Self) -> Self:
            w = weight.cast(x.dtype)
            share = 1 + (w - 1) * y
            no = (-x.abs()).exp().log1p() + (x < 0).where(-x, 0)  # ln(1 + e ** -x)
            value = (1 - y) * x + share * no
            slope = (1 - y) - share * (-x).sigmoid()
            return value._with_derivatives((x, slope), (y, (w - 1) * no - x), (w, y * no))

        return self._wide_with(Y, weighed)._reduced(reduction)

    def sparse_categorical_crossentropy(
        self,
        Y: Self,  # noqa: N803
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
        Y: Self,  # noqa: N803
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> Self:
        """-sum(y ln(softmax(x))) of logits (batch, classes, ...) and integer classes (batch, ...),
        or probabilities of the logits' shape."""
        if not self.ndim:
            raise ShapeError(
                "cross_entropy of logits without axes",
                where=here(),
                hint="logits have an axis of classes",
            )
        axis = 1 if self.ndim > 1 else 0
        _check_smoothing(label_smoothing)
        logs = self.log_softmax(axis)
        if Y.shape == self.shape and dtypes.is_float(Y.dtype):
            logs = logs * (Y * (1 - label_smoothing) + self._shared(label_smoothing, axis))
        else:
            if Y.shape != self.shape[:axis] + self.shape[axis + 1 :]:
                raise ShapeError(
                    f"logits of {self.shape} and classes of {Y.shape}",
                    where=here(),
                    hint="classes have the shape of the logits without the class axis",
                )
            logs = logs._weighed(axis, Y, label_smoothing)
        places = tuple(a for a in range(self.ndim) if a != axis)
        return logs._reduced(reduction, axis, self._count(places))

    def nll_loss(
        self,
        Y: Self,  # noqa: N803
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
        logs: Self = self
        count: Self | Number | None = Y._count(tuple(range(Y.ndim)))
        if weight is not None:
            shape = [n if i == axis else 1 for i, n in enumerate(self.shape)]
            weight = weight.reshape(shape)
            logs = logs * weight
            count = chosen.where(weight, 0)._wide_sum() if reduction == "mean" else None
        elif ignore_index is not None:
            count = Y.ne(ignore_index).cast(dtypes.int32).sum() if reduction == "mean" else None
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

    # order

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """(values, positions) in order along an axis; equals keep their order, NaN counts as larger
        than every number.

        Counts for each element those before it: work grows with the square of the length.
        """
        axis = self._axis(dim)
        if not self.ndim:
            return self, self._make(self.uop.const_like(0).cast(dtypes.int32))
        x = self.transpose(axis, -1)
        n = x.shape[-1]
        mine, other = x.detach().unsqueeze(-1), x.detach().unsqueeze(-2)
        place = type(self)._iota(n, self.device)
        small, large = (mine, other) if descending else (other, mine)
        ahead, same = small < large, mine == other
        if dtypes.is_float(self.dtype):
            ahead = ahead | (large.isnan() & small.isnan().logical_not())
            same = same | (large.isnan() & small.isnan())
        tie = same & (place.reshape(1, n) < place.reshape(n, 1))
        rank = (ahead | tie).cast(dtypes.int32).sum(-1).contiguous()
        chosen = rank.unsqueeze(-2) == place.reshape(n, 1)
        values = x.unsqueeze(-2)._or_zero(chosen)._sum_exact((x.ndim,))
        order = chosen.where(place, 0).sum(-1)
        values, order = values.transpose(axis, -1), order.transpose(axis, -1)
        return values._as_long_as(self, axis), order._as_long_as(self, axis)

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """The positions that put an axis in order."""
        return self.sort(dim, descending)[1]

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> tuple[Self, Self]:
        """(values, positions) of the k largest (or smallest) along an axis, in order."""
        axis = self._axis(dim)
        if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
            raise ShapeError(
                f"topk of {k} elements of shape {self.shape}",
                where=here(),
                hint=f"axis {axis} has fewer",
            )
        if not sorted_:
            raise ShapeError("topk without order", where=here(), hint="it is always sorted here")
        values, order = self.sort(axis, largest)
        return values._part(axis, 0, k), order._part(axis, 0, k)

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Self:
        """Positions drawn with probabilities in proportion to these weights, as int32: of a vector,
        or of each row of a matrix. With `replacement` a position may be drawn again; without, by
        the largest of ln(u) / weight (P. Efraimidis and P. Spirakis, Weighted random sampling with
        a reservoir, 2006).

        Weights are not negative, and as many as samples without replacement are not 0. Raises
        ShapeError for other shapes, for fewer than one sample, and for more than there are weights
        without replacement; DTypeError for weights that are no floats.
        """
        if not dtypes.is_float(self.dtype):
            raise DTypeError(
                f"multinomial of {self.dtype}", where=here(), hint="weights are floats"
            )
        count = self.shape[-1] if self.shape else 0
        most = num_samples if replacement and count else count
        if self.ndim not in (1, 2) or not 1 <= num_samples <= most:
            raise ShapeError(
                f"{num_samples} samples of weights of shape {self.shape}",
                where=here(),
                hint="give a vector or a matrix, and without replacement no more samples than "
                "weights",
            )
        dtype = self.dtype if self.dtype.bits >= 32 else dtypes.float32
        weights = self.detach().cast(dtype)
        if num_samples > 1 and not replacement:
            u = 1 - type(self).rand(self.shape, device=self.device, dtype=dtype)
            keys = (weights > 0).where(u.log() / weights, -math.inf)
            return keys.topk(num_samples)[1].detach()
        sums, axis = weights.cumsum(-1).unsqueeze(-2), self.ndim
        total = sums._part(axis, self.shape[-1] - 1, self.shape[-1])
        lead = self.shape[:-1]
        u = type(self).rand((*lead, num_samples, 1), device=self.device, dtype=dtype)
        before = (sums <= u * total).cast(dtypes.int32).sum(-1)
        return before.clamp(max_=self.shape[-1] - 1)

    @classmethod
    def randperm(cls, n: int, device: DeviceLike = None, dtype: DTypeLike = dtypes.int32) -> Self:
        """0..n-1 in random order."""
        return cls.rand(n, device=device).argsort(0).cast(dtype)


def _check_smoothing(share: float) -> None:
    if not 0 <= share <= 1:
        raise DTypeError(
            f"label smoothing of {share}",
            where=here(),
            hint="give the share of all classes, 0 to 1",
        )
