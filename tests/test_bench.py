"""The benchmarks say what they cannot measure, and measure the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import overhead

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
