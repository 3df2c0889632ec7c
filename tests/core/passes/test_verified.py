"""The tests of core run with the verifier on, wherever their graphs are made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from core.errors import SpecError
from core.helpers import SPEC
from core.passes import pipeline
from core.passes.contract import Pass
from core.passes.schedule import pipeline as schedule
from core.target import Target, targets
from core.tensor import Tensor
from core.uop import Ops, UOp
from tests.core.passes import kernels


@pytest.fixture(scope="module")
def shared() -> int:
    """What a fixture of several tests finds."""
    return SPEC.value


def test_in_tests_and_in_what_they_share(shared: int) -> None:
    assert SPEC.value == shared == 1


def test_in_processes_that_they_start() -> None:
    code = "from core.helpers import SPEC; print(SPEC.value)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "1"


def test_a_pass_that_breaks_a_kernel_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(sink: UOp, target: Target) -> UOp:
        return sink.substitute(
            {u: u.replace(arg=None) for u in sink.toposort() if u.op is Ops.RANGE}
        )

    wrong = Pass("wrong", breaks, "nothing", "nothing", pipeline.PASSES[1].spec)
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES[:2], wrong, *pipeline.PASSES[2:]))
    with pytest.raises(SpecError, match="wrong"):
        pipeline.lower_kernel(kernels.elementwise((5, 7)).ast, targets["x86-64"], None)


def test_a_pass_that_breaks_a_schedule_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(graph: UOp, notes: object) -> UOp:
        stray = UOp.range(4, 0)
        return graph.rebuild((*graph.src, stray))

    wrong = Pass("wrong", breaks, "nothing", "nothing", schedule.PASSES[0].spec)
    monkeypatch.setattr(schedule, "PASSES", (wrong, *schedule.PASSES))
    with pytest.raises(SpecError, match="wrong"):
        (Tensor.ones(3, 4).contiguous() + 1).schedule()
