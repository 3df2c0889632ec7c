"""Nothing is destroyed by a recording, and no recording by another one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import viz
from core.errors import TraceError
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.recording.test_trace import rows
from tests.viz.samples import random_graph, rules
from tests.viz.test_live import PROGRAM, execute, installed
from viz.environment import cache_folder, prune, recent
from viz.files import claim as claims
from viz.files.claim import Claim, Taken, claim
from viz.files.regular import replace_file
from viz.live import attach
from viz.share.reopened import open_run
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.writer import TraceWriter

__all__ = ["installed"]

HELD = f"""
import sys
sys.stdin.readline()
{PROGRAM}
sys.stdin.readline()
"""


def begin(environment: dict[str, str], path: Path, program: str = HELD) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**environment, "VIZ": "-1", "VIZ_TRACE": str(path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def runs(path: Path) -> tuple[int, int]:
    """Processes and passes of a run; every pass has all of its steps."""
    store = Store(path)
    try:
        found = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
        for row in found:
            assert len((store.bundle(row["id"]) or {})["steps"]) == row["steps"] > 0
        assert store.run()["problems"] == []
        return store.run()["processes"], len(found)
    finally:
        store.close()


# what is no trace


def put(kind: str, path: Path, folder: Path) -> None:
    """Something that is not a trace."""
    other = folder / "other"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
        case "folder":
            path.mkdir()
        case "text":
            path.write_text("years of work")
        case "link to a trace":
            TraceWriter(other, {}).close()
            path.symlink_to(other)
        case "link to a text":
            other.write_text("years of work")
            path.symlink_to(other)
        case _:
            path.symlink_to(folder / "nowhere")


KINDS = ("pipe", "socket", "folder", "text", "link to a trace", "link to a text", "dangling link")


def picture(folder: Path) -> list[tuple[str, int, int, bytes]]:
    """All that lies in a folder, with numbers of inodes and the bytes of files."""
    found: list[tuple[str, int, int, bytes]] = []
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        body = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found.append((path.name, status.st_mode, status.st_ino, body))
    return found


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal", "-lock"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_trace_stays(kind: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    put(kind, Path(f"{path}{ending}"), tmp_path)
    before = picture(tmp_path)
    for make in (lambda: TraceWriter(path, {}), lambda: Recorder(path)):
        with pytest.raises(TraceError) as raised:
            make()
        assert "\n" not in raised.value.what
    assert not claims.remove_trace(path)
    assert picture(tmp_path) == before


@pytest.mark.parametrize("kind", ["pipe", "socket", "link to a trace"])
def test_the_program_runs_on(installed: dict[str, str], kind: str, tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    put(kind, path, tmp_path)
    before = path.lstat()
    done = execute(installed, VIZ="-1", VIZ_TRACE=str(path))
    assert (done.returncode, done.stdout) == (0, "result\n")
    (said,) = done.stderr.splitlines()
    assert said.startswith("uopviz: not recording: this is a")
    assert os.path.samestat(before, path.lstat())


def test_a_device_stays(installed: dict[str, str]) -> None:
    before = os.stat("/dev/null")
    done = execute(installed, VIZ="-1", VIZ_TRACE="/dev/null")
    assert (done.returncode, done.stdout) == (0, "result\n")
    assert done.stderr.startswith("uopviz: not recording: this is a device")
    assert os.path.samestat(before, os.stat("/dev/null"))
    assert not Path("/dev/null-lock").exists()


@pytest.mark.parametrize("kind", ["", *KINDS])
def test_outputs_replace_only_their_own_kind(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    if kind:
        put(kind, path, tmp_path)
    before = picture(tmp_path)
    if not kind:
        for body in (b"ours 1", b"ours 2"):
            replace_file(path, body, lambda head: head.startswith(b"ours"), "of ours")
            assert [p.name for p in tmp_path.iterdir()] == ["out"]
            assert path.read_bytes() == body
        return
    with pytest.raises(TraceError):
        replace_file(path, b"ours", lambda head: head.startswith(b"ours"), "of ours")
    assert picture(tmp_path) == before


def test_an_earlier_trace_and_an_empty_file_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    path.touch()
    for _ in range(2):
        with viz.record(path) as recorder:
            graph_rewrite(random_graph(1), rules, name="simplify")
        assert recorder.path == path
        assert [row["name"] for row in rows(path)] == ["simplify"]
        assert [p.name for p in tmp_path.iterdir()] == ["t.viz"]


# two at once


def test_two_programs_at_once(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    both = [begin(installed, path) for _ in range(3)]
    for process in both:
        go_on(process)
    for process in both:
        assert process.stdout is not None
        process.stdout.readline()
    said = [process.communicate("\n", timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0, 0]
    assert runs(path) == (3, 3)
    assert sum("another program records" in text for text in said) == 2
    assert not list(tmp_path.glob("*-lock"))


def test_a_run_is_not_replaced_while_a_part_of_it_is_written(
    installed: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "t.viz"
    first = begin(installed, path)
    go_on(first)
    assert first.stdout is not None
    first.stdout.readline()
    second = begin(installed, path)
    go_on(second)
    assert second.stdout is not None
    second.stdout.readline()
    first.communicate("\n", timeout=60)  # the main trace is complete
    assert execute(installed, VIZ="-1", VIZ_TRACE=str(path)).returncode == 0
    second.communicate("\n", timeout=60)
    assert runs(path) == (3, 3)
    assert execute(installed, VIZ="-1", VIZ_TRACE=str(path)).returncode == 0
    assert runs(path) == (1, 1), "nobody writes it any more: the next run takes its place"


def test_a_crashed_writer_blocks_nobody(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    process = begin(installed, path)
    go_on(process)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert Path(f"{path}-lock").exists()
    assert execute(installed, VIZ="-1", VIZ_TRACE=str(path)).returncode == 0
    assert runs(path) == (1, 1)
    assert [p.name for p in tmp_path.glob("t*")] == ["t.viz"]


def test_one_process_records_a_file_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with viz.record(path) as outer:
        graph_rewrite(random_graph(1), rules, name="before")
        with viz.record(path) as inner:
            graph_rewrite(random_graph(2), rules, name="inside")
        with pytest.raises(TraceError, match="another program is writing"):
            TraceWriter(path, {})
        assert prune(tmp_path, 0) == []
        graph_rewrite(random_graph(3), rules, name="after")
    assert inner.run == outer.run
    assert inner.path.parent == tmp_path and inner.path != path
    assert runs(path) == (2, 4)


def test_a_fork_leaves_the_lock_to_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    taken = claim(path, "a")
    assert isinstance(taken, Claim)
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    try:
        assert claim(path, "b") == Taken("a")
        taken.release()
        again = claim(path, "c")
        assert isinstance(again, Claim), "the child, which still lives, does not hold it"
        again.release()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


WORKERS = """
import multiprocessing, os, sys, time

