"""The flash attention kernels that attention on GPUs calls, forward and backward, against PyTorch's
in float64, on the same numbers; on devices without them, what is composed in their place.

Tolerances are bounds of what rounding may do. Products are exact in float32; what is rounded to the
Tensors' dtype, by at most its unit roundoff u of each number, are the probabilities and the
gradients of scores before a product, and results. `bounds` follows these through the formulas.
What is composed rounds after each operation: scores s three times, so that probabilities are off by
6 u |s| of what they are, and by 4 u for powers, their sum, the quotient, and its own rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import Tensor, dtypes
from core.dtype import DType
from core.helpers import Context
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.uop.ops import Ops
from tests.conformance.devices import on_devices

Array = np.ndarray[Any, Any]
DEVICES = on_devices("PTX:EMU", "AMD:EMU")
ROUNDOFF = {dtypes.float16: 2.0**-11, dtypes.bfloat16: 2.0**-8}
IN_FLOAT32 = 1e-4
"""Relative and absolute, of sums in float32: 128 products of a score, each off by 2 ** -24, are
1e-5, which its power is off by, too; there are sums of these."""
TORCH = {dtypes.float16: torch.float16, dtypes.bfloat16: torch.bfloat16}


def given(shape: tuple[int, ...], dtype: DType, seed: int) -> torch.Tensor:
    """Numbers that the dtype holds, in float64."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.from_numpy(values).to(TORCH[dtype]).double().requires_grad_()


def ours(x: torch.Tensor, dtype: DType, device: str) -> Tensor:
    made = Tensor(x.detach().float().numpy(), device=device).cast(dtype).realize()
    made.requires_grad = True
    return made


def bounds(
    q: Array, k: Array, v: Array, do: Array, causal: bool, u: float, composed: bool
) -> list[Array]:
    """By how much o, dq, dk and dv may differ from what they are."""

    def turned(x: Array) -> Array:
        return np.swapaxes(x, -1, -2)

    scale = 1 / np.sqrt(q.shape[-1])
    scores = q @ turned(k) * scale
    u *= 4 + 6 * abs(scores).max() if composed else 1
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    o = p @ v
    ds = p * (do @ turned(v) - (o * do).sum(-1, keepdims=True))
    of_o = u * (p @ abs(v)) + u * abs(o)
    of_ds = p * (of_o * abs(do)).sum(-1, keepdims=True) + u * abs(ds)
    return [
        of_o,
        scale * (of_ds @ abs(k)) + u * abs(scale * ds @ k),
        scale * (turned(of_ds) @ abs(q)) + u * abs(scale * turned(ds) @ q),
        u * (turned(p) @ abs(do)) + u * abs(turned(p) @ do),
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", list(ROUNDOFF), ids=str)
@pytest.mark.parametrize("size", [64, 128])
@pytest.mark.parametrize(
    ("causal", "length", "keys"), [(False, 37, 37), (False, 21, 70), (True, 37, 37), (True, 70, 21)]
)
def test_attention_and_its_gradients(
    device: str, dtype: DType, size: int, causal: bool, length: int, keys: int
) -> None:
    """Lengths that are no multiples of the tiles: within one, and one more than one."""
    theirs = [given((2, 1, n, size), dtype, i) for i, n in enumerate((length, keys, keys))]
    do = given((2, 1, length, size), dtype, 3)
    wanted = F.scaled_dot_product_attention(*theirs, is_causal=causal)
    wanted.backward(do)
    mine = [ours(x, dtype, device) for x in theirs]
    out = mine[0].scaled_dot_product_attention(mine[1], mine[2], is_causal=causal)
    out.backward(ours(do, dtype, device))
    with capturing() as items:
        found = [out, *(x.grad for x in mine)]
        Tensor.realize(*[x for x in found if x is not None])
    names = [i.ast.arg.name for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
    composed = device.partition(":")[0] in ("OPENCL", "WEBGPU")
    tiles = sum(name.startswith("attention") for name in names)
    assert tiles == (0 if composed else 3), "kernels written with tiles"
    arrays = [x.detach().numpy() for x in (*theirs, do)]
    allowed = bounds(*arrays, causal, ROUNDOFF[dtype], composed)
    exact = [wanted.detach(), *(x.grad for x in theirs)]
    for got, want, most in zip(found, exact, allowed, strict=True):
        assert got is not None and want is not None
        off = abs(got.cast(dtypes.float32).numpy() - want.numpy())
        assert (off <= most + IN_FLOAT32 * (1 + abs(want.numpy()))).all(), (off - most).max()


def test_the_composition_is_as_near() -> None:
    """What the kernels are switched off for gives the same numbers."""
    theirs = [given((1, 2, 21, 64), dtypes.float16, i) for i in range(3)]
    wanted = F.scaled_dot_product_attention(*theirs).detach().numpy()
    found: list[Array] = []
    for flash in (0, 1):
        with Context(FLASH_ATTENTION=flash):
            q, k, v = (ours(x, dtypes.float16, DEVICES[0]) for x in theirs)
            found.append(q.scaled_dot_product_attention(k, v).numpy())
    for got in found:
        np.testing.assert_allclose(got, wanted, atol=4e-3)
