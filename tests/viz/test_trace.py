"""The recorder: what it writes, and that it survives what programs go through."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import viz
from core.dtype import dtypes
from core.errors import RuleError, TraceError
from core.uop.matcher import PatternMatcher
from core.uop.observe import context, track_rewrites
from core.uop.rewrite import graph_rewrite
from core.uop.rule import rule
from core.uop.uop import UOp
from core.uop.upat import UPat
from tests.viz.samples import random_graph, rules
from viz.patterns import pattern_data, source_of
from viz.store import Store
from viz.trace import Recorder

ROOT = Path(__file__).resolve().parents[2]


@rule(UPat.var("x") * 7)
def broken(x: UOp) -> UOp:
    """x * 7 -> an error"""
    raise ValueError(f"no sevens: {x.op.name}")


@rule(UPat.var("x") * 5, name="inner")
def nested(x: UOp) -> UOp:
    """x * 5 -> tidy(x + 0 + 0)"""
    return graph_rewrite(x + 0 + 0, rules, name="inside")


def rows(path: Path) -> list[dict]:
    store = Store(path)
    try:
        return store.tree()["rows"]
    finally:
        store.close()


def test_a_run(trace: Path) -> None:
    found = rows(trace)
    assert [(r["kind"], r["label"], r["name"], r["parent"]) for r in found] == [
        ("context", "schedule", "schedule 2 kernels", -1),
        ("rewrite", "pass", "tidy", 0),
        ("context", "kernel", "kernel_0", -1),
        ("rewrite", "pass", "simplify", 2),
        ("context", "kernel", "kernel_1", -1),
        ("rewrite", "pass", "simplify", 4),
    ]
    assert all(r["status"] == "ok" and r["steps"] > 0 for r in found)
    assert found[1]["caller"].startswith("tests/viz/conftest.py:")


def test_record_is_a_block(tmp_path: Path) -> None:
    with viz.record(tmp_path / "t.viz"):
        graph_rewrite(random_graph(3), rules)
    graph_rewrite(random_graph(4), rules)
    assert len(rows(tmp_path / "t.viz")) == 1


def test_rewrites_inside_rules(tmp_path: Path) -> None:
    with viz.record(tmp_path / "t.viz"):
        sink = UOp.sink(UOp.variable("a", 0, 9) * 5)
        graph_rewrite(sink, PatternMatcher([nested], name="outer"))
    outer, inner = rows(tmp_path / "t.viz")
    assert (outer["steps"], inner["steps"], inner["parent"]) == (1, 1, 0)


def test_nested_passes_that_change_nothing_are_only_counted(tmp_path: Path) -> None:
    @rule(UPat.var("x") * 5)
    def quiet(x: UOp) -> UOp:
        """x * 5 -> x"""
        return graph_rewrite(x, rules, name="nothing to do")

    with viz.record(tmp_path / "t.viz"):
        graph_rewrite(UOp.variable("a", 0, 9) * 5, PatternMatcher([quiet], name="outer"))
    (outer,) = rows(tmp_path / "t.viz")
    assert (outer["name"], outer["steps"]) == ("outer", 1)


def test_an_exception_is_on_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    recorder = Recorder(path).start()
    sink = UOp.sink(random_graph(1), UOp.variable("a", 0, 9) * 7)
    try:
        with pytest.raises(RuleError), context("k", "kernel"):
            graph_rewrite(sink, rules + PatternMatcher([broken]), name="breaks")
        store = Store(path)  # while the recording goes on
        kernel, rewrite = store.tree()["rows"]
        assert kernel["status"] == rewrite["status"] == "error"
        bundle = store.bundle(rewrite["id"])
        assert bundle is not None
        error = bundle["error"]
        assert error["step"] == len(bundle["steps"]) == rewrite["steps"] > 0
        assert store.rule_name(error["rule"]) == "broken"
        assert "no sevens" in error["message"]
        assert "raise ValueError" in error["traceback"]
        (problem,) = store.run()["problems"]
        assert problem["rewrite"] == rewrite["id"]
        assert "broken" in problem["where"]
        store.close()
    finally:
        recorder.close()


def test_rules_are_stored_as_text(store: Store) -> None:
    found = {r["name"]: r for r in store.rules()}
    rule_data = found["add_zero"]
    assert rule_data["equation"] == "x + 0 -> x"
    assert rule_data["doc"].endswith("The sum with nothing.")
    assert rule_data["group"] == "arithmetic"
    assert rule_data["file"] == "tests/viz/samples.py"
    assert rule_data["source"].startswith('@rule(UPat.var("x", dtypes.ints) + 0)\ndef add_zero(')
    assert rule_data["source"].endswith("return x\n")
    assert rule_data["pattern"]["op"] == ["ADD"]
    assert rule_data["pattern"]["src"]["kind"] == "permuted"


def test_patterns_as_data() -> None:
    any_of = UPat.any(UPat.var("x"), UPat.cvar("c")).load(name="l")
    data = pattern_data(any_of)
    assert data["name"] == "l"
    assert data["src"]["kind"] == "ordered"
    (inner,) = data["src"]["of"]
    assert [p["name"] for p in inner["anyOf"]] == ["x", "c"]
    repeat = pattern_data(UPat(src=UPat.var("x", dtypes.int32)))
    assert repeat["src"] == {"kind": "repeat", "of": pattern_data(UPat.var("x", dtypes.int32))}


def test_the_source_of_a_lambda() -> None:
    made = PatternMatcher(
        [
            (UPat.var("x") + 0, lambda x: x),
        ]
    ).rules[0]
    assert source_of(made).strip() == '(UPat.var("x") + 0, lambda x: x),'


def test_a_context_gets_its_final_name(tmp_path: Path) -> None:
    @track_rewrites(name=lambda result, args: f"made {result}", kind="schedule")
    def work(x: int) -> int:
        return x + 1

    with viz.record(tmp_path / "t.viz"):
        work(3)
    assert rows(tmp_path / "t.viz")[0]["name"] == "made 4"


def test_threads(tmp_path: Path) -> None:
    def work(i: int) -> None:
        with context(f"kernel {i}", "kernel"):
            graph_rewrite(random_graph(i), rules, name=f"pass {i}")

    with viz.record(tmp_path / "t.viz"), ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(24)))
    found = rows(tmp_path / "t.viz")
    assert len(found) == 48
    names = {r["row"]: r["name"] for r in found}
    for row in found:
        if row["kind"] == "rewrite":
            assert names[row["parent"]].split()[1] == row["name"].split()[1]


def test_recording_keeps_no_node_alive(tmp_path: Path) -> None:
    with viz.record(tmp_path / "t.viz"):
        u = UOp.variable("only here", 0, 77)
        graph_rewrite(u + 0, rules)
        seen = weakref.ref(u)
        del u
        gc.collect()
        assert seen() is None


def test_two_recordings_at_once(tmp_path: Path) -> None:
    """Both number the same nodes, each in its own way; one that begins late catches up."""

    def steps(name: str) -> list[list[str]]:
        store = Store(tmp_path / name)
        rewrites = [r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"]
        bundles = [store.bundle(number) for number in rewrites]
        texts = [
            store.step_text(n, len(b["steps"])) for n, b in zip(rewrites, bundles, strict=True) if b
        ]
        store.close()
        return [text["after"].splitlines() for text in texts if text]

    def work(i: int) -> None:
        graph_rewrite(random_graph(i), rules, name=f"pass {i}")

    with viz.record(tmp_path / "a.viz"):
        work(0)
        with viz.record(tmp_path / "b.viz"), ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(1, 9)))
    assert len(steps("a.viz")) == 9
    assert sorted(steps("a.viz")[1:]) == sorted(steps("b.viz"))


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
    rules_of_all = [r["name"] for r in store.rules()]
    assert len(rules_of_all) == len(set(rules_of_all)), "one rule, however many processes"
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
from core.uop.observe import context
from core.uop.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
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
        i = 0
        while True:
            with context(f"{time.time()}", "kernel"):
                graph_rewrite(random_graph(i % 50), rules, name="simplify")
            i += 1
            if i % 20 == 0:
                print(i, flush=True)
        """,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.2)
    killed = time.time()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    store = Store(path)
    found = store.tree()["rows"]
    last = max(float(r["name"]) for r in found if r["kind"] == "context")
    assert killed - last < 0.5 + 0.5, "half a second, and as much again for a busy machine"
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
        from core.uop.matcher import PatternMatcher
        from core.uop.rule import rule
        from core.uop.upat import UPat
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

    monkeypatch.setattr("viz.writer.write", full)
    for _ in range(3):
        assert graph_rewrite(random_graph(5), rules) is expected
        recorder.flush()
    recorder.close()
    assert capsys.readouterr().err.count("recording stopped") == 1
    monkeypatch.undo()
    assert len(rows(tmp_path / "t.viz")) == 1


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


def test_close_twice_and_threads_end(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    graph_rewrite(random_graph(5), rules)
    recorder.close()
    recorder.close()
    deadline = time.monotonic() + 5
    while any(t.name == "uopviz recorder" for t in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
