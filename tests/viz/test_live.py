"""VIZ=1 in front of any run: recorded without a change of the program, served, and nothing lost."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from viz.environment import prune, recent, trace_path
from viz.files.alive import is_alive, process_info
from viz.live import is_viewer
from viz.views.store import Store
from viz.write.writer import TraceWriter

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from core.uop.observe import context
from core.uop.rewrite import graph_rewrite
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
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "XDG_CACHE_HOME": str(tmp_path / "cache")}


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


@pytest.mark.parametrize("handler", ["signal.default_int_handler", "signal.SIG_IGN", "print"])
def test_a_terminal_keeps_the_page_until_ctrl_c(
    installed: dict[str, str], tmp_path: Path, handler: str
) -> None:
    program = f"import signal\nsignal.signal(signal.SIGINT, {handler})\n{PROGRAM}"
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**installed, "VIZ": "1", "VIZ_TRACE": str(tmp_path / "t.viz")},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    try:
        text = read_until(leader, "until Ctrl-C")
        url = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", text)
        assert url is not None
        assert text.count(url[0]) == text.count("http://") == 2, "and again at the end"
        assert text.count("recorded 1 kernel, 1 pass, ") == 1
        assert "open it with" not in text
        base, token = url[0].split("/?token=")
        run = ask(base, token)
        assert run["totals"]["rewrites"] == 1
        assert run["live"] is False
        process.send_signal(signal.SIGINT)
        text += read_until(leader, "open it with")
        assert process.wait(10) == 0
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            ask(base, token)
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def test_the_viewer_does_not_outlive_a_killed_program(
    installed: dict[str, str], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM + "\nimport time; time.sleep(60)"],
        env={**installed, "VIZ": "1", "VIZ_TRACE": str(tmp_path / "t.viz")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stdout is not None
    base, token = process.stderr.readline().split("uopviz: ")[1].strip().split("/?token=")
    process.stdout.readline()
    deadline = time.monotonic() + 10
    while ask(base, token)["totals"]["rewrites"] != 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert ask(base, token)["live"] is True
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    while time.monotonic() < deadline + 10:
        try:
            ask(base, token)
        except (urllib.error.URLError, ConnectionError):
            return
        time.sleep(0.1)
    raise AssertionError("the viewer still serves")


def ask(base: str, token: str) -> dict:
    asked = urllib.request.Request(f"{base}/api/A/run", headers={"X-Uopviz-Token": token})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return json.load(answer)


def read_until(file: int, text: str, seconds: float = 30) -> str:
    found = ""
    deadline = time.monotonic() + seconds
    while text not in found:
        assert time.monotonic() < deadline, found
        if select.select([file], [], [], 0.2)[0]:
            found += os.read(file, 4096).decode()
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


def test_who_is_alive() -> None:
    me = process_info(True)
    assert is_alive(me)
    assert not is_alive({**me, "start": 1})
    assert not is_alive({**me, "host": "elsewhere"})
    for nonsense in (None, {}, {"pid": -1}, {**me, "pid": "1"}, {**me, "pid": 1 << 80}, []):
        assert not is_alive(nonsense)
