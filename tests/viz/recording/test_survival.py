"""A recording outlives what programs go through: forks, kills, endless rewrites, full disks."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import viz
from core.errors import TraceError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.recording.test_trace import rows
from tests.viz.samples import random_graph, rules
from viz.trace import Recorder
from viz.views.store import Store

ROOT = Path(__file__).resolve().parents[3]


def child(number: int) -> int:
    with context(f"child {number}", "kernel"):
        graph_rewrite(random_graph(number), rules, name="in child")
    return os.getpid()


def test_a_process_pool(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with viz.record(path):
        graph_rewrite(random_graph(0), rules, name="in parent")
        with context("around the pool"), multiprocessing.get_context("fork").Pool(2) as pool:
            workers = set(pool.map(child, range(6), chunksize=1))
        graph_rewrite(random_graph(1), rules, name="in parent again")
    store = Store(path)
    found = store.tree()["rows"]
    assert store.run()["processes"] == 1 + len(workers)
    names = [r["name"] for r in found if r["kind"] == "rewrite"]
    assert sorted(names) == ["in child"] * 6 + ["in parent", "in parent again"]
    assert {r["name"] for r in found if r["parent"] == -1} >= {f"process {p}" for p in workers}
    for row in found:
        if row["kind"] == "rewrite":
            bundle = store.bundle(row["id"])
            assert bundle is not None
            assert len(bundle["steps"]) == row["steps"]
    assert len({r["id"] for r in found}) == len(found)
    assert all(row["ms"] > 0 for row in found if row["name"] == "in child")
    rules_of_all = [r["name"] for r in store.rules()]
    assert len(rules_of_all) == len(set(rules_of_all)), "one rule, however many processes"
    store.close()


def test_a_worker_that_is_killed_at_work_says_so(tmp_path: Path) -> None:
    """And one that is killed between two pieces of work has nothing to say."""
    path = tmp_path / "t.viz"
    for at_work, before in itertools.product((True, False), (0, 1)):
        with viz.record(path):
            pid = os.fork()
            if pid == 0:
                for number in range(before):
                    child(number)
                with context("the last", "kernel"):
                    if at_work:
                        os.kill(os.getpid(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(pid, 0)
        store = Store(path)
        said = [problem["what"] for problem in store.run()["problems"]]
        assert said == ["the program ended without closing its trace"] * at_work
        assert "the last" in [row["name"] for row in store.tree()["rows"]]
        store.close()


def test_a_fork_that_leaves_the_parent_untouched(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with viz.record(path):
        graph_rewrite(random_graph(0), rules, name="before")
        pid = os.fork()
        if pid == 0:  # a child that ends without a word
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        graph_rewrite(random_graph(1), rules, name="after")
    assert [r["name"] for r in rows(path)] == ["before", "after"]
    assert not list(tmp_path.glob("t.p*.viz"))


PROGRAM = """
import sys, threading, time
sys.path.insert(0, {root!r})
from pathlib import Path
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.recording.test_trace import rows
from viz.trace import Recorder
recorder = Recorder(Path({path!r})).start()
{body}
"""


def start(path: Path, body: str) -> subprocess.Popen[str]:
    text = PROGRAM.format(root=str(ROOT), path=str(path), body=textwrap.dedent(body))
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)


def test_kill_9_loses_less_than_half_a_second(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    process = start(
        path,
        """
        def tick():  # how long a thread of this process waits for its turn
            last = time.time()
            while True:
                time.sleep(0.01)
                now = time.time()
                print(now - last, flush=True)
                last = now

        threading.Thread(target=tick, daemon=True).start()
        i = 0
        while True:
            with context(f"{time.time()}", "kernel"):
                graph_rewrite(random_graph(i % 50), rules, name="simplify")
            i += 1
        """,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.2)
    killed = time.time()
    process.send_signal(signal.SIGKILL)
    turns = [float(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    store = Store(path)
    found = store.tree()["rows"]
    last = max(float(r["name"]) for r in found if r["kind"] == "context")
    assert killed - last < 0.5 + 4 * max(turns), "half a second, and some turns on a busy machine"
    run = store.run()
    assert not run["live"]
    assert [p["what"] for p in run["problems"]] == ["the program ended without closing its trace"]
    for row in found[-20:]:
        if row["kind"] == "rewrite" and row["status"] == "ok":
            bundle = store.bundle(row["id"])
            assert bundle is not None
            assert len(bundle["steps"]) == row["steps"]
    store.close()


def test_an_endless_rewrite_is_visible_while_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    process = start(
        path,
        """
        from core.uop.patterns.matcher import PatternMatcher
        from core.uop.patterns.rule import rule
        from core.uop.patterns.upat import UPat
        from core.uop.ops import Ops
        @rule(UPat(Ops.DETACH, name="d"))
        def slow(d):
            print("matching", flush=True)
            time.sleep(30)
        graph_rewrite(random_graph(1), rules, name="quick")
        graph_rewrite(random_graph(1).src[0].detach(), PatternMatcher([slow]), name="stuck")
        """,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.6)
    store = Store(path)
    try:
        quick, stuck = store.tree()["rows"]
        assert (quick["status"], stuck["status"]) == ("ok", "open")
        assert store.run()["live"]
    finally:
        store.close()
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_full_disk_ends_the_recording_and_not_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    expected = graph_rewrite(random_graph(5), rules)
    recorder.flush()

    def full(*_: object) -> None:
        raise TraceError("the trace cannot be written: database or disk is full", where="here")

    monkeypatch.setattr("viz.write.database.TraceDatabase.write", full)
    for _ in range(3):
        assert graph_rewrite(random_graph(5), rules) is expected
        recorder.flush()
    recorder.close()
    assert capsys.readouterr().err.count("recording stopped") == 1
    monkeypatch.undo()
    assert len(rows(tmp_path / "t.viz")) == 1


def test_a_mistake_of_the_recorder_is_none_of_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    monkeypatch.setattr("viz.recording.transcribe.Transcriber.run", lambda *_: 1 // 0)
    for _ in range(2):
        graph_rewrite(random_graph(5), rules)
        recorder.flush()
    recorder.close()
    said = capsys.readouterr().err
    assert said.count("recording stopped. the recorder failed (ZeroDivisionError") == 1
    store = Store(tmp_path / "t.viz")
    assert any("ZeroDivisionError" in p["what"] for p in store.run()["problems"])
    store.close()


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    (gone := tmp_path / "gone").mkdir()
    path = tmp_path / "t.viz"
    body = PROGRAM.format(root=str(ROOT), path=str(path), body="recorder.close()")
    program = f"import os\nos.rmdir({str(gone)!r})\n{body}"
    done = subprocess.run([sys.executable, "-P", "-c", program], cwd=gone, check=False)
    assert done.returncode == 0
    assert rows(path) == []


def test_a_recording_that_stopped_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    graph_rewrite(random_graph(5), rules)

    def full() -> None:
        raise TraceError("the disk was full for a moment", where="here")

    monkeypatch.setattr(recorder._writer, "flush", full)
    recorder.flush()
    recorder.close()
    assert capsys.readouterr().err.count("recording stopped") == 1
    store = Store(tmp_path / "t.viz")
    (problem,) = store.run()["problems"]
    assert "stopped before the program did: the disk was full" in problem["what"]
    store.close()


def test_a_really_full_disk(tmp_path: Path) -> None:
    program = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for i in range(300):
        graph_rewrite(random_graph(i), rules)
        if i % 50 == 0:
            recorder.flush()
    recorder.close()
    print("done")
    """
    text = PROGRAM.format(
        root=str(ROOT), path=str(tmp_path / "t.viz"), body=textwrap.dedent(program)
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert done.stderr.count("\n") == 1, "one warning"
    assert "recording stopped" in done.stderr
