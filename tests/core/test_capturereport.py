"""The text of a captured step: every launch, and which memory it is given."""

from __future__ import annotations

import re

import numpy as np

from core import Tensor
from core.capture.capturereport import captured_report
from core.capture.jit import TinyJit
from core.passes.schedule import ScheduleItem
from core.uop import Ops


def test_kernels_memory_and_draws_are_listed_in_order() -> None:
    weights = Tensor(np.ones((4, 4), np.float32)).realize()
    state = Tensor(np.zeros((4, 4), np.float32)).realize()

    @TinyJit
    def step(x: Tensor) -> Tensor:
        state.assign(state + x @ weights).realize()
        return (state.sum(0) + Tensor.rand(4)).realize()

    for _ in range(2):
        step(Tensor(np.ones((4, 4), np.float32)).realize())
    assert step.captured is not None
    replay = step.captured.first
    text, behind = captured_report(replay)
    lines = text.splitlines()
    assert len(behind) == len(lines)
    assert lines[0].startswith(f"{len(replay.steps)} steps on ")
    launches = [line for line in lines if line.startswith("step ")]
    assert [line.split(" = ")[0] for line in launches] == [
        f"step {k}" for k in range(len(replay.steps))
    ]
    kernels = [s for s in replay.steps if isinstance(s, ScheduleItem) and s.ast.op is Ops.SINK]
    listed = [re.search(r"kernel \w+\((.*)\)", line) for line in launches]
    given = [found.group(1).split(", ") for found in listed if found]
    assert [len(one) for one in given] == [len(k.bufs) for k in kernels]
    assert "random numbers drawn" in text
    assert len(re.findall(r"; input 0$", text, re.M)) == 1
    assert any(line.endswith("; kept") for line in lines)
    assert any(line.endswith("; made in this step") for line in lines)
