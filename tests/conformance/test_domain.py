"""Every differentiable function over its whole domain against PyTorch, forward and backward.

The tables say for each function how many units in the last place it may be off. Where we differ
from PyTorch by design, docs/numerics.md says so, and no other difference is let through.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import Tensor
from tests.conformance.devices import on_devices
from tests.conformance.domain import FLOATS, Array, Function, fails, few, values
from tests.conformance.reduces import REDUCES, differences
from tests.conformance.test_inplace import CASES, INTEGERS, RANDOM

T = Tensor
DEVICES = on_devices("CPU", "REFERENCE")


def gelu(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's, with (1 + tanh u) / 2 as sigmoid(2 u), which does not cancel."""
    inner = x.clamp(-1e5, 1e5)
    u = math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)
    return x * torch.sigmoid(2 * u)


def quick_gelu(x: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(1.702 * x)


def over(c: float, x: torch.Tensor) -> torch.Tensor:
    """c / x, which PyTorch computes as c * (1 / x) where c is a number."""
    return torch.full_like(x, c) / x


def hypot(x: torch.Tensor) -> torch.Tensor:
    return torch.hypot(x, torch.ones_like(x))


def floor_quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.floor_divide(x.numpy(), y.numpy()))


def rsqrt_slope(x: torch.Tensor) -> torch.Tensor:
    return over(-0.5, x.sqrt()) / x.abs()


def acosh_slope(x: torch.Tensor) -> torch.Tensor:
    inside = x.abs() < 1
    return torch.where(inside, math.nan, 1 / (x - 1).abs().sqrt() / (x + 1).abs().sqrt())


def hardswish_slope(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x <= -3, 0, torch.where(x < 3, x / 3 + 0.5, 1))


def tanhshrink(x: torch.Tensor) -> torch.Tensor:
    """x - tanh x as x**3 / 3 - 2 x**5 / 15 + ... where that cancels."""
    small, near = x.abs() < 2, x.clamp(-2, 2)
    terms = (2 * k / math.factorial(2 * k + 1) * near ** (2 * k + 1) for k in range(16, 0, -1))
    return torch.where(small, sum(terms, torch.zeros_like(x)) / near.cosh(), x - torch.tanh(x))


