"""Attention by the kernels written with tiles and as a composition of other functions: the same
values and gradients, for lengths that are no multiples of the tiles, on an emulated GPU.

One case is tried; `--fuzz N` tries N of all, of which there are sixteen.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from core import Tensor, dtypes
from core.helpers import Context
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.uop.ops import Ops
from tests import fuzzing

LENGTHS = ((19, 19), (37, 21), (21, 37), (67, 33))
"""Of queries, and of keys and values."""
CASES = tuple(product((True, False), (64, 128), LENGTHS))
NEAR = 3e-3
"""Probabilities, gradients of scores and results are each rounded to 11 bits, in another order."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize(("causal", "size", "lengths"), CASES[: fuzzing.cases(metafunc.config, 1)])


def test_kernels_and_composition_agree(causal: bool, size: int, lengths: tuple[int, int]) -> None:
    rng, (queries, keys) = np.random.default_rng(0), lengths
    q, k, v, do = (rng.standard_normal((1, 1, n, size)) for n in (queries, keys, keys, queries))
    found: list[list[Any]] = []
    for flash in (1, 0):
        with Context(FLASH_ATTENTION=flash), capturing() as items:
            leaves = [half(x) for x in (q, k, v)]
            for x in leaves:
                x.requires_grad = True
            out = leaves[0].scaled_dot_product_attention(*leaves[1:], is_causal=causal)
            out.backward(half(do))
            tensors = [out, *(x.grad for x in leaves)]
            found.append([numbers(x) for x in tensors])
        names = [i.ast.arg.name for i in items if isinstance(i, ScheduleItem) and _is_kernel(i)]
        assert sum(name.startswith("attention") for name in names) == (3 if flash else 0)
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=NEAR * max(1.0, np.abs(want).max()))


def _is_kernel(item: ScheduleItem) -> bool:
    return item.ast.op is Ops.SINK


def half(values: Any) -> Tensor:
    return Tensor(values.astype(np.float32), device="PTX:EMU").half().realize()


def numbers(x: Tensor | None) -> Any:
    assert x is not None
    return x.cast(dtypes.float32).numpy()
