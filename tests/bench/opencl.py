"""OpenCL C of the demo's kernels: time to make one, and to run all of them by OPENCL beside WEBGPU
and the CPU, in turn; and products with operands in images beside buffers.

Where a driver computes on the CPU, as PoCL and SwiftShader do, all are figures of that.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from core import Tensor
from core.compile import compile_kernel
from core.errors import UopvizError
from core.helpers import Context
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.runtime.device import Device
from core.runtime.discover import findings
from core.trial.trial import Trial
from core.uop import Ops, UOp
from tests import opencl_setup, webgpu_setup
from tests.bench.measure import table
from tests.bench.wgsl import kernels_of_the_demo, texts
from tests.on_targets.subject import subject_of

DEVICES = ("CPU", "OPENCL", "WEBGPU")
LAUNCHES = 11
SIZES = (256, 1024)


def figures() -> str:
    """The tables; those of OPENCL where it can be used."""
    kernels = kernels_of_the_demo()
    made = texts("OpenCL C of the demo", kernels, ("opencl", "webgpu", "sm_90"))
    if lacks := opencl_setup.missing():
        return f"{made}\n\nOPENCL: not measured, there is not {lacks}"
    names = [name for name in DEVICES if name != "WEBGPU" or not webgpu_setup.missing()]
    titles = {f.device: f.found for f in findings() if f.looked_for in ("GPU", "device", "adapter")}
    rows = [
        [name, titles.get(name, ""), *(f"{value:,.0f}" for value in _launched(kernels, name))]
        for name in names
    ]
    run = table("The kernels of the demo", ["device", "", "kernels", "us, sum of medians"], rows)
    columns = ["product", *(f"IMAGE={n}, us" for n in range(3))]
    images = table("Products on OPENCL", columns, [_product(n) for n in SIZES])
    return "\n".join((made, run, images))


def _launched(kernels: Sequence[UOp], name: str) -> tuple[int, float]:
    """How many kernels a device runs, and their microseconds."""
    device, times = Device[name], list[float]()
    assert device.target is not None
    for ast in kernels:
        try:
            runner = device.load(compile_kernel(ast, device.target))
            trial = Trial(ast, name, subject_of(ast).before)
            times.append(statistics.median(trial.times(runner, LAUNCHES)))
        except UopvizError as error:
            print(f"{name}: {error}")
    return len(times), sum(times)


def _product(n: int) -> list[object]:
    """The kernels of a product of square matrices, those that make its images among them."""
    x, w = (
        Tensor(np.random.default_rng(seed).standard_normal((n, n)).astype(np.float32))
        .to("OPENCL")
        .realize()
        for seed in range(2)
    )
    row: list[object] = [f"float32 {n}"]
    for image in range(3):
        with Context(IMAGE=image), capturing() as items:
            kept = (x @ w).realize()
        asts = [i.ast for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
        row.append(f"{_launched(asts, 'OPENCL')[1]:,.0f}")
        assert kept is not None
    return row
