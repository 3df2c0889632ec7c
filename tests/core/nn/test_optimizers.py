"""Optimizers that PyTorch lacks, or computes in other dtypes, against their formulas in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Context, Tensor, nn
from core.errors import DTypeError

Array = np.ndarray[Any, Any]
Step = Callable[[Array, Array, dict[str, Array], int], Array]
LR, WD, MOMENTUM = 0.1, 0.02, 0.9


def size(x: Array) -> float:
    return float(np.sqrt(np.square(x).sum()))


def lars(classic: bool, pre: bool, nesterov: bool) -> Step:
    def step(p: Array, g: Array, kept: dict[str, Array], t: int) -> Array:
        r = 0.5 * size(p) / (size(g) + WD * size(p)) if size(p) and size(g) else 1.0
        g = g + WD * p if pre else g
        g = g * LR * r if classic else g
        kept["b"] = kept.get("b", 0) * MOMENTUM + g
        g = g + kept["b"] * MOMENTUM if nesterov else kept["b"]
        p = p if pre else p * (1 - WD * LR)
        return p - (g if classic else g * LR * r)

    return step


def lamb(adam: bool) -> Step:
    def step(p: Array, g: Array, kept: dict[str, Array], t: int) -> Array:
        kept["m"] = kept.get("m", 0) * 0.9 + 0.1 * g
        kept["v"] = kept.get("v", 0) * 0.999 + 0.001 * g * g
        move = (kept["m"] / (1 - 0.9**t)) / (np.sqrt(kept["v"] / (1 - 0.999**t)) + 1e-6) + WD * p
        return p - LR * move * (1 if adam or not size(p) else size(p) / size(move))

    return step


def muon(nesterov: bool) -> Step:
    def step(p: Array, g: Array, kept: dict[str, Array], t: int) -> Array:
        kept["b"] = kept.get("b", 0) * MOMENTUM + g
        g = g + kept["b"] * MOMENTUM if nesterov else kept["b"]
        if p.ndim > 1:
            u, s, v = np.linalg.svd(g.reshape(len(g), -1), full_matrices=False)
            s = s / size(g)
            for _ in range(5):
                s = 3.4445 * s - 4.775 * s**3 + 2.0315 * s**5
            g = ((u * s) @ v).reshape(g.shape)
        return p * (1 - WD * LR) - LR * g

    return step


optim = nn.optim
CASES: list[tuple[str, Callable[[list[Tensor]], nn.optim.Optimizer], Step]] = [
    *((f"lars {c} {p} {n}",
       lambda ps, c=c, p=p, n=n: optim.LARS(ps, LR, MOMENTUM, WD, n, c, p, tcoef=0.5),
       lars(c, p, n))
      for c in (False, True) for p in (False, True) for n in (False, True)),
    *((f"lamb {a}", lambda ps, a=a: optim.LAMB(ps, LR, weight_decay=WD, adam=a), lamb(a))
      for a in (False, True)),
    *((f"muon {n}", lambda ps, n=n: optim.Muon(ps, LR, MOMENTUM, WD, nesterov=n), muon(n))
      for n in (False, True)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_formula(case: Any) -> None:
    _, make, step = case
    random = np.random.default_rng(2)
    arrays = [random.normal(size=s) for s in ((4, 3), (3,), (2, 2, 3))] + [np.zeros((2, 2))]
    mine = [Tensor(a, requires_grad=True) for a in arrays]
    optimizer, kept = make(mine), [dict[str, Array]() for _ in arrays]
    with Tensor.train():
        for t in range(1, 4):
            grads = [random.normal(size=a.shape) for a in arrays]
            for p, g in zip(mine, grads, strict=True):
                p.grad = Tensor(g)
            optimizer.step()
            arrays = [step(*of, t) for of in zip(arrays, grads, kept, strict=True)]
            for p, a in zip(mine, arrays, strict=True):
                np.testing.assert_allclose(p.numpy(), a, rtol=1e-6, atol=1e-6)


def test_a_rate_that_changes_in_classic_momentum() -> None:
    p = Tensor([0.0], requires_grad=True)
    optimizer = nn.optim.SGD([p], 1.0, 0.5, classic=True)
    with Tensor.train():
        for rate in (1.0, 0.0):
            optimizer.lr.assign(Tensor([rate]))
            p.grad = Tensor([1.0])
            optimizer.step()
    assert p.tolist() == [-1.5]


def test_what_is_no_parameter_is_not_trained() -> None:
    weight, fixed = Tensor([1.0]), Tensor([2.0]).is_param_(False)
    assert (weight.is_param, fixed.is_param, fixed.requires_grad) == (True, False, False)
    optimizer = nn.optim.SGD([weight, fixed], lr=1.0)
    with Context(TRAINING=1):
        (weight * fixed).sum().backward()
        optimizer.step()
    assert (weight.item(), fixed.item(), fixed.grad) == (-1.0, 2.0, None)
    assert weight.is_param_(False).requires_grad is False


def test_arguments_of_every_optimizer() -> None:
    for make in (nn.optim.SGD, nn.optim.Adam, nn.optim.AdamW, nn.optim.LARS, nn.optim.LAMB,
                 nn.optim.Muon):  # fmt: skip
        w = Tensor([[1.0, 2.0]], requires_grad=True)
        optimizer = make([w], lr=0.5, device="CPU:1", fused=True)
        assert optimizer.lr.device == "CPU:1"
        with Tensor.train():
            w.square().sum().backward()
            optimizer.step()
        assert w.device == Tensor([1.0]).device
        assert w.tolist() != [[1, 2]]
        with pytest.raises(DTypeError, match="momentu"):
            make([w], momentu=0.9)
