"""What this machine can do, measured: floating-point operations and bytes per second of a device.

Two kernels are compiled as any other is, and launched until neither gets faster: a chain of fused
multiply-adds that stays in the caches, and a copy that does not. The faster of the copy and of
NumPy's own is taken on the CPU. The kernels are this module's own: nothing of a trace is run.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from core.compile import compile_kernel
from core.errors import DeviceError
from core.runtime.device import Device
from core.tensor import Tensor
from core.trial.trial import Trial
from core.uop.uop import UOp
from viz.files.machine import processor

SHAPES: Final = ((1 << 16, 32), (1 << 18, 32), (1 << 20, 32))
"""Elements, and multiply-adds of each: which is best depends on caches and on the cores."""
COPIED: Final = 1 << 24
"""Elements that are copied: 64 MiB, more than caches hold."""
SECONDS: Final = 1.0
"""What each kernel is launched for."""
_LAUNCHES: Final = 2000
Progress = Callable[[str], None]


def measure(device: str, progress: Progress) -> dict[str, Any]:
    """The peaks of a device in the form `Peak` of the page. Raises DeviceError for one that runs no
    programs, and whatever a device says that fails."""
    name = Device.canonicalize(device)
    if Device[name].target is None:
        raise DeviceError(f"{name} has no speed of its own", hint="measure another device")
    flops = 0.0
    for size, depth in SHAPES:
        progress(f"measuring arithmetic on {name}")
        flops = max(flops, 2 * size * depth / _fastest(name, _chain(size, depth)))
    progress(f"measuring memory on {name}")
    seconds = _fastest(name, (Tensor.empty(COPIED) + 1).schedule()[-1].ast)
    if name == "CPU":
        seconds = min(seconds, _numpy_copy())
    return {
        "device": name,
        "processor": processor() if name == "CPU" else name,
        "flops": flops,
        "bytes": 8 * COPIED / seconds,
        "measured": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def _chain(size: int, depth: int) -> UOp:
    """`depth` multiply-adds of each element, each of which needs the one before."""
    x = Tensor.empty(size)
    y = x
    for _ in range(depth):
        y = y * x + x
    return y.schedule()[-1].ast


def _fastest(device: str, ast: UOp) -> float:
    """Seconds of the fastest launch."""
    target = Device[device].target
    assert target is not None
    runner = Device[device].load(compile_kernel(ast, target))
    trial = Trial(ast, device)
    trial.fill([np.ones(buffer.size, np.float32) for buffer in trial.buffers])
    return min(trial.times(runner, _LAUNCHES, time.monotonic() + SECONDS)) / 1e6


def _numpy_copy() -> float:
    """Seconds of the fastest copy by NumPy."""
    source = np.ones(COPIED, np.float32)
    target = np.empty_like(source)
    best, until = float("inf"), time.monotonic() + SECONDS / 2
    while time.monotonic() < until:
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return best
