"""Images on OPENCL: what is kept in texels and read from them is what NumPy computes, and what the
reference and the CPU, which has plain memory, do."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from core import Tensor, TinyJit
from core.compile import compile_kernel
from core.dtype import IMAGE_SIDE, dtypes
from core.errors import RunError
from core.helpers import Context
from core.runtime.buffer import Buffer
from core.target import targets
from tests.core.passes.images import gated_read, numbers
from tests.core.runtime.opencl.test_device import run
from tests.fuzzing import seeds

DEVICES = ("OPENCL", "REFERENCE", "CPU")
CASES = 10
"""Random loads of a seed."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 2, 0))


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


KEPT = random(6, 32)
READS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Any], Any]]] = {
    "whole texels": (lambda x: x * 2 + 1, lambda x: x * 2 + 1),
    "transposed": (lambda x: x.transpose().contiguous(), lambda x: x.T),
    "parts of texels": (lambda x: x[:, 1:20:3] + 1, lambda x: x[:, 1:20:3] + 1),
    "reversed": (lambda x: x.flip(1) + 1, lambda x: x[:, ::-1] + 1),
    "padded": (
        lambda x: x.pad(((1, 2), (4, 4))) + 1,
        lambda x: np.pad(x, ((1, 2), (4, 4))) + 1,
    ),
    "padded within texels": (
        lambda x: x.pad(((0, 1), (1, 2))) + 1,
        lambda x: np.pad(x, ((0, 1), (1, 2))) + 1,
    ),
    "rows of another length": (lambda x: x.reshape(4, 48) + 1, lambda x: x.reshape(4, 48) + 1),
    "itself": (lambda x: x, lambda x: x),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [dtypes.imagef((6, 8, 4)), dtypes.imageh((12, 4, 4))], ids=str)
@pytest.mark.parametrize("how", READS)
def test_what_is_kept_in_an_image_is_read(how: str, kind: Any, device: str) -> None:
    read, wanted = READS[how]
    x = (Tensor(KEPT, device=device) * 1.5).cast(kind)
    kept = np.float32(1.5) * KEPT
    kept = kept.astype(np.float16).astype(np.float32) if kind.bits == 16 else kept
    np.testing.assert_array_equal(read(x).numpy(), wanted(kept))


def convolved(x: Any, w: Any) -> Any:
    """With one row and column of zeros around."""
    height, width = x.shape[2:]
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64)
    places = [(u, v) for u in range(3) for v in range(3)]
    return sum(
        np.einsum("nchw,oc->nohw", p[:, :, u : u + height, v : v + width], w[:, :, u, v])
        for u, v in places
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("image", [1, 2])
@pytest.mark.parametrize("channels", [3, 8])
def test_a_convolution(channels: int, image: int, device: str) -> None:
    a, w = random(2, channels, 7, 9), random(12, channels, 3, 3)
    with Context(IMAGE=image):
        found = Tensor(a, device=device).conv2d(Tensor(w, device=device), padding=1)
        items = (found + 0).schedule()
    kept = [b for item in items for b in item.bufs[:1] if b.dtype.base is not b.dtype]
    assert len(kept) == image + 1
    np.testing.assert_allclose(found.numpy(), convolved(a, w), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("image", [1, 2])
@pytest.mark.parametrize("inner", [30, 64])
def test_a_product(inner: int, image: int, device: str) -> None:
    a, b = random(33, inner), random(inner, 24)
    with Context(IMAGE=image):
        found = Tensor(a, device=device) @ Tensor(b, device=device)
    np.testing.assert_allclose(found.numpy(), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_a_product_reads_texels() -> None:
    """Both operands: four products for each pair of texels, and no choice among their numbers."""
    with Context(IMAGE=1):
        found = Tensor(random(32, 64), device="OPENCL") @ Tensor(random(64, 16), device="OPENCL")
    text = compile_kernel(found.schedule()[-1].ast, targets["opencl"]).source.text
    assert text.count("__read_only image2d_t") == 2
    assert "read_imagef(data1, texels, (int2)(" in text and "?" not in text


def test_gates_of_padding_are_dropped() -> None:
    """Outside of the image, 0 is read."""
    with Context(IMAGE=1):
        found = Tensor(random(1, 4, 5, 6), device="OPENCL").conv2d(
            Tensor(random(4, 4, 3, 3), device="OPENCL"), padding=1
        )
    ast = found.schedule()[-1].ast
    text = compile_kernel(ast, targets["opencl"], ()).source.text
    assert "read_imagef" in text
    assert not [line for line in text.splitlines() if "read_imagef" in line and "?" in line]


def test_random_gated_loads(seed: int) -> None:
    rng = Random(seed)
    for _ in range(CASES):
        case = gated_read(rng)
        memory = numbers(case.image)
        out = np.zeros(4 * case.lengths[0] * case.lengths[1], np.float32)
        found = run(compile_kernel(case.ast, targets["opencl"]), [out, memory])
        np.testing.assert_array_equal(found[0], case.computed(memory), str(case))


def test_a_captured_function_keeps_images() -> None:
    w = Tensor(random(16, 16), device="OPENCL").realize()

    @TinyJit
    def step(x: Tensor) -> Tensor:
        return (x @ w).relu().realize()

    with Context(IMAGE=2):
        for n in range(4):
            a = random(8, 16) + n
            found = step(Tensor(a, device="OPENCL").realize()).numpy()
            np.testing.assert_allclose(found, np.maximum(a @ random(16, 16), 0), atol=1e-4)


def test_training_learns_as_without_images() -> None:
    def losses(image: int) -> list[float]:
        x, y = Tensor(random(32, 12), device="OPENCL"), Tensor(random(32, 4), device="OPENCL")
        w = Tensor(random(12, 4), device="OPENCL")
        w.requires_grad = True
        found: list[float] = []
        with Context(IMAGE=image):
            for _ in range(4):
                w.grad = None
                loss = (x @ w - y).square().mean()
                loss.backward()
                assert w.grad is not None
                w.assign(w.detach() - w.grad * 0.1).realize()
                found.append(loss.item())
        return found

    np.testing.assert_allclose(losses(2), losses(0), rtol=1e-5)


def test_an_image_that_is_too_wide_for_the_device_is_one_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = dtypes.imagef((1, 4 * IMAGE_SIDE, 4))
    with pytest.raises(RunError, match=r"OPENCL has no images of .* texels") as raised:
        Buffer("OPENCL", kind.size, kind).allocate()
    assert "IMAGE=0" in str(raised.value)


def test_rows_beyond_the_highest_image_lie_side_by_side() -> None:
    a, b = random(IMAGE_SIDE * 2, 4), random(4, 4)
    with Context(IMAGE=1):
        found = Tensor(a, device="OPENCL") @ Tensor(b, device="OPENCL")
        kinds = [str(x.dtype) for item in (found + 0).schedule() for x in item.bufs]
    assert f"imagef({IMAGE_SIDE}, 2, 4)" in kinds
    np.testing.assert_allclose(found.numpy(), a @ b, rtol=1e-4, atol=1e-4)