def work(number):
    from core.uop.engine.observe import attached, context
    from core.uop.engine.rewrite import graph_rewrite
    from tests.viz.samples import random_graph, rules
    with context(f"worker {{number}}", "kernel"):
        graph_rewrite(random_graph(number), rules, name="in worker")
    attached().launch(f"worker {{number}}", "CPU", 1, 2, 3)
    return number

def long_call(begun):
    open(begun, "w").close()
    sum(range(10**14))  # days, in which Python looks at no signal

if __name__ == "__main__":
    {first}
    method = multiprocessing.get_context({method!r})
    for number in range(2):  # one after the other
        process = method.Process(target=work, args=(number,))
        process.start()
        process.join()
        assert process.exitcode == 0
    left_open = method.Pool(1)
    assert left_open.map(work, range(2)) == [0, 1]
    with method.Pool(2) as pool:  # and at once
        assert pool.map(work, range(6), chunksize=1) == list(range(6))
        begun = {begun!r}
        pool.apply_async(long_call, [begun])
        while not os.path.exists(begun):
            time.sleep(0.01)
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("first", ["pass", "import core"])
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("chosen", [True, False], ids=["named", "in the cache"])
def test_processes_of_multiprocessing_are_one_run(
    installed: dict[str, str], first: str, method: str, chosen: bool, tmp_path: Path
) -> None:
    """Those of a pool are killed as it ends, whatever they are doing, and nothing is lost."""
    program, path = tmp_path / "program.py", tmp_path / "t.viz"
    begun = str(tmp_path / "begun")
    program.write_text(WORKERS.format(first=first, method=method, begun=begun))
    environment = {**installed, "VIZ": "-1"} | ({"VIZ_TRACE": str(path)} if chosen else {})
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    main = path if chosen else recent(tmp_path / "cache" / "uopviz", 1)[0]
    store = Store(main)
    found = store.tree()["rows"]
    assert sum(row["name"] == "in worker" for row in found) == 10
    assert sum(len(file.launches) for file in store.files) == 10
    assert store.run()["problems"] == []
    store.close()


# what is said


def test_a_trace_that_is_gone_is_not_announced(installed: dict[str, str], tmp_path: Path) -> None:
    for remove in ("import os; os.unlink({path!r})", "import shutil; shutil.rmtree({folder!r})"):
        path = tmp_path / "out" / "t.viz"
        program = PROGRAM + remove.format(path=str(path), folder=str(path.parent))
        done = execute(installed, program, VIZ="-1", VIZ_TRACE=str(path))
        assert (done.returncode, done.stdout) == (0, "result\n")
        assert "the trace is gone" in done.stderr or "recording stopped" in done.stderr
        assert "the trace is " + str(path) not in done.stderr
        assert "open it with" not in done.stderr


