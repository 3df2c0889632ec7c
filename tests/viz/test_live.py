"""VIZ=1 in front of any run: recorded without a change of the program, served, and nothing lost."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from viz.environment import prune, recent, trace_path
from viz.files.alive import is_alive, process_info, process_start
from viz.live import is_viewer
from viz.server.connections.staying import WAITING, Staying, waiting_folder, younger
from viz.views.store import Store
from viz.write.writer import TraceWriter

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
with context("work", "kernel"):
    graph_rewrite(random_graph(1), rules, name="simplify")
print("result", flush=True)
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment in which viz is installed, whether or not it is in the one of the tests."""
    paths = [str(ROOT)]
    if not entry_points(group="uopviz.observers"):
        info = tmp_path / "site" / "uopviz-0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Name: uopviz\nVersion: 0\n")
        (info / "entry_points.txt").write_text("[uopviz.observers]\nviz = viz.live:attach\n")
        paths.append(str(tmp_path / "site"))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "UOPVIZ"))}
    places = {"PYTHONPATH": os.pathsep.join(paths), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return {**kept, **places, "UOPVIZ_STAY": "0"}


def execute(
    environment: dict[str, str], program: str = PROGRAM, **extra: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, **extra},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def names(path: Path) -> list[str]:
    store = Store(path)
    try:
        return [row["name"] for row in store.tree()["rows"]]
    finally:
        store.close()


def check_summary(line: str, path: Path, processes: str = "") -> None:
    """The line at the end of a program: what was recorded, as the trace has it, and what opens
    it."""
    store = Store(path)
    totals, size = store.run()["totals"], store.run()["bytes"]
    store.close()
    found = re.fullmatch(
        r"uopviz: recorded ([\d,]+) kernels?, ([\d,]+) pass(?:es)?, ([\d,]+) steps?(.*), "
        r"([\d.]+) MB; "
        r"writing it took \d+\.\d\d s of processor time; open it with: uopviz open (.*)",
        line,
    )
    assert found is not None, line
    counts = [int(text.replace(",", "")) for text in found.groups()[:3]]
    assert counts == [totals[key] for key in ("kernels", "rewrites", "steps")]
    assert found[4] == processes
    assert abs(float(found[5]) - size / 1e6) < 0.06
    assert found[6] == str(path)


@pytest.mark.parametrize("module", ["viz.recording.transcribe", "viz.trace", "viz.live"])
def test_any_module_may_be_imported_first(
    installed: dict[str, str], tmp_path: Path, module: str
) -> None:
    path = tmp_path / "t.viz"
    ended = execute(installed, f"import {module}\n{PROGRAM}", VIZ="-1", VIZ_TRACE=str(path))
    assert (ended.returncode, ended.stdout) == (0, "result\n"), ended.stderr
    assert names(path) == ["work", "simplify"]


def test_viz_1_without_a_terminal(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "out" / "t.viz"
    done = execute(installed, VIZ="1", VIZ_TRACE=str(path))
    assert (done.returncode, done.stdout) == (0, "result\n")
    first, second = done.stderr.splitlines()
    assert re.fullmatch(r"uopviz: http://127\.0\.0\.1:\d+/\?token=\S{30,}", first)
    check_summary(second, path)
    assert names(path) == ["work", "simplify"]


def test_the_command_that_opens_it_can_be_pasted(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "my traces" / "it's $HOME.viz"
    done = execute(installed, VIZ="-1", VIZ_TRACE=str(path))
    (said,) = done.stderr.splitlines()
    assert said.count("; ") == 2
    command = done.stderr.splitlines()[-1].partition("open it with: ")[2]
    assert shlex.split(command) == ["uopviz", "open", str(path)]


def test_viz_minus_1_records_only(installed: dict[str, str], tmp_path: Path) -> None:
    done = execute(installed, VIZ="-1")
    assert "http" not in done.stderr
    (path,) = (tmp_path / "cache" / "uopviz").glob("*.viz")
    assert str(path) in done.stderr
    assert names(path) == ["work", "simplify"]


@pytest.mark.parametrize("value", ["0", None])
def test_viz_0_costs_nothing(installed: dict[str, str], value: str | None) -> None:
    program = PROGRAM + "print(sorted(m for m in sys.modules if m.split('.')[0] == 'viz'))"
    done = execute(installed, program, **({"VIZ": value} if value else {}))
    assert (done.stdout, done.stderr) == ("result\n[]\n", "")


def test_a_program_that_fails(installed: dict[str, str], tmp_path: Path) -> None:
    done = execute(installed, PROGRAM + "1 / 0", VIZ="-1", VIZ_TRACE=str(tmp_path / "t.viz"))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert names(tmp_path / "t.viz") == ["work", "simplify"]


def test_ctrl_c_says_where_the_program_was(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    program = PROGRAM + "\nraise KeyboardInterrupt"
    done = execute(installed, program, VIZ="-1", VIZ_TRACE=str(path))
    assert done.returncode == -signal.SIGINT
    said = done.stderr.splitlines()
    assert re.fullmatch(r"uopviz: interrupted at <string>:\d+", said[0])
    check_summary(said[1], path)
    assert names(path) == ["work", "simplify"]


def test_a_place_that_cannot_be_written(installed: dict[str, str], tmp_path: Path) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    done = execute(installed, VIZ="-1", VIZ_TRACE=str(precious))
    assert (done.returncode, done.stdout) == (0, "result\n")
    assert done.stderr.startswith("uopviz: not recording: this file is not a trace")
    assert precious.read_text() == "years of work"


def test_processes_that_a_program_starts_are_of_its_run(
    installed: dict[str, str], tmp_path: Path
) -> None:
    program = PROGRAM + (
        f"import subprocess\nsubprocess.run([sys.executable, '-c', {PROGRAM!r}], check=True)\n"
    )
    done = execute(installed, program, VIZ="1", VIZ_TRACE=str(tmp_path / "t.viz"))
    assert done.stdout == "result\nresult\n"
    assert done.stderr.count("http://") == 1
    assert done.stderr.count("recorded") == 1, "by the first process, for all"
    check_summary(done.stderr.splitlines()[-1], tmp_path / "t.viz", ", 2 processes")
    store = Store(tmp_path / "t.viz")
    assert store.run()["processes"] == 2
    assert [r["name"] for r in store.tree()["rows"]].count("simplify") == 2
    store.close()


SAID = re.compile(r"uopviz: (http://127\.0\.0\.1:(\d+)/\?token=(\S+))\n")
STAYS = r"uopviz: the page stays until it has been closed for (.*): (http://\S+)"
ENDS = {
    "with an exit code": ("sys.exit(3)", 3),
    "with an exception": ("1 / 0", 1),
    "with Ctrl-C": ("os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
    "in a group that is killed": ("os.killpg(0, signal.SIGKILL)", -signal.SIGKILL),
    "hung up": ("os.killpg(0, signal.SIGHUP); time.sleep(9)", -signal.SIGHUP),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ENDS)
def test_the_page_outlives_its_program(installed: dict[str, str], tmp_path: Path, how: str) -> None:
    """Whose output ends with it, which `communicate` waits for."""
    last, code = ENDS[how]
    path = tmp_path / "t.viz"
    process = subprocess.Popen(
        [sys.executable, "-c", f"import os, signal, time\n{PROGRAM}\n{last}"],
        env={**installed, "VIZ": "1", "VIZ_TRACE": str(path), "UOPVIZ_STAY": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "result\n"), errors
    found = SAID.match(errors)
    assert found is not None, errors
    with viewer_of(found):
        run = ask(found[1].partition("/?")[0], found[3])
        assert (run["live"], run["stays"]) == (False, 120)
        assert run["again"] == f"uopviz open {path}"
        if code >= 0 or how == "with Ctrl-C":
            assert run["totals"]["rewrites"] == 1
            summary, stays = errors.splitlines()[-2:]
            check_summary(summary, path)
            told = re.fullmatch(STAYS, stays)
            assert told is not None, stays
            assert (told[1], told[2]) == ("2 minutes, or 8 later ones wait unopened", found[1])


def test_a_program_in_a_terminal_ends_at_once(installed: dict[str, str], tmp_path: Path) -> None:
    """And nothing of it keeps the terminal open."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**installed, "VIZ": "1", "VIZ_TRACE": str(tmp_path / "t.viz"), "UOPVIZ_STAY": "120"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    try:
        text = read_to_the_end(leader).replace("\r\n", "\n")
        assert process.wait(10) == 0
        found = SAID.search(text)
        assert found is not None, text
        with viewer_of(found):
            assert ask(found[1].partition("/?")[0], found[3])["live"] is False
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def test_a_page_can_end_with_its_program(installed: dict[str, str], tmp_path: Path) -> None:
    done = execute(installed, VIZ="1", VIZ_TRACE=str(tmp_path / "t.viz"))
    assert "the page stays" not in done.stderr
    found = SAID.match(done.stderr)
    assert found is not None
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        ask(found[1].partition("/?")[0], found[3])


def test_a_page_that_nobody_opens_goes(installed: dict[str, str], tmp_path: Path) -> None:
    done = execute(installed, VIZ="1", VIZ_TRACE=str(tmp_path / "t.viz"), UOPVIZ_STAY="1")
    found = SAID.match(done.stderr)
    assert found is not None
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(found[2])), timeout=5).close()
        except OSError:
            break
        assert time.monotonic() < deadline, "the viewer still serves"
        time.sleep(0.1)
    assert [*(tmp_path / "cache" / "uopviz" / "waiting").iterdir()] == []


def test_a_viewer_that_fails_is_told_of(installed: dict[str, str], tmp_path: Path) -> None:
    """With the place of what it said: it has no terminal."""
    path = tmp_path / "t.viz"
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "waitress.py").write_text("raise ImportError('no such luck')")
    setting = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "broken"), installed["PYTHONPATH"]])}
    wait = "import os; os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)"
    done = execute({**installed, **setting}, PROGRAM + wait, VIZ="1", VIZ_TRACE=str(path))
    log = tmp_path / "cache" / "uopviz" / "viewer.log"
    said = f"uopviz: the page is gone: its server ended with exit code 2; {log} says why"
    assert done.stderr.splitlines()[-1] == said
    assert "no such luck" in log.read_text()


def test_few_viewers_wait_for_a_first_visit(tmp_path: Path) -> None:
    """The oldest ones go: of those that died no note counts, nor of those elsewhere."""
    mine = json.dumps(process_info(False))
    (tmp_path / "0001-1").write_text(mine)
    note = tmp_path / "0002-1"
    note.write_text(mine)
    (tmp_path / "0003-1").write_text(json.dumps({**process_info(False), "start": 1}))
    (tmp_path / "0004-1").write_text(json.dumps({**process_info(False), "host": "elsewhere"}))
    (tmp_path / "0005-1").write_text("[")
    (tmp_path / "0006-1.new").write_text(mine)
    (tmp_path / "0007-1").write_text(mine)
    assert younger(note) == [tmp_path / "0007-1"]
    assert not (tmp_path / "0003-1").exists()
    assert (tmp_path / "0004-1").exists()


@pytest.mark.parametrize("visited", [False, True])
def test_a_viewer_makes_room_unless_it_was_visited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visited: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("viz.server.connections.staying._LOOKS", 0.01)
    opened = threading.Event()
    if visited:
        opened.set()
    asked = [0]

    def last_request() -> float:
        """The page asks ten times, and then no more."""
        asked[0] += 1
        return time.monotonic() if asked[0] < 10 else -1e9

    folder = waiting_folder()
    assert folder is not None
    for n in range(WAITING):
        (folder / f"9{n:019}-1").write_text(json.dumps(process_info(False)))
    Staying(lambda: False, 0.0 if visited else 1e9, last_request, opened).wait()
    assert len([*folder.iterdir()]) == WAITING
    assert asked[0] == (10 if visited else 1)


def ask(base: str, token: str) -> dict[str, Any]:
    asked = urllib.request.Request(f"{base}/api/A/run", headers={"X-Uopviz-Token": token})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return json.load(answer)


@contextmanager
def viewer_of(said: re.Match[str]) -> Generator[None]:
    """Ends the viewer of an address that was printed."""
    owner = [
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/cmdline")
        if listens(stat.parent, int(said[2]))
    ]
    try:
        yield
    finally:
        for pid in owner:
            os.kill(pid, signal.SIGTERM)


def listens(process: Path, port: int) -> bool:
    """Whether a process listens at a port of the loopback address."""
    wanted = f"0100007F:{port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1] == wanted and fields[3] == "0A":
            with suppress(OSError):
                return any(
                    os.readlink(handle) == f"socket:[{fields[9]}]"
                    for handle in (process / "fd").iterdir()
                )
    return False


def read_to_the_end(file: int, seconds: float = 30) -> str:
    """All that comes until no process has the other end of a terminal open."""
    found = ""
    deadline = time.monotonic() + seconds
    while True:
        assert time.monotonic() < deadline, found
        if select.select([file], [], [], 0.2)[0]:
            try:
                found += os.read(file, 4096).decode()
            except OSError:
                return found


def test_the_explorer_itself_is_not_recorded() -> None:
    for command in (
        ["/usr/bin/uopviz", "open"],
        ["python", "/venv/bin/uopviz", "open"],
        ["python", "-m", "viz", "serve"],
        ["python", "-X", "dev", "-m", "viz.work.worker"],
    ):
        assert is_viewer(command)
    for command in (["python", "a.py"], ["python", "-m", "pytest"], ["python", "vizard.py"]):
        assert not is_viewer(command)


def test_old_traces_are_removed_and_young_ones_never(tmp_path: Path) -> None:
    for i in range(5):
        with TraceWriter(tmp_path / f"{i}.viz", {}):
            pass
        if i < 4:
            os.utime(tmp_path / f"{i}.viz", (1000 + i, 1000 + i))
    (tmp_path / "notes.txt").write_text("mine")
    size = (tmp_path / "4.viz").stat().st_size
    removed = prune(tmp_path, 2 * size)
    assert sorted(p.name for p in removed) == ["0.viz", "1.viz", "2.viz"]
    assert prune(tmp_path, 0) == [tmp_path / "3.viz"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["4.viz", "notes.txt"]
    assert recent(tmp_path, 1) == [tmp_path / "4.viz"]


def test_where_a_trace_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "argv", ["/x/my prog.py"])
    monkeypatch.delenv("VIZ_TRACE", raising=False)
    assert re.fullmatch(r"my_prog-\d{8}-\d{6}-\d+\.viz", trace_path().name)
    assert trace_path().parent == tmp_path / "uopviz"
    monkeypatch.setenv("VIZ_TRACE", "here.viz")
    assert trace_path() == Path.cwd() / "here.viz"


def test_a_process_that_nobody_has_waited_for_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    known = {**process_info(True), "pid": process.pid, "start": process_start(process.pid)}
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(known)
    process.wait()


def test_who_is_alive() -> None:
    me = process_info(True)
    assert is_alive(me)
    assert not is_alive({**me, "start": 1})
    assert not is_alive({**me, "host": "elsewhere"})
    for nonsense in (None, {}, {"pid": -1}, {**me, "pid": "1"}, {**me, "pid": 1 << 80}, []):
        assert not is_alive(nonsense)


def test_a_port_that_is_none_leaves_no_trace(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    done = execute(installed, VIZ="1", VIZ_TRACE=str(path), UOPVIZ_PORT="abc")
    assert done.returncode == 1
    assert "UOPVIZ_PORT='abc' is not a port" in done.stderr
    assert not list(tmp_path.glob("t*.viz*"))
