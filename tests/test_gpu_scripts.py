"""`make gpu-check` and `make gpu-bench` where there is no GPU."""

from __future__ import annotations

import pytest

from core.runtime.discover import Finding
from tests.bench import gpu as bench
from tests.gpu import __main__ as check

NONE = [
    Finding("CUDA", "cuda-bindings", "13.0"),
    Finding("CUDA", "driver", "", "NVIDIA's driver is not installed", "install it"),
    Finding("CUDA", "ptxas", "", "neither in a wheel nor on PATH"),
]


def test_they_say_why_and_do_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module, verb in ((check, "checked"), (bench, "measured")):
        monkeypatch.setattr(module, "findings", lambda: NONE)
        assert module.main([]) == 0
        said = capsys.readouterr().out
        assert f"nothing was {verb}" in said
        assert "CUDA: driver: NVIDIA's driver is not installed" in said
        assert "ptxas" not in said


def test_gpus_that_can_be_opened_are_taken() -> None:
    found = [Finding("CUDA", "GPU", "H200"), Finding("CUDA:1", "GPU", "", "in use")]
    assert check.gpus(found) == ["CUDA"]
