"""Methods in place that fill a Tensor: with values of another, with one value, at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.tensor.elements.elementwise import operand
from core.tensor.running.execution import take_result
from core.tensor.state.base import Number

if TYPE_CHECKING:
    from core.tensor import Tensor


def copy_(self: Tensor, src: Tensor) -> Tensor:
    """Takes the values of `src`, broadcast, cast, and copied from its device."""
    return take_result(self, src.to(self.device).cast(self.dtype))


def fill_(self: Tensor, value: Tensor | Number) -> Tensor:
    """One value everywhere, cast to this dtype."""
    return take_result(self, operand(self, value).cast(self.dtype))


def zero_(self: Tensor) -> Tensor:
    """0 everywhere."""
    return self.fill_(0)


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Random numbers with a normal distribution."""
    return take_result(self, self.randn_like() * std + mean)


def uniform_(self: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Random numbers with equal chances from `low` up to, but without, `high`."""
    return take_result(self, self.rand_like() * (high - low) + low)


def bernoulli_(self: Tensor, p: float = 0.5) -> Tensor:
    """1 with probability p, else 0."""
    return take_result(self, (self.rand_like(dtype="float32") < p).cast(self.dtype))


def exponential_(self: Tensor, lambd: float = 1.0) -> Tensor:
    """Random numbers of the density lambd e ** (-lambd x)."""
    return take_result(self, (-self.rand_like()).log1p() / -lambd)