def logit(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's, without the cancellation near 1 / 2."""
    return torch.where((x - 0.5).abs() < 0.25, 2 * torch.atanh(2 * x - 1), torch.logit(x))


def logit_slope(x: torch.Tensor) -> torch.Tensor:
    return torch.where((x < 0) | (x > 1), math.nan, over(1, x) / (1 - x))


def exactly(function: Callable[[Array, Array], Array], x: torch.Tensor, y: torch.Tensor) \
        -> torch.Tensor:  # fmt: skip
    """`function` in a float with a longer exponent than float64."""
    wide = (np.asarray(v.numpy(), np.longdouble) for v in (x, y))
    return torch.from_numpy(np.asarray(function(*wide), np.float64))


def over_squares(x: Array, y: Array) -> Array:
    return x / (x * x + y * y)


def over_root(x: Array, y: Array) -> Array:
    return x / np.sqrt(x * x + y * y)


def not_minus(x: Array) -> Array:
    return ~(np.signbit(x) & ((x == 0) | np.isinf(x)))


UNARY = (
    Function("neg", T.neg, torch.neg, 0, 0),
    Function("abs", T.abs, torch.abs, 0, 0),
    Function("sign", T.sign, torch.sign, 0, 0),
    Function("trunc", T.trunc, torch.trunc, 0, 0),
    Function("floor", T.floor, torch.floor, 0, 0),
    Function("ceil", T.ceil, torch.ceil, 0, 0),
    Function("round", T.round, torch.round, 0, 0),
    Function("square", T.square, torch.square, 1, 1),
    Function("sqrt", T.sqrt, torch.sqrt, 1, 2),
    Function("rsqrt", T.rsqrt, torch.rsqrt, 2, 6, slopes=(rsqrt_slope,)),
    Function("reciprocal", T.reciprocal, torch.reciprocal, 1, 3),
    Function("exp2", T.exp2, torch.exp2, 2, 4),
    Function("exp", T.exp, torch.exp, 2, 2),
    Function("expm1", T.expm1, torch.expm1, 3, 3, grad_absolute=1),
    Function("log", T.log, torch.log, 2, 1),
    Function("log2", T.log2, torch.log2, 2, 3),
    Function("log10", T.log10, torch.log10, 2, 3, slopes=(lambda x: over(1 / math.log(10), x),)),
    Function("log1p", T.log1p, lambda x: torch.where(x.abs() < 1e-300, x, torch.log1p(x)), 4, 2),
    Function("sin", T.sin, torch.sin, 3, 3),
    Function("cos", T.cos, torch.cos, 3, 3),
    Function("tan", T.tan, torch.tan, 5, 9),
    Function("sinh", T.sinh, torch.sinh, 5, 5),
    Function("cosh", T.cosh, torch.cosh, 5, 5),
    Function("tanh", T.tanh, torch.tanh, 4, 4, grad_absolute=3),
    Function("asinh", T.asinh, torch.asinh, 5, 4,
             slopes=(lambda x: over(1, hypot(x)),)),
    Function("acosh", T.acosh, torch.acosh, 6, 4, slopes=(acosh_slope,)),
    Function("atanh", T.atanh, torch.atanh, 6, 4, slopes=(lambda x: over(1, 1 - x) / (1 + x),)),
    Function("asin", T.asin, torch.asin, 4, 4),
    Function("acos", T.acos, torch.acos, 4, 4),
    Function("atan", T.atan, torch.atan, 3, 4, slopes=(lambda x: over(1, hypot(x)) / hypot(x),)),
    Function("erf", T.erf, torch.erf, 4, 4, grows=np.square),
    Function("sigmoid", T.sigmoid, torch.sigmoid, 4, 4, grad_absolute=1),
    Function("relu", T.relu, torch.relu, 0, 0, signs=False),
    Function("relu6", T.relu6, F.relu6, 0, 0, signs=False),
    Function("hardtanh", T.hardtanh, F.hardtanh, 0, 0),
    Function("hardsigmoid", T.hardsigmoid, lambda x: F.relu6(x + 3) / 6, 2, 1, absolute=1,
             slopes=(lambda x: (x.abs() < 3).to(x.dtype) / 6,)),
    Function("logsigmoid", T.logsigmoid, F.logsigmoid, 4, 4),
    Function("silu", T.silu, F.silu, 4, 6, grad_absolute=2, grows=np.abs, covers=("silu", "swish")),
    Function("hardswish", T.hardswish, lambda x: x * (F.relu6(x + 3) / 6), 3, 3, grad_absolute=1,
             slopes=(hardswish_slope,)),
    Function("gelu", T.gelu, gelu, 6, 8, grad_absolute=3,
             grows=lambda x: 4 * (x + 0.045 * x**3)),
    Function("quick_gelu", T.quick_gelu, quick_gelu, 6, 8, grad_absolute=3, grows=lambda x: 3 * x),
    Function("elu", T.elu, F.elu, 3, 3),
    Function("celu", lambda x: x.celu(2), lambda x: F.celu(x, 2), 4, 4),
    Function("selu", T.selu, F.selu, 4, 4),
    Function("leaky_relu", T.leaky_relu, F.leaky_relu, 1, 1),
    Function("softplus", lambda x: x.softplus(1.5), lambda x: F.softplus(x, 1.5, 700), 4, 5,
             grows=lambda x: 2 * x),
    Function("mish", T.mish, F.mish, 8, 10, grad_absolute=3, grows=np.abs),
    Function("softsign", T.softsign, F.softsign, 2, 3,
             slopes=(lambda x: (1 / (1 + x.abs())) ** 2,)),
    Function("clamp", lambda x: x.clamp(-1.5, 2), lambda x: x.clamp(-1.5, 2), 0, 0,
             covers=("clamp", "clip", "clamp_min", "clamp_max")),
    Function("frac", T.frac, torch.frac, 0, 0),
    Function("nan_to_num", T.nan_to_num, torch.nan_to_num, 0, 0),
    Function("threshold", lambda x: x.threshold(0.5, 2), lambda x: F.threshold(x, 0.5, 2), 0, 0),
    Function("hardshrink", T.hardshrink, F.hardshrink, 0, 0),
    Function("softshrink", T.softshrink, F.softshrink, 1, 0),
    Function("tanhshrink", T.tanhshrink, tanhshrink, 6, 8, signs=False,
             slopes=(lambda x: torch.tanh(x) ** 2,)),
    Function("logit", T.logit, logit, 5, 5, slopes=(logit_slope,)),
    Function("logit eps", lambda x: x.logit(0.25), lambda x: torch.logit(x, 0.25), 5, 5,
             absolute=1, covers=("logit",)),
    Function("prelu", lambda x: x.prelu(Tensor([0.25], dtype=x.dtype, device=x.device)),
             lambda x: F.prelu(x, torch.tensor([0.25], dtype=x.dtype)), 1, 1),
    *(Function(f"pow {n}", lambda x, n=n: x**n,
               lambda x, n=n: x**n if n >= 0 or n != int(n) else (1 / x) ** -n, 4, 6,
               covers=("pow",))
      for n in (-3, -2, -1, 0, 1, 2, 3, 7, 2.25, -1.5, 0.375)),
    Function("pow 0.5", lambda x: x**0.5, lambda x: x**0.5, 4, 6, same=not_minus),
    Function("pow -0.5", lambda x: x**-0.5, lambda x: x**-0.5, 4, 6, same=not_minus,
             slopes=(rsqrt_slope,)),
    *(Function(f"{n} pow", lambda x, n=n: n**x, lambda x, n=n: n**x, 3, 5)
      for n in (0.0, 0.5, 1.0, 2.5)),
    Function("polynomial", lambda x: x.polynomial((2, 0.5, 1)),
             lambda x: (2 * x + 0.5) * x + 1, 3, 3, 3, 3),
)  # fmt: skip


def pairs(kind: type[np.floating[Any]]) -> tuple[Array, ...]:
    """Every two of a few values."""
    x, y = np.meshgrid(few(kind), few(kind))
    return x.ravel(), y.ravel()


class _Remainder(torch.autograd.Function):
    """torch.remainder with C's fmod: PyTorch's own is NaN in float64 for large quotients."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        rest, divisor = np.fmod(x.numpy(), y.numpy()), y.numpy()
        other = (rest != 0) & ((rest < 0) != (divisor < 0))
        return torch.from_numpy(np.where(other, rest + divisor, rest))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, y = ctx.saved_tensors
        return grad, -grad * torch.from_numpy(np.floor_divide(x.numpy(), y.numpy()))


class _Fmod(torch.autograd.Function):
    """torch.fmod with C's own, and the derivative of the exact quotient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        rest = torch.from_numpy(np.fmod(x.numpy(), y.numpy()))
        ctx.save_for_backward(x, y, rest)
        return rest

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, y, rest = ctx.saved_tensors
        return grad, grad * (rest - x) / y


def exact_fmod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _Fmod.apply(x, y)


def exact_remainder(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _Remainder.apply(x, y)


def with_targets(kind: type[np.floating[Any]]) -> tuple[Array, ...]:
    """Every value with every target."""
    x, y = np.meshgrid(values(kind, 1), np.array([0, 0.25, 0.5, 1], kind))
    return x.ravel(), y.ravel()


def probabilities(kind: type[np.floating[Any]]) -> tuple[Array, ...]:
    """As `with_targets`, for values between 0 and 1."""
    x, y = with_targets(kind)
    inside = (x >= 0) & (x <= 1)
    return x[inside], y[inside]


BINARY = (
    Function("add", lambda x, y: x + y, torch.add, 1, 0, covers=("add", "usum")),
    Function("sub", lambda x, y: x - y, torch.sub, 1, 0),
    Function("mul", lambda x, y: x * y, torch.mul, 1, 0, covers=("mul", "uprod")),
    Function("div", lambda x, y: x / y, torch.div, 1, 4),
    Function("mod", lambda x, y: x % y, exact_remainder, 1, 1, covers=("mod", "remainder")),
    Function("atan2", T.atan2, torch.atan2, 4, 6,
             slopes=(lambda y, x: exactly(over_squares, x, y),
                     lambda y, x: -exactly(over_squares, y, x))),
    Function("hypot", T.hypot, torch.hypot, 2, 4,
             slopes=(lambda x, y: exactly(over_root, x, y), lambda x, y: exactly(over_root, y, x))),
    Function("xlogy", T.xlogy, torch.xlogy, 3, 2),
    Function("addcmul", lambda x, y: x.addcmul(x, y, value=2),
             lambda x, y: x + 2 * (x * y), 2, 2, narrow=True),
    Function("addcdiv", lambda x, y: x.addcdiv(x, y, value=2),
             lambda x, y: x + 2 * (x / y), 2, 4, narrow=True),
    *(Function(name, lambda x, y, f=name: getattr(x, f)(y).cast(x.dtype),
               lambda x, y, f=name: getattr(x, f)(y).to(x.dtype), 0, gradient=False)
      for name in ("logical_and", "logical_or", "logical_xor")),
    Function("fmod", T.fmod, exact_fmod, 1, 1, absolute=0),
    Function("logaddexp", T.logaddexp, torch.logaddexp, 4, 4, 2, 1),
    Function("floor_div", lambda x, y: x // y, floor_quotient, 1, gradient=False,
             covers=("div", "floor_divide")),
    Function("maximum", T.maximum, torch.maximum, 0, 0, signs=False),
    Function("minimum", T.minimum, torch.minimum, 0, 0, signs=False),
    Function("copysign", T.copysign, torch.copysign, 0, 0),
    Function("pow", T.pow, torch.pow, 3, 6, narrow=True),
    Function("lerp", lambda x, y: x.lerp(y, 0.25), lambda x, y: torch.lerp(x, y, 0.25), 2, 1,
             narrow=True, signs=False),
    Function("where", lambda x, y: (x > 0).where(x, y), lambda x, y: torch.where(x > 0, x, y),
             0, 0, covers=("where", "masked_fill")),
    Function("binary_crossentropy_logits",
             lambda x, y: x.binary_crossentropy_logits(y, reduction="none"),
             lambda x, y: torch.where(x > 0, (1 - y) * x, -y * x)
             + torch.log1p(torch.exp(-x.abs())),
             6, 6, inputs=with_targets, grad_absolute=1,
             slopes=(lambda x, y: torch.sigmoid(x) - y, lambda x, y: -x)),
    Function("binary_crossentropy",
             lambda x, y: x.binary_crossentropy(y, reduction="none"),
             lambda x, y: F.binary_cross_entropy(x, y, reduction="none"),
             6, 6, inputs=probabilities, grad_absolute=2,
             slopes=(lambda x, y: (x - y) / (x * (1 - x)).clamp(1e-12),
                     lambda x, y: torch.log1p(-x) - x.log())),
)  # fmt: skip


def check(function: Function, kind: type[np.floating[Any]], device: str) -> None:
    arrays = function.inputs(kind) if function.inputs else None
    if arrays is None:
        arrays = pairs(kind) if function in BINARY else (values(kind),)
    wrong = fails(function, arrays, device)
    assert not wrong, f"{len(wrong)} of {len(arrays[0])}:\n" + "\n".join(wrong[:40])


DIFFERENCES = (
    "`x ** 0.5` and `x ** -0.5` of -0.0 and -inf",
    "The gradient where an argument is NaN",
    "The gradient at an infinite argument",
    (
        "`max`, `min`, `maximum`, `minimum`, `relu`, `relu6`, `lerp`, `layernorm`, "
        "`tanhshrink`: which zero"
    ),
    "`softplus` has no threshold",
    "`sort` and `topk` give 0.0 for -0.0",
)
"""What the tables let through."""
_OTHERS = """
    T data device dtype grad requires_grad shape uop ndim requires_grad_ element_size nbytes
    numel size is_floating_point item tolist numpy realize kernelize schedule replace assign
    clone place backward gradient detach contiguous contiguous_backward to to_ train no_grad
    manual_seed
    from_bytes from_numpy arange empty empty_like eye full full_like linspace ones ones_like
    zeros zeros_like rand rand_like randint randn randn_like randperm normal uniform
    scaled_uniform glorot_uniform kaiming_normal kaiming_uniform meshgrid one_hot cast bitcast
    bfloat16 bool double float half int long short reshape view permute transpose expand
    expand_as shrink pad flip flatten unflatten squeeze unsqueeze split chunk repeat
    repeat_interleave roll cat stack diag diagonal tril triu gather scatter masked_select
    nonzero eq ne lt le gt ge logical_not isnan isinf isfinite isclose allclose bitwise_and
    bitwise_or bitwise_xor bitwise_not lshift rshift idiv matmul dot linear einsum conv2d
    conv_transpose2d avg_pool2d max_pool2d sequential dropout scaled_dot_product_attention
    batchnorm call_kernel unfold interpolate max_unpool2d multinomial pad_to shrink_to
    newton_schulz from_blob fuse rearrange movedim unbind index_select outer glu norm
    mm bmm mv addmm baddbmm trace kron amax amin count_nonzero broadcast_to tile
    adaptive_avg_pool adaptive_max_pool narrow select take_along_dim scatter_add index_add
    index_copy index_fill l1_loss mse_loss smooth_l1_loss huber_loss kl_div ctc_loss
    poisson_nll_loss gaussian_nll_loss hinge_embedding_loss soft_margin_loss multi_margin_loss
    multilabel_soft_margin_loss margin_ranking_loss triplet_margin_loss cosine_embedding_loss
    cosine_similarity pairwise_distance
    median quantile diff from_url is_param is_param_ named wants_grad axis shard shard_ shard_like
    qr svd
"""
_IN_PLACE = {name for name, *_ in (*CASES, *INTEGERS)} | set(RANDOM)
NOT_FUNCTIONS = frozenset(re.findall(r"\w+", _OTHERS)) | _IN_PLACE
"""What is no function of values with a domain: places, dtypes, comparisons, bits, sums of
products, losses, and the methods of the tables of `test_inplace`, which the other modules test."""


def test_no_function_is_missing() -> None:
    tested = {name for f in (*UNARY, *BINARY, *REDUCES) for name in f.covers or (f.name,)}
    names = {name for name in dir(Tensor) if not name.startswith("_")}
    assert names - NOT_FUNCTIONS - tested == set(), "give each a row in a table of this module"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("function", [*UNARY, *BINARY], ids=repr)
def test_whole_domain(function: Function, kind: type[np.floating[Any]], device: str) -> None:
    check(function, kind, device)


@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("function", REDUCES, ids=repr)
def test_reduces(function: Function, kind: type[np.floating[Any]], device: str) -> None:
    wrong = differences(function, kind, device)
    assert not wrong, f"{len(wrong)} rows:\n" + "\n".join(wrong[:20])


def test_differences_by_design_are_documented() -> None:
    """Each is one bullet of docs/numerics.md."""
    text = (Path(__file__).resolve().parents[2] / "docs/numerics.md").read_text(encoding="utf-8")
    for phrase in DIFFERENCES:
        assert phrase in " ".join(text.split()), phrase
