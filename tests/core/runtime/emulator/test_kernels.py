"""Whole kernels on the emulated device: fixed and random ones against the reference, programs of
Tensors against the CPU, the demo's training."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Context, Device, Tensor, Variable, dtypes, nn
from core.errors import DeviceError, EnvError, FaultError, RunError
from core.helpers import EMULATOR_CHECKS
from core.runtime.buffer import Buffer
from core.runtime.emulator import machine
from core.runtime.reference.kernel import evaluate_kernel
from core.uop.uop import UOp
from examples.digits import Net
from tests.core.runtime.asts import KERNELS
from tests.core.runtime.emulator.running import run_ast
from tests.core.runtime.test_agreement import check, memory_of
from tests.core.runtime.test_random_kernels import agree, kernels

NVIDIA = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100")


@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize("name", KERNELS)
def test_fixed_kernels(name: str, target: str) -> None:
    ast, memory = KERNELS[name](), memory_of(KERNELS[name]())
    right = [a.copy() for a in memory]
    evaluate_kernel(ast, right, {})
    run_ast(ast, memory, target)
    check(ast, memory, right)


@settings(max_examples=40, deadline=None)
@given(kernels(), st.sampled_from(NVIDIA), st.sampled_from([64, 1 << 14]))
def test_random_kernels(ast: UOp, target: str, lanes: int) -> None:
    found, right = memory_of(ast), memory_of(ast)
    evaluate_kernel(ast, right, {})
    before, machine.LANES = machine.LANES, lanes
    try:
        run_ast(ast, found, target)
    finally:
        machine.LANES = before
    agree(ast, found, right)


def train(device: str, steps: int) -> list[float]:
    """The losses of the demo's net on made-up digits."""
    rng = np.random.default_rng(5)
    images = rng.random((steps, 32, 1, 8, 8), np.float32)
    labels = rng.integers(0, 10, (steps, 32)).astype(np.int32)
    before, losses = Device.DEFAULT, list[float]()
    Device.DEFAULT = device
    try:
        Tensor.manual_seed(7)
        net = Net()
        optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=0.002)
        with Context(TRAINING=1):
            for x, y in zip(images, labels, strict=True):
                optimizer.zero_grad()
                loss = net(Tensor(x)).sparse_categorical_crossentropy(Tensor(y)).backward()
                losses.append(loss.realize(*optimizer.schedule_step()).item())
    finally:
        Device.DEFAULT = before
    return losses


@pytest.mark.sampled(2)
@pytest.mark.parametrize("device", ["PTX:EMU", "PTX:EMU:sm_75"])
def test_the_demo_trains_as_on_the_cpu(device: str) -> None:
    np.testing.assert_allclose(train(device, 2), train("CPU", 2), rtol=1e-5)


def test_names_of_devices() -> None:
    assert Device.canonicalize("ptx:emu") == "PTX:EMU"
    assert Device.canonicalize("PTX:EMU:sm_90") == "PTX:EMU"
    assert Device.canonicalize("Ptx:Emu:sm_80") == "PTX:EMU:SM_80"
    assert Device["PTX:EMU"] is Device["ptx:emu:SM_90"]
    assert Device["PTX:EMU:sm_80"] is not Device["PTX:EMU"]
    target = Device["PTX:EMU:sm_80"].target
    assert target is not None and target.name == "sm_80"
    with pytest.raises(DeviceError, match="emulates no 'gfx1100'") as caught:
        Device.canonicalize("PTX:EMU:gfx1100")
    assert "sm_75" in str(caught.value)
    for wrong in ("PTX", "PTX:0", "PTX:EMU:1", "EMU", "CPU:EMU", "PTX:EMUX"):
        with pytest.raises(DeviceError):
            Device.canonicalize(wrong)


def test_a_wrong_device_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "_default", None)
    monkeypatch.setenv("DEV", "PTX:EMU:sm_1")
    with pytest.raises(EnvError, match="not a device"):
        Device.canonicalize(None)
    monkeypatch.setenv("DEV", "ptx:emu")
    assert Device.DEFAULT == "PTX:EMU"


def test_tensors_move_between_devices() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], device="PTX:EMU")
    assert (x @ x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert (x.to("CPU") + 1).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert x.to("PTX:EMU:sm_75").sum().item() == 10.0
    assert Tensor([1, 2, 3]).to("PTX:EMU").flip(0).tolist() == [3, 2, 1]


def test_memory_without_content_is_an_error() -> None:
    x = Tensor.empty(100, device="PTX:EMU")
    with pytest.raises(FaultError, match="of data1, which nothing has written") as caught:
        (x + 1).realize()
    assert caught.value.kind == "uninitialised"
    assert re.search(r"node LOAD of float", caught.value.where)
    with Context(EMULATOR_CHECKS=1):
        (x + 1).realize()
    assert EMULATOR_CHECKS.value == 2


def test_variables() -> None:
    a = Variable("a", 1, 10)
    for value in (3, 7):
        x = Tensor(a.bind(value), device="PTX:EMU")
        assert (x + 1).item() == value + 1
        assert x.reshape(1, 1).expand(3, 2).sum().item() == 6 * value


def test_more_memory_than_there_is() -> None:
    with pytest.raises(RunError, match=r"no \d+ bytes left"):
        Buffer("PTX:EMU", 1 << 60, dtypes.float32).allocate()
