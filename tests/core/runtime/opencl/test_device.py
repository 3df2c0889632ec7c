"""OPENCL computes what the reference does, for what OpenCL C has and for what it only stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from core import Tensor, TinyJit
from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import CompileError, RenderError, RunError
from core.render.opencl import render
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.opencl.launch import rejected
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.program import Program
from core.uop.uop import UOp
from tests.core.runtime.test_agreement import memory_of
from tests.core.runtime.test_random_kernels import agree, kernels

OPENCL = "OPENCL"


def both(make: Callable[[str], Tensor]) -> tuple[Any, Any]:
    return make(OPENCL).numpy(), make("CPU").numpy()


def same(make: Callable[[str], Tensor]) -> None:
    found, wanted = both(make)
    np.testing.assert_array_equal(found, wanted)


def run(program: Program, memory: list[Any]) -> list[Any]:
    """What is in memory after one launch."""
    kinds = {a.number: a.dtype for a in program.arguments}
    buffers = [
        Buffer(OPENCL, a.size if i in kinds else a.nbytes, kinds.get(i, dtypes.uint8))
        for i, a in enumerate(memory)
    ]
    for buffer, a in zip(buffers, memory, strict=True):
        buffer.copyin(a.view(np.uint8).data)
    Device[OPENCL].load(program)(buffers, {}, wait=True)
    return [b.as_array() for b in buffers]


@settings(max_examples=10, deadline=None)
@given(ast=kernels())
def test_random_kernels_agree_with_the_reference(ast: UOp) -> None:
    right = memory_of(ast)
    evaluate_kernel(ast, right, {})
    wide = any(u.dtype.base.scalar() is dtypes.float64 for u in ast.toposort())
    program = compile_kernel(ast, targets["opencl" if wide else "opencl-f32"])
    agree(ast, run(program, memory_of(ast)), right)


@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_every_dtype_is_stored_and_read(dtype: DType) -> None:
    """Views begin where no vector does."""

    def make(device: str) -> Tensor:
        x = (Tensor.arange(37, device=device) - 5).cast(dtype).contiguous().realize()
        return x[3:30].contiguous().realize().flip(0).cast(dtypes.float64)

    same(make)


INTEGERS = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16,
            dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64)  # fmt: skip


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_every_operation_of_integers(dtype: DType) -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**64, (2, 64), dtype=np.uint64)
    x, y = bits.astype(np.dtype(dtype.name))
    y[:4] = 0, 1, np.iinfo(y.dtype).max, np.iinfo(y.dtype).min
    x[:4] = x[3] = np.iinfo(x.dtype).min

    def make(device: str) -> Tensor:
        a, b = (Tensor(v, device=device) for v in (x, y))
        amount = b & (dtype.bits - 1)
        found = [
            *(a + b, a - b, a * b, a // b, a % b, a & b, a | b, a ^ b, -a, a.maximum(b)),
            *(a << amount, a >> amount, (a < b).where(a, b), (a == b).cast(dtype)),
            *(a.cast(other).cast(dtype) for other in INTEGERS),
            *(a.cast(other).cast(dtypes.int64).cast(dtype) for other in (dtypes.bool,)),
        ]
        return Tensor.stack(*found)

    same(make)


FLOATS = (dtypes.float64, dtypes.float32, dtypes.float16, dtypes.bfloat16, *dtypes.fp8s)
EDGES = (np.nan, np.inf, -np.inf, 0.0, -0.0, 3e9, -3e9, 1.5, 0.1, -7.25, 300.0, 1e-6, 65504.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_operation_of_floats(dtype: DType) -> None:
    """NaN and infinity among them."""
    x = np.array(EDGES, np.float32)

    def make(device: str) -> Tensor:
        a = Tensor(np.repeat(x, len(x)), device=device).cast(dtype).contiguous()
        b = Tensor(np.tile(x, len(x)), device=device).cast(dtype).contiguous()
        found = [
            *(a + b, a - b, a * b, a / b, -a, a.maximum(b), a.sqrt(), a.trunc(), a.reciprocal()),
            *((a < b), (a == b), (a != b), a.isnan(), a.isinf(), a.cast(dtypes.bool)),
            *((a < b).where(a, b), (a > 1).where(a, float("inf")), (a > 1).where(a, float("nan"))),
            *(a.cast(other) for other in FLOATS),
            *(a.cast(other).cast(dtypes.int32) for other in INTEGERS),
        ]
        return Tensor.stack(*(f.cast(dtypes.float64) for f in found))

    same(make)


@pytest.mark.parametrize("name", ["exp2", "log2", "sin", "cos", "tanh", "sigmoid", "gelu"])
def test_functions_are_those_of_the_cpu(name: str) -> None:
    """Within the rounding of a fused sum."""
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=500) * s for s in (1e-3, 1.0, 30.0)])
    values = np.abs(values) if name == "log2" else values
    for kind in (np.float32, np.float64):
        found, wanted = both(lambda d, k=kind: getattr(Tensor(values.astype(k), device=d), name)())
        np.testing.assert_allclose(found, wanted, rtol=2e-6 if kind is np.float32 else 1e-14)


def test_random_numbers_are_those_of_the_cpu() -> None:
    def make(device: str) -> Tensor:
        Tensor.manual_seed(3)
        return Tensor.rand(1000, device=device)

    same(make)


def test_threads_share_memory() -> None:
    def make(device: str) -> Tensor:
        x = (Tensor.arange(64 * 96, device=device).reshape(64, 96) % 13).cast(dtypes.float32)
        x = x.contiguous().realize()
        return Tensor.stack((x @ x.T).sum(axis=1), x.max(axis=1), x.softmax(axis=1).sum(axis=1))

    found, wanted = both(make)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    y = Tensor.arange(1 << 14, device=OPENCL).contiguous().realize()
    item = y.sum().schedule()[-1]
    assert "__local" in compile_kernel(item.ast, targets["opencl"]).source.text


def test_parts_of_memory_that_overlap() -> None:
    """Written in place, from its own memory."""
    x = Tensor.arange(64, device=OPENCL).contiguous().realize()
    x[3:35].assign(x[4:36] * 2).realize()
    wanted = np.arange(64)
    wanted[3:35] = wanted[4:36] * 2
    np.testing.assert_array_equal(x.numpy(), wanted)


def test_a_captured_function_is_replayed() -> None:
    @TinyJit
    def step(x: Tensor) -> Tensor:
        return ((x @ x).relu().sum(axis=1) * 0.5).realize()

    for n in range(4):
        x = Tensor(np.full((8, 8), n, np.float32), device=OPENCL).realize()
        np.testing.assert_allclose(step(x).numpy(), np.full(8, 32.0 * n * n))


def test_several_devices_share_a_value() -> None:
    devices = (OPENCL, "OPENCL:1")
    x = Tensor.arange(16, device=OPENCL).cast(dtypes.float32).shard(devices, axis=0)
    np.testing.assert_array_equal((x * 2).numpy(), np.arange(16) * 2.0)
    assert x.sum().item() == 120


@pytest.fixture
def program() -> Program:
    x = Tensor.arange(256, device=OPENCL).contiguous().realize()
    return compile_kernel((x * 3).schedule()[0].ast, targets["opencl"])


def test_a_launch_is_timed(program: Program) -> None:
    buffers = [Buffer(OPENCL, 256, a.dtype).allocate() for a in program.arguments]
    seconds = Device[OPENCL].load(program)(buffers, {}, wait=True)
    assert seconds is not None
    assert 0 < seconds < 10


def test_a_buffer_beyond_the_limit_is_one_error() -> None:
    with pytest.raises(RunError, match=r"OPENCL has no buffers of .* bytes"):
        Buffer(OPENCL, 1 << 50, dtypes.uint8).allocate()


def test_without_float64_a_kernel_of_it_is_an_error_with_the_line_of_the_user() -> None:
    x = Tensor([1.0, 2.0], dtype=dtypes.float64, device=OPENCL).realize()
    (item,) = (x * 2).schedule()
    with pytest.raises(RenderError, match="this device has no float64") as raised:
        compile_kernel(item.ast, targets["opencl-f32"])
    assert "test_device.py" in str(raised.value)
    assert "double" in compile_kernel(item.ast, targets["opencl"]).source.text


def test_a_text_that_is_rejected_names_its_line(program: Program) -> None:
    lines = program.source.text.splitlines()
    at = next(i for i, line in enumerate(lines) if "gidx0" in line or "lidx0" in line)
    for said in (f"<kernel>:{at + 1}:5: error: wrong\n", f"error: k.cl:{at + 1}:5: wrong\n"):
        error = rejected(program, said)
        assert error.what.endswith(": wrong")
        assert f"line {at + 1} of its OpenCL C: {lines[at].strip()}" in str(error)
    with pytest.raises(CompileError, match="OpenCL rejects kernel"):
        raise rejected(program, "unheard of")


def test_a_kernel_may_be_called_as_a_function_of_the_language(program: Program) -> None:
    text = render(program.uops, "dot", targets["opencl"]).text
    assert "void kernel_dot(" in text
