"""Values of captured steps: what they begin with and leave behind, in the trace and in copies."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from core.capture.capturereport import captured_report
from core.capture.jit import TinyJit
from core.tensor import Tensor
from viz.recording import capturedsteps
from viz.share.copy import write_trace
from viz.share.sql import run_query
from viz.views.answers import STEP_VALUES
from viz.views.runs.run import Subject, subjects
from viz.views.store import Store

Values = dict[int, list[float]]


def held(path: Path) -> list[dict[str, Any]]:
    """The values of each captured step of a trace."""
    store = Store(path)
    found = [store.ask(STEP_VALUES, context) for context in subjects(store)[Subject.VALUED]]
    store.close()
    return found


def numbers(values: list[dict[str, Any]]) -> Values:
    """By the number of memory, its elements."""
    return {
        one["number"]: np.frombuffer(base64.b64decode(one["data"]), one["dtype"]).tolist()
        for one in values
    }


def train(path: Path, capture: str, calls: int = 4) -> list[float]:
    """A step with a weight that it changes, a constant and random numbers; what each call gave."""
    weight, scale = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 5.0]).realize()
    Tensor.manual_seed(5)

    @TinyJit
    def step(x: Tensor) -> Tensor:
        weight.assign(weight + x * scale).realize()
        return (weight.sum() + Tensor.rand(1)).sum().realize()

    with viz.record(path, capture=capture):
        made = [step(Tensor([float(k), 1.0]).realize()).item() for k in range(calls)]
    assert step.captured is not None
    text, _ = captured_report(step.captured.first)
    roles = {line.split(" = ")[0]: line.split("; ")[1] for line in text.splitlines() if ";" in line}
    assert set(roles.values()) == {
        "input 0", "kept", "changed in this step", "made in this step"
    }  # fmt: skip
    return made


def test_the_first_replay_of_a_step(tmp_path: Path) -> None:
    given = train(tmp_path / "t.viz", "TinyJit of *")
    (step,) = held(tmp_path / "t.viz")
    before, after = numbers(step["before"]), numbers(step["after"])
    assert (step["replay"], step["why"]) == (1, "")
    assert [2.0, 1.0] in before.values()  # the input of the third call
    assert [3.0, 5.0] in before.values()
    weight = next(n for n, values in before.items() if values == [1.0 + 3 * (0 + 1), 2.0 + 5 * 2])
    assert after[weight] == [4.0 + 2 * 3, 12.0 + 5]
    assert [given[2]] in after.values()
    drawn = [one["dtype"] for one in step["before"] if one["number"] not in after]
    assert "uint64" in drawn  # the state that the replay itself has drawn
    store = Store(tmp_path / "t.viz")
    assert store.run()["captured"]["steps"] == 1
    moments = run_query(store.files, "SELECT DISTINCT moment FROM captured_steps")[1]
    assert [row[0] for row in moments] == ["before", "after"]
    store.close()


def test_a_later_replay_and_a_step_without_one(tmp_path: Path) -> None:
    given = train(tmp_path / "t.viz", "TinyJit*@2")
    (step,) = held(tmp_path / "t.viz")
    assert step["replay"] == 2
    assert [given[3]] in numbers(step["after"]).values()
    with viz.record(tmp_path / "u.viz", capture="TinyJit*@9") as recorder:

        @TinyJit
        def double(x: Tensor) -> Tensor:
            return (x * 2).realize()

        for k in range(3):
            double(Tensor([float(k)]).realize())
    assert recorder.capture is not None
    assert recorder.capture.said() == [
        "values of TinyJit of double: replay 9 was asked for, and the last one was 1"
    ]
    assert held(tmp_path / "u.viz") == []


def test_what_is_too_large_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturedsteps, "MAX_BYTES", 24)
    train(tmp_path / "t.viz", "TinyJit*")
    (step,) = held(tmp_path / "t.viz")
    assert step["why"].endswith("bytes of its memory are too much to keep")
    assert sum(8 * len(v) // 2 for v in numbers(step["before"]).values()) <= 24


def test_a_copy_has_them_on_request(tmp_path: Path) -> None:
    train(tmp_path / "t.viz", "TinyJit*")
    store = Store(tmp_path / "t.viz")
    said = "captured values of 1 captured step; uopviz export --values keeps them"
    assert write_trace(store, tmp_path / "without.viz") == [said]
    assert held(tmp_path / "without.viz") == []
    write_trace(store, tmp_path / "redacted.viz", values=True, redact=True)
    assert held(tmp_path / "redacted.viz") == []
    assert write_trace(store, tmp_path / "with.viz", values=True) == []
    assert held(tmp_path / "with.viz") == held(tmp_path / "t.viz")
    store.close()
