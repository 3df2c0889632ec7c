"""`make compare`: this tree against a revision of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests import revisions

needs_git = pytest.mark.skipif(not revisions.git("rev-parse", "HEAD"), reason="no repository")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where traces and checkouts go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@needs_git
def test_a_revision_is_recorded_with_its_own_compiler(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[tuple[str, bool]] = []

    def record(tree: Path, program: str, trace: Path) -> None:
        recorded.append((program, tree == revisions.ROOT))
        assert (tree / "core" / "compile.py").exists()
        trace.touch()

    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(revisions, "record", record)
    monkeypatch.setattr(revisions, "uopviz", lambda *words: asked.append(words) or len(asked) - 1)
    code = revisions.main(["HEAD", "--programs", "a,digits", "--fail-on", "errors"])
    assert recorded == [("a", False), ("digits", False), ("a", True), ("digits", True)]
    assert [words[0] for words in asked] == ["diff", "diff", "open"]
    assert asked[0][3:] == ("--fail-on", "errors")
    assert asked[2][1:] == asked[1][1:3]
    assert code == 1
    assert all(Path(path).exists() for path in asked[0][1:3])
    assert not [*folder.glob("uopviz-revision-*")]
    assert str(folder) not in revisions.git("worktree", "list")


@needs_git
def test_a_program_of_this_tree_is_what_it_was_at_this_commit(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whatever differs from the commit is said; figures of both are there."""
    code = revisions.main(["HEAD", "--programs", "a", "--no-open"])
    out = capfd.readouterr().out
    assert code in (0, 1), out
    assert "recording a with now" in out
    assert ("\nequal\n" in out) == (code == 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-revision"], "no-such-revision is no revision of this repository"),
        (["--", "--output=x"], "--output=x is no revision of this repository"),
    ],
)
def test_what_is_no_revision(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert revisions.main(arguments) == 2
    assert said in capsys.readouterr().err


def test_what_cannot_be_recorded(tmp_path: Path) -> None:
    (tmp_path / "tests" / "bench").mkdir(parents=True)
    (tmp_path / "tests" / "bench" / "__init__.py").touch()  # a revision without the programs
    with pytest.raises(revisions.RevisionError, match="cannot be recorded"):
        revisions.record(tmp_path, "a", tmp_path / "a.viz")
    with pytest.raises(SystemExit):
        revisions.main(["HEAD", "--programs", "nothing"])


@needs_git
def test_a_stop_leaves_no_checkout(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(revisions, "record", stopped)
    assert revisions.main(["HEAD", "--programs", "a"]) == 130
    assert str(folder) not in revisions.git("worktree", "list")
