"""Images on OPENCL and WEBGPU: what is kept in texels and read from them is what NumPy computes,
and what the reference and the CPU, which has plain memory, do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from core import Tensor, TinyJit
from core.compile import compile_kernel
from core.dtype import IMAGE_SIDE, ImageDType, dtypes
from core.helpers import Context
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.toolchain.program import Program
from core.uop import Ops, UOp
from core.uop.kernelinfo import KernelInfo
from tests import opencl_setup, webgpu_setup
from tests.core.passes.images import gated_read, loop, numbers
from tests.fuzzing import seeds
from tests.on_targets.webgpu import tint

LACKS = {"OPENCL": opencl_setup.missing, "WEBGPU": webgpu_setup.missing}
"""Devices with images, and what says what they lack on this machine."""
DEVICES = (*LACKS, "REFERENCE", "CPU")
CASES = 10
"""Random loads of a seed."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 2, 0))
    everywhere = (test_what_is_kept_in_an_image_is_read, test_a_convolution, test_a_product)
    of_wgsl = metafunc.function is test_chromium_accepts_textures
    on = DEVICES if metafunc.function in everywhere else ["WEBGPU"] if of_wgsl else LACKS
    metafunc.parametrize("device", on)


@pytest.fixture(autouse=True)
def driver(device: str) -> None:
    """Skips a test whose device is missing."""
    if device in LACKS and (lack := LACKS[device]()):
        pytest.skip(f"{device} needs {lack}")


def run(device: str, program: Program, memory: list[Any]) -> list[Any]:
    """What is in memory after one launch."""
    kinds = {a.number: a.dtype for a in program.arguments}
    buffers = [Buffer(device, len(a), kinds.get(i, dtypes.float32)) for i, a in enumerate(memory)]
    for buffer, content in zip(buffers, memory, strict=True):
        buffer.copyin(content.view(np.uint8).data)
    Device[device].load(program)(buffers, {}, wait=True)
    return [b.as_array() for b in buffers]


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


