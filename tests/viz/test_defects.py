"""A mistake of uopviz itself says that it is one, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.helpers import Context
from tests.viz.test_cli import run
from viz.views.store import Store


@pytest.fixture(autouse=True)
def defective(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: Store) -> None:
        raise KeyError("kernels\x1b")

    monkeypatch.setattr(Store, "run", run)


def test_a_defect_says_that_it_is_one(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "show", trace)
    assert (code, out) == (2, "")
    said, hint = err.splitlines()
    assert said.startswith(r"uopviz: a defect of uopviz itself: KeyError: 'kernels\x1b' (")
    assert f"{Path(__file__).name}:" in said
    assert hint.startswith("hint: please report it")
    assert "UOPVIZ_TRACEBACK=1" in hint


def test_its_traceback_is_there_for_the_asking(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Context(UOPVIZ_TRACEBACK=1):
        code, out, err = run(capsys, "show", trace)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "UOPVIZ_TRACEBACK" not in lines[-1]
    assert "\x1b" not in err
