"""WGSL that a user has edited runs; what is wrong with it is said, with the line."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor
from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError
from core.isolation.edited import Edited, with_text
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.target import targets
from core.toolchain.program import Program


@pytest.fixture
def program() -> Program:
    x = Tensor.arange(64).contiguous().realize()
    return compile_kernel((x * 3).schedule()[0].ast, targets["webgpu"])


def ran(program: Program, text: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    edited = with_text(program, "WEBGPU", Edited("wgsl", text))
    out, x = (Buffer("WEBGPU", 64, dtypes.int32).allocate() for _ in range(2))
    x.copyin(np.arange(64, dtype=np.int32).view(np.uint8).data)
    Device["WEBGPU"].load(edited)([out, x], {}, wait=True)
    return out.as_array()


def test_an_edited_text_runs(program: Program) -> None:
    np.testing.assert_array_equal(ran(program, program.source.text), np.arange(64) * 3)
    edited = program.source.text.replace("* 3", "* 5")
    np.testing.assert_array_equal(ran(program, edited), np.arange(64) * 5)


def test_a_wrong_line_is_named(program: Program) -> None:
    lines = program.source.text.splitlines()
    at = next(i for i, line in enumerate(lines) if "* 3" in line)
    lines[at] = lines[at].replace("* 3", "* missing")
    with pytest.raises(CompileError, match="WebGPU rejects kernel") as raised:
        ran(program, "\n".join(lines))
    assert f"line {at + 1} of its WGSL: {lines[at].strip()}" in str(raised.value)


def test_the_launch_must_find_its_function_and_bindings(program: Program) -> None:
    with pytest.raises(CompileError, match="there is no function kernel_"):
        ran(program, program.source.text.replace("fn kernel_", "fn other_"))
    with pytest.raises(CompileError, match="the bindings are"):
        ran(program, program.source.text.replace("@binding(1)", "@binding(7)"))
