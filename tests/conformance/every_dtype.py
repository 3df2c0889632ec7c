"""Each function of Tensor with each dtype, against PyTorch and NumPy.

What is right is what PyTorch has in float64 (or int64) from the same values, rounded once to the
dtype of the result by NumPy or ml_dtypes. Never compares one of our devices with another.
"""

from __future__ import annotations

import math
from typing import Any, Final

import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F

from core import Tensor, dtypes
from core.dtype import DType
from core.errors import UopvizError
from tests.conformance.devices import on_devices, refusal
from tests.conformance.every_function import ROWS, Row

Array = np.ndarray[Any, Any]
DEVICES: Final = on_devices("CPU", "REFERENCE", "PTX:EMU", "AMD:EMU")
NARROW: Final = {
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.fp8e4m3: ml_dtypes.float8_e4m3fn,
    dtypes.fp8e5m2: ml_dtypes.float8_e5m2,
}

_BASES: Final = {row.name: row for row in ROWS}


def in_place() -> tuple[Row, ...]:
    """Rows of the methods that end in `_`: as those without, stored in the dtype that is there."""
    found: list[Row] = []
    for name in sorted(n for n in dir(Tensor) if n.endswith("_") and not n.startswith("_")):
        base = _BASES.get(name[:-1])
        if base is None or name in _BASES or f"x.{base.name}(" not in base.ours:
            continue
        ours = base.ours.replace(f"x.{base.name}(", f"x.clone().{name}(", 1)
        found.append(Row(name, base.kinds, base.domain, ours, base.theirs))
    return tuple(found)


