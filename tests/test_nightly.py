"""`make nightly` names files that exist, goes on after a failure and then fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import nightly
from tests.nightly import ROOT, Part


def test_parts_name_files_that_exist() -> None:
    found = nightly.parts()
    assert len({p.title for p in found}) == len(found)
    for part in found:
        for argument in part.command:
            assert not argument.startswith("tests/") or (ROOT / argument).exists(), part.title


def test_every_fuzz_test_runs_at_night() -> None:
    """A file that reads the option of fuzz tests is in the table."""
    uses = {
        str(path.relative_to(ROOT))
        for path in Path(ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__) and "from tests.fuzzing import" in path.read_text()
    }
    named = {path for _, path, _ in nightly.FUZZ}
    others = {path for path in uses - named if not path.startswith("tests/conformance/")}
    assert others == set()  # conformance tests are a part of their own


def test_goes_on_and_fails_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(nightly, "PASSED", tmp_path / "made" / "nightly.json")

    def run(status: int) -> tuple[str, ...]:
        return sys.executable, "-c", f"print('ran', {status}); raise SystemExit({status})"

    parts = [
        Part("first", run(3), {"NAME": "value"}), Part("absent", ("/nowhere/at all",)),
        Part("last", run(0)),
    ]  # fmt: skip
    monkeypatch.setattr(nightly, "parts", lambda: parts)
    assert nightly.main([]) == 1
    out = capfd.readouterr().out
    assert "NAME=value" in out and "ran 3" in out and "ran 0" in out and "1 of 3 parts" in out
    assert "FAILED first" in out and "FAILED absent" in out and "FAILED last" not in out
    assert nightly.main(["last"]) == 0
    assert "ran 0" in capfd.readouterr().out, "what is named runs again"
    assert nightly.main(["nothing"]) == 2


def test_a_night_goes_on_where_it_was_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    fails_once = f"import pathlib; m = pathlib.Path({str(mark)!r}); assert m.exists() or m.touch()"
    parts = [
        Part("first", (sys.executable, "-c", "print('ran first')")),
        Part("second", (sys.executable, "-c", fails_once)),
    ]
    monkeypatch.setattr(nightly, "PASSED", tmp_path / "nightly.json")
    monkeypatch.setattr(nightly, "parts", lambda: parts)
    assert nightly.main([]) == 1
    assert "ran first" in capfd.readouterr().out
    assert nightly.main([]) == 0
    out = capfd.readouterr().out
    assert "ran first" not in out and "2 of 2 parts" in out
    assert nightly.main(["--list"]) == 0
    assert "first (passed): " in capfd.readouterr().out
    monkeypatch.setattr(nightly, "state_of_files", lambda: "another state")
    assert nightly.main([]) == 0
    assert "ran first" in capfd.readouterr().out
    (tmp_path / "nightly.json").write_text("damaged")
    assert nightly.main([]) == 0
