"""The benchmarks say what they cannot measure, and measure the rest."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.bench import models, overhead

NO_COMPILER = "raise FileNotFoundError(2, \"No such file or directory: 'no-such-compiler'\")"


@pytest.fixture
def _compared_without_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tinygrad"
    package.mkdir()
    (package / "__init__.py").write_text(NO_COMPILER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")


@pytest.mark.usefixtures("_compared_without_compiler")
def test_what_the_compared_program_lacks() -> None:
    missing = overhead.lacking()
    assert missing.startswith("FileNotFoundError")
    assert missing.endswith("it compiles with no-such-compiler, which is not installed")
    assert "Traceback" not in missing


def test_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def row(compiler: str, program: str, trace: Path) -> list[object]:
        measured.append(f"{compiler} {program}")
        return [compiler, program, trace.name]

    monkeypatch.setattr(overhead, "row", row)
    monkeypatch.setattr(overhead, "lacking", lambda: "no compiler")
    text = overhead.figures()
    assert measured == ["core a", "core b", "core c", "core digits"]
    assert "tinygrad is not measured: no compiler" in text
    monkeypatch.setattr(overhead, "lacking", lambda: "")
    measured.clear()
    assert "not measured" not in overhead.figures()
    assert "tinygrad a" in measured


def test_models_are_measured_here_where_nothing_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"kernels": 3, "compiling": 1.5, "first": 0.001, "last": 0.002, "nodes": 0, "bytes": 7}
    asked: list[tuple[str, str]] = []

    def measured(compiler: str, model: str) -> dict[str, float]:
        asked.append((compiler, model))
        return found

    monkeypatch.setattr(models, "_measured_apart", measured)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "| resnet, core | 3 | 1.50 | 1.00 | 2.00 | 0 | 7 |" in models.figures()
    assert asked == [("core", "resnet"), ("core", "gpt2")]
