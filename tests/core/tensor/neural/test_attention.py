"""Attention by the flash attention kernels: where these are used, what they compute, and their
gradients, against NumPy and against the composition that other devices run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Tensor, dtypes
from core.dtype import DType
from core.errors import DTypeError
from core.helpers import Context
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.tile.kernels import AttentionShape
from core.uop.ops import Ops
from tests.core.tile.cases import problem

HALF, BRAIN = dtypes.float16, dtypes.bfloat16
ROUNDED = {HALF: 4e-3, BRAIN: 3e-2}
"""A result of up to 4 and the probabilities in it are each rounded to 11 or 8 bits."""


def kernels(build: Callable[[], Tensor]) -> list[str]:
    """The names of the kernels that were written with tiles, of those that compute a Tensor."""
    with capturing() as items:
        build().realize()
    names = [i.ast.arg.name for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
    return [name for name in names if name.startswith("attention")]


def leaf(values: Any, device: str, dtype: DType = HALF) -> Tensor:
    made = Tensor(np.asarray(values, np.float32), device=device).cast(dtype).realize()
    made.requires_grad = True
    return made


def numbers(x: Tensor | None) -> Any:
    assert x is not None
    return x.cast(dtypes.float32).numpy()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("device", "length", "size", "causal", "dtype", "context"),
    [("PTX:EMU", 40, 64, False, HALF, None), ("PTX:EMU", 33, 64, True, BRAIN, None),
     ("PTX:EMU", 19, 128, True, HALF, 35), ("AMD:EMU", 40, 64, True, HALF, None),
     ("AMD:EMU", 33, 128, True, BRAIN, 20), ("AMD:EMU", 20, 64, False, BRAIN, 50),
     ("AMD:EMU", 1, 64, False, HALF, 7)],
)  # fmt: skip
def test_values_and_gradients_are_numpys(
    device: str, length: int, size: int, causal: bool, dtype: DType, context: int | None
) -> None:
    p = problem(AttentionShape(1, 2, length, size, causal, dtype, context))
    q, k, v = (leaf(x, device, dtype) for x in (p.q, p.k, p.v))
    out = q.scaled_dot_product_attention(k, v, is_causal=causal)
    out.backward(leaf(p.do, device, dtype))
    assert (out.shape, out.dtype) == (q.shape, dtype)
    near = ROUNDED[dtype]
    assert len(kernels(lambda: out)) == 1
    np.testing.assert_allclose(numbers(out), p.output, rtol=near, atol=near)
    for x, want in zip((q, k, v), p.gradients, strict=True):
        scale = max(1.0, float(np.abs(want).max()))
        np.testing.assert_allclose(numbers(x.grad), want, rtol=2 * near, atol=2 * near * scale)


def test_a_backward_pass_is_three_kernels_of_which_two_are_of_tiles() -> None:
    q, k, v = (leaf(np.ones((1, 1, 16, 64)), "PTX:EMU") for _ in range(3))
    q.scaled_dot_product_attention(k, v).sum().backward()
    grads = [x.grad for x in (q, k, v)]
    assert all(g is not None for g in grads)
    with capturing() as items:
        Tensor.realize(*[g for g in grads if g is not None])
    names = [i.ast.arg.name for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
    assert sorted(n.split("_1_")[0] for n in names if n) == [
        "attention", "attention_keys", "attention_queries",
    ]  # fmt: skip
    assert names.count("") <= 2, "the gradient of the sum, and the sums of products with outputs"


def plain(shape: tuple[int, ...] = (2, 8, 64), dtype: DType = HALF, device: str = "PTX:EMU"
          ) -> Tensor:  # fmt: skip
    return Tensor.ones(*shape, device=device, dtype=dtype).contiguous().realize()


FITS: dict[str, Callable[[], Tensor]] = {
    "matrices": lambda: attend(plain((8, 64))),
    "more axes": lambda: attend(plain((2, 1, 2, 8, 64))),
    "causal": lambda: attend(plain(), is_causal=True),
    "other keys": lambda: attend(plain(), plain((2, 5, 64))),
    "grouped heads": lambda: plain((4, 8, 64)).scaled_dot_product_attention(
        plain((2, 8, 64)), plain((2, 8, 64)), enable_gqa=True
    ),
    "dropout without training": lambda: attend(plain(), dropout_p=0.5),
    "sm_75": lambda: attend(plain(device="PTX:EMU:sm_75")),
    "gfx1201": lambda: attend(plain(device="AMD:EMU:gfx1201")),
    "gfx950": lambda: attend(plain(device="AMD:EMU:gfx950")),
    "a view": lambda: attend(plain((2, 64, 8)).transpose(1, 2)),
}


def attend(q: Tensor, k: Tensor | None = None, *, attn_mask: Tensor | None = None,
           dropout_p: float = 0.0, is_causal: bool = False) -> Tensor:  # fmt: skip
    k = q if k is None else k
    return q.scaled_dot_product_attention(k, k, attn_mask, dropout_p, is_causal)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FITS)
def test_arguments_that_fit(name: str) -> None:
    assert len(kernels(FITS[name])) == 1
    assert (FITS[name]().cast(dtypes.float32).numpy() == 1).all()


OTHERS: dict[str, Callable[[], Tensor]] = {
    "float32": lambda: attend(plain(dtype=dtypes.float32)),
    "dtypes that differ": lambda: attend(plain(), plain(dtype=BRAIN)),
    "size of heads": lambda: attend(plain((2, 8, 32))),
    "size of values": lambda: plain().scaled_dot_product_attention(plain(), plain((2, 8, 128))),
    "one matrix of keys": lambda: attend(plain(), plain((1, 8, 64))),
    "fewer axes": lambda: attend(plain(), plain((8, 64))),
    "mask": lambda: attend(plain(), attn_mask=plain((8, 8), dtypes.bool)),
    "a processor": lambda: attend(plain(device="CPU")),
    "the reference": lambda: attend(plain(device="REFERENCE")),
    "no device": lambda: attend(Tensor.ones(2, 8, 64, dtype=HALF)),
    "instructions for half only": lambda: attend(plain(dtype=BRAIN, device="PTX:EMU:sm_75")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_arguments_that_do_not_fit(name: str) -> None:
    assert kernels(OTHERS[name]) == []
    assert (OTHERS[name]().cast(dtypes.float32).numpy() == 1).all()


def test_a_null_device_takes_the_composition() -> None:
    attend(Tensor.empty(2, 8, 64, dtype=HALF, device="NULL")).realize()


@pytest.mark.parametrize("flag", [{"FLASH_ATTENTION": 0}, {"TC": 0}, {"TC": 2}])
def test_flags_switch_the_kernels_off(flag: dict[str, int]) -> None:
    with Context(**flag):
        assert kernels(lambda: attend(plain())) == []


def test_dropout_while_training_is_a_composition() -> None:
    with Context(TRAINING=1):
        assert kernels(lambda: attend(plain(), dropout_p=0.5)) == []
        assert len(kernels(lambda: attend(plain()))) == 1
    with pytest.raises(DTypeError, match="dropout with probability 2"):
        attend(plain(), dropout_p=2.0)


def test_nothing_is_an_empty_tensor() -> None:
    x = Tensor.empty(2, 0, 64, dtype=HALF, device="PTX:EMU")
    assert attend(x).shape == (2, 0, 64)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_gradients(causal: bool) -> None:
    """Of a function of the gradients: by the kernels, and by the composition."""
    rng = np.random.default_rng(3)
    given = [rng.standard_normal((1, 1, n, 64)) / 2 for n in (5, 7, 7)]
    found: list[list[Any]] = []
    for flash in (1, 0):
        with Context(FLASH_ATTENTION=flash):
            q, k, v = (leaf(x, "PTX:EMU") for x in given)
            wide = [x.cast(dtypes.float32) for x in (q, k, v)]
            halves = [x.cast(HALF) for x in wide] if flash else wide
            out = halves[0].scaled_dot_product_attention(halves[1], halves[2], is_causal=causal)
            first = (out.cast(dtypes.float32) ** 2).sum().gradient(*wide)
            total = sum(((g.cast(dtypes.float32) ** 2).sum() for g in first[1:]), first[0].sum())
            found.append([numbers(x) for x in total.gradient(*wide)])
    for got, want in zip(*found, strict=True):
        scale = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=2e-2, atol=2e-2 * scale)


def test_the_kernels_are_imported_when_they_are_used() -> None:
    program = """
import sys
from core import Tensor
Tensor.ones(2, 8, 64).scaled_dot_product_attention(Tensor.ones(2, 8, 64), Tensor.ones(2, 8, 64))
assert not [name for name in sys.modules if name.startswith("core.tile")]
"""
    subprocess.run([sys.executable, "-c", program], check=True)
