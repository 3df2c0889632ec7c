"""How often each rule was tried: from the engine through the trace to what is shown."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from core.uop.engine.observe import NullObserver, observing
from core.uop.engine.rewrite import graph_rewrite
from core.uop.engine.visits import Visits
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.viz.samples import add_zero, double, mul_one, random_graph, rules, same, subtract
from viz.cli import main
from viz.format.blocks import RULE_SETS, VISITS
from viz.read.visits import Visits as ReadVisits
from viz.read.visits import root_ops
from viz.share.copy import write_trace
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.writer import TraceWriter

first = PatternMatcher([double, same], name="first")
second = PatternMatcher([subtract, mul_one, double], name="second")
idle = PatternMatcher([add_zero], name="idle")


class Tries(NullObserver):
    """Tries of every rule by the name of the pass, as the engine counts them."""

    def __init__(self) -> None:
        self.found: Counter[tuple[str, str]] = Counter()

    def visited(self, name: str, visits: Visits) -> None:
        for rule, tries in visits.tries().items():
            self.found[name, rule.name] += tries


def simplified(x: UOp) -> None:
    """A rule that looks at its node with a rewrite of its own, mostly in vain."""
    graph_rewrite(x, idle, name="look")


def work() -> None:
    """Passes of one name with several matchers, both orders, and rewrites in rewrites."""
    looking = PatternMatcher([(UPat(Ops.MAX, src=(UPat.var("x"), UPat())), simplified)], name="l")
    for seed in range(4):
        graph_rewrite(random_graph(seed), rules, name="tidy", bottom_up=seed == 2)
        graph_rewrite(random_graph(seed), second, before=first, name="tidy")
        graph_rewrite(random_graph(seed), looking)


def tries_of(store: Store) -> dict[tuple[str, str], int]:
    totals = store.rule_totals()
    found = Counter({(row["pass"], row["rule"]): row["tries"] for row in totals["rows"]})
    for one in totals["silent"]:
        for rule, tries in zip(one["id"], one["tries"], strict=True):
            found[one["pass"], store.rule_name(rule)] += tries
    return dict(found)


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, dict[tuple[str, str], int]]:
    path = tmp_path / "t.viz"
    recorder = Recorder(path).start()
    with observing(Tries()) as tries:
        work()
        recorder.flush()
        work()
    recorder.close()
    assert isinstance(tries, Tries)
    return path, dict(tries.found)


def test_the_trace_knows_what_the_engine_counted(
    recorded: tuple[Path, dict[tuple[str, str], int]],
) -> None:
    path, expected = recorded
    store = Store(path)
    assert tries_of(store) == expected
    assert expected["look", "add_zero"] > 0, "of rewrites in rewrites that changed nothing, too"
    for row in store.rule_totals()["rows"]:
        assert row["matches"] <= row["tries"]
    store.close()


def test_copies_and_exports_keep_it(
    recorded: tuple[Path, dict[tuple[str, str], int]], tmp_path: Path
) -> None:
    path, expected = recorded
    store = Store(path)
    write_trace(store, tmp_path / "copy.viz")
    store.close()
    copy = Store(tmp_path / "copy.viz")
    assert tries_of(copy) == expected
    copy.close()


def test_commands_list_the_rules_that_never_matched(
    recorded: tuple[Path, dict[tuple[str, str], int]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, expected = recorded
    assert main(["stats", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    fired = {row["rule"] for row in said["rules"] if row["matches"]}
    by_rule: Counter[str] = Counter()
    for (_, rule), tries in expected.items():
        by_rule[rule] += tries
    never = {row["rule"]: row["tries"] for row in said["neverMatched"]}
    assert never == {rule: tries for rule, tries in by_rule.items() if rule not in fired}
    assert "simplified" in never
    assert main(["stats", str(path)]) == 0
    text = capsys.readouterr().out
    assert "never matched" in text
    assert "not recorded" not in text
    assert main(["query", str(path), "select sum(tries) from rule_totals"]) == 0
    assert int(capsys.readouterr().out.split()[-1]) == sum(expected.values())


def test_traces_that_do_not_say_it_are_not_said_to_have_none(
    recorded: tuple[Path, dict[tuple[str, str], int]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = recorded
    db = sqlite3.connect(path)
    with db:
        db.execute("DELETE FROM blocks WHERE kind IN (8, 9)")
    db.close()
    store = Store(path)
    totals = store.rule_totals()
    assert {row["tries"] for row in totals["rows"]} == {None}
    assert totals["silent"] == []
    store.close()
    assert main(["stats", str(path)]) == 0
    text = capsys.readouterr().out
    assert "not recorded" in text
    assert "never matched" not in text
    assert main(["query", str(path), "select count(*), count(tries) from rule_totals"]) == 0
    assert capsys.readouterr().out.split()[-1] == "0"


def test_other_compilers_write_it_or_leave_it(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        x = t.node("const", arg="1")
        y = t.node("neg", src=(x,))
        fold = t.rule("fold", pattern={"op": ["neg"]})
        late = t.rule("late", pattern={"anyOf": [{"op": ["neg"]}, {"op": ["const"]}]})
        any_op = t.rule("any")
        step = t.rewrite_begin("pass", y)
        t.match(step, fold, y, x, {}, 5)
        t.rewrite_end(step, x)
        silent = t.rewrite_begin("untold", y)
        t.match(silent, fold, y, x, {}, 5)
        t.rewrite_end(silent, x)
        t.visited(
            "pass", t.rule_set([fold, late, any_op]), {"neg": 5, "const": 2}, {(fold, "neg"): 1}
        )
        t.flush()
        t.visited("pass", t.rule_set([fold, late, any_op]), {"neg": 1}, {})
    store = Store(tmp_path / "t.viz")
    assert {(r["pass"], r["rule"]): r["tries"] for r in store.rule_totals()["rows"]} == {
        ("pass", "fold"): 6,
        ("untold", "fold"): None,
    }
    assert tries_of(store) | {("untold", "fold"): None} == {
        ("pass", "fold"): 6,
        ("pass", "late"): 7,
        ("pass", "any"): 7,
        ("untold", "fold"): None,
    }
    store.close()


def test_time_that_is_in_no_match_is_its_own_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the run and of each pass; a pass within a match of another is part of that match."""
    path = tmp_path / "t.viz"
    with TraceWriter(path, {"run": "r"}) as t:
        x = t.node("const")
        fold, late, idle = t.rule("fold"), t.rule("late"), t.rule("idle")
        outer = t.rewrite_begin("outer", x, at=0)
        inner = t.rewrite_begin("inner", x, parent=outer, at=20)
        t.match(inner, late, x, x, {}, 10_000)
        t.rewrite_end(inner, x, at=50)
        t.match(outer, fold, x, x, {}, 40_000)
        t.decline(outer, idle, x)
        t.rewrite_end(outer, x, at=100)
        t.rewrite_end(t.rewrite_begin("empty", x, at=200), x, at=205)
    store = Store(path)
    totals = store.rule_totals()
    store.close()
    assert {row["rule"]: row["us"] for row in totals["rows"]} == {"fold": 40, "late": 10, "idle": 0}
    assert totals["untimed"] == {
        "us": 60 + 20 + 5,
        "passes": [
            {"pass": "outer", "us": 60},
            {"pass": "inner", "us": 20},
            {"pass": "empty", "us": 5},
        ],
    }
    assert main(["stats", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.split()[-2:] == ["idle", "outer"]] == ["-"]
    (rest,) = [line for line in lines if "outside matches" in line]
    assert rest.split()[0] == "85"
    assert main(["stats", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["untimed"] == totals["untimed"]


def test_times_of_a_real_run_add_up(recorded: tuple[Path, dict[tuple[str, str], int]]) -> None:
    path, _ = recorded
    store = Store(path)
    totals, rows = store.rule_totals(), store.tree()["rows"]
    store.close()
    timed = sum(row["us"] for row in totals["rows"])
    passes = 1000 * sum(row["ms"] for row in rows if row["kind"] == "rewrite")
    assert 0 < totals["untimed"]["us"] <= passes
    assert timed + totals["untimed"]["us"] <= passes * 1.01
    by_pass = {row["pass"]: row["us"] for row in totals["untimed"]["passes"]}
    assert {"tidy", "look"} <= by_pass.keys()


def test_two_processes_add_up(tmp_path: Path) -> None:
    for name, ended in (("t.viz", 1), ("t.p7.viz", 0)):
        with TraceWriter(tmp_path / name, {"run": "r", "process": {"main": name == "t.viz"}}) as t:
            x = t.node("const")
            fold = t.rule("fold", "f.py", 3)
            step = t.rewrite_begin("pass", x)
            if ended:
                t.match(step, fold, x, x, {}, 5)
            t.rewrite_end(step, x)
            t.visited("pass", t.rule_set([fold]), {"const": 10}, {})
    store = Store(tmp_path / "t.viz")
    totals = store.rule_totals()
    assert [row["tries"] for row in totals["rows"]] == [20]
    assert totals["silent"] == []
    store.close()


def test_damaged_and_hostile_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = ReadVisits()
    with pytest.raises(TraceError):
        visits.add_sets(1, RULE_SETS.pack(((3,), (1, 2))))
    with pytest.raises(TraceError):
        visits.add(VISITS.pack(((1,), (1,), (1,), (0,), ())))
    visits.add_sets(1, RULE_SETS.pack(((2,), (1, 2))))
    visits.add(VISITS.pack(((1, 1), (1, 9), (1, 1), (0, 0), (4, -4))))
    assert visits.tries(lambda _: None, str) == {(1, 1): 4, (1, 2): 4}
    monkeypatch.setattr("viz.read.visits.MAX_WORK", 3)
    visits.add(VISITS.pack(((1,), (1,), (2,), (0,), (4,))))
    with pytest.raises(TraceError):
        visits.tries(lambda _: None, str)


def test_more_visits_ended_than_began(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        first, second = t.rule("first"), t.rule("second")
        t.visited("p", t.rule_set([first, second]), {"x": 3}, {(first, "x"): 5})
    store = Store(tmp_path / "t.viz")
    (silent,) = store.rule_totals()["silent"]
    assert dict(zip(silent["id"], silent["tries"], strict=True)) == {first: 3, second: 0}
    store.close()


def test_what_took_too_long_is_said_and_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TraceWriter(tmp_path / "t.viz", {"run": "r"}) as t:
        t.visited("p", t.rule_set([t.rule("fold")]), {"x": 4}, {})
    asked: list[int] = []
    counting = ReadVisits.tries

    def noted(self: ReadVisits, *arguments: Any) -> Any:
        asked.append(1)
        return counting(self, *arguments)

    monkeypatch.setattr("viz.read.visits.MAX_WORK", 0)
    monkeypatch.setattr(ReadVisits, "tries", noted)
    store = Store(tmp_path / "t.viz")
    for _ in range(3):
        assert store.rule_totals()["silent"] == []
    assert len(asked) == 1
    assert "too many rules" in store.run()["problems"][0]["what"]
    store.close()


def test_ops_that_a_pattern_may_begin_with() -> None:
    assert root_ops({}) is root_ops(None) is root_ops({"op": []}) is root_ops({"op": "ADD"}) is None
    assert root_ops({"op": ["ADD", 3]}) == {"ADD"}
    assert root_ops({"anyOf": [{"op": ["ADD"]}, {"anyOf": [{"op": ["MUL"]}]}]}) == {"ADD", "MUL"}
    assert root_ops({"anyOf": [{"op": ["ADD"]}, {}]}) is None
    deep: dict[str, object] = {"op": ["ADD"]}
    for _ in range(1000):
        deep = {"anyOf": [deep]}
    assert root_ops(deep) is None
