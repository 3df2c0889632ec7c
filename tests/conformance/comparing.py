"""How a Tensor operation is compared with PyTorch's on the CPU: values, dtype-wise tolerances,
gradients for a fixed cotangent. Knows no operation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import Tensor
from tests.fuzzing import has_float64

settings.register_profile(
    "conformance",
    max_examples=int(os.environ.get("CONFORMANCE_EXAMPLES", "8")),
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("conformance")

TOLERANCE = {
    np.dtype(np.float16): (4e-3, 4e-3),
    np.dtype(np.float32): (3e-5, 3e-5),
    np.dtype(np.float64): (1e-9, 1e-9),
}
"""(relative, absolute) by dtype."""


@dataclass(frozen=True)
class Operation:
    """One operation as ours and as PyTorch's, and what it may be given.

    `low` and `high` bound the values, `away` keeps them that far from whole numbers (kinks and
    jumps of the operation, where derivatives differ by convention). `loose` multiplies tolerances.
    """

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    low: float = -6.0
    high: float = 6.0
    away: float = 0.0
    gradient: bool = True
    special: bool = False
    loose: float = 1.0
    kinds: str = "fd"
    """dtypes it is tried with, as NumPy letters."""

    def __repr__(self) -> str:
        return self.name


def present(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype; float32 in place of a float64 that the device does not have."""
    return np.dtype(np.float32) if dtype == np.float64 and not has_float64() else dtype


def held(array: np.ndarray) -> np.ndarray:
    """The numbers in a dtype that the device has."""
    return array.astype(present(array.dtype))


def values(shape: Sequence[int], kind: str, op: Operation) -> st.SearchStrategy[np.ndarray]:
    """Arrays of dtype letter `kind`, where the device has it, within the bounds of `op`."""
    dtype = present(np.dtype(kind))
    if dtype.kind == "b":
        return hnp.arrays(dtype, tuple(shape), elements=st.booleans())
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = max(int(op.low), int(info.min)), min(int(op.high), int(info.max))
        return hnp.arrays(dtype, tuple(shape), elements=st.integers(low, high))
    width = dtype.itemsize * 8
    steps = st.integers(int(op.low * 64), int(op.high * 64)).map(lambda i: i / 64)
    numbers: st.SearchStrategy[float] = st.one_of(
        steps,
        st.floats(
            float(dtype.type(op.low)),
            float(dtype.type(op.high)),
            width=width,
            allow_subnormal=False,
        ),
    )
    if op.away:
        numbers = numbers.map(lambda v: _away(v, op.away))
    if op.special:
        numbers |= st.sampled_from([np.inf, -np.inf, np.nan, 0.0, -0.0])
    return hnp.arrays(dtype, tuple(shape), elements=numbers.map(lambda v: float(dtype.type(v))))


def _away(value: float, distance: float) -> float:
    whole = round(value)
    return value if abs(value - whole) >= distance else whole + distance


def same(ours: Any, theirs: torch.Tensor, loose: float = 1.0, exact_dtype: bool = True) -> None:
    """Fails unless shapes and values agree (to the tolerance of the dtype)."""
    want = theirs.detach().resolve_neg().numpy()
    have = ours.numpy()
    assert have.shape == want.shape, f"shape {have.shape}, PyTorch has {want.shape}"
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(have.astype(want.dtype), want)
        return
    if exact_dtype:
        assert have.dtype == want.dtype, f"dtype {have.dtype}, PyTorch has {want.dtype}"
    relative, absolute = TOLERANCE[want.dtype]
    np.testing.assert_allclose(
        have, want, rtol=relative * loose, atol=absolute * loose, equal_nan=True
    )


def check(op: Operation, arrays: Sequence[np.ndarray], **options: Any) -> None:
    """Forward on `arrays`, and backward where they are floats of 32 bits or more."""
    arrays = [held(a) for a in arrays]
    mine = [Tensor(a) for a in arrays]
    other = [torch.from_numpy(a.copy()) for a in arrays]
    with np.errstate(all="ignore"):
        result, expected = op.ours(*mine, **options), op.theirs(*other, **options)
        same(result, expected, op.loose)
        if (
            op.gradient
            and any(a.dtype.kind == "f" for a in arrays)
            and expected.dtype.is_floating_point
            and expected.numel()
        ):
            check_gradient(op, arrays, options)


def check_gradient(op: Operation, arrays: Sequence[np.ndarray], options: dict[str, Any]) -> None:
    """The gradients of sum(y * c), c = 0.5, -0.75, 1.0 and so on in turn."""
    floats = [a.dtype.kind == "f" for a in arrays]
    other = [
        torch.from_numpy(a.copy()).requires_grad_(f) for a, f in zip(arrays, floats, strict=True)
    ]
    mine = [Tensor(a) for a in arrays]
    result, expected = op.ours(*mine, **options), op.theirs(*other, **options)
    cotangent = np.resize(np.array([0.5, -0.75, 1.0, 1.25, -0.25]), expected.shape)
    cotangent = cotangent.astype(expected.detach().numpy().dtype)
    expected.backward(torch.from_numpy(cotangent))
    targets = [m for m, f in zip(mine, floats, strict=True) if f]
    found = result.gradient(*targets, gradient=Tensor(cotangent), materialize_grads=True)
    wanted = [o.grad for o, f in zip(other, floats, strict=True) if f]
    for have, want, target in zip(found, wanted, targets, strict=True):
        if want is None:
            want = torch.zeros(target.shape, dtype=expected.dtype)
        same(have, want, 4 * op.loose)


def shapes(most_axes: int = 3, longest: int = 5, least_axes: int = 0) -> st.SearchStrategy[Any]:
    """Shapes with small lengths, none of them 0."""
    return hnp.array_shapes(min_dims=least_axes, max_dims=most_axes, min_side=1, max_side=longest)
