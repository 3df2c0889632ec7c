"""`uopviz check`: what it prints, its exit codes, and what it does with bad input."""

from __future__ import annotations

import json
import os
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

import viz.check.part
import viz.check.parts
import viz.check.run
import viz.corecommand.check
from core.errors import UopvizError
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.patterns.rule import Assumes
from tests.viz.samples import rules
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.run import check_passes, processes
from viz.cli import main
from viz.known.answers import CHECKS, VERDICTS
from viz.known.kept import Kept, kept_path, load
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.writer import TraceWriter

X = UOp.variable("x", 0, 9)


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def swapped(a: UOp, b: UOp) -> UOp:
    """a - b -> b + -1 * a, which is wrong"""
    return b + a * -1


@rule(UPat(Ops.XOR, src=(UPat.var("a"), UPat.var("b"))), assumes=(Assumes.CONTEXT,))
def together(a: UOp, b: UOp) -> UOp:
    """a ^ b -> a | b, with what other steps do"""
    return a | b


class Here(Executor):
    """Works at once, in this process."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except (BrokenProcessPool, UopvizError) as error:
            future.set_exception(error)
        return future


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.corecommand.check, "processes", lambda jobs: Here())


def recorded(path: Path, graph: UOp, matcher: PatternMatcher) -> Path:
    recorder = Recorder(path).start()
    with context("kernel_a", "kernel"):
        graph_rewrite(graph, matcher, name="tidy")
    with context("kernel_b", "kernel"):
        graph_rewrite(UOp.sink(X * 1), rules, name="tidy")
    recorder.close()
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["check", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_right_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink((X * 3 + 0) * 1), rules)
    code, out, _ = run(capsys, path)
    assert code == 0
    assert out.startswith("checked 3 steps")
    assert "100.00 %" in out
    assert kept_path(path).exists()
    code, out, _ = run(capsys, path, "--json", "--kernel", "kernel_b")
    data = json.loads(out)
    assert (code, data["steps"], data["counts"]["proved"]) == (0, 1, 1)


def test_a_wrong_rule_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X * 1 - 3), PatternMatcher([swapped]))
    code, out, _ = run(capsys, path)
    assert code == 1
    assert "swapped is wrong at step 1 of tidy" in out
    assert "test_command.py" in out
    assert "before:" in out and "after:" in out
    code, out, _ = run(capsys, path, "--rule", "swapped", "--json")
    assert (code, json.loads(out)["counts"]["differs"]) == (1, 1)
    code, out, _ = run(capsys, path, "--rule", "mul_one")
    assert code == 0


def test_what_a_rule_declares_is_recorded(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X ^ 3), PatternMatcher([together]))
    store = Store(path)
    texts = [r.texts for p in store.processes for r in p.file.rules.values()]
    assert [t["assumes"] for t in texts if "assumes" in t] == [[str(Assumes.CONTEXT)]]
    (number,) = [r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"][:1]
    (checked,) = check_part(Part(str(path), (number,)))
    assert [v["kind"] for v in checked["verdicts"]] == ["assumes"]
    assert store.ask(VERDICTS, number) == {
        "rewrite": number, "steps": [], "verdicts": [], "integers": [], "undone": None,
        "unseen": "", "whole": False,
    }  # fmt: skip
    store.close()


def test_results_are_found_again_only_where_they_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X * 3 + 0), rules)
    assert run(capsys, path)[0] == 0
    kept = kept_path(path)
    good = kept.read_bytes()

    def never(*_: Any) -> Any:
        raise AssertionError("checked again")

    monkeypatch.setattr(viz.corecommand.check, "check_passes", never)
    assert run(capsys, path)[0] == 0
    store = Store(path)
    known = store.ask(CHECKS)
    assert sum(known["proved"]) == 2 and all(known["whole"])
    assert len(store.ask(VERDICTS, known["rewrite"][0])["steps"]) == 1
    store.close()
    data = json.loads(good)
    data["passes"][0]["steps"] = [[1, 1, 99]]
    for bad in (b"", b"{", b"[1]", json.dumps(data).encode(), good.replace(b'"code"', b'"c0de"')):
        kept.write_bytes(bad)
        assert load(kept, json.loads(good)["of"]) == Kept()


def test_a_trace_of_no_known_dialect_has_no_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "foreign.viz"
    with TraceWriter(path, {"compiler": "another"}) as writer:
        a = writer.node("thing", "f32")
        b = writer.node("other", "f32", (a,))
        number = writer.rewrite_begin("pass", b)
        writer.match(number, writer.rule("rule"), b, a, {}, 1_000)
        writer.rewrite_end(number, a)
    code, out, err = run(capsys, path)
    assert (code, out) == (2, "")
    assert "of no known dialect, which has no action 'check'" in err


def test_nodes_that_are_none_are_not_checkable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.viz"
    with TraceWriter(path, {"flags": {"VIZ": 1}}) as writer:
        a = writer.node("CONST", "int32", arg='{"float": "many"}')
        b = writer.node("NEG", "int32", (a,), arg="")
        number = writer.rewrite_begin("pass", b)
        writer.match(number, writer.rule("rule"), b, a, {}, 1_000)
        writer.rewrite_end(number, a)
    code, out, _ = run(capsys, path, "--wide")
    assert code == 0
    assert "cannot be rebuilt" in out


def test_a_process_that_ends_costs_its_passes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X * 3 + 0), rules)
    store = Store(path)
    numbers = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
    real = viz.check.part.check_part

    def broken(part: Part) -> Any:
        if numbers[0] in part.rewrites:
            raise BrokenProcessPool("ended")
        return real(part)

    monkeypatch.setattr(viz.check.run, "check_part", broken)
    monkeypatch.setattr(viz.check.parts, "PART", 1)
    found = check_passes(store, Part(str(path), numbers), executor=lambda jobs: Here())
    kinds = [{v["kind"] for v in one["verdicts"]} for one in found]
    assert kinds == [{"unchecked"}, {"proved"}]
    store.close()


def test_a_cluster_does_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X * 3 + 0), rules)
    asked: list[str] = []

    def cluster(address: str) -> Here:
        asked.append(address)
        return Here()

    monkeypatch.setattr(viz.corecommand.check, "executor_at", cluster)
    code, out, _ = run(capsys, path, "--executor", "dask://h:1")
    assert code == 0 and "100.00 %" in out and asked == ["dask://h:1"] * 2
    assert "its root is not a SINK of STOREs" in out, "the kernel, too"
    code, _, _ = run(capsys, path, "--executor", "dask://h:1")
    assert code == 0 and len(asked) == 2, "what is known is not checked again"


def test_a_killed_process_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X * 3 + 0), rules)
    store = Store(path)
    numbers = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
    pool = processes(1)
    with pytest.raises(BrokenProcessPool):
        pool.submit(os._exit, 9).result()
    pool.shutdown()
    found = check_passes(store, Part(str(path), numbers), 1)
    assert {v["kind"] for one in found for v in one["verdicts"]} == {"proved"}
    store.close()


def test_time_that_is_over(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.viz", UOp.sink(X * 3 + 0), rules)
    store = Store(path)
    numbers = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
    store.close()
    found = check_part(Part(str(path), numbers, seconds=0.0))
    assert {v["how"] for one in found for v in one["verdicts"]} == {"time limit reached"}
