"""Operations of random programs that take a user several lines: what is written in place."""

from __future__ import annotations

from typing import Any

from core import Tensor, dtypes


def through_bfloat16(x: Tensor) -> Tensor:
    """Rounded to 8 bits of mantissa."""
    return x.cast("bfloat16").cast(x.dtype)


def stored(x: Tensor, key: Any, value: Any) -> Tensor:
    """x with x[key] = value; x stays as it was."""
    result = x.clone() if x.dtype is dtypes.bool else x * 1
    result[key] = value
    return result


def assigned(x: Tensor, y: Tensor) -> Tensor:
    """(x + 1) * 2 - y * 3 + x: what reads a Tensor before an assignment sees its value of then."""
    target = x.contiguous()
    target += 1
    before = target * 2
    target.assign(y * 3)
    return before - target + x


def accumulated(x: Tensor, y: Tensor) -> Tensor:
    """x + y, the one half of it after the other."""
    total = x.clone()
    if x.ndim:
        half = x.shape[0] // 2
        total[:half] += y[:half]
        total[half:] += y[half:]
    else:
        total += y
    return total
