"""Programs of the unchanged compiler, recorded and checked: no step of theirs differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import Device, Tensor, Variable
from core.passes.pipeline import lower_kernel
from core.target import targets
from core.uop.engine.observe import context, recording
from core.uop.kernelinfo import Opt, OptOps
from tests.core.passes.kernels import matmul
from tests.viz.check.mutating import wrong
from viz.trace import Recorder


def counted(*shape: int) -> Tensor:
    return Tensor(np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape))


def first(n: int) -> Tensor:
    """The first n rows of a value, as a length that is a variable."""
    return counted(8, 3)[: Variable("n", 1, 8).bind(n)]


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "a range of one value": lambda: counted(3, 4, 5)[1:3, ::2, 1:4].reshape(12) * 1.5,
    "a padded loop": lambda: counted(65) + 1,
    "bools": lambda: Tensor(np.array([True, False] * 8)).where(1, 2),
    "stored bools": lambda: counted(16) > 3,
    "a sum up to a length": lambda: first(5).sum(0),
    "a largest value up to a length": lambda: (first(5) * 2).max(),
    "elements up to a length": lambda: first(3) + 1,
    "a product": lambda: counted(4, 24).prod(1),
    "maxima of narrow zeros": lambda: counted(4).half().maximum(-counted(4).half()),
    "nothing": lambda: Tensor(np.zeros((3, 0), np.float32)).sum(1),
    "casts and quotients": lambda: counted(12).int() // Tensor(np.arange(12, dtype=np.int32)),
}


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
def test_no_step_differs(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "DEFAULT", device)
    for name, program in PROGRAMS.items():
        path = tmp_path / f"{name}.viz"
        recorder = Recorder(path).start()
        try:
            program().realize()
        finally:
            recorder.close()
        assert wrong(path) == {}, name


@pytest.mark.parametrize(
    ("axis", "target", "rules"),
    [(2, "x86-64", {"pad_reduce"}), (0, "sm_90", {"pad_range", "pad_address"})],
)
def test_a_loop_that_is_padded(axis: int, target: str, rules: set[str], tmp_path: Path) -> None:
    opt, ast = Opt(OptOps.PADTO, axis, 8), matmul(5, 6, 7).ast
    recorder = Recorder(tmp_path / "run.viz").start()
    try:
        with recording() as seen, context("kernel", "kernel"):
            lower_kernel(ast, targets[target], [opt])
    finally:
        recorder.close()
    assert rules <= {step.rule.name for step in seen.matches if step.rule is not None}
    assert wrong(tmp_path / "run.viz") == {}


def test_a_product_that_is_padded_for_a_tensor_core(tmp_path: Path) -> None:
    a, b = (Tensor(np.ones(shape, np.float16), device="PTX:EMU") for shape in ((30, 28), (28, 16)))
    recorder = Recorder(tmp_path / "run.viz").start()
    try:
        with recording() as seen:
            (a @ b).realize()
    finally:
        recorder.close()
    assert "pad_product" in {step.rule.name for step in seen.matches if step.rule is not None}
    assert wrong(tmp_path / "run.viz") == {}
