"""What `python -m core.runtime` says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from core.runtime.discover import Finding, findings
from core.toolchain import nvidia_tools
from tests.core.runtime.gpu.fake_cuda import CUresult, FakeCuda


def of(device: str, looked_for: str) -> Finding:
    (found,) = (f for f in findings() if (f.device, f.looked_for) == (device, looked_for))
    return found


def test_every_gpu_is_named(cuda: FakeCuda) -> None:
    assert of("CUDA", "GPU").found.startswith("Fake GPU (sm_90), 0 GiB, 132 processors, CUDA 12.8")
    assert of("CUDA:1", "GPU").found


def test_one_that_cannot_be_opened_says_why(
    cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        cuda, "cuDevicePrimaryCtxRetain", lambda _: (CUresult.CUDA_ERROR_OUT_OF_MEMORY, None)
    )
    assert "out_of_memory" in of("CUDA", "GPU").why


def test_the_processor_and_llvm() -> None:
    assert "cores" in of("CPU", "processor").found
    assert "llvmlite" in of("CPU", "LLVM").found


def test_a_missing_tool_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runtime.discover.find_tool", lambda _: None)
    found = of("CUDA", "ptxas")
    assert (found.found, found.hint) == ("", "pip install nvidia-cuda-nvcc-cu12")
    assert nvidia_tools.find_tool is not None


@pytest.mark.parametrize("form", ["text", "json"])
def test_as_a_program(form: str) -> None:
    command = [sys.executable, "-m", "core.runtime", *(["--json"] if form == "json" else [])]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    if form == "json":
        assert {"device", "looked_for", "found", "why", "hint"} == set(json.loads(said)[0])
    else:
        assert said.startswith("CPU        processor")
        assert all(": " in line for line in said.splitlines() if "missing" in line)
