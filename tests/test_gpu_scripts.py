"""`make gpu-check` and `make gpu-bench` where there is no GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import RunError
from core.runtime import discover
from core.runtime.discover import Finding
from tests.bench import gpu as bench
from tests.bench import tiles
from tests.gpu import __main__ as check

NONE = [
    Finding("CUDA", "cuda-bindings", "13.0"),
    Finding("CUDA", "driver", "", "NVIDIA's driver is not installed", "install it"),
    Finding("CUDA", "ptxas", "", "neither in a wheel nor on PATH"),
]


def test_they_say_why_and_do_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module, verb in ((check, "checked"), (bench, "measured"), (tiles, "measured")):
        monkeypatch.setattr(module, "findings", lambda: NONE)
        assert module.main([]) == 0
        said = capsys.readouterr().out
        assert f"nothing was {verb}" in said
        assert "CUDA: driver: NVIDIA's driver is not installed" in said
        assert "ptxas" not in said


def test_gpus_that_can_be_opened_are_taken() -> None:
    found = [Finding("CUDA", "GPU", "H200"), Finding("CUDA:1", "GPU", "", "in use")]
    assert check.gpus(found) == ["CUDA"]


def test_a_driver_on_the_processor_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def adapter(kind: str) -> SimpleNamespace:
        info = {"adapter_type": kind, "device": f"a {kind}", "backend_type": "Vulkan"}
        return SimpleNamespace(info=info, features=set[str]())

    def version(package: str) -> str:
        return "1" if package == "wgpu" else ""

    monkeypatch.setattr(discover, "_version", version)
    both = [adapter("DiscreteGPU"), adapter("CPU")]
    monkeypatch.setattr(discover.webgpu, "adapters", lambda: both)
    found = [f for f in discover.findings() if f.device.startswith("WEBGPU")]
    assert check.gpus(found) == ["WEBGPU"]
    assert check.name_of("WEBGPU", found).startswith("a DiscreteGPU (Vulkan)")
    assert check.name_of("WEBGPU:1", found).startswith("a CPU (Vulkan)")


def test_memory_is_measured_with_buffers_that_a_device_has() -> None:
    """One that binds 128 MiB at once, as WebGPU promises, and one with no memory."""

    def device(most: int) -> Any:
        def alloc(nbytes: int) -> int:
            if nbytes > most:
                raise RunError(f"no buffers of {nbytes} bytes")
            return nbytes

        def free(handle: int, nbytes: int) -> None:
            assert handle == nbytes

        return SimpleNamespace(allocator=SimpleNamespace(alloc=alloc, free=free))

    assert bench.elements_of(device(1 << 27)) == 1 << 25
    assert bench.elements_of(device(1 << 33)) == bench.ELEMENTS
    with pytest.raises(RunError):
        bench.elements_of(device(0))


def test_tile_kernels_are_measured_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """On an emulated one, whose speeds say nothing, of small sizes."""
    monkeypatch.setattr(tiles, "PRODUCTS", (64,))
    monkeypatch.setattr(tiles, "TILES", ((64, 64, 32),))
    monkeypatch.setattr(tiles, "ATTENTION", [(64, 16, True)])
    monkeypatch.setattr(tiles, "HEADS", 1)
    monkeypatch.setattr(tiles, "BATCH", 1)
    monkeypatch.setattr(tiles, "RUNS", 1)
    text = tiles.figures(["PTX:EMU"])
    assert "| float16 64 |" in text and "no library here" in text
    assert "no matrix instructions" in tiles.figures(["CPU"])
    assert "| 64, 16, causal, forward |" in text and "| 64, 16, causal, backward |" in text
