"""The recorder: what it writes."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import viz
from core.dtype import dtypes
from core.errors import RuleError
from core.uop.engine.observe import context, track_rewrites
from core.uop.engine.rewrite import graph_rewrite
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.viz.samples import random_graph, rules
from viz.recording.patterns import pattern_data, source_of
from viz.trace import Recorder
from viz.views.store import Store

ROOT = Path(__file__).resolve().parents[3]


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
    among = pattern_data(UPat(Ops.ADD, early_reject=(Ops.MUL, Ops.CONST)))
    assert among.get("among") == ["CONST", "MUL"]
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


def test_close_twice_and_threads_end(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    graph_rewrite(random_graph(5), rules)
    recorder.close()
    recorder.close()
    deadline = time.monotonic() + 5
    while any(t.name == "uopviz recorder" for t in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
