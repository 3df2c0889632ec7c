"""Methods that end in `_` against PyTorch: of a whole Tensor, of a view, and with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from core import Tensor
from core.errors import DTypeError, GradientError
from tests.conformance.comparing import same

A, B = (
    np.random.default_rng(k).uniform(0.2, 0.9, (3, 4)).round(2).astype(np.float32) for k in (1, 2)
)
MASK = A > 0.5
ROWS = np.array([[2, 0, 1, 0], [1, 1, 2, 2]])
SOME = np.array([2, 0])

Args = tuple[Any, ...]
CASES: list[tuple[str, Args, dict[str, Any]]] = [
    ("add_", (B,), {}), ("add_", (B,), {"alpha": -0.5}), ("add_", (2.5,), {}),
    ("sub_", (B,), {"alpha": 2}), ("sub_", (1,), {}), ("mul_", (B,), {}), ("mul_", (0.5,), {}),
    ("div_", (B,), {}), ("div_", (B,), {"rounding_mode": "floor"}), ("floor_divide_", (B,), {}),
    ("remainder_", (B,), {}), ("fmod_", (B,), {}), ("pow_", (2,), {}), ("pow_", (B,), {}),
    ("addcmul_", (A, B), {"value": 0.3}), ("addcdiv_", (A, B), {"value": -2}),
    ("lerp_", (B, 0.3), {}), ("copy_", (B,), {}), ("copy_", (B[0],), {}), ("fill_", (3,), {}),
    ("zero_", (), {}), ("clamp_", (0.4, 0.6), {}), ("clip_", (0.4, None), {}),
    ("clamp_min_", (0.5,), {}), ("clamp_max_", (0.5,), {}), ("nan_to_num_", (1.0,), {}),
    ("masked_fill_", (MASK, 7.0), {}), ("tril_", (), {}), ("triu_", (1,), {}),
    ("cumsum_", (1,), {}), ("cumprod_", (0,), {}), ("scatter_", (0, ROWS, B[:2]), {}),
    ("scatter_add_", (0, ROWS, B[:2]), {}), ("scatter_reduce_", (0, ROWS, B[:2], "sum"), {}),
    ("index_add_", (0, SOME, B[:2]), {"alpha": 3}), ("index_add_", (-1, SOME, B[:, :2]), {}),
    ("index_copy_", (1, SOME, B[:, :2]), {}), ("index_fill_", (0, SOME, -1.0), {}),
    ("copysign_", (-B,), {}), ("logit_", (), {}), ("logit_", (0.3,), {}), ("xlogy_", (B,), {}),
    ("atan2_", (-B,), {}), ("hypot_", (B,), {}), ("eq_", (A[0],), {}), ("lt_", (B,), {}),
    ("ne_", (A[0],), {}), ("le_", (B,), {}), ("gt_", (B,), {}),
    ("hardtanh_", (-0.5, 0.5), {}), ("threshold_", (0.5, 2.0), {}), ("celu_", (1.3,), {}),
    *((f"{name}_", (), {}) for name in (
        "neg", "abs", "sign", "floor", "ceil", "round", "trunc", "frac", "square", "sqrt", "rsqrt",
        "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
        "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        "erf", "sigmoid", "relu",
        "logical_not",
    )),
    *((f"{name}_", (), {}) for name in ("relu6", "leaky_relu", "elu", "selu", "silu", "mish",
                                        "hardswish", "hardsigmoid")),
]  # fmt: skip
INTEGERS: list[tuple[str, Args]] = [
    ("bitwise_and_", (6,)), ("bitwise_or_", (9,)), ("bitwise_xor_", (5,)), ("bitwise_not_", ()),
    *((f"logical_{name}_", (np.array([2, 0, 1, 0]),)) for name in ("and", "or", "xor")),
    ("add_", (3,)), ("gt_", (4,)), ("ne_", (5,)), ("le_", (3,)),
    ("mul_", (-2,)), ("floor_divide_", (4,)), ("ge_", (4,)), ("fill_", (2,)), ("clamp_", (2, 5)),
]  # fmt: skip
RANDOM: dict[str, Args] = {
    "normal_": (2, 0.5), "uniform_": (1, 3), "bernoulli_": (0.25,), "exponential_": (2,),
}  # fmt: skip
VALUES_ALONE = {"floor_divide_", "logical_not_", "asinh_", "acosh_", "atanh_"}
"""What PyTorch has no gradient of in place."""


def name_of(case: Any) -> str:
    return case if isinstance(case, str) else ""


def theirs(x: torch.Tensor, name: str, args: Args, options: dict[str, Any]) -> torch.Tensor:
    given = [torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in args]
    if hasattr(x, name):
        return getattr(x, name)(*given, **options)
    return getattr(torch.nn.functional, name.rstrip("_"))(x, *given, inplace=True, **options)


def ours(x: Tensor, name: str, args: Args, options: dict[str, Any]) -> Tensor:
    given = [Tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    return getattr(x, name)(*given, **options)


@pytest.mark.parametrize(("name", "args", "options"), CASES, ids=name_of)
def test_in_place(name: str, args: Args, options: dict[str, Any]) -> None:
    leaf, other = Tensor(A, requires_grad=True), torch.from_numpy(A.copy()).requires_grad_()
    base, wide = leaf * 2 - 1, other * 2 - 1
    if name in ("sqrt_", "rsqrt_", "pow_", "logit_", "xlogy_") or name.startswith("log"):
        base, wide = leaf * 1, other * 1
    base, wide = (z.reshape(3, 2, 2).permute(1, 0, 2) for z in (base, wide))
    x, y = (z.permute(1, 0, 2).reshape(3, 4) for z in (base, wide))
    assert ours(x, name, args, options) is x
    theirs(y, name, args, options)
    same(base, wide, 4)
    if name in VALUES_ALONE:
        return
    (base * Tensor(B.reshape(2, 3, 2))).sum().backward()
    if wide.requires_grad:
        (wide * torch.from_numpy(B.reshape(2, 3, 2))).sum().backward()
    want = torch.zeros(3, 4) if other.grad is None else other.grad
    same(leaf.grad if leaf.grad is not None else Tensor.zeros(3, 4), want, 10)


@pytest.mark.parametrize(("name", "args"), INTEGERS, ids=name_of)
def test_in_place_of_integers(name: str, args: Args) -> None:
    whole = np.arange(8, dtype=np.int32)
    x, y = Tensor(whole), torch.from_numpy(whole.copy())
    ours(x[1::2], name, args, {})
    theirs(y[1::2], name, args, {})
    same(x, y)


def test_what_is_refused() -> None:
    whole, leaf = Tensor([1, 2]), Tensor([1.0], requires_grad=True)
    for name, args in (("add_", (0.5,)), ("div_", (2,)), ("exp_", ())):
        with pytest.raises(DTypeError):
            ours(whole, name, args, {})
        with pytest.raises(RuntimeError):
            theirs(torch.tensor([1, 2]), name, args, {})
    for name, args in (("add_", (1,)), ("zero_", ()), ("copy_", (np.ones(1, np.float32),))):
        with pytest.raises(GradientError):
            ours(leaf, name, args, {})
    with Tensor.no_grad():
        assert leaf.fill_(4).item() == 4
        assert leaf.requires_grad


def test_random_numbers_in_place() -> None:
    Tensor.manual_seed(5)
    x = Tensor.zeros(4, 1000).contiguous()
    for row, (name, args) in enumerate(RANDOM.items()):
        ours(x[row], name, args, {})
    mean, std = x.numpy().mean(1), x.numpy().std(1)
    np.testing.assert_allclose(mean, [2, 2, 0.25, 0.5], atol=0.06)
    np.testing.assert_allclose(std, [0.5, 0.5774, 0.433, 0.5], atol=0.06)
