"""Processes for work that may crash: what they import, and what they know."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from core.isolation import child


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", ["", ":", "elsewhere:", ":elsewhere", "a::b"])
@pytest.mark.parametrize("name", ["json", "core", "viz", "numpy", "sitecustomize", "llvmlite"])
def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, path: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", path.replace(":", os.pathsep))
    assert "" not in child.python_path().split(os.pathsep)
    (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    process = child.start("viz.work.worker", subprocess.DEVNULL)
    answer, _ = process.communicate(json.dumps({"job": "nothing"}).encode(), timeout=60)
    assert child.end(process) == 0
    assert b"could not be worked on" in answer
    assert not (tmp_path / "ran").exists()


def test_settings_of_the_recording_and_misspelled_ones_do_not_reach_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("VIZ", "VIZ_TRACE", "UOPVIZ_RUN", "UOPVIZ_TOKEN", "DEBUGG"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in child._environment(None).values()
