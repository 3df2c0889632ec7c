"""What a machine can do: measured with kernels of our own, kept by machine, read with distrust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import DeviceError
from core.uop import Ops, UOp
from viz.files.machine import machine_key
from viz.work import peakcache, peaks

PEAK = {
    "device": "CPU",
    "processor": "a processor",
    "flops": 2e9,
    "bytes": 3e9,
    "measured": "2026-01-02T03:04:05+00:00",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "uopviz"


def write(cache: Path, text: str) -> None:
    cache.mkdir(exist_ok=True)
    (cache / peakcache.FILE).write_text(text)
    (cache / peakcache.FILE).chmod(0o600)


def test_the_fastest_launch_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel of 2 * elements * depth operations in 2 ms; a copy of 8 bytes an element in 4 ms,
    which NumPy does in 1 ms."""
    answers = iter((2e-3, 1.0, 4e-3))

    def fastest(device: str, ast: UOp) -> float:
        assert (device, ast.op) == ("CPU", Ops.SINK)
        return next(answers)

    monkeypatch.setattr(peaks, "SHAPES", peaks.SHAPES[:2])
    monkeypatch.setattr(peaks, "COPIED", 1 << 10)
    monkeypatch.setattr(peaks, "_fastest", fastest)
    monkeypatch.setattr(peaks, "_numpy_copy", lambda: 1e-3)
    said: list[str] = []
    found = peaks.measure("cpu", said.append)
    size, depth = peaks.SHAPES[0]
    assert found["flops"] == pytest.approx(2 * size * depth / 2e-3)
    assert found["bytes"] == pytest.approx(8 * (1 << 10) / 1e-3)
    assert found["device"] == "CPU"
    assert said[0] == "measuring arithmetic on CPU" and said[-1] == "measuring memory on CPU"


def test_small_kernels_are_measured_in_earnest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "SHAPES", ((1 << 10, 4),))
    monkeypatch.setattr(peaks, "COPIED", 1 << 12)
    monkeypatch.setattr(peaks, "SECONDS", 0.02)
    found = peaks.measure("CPU", lambda _: None)
    assert 1e6 < found["flops"] < 1e15
    assert 1e6 < found["bytes"] < 1e15


def test_a_device_that_runs_no_programs_is_refused() -> None:
    with pytest.raises(DeviceError, match="no speed of its own"):
        peaks.measure("REFERENCE", lambda _: None)


def test_what_is_kept_is_read_again(cache: Path) -> None:
    assert peakcache.known_peaks() == []
    peakcache.keep_peak(PEAK)
    peakcache.keep_peak({**PEAK, "device": "CUDA", "flops": 5e12})
    peakcache.keep_peak({**PEAK, "flops": 4e9})
    assert {p["device"]: p["flops"] for p in peakcache.known_peaks()} == {"CPU": 4e9, "CUDA": 5e12}
    assert [file.name for file in cache.iterdir()] == [peakcache.FILE]


def test_peaks_of_another_machine_are_not_of_this_one(cache: Path) -> None:
    peakcache.keep_peak(PEAK)
    kept = json.loads((cache / peakcache.FILE).read_text())
    write(cache, json.dumps({"another machine": kept[machine_key()]}))
    assert peakcache.known_peaks() == []
    peakcache.keep_peak(PEAK)
    assert set(json.loads((cache / peakcache.FILE).read_text())) == {
        "another machine",
        machine_key(),
    }


@pytest.mark.parametrize(
    "change",
    [
        {"flops": 0.0},
        {"flops": -1.0},
        {"flops": float("inf")},
        {"flops": float("nan")},
        {"flops": "2e9"},
        {"bytes": 1e30},
        {"bytes": None},
        {"device": 3},
    ],
    ids=str,
)
def test_what_is_no_peak_is_left_out(cache: Path, change: dict[str, Any]) -> None:
    devices = {"CPU": {**PEAK, **change}, "CUDA": {**PEAK, "device": "CUDA"}}
    write(cache, json.dumps({machine_key(): devices}))
    assert [p["device"] for p in peakcache.known_peaks()] == ["CUDA"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"a": 3}', "[" * 100_000, '{"x":' * 9_000], ids=range(7)
)
def test_a_damaged_file_knows_nothing(cache: Path, text: str) -> None:
    write(cache, text)
    assert peakcache.known_peaks() == []
    peakcache.keep_peak(PEAK)
    assert [p["device"] for p in peakcache.known_peaks()] == ["CPU"]


def test_texts_of_the_file_are_cut(cache: Path) -> None:
    long = {**PEAK, "processor": "x" * 1000, "more": "y"}
    write(cache, json.dumps({machine_key(): {"CPU": long}}))
    (found,) = peakcache.known_peaks()
    assert len(found["processor"]) == 200
    assert "more" not in found
