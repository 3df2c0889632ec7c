"""Steps of a pass that a rule's function began: right if the step is that comes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.patterns.rule import Assumes
from viz.check.around import step_around
from viz.check.part import UNUSED, check_part
from viz.check.parts import Part
from viz.trace import Recorder
from viz.views.store import Store

X, Y = UOp.variable("x", 0, 9), UOp.variable("y", 0, 9)
SEVEN = X.const_like(7)


@rule(UPat(Ops.DEFINE_VAR, name="v"), assumes=(Assumes.CONTEXT,))
def taken_for_seven(v: UOp) -> UOp:
    """v -> 7, where the function around it knows that it may be"""
    return SEVEN


inner = PatternMatcher([taken_for_seven], name="inner")


def after_trying() -> None:
    """For tests."""


@rule(UPat(Ops.XOR, src=(UPat.var("a"), UPat.var("b"))))
def nothing_left(a: UOp, b: UOp) -> UOp | None:
    """x ^ x -> 0, found by trying a value; wrong of anything but equal operands"""
    graph_rewrite(a, inner, name="trying")
    after_trying()
    return a.const_like(0)


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def never(a: UOp, b: UOp) -> UOp | None:
    """nothing, after a try"""
    graph_rewrite(a, inner, name="trying")
    return None


outer = PatternMatcher([nothing_left, never], name="outer")


def verdicts(
    path: Path, graph: UOp, monkeypatch: pytest.MonkeyPatch | None = None
) -> dict[str, list[tuple[str, str]]]:
    """By name of a pass, kind and explanation of the answer to each of its steps. `monkeypatch`:
    what is recorded goes to the file between an inner pass and the match that it is part of."""
    recorder = Recorder(path).start()
    if monkeypatch is not None:
        monkeypatch.setitem(globals(), "after_trying", recorder.flush)
    with context("kernel_a", "kernel"):
        graph_rewrite(UOp.sink(graph), outer, name="tidy")
    recorder.close()
    store = Store(path)
    rows = {r["id"]: r["name"] for r in store.tree()["rows"] if r["kind"] == "rewrite"}
    found: dict[str, list[tuple[str, str]]] = {}
    for one in check_part(Part(str(path), tuple(rows))):
        known = [(v["kind"], v["how"]) for v in one["verdicts"]]
        found.setdefault(rows[one["rewrite"]], []).extend(known[at] for _, _, at in one["steps"])
    store.close()
    return found


def test_part_of_a_step_that_is_right(tmp_path: Path) -> None:
    same = UOp(Ops.XOR, X.dtype, (X, X))
    found = verdicts(tmp_path / "run.viz", same)
    assert [kind for kind, _ in found["tidy"]] == ["proved"]
    ((kind, how),) = found["trying"]
    assert kind == "proved" and how.startswith("part of a step of nothing_left: ")


def test_the_step_may_be_in_another_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = UOp(Ops.XOR, X.dtype, (X, X))
    ((kind, how),) = verdicts(tmp_path / "run.viz", same, monkeypatch)["trying"]
    assert kind == "proved" and how.startswith("part of a step of nothing_left: ")


def test_part_of_a_step_that_is_wrong_is_not_to_blame(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "run.viz", UOp(Ops.XOR, X.dtype, (X, Y)))
    assert [kind for kind, _ in found["tidy"]] == ["differs"]
    assert [kind for kind, _ in found["trying"]] == ["assumes"]


def test_a_function_that_declined_leaves_nothing(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "run.viz", UOp(Ops.SUB, X.dtype, (X, Y)))
    assert found["trying"] == [(UNUSED.kind, UNUSED.how)]


def test_the_step_is_the_next_match_around(tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    graph = UOp(Ops.XOR, X.dtype, (X, X)) + UOp(Ops.SUB, X.dtype, (Y, X)) * 3
    graph = graph + UOp(Ops.XOR, X.dtype, (Y, Y)) * 5
    recorder = Recorder(path).start()
    graph_rewrite(UOp.sink(graph), outer, name="tidy")
    recorder.close()
    store = Store(path)
    file = store.processes[0].file
    around = [step_around(file, r) for r in file.rewrites.values() if r.name == "trying"]
    tidy = next(r for r in file.rewrites.values() if r.name == "tidy")
    assert tidy.matches == 2
    assert all(a is not None and a.rewrite is tidy for a in around)
    assert sorted(a.step for a in around if a is not None) == [0, 1, 2]
    store.close()
