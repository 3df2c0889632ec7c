"""Reduces, orders and losses of short rows with zeros, infinities, NaN and very large numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from core import Tensor
from tests.conformance.devices import flushes_subnormals
from tests.conformance.domain import Array, Function, mismatches

T = Tensor
ROWS, LENGTH = 400, 5
CLASSES = np.arange(ROWS) % LENGTH


def rows(kind: type[np.floating[Any]]) -> Array:
    """Rows of ordinary numbers, and of those mixed with every kind of special one."""
    info, rng = np.finfo(kind), np.random.default_rng(7)
    special = np.array([0.0, -0.0, 1, -1, 2, 2, 100, -100, info.tiny, info.smallest_subnormal,
                        info.max, -info.max, np.inf, -np.inf, np.nan])  # fmt: skip
    weights = np.array([4, 4, 4, 4, 4, 4, 1, 1, 1, 1, 0.5, 0.5, 1, 1, 1])
    mixed = rng.choice(special, (ROWS, LENGTH), p=weights / weights.sum())
    ordinary = rng.uniform(-4, 4, (ROWS, LENGTH))
    mixed = np.where(rng.random((ROWS, 1)) < 0.3, ordinary, mixed).astype(kind)
    fixed = [[x] * LENGTH for x in (0.0, 1.0, np.inf, -np.inf, np.nan)]
    fixed += [[3, np.nan, 2, 1, np.nan], [0, -np.inf, 1, -np.inf, 2], [np.inf, 0, np.inf, 1, 2]]
    mixed[: len(fixed)] = np.array(fixed, kind)
    if kind is np.float32 and flushes_subnormals():
        mixed[np.abs(mixed) < info.tiny] = 0
    return mixed


def _classes(x: Any) -> Any:
    return (Tensor(CLASSES.astype(np.int32), device=x.device) if isinstance(x, Tensor)
            else torch.from_numpy(CLASSES))  # fmt: skip


def _order(at: int) -> Function:
    name = ("sort", "argsort")[at]
    return Function(
        name,
        lambda x: x.sort(-1)[at],
        lambda x: torch.sort(x, dim=-1, stable=True)[at],
        gradient=at == 0,
        signs=False,
    )


REDUCES = (
    Function("sum", lambda x: x.sum(-1), lambda x: x.sum(-1), 4, 1, 2),
    Function("mean", lambda x: x.mean(-1), lambda x: x.mean(-1), 4, 2, 2),
    Function("prod", lambda x: x.prod(-1), lambda x: x.prod(-1), 6, 8),
    Function("max", lambda x: x.max(-1), lambda x: x.amax(-1), 0, 1, signs=False),
    Function("min", lambda x: x.min(-1), lambda x: x.amin(-1), 0, 1, signs=False),
    Function("any", lambda x: x.any(-1), lambda x: x.bool().any(-1), gradient=False),
    Function("all", lambda x: x.all(-1), lambda x: x.bool().all(-1), gradient=False),
    Function("argmax", lambda x: x.argmax(-1), lambda x: x.argmax(-1), gradient=False),
    Function("argmin", lambda x: x.argmin(-1), lambda x: x.argmin(-1), gradient=False),
    Function("var", lambda x: x.var(-1), lambda x: x.var(-1), 8, 8, 4, 4,
             covers=("var", "var_mean")),
    Function("var 0", lambda x: x.var(-1, correction=0), lambda x: x.var(-1, correction=0), 8, 8,
             4, 4, covers=("var",)),
    Function("var 5", lambda x: x.var(-1, correction=5), lambda x: x.var(-1, correction=5), 8, 8,
             4, 4, covers=("var",), gradient=False),
    Function("std", lambda x: x.std(-1), lambda x: x.std(-1), 8, 8, 4, 4,
             covers=("std", "std_mean")),
    Function("logsumexp", lambda x: x.logsumexp(-1), lambda x: x.logsumexp(-1), 4, 8, 2, 2),
    Function("softmax", lambda x: x.softmax(-1), lambda x: x.softmax(-1), 8, 8, 1, 4),
    Function("log_softmax", lambda x: x.log_softmax(-1), lambda x: x.log_softmax(-1), 8, 8, 8, 8),
    Function("cumsum", lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), 4, 4, 4),
    Function("cumprod", lambda x: x.cumprod(-1), lambda x: x.cumprod(-1), 6, gradient=False),
    Function("softmin", lambda x: x.softmin(-1), lambda x: F.softmin(x, -1), 8, 8, 1, 4),
    Function("logcumsumexp", lambda x: x.logcumsumexp(-1), lambda x: x.logcumsumexp(-1), 6, 8, 4, 4,
             gradient=False),
    Function("cummax", lambda x: x.cummax(-1)[0], lambda x: x.cummax(-1).values, 0, gradient=False,
             signs=False),
    Function("cummin", lambda x: x.cummin(-1)[0], lambda x: x.cummin(-1).values, 0, gradient=False,
             signs=False),
    *(Function(f"{name} position", lambda x, name=name: getattr(x, name)(-1)[1],
               lambda x, name=name: getattr(x, name)(-1).indices, gradient=False, covers=(name,))
      for name in ("cummax", "cummin")),
    Function("normalize", lambda x: x.normalize(2, -1), lambda x: F.normalize(x, dim=-1), 8,
             gradient=False),
    _order(0),
    _order(1),
    Function("sort descending", lambda x: x.sort(-1, True)[1],
             lambda x: torch.sort(x, dim=-1, descending=True, stable=True)[1], gradient=False,
             covers=("sort",)),
    Function("topk", lambda x: x.topk(2)[0], lambda x: x.topk(2)[0], 0, gradient=False,
             signs=False),
    Function("layernorm", lambda x: x.layernorm(), lambda x: F.layer_norm(x, (LENGTH,)), 16, 64,
             8, 64, signs=False),
    Function("cross_entropy", lambda x: x.cross_entropy(_classes(x), reduction="none"),
             lambda x: F.cross_entropy(x, _classes(x), reduction="none"), 8, 8, 8, 8),
    Function("cross_entropy smooth", lambda x: x.cross_entropy(_classes(x), "none", 0.25),
             lambda x: F.cross_entropy(x, _classes(x), reduction="none", label_smoothing=0.25),
             16, 16, 16, 16, covers=("cross_entropy",)),
    Function("sparse_categorical_crossentropy",
             lambda x: x.sparse_categorical_crossentropy(_classes(x), reduction="none"),
             lambda x: F.cross_entropy(x, _classes(x), reduction="none"), 8, 8, 8, 8),
    Function("nll_loss", lambda x: x.nll_loss(_classes(x), reduction="none"),
             lambda x: F.nll_loss(x, _classes(x), reduction="none"), 0, 0, signs=False),
    *(Function(f"scatter_reduce {how}", lambda x, how=how: _scattered(x, how),
               lambda x, how=how: _scattered(x, how), 4, gradient=False, signs=False,
               covers=("scatter_reduce",)) for how in ("sum", "prod", "amax", "amin", "mean")),
)  # fmt: skip


def _scattered(x: Any, how: str) -> Any:
    columns = np.tile(np.array([0, 1, 1, 3, 0]), (ROWS, 1))
    index = (Tensor(columns.astype(np.int32), device=x.device) if isinstance(x, Tensor)
             else torch.from_numpy(columns))  # fmt: skip
    return (x * 0 + 1).scatter_reduce(1, index, x, how, include_self=False)


@np.errstate(all="ignore")
def differences(function: Function, kind: type[np.floating[Any]], device: str) -> list[str]:
    """The rows for which a reduce is not what PyTorch has in float64."""
    x = rows(kind)
    mine = Tensor(x, device=device, requires_grad=True)
    other = torch.from_numpy(x.astype(np.float64)).requires_grad_()
    result, expected = function.ours(mine), function.theirs(other)
    got, right = result.numpy(), expected.detach().numpy()
    scale = np.max(np.where(np.isfinite(x), np.abs(x), 0).astype(np.float64), axis=-1)
    compared = _defined(function, x, scale)
    found: list[str] = []
    if got.dtype.kind != "f":
        wrong = (got != right).reshape(ROWS, -1).any(-1)
        return [f"{x[i]}: {got[i]}, not {right[i]}" for i in np.flatnonzero(wrong & compared)]
    grown = np.maximum(1, scale).reshape((ROWS,) + (1,) * (got.ndim - 1))
    wrong = mismatches(got, right, function.ulp, function.absolute * grown, function.signs)
    wrong = wrong.reshape(ROWS, -1).any(-1) & compared
    found += [f"{x[i]}: {got[i]}, not {right[i]}" for i in np.flatnonzero(wrong)]
    if not function.gradient:
        return found
    ones = Tensor(np.ones(got.shape, kind), device=device)
    (slope,) = result.gradient(mine, gradient=ones, materialize_grads=True)
    expected.backward(torch.ones_like(expected))
    assert other.grad is not None
    got, right = slope.numpy(), other.grad.numpy()
    absolute = function.grad_absolute * np.maximum(1, scale)[:, None]
    wrong = mismatches(got, right, function.grad_ulp, absolute, False)
    # the gradient of what is not finite is not compared
    compared = compared & np.isfinite(expected.detach().numpy()).reshape(ROWS, -1).all(-1)
    compared = compared & np.isfinite(result.numpy()).reshape(ROWS, -1).all(-1)
    wrong = wrong.reshape(ROWS, -1).any(-1) & compared
    return found + [f"gradient of {x[i]}: {got[i]}, not {right[i]}" for i in np.flatnonzero(wrong)]


def _defined(function: Function, x: Array, scale: Array) -> Array:
    """Rows whose intermediate results are floats of the dtype: PyTorch has more room in float64."""
    limit = float(np.sqrt(float(np.finfo(np.float32 if x.dtype.itemsize < 8 else x.dtype).max)))
    squares = function.name.startswith(("var", "std", "layernorm", "prod", "cumprod"))
    if squares:
        return scale < limit / 10
    return scale < float(np.finfo(x.dtype).max) / LENGTH
