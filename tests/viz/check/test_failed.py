"""A rule whose function fails is named, unless a step before is wrong or it fails on purpose."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.errors import ScheduleError, UopvizError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.observe import context
from core.uop.patterns.rule import Rule
from viz.bisect.search import bisect_run
from viz.check.message import message
from viz.check.part import check_part
from viz.check.parts import Part
from viz.trace import Recorder
from viz.views.store import Store

x, y = (UOp.variable(name, 0, 9) for name in "xy")


@rule(UPat(Ops.XOR, src=(UPat.var("a"), UPat.var("b"))))
def crash(a: UOp, b: UOp) -> UOp:
    """a ^ b -> an error"""
    raise ZeroDivisionError


@rule(UPat(Ops.XOR, src=(UPat.var("a"), UPat.var("b"))))
def no_condition(a: UOp, b: UOp) -> UOp:
    """a ^ b -> a < b, of another dtype"""
    return a < b


@rule(UPat(Ops.XOR, src=(UPat.var("a"), UPat.var("b"))))
def refused(a: UOp, b: UOp) -> UOp:
    """a ^ b is not possible"""
    raise ScheduleError("not possible")


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def swapped(a: UOp, b: UOp) -> UOp:
    """a - b -> b - a, which is wrong"""
    return b + a * -1


def checked(path: Path, *rules: Rule) -> tuple[dict[str, Any], dict[str, Any]]:
    """What check and bisect say of (x - y) ^ x with these rules."""
    recorder = Recorder(path).start()
    try:
        with suppress(UopvizError), context("schedule 1 kernel", "schedule"):
            graph_rewrite(UOp.sink((x - y) ^ x), PatternMatcher([*rules]), name="tidy")
    finally:
        recorder.close()
    store = Store(path)
    try:
        numbers = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        said = message(store, check_part(Part(str(path), numbers)))
        return said, bisect_run(store)
    finally:
        store.close()


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def plain(a: UOp, b: UOp) -> UOp:
    """a - b -> a + b * -1"""
    return a + b * -1


@pytest.mark.parametrize("failing", [crash, no_condition])
def test_a_rule_that_fails(failing: Rule, tmp_path: Path) -> None:
    check, bisect = checked(tmp_path / "run.viz", plain, failing)
    (row,) = (row for row in check["rules"] if row["verdict"]["kind"] == "differs")
    assert (row["name"], row["first"]["step"]) == (failing.name, 2)
    assert check["counts"]["differs"] == 1
    assert row["verdict"]["how"].startswith("its function failed: RuleError")
    assert bisect["wrong"]
    (step,) = bisect["steps"]["differing"]
    assert (step["rule"]["name"], step["pass"], step["step"]) == (failing.name, "tidy", 2)


@pytest.mark.parametrize(
    ("rules", "named"), [((swapped, crash), ["swapped"]), ((plain, refused), [])]
)
def test_another_one_is_to_blame(rules: tuple[Rule, ...], named: list[str], tmp_path: Path) -> None:
    check, bisect = checked(tmp_path / "run.viz", *rules)
    wrong = [row["name"] for row in check["rules"] if row["verdict"]["kind"] == "differs"]
    assert wrong == named
    assert [one["rule"]["name"] for one in bisect["steps"]["differing"]] == named
