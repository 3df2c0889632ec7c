"""The C text of divisions, compiled by the system's C compiler and run, for every pair of corners
of every integer dtype: none of them may trap."""

from __future__ import annotations

import ctypes
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.render import c
from core.toolchain.processor import host_target
from core.uop.facts.meaning import evaluate
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.render.programs import Build, const
from tests.core.render.test_c_casts import COMPILER, compiled

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


def corners(dtype: DType) -> list[int]:
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    return [v for v in {low, low + 1, -7, -2, -1, 0, 1, 2, 7, high - 1, high} if low <= v <= high]


def text(dtype: DType, count: int) -> str:
    """out0 = x / y, out1 = x % y, out2 = x / -1, of signed numbers, or x / 0."""
    b = Build()
    outs = [b.pointer(n, dtype, count) for n in range(3)]
    x, y = b.pointer(3, dtype, count), b.pointer(4, dtype, count)
    i = b.loop(count, 0)
    left, right = b.load(x, i), b.load(y, i)
    fixed = b.add(const(dtype, 0 if dtypes.is_unsigned(dtype) else -1))
    values = [
        UOp(Ops.IDIV, dtype, (left, right)),
        UOp(Ops.MOD, dtype, (left, right)),
        UOp(Ops.IDIV, dtype, (left, fixed)),
    ]
    last = left
    for out, value in zip(outs, values, strict=True):
        last = b.store(out, i, b.add(value))
    b.end(i, last)
    return c.render(b.done(), "divisions", host_target()).text


@pytest.mark.parametrize("dtype", dtypes.ints, ids=str)
def test_no_division_traps(dtype: DType, tmp_path: Path) -> None:
    pairs = list(product(corners(dtype), repeat=2))
    library = compiled(tmp_path, text(dtype, len(pairs)))
    assert library is not None
    x, y = (np.array([p[n] for p in pairs], dtype.name) for n in (0, 1))
    found = [np.zeros_like(x) for _ in range(3)]
    function = ctypes.CDLL(str(library))["divisions"]
    function(*(ctypes.c_void_p(array.ctypes.data) for array in (*found, x, y)))
    fixed = 0 if dtypes.is_unsigned(dtype) else -1
    wanted = [
        [evaluate(Ops.IDIV, dtype, pair) for pair in pairs],
        [evaluate(Ops.MOD, dtype, pair) for pair in pairs],
        [evaluate(Ops.IDIV, dtype, (a, fixed)) for a, _ in pairs],
    ]
    for have, want in zip(found, wanted, strict=True):
        assert have.tolist() == want