@pytest.mark.parametrize("image", [1, 2])
@pytest.mark.parametrize("inner", [30, 64])
def test_a_product(inner: int, image: int, device: str) -> None:
    a, b = random(33, inner), random(inner, 24)
    with Context(IMAGE=image):
        found = Tensor(a, device=device) @ Tensor(b, device=device)
    np.testing.assert_allclose(found.numpy(), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


TEXTS = {
    "OPENCL": ("__read_only image2d_t", "read_imagef(data1, texels, (int2)(", "?"),
    "WEBGPU": ("texture_2d<f32>", "textureLoad(data1, vec2<i32>(", "select("),
}
"""How an image is declared and read, and how a choice is written."""


def test_a_product_reads_texels(device: str) -> None:
    """Both operands: four products for each pair of texels, and no choice among their numbers."""
    with Context(IMAGE=1):
        found = Tensor(random(32, 64), device=device) @ Tensor(random(64, 16), device=device)
    declared, read, choice = TEXTS[device]
    text = compile_kernel(found.schedule()[-1].ast, Device[device].written_for).source.text
    assert text.count(declared) == 2
    assert read in text and choice not in text


def test_gates_of_padding_are_dropped_where_0_is_read_outside(device: str) -> None:
    """Outside of a texture, WGSL leaves open what is read."""
    with Context(IMAGE=1):
        found = Tensor(random(1, 4, 5, 6), device=device).conv2d(
            Tensor(random(4, 4, 3, 3), device=device), padding=1
        )
    ast = found.schedule()[-1].ast
    text = compile_kernel(ast, Device[device].written_for, ()).source.text
    _, read, choice = TEXTS[device]
    reads = [line for line in text.splitlines() if read.partition("(")[0] in line]
    assert reads
    if device == "OPENCL":
        assert not any(choice in line for line in reads)
    else:
        assert choice in text


def test_chromium_accepts_textures(device: str) -> None:
    """Its compiler, Tint, beside the one of wgpu."""
    x = Tensor(KEPT, device=device)
    with Context(IMAGE=2):
        values = [read((x * 1.5).cast(dtypes.imagef((6, 8, 4)))) for read, _ in READS.values()]
        values += [x @ x.transpose(), x.reshape(1, 6, 4, 8).conv2d(x[:, :27].reshape(3, 6, 3, 3))]
        items = [item for value in values for item in (value + 0).schedule()]
    target = Device[device].written_for
    programs = [compile_kernel(item.ast, target) for item in items]
    texts = [program.source.text for program in programs]
    for kind in ("texture_2d<f32>", "texture_storage_2d<rgba32float, write>"):
        assert sum(kind in text for text in texts) >= 5
    assert tint(texts, [program.name for program in programs], target) == [""] * len(texts)


def test_random_gated_loads(seed: int, device: str) -> None:
    rng = Random(seed)
    for _ in range(CASES):
        case = gated_read(rng)
        memory = numbers(case.image)
        out = np.zeros(4 * case.lengths[0] * case.lengths[1], np.float32)
        found = run(device, compile_kernel(case.ast, Device[device].written_for), [out, memory])
        np.testing.assert_array_equal(found[0], case.computed(memory), str(case))


def test_what_is_realized_stays_in_its_image(device: str) -> None:
    """Products that read it copy nothing; assigned to, looked at and read in parts it is what NumPy
    computes."""
    a, b = random(16, 16), random(16, 20)[:, :16]
    with Context(IMAGE=2), capturing() as items:
        w = Tensor(b, device=device).realize()
        x = Tensor(a, device=device)
        for _ in range(3):
            x = (x @ w).realize()
    kernels = [i for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
    assert len(kernels) == 3 + 3 + 1  # products, images of w, and of the first x
    assert all(isinstance(k.bufs[0].dtype, ImageDType) for k in kernels)
    wanted = a @ b @ b @ b
    np.testing.assert_allclose(x.numpy(), wanted, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(x[1:5, 3].numpy(), wanted[1:5, 3], rtol=1e-3, atol=1e-3)
    with capturing() as again:
        x.realize()
    assert not again
    before = x + 1
    x.assign(x * 2)
    np.testing.assert_allclose(x.numpy(), wanted * 2, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(before.numpy(), wanted + 1, rtol=1e-3, atol=1e-3)


def test_a_gradient_passes_by_what_is_kept_in_an_image(device: str) -> None:
    a, b = random(8, 12), random(12, 8)

    def gradients(image: int) -> list[Any]:
        with Context(IMAGE=image):
            x, w = Tensor(a, device=device), Tensor(b, device=device)
            x.requires_grad = w.requires_grad = True
            y = (x @ w).realize()
            (y.relu() @ w.transpose()).square().mean().backward()
            assert x.grad is not None and w.grad is not None
            return [x.grad.numpy(), w.grad.numpy()]

    for found, wanted in zip(gradients(2), gradients(0), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_captured_function_keeps_images(device: str) -> None:
    w = Tensor(random(16, 16), device=device).realize()

    @TinyJit
    def step(x: Tensor) -> Tensor:
        return (x @ w).relu().realize()

    with Context(IMAGE=2):
        for n in range(4):
            a = random(8, 16) + n
            found = step(Tensor(a, device=device).realize()).numpy()
            np.testing.assert_allclose(found, np.maximum(a @ random(16, 16), 0), atol=1e-4)


def test_training_learns_as_without_images(device: str) -> None:
    def losses(image: int) -> list[float]:
        x, y = Tensor(random(32, 12), device=device), Tensor(random(32, 4), device=device)
        w = Tensor(random(12, 4), device=device)
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


def test_an_image_that_is_too_large_for_the_device_is_plain_memory(device: str) -> None:
    """A kernel that stores it and one that reads it agree on that."""
    side = Device[device].written_for.image_side
    x = np.arange(8 * side, dtype=np.float32)
    kind = dtypes.imagef((2 * side, 1, 4))
    held = Buffer(device, kind.size, kind).copyin(x.view(np.uint8).data)
    np.testing.assert_array_equal(held.as_array(), x)
    assert held.handle.image is None
    y = np.arange(4 * IMAGE_SIDE, dtype=np.float32)
    kept = (Tensor(y, device=device) * 2).cast(dtypes.imagef((IMAGE_SIDE, 1, 4)))
    np.testing.assert_array_equal((kept + 1).numpy(), y * 2 + 1)


def test_images_beyond_those_of_a_kernel_are_plain_memory_for_the_launch(device: str) -> None:
    """A kernel that stores to more of them than SwiftShader has textures for, with the limits of
    the device and with less; one that it reads and stores to, too."""
    target, image, stored = Device[device].written_for, dtypes.imagef((2, 3, 4)), 12
    texel, lane = loop(6, 0), loop(4, 1)
    places = [
        UOp(Ops.DEFINE_GLOBAL, image.ptr(), (), i).index(texel * 4 + lane)
        for i in range(stored + 4)
    ]
    total = sum((p.load() for p in places[stored:]), start=places[0].load())
    stores = tuple(p.store(total * float(i + 1)) for i, p in enumerate(places[:stored]))
    sink = UOp.sink(UOp(Ops.GROUP, dtypes.void, stores).end(texel, lane), arg=KernelInfo())
    given = [random(24) + i for i in range(stored + 4)]
    wanted = given[0] + np.sum(given[stored:], 0)
    for limits in (target, replace(target, images_read=2, images_written=3)):
        program = compile_kernel(sink, limits)
        memory = [Buffer(device, 24, image).copyin(x.view(np.uint8).data) for x in given]
        Device[device].load(program)(memory, {}, wait=True)
        assert all(one.handle.image is not None for one in memory)
        for i, one in enumerate(memory):
            expected = wanted * np.float32(i + 1) if i < stored else given[i]
            np.testing.assert_allclose(one.as_array(), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", [dtypes.imagef((5, 3, 4)), dtypes.imageh((5, 3, 4))], ids=str)
def test_images_are_copied(kind: ImageDType, device: str) -> None:
    """To and from the host, to another image and to a buffer of the device; infinities, NaN and
    numbers below the normal ones, too."""
    held = np.float16 if kind.bits == 16 else np.float32
    x = np.arange(60).astype(held)
    x[:5] = [np.inf, -np.inf, np.nan, -0.0, np.finfo(held).smallest_subnormal]
    first = Buffer(device, 60, kind).copyin(x.view(np.uint8).data)
    for kept in (kind, dtypes.float16 if kind.bits == 16 else dtypes.float32):
        other = Buffer(device, 60, kept).copy_from(first)
        np.testing.assert_array_equal(other.as_array().view(held), x)
        np.testing.assert_array_equal(
            Buffer(device, 60, kind).copy_from(other).as_array().view(held), x
        )


def test_rows_beyond_the_highest_image_lie_side_by_side(device: str) -> None:
    a, b = random(IMAGE_SIDE * 2, 4), random(4, 4)
    with Context(IMAGE=1):
        found = Tensor(a, device=device) @ Tensor(b, device=device)
        kinds = [str(x.dtype) for item in (found + 0).schedule() for x in item.bufs]
    assert f"imagef({IMAGE_SIDE}, 2, 4)" in kinds
    np.testing.assert_allclose(found.numpy(), a @ b, rtol=1e-4, atol=1e-4)
