"""Values from the whole domain of a float dtype, and how far a result may be from the right one.

What is right is PyTorch's result in float64, from the same values. Knows no operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from core import Tensor
from core.dtype import DType, dtypes
from tests.conformance.devices import flushes_subnormals

Array = np.ndarray[Any, Any]
FLOATS = (np.float32, np.float64, np.float16)
LOST = 256
"""Times the smallest normal float32: results below that may be of subnormal numbers, which may
count as 0."""
BRANCHES = (0.25, 0.3, 0.35, 0.42, 0.4142135, 0.5, 1, 2, 2.4142135, 3, 6, 20, 80, 88.7, 89, 100,
            103.9, 104, 709.7, 745.1)  # fmt: skip


@np.errstate(all="ignore")
def values(kind: type[np.floating[Any]], per_decade: int = 2) -> Array:
    """Zeros, subnormal numbers, all powers of ten up to the largest, ordinary numbers, those next
    to branches, infinities and NaN, of both signs."""
    info = np.finfo(kind)
    low, high = np.log10(float(info.smallest_subnormal)), np.log10(float(info.max))
    sizes = [0.0, *10 ** np.linspace(low, high, int((high - low) * per_decade))]
    sizes += [*np.arange(1, 60) / 7, *BRANCHES, float(info.tiny), float(info.max), np.inf]
    branch = np.array(BRANCHES).astype(kind)
    up, down = np.nextafter(branch, kind(np.inf)), np.nextafter(branch, kind(0))
    all_ = np.concatenate([np.array(sizes).astype(kind), up, down])
    return np.concatenate([all_, -all_, np.array([np.nan], kind)])


def few(kind: type[np.floating[Any]]) -> Array:
    """A few of `values`, for pairs."""
    info = np.finfo(kind)
    sizes = [0.0, info.smallest_subnormal, info.tiny, 1e-3, 0.3, 0.5, 1, 2, 3, 7.25, 1e3, 6e4,
             float(info.max) / 3, info.max, np.inf]  # fmt: skip
    all_ = np.array(sizes, np.float64).astype(kind)
    return np.concatenate([all_, -all_, np.array([np.nan], kind)])


@dataclass(frozen=True)
class Function:
    """An operation as ours and as PyTorch's.

    `ulp` and `grad_ulp` are in units of the last place of the right result. To them add: `absolute`
    and `grad_absolute`, in units of the last place of 1, where a cancellation in the definition
    loses as much; `grows`, a function of the largest argument, in units of the last place, where an
    exponential multiplies the rounding error of its argument. `signs`: whether the sign of a zero
    is compared. `narrow`: PyTorch computes in no wider dtype than we do. `slopes`: the right
    derivatives, where PyTorch's own lose digits even in float64. `same` says where results are
    compared at all; what it leaves out is a difference by design, and in docs/numerics.md.
    """

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    ulp: float = 1.0
    grad_ulp: float = 2.0
    absolute: float = 0.0
    grad_absolute: float = 0.0
    grows: Callable[[Array], Array] | None = None
    gradient: bool = True
    signs: bool = True
    narrow: bool = False
    slopes: tuple[Callable[..., Any], ...] = ()
    same: Callable[..., Any] | None = None
    inputs: Callable[[type[np.floating[Any]]], tuple[Array, ...]] | None = None
    covers: tuple[str, ...] = field(default=())
    """Names of the Tensor surface that this tests, where not `name`."""

    def __repr__(self) -> str:
        return self.name


def mismatches(
    got: Array, right: Array, ulp: float | Array, absolute: float | Array, signs: bool
) -> Array:
    """Where `got`, of a narrow dtype, is not `right`, of float64, to the tolerance."""
    kind = got.dtype.type
    info = np.finfo(kind)
    with np.errstate(all="ignore"):
        rounded = right.astype(kind)
        finite = np.isfinite(rounded) & np.isfinite(got)
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 0))).astype(np.float64)
        allowed = ulp * unit + absolute * float(info.eps)
        error = np.abs(got.astype(np.float64) - np.where(finite, right, 0))
        near = finite & (error <= allowed)
        # infinite where the other one is next to it
        largest = float(info.max) * (1 - 4 * ulp * float(info.eps))
        huge = (np.abs(right) >= largest) & (np.abs(got.astype(np.float64)) >= largest)
        huge &= np.sign(right) == np.sign(got)
    equal = (got == rounded) | (np.isnan(got) & np.isnan(rounded)) | near | huge
    if kind is np.float32 and flushes_subnormals():
        lost = LOST * float(info.tiny)  # of what a subnormal number is multiplied by
        zeros = (right == 0) & (got == 0)  # whose signs are compared below
        equal |= ~zeros & (np.abs(right) < lost) & (error < lost)
    if signs:
        both = (got == 0) & (right == 0)
        equal &= ~both | (np.signbit(got) == np.signbit(right))
    return ~equal


@np.errstate(all="ignore")
def fails(function: Function, arrays: tuple[Array, ...], device: str) -> list[str]:
    """What is not right, forward and backward, for equally long arrays of one dtype."""
    kind = arrays[0].dtype.type
    mine = [Tensor(a, device=device, requires_grad=function.gradient) for a in arrays]
    exact = np.float64
    if function.narrow:
        exact = np.float64 if kind is np.float64 else np.float32
    other = [torch.from_numpy(a.astype(exact)).requires_grad_(function.gradient) for a in arrays]
    result, expected = function.ours(*mine), function.theirs(*other)
    compared = np.ones(arrays[0].shape, bool)
    if function.same is not None:
        compared = np.broadcast_to(function.same(*arrays), arrays[0].shape)
    if kind is np.float32 and flushes_subnormals():
        tiny = np.finfo(kind).tiny
        compared = compared & ~np.any([(a != 0) & (np.abs(a) < tiny) for a in arrays], axis=0)
    got, right = result.numpy(), expected.detach().numpy().astype(np.float64)
    assert got.dtype.type is kind, got.dtype
    largest = np.max(np.abs(np.stack(arrays).astype(np.float64)), axis=0)
    more = function.grows(np.minimum(largest, 1000)) if function.grows else 0.0
    wrong = compared & mismatches(
        got, right, function.ulp + more, function.absolute, function.signs
    )
    found = [_shown("", function, arrays, got, right, i) for i in np.flatnonzero(wrong)]
    if not function.gradient:
        return found
    ones = Tensor(np.ones(got.shape, kind), device=device)
    slopes = result.gradient(*mine, gradient=ones, materialize_grads=True)
    expected.backward(torch.ones_like(expected))
    Tensor.realize(*slopes)
    compared = compared & ~np.isnan(largest)
    infinite = np.isinf(largest)
    for number, (slope, x) in enumerate(zip(slopes, other, strict=True)):
        got = slope.numpy()
        right = np.zeros(got.shape) if x.grad is None else x.grad.numpy().astype(np.float64)
        if function.slopes:
            right = function.slopes[number](*(o.detach() for o in other)).numpy()
        wrong = mismatches(got, right, function.grad_ulp + more, function.grad_absolute, False)
        wrong &= ~(infinite & np.isnan(right))
        found += [_shown(f"gradient {number} of ", function, arrays, got, right, i)
                  for i in np.flatnonzero(wrong & compared)]  # fmt: skip
    return found


def _shown(what: str, f: Function, arrays: tuple[Array, ...], got: Array, right: Array, i: int) \
        -> str:  # fmt: skip
    at = ", ".join(repr(a[i].item()) for a in arrays)
    unit = np.spacing(np.abs(right.astype(got.dtype)[i])) or 1
    with np.errstate(all="ignore"):
        off = abs(float(got[i]) - float(right[i])) / float(unit)
    return f"{what}{f.name}({at}) is {got[i].item()!r}, not {right[i].item()!r}: {off:.3g} ulp"


def dtype_of(kind: type[np.floating[Any]]) -> DType:
    """The dtype of ours that NumPy calls `kind`."""
    return dtypes.named(np.dtype(kind).name)
