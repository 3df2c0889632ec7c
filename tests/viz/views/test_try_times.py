"""How long tries took: from the engine through the trace to what is shown."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from pathlib import Path

import pytest

from core.dtype import dtypes
from core.errors import TraceError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite
from core.uop.engine.observe import NullObserver, context, observing
from core.uop.engine.visits import Visits
from tests.viz.samples import random_graph, rules
from viz.cli import main
from viz.format.blocks import TRIES
from viz.read.trytimes import TryTime, TryTimes
from viz.recording import transcribe
from viz.share.copy import write_trace
from viz.trace import Recorder
from viz.views.answers import PASS_RULES, RULE_PAGE
from viz.views.store import Store
from viz.write.events.trytimes import TryTimes as Written
from viz.write.writer import TraceWriter

never = PatternMatcher([(UPat(Ops.ADD, custom=lambda u: u.arg == 3), lambda: None)], name="never")
Times = dict[tuple[str, str], list[int]]


def inner(x: UOp) -> None:
    """A rule that looks at its node with a rewrite of its own, in vain."""
    graph_rewrite(x, never, name="look")


outer = PatternMatcher([(UPat(Ops.MAX, src=(UPat.var("x"), UPat())), inner)], name="outer")


class Spent(NullObserver):
    """Tries, and time in ns, of every rule by the name of the pass."""

    def __init__(self) -> None:
        self.found: Times = defaultdict(lambda: [0, 0])

    def visited(self, name: str, visits: Visits) -> None:
        for rule, spent in visits.spent.items():
            total = self.found[name, rule.name]
            total[0] += spent.tries
            total[1] += spent.ns


@pytest.fixture
def recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> tuple[Path, Times]:
    """A run; of single passes all is kept, or nothing."""
    monkeypatch.setattr(transcribe, "LEAST", getattr(request, "param", 0))
    recorder = Recorder(tmp_path / "t.viz").start()
    spent = Spent()
    with observing(spent):
        for seed in range(3):
            with context(f"k{seed}", "kernel"):
                graph_rewrite(random_graph(seed), rules, name="tidy")
                graph_rewrite(random_graph(seed), outer, name="outer")
            recorder.flush()
    recorder.close()
    return tmp_path / "t.viz", dict(spent.found)


def sums(store: Store) -> Times:
    """Tries and us by (pass, rule), of all passes together."""
    (process,) = store.processes
    file = process.file
    return {
        (name, file.rules[rule].name): [time.tries, time.us]
        for (name, rule), time in file.times_of_tries().items()
    }


def check(found: Times, expected: Times) -> None:
    """The times are kept in whole microseconds, in a row for each pass or flush."""
    assert found.keys() == expected.keys()
    for key, (tries, us) in found.items():
        assert tries == expected[key][0]
        assert abs(us - expected[key][1] / 1000) <= 4, key


EVERY, NONE = 0, 1 << 60


@pytest.mark.parametrize("recorded", [EVERY, NONE], indirect=True)
def test_the_trace_has_the_times_of_the_engine(recorded: tuple[Path, Times]) -> None:
    path, expected = recorded
    store = Store(path)
    check(sums(store), expected)
    assert any(name == "look" for name, _ in expected), "of rewrites that are not kept, too"
    totals = store.rule_totals()
    shown = {(row["pass"], row["rule"]): row for row in totals["rows"]}
    for key, row in shown.items():
        assert row["tryUs"] == sums(store)[key][1]
        assert row["functionUs"] <= row["tryUs"] or row["tryUs"] == 0
    assert all(len(one["us"]) == len(one["id"]) for one in totals["silent"])
    store.close()


def test_of_one_pass_and_of_one_rule(recorded: tuple[Path, Times]) -> None:
    path, expected = recorded
    store = Store(path)
    passes = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    tidy = [row["id"] for row in passes if row["name"] == "tidy"]
    tried: dict[str, int] = defaultdict(int)
    for number in tidy:
        made = store.ask(PASS_RULES, number)
        assert made["known"]
        times = [row["tryUs"] for row in made["rows"]]
        assert times == sorted(times, reverse=True)
        row = next(row for row in passes if row["id"] == number)
        assert sum(one["matches"] for one in made["rows"]) == row["steps"] > 0
        for one in made["rows"]:
            tried[one["rule"]] += one["tries"]
    assert dict(tried) == {rule: n for (name, rule), (n, _) in expected.items() if name == "tidy"}
    rule = max(store.rules(), key=lambda r: r["matches"])
    page = store.ask(RULE_PAGE, rule["id"])
    times = page["times"]
    assert set(times["rewrite"]) >= set(page["rewrite"])
    assert times["us"] == sorted(times["us"], reverse=True)
    assert sum(times["tries"]) == sum(n for (_, r), (n, _) in expected.items() if r == rule["name"])
    assert sum(one["tryUs"] for one in page["passes"]) == sum(times["us"])
    assert store.ask(PASS_RULES, 9_999) is None
    store.close()


def test_what_took_less_is_of_all_passes_of_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcribe, "LEAST", 1 << 60)
    recorder = Recorder(tmp_path / "t.viz").start()
    graph_rewrite(UOp.const(dtypes.int, 1) + 2, never, name="short")
    recorder.close()
    store = Store(tmp_path / "t.viz")
    ((rewrite, _, _, time),) = [*store.files[0].try_times]
    assert (rewrite, time.tries) == (0, 1)
    (row,) = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert store.ask(PASS_RULES, row["id"])["rows"] == []
    store.close()


def test_copies_keep_the_times(recorded: tuple[Path, Times], tmp_path: Path) -> None:
    path, _ = recorded
    store = Store(path)
    write_trace(store, tmp_path / "copy.viz")
    kernel = store.kernels()[1]
    write_trace(store, tmp_path / "part.viz", kernels=[kernel])
    whole = sums(store)
    store.close()
    for name in ("copy", "part"):
        copy = Store(tmp_path / f"{name}.viz")
        assert sums(copy) == whole, "as all counts, those of what is left out, by name"
        left = {rewrite for rewrite, _, _, _ in copy.files[0].try_times}
        assert left - {0} <= copy.files[0].rewrites.keys()
        copy.close()


def test_commands(recorded: tuple[Path, Times], capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = recorded

    def said(*arguments: str) -> str:
        assert main(["stats", str(path), *arguments]) == 0
        return capsys.readouterr().out

    rows = json.loads(said("--by", "matches", "--json"))["rules"]
    times = [row["us"] for row in rows]
    assert times == sorted(times, reverse=True)
    assert "trying" in said()
    of_pass = json.loads(said("--kernel", "k1", "--pass", "tidy", "--json"))
    assert of_pass["pass"] == "tidy"
    one = of_pass["rows"][0]
    assert f"{one['tries']:,}" in said("--kernel", "k1", "--pass", "tidy")
    text = said("--rule", one["rule"])
    assert "tidy" in text
    assert "3 passes" in text
    alone = json.loads(said("--rule", one["rule"], "--kernel", "k1", "--pass", "tidy", "--json"))
    assert alone["rows"] == [one]


def told_by_hand(path: Path, *, timed: bool) -> None:
    """Two passes in which a rule that never matches costs most, and one is never tried long."""
    with TraceWriter(path, {}) as t:
        x = t.node("const")
        fold, vain, brief = (t.rule(name, "f.py", at) for at, name in enumerate(RANKED, 3))
        for _ in range(2):
            step = t.rewrite_begin("pass", x, at=0)
            t.match(step, fold, x, x, {}, 5_000)
            t.match(step, brief, x, x, {}, 1_000)
            t.rewrite_end(step, x, at=100)
            if timed:
                t.tried(step, fold, 3, 7_000, 5_000)
                t.tried(step, vain, 8, 20_000)
                t.tried(step, brief, 1, 2_000, 1_000)
        t.visited("pass", t.rule_set([fold, vain, brief]), {"const": 8}, {})


RANKED = "fold", "vain", "brief"


@pytest.mark.parametrize("timed", [True, False])
def test_every_list_ranks_rules_by_all_that_they_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], timed: bool
) -> None:
    """The overview of the page and of the terminal, and the statistics: tries that never match
    count; of a trace that does not know tries, matches do."""
    path = tmp_path / "t.viz"
    told_by_hand(path, timed=timed)
    ranked = ["vain", "fold", "brief"] if timed else ["fold", "brief"]
    cost = {"vain": 40, "fold": 14, "brief": 4} if timed else {"fold": 10, "brief": 2}
    store = Store(path)
    listed = store.overview()["rules"]
    assert [(rule["name"], rule["us"]) for rule in listed] == [(n, cost[n]) for n in ranked]
    assert [rule["tries"] is None for rule in listed] == [not timed] * len(ranked)
    assert listed[0]["share"] == pytest.approx(cost[ranked[0]] / 200)
    totals = store.rule_totals()
    assert [row["cost"] for row in totals["rows"]] == [cost["fold"], cost["brief"]]
    store.close()
    for command in (["show"], ["stats"]):
        assert main([*command, str(path), "--json"]) == 0
        rules = json.loads(capsys.readouterr().out)["rules"]
        assert [row["rule"] for row in rules] == ranked, command
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.split("Costliest rules")[1].splitlines()[2:]
    assert [line.split()[-2] for line in lines[: len(ranked)]] == ranked
    assert main(["stats", str(path), "--json"]) == 0
    never = json.loads(capsys.readouterr().out)["neverMatched"]
    assert [(row["rule"], row["tries"]) for row in never] == [("vain", 8)]


def test_traces_without_times_say_so(
    recorded: tuple[Path, Times], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = recorded
    db = sqlite3.connect(path)
    with db:
        db.execute("DELETE FROM blocks WHERE kind = 15")
    db.close()
    store = Store(path)
    totals = store.rule_totals()
    assert {row["tryUs"] for row in totals["rows"]} == {None}
    assert {one["us"] for one in totals["silent"]} <= {None}
    rule = max(store.rules(), key=lambda r: r["matches"])
    assert store.ask(RULE_PAGE, rule["id"])["times"] is None
    store.close()
    assert main(["stats", str(path), "--rule", rule["name"]]) == 0
    assert "does not say how long tries took" in capsys.readouterr().out
    assert main(["stats", str(path), "--pass", "tidy#1"]) == 0
    assert "does not say how long tries took" in capsys.readouterr().out


def test_other_compilers_tell_them(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        x = t.node("const")
        fold = t.rule("fold", "f.cc", 3)
        step = t.rewrite_begin("pass", x)
        t.match(step, fold, x, x, {}, 5_000)
        t.tried(step, fold, 3, 7_000, 5_000)
        t.flush()
        t.tried(step, fold, 1, 2_000)
        t.tried(0, fold, 10, 1_000, name="pass")
        t.rewrite_end(step, x)
    store = Store(tmp_path / "t.viz")
    (row,) = store.rule_totals()["rows"]
    assert (row["tryUs"], row["functionUs"]) == (10, 5)
    (one,) = store.ask(PASS_RULES, step)["rows"]
    assert (one["tries"], one["tryUs"], one["functionUs"], one["matches"]) == (4, 9, 5, 1)
    assert store.rule_times(fold) == {
        "rewrite": [step],
        "tries": [4],
        "us": [9],
        "functionUs": [5],
        "leftOut": 0,
    }
    store.close()


def test_damaged_and_hostile_times() -> None:
    times = TryTimes()
    with pytest.raises(TraceError):
        times.add(TRIES.pack(((1,), (0,), (1,), (1,), (1,), ())))
    assert not times.known
    high = (1 << 62) + 1
    times.add(TRIES.pack(((1, 1), (0, 0), (2, 3), (high, -1), (5, -7), (9, high))))
    assert times.of(1) == {2: TryTime(1 << 36, 5, 5), 3: TryTime(0, 0, 0)}
    assert times.sums(lambda _: None, str) == {}
    assert times.of_rule(2) == {1: TryTime(1 << 36, 5, 5)}


def test_rows_are_joined_when_they_are_written() -> None:
    written = Written()
    for rewrite in (2, 1, 2):
        written.add(rewrite, 0, 7, 1, 400, 300)
    taken = written.take()
    (block,) = taken.blocks
    assert TRIES.rows(block.data, 8) == [(1, 0, 7, 1, 0, 0), (2, 0, 7, 2, 1, 1)]
    assert written.take().blocks == [block], "it is not known to be in the file"
    taken.forget()
    assert written.take().blocks == []
