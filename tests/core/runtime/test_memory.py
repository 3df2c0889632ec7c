"""Buffers, allocators, device names, and how NumPy holds each dtype."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import DeviceError, RunError
from core.runtime.allocators import allocated
from core.runtime.buffer import Buffer, buffer_of, buffers
from core.runtime.device import Device
from core.runtime.host import ALIGN
from core.runtime.numeric import from_memory, memory_dtype, to_memory
from core.toolchain.processor import host_target
from core.uop.engine.observe import MemoryChange, NullObserver, observing
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.runtime.asts import add


def test_copies_in_and_out() -> None:
    values = np.arange(10, dtype=np.float32)
    buffer = Buffer("CPU", 10, dtypes.float32).copyin(values.data)
    assert buffer.address % ALIGN == 0
    assert np.array_equal(buffer.as_array(), values)
    out = bytearray(40)
    buffer.copyout(memoryview(out))
    assert bytes(out) == values.tobytes()


def test_the_array_of_a_host_buffer_is_its_memory() -> None:
    buffer = Buffer("CPU", 4, dtypes.int32).allocate()
    buffer.as_array()[:] = 7
    assert buffer.as_array().tolist() == [7, 7, 7, 7]


def test_sharing_does_not_copy_on_the_host() -> None:
    values = np.arange(16, dtype=np.float32)
    buffer = Buffer.share("CPU", values, dtypes.float32)
    assert buffer.address == values.ctypes.data
    values[3] = 42
    assert buffer.as_array()[3] == 42


def test_memory_is_counted_freed_and_reused() -> None:
    class Watching(NullObserver):
        def __init__(self) -> None:
            self.seen: list[tuple[str, int]] = []

        def memory(self, change: MemoryChange) -> None:
            self.seen.append((change.device, change.allocated))

    gc.collect()  # memory that earlier tests left would be seen when it is freed
    before = allocated("CPU")
    with observing(Watching()) as watching:
        buffer = Buffer("CPU", 1_000_003, dtypes.uint8).allocate()
        address = buffer.address
        assert allocated("CPU") == before + 1_000_003
        del buffer
        gc.collect()
    assert allocated("CPU") == before
    assert watching.seen == [("CPU", before + 1_000_003), ("CPU", before)]
    assert Buffer("CPU", 1_000_003, dtypes.uint8).allocate().address == address


def test_a_node_keeps_its_memory_and_takes_it_along() -> None:
    gc.collect()  # nodes that earlier tests left would go with it
    node = UOp.new_buffer("CPU", 8, dtypes.float32)
    memory = buffer_of(node)
    assert buffer_of(node) is memory
    count = len(buffers)
    del node
    gc.collect()
    assert len(buffers) == count - 1


def test_a_view_is_a_part_of_its_base() -> None:
    base = UOp.new_buffer("CPU", 8, dtypes.int32)
    view = UOp(Ops.BUFFER_VIEW, dtypes.int32, (base,), (3, 2))
    buffer_of(base).copyin(np.arange(8, dtype=np.int32).data)
    part = buffer_of(view).allocate()
    assert part.as_array().tolist() == [2, 3, 4]
    part.as_array()[0] = 99
    assert buffer_of(base).as_array()[2] == 99


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Buffer("CPU", 4, dtypes.int32).copyin(memoryview(bytes(3))),
        lambda: Buffer("CPU", 4, dtypes.int32).as_array(),
        lambda: buffer_of(UOp.const(dtypes.int32, 1)),
        lambda: Buffer("CPU", 4, dtypes.int32, Buffer("CPU", 4, dtypes.int32), 1),
    ],
    ids=["size", "no memory", "not a buffer", "view outside"],
)
def test_mistakes_are_named(wrong: Callable[[], object]) -> None:
    with pytest.raises(RunError):
        wrong()


@pytest.mark.parametrize(("name", "canonical"), [
    ("CPU", "CPU"), ("cpu", "CPU"), ("CPU:0", "CPU"), ("cpu:3", "CPU:3"), ("PYTHON", "REFERENCE"),
    ("python:2", "REFERENCE:2"), ("null", "NULL"),
])  # fmt: skip
def test_device_names(name: str, canonical: str) -> None:
    assert Device.canonicalize(name) == canonical
    assert Device[name].name == canonical
    assert Device[name] is Device[canonical]


@pytest.mark.parametrize("name", ["TPU", "", "CPU:x", "CPU:-1"])
def test_unknown_devices_are_refused(name: str) -> None:
    with pytest.raises(DeviceError, match="one of CPU"):
        Device.canonicalize(name)


def test_the_default_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEV", "null:1")
    monkeypatch.setattr(Device, "_default", None)
    assert Device.DEFAULT == "NULL:1"
    assert Device.canonicalize(None) == "NULL:1"
    Device.DEFAULT = "cpu"
    assert Device.DEFAULT == "CPU"


NARROW: list[tuple[DType, Any]] = [
    (dtypes.bfloat16, ml_dtypes.bfloat16), (dtypes.fp8e4m3, ml_dtypes.float8_e4m3fn),
    (dtypes.fp8e5m2, ml_dtypes.float8_e5m2),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "theirs"), NARROW, ids=lambda x: str(x))
def test_narrow_floats_by_their_bits(dtype: DType, theirs: Any) -> None:
    """Every bit pattern means what ml_dtypes says, and goes back to the same bits."""
    kind = memory_dtype(dtype)
    bits = np.arange(1 << dtype.bits, dtype=np.uint32).astype(kind)
    wanted = bits.view(theirs).astype(np.float32)
    found = from_memory(bits, dtype)
    np.testing.assert_array_equal(found, wanted)
    number = ~np.isnan(found)
    np.testing.assert_array_equal(to_memory(found, dtype)[number], bits[number])
    assert math.isnan(from_memory(to_memory(np.array([np.nan], np.float32), dtype), dtype)[0])


def test_kernels_read_memory_of_any_alignment() -> None:
    values = np.arange(1001, dtype=np.float32)[1:]
    assert values.ctypes.data % 16
    nodes = [UOp.new_buffer("CPU", 1000, dtypes.float32) for _ in range(3)]
    for node in nodes[1:]:
        buffers[node] = Buffer.share("CPU", values, dtypes.float32)
    program = compile_kernel(add(1000), host_target())
    Device["CPU"].load(program)([buffer_of(node).allocate() for node in nodes], {}, wait=True)
    assert np.array_equal(buffer_of(nodes[0]).as_array(), 3 * values)
