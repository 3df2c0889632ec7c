"""A program runs as it would without VIZ, wherever it runs and whatever recording needs is not
there; and a trace may have any name that the system takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import viz
from core.errors import TraceError
from tests.viz.test_live import PROGRAM, installed
from viz import live
from viz.terminal import shell_word
from viz.views.store import Store

__all__ = ["installed"]

RUN = f'{sys.executable} -c "$PROGRAM"'
NAMES = (
    b"\xff\xfe.viz",
    b"new\nline 'and' $HOME.viz",
    b"%41?#&s*[a].viz",
    b"-dash\t\x1b[31m.viz",
    b"x" * 240 + b".viz",
)
"""Of traces."""


def shell(command: str, environment: dict[str, str], folder: Path, **extra: str) -> tuple[str, str]:
    """Runs a program under a shell; its standard error, and the result that it wrote to a file."""
    program = PROGRAM + "open(sys.argv[1], 'w').write('result')"
    (result := folder / "result").unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", "-c", command.replace("RUN", f"{RUN} {result}")],
        env={**environment, "PROGRAM": program, "VIZ": "-1", **extra},
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout in (b"result\n", b"")
    return done.stderr.decode(), result.read_text() if result.exists() else ""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "command", ["RUN 2>&-", "RUN 2>/dev/full", "RUN <&- 2>&-", "RUN 2> >(true)"]
)
def test_a_program_without_standard_error_is_recorded(
    installed: dict[str, str], tmp_path: Path, command: str
) -> None:
    path = tmp_path / "t.viz"
    _, result = shell(command, installed, tmp_path, VIZ_TRACE=str(path))
    assert result == "result"
    store = Store(path)
    assert [row["name"] for row in store.tree()["rows"]] == ["work", "simplify"]
    store.close()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "path", "said"),
    [
        ("mkdir gone && cd gone && rmdir ../gone && RUN", "t.viz", "there is no working folder"),
        ("RUN", "/dev/null/t.viz", "the trace cannot be made"),
        ("RUN", "x" * 3000, "the trace cannot be made"),
        ("RUN", ".", "not recording"),
        ("RUN", "/proc/t.viz", "the trace cannot be made"),
    ],
)
def test_what_cannot_be_recorded_runs(
    installed: dict[str, str], tmp_path: Path, command: str, path: str, said: str
) -> None:
    errors, result = shell(command, installed, tmp_path, VIZ_TRACE=path)
    assert result == "result"
    assert errors.startswith("uopviz: not recording: ")
    assert said in errors
    assert errors.count("\n") == 1, "one line"


def test_whatever_fails_in_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def fails(*_: object, **__: object) -> None:
        raise OddError

    monkeypatch.setattr(live, "_start", fails)
    monkeypatch.setattr(sys, "orig_argv", ["python", "program.py"])
    monkeypatch.delenv("UOPVIZ_RUN", raising=False)
    live.attach()
    said = capsys.readouterr().err
    assert said.startswith("uopviz: not recording: ")
    assert said.count("\n") == 1
    assert "OddError" in said


def test_a_block_in_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(TraceError, match="there is no working folder"), viz.record("t.viz"):
        pass


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_trace_of_any_name(installed: dict[str, str], tmp_path: Path, name: bytes) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    said, _ = shell("RUN", installed, tmp_path, VIZ_TRACE=str(path))
    assert said.startswith("uopviz: recorded 1 kernel, ")
    assert said.count("\n") == 1
    pasted = said.strip().partition("uopviz open ")[2]
    listed = subprocess.run(["bash", "-c", f"printf %s {pasted}"], capture_output=True, check=True)
    assert listed.stdout == os.fsencode(path), "what is printed can be pasted"
    for command in (
        f"show {pasted}",
        f"show --json {pasted}",
        f"export {pasted} -o {shell_word(str(path.with_suffix('.html')))}",
        f"export {pasted} -o {shell_word(str(path.parent / ('copy' + path.name[-200:])))}",
        f"query {pasted} 'SELECT count(*) FROM nodes'",
    ):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m viz {command}"],
            env=installed,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
