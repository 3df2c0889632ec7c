"""OpenCL C that a user has edited runs on GPUs, never on the CPU; what is wrong with it is said,
with the line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from core import Tensor
from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError, RunError
from core.isolation.edited import Edited, editable_on, with_text
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.opencl.device import OpenClDevice
from core.target import targets
from core.toolchain.program import Program


@pytest.fixture
def program() -> Program:
    x = Tensor.arange(64).contiguous().realize()
    return compile_kernel((x * 3).schedule()[0].ast, targets["opencl"])


@pytest.fixture
def on_gpu() -> Iterator[None]:
    """The device counts as one apart from the host."""
    device = Device["OPENCL"]
    assert isinstance(device, OpenClDevice)
    before = device.queue.opened
    device.queue.opened = replace(before, is_gpu=True)
    yield
    device.queue.opened = before


def ran(program: Program, text: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    edited = with_text(program, "OPENCL", Edited("opencl", text))
    out, x = (Buffer("OPENCL", 64, dtypes.int32).allocate() for _ in range(2))
    x.copyin(np.arange(64, dtype=np.int32).view(np.uint8).data)
    Device["OPENCL"].load(edited)([out, x], {}, wait=True)
    return out.as_array()


def test_on_the_cpu_it_is_refused(program: Program) -> None:
    device = Device["OPENCL"]
    assert isinstance(device, OpenClDevice)
    if device.queue.opened.is_gpu:
        pytest.skip("the device is a GPU")
    with pytest.raises(RunError, match="edited OpenCL C runs on GPUs only"):
        ran(program, program.source.text)
    (row,) = [row for row in editable_on(["OPENCL"]) if row["kind"] == "opencl"]
    assert "GPUs only" in row["missing"]


@pytest.mark.usefixtures("on_gpu")
def test_an_edited_text_runs(program: Program) -> None:
    np.testing.assert_array_equal(ran(program, program.source.text), np.arange(64) * 3)
    edited = program.source.text.replace("* 3", "* 5")
    np.testing.assert_array_equal(ran(program, edited), np.arange(64) * 5)


@pytest.mark.usefixtures("on_gpu")
def test_a_wrong_line_is_named(program: Program) -> None:
    lines = program.source.text.splitlines()
    at = next(i for i, line in enumerate(lines) if "* 3" in line)
    lines[at] = lines[at].replace("* 3", "* missing")
    with pytest.raises(CompileError, match="OpenCL rejects kernel") as raised:
        ran(program, "\n".join(lines))
    assert f"line {at + 1} of its OpenCL C: {lines[at].strip()}" in str(raised.value)


@pytest.mark.usefixtures("on_gpu")
def test_the_launch_must_find_its_kernel_and_parameters(program: Program) -> None:
    text = program.source.text
    with pytest.raises(CompileError, match="there is no kernel kernel_"):
        ran(program, text.replace("void kernel_", "void other_"))
    with pytest.raises(RunError, match="the parameters are not those"):
        ran(program, text.replace("data1)", "data1, int more)"))
