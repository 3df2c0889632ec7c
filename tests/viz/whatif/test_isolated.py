"""The worker's process: what it is given may be anything, and it may end in any way."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import viz
from core import Tensor
from core.errors import ServerError
from core.helpers import Context
from core.uop.data.serial import to_data
from tests.core.passes.kernels import elementwise
from tests.viz.whatif.running import JOBS, Here, kernel_named, record
from viz.cli import main
from viz.compare.matching.side import Side
from viz.coredialect.flags import flags_in
from viz.environment import bytecode_folder, cache_folder
from viz.views.store import Store
from viz.whatif import isolated, replaying, worker
from viz.whatif.bisect import bisect
from viz.whatif.isolated import TRACE, end_all, work
from viz.whatif.replay import replay, replay_request, replay_rows
from viz.whatif.subject import recorded_flags, subjects_of
from viz.whatif.variants.variant import Variant
from viz.write.writer import TraceWriter


def subject(**other: Any) -> dict[str, Any]:
    graph = to_data([elementwise((3, 4)).ast])
    return {"number": 1, "name": "k", "target": "x86-64", "graph": graph, "flags": {}} | other


def test_a_worker_that_takes_too_long_is_ended() -> None:
    with pytest.raises(ServerError, match="took longer than 0 seconds") as raised:
        work({"job": "replay", "subjects": [subject()]}, seconds=0.01)
    assert "--seconds" in raised.value.hint


def test_a_worker_that_is_killed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = isolated.Worker.ask

    def ended_first(*given: Any, **more: Any) -> Any:
        end_all()
        return ask(*given, **more)

    monkeypatch.setattr(isolated.Worker, "ask", ended_first)
    with pytest.raises(ServerError, match=r"ended without an answer \(SIGKILL\)"):
        work({"job": "replay", "subjects": [subject()]})


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            {"graph": {"version": 1, "nodes": [["NOPE", "int32", [], None]], "roots": [0]}},
            "unknown op",
        ),
        ({"graph": {"version": 1, "nodes": [["CONST", "int32", [], 3]], "roots": [0]}}, "SINK"),
        ({"target": "no such target"}, "no such target"),
    ],
)
def test_graphs_that_are_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(worker, "limit_files", abs)
    request = {"subjects": [subject(**other), subject()], "trace": str(tmp_path / "t.viz")}
    bad, good = replaying.replay_job(request)["kernels"]
    assert said in str(bad["error"])
    assert not bad["recorded"]
    assert good["error"] is None


def test_flags_that_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worker, "limit_files", abs)
    for flags in ({"NOOPT": 9}, {"NOOPT": 1}, {"PATH": 3}):
        request = {"subjects": [subject(flags=flags)], "trace": str(tmp_path / "t.viz")}
        assert replaying.replay_job(request)["kernels"][0]["error"] is None


def test_a_trace_of_another_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.viz"
    with TraceWriter(path, {"compiler": "mycc"}) as t:
        node = t.node("load", "i32")
        kernel = t.context_begin("kernel_1", "kernel")
        t.rewrite_end(t.rewrite_begin("peephole", node, context=kernel))
        t.context_end(kernel)
    for words in (
        ["what-if", str(path), "--kernel", "kernel_1", "--replay"],
        ["bisect", str(path), "--kernel", "kernel_1"],
        ["replay", str(path)],
        ["script", str(path), "--kernel", "kernel_1"],
    ):
        assert main(words) == 2
        action = "bisect" if words[0] == "bisect" else "what-if"
        said = f"this trace is of no known dialect, which has no action '{action}'"
        assert said in capsys.readouterr().err


def test_a_run_without_kernels(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "none.viz", {"compiler": "uopviz"}) as t:
        t.context_end(t.context_begin("nothing", "group"))
    store = Store(tmp_path / "none.viz")
    with pytest.raises(ServerError, match="has no kernels"):
        replay(store, executor=Here())
    store.close()


def test_commands_refuse_what_they_cannot_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "run.viz")
    for words, said in (
        (["--skip", "reduce_in_lop"], "did you mean reduce_in_loop"),
        ([], "no change is given"),
        (["--target", "sm_9000"], "sm_9000"),
        (["--opts", "UP"], "not an optimisation"),
        (["--replay", "--executor", "slurm://x"], "is no executor"),
    ):
        words = ["what-if", str(tmp_path / "run.viz"), "--kernel", "r_", *words]
        assert main(words) == 2
        assert said in capsys.readouterr().err


def test_what_workers_answer_is_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel that cannot be compiled does not stand for others; nor does a whole worker."""
    record(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    here = Here()
    made = replay(store, executor=here)
    assert [(row["state"], row["error"]) for row in made["kernels"]] == [("equal", None)] * 2, made
    assert made["equal"]
    found = bisect(store, kernel_named(store, "r_"), executor=here)
    assert (found["wrong"], found["culprit"], found["device"]) == (False, None, "CPU")
    failing = bisect(
        store, kernel_named(store, "r_"), Variant(skip=("reduce_in_loop",)), executor=here
    )
    assert failing["failed"]["pass"] == "reduce"
    assert failing["wrong"]

    replaying = JOBS["replay"]

    def crashes(request: Any) -> Any:
        if any(one["name"].startswith("r_") for one in request["subjects"]):
            raise ServerError("the worker is lost")
        return replaying(request)

    monkeypatch.setitem(JOBS, "replay", crashes)
    made = replay(store, executor=here)
    rows = {row["name"][0]: (row["state"], row["error"]) for row in made["kernels"]}
    assert rows["E"] == ("equal", None)
    assert (rows["r"][0], rows["r"][1]["what"]) == ("failed", "the worker is lost")
    assert made["notes"] == []
    assert not made["equal"]
    monkeypatch.setattr("viz.whatif.replay.MOST_FAILED", 0)
    made = replay(store, executor=here)
    assert [row["state"] for row in made["kernels"]] == ["failed", "failed"]
    said = "a worker with 2 kernels, which were not tried again: the worker is lost"
    assert made["notes"] == [said]
    store.close()


def test_workers_keep_bytecode_where_python_was_told_to_keep_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for told, kept in ((False, None), (True, cache_folder() / "bytecode")):
        monkeypatch.setattr(sys, "dont_write_bytecode", told)
        bytecode_folder.cache_clear()
        assert bytecode_folder() == kept
    bytecode_folder.cache_clear()


def test_kernels_are_chosen_for_the_processor_of_the_recording(tmp_path: Path) -> None:
    """The machine that replays is another one: fewer registers give other opts."""
    path = tmp_path / "run.viz"
    a, b = Tensor.rand(48, 40).realize(), Tensor.rand(40, 64).realize()
    with Context(CPU_MACHINE="usual,registers=5,l1=4K"), viz.record(path):
        (a @ b).realize()
    store = Store(path)
    (subject,) = subjects_of(store)
    assert subject.flags["CPU_MACHINE"] == "usual,l1=4096,registers=5"
    assert recorded_flags(store, subject.number) == subject.flags
    assert replay(store, executor=Here())["equal"]
    elsewhere = replace(subject, flags={**subject.flags, "CPU_MACHINE": "usual"})
    with Context(CPU_MACHINE="usual"):
        answer = Here().submit(work, replay_request([elsewhere])).result()
    (tmp_path / "other.viz").write_bytes(answer[TRACE])
    side = Side(store)
    side.refresh()
    (row,) = replay_rows(side, [elsewhere], answer, tmp_path / "other.viz")
    assert row["state"] == "changed"
    store.close()


@pytest.mark.parametrize("text", [3, "l1=1T", "cores=0", "cores=" + "9" * 300, None])
def test_a_processor_that_is_none_is_not_taken(text: object) -> None:
    assert flags_in({"NOOPT": 1, "CPU_MACHINE": text}) == {"NOOPT": 1}