@pytest.mark.parametrize("home", ["", "relative"])
def test_no_home_is_not_the_root(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", home)
    for cache in ("", "relative/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
        own = Path(pwd.getpwuid(os.getuid()).pw_dir)
        assert cache_folder() == own / ".cache" / "uopviz"

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(TraceError, match="HOME is not set"):
        cache_folder()


# the cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "uopviz"


def old(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (1000, 1000), follow_symlinks=False)


def test_a_running_program_keeps_its_trace(cache: Path, tmp_path: Path) -> None:
    with TraceWriter(cache / "done.viz", {}):
        pass
    with TraceWriter(cache / "run.viz", {"run": "a"}):
        pass
    (further := claim(cache / "run.p12.viz", "a"))  # its last process still runs
    writer = TraceWriter(cache / "open.viz", {})
    old(*cache.glob("*"))
    assert prune(cache, 0) == [cache / "done.viz"]
    assert isinstance(further, Claim)
    further.release()
    writer.close()
    old(*cache.glob("*"))
    assert sorted(prune(cache, 0)) == [cache / "open.viz", cache / "run.viz"]


def test_only_traces_are_pruned(cache: Path, tmp_path: Path) -> None:
    cache.mkdir()
    (cache / "notes.viz").write_text("mine")
    (tmp_path / "elsewhere.viz").write_text("mine")
    (cache / "link.viz").symlink_to(tmp_path / "elsewhere.viz")
    os.mkfifo(cache / "pipe.viz")
    (cache / "folder.viz").mkdir()
    with TraceWriter(cache / "t.viz", {}):
        pass
    (cache / "t.viz-wal").write_text("not a log")
    old(*cache.glob("*"))
    before = picture(cache)
    assert prune(cache, 0) == []
    assert picture(cache) == before
    (cache / "t.viz-wal").unlink()
    assert prune(cache, 0) == [cache / "t.viz"]


def test_the_cache_is_for_its_owner(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(mode=0o755)
    cache.chmod(0o755)
    TraceWriter(cache / "t.viz", {}).close()
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "getuid", lambda: cache.stat().st_uid + 1)
    with pytest.raises(TraceError, match="belongs to another user"):
        TraceWriter(cache / "u.viz", {})


def test_attach_says_what_it_cannot_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "program.py"])
    monkeypatch.setenv("VIZ_TRACE", str(tmp_path))
    monkeypatch.delenv("UOPVIZ_RUN", raising=False)
    attach()
    assert capsys.readouterr().err.startswith("uopviz: not recording: this is a folder")


def test_the_rest_of_a_file_may_be_in_its_log(tmp_path: Path) -> None:
    """A process that is killed while SQLite moves its log into the file leaves a file that is
    shorter than it says, and the rest in the log."""
    path, killed = tmp_path / "t.viz", tmp_path / "killed.viz"
    writer = TraceWriter(path, {})
    for i in range(400):
        writer.context_begin(f"context {i} {'x' * 100}", "group", at=i)
    writer.flush()
    file, log = bytearray(path.read_bytes()), Path(f"{path}-wal").read_bytes()
    page = int.from_bytes(file[16:18])
    frames = [log[at : at + 24 + page] for at in range(32, len(log), 24 + page)]
    file[:page] = [f[24:] for f in frames if int.from_bytes(f[:4]) == 1][-1]  # moved first
    wanted = int.from_bytes(file[28:32]) * page
    assert wanted > len(file)
    killed.write_bytes(file)
    Path(f"{killed}-wal").write_bytes(log)
    store = Store(killed)
    assert not any("cut off" in p["what"] for p in store.run()["problems"])
    assert len(store.tree()["rows"]) == 400
    store.close()
    for name in ("killed.viz-wal", "killed.viz-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    store = Store(killed)
    assert any("cut off" in p["what"] for p in store.run()["problems"]), "without its log it is"
    store.close()
    writer.close()


def test_terminated_workers_lose_nothing_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with viz.record(path), multiprocessing.get_context("fork").Pool(3) as pool:
        pool.map_async(_record_much, range(60))
        time.sleep(0.4)
        pool.terminate()
    store = Store(path)
    assert not any("cut off" in p["what"] for p in store.run()["problems"])
    store.close()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    TraceWriter(tmp_path / "t.viz", {}).close()
    os.mkfifo(tmp_path / "t.viz-wal")
    os.mkfifo(tmp_path / "t.viz.p1.viz")
    os.mkfifo(tmp_path / "pipe.html")
    for name in ("t.viz", "pipe.html"):
        with pytest.raises(TraceError, match="pipe"):
            open_run(tmp_path / name)
    (tmp_path / "t.viz-wal").unlink()
    open_run(tmp_path / "t.viz").close()


def _record_much(number: int) -> None:
    for i in range(10):
        graph_rewrite(random_graph(number * 10 + i), rules, name="in worker")
