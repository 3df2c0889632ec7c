"""Launches of a kernel whose grid is made of a variable, as the driver sees them."""

from __future__ import annotations

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import RunError
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.target import targets
from core.tile import kernels
from core.uop import UOp
from tests.core.runtime.gpu.fake_cuda import FakeCuda


def check_grids(device: str, target: str, driver: FakeCuda) -> None:
    """A copy of m x 100 elements has a work group for each 32 x 64 of them."""
    m = UOp.variable("m", 0, 150)
    program = compile_kernel(kernels.copy(m, 100, target), targets[target])
    runner = Device[device].load(program)
    buffers = [Buffer(device, 150 * 100, dtypes.float32).allocate() for _ in range(2)]
    block = program.local_size
    for value in (150, 1, 32, 0, 33):
        driver.log.clear()
        seconds = runner(buffers, {"m": value}, wait=True)
        grid = 2, -(-value // 32), 1
        launched = [f"launch {program.name} {grid} {block}"] if value else []
        assert [line for line in driver.log if line.startswith("launch")] == launched
        assert seconds == (pytest.approx(1e-3) if value else 0.0)
        assert runner(buffers, {"m": value}) is None
    driver.log.clear()
    for wrong in (-1, 151):
        with pytest.raises(RunError, match=f"m is {wrong} at a launch"):
            runner(buffers, {"m": wrong})
    assert not [line for line in driver.log if line.startswith("launch")]
    assert np.prod(program.global_size) == 10
