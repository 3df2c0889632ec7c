"""Ctrl-C and other signals: one line, an exit code that says it, and no file half way."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STALL = """
import sys, time
from pathlib import Path
import {module} as module

def stall(*arguments, **options):
    Path({marker!r}).touch()
    while True:
        time.sleep(0.01)

{owner}.{name} = stall
from viz.cli import main
sys.exit(main())
"""
"""The command, with a function of it that never comes to an end."""
READING = "viz.read.tracefile", "module.TraceFile", "_new_rewrites"
COPYING = "viz.share.filecopy", "module.FileCopy", "_copy_events"
ANSWERING = "viz.share.collect", "module.Collection", "_made"
COMMANDS = (
    ("open", "--no-browser"),
    ("serve",),
    ("export",),
    ("show",),
    ("show", "2"),
    ("stats",),
    ("timeline",),
    ("query", "SELECT 1"),
    ("graph", "2"),
)


def stalled(
    folder: Path, at: Sequence[str], *arguments: object, **streams: int
) -> subprocess.Popen[str]:
    """The command, once it has come to that function."""
    module, owner, name = at
    marker = folder / ".." / "reached"
    program = STALL.format(module=module, owner=owner, name=name, marker=str(marker))
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        text=True,
        start_new_session=True,
        **{**piped, **streams},
    )
    deadline = time.monotonic() + 60
    while not marker.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def stopped(process: subprocess.Popen[str], *signals: signal.Signals) -> tuple[int, str, str]:
    for number in signals:
        process.send_signal(number)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, out, err


@pytest.fixture
def folder(trace: Path, tmp_path: Path) -> Path:
    """A folder with a trace, `run.viz`, and nothing else."""
    made = tmp_path / "work"
    made.mkdir()
    trace.rename(made / "run.viz")
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_ctrl_c_while_a_trace_is_read(folder: Path, command: tuple[str, ...]) -> None:
    process = stalled(folder, READING, command[0], "run.viz", *command[1:])
    assert stopped(process, signal.SIGINT) == (130, "", "uopviz: interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["run.viz"]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("name", ["new.viz", "old.viz"])
def test_ctrl_c_while_a_trace_is_exported(folder: Path, name: str, times: int) -> None:
    old = folder / "old.viz"
    old.write_bytes((folder / "run.viz").read_bytes())
    before = old.read_bytes()
    process = stalled(folder, COPYING, "export", "run.viz", "-o", name)
    done = stopped(process, *[signal.SIGINT] * times)
    assert done == (130, "", "uopviz: interrupted\n")
    assert sorted(path.name for path in folder.iterdir()) == ["old.viz", "run.viz"]
    assert old.read_bytes() == before


@pytest.mark.parametrize("at", [COPYING, ANSWERING], ids=["copying", "answering"])
def test_ctrl_c_while_a_page_is_exported(
    folder: Path, at: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    if not (ROOT / "viz/web/dist/index.html").exists():
        pytest.skip("the page has not been built")
    process = stalled(folder, at, "export", "run.viz")
    assert stopped(process, signal.SIGINT) == (130, "", "uopviz: interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["run.viz"]
    assert not [*(tmp_path / "tmp").iterdir()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_is_closed(folder: Path, number: signal.Signals) -> None:
    process = stalled(folder, COPYING, "export", "run.viz", "-o", "new.viz")
    assert stopped(process, number) == (128 + number, "", "")
    assert [path.name for path in folder.iterdir()] == ["run.viz"]


def test_ctrl_c_inside_a_query(folder: Path) -> None:
    """SQLite swallows what is raised while it works."""
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r"
    process = subprocess.Popen(
        [sys.executable, "-m", "viz", "query", str(folder / "run.viz"), endless],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(3)  # nothing tells that it is inside; where it is not yet, it ends the same
    assert stopped(process, signal.SIGINT) == (130, "", "uopviz: interrupted\n")


@pytest.mark.parametrize(
    ("at", "arguments", "said"),
    [
        (READING, ("open", "run.viz", "--no-browser"), r"reading run\.viz +\d+% [━─]+  \d+ s"),
        (COPYING, ("export", "run.viz", "-o", "n.viz"), r"exporting n\.viz +\d+% [━─]+  \d+ s"),
    ],
    ids=["open", "export"],
)
def test_progress_and_ctrl_c_in_a_terminal(
    folder: Path, at: Sequence[str], arguments: Sequence[str], said: str
) -> None:
    leader, follower = pty.openpty()
    begun = time.monotonic()
    process = stalled(folder, at, *arguments, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    text = ""
    try:
        while not re.search(said, text) and time.monotonic() < begun + 60:
            if select.select([leader], [], [], 0.2)[0]:
                text += os.read(leader, 65536).decode()
        assert re.search(said, text), text
        process.send_signal(signal.SIGINT)
        rest = ""
        while not rest.endswith("\n"):
            rest += os.read(leader, 65536).decode()
        assert rest.endswith("\r\x1b[K\ruopviz: interrupted\r\n")
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.wait()
        os.close(leader)