def held(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of elements."""
    return np.dtype(NARROW.get(dtype, dtype.name))


def kind_of(dtype: DType) -> str:
    return "f" if dtypes.is_float(dtype) else "b" if dtype is dtypes.bool else "i"


def values(dtype: DType, domain: str, seed: int) -> Array:
    """Twelve of them, exact in each dtype of the kind."""
    rng = np.random.default_rng(seed)
    if dtype is dtypes.bool:
        return rng.integers(0, 2, (3, 4)).astype(bool)
    if dtypes.is_int(dtype):
        low = 1 if domain != "any" else 0 if dtypes.is_unsigned(dtype) else -5
        return rng.integers(low, 7, (3, 4)).astype(held(dtype))
    numbers: dict[str, Any] = {
        "any": np.delete(np.arange(-8, 9), 8) / 4,
        "positive": np.arange(1, 9) / 4,
        "unit": np.array([1, 2, 3, 4, 5, 6, 7]) / 8,
        "inside": np.array([-7, -6, -4, -3, -2, -1, 1, 2, 3, 4, 6, 7]) / 8,
        "above": np.arange(4, 9) / 4,
    }
    return rng.choice(numbers[domain], (3, 4)).astype(held(dtype))


_ORDER: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2}
"""NumPy's kinds of dtypes by what they hold. Those of ml_dtypes are V."""


# what the texts name


def real(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float64)


def first(x: torch.Tensor, axis: int) -> torch.Tensor:
    """The first of the largest."""
    return torch.from_numpy(np.argmax(x.numpy(), axis))


def image(x: Any) -> Any:
    """As one image of one channel."""
    return x.reshape(1, 1, 3, 4)


def column(i: Any) -> Any:
    """One row, whose indices are different on axis 0 for different values."""
    return i[:1]


def spread(i: Any) -> Any:
    """Twelve different places of 6 x 8."""
    return i * 0 + (torch.arange(12).reshape(3, 4) * 4 if isinstance(i, torch.Tensor)
                    else Tensor.arange(12).reshape(3, 4).to(i.device) * 4)  # fmt: skip


def sides(i: Any) -> Any:
    """1 or -1 for each of three."""
    return (i[0, :3] > 0) * 2 - 1


def pooled(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(real(x), 2, 1, 1)


def norm_of(x: Any, y: Any) -> Any:
    """Batch norm of one image, with statistics that are given."""
    args = (y[0, :3], y[1, :3], x[0, :3], x[1, :3])
    if isinstance(x, torch.Tensor):
        weight, bias, mean, var = args
        return F.batch_norm(x.reshape(1, 3, 4), mean, var, weight, bias)
    weight, bias, mean, var = args
    return x.reshape(1, 3, 4).batchnorm(weight, bias, mean, (var + 1e-5).rsqrt())


_NAMES: Final = {
    "Tensor": Tensor, "torch": torch, "F": F, "math": math, "real": real, "first": first,
    "image": image, "column": column, "spread": spread, "sides": sides, "pooled": pooled,
    "norm_of": norm_of,
}  # fmt: skip


def as_ours(values: Array, dtype: DType, device: str) -> Tensor:
    """Values as a Tensor of a dtype."""
    if dtype in NARROW:
        bits = values.view(np.uint16 if dtype is dtypes.bfloat16 else np.uint8)
        return Tensor(bits, device=device).bitcast(dtype)
    return Tensor(values, device=device)


def as_theirs(values: Array, dtype: DType) -> torch.Tensor:
    """Values in the widest dtype of their kind."""
    wide = {"f": np.float64, "i": np.int64, "b": np.bool_}[kind_of(dtype)]
    return torch.from_numpy(values.astype(wide))


def found_wrong(row: Row, dtype: DType, device: str, seed: int = 0) -> str | None:
    """What is wrong with a function of a dtype; None where nothing is. Where the row says that it
    does not take the dtype, an error of ours is right, and so is what PyTorch has. Raises the error
    of a device that has no such dtype."""
    x, y = (values(dtype, row.domain, 2 * seed + k) for k in (1, 2))
    i = np.random.default_rng(seed).integers(0, 3, (3, 4))
    mine = {"x": as_ours(x, dtype, device), "y": as_ours(y, dtype, device)}
    mine["i"] = Tensor(i.astype(np.int32), device=device)
    other = {"x": as_theirs(x, dtype), "y": as_theirs(y, dtype), "i": torch.from_numpy(i)}
    takes = kind_of(dtype) in row.kinds
    try:
        right = eval(row.theirs, {**_NAMES, **other})
    except Exception as error:
        return f"PyTorch refuses it: {error}" if takes else None
    right = right.numpy() if isinstance(right, torch.Tensor) else np.asarray(right)
    if row.name.endswith("_") and _ORDER[right.dtype.kind] > _ORDER[x.dtype.kind]:
        takes = False  # a float is not stored in integers, nor a number in bools
    try:
        got = eval(row.ours, {**_NAMES, **mine})
        result = got.numpy() if isinstance(got, Tensor) else np.asarray(got)
    except UopvizError as error:
        if refusal(error):
            raise
        return f"refused: {str(error).splitlines()[0]}" if takes else None
    of = got.dtype if isinstance(got, Tensor) else dtypes.bool
    return _difference(result, right, of)


@np.errstate(all="ignore")
def _difference(got: Array, right: Array, dtype: DType) -> str | None:
    if got.shape != right.shape:
        return f"shape {got.shape}, not {right.shape}"
    if not dtypes.is_float(dtype):
        wanted = right.astype(got.dtype)
        same = got == wanted
    else:
        wanted = right.astype(np.float64).astype(held(dtype)).astype(np.float64)
        unit = float(dtypes.finfo(dtype).eps) * np.maximum(np.abs(np.nan_to_num(wanted)), 1)
        near = np.abs(got.astype(np.float64) - wanted) <= 4 * unit
        same = near | (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if same.all():
        return None
    at = tuple(int(k[0]) for k in np.nonzero(~same)) if got.ndim else ()
    return f"at {at} {got[at]}, not {wanted[at]} ({dtype})"


# the ends of each dtype


def ends(dtype: DType) -> Array:
    """Rows of the lowest and the largest numbers, of what lies beyond them where the dtype has
    that, and of both among ordinary numbers."""
    if not dtypes.is_float(dtype):
        low, high = dtypes.min(dtype), dtypes.max(dtype)
        rows = [[low] * 4, [high] * 4, [low, high, low, 1], [1, 0, low, 1]]
        return np.array(rows, held(dtype))
    most = dtypes.finfo(dtype).max
    rows = [
        [-most] * 4,
        [most] * 4,
        [-most, 1, -2, -most],
        [-1, most, -most, 0],
        [1, math.nan, -1, 2],
    ]
    if dtype is not dtypes.fp8e4m3:
        rows += [
            [-math.inf] * 4,
            [-math.inf, -most, 1, -math.inf],
            [math.inf, 1, -math.inf, math.inf],
        ]
    return np.array(rows, np.float64).astype(held(dtype))


def _wide(x: Array) -> Array:
    """Numbers to compare, in a dtype of NumPy's own that holds all of them."""
    return x.astype(np.float64) if x.dtype.kind in "fV" else x


def _no_shift(x: Array) -> Array:
    """The largest of each row where it is finite."""
    most = x.max(1, keepdims=True)
    return np.where(np.isfinite(most), most, np.where(np.isnan(most), most, 0))


def _logsumexp(x: Array) -> Array:
    return np.log(np.exp(x - _no_shift(x)).sum(1)) + _no_shift(x)[:, 0]


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _windows(x: Array) -> Array:
    """The largest of windows of 2 x 2 of the rows, padded by 1 that counts as nothing."""
    n, m = x.shape
    return np.array(
        [[x[max(i - 1, 0) : i + 1, max(j - 1, 0) : j + 1].max() for j in range(m + 1)]
         for i in range(n + 1)])  # fmt: skip


def _placed(x: Array, of: Any) -> Array:
    """Rows whose columns 0, 1, 1, 3 go to those numbers; 1 where none goes."""
    made = np.ones_like(x)
    made[:, 0], made[:, 1], made[:, 3] = x[:, 0], of(x[:, 1], x[:, 2]), x[:, 3]
    return made


def _still(x: Tensor) -> Tensor:
    """Four rows of ones, whose scores are equal."""
    return x.ones_like()[:1].expand(4, 4)


def _columns(x: Tensor) -> Tensor:
    return Tensor([[0, 1, 1, 3]], device=x.device).expand(x.shape[0], 4)


ENDS: Final[tuple[tuple[str, str, Any, Any], ...]] = (
    ("max", "bif", lambda x: x.max(1), lambda v: v.max(1)),
    ("min", "bif", lambda x: x.min(1), lambda v: v.min(1)),
    ("argmax", "bif", lambda x: x.argmax(1), lambda v: v.argmax(1)),
    ("argmin", "bif", lambda x: x.argmin(1), lambda v: v.argmin(1)),
    ("cummax", "if", lambda x: x.cummax(1)[0], lambda v: np.maximum.accumulate(v, 1)),
    ("cummin", "if", lambda x: x.cummin(1)[0], lambda v: np.minimum.accumulate(v, 1)),
    ("sort", "if", lambda x: x.sort(1)[0], lambda v: np.sort(v, 1)),
    ("topk", "if", lambda x: x.topk(2, 1)[0], lambda v: np.sort(v, 1)[:, ::-1][:, :2]),
    ("maximum", "if", lambda x: x.maximum(x.flip(1)), lambda v: np.maximum(v, v[:, ::-1])),
    ("minimum", "if", lambda x: x.minimum(x.flip(1)), lambda v: np.minimum(v, v[:, ::-1])),
    ("max_pool2d", "if", lambda x: x.reshape(1, 1, *x.shape).max_pool2d(2, 1, padding=1)[0, 0],
     _windows),
    ("max_pool2d places", "if",
     lambda x: x.reshape(1, 1, *x.shape).max_pool2d(2, 1, padding=1, return_indices=True)[0][0, 0],
     _windows),
    ("adaptive_max_pool", "if", lambda x: x.reshape(1, *x.shape).adaptive_max_pool((3,))[0],
     lambda v: np.stack([v[:, :2].max(1), v[:, 1:3].max(1), v[:, 2:].max(1)], 1)),
    ("scatter_reduce amax", "if",
     lambda x: x.ones_like().scatter_reduce(1, _columns(x), x, "amax", include_self=False),
     lambda v: _placed(v, np.maximum)),
    ("scatter_reduce amin", "if",
     lambda x: x.ones_like().scatter_reduce(1, _columns(x), x, "amin", include_self=False),
     lambda v: _placed(v, np.minimum)),
    ("logsumexp", "f", lambda x: x.logsumexp(1), _logsumexp),
    ("softmax", "f", lambda x: x.softmax(1), _softmax),
    ("softmin", "f", lambda x: x.softmin(1), lambda v: _softmax(-v)),
    ("log_softmax", "f", lambda x: x.log_softmax(1), _log_softmax),
    ("logcumsumexp", "f", lambda x: x.logcumsumexp(1),
     lambda v: np.stack([_logsumexp(v[:, : k + 1]) for k in range(4)], 1)),
    ("causal attention", "f",
     lambda x: _still(x).scaled_dot_product_attention(
         _still(x), x[:1].expand(4, 4), is_causal=True),
     lambda v: np.repeat(v[:1], 4, 0)),
    ("norm", "f", lambda x: x.norm(math.inf, 1), lambda v: np.abs(v).max(1)),
)  # fmt: skip
"""name, dtypes, ours of `ends`, NumPy's of the same numbers."""


@np.errstate(all="ignore")
def wrong_at_ends(name: str, dtype: DType, device: str) -> str | None:
    """What is wrong with a function of the ends of a dtype; None where nothing is."""
    ((_, kinds, ours, theirs),) = (row for row in ENDS if row[0] == name)
    if kind_of(dtype) not in kinds:
        return None
    x = ends(dtype)
    got, right = ours(as_ours(x, dtype, device)), theirs(_wide(x))
    return _difference(got.numpy(), right, got.dtype)
