"""WEBGPU computes what the reference does, for what WGSL has and for what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from core import Tensor, TinyJit
from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import CompileError, DriverError, RunError
from core.render.wgsl_lines.launch import launch_in
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.discover import findings
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.webgpu.device import WebGpuDevice
from core.runtime.webgpu.launch import rejected
from core.target import targets
from core.uop.kernelinfo import Opt, OptOps
from core.uop.uop import UOp
from tests.core.passes.running import run_on
from tests.core.runtime.test_agreement import memory_of
from tests.core.runtime.test_random_kernels import agree, kernels

WEBGPU = "WEBGPU"
WIDE = (dtypes.int64, dtypes.uint64)


def both(make: Callable[[str], Tensor]) -> tuple[Any, Any]:
    return make(WEBGPU).numpy(), make("CPU").numpy()


@settings(max_examples=60, deadline=None)
@given(kernels())
def test_random_kernels_agree_with_the_reference(ast: UOp) -> None:
    right = memory_of(ast)
    evaluate_kernel(ast, right, {})
    program = compile_kernel(ast, targets["webgpu"])
    memory = memory_of(ast)
    kinds = {a.number: a.dtype for a in program.arguments}
    buffers = [
        Buffer(WEBGPU, a.size if i in kinds else a.nbytes, kinds.get(i, dtypes.uint8))
        for i, a in enumerate(memory)
    ]
    for buffer, a in zip(buffers, memory, strict=True):
        buffer.copyin(a.view(np.uint8).data)
    Device[WEBGPU].load(program)(buffers, {}, wait=True)
    agree(ast, [b.as_array() for b in buffers], right)


def test_random_numbers_are_those_of_the_cpu() -> None:
    def make(device: str) -> Tensor:
        Tensor.manual_seed(3)
        return Tensor.rand(1000, device=device)

    found, wanted = both(make)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [d for d in dtypes.all if d is not dtypes.float64], ids=str)
def test_every_dtype_is_stored_and_read(dtype: DType) -> None:
    """37 elements end within a word; views begin within one."""

    def make(device: str) -> Tensor:
        x = (Tensor.arange(37, device=device) - 5).cast(dtype).contiguous().realize()
        return x[3:30].contiguous().realize().flip(0).cast(dtypes.float32)

    found, wanted = both(make)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_constants_are_stored(dtype: str) -> None:
    """A negative one as well, in a part of a word."""
    value = 200 if dtype == "uint8" else -128
    found = (Tensor.full((5,), value, dtype=dtype, device="WEBGPU") + 0).contiguous()
    np.testing.assert_array_equal(found.numpy(), np.full(5, value, dtype))


def test_there_are_no_arrays_of_booleans() -> None:
    """To which compilers of WGSL give elements of a byte, with drivers that do not."""
    values = np.random.default_rng(3).random((6, 28)) < 0.1
    (item,) = Tensor(values).any(0).schedule()[-1:]
    opts = [Opt(OptOps.GROUP, 0, 3), Opt(OptOps.LOCAL, 0, 7)]
    program = compile_kernel(item.ast, targets["webgpu"], opts)
    assert "var<workgroup>" in program.source.text and "array<bool" not in program.source.text
    memory = memory_of(item.ast)
    right = [a.copy() for a in memory]
    evaluate_kernel(item.ast, right, {})
    agree(item.ast, run_on("WEBGPU", item.ast, opts, memory), right)


def test_values_that_are_not_finite() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e9, -3e9, 1.5], np.float32)

    def of(make: Callable[[Tensor], Tensor]) -> None:
        found, wanted = both(lambda device: make(Tensor(values, device=device)))
        np.testing.assert_array_equal(found, wanted)

    of(lambda x: x.isnan())
    of(lambda x: x.isinf())
    of(lambda x: x.maximum(0.0))
    of(lambda x: x.cast(dtypes.int32))
    of(lambda x: x.cast(dtypes.uint8))
    of(lambda x: x.cast(dtypes.int64))
    of(lambda x: x.cast(dtypes.bool))
    of(lambda x: (x > 1).where(x, float("inf")))
    of(lambda x: (x > 1).where(x, float("nan")))


@pytest.mark.parametrize(
    "source", [dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64], ids=str
)
@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float16, dtypes.fp8e5m2], ids=str)
def test_integers_are_rounded_once_to_narrow_floats(source: DType, dtype: DType) -> None:
    rng = np.random.default_rng(1)
    ties = [(256 + n) << k | 1 << (k - 1) for n in (0, 1) for k in (1, 8, 17, 20)]
    near = [t + d for t in ties for d in (-1, 0, 1)]
    values = np.array([*near, *rng.integers(0, 2**31, 64), 2**31 - 1], np.int64)
    if source.bits == 64:
        values = np.concatenate([values, values << 30, [2**63 - 1, 2**62 + 1]])
    kind = np.dtype(source.name)

    def make(device: str) -> Tensor:
        return Tensor(values.astype(kind), device=device).cast(dtype).cast(dtypes.float32)

    found, wanted = both(make)
    np.testing.assert_array_equal(found, wanted)


def units(found: Any, exact: Any) -> float:
    """The largest error in units in the last place."""
    spacing = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    return float(np.max(np.abs(found - exact) / spacing))


@pytest.mark.parametrize(
    ("name", "scales", "most"),
    [
        ("sin", (1e-3, 1.0, 30.0, 1e5, 1e20, 1e37), 2.5),
        ("cos", (1e-3, 1.0, 30.0, 1e5, 1e20, 1e37), 2.5),
        ("exp2", (1e-3, 1.0, 30.0), 1.2),
        ("exp", (1e-3, 1.0, 20.0), 2.5),
        ("log2", (1e-3, 1.0, 1e20), 1.0),
        ("sqrt", (1e-3, 1.0, 1e20), 0.5),
    ],
)
def test_functions_are_as_close_as_documented(
    name: str, scales: Sequence[float], most: float
) -> None:
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=2000) * s for s in scales])
    values = (np.abs(values) if name in ("log2", "sqrt") else values).astype(np.float32)
    found = getattr(Tensor(values, device=WEBGPU), name)().numpy()
    assert units(found, getattr(np, name)(values.astype(np.float64))) <= most


def test_powers_are_as_close_as_documented() -> None:
    rng = np.random.default_rng(6)
    x = np.exp(rng.normal(size=4000) * 4).astype(np.float32)
    y = (rng.normal(size=4000) * 5).astype(np.float32)
    exact = x.astype(np.float64) ** y
    kept = (exact < 3e38) & (exact > 2e-37)
    found = (Tensor(x, device=WEBGPU) ** Tensor(y, device=WEBGPU)).numpy()
    assert units(found[kept], exact[kept]) <= 2.5


def test_more_arguments_than_bindings_are_packed() -> None:
    kinds = (dtypes.float32, dtypes.int8, dtypes.int64, dtypes.bool, dtypes.float16)

    def make(device: str) -> Tensor:
        parts = [(Tensor.arange(37, device=device) % (n + 2)).cast(kinds[n % 5]).contiguous()
                 for n in range(12)]  # fmt: skip
        Tensor.realize(*parts)
        total = Tensor.zeros(37, device=device)
        for part in parts:
            total = total + part.cast(dtypes.float32)
        return total

    found, wanted = both(make)
    np.testing.assert_array_equal(found, wanted)


def test_arguments_are_packed_only_beyond_what_the_adapter_binds() -> None:
    target = Device[WEBGPU].target
    assert target is not None and target.buffers >= 10  # SwiftShader has 10, the default is 8
    parts = [Tensor.arange(n, n + 5, device=WEBGPU).contiguous().realize() for n in range(8)]
    (ast,) = [item.ast for item in sum(parts[1:], parts[0]).schedule()]
    packed = [launch_in(compile_kernel(ast, t).source.facts).packed
              for t in (target, targets["webgpu"])]  # fmt: skip
    assert packed[0] is None
    assert packed[1] is not None
    np.testing.assert_array_equal(sum(parts[1:], parts[0]).numpy(), np.arange(5) * 8 + 28)


def test_grids_of_more_groups_than_a_dimension_has_are_folded() -> None:
    n = 131_071 * 2  # a prime, times 2
    x = Tensor.arange(n, device=WEBGPU).contiguous().realize()
    program_of_it = (x + 1).contiguous().realize().numpy()
    np.testing.assert_array_equal(program_of_it, np.arange(1, n + 1, dtype=np.int32))


def test_a_captured_function_is_replayed() -> None:
    @TinyJit
    def step(x: Tensor) -> Tensor:
        return ((x @ x).relu().sum(axis=1) * 0.5).realize()

    for n in range(4):
        x = Tensor(np.full((8, 8), n, np.float32), device=WEBGPU).realize()
        np.testing.assert_allclose(step(x).numpy(), np.full(8, 32.0 * n * n))


def test_several_devices_share_a_value() -> None:
    devices = (WEBGPU, "WEBGPU:1")
    x = Tensor.arange(16, device=WEBGPU).cast(dtypes.float32).shard(devices, axis=0)
    np.testing.assert_array_equal((x * 2).numpy(), np.arange(16) * 2.0)
    assert x.sum().item() == 120


def test_a_launch_is_timed() -> None:
    x = Tensor.arange(256, device=WEBGPU).contiguous().realize()
    (item,) = (x * 3).schedule()
    program = compile_kernel(item.ast, targets["webgpu"])
    buffers = [Buffer(WEBGPU, 256, a.dtype).allocate() for a in program.arguments]
    seconds = Device[WEBGPU].load(program)(buffers, {}, wait=True)
    assert seconds is not None
    assert 0 < seconds < 10


def test_a_buffer_beyond_the_limit_is_one_error() -> None:
    with pytest.raises(RunError, match=r"WEBGPU has no buffers of .* bytes"):
        Buffer(WEBGPU, 1 << 40, dtypes.uint8).allocate()


def test_a_driver_without_memory_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device[WEBGPU]
    assert isinstance(device, WebGpuDevice)

    def full(**_: object) -> None:
        raise RuntimeError("Validation Error\nCaused by:\n  Not enough memory left.")

    monkeypatch.setattr(device.queue.device, "create_buffer", full)
    with pytest.raises(RunError, match="WEBGPU has no memory left") as raised:
        device.allocator.alloc(1 << 20)
    assert not isinstance(raised.value, DriverError)


def test_a_lost_device_is_one_error_that_leaves_others() -> None:
    device = WebGpuDevice("WEBGPU:7")
    program = compile_kernel(Tensor.arange(9, 18).schedule()[0].ast, targets["webgpu"])
    device.load(program)
    device.queue.device.destroy()
    for act in (
        lambda: device.load(program),
        lambda: device.allocator.alloc(16),
        device.synchronize,
    ):
        with pytest.raises(DriverError, match="WEBGPU:7 was lost while"):
            act()
    assert (Tensor.arange(3, device=WEBGPU) + 1).tolist() == [1, 2, 3]


def test_float64_is_an_error_with_the_line_of_the_user() -> None:
    with pytest.raises(CompileError, match="WebGPU has no float64") as raised:
        (Tensor([1.0, 2.0], dtype=dtypes.float64, device=WEBGPU) * 2).realize()
    assert "test_device.py" in str(raised.value)
    for function in (Tensor.sin, Tensor.cos, Tensor.exp2):
        with pytest.raises(CompileError, match="WebGPU has no float64"):
            function(Tensor([1.0, 2.0], dtype=dtypes.float64, device=WEBGPU)).realize()
    with pytest.raises(CompileError, match="WebGPU has no float64"):
        (Tensor([1.0, 2.0], dtype=dtypes.float64, device=WEBGPU) ** 0.3).realize()


def test_a_text_that_is_rejected_names_its_line() -> None:
    x = Tensor.arange(256, device=WEBGPU).contiguous().realize()
    program = compile_kernel((x * 3).schedule()[0].ast, targets["webgpu"])
    lines = program.source.text.splitlines()
    at = next(i for i, line in enumerate(lines) if "gidx0" in line or "lidx0" in line)
    said = f"Shader '' parsing error: expected ';'\n  wgsl:{at + 1}:5\n"
    error = rejected(program, said)
    assert f"line {at + 1} of its WGSL: {lines[at].strip()}" in str(error)


def test_the_adapter_is_named() -> None:
    said = [f for f in findings() if f.device == "WEBGPU"]
    assert [f.looked_for for f in said][:2] == ["wgpu", "adapter"]
    assert "Vulkan" in said[1].found
