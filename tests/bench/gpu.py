"""Speeds on a real GPU: kernels that move memory beside a copy, matrix products beside the vendor's
library (through PyTorch, where it is installed and has the GPU), all in one run.

`python -m tests.bench.gpu [DEVICE]`. Says plainly where there is no GPU.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from core import Tensor
from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import RunError
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.runtime.allocator import Place
from core.runtime.base import ComputeDevice
from core.runtime.buffer import buffer_of
from core.runtime.device import Device
from core.runtime.discover import findings
from core.uop import Ops
from tests.bench.measure import machine, table
from tests.gpu.__main__ import gpus, missing, name_of

ELEMENTS = 1 << 27
"""Of memory-bound kernels; fewer where a device has no buffers of so many."""
SIZES = (4096, 8192)
RUNS = 20


def times(build: Callable[[], Tensor], device: ComputeDevice) -> float:
    """Seconds of all kernels of `build`, by the GPU's clock: the median of RUNS."""
    with capturing() as items:
        keep = build().realize()
    kernels = [i for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
    assert device.target is not None
    loaded = [
        (device.load(compile_kernel(k.ast, device.target)), [buffer_of(b) for b in k.bufs])
        for k in kernels
    ]
    found = [
        sum(run(buffers, {}, wait=True) or 0.0 for run, buffers in loaded) for _ in range(RUNS + 3)
    ]
    assert keep is not None
    return statistics.median(found[3:])


def copy_seconds(device: ComputeDevice, nbytes: int) -> float:
    """Seconds of a copy within the device, by the host's clock around RUNS of them."""
    allocator = device.allocator
    source, target = allocator.alloc(nbytes), allocator.alloc(nbytes)
    places = Place(allocator, target), Place(allocator, source)
    allocator.copy(*places, nbytes)
    device.synchronize()
    begin = time.perf_counter()
    for _ in range(RUNS):
        allocator.copy(*places, nbytes)
    device.synchronize()
    took = (time.perf_counter() - begin) / RUNS
    for handle in (source, target):
        allocator.free(handle, nbytes)
    return took


def elements_of(device: ComputeDevice) -> int:
    """ELEMENTS, halved until the device has buffers of so many. Raises RunError where it has none
    at all."""
    elements = ELEMENTS
    while True:
        try:
            handle = device.allocator.alloc(4 * elements)
        except RunError:
            if elements == 1:
                raise
            elements //= 2
        else:
            device.allocator.free(handle, 4 * elements)
            return elements


def memory_rows(name: str, device: ComputeDevice) -> list[list[object]]:
    """Kernels that only move memory, as parts of the bandwidth of a copy."""
    elements = elements_of(device)
    nbytes = 4 * elements
    copied = 2 * nbytes / copy_seconds(device, nbytes)
    x = Tensor(np.ones(elements, np.float32)).to(name).realize()
    y = Tensor(np.ones(elements, np.float32)).to(name).realize()
    wide = x.reshape(1 << 12, -1)
    cases: list[tuple[str, Callable[[], Tensor], int]] = [
        ("x * 2 + 1", lambda: x * 2 + 1, 2 * nbytes),
        ("x + y", lambda: x + y, 3 * nbytes),
        ("sum of all", lambda: x.sum(), nbytes),
        ("sum of rows", lambda: wide.sum(1), nbytes),
        ("sum of columns", lambda: wide.sum(0), nbytes),
        ("softmax of rows", lambda: wide.softmax(1), 4 * nbytes),
    ]
    rows: list[list[object]] = [["copy within the device", f"{copied / 1e9:.0f}", "1"]]
    for title, build, moved in cases:
        speed = moved / times(build, device)
        rows.append([title, f"{speed / 1e9:.0f}", f"{speed / copied:.2f}"])
    return rows


def product_rows(name: str, device: ComputeDevice) -> list[list[object]]:
    """Square matrix products in half and single precision; the largest where there are matrix
    instructions."""
    assert device.target is not None
    rows: list[list[object]] = []
    for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.float32):
        for n in SIZES if device.target.tensor_cores else SIZES[:1]:
            a, b = (Tensor.rand(n, n).cast(dtype).to(name).realize() for _ in range(2))
            ours = 2 * n**3 / times(lambda a=a, b=b: a @ b, device)
            theirs = library_speed(name, n, dtype)
            ratio = "no library here" if theirs is None else f"{ours / theirs:.2f}"
            speed = "" if theirs is None else f"{theirs / 1e12:.1f}"
            rows.append([f"{dtype.name} {n}", f"{ours / 1e12:.1f}", speed, ratio])
    return rows


def library_speed(name: str, n: int, dtype: DType) -> float | None:
    """Flops per second of the vendor's library; None where PyTorch is not there or has no GPU."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    if not torch.cuda.is_available():
        return None
    where = f"cuda:{int(name.partition(':')[2] or 0)}"
    a, b = (torch.rand(n, n, device=where, dtype=getattr(torch, dtype.name)) for _ in range(2))
    found: list[float] = []
    for _ in range(RUNS + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        a @ b
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return 2 * n**3 / statistics.median(found[3:])


def main(chosen: list[str]) -> int:
    """The exit status: 0 without a GPU, too."""
    found = findings()
    names = chosen or gpus(found)
    if not names:
        print(missing(found).replace("checked", "measured"))
        return 0
    print(machine() + "\n", flush=True)
    for name in names:
        device = Device[name]
        print(name, name_of(name, found))
        print(table("Memory", ["kernel", "GB/s", "of a copy"], memory_rows(name, device)))
        columns = ["product", "TFLOP/s", "library's", "ratio"]
        print(table("Matrix products", columns, product_rows(name, device)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
