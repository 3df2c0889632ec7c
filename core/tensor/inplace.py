"""Methods that end in `_`: a Tensor takes the result of the method without it, as `x += y` does.

With it change all that is a view of the Tensor or that it is a view of, and gradients flow from the
new values to what they were computed from. None changes a shape or a dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from core.tensor.neural.attention import Attention as Functions
from core.tensor.state.base import Number

P = ParamSpec("P")
T = TypeVar("T", bound="InPlace")


class InPlace(Functions):
    """Each raises what its function raises; DTypeError for a result of another kind, such as floats
    for integers; ShapeError where the result is larger, and for views that repeat elements; and
    GradientError for a leaf that requires a gradient, outside of `Tensor.no_grad()`."""

    __slots__ = ()

    @staticmethod
    def _in_place(function: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate[T, P], T]:
        """A method that stores what `function` gives in the Tensor and returns the Tensor."""

        @functools.wraps(function)
        def method(self: T, *args: P.args, **kwargs: P.kwargs) -> T:
            return self._take_result(function(self, *args, **kwargs))

        method.__doc__ = f"`{function.__name__}`, stored in this Tensor."
        method.__name__ = f"{function.__name__}_"
        return method

    def copy_(self, src: Self) -> Self:
        """Takes the values of `src`, broadcast, cast, and copied from its device."""
        return self._take_result(src.to(self.device).cast(self.dtype))

    def fill_(self, value: Self | Number) -> Self:
        """One value everywhere, cast to this dtype."""
        return self._take_result(self._operand(value).cast(self.dtype))

    def zero_(self) -> Self:
        """0 everywhere."""
        return self.fill_(0)

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Self:
        """Random numbers with a normal distribution."""
        return self._take_result(self.randn_like() * std + mean)

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Self:
        """Random numbers with equal chances from `low` up to, but without, `high`."""
        return self._take_result(self.rand_like() * (high - low) + low)

    def bernoulli_(self, p: float = 0.5) -> Self:
        """1 with probability p, else 0."""
        return self._take_result((self.rand_like(dtype="float32") < p).cast(self.dtype))

    def exponential_(self, lambd: float = 1.0) -> Self:
        """Random numbers of the density lambd e ** (-lambd x)."""
        return self._take_result((-self.rand_like()).log1p() / -lambd)

    add_ = _in_place(Functions.add)
    sub_ = _in_place(Functions.sub)
    mul_ = _in_place(Functions.mul)
    div_ = _in_place(Functions.div)
    floor_divide_ = _in_place(Functions.floor_divide)
    remainder_ = _in_place(Functions.remainder)
    fmod_ = _in_place(Functions.fmod)
    pow_ = _in_place(Functions.pow)
    addcmul_ = _in_place(Functions.addcmul)
    addcdiv_ = _in_place(Functions.addcdiv)
    lerp_ = _in_place(Functions.lerp)

    clamp_ = _in_place(Functions.clamp)
    clip_ = _in_place(Functions.clip)
    clamp_min_ = _in_place(Functions.clamp_min)
    clamp_max_ = _in_place(Functions.clamp_max)
    nan_to_num_ = _in_place(Functions.nan_to_num)
    copysign_ = _in_place(Functions.copysign)
    neg_ = _in_place(Functions.neg)
    abs_ = _in_place(Functions.abs)
    sign_ = _in_place(Functions.sign)
    floor_ = _in_place(Functions.floor)
    ceil_ = _in_place(Functions.ceil)
    round_ = _in_place(Functions.round)
    trunc_ = _in_place(Functions.trunc)
    frac_ = _in_place(Functions.frac)

    square_ = _in_place(Functions.square)
    sqrt_ = _in_place(Functions.sqrt)
    rsqrt_ = _in_place(Functions.rsqrt)
    reciprocal_ = _in_place(Functions.reciprocal)
    exp_ = _in_place(Functions.exp)
    exp2_ = _in_place(Functions.exp2)
    expm1_ = _in_place(Functions.expm1)
    log_ = _in_place(Functions.log)
    log2_ = _in_place(Functions.log2)
    log10_ = _in_place(Functions.log10)
    log1p_ = _in_place(Functions.log1p)
    logit_ = _in_place(Functions.logit)
    xlogy_ = _in_place(Functions.xlogy)
    sin_ = _in_place(Functions.sin)
    cos_ = _in_place(Functions.cos)
    tan_ = _in_place(Functions.tan)
    asin_ = _in_place(Functions.asin)
    acos_ = _in_place(Functions.acos)
    atan_ = _in_place(Functions.atan)
    atan2_ = _in_place(Functions.atan2)
    hypot_ = _in_place(Functions.hypot)
    sinh_ = _in_place(Functions.sinh)
    cosh_ = _in_place(Functions.cosh)
    tanh_ = _in_place(Functions.tanh)
    asinh_ = _in_place(Functions.asinh)
    acosh_ = _in_place(Functions.acosh)
    atanh_ = _in_place(Functions.atanh)
    erf_ = _in_place(Functions.erf)

    relu_ = _in_place(Functions.relu)
    relu6_ = _in_place(Functions.relu6)
    leaky_relu_ = _in_place(Functions.leaky_relu)
    elu_ = _in_place(Functions.elu)
    celu_ = _in_place(Functions.celu)
    selu_ = _in_place(Functions.selu)
    silu_ = _in_place(Functions.silu)
    mish_ = _in_place(Functions.mish)
    sigmoid_ = _in_place(Functions.sigmoid)
    hardtanh_ = _in_place(Functions.hardtanh)
    hardswish_ = _in_place(Functions.hardswish)
    hardsigmoid_ = _in_place(Functions.hardsigmoid)
    threshold_ = _in_place(Functions.threshold)

    bitwise_and_ = _in_place(Functions.bitwise_and)
    bitwise_or_ = _in_place(Functions.bitwise_or)
    bitwise_xor_ = _in_place(Functions.bitwise_xor)
    bitwise_not_ = _in_place(Functions.bitwise_not)
    logical_and_ = _in_place(Functions.logical_and)
    logical_or_ = _in_place(Functions.logical_or)
    logical_xor_ = _in_place(Functions.logical_xor)
    logical_not_ = _in_place(Functions.logical_not)
    eq_ = _in_place(Functions.eq)
    ne_ = _in_place(Functions.ne)
    lt_ = _in_place(Functions.lt)
    le_ = _in_place(Functions.le)
    gt_ = _in_place(Functions.gt)
    ge_ = _in_place(Functions.ge)

    cumsum_ = _in_place(Functions.cumsum)
    cumprod_ = _in_place(Functions.cumprod)
    tril_ = _in_place(Functions.tril)
    triu_ = _in_place(Functions.triu)
    masked_fill_ = _in_place(Functions.masked_fill)
    scatter_ = _in_place(Functions.scatter)
    scatter_add_ = _in_place(Functions.scatter_add)
    scatter_reduce_ = _in_place(Functions.scatter_reduce)
    index_add_ = _in_place(Functions.index_add)
    index_copy_ = _in_place(Functions.index_copy)
    index_fill_ = _in_place(Functions.index_fill)
