"""Training the digits on WEBGPU and on OPENCL gives the losses of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from core import Context, Tensor
from core.runtime.device import Device
from examples.digits import BATCH, SEED, Net, training_step
from tests import opencl_setup, webgpu_setup
from tests.fuzzing import cases

LACKS = {"WEBGPU": webgpu_setup.missing, "OPENCL": opencl_setup.missing}
"""Device, and what says what it lacks on this machine."""


def losses(device: str, steps: int) -> list[float]:
    """Of each step of training on a device."""
    digits: Any = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.images))
    images = (digits.images[order] / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    labels = digits.target[order].astype(np.int32)
    before, Device.DEFAULT = Device.DEFAULT, device
    found: list[float] = []
    try:
        Tensor.manual_seed(SEED)
        step = training_step(Net())
        with Context(TRAINING=1):
            for i in range(steps):
                at = i * BATCH % (len(images) - BATCH)
                x, y = Tensor(images[at : at + BATCH]), Tensor(labels[at : at + BATCH])
                found.append(step(x, y).item())
    finally:
        Device.DEFAULT = before
    return found


@pytest.mark.parametrize("device", LACKS)
def test_steps_give_the_losses_of_the_cpu(device: str, pytestconfig: pytest.Config) -> None:
    """Two epochs are 88 steps: --fuzz 88."""
    if lack := LACKS[device]():
        pytest.skip(f"{device} needs {lack}")
    steps = cases(pytestconfig, 6)
    wanted, found = losses("CPU", steps), losses(device, steps)
    assert len(set(wanted)) == steps  # it trains
    np.testing.assert_allclose(found, wanted, atol=1e-3)
