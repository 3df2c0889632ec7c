"""Why a rule did not fire: the answers agree with what the engine did."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.viz.why.engine import Pass, record
from viz.coredialect.facts import core_facts
from viz.views.answers import RULE_PAGE
from viz.views.store import Store
from viz.why.answers import NEAR_MISSES, WHY_ANSWERS, WHY_DECLINED, WHY_NOT
from viz.why.fit import Fit, Fitter
from viz.why.reason import Reason, reason
from viz.why.rules.declining import Line, declining_line, takes_context
from viz.why.rules.installed import Installed
from viz.why.subject import Subject
from viz.why.worker import decline_job


@dataclass
class Run:
    store: Store
    passes: dict[int, Pass]
    """By number, those that have a row."""
    path: Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    path = tmp_path_factory.mktemp("why") / "run.viz"
    with pytest.MonkeyPatch.context() as patch:
        watch = record(path, patch)
    store = Store(path)
    (process,) = store.processes
    found: dict[int, Pass] = {}
    left = watch.passes
    for number, rewrite in process.file.rewrites.items():
        sink = core_facts(process).uop(rewrite.sink)
        known = next(p for p in left if p.name == rewrite.name and p.sink is sink)
        left = left[left.index(known) + 1 :]
        found[number] = known
    yield Run(store, found, path)
    store.close()


@functools.cache
def compiled(rule: Rule) -> PatternMatcher:
    def found(**binds: UOp) -> str:
        return "found"

    return PatternMatcher([Rule(rule.pattern, found, rule.name)])


def finds(rule: Rule, node: UOp) -> bool:
    """Whether the compiled matcher finds a match."""
    return compiled(rule).rewrite(node) is not None


def expected(of: Pass, node: UOp, rule: Rule) -> str:
    """What the engine did with a rule at a node."""
    matcher = next((m for m in of.matchers if rule in m.rules), None)
    if matcher is None:
        return "not in pass"
    offered = {u for m, u in of.offered if m is matcher}
    at = next((u for u in (node, of.rebuilt.get(node)) if u in offered), None)
    if any(of.matched.get(u) is rule for u in (node, at) if u is not None):
        return "fired"
    if at is None:
        return "not reached"
    if not finds(rule, at):
        return "pattern"
    if (rule, at) in of.declined:
        return "declined"
    if at is of.failed:
        return "raised"
    return "overtaken" if at in of.matched else "not reached"


def rules_by_place(of: Pass) -> dict[tuple[str, int, str], Rule]:
    return {(r.file, r.line, r.name): r for m in of.matchers for r in m.rules}


def test_the_walk_comes_to_what_the_engine_offered(run: Run) -> None:
    for number, of in run.passes.items():
        subject = Subject(run.store, number)
        walked, uop = subject.walked, core_facts(subject.process).uop
        if not of.matchers:  # a substitution
            assert walked is None
            continue
        assert walked is not None, of.name
        came = {uop(node) for node in (*walked.first, *walked.then)}
        offered = {node for _, node in of.offered}
        assert offered == came, of.name


def test_answers_are_what_the_engine_did(run: Run) -> None:
    seed = 3
    choose = random.Random(seed)
    kinds: Counter[str] = Counter()
    for number, of in run.passes.items():
        subject = Subject(run.store, number)
        process, known = subject.process, rules_by_place(of)
        local = {
            n: known[r.file, r.line, r.name]
            for n, r in process.file.rules.items()
            if (r.file, r.line, r.name) in known
        }
        if not local:
            continue
        busy = [*subject.hits, *(node for _, _, node in subject.events.declines)]
        among = [*sorted(subject.members), *3 * busy]
        pairs = {(choose.choice(among), choose.choice([*local])) for _ in range(15)}
        pairs |= {(node, rule) for _, rule, node in subject.events.declines[:5]}
        pairs |= {(hit.before, choose.choice([*local])) for hit in subject.hits.values()}
        pairs |= {(hit.before, hit.rule) for hit in [*subject.hits.values()][:5]}
        if len(local) < 12:
            pairs |= {(hit.before, rule) for hit in subject.hits.values() for rule in local}
        for node, rule in pairs:
            uop = core_facts(process).uop(node)
            assert uop is not None
            found = reason(subject, node, [rule])
            wanted = expected(of, uop, local[rule])
            kinds[wanted] += 1
            where = f"seed {seed}: {of.name} u{node} {local[rule].name}: {found.said}"
            assert found.kind == wanted, where
    assert sum(kinds.values()) > 800
    del kinds["raised"]  # of one node, which need not be drawn
    assert kinds.keys() == {"fired", "declined", "overtaken", "pattern", "not reached"}
    assert min(kinds.values()) >= 10, kinds


def conditions(pattern: UPat) -> bool:
    """Whether a pattern has what is not recorded."""
    inner = (*pattern.children(), *pattern.alternatives)
    return bool(pattern.custom or pattern.early_reject) or any(map(conditions, inner))


def test_recorded_patterns_fit_where_the_compiled_matcher_finds_a_match(run: Run) -> None:
    fits = fails = 0
    for number, of in run.passes.items():
        subject = Subject(run.store, number)
        process, known = subject.process, rules_by_place(of)
        foreign = Fitter(process, own=False, installed=Installed())
        nodes = sorted(subject.members)[:: max(1, len(subject.members) // 6)]
        for rule in [*subject.order][:30]:
            record = process.file.rules[rule]
            own = known[record.file, record.line, record.name]
            for node in dict.fromkeys((*nodes, *(h.before for h in subject.hits.values()))):
                fit, uop = foreign.fit(rule, node), core_facts(process).uop(node)
                assert isinstance(fit, Fit) and uop is not None
                found = finds(own, uop)
                assert fit.fits == found or (fit.fits and conditions(own.pattern)), (
                    f"{own.name} at u{node} in {of.name}: {fit}"
                )
                fits, fails = fits + fit.fits, fails + (not fit.fits)
    assert fits > 100
    assert fails > 1000


def test_a_rule_of_another_pass(run: Run) -> None:
    number = next(n for n, p in run.passes.items() if p.name == "lower")
    subject = Subject(run.store, number)
    other = next(n for n, r in subject.file.rules.items() if r.name == "movement_to_view")
    found = reason(subject, subject.rewrite.sink, [other])
    assert found.kind == "not in pass"
    assert "views" in found.passes
    assert found.said.startswith("movement_to_view is not among the rules of lower")


def run_pass(run: Run, name: str) -> Pass:
    return next(p for p in run.passes.values() if p.name == name)


def rules_by_name(run: Run, name: str) -> dict[str, Rule]:
    return {r.name: r for m in run_pass(run, name).matchers for r in m.rules}


def named(run: Run, name: str) -> Subject:
    return Subject(run.store, next(n for n, p in run.passes.items() if p.name == name))


def test_nodes_of_other_passes(run: Run) -> None:
    views, lower = named(run, "views"), named(run, "lower")
    rule = next(iter(views.order))
    made = next(h.after for h in lower.hits.values() if h.after not in views.members)
    found = reason(views, made, [rule])
    assert found.kind == "not there"
    assert found.by is None or found.by.later
    hit = next(iter(views.hits.values()))
    group = named(run, "kernelize")
    found = reason(group, hit.before, [next(iter(group.order))])
    assert found.kind == "not there"
    assert found.by is not None
    assert f"replaced at step {hit.step} of views by {views.rule_name(hit.rule)}" in found.said
    later = next(h for h in group.hits.values() if h.after not in views.members)
    found = reason(views, later.after, [rule])
    assert found.kind == "not there"
    assert f"did not exist yet: made at step {later.step} of kernelize" in found.said


def test_a_node_that_was_gone_before_it_was_reached(run: Run) -> None:
    found: list[Reason] = []
    for number, of in run.passes.items():
        subject = Subject(run.store, number)
        if of.name == "up":
            rule = next(iter(subject.order))
            found += [reason(subject, node, [rule]) for node in sorted(subject.members)]
    gone = [one for one in found if one.kind == "not reached"]
    assert gone
    assert any(one.by is not None and "gone before it was reached" in one.said for one in gone)


def test_a_pass_that_failed(run: Run) -> None:
    subject = named(run, "failing")
    assert subject.walked is not None
    assert subject.walked.stopped
    rule = next(n for n in subject.order if subject.rule_name(n) == "add_zero")
    sink = reason(subject, subject.rewrite.sink, [rule])
    assert (sink.kind, "the pass ended before it came to" in sink.said) == ("not reached", True)
    error = subject.rewrite.error
    assert error is not None
    failed = reason(subject, error["node"], [error["rule"]])
    assert failed.kind == "raised"
    assert failed.said.startswith(f"the function of refused failed at u{error['node']}: ")


def test_declines_that_were_not_kept(run: Run) -> None:
    subject = named(run, "many")
    kept = {node for _, _, node in subject.events.declines}
    rule = subject.events.declines[0][1]
    uop = core_facts(subject.process).uop
    others = {
        node
        for node in subject.members - kept
        if (rules_by_name(run, "many")["double"], uop(node)) in run_pass(run, "many").declined
    }
    assert len(others) == 80 - 64
    for node in others:
        found = reason(subject, node, [rule])
        assert found.kind == "declined"
        assert "only the first 64 are kept" in found.said


def test_near_misses_are_the_tries_that_fail(run: Run) -> None:
    (process,) = run.store.processes
    file = process.file
    names = Counter(p.name for p in run.passes.values())
    looked = 0
    for number, of in run.passes.items():
        if names[of.name] > 1:
            continue
        subject = Subject(run.store, number)
        tries = {r: n for (name, r), n in file.tries().items() if file.name(name) == of.name}
        for rule in [*subject.order][:12]:
            found = run.store.ask(NEAR_MISSES, number, process.rule(rule))
            assert found["inPass"]
            assert found["tried"] == tries[rule], f"{subject.rule_name(rule)} in {of.name}"
            assert found["tried"] == found["fitting"] + found["missed"]
            parts = [row["fitted"] for row in found["rows"]]
            assert parts == sorted(parts, reverse=True)
            assert all(not row["pattern"]["fits"] for row in found["rows"])
            assert found["leftOut"] is None
            looked += len(parts)
    assert looked > 30


def test_a_function_that_declined_is_called_again(run: Run) -> None:
    subject, rule, node = declined(run, "return None", "views")
    said = run.store.ask(WHY_NOT, subject.number, node, subject.process.rule(rule))
    assert (said["kind"], said["line"], said["notCalled"]) == ("declined", None, None)
    said = run.store.ask(WHY_DECLINED, subject.number, node, subject.process.rule(rule))
    assert said["notCalled"] is None
    assert said["line"]["text"].startswith("return")
    record = subject.file.rules[rule]
    assert said["line"]["file"].endswith(record.file.rpartition("core/")[2])
    assert record.line < said["line"]["line"] < record.line + 40
    names = {one["name"] for one in said["pattern"]["binds"]}
    assert {one["name"] for one in said["line"]["binds"]} == names
    for value in said["line"]["values"]:
        assert value["name"] in said["line"]["text"]


def declined(run: Run, text: str, name: str) -> tuple[Subject, int, int]:
    """A decline of an installed rule that needs no context."""
    subject = named(run, name)
    for _, rule, node in subject.events.declines:
        found, _ = subject.fitter.rule(rule)
        if found is not None and "ctx" not in found.variants[0].call.parameters:
            source = str(subject.file.rules[rule].texts["source"])
            if text in source:
                return subject, rule, node
    raise AssertionError("nothing declined")


def test_what_is_not_the_installed_rule_is_never_called(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def called(module: str, stderr: int) -> None:
        pytest.fail("it was called")

    monkeypatch.setattr("viz.why.rules.declining.child.start", called)
    subject, rule, node = declined(run, "return None", "views")
    record = subject.file.rules[rule]
    number = subject.process.rule(rule)
    for field, other in (
        ("source", str(record.texts["source"]).replace("None", "0")),
        ("pattern", {**record.texts["pattern"], "name": "other"}),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(record.texts, field, other)
            said = run.store.ask(WHY_DECLINED, subject.number, node, number)
            assert said["kind"] == "declined"
            assert said["line"] is None
            assert said["notCalled"].startswith("its function is not called again: ")
    planted = named(run, "down")
    _, rule, node = planted.events.declines[0]
    said = run.store.ask(WHY_DECLINED, planted.number, node, planted.process.rule(rule))
    assert "not a rule of this installation" in said["notCalled"]
    assert not said["pattern"]["installed"]


def test_a_function_that_takes_what_its_pass_hands_to_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(request: dict[str, Any]) -> dict[str, Any]:
        return decline_job(request)  # in this process: there are many

    monkeypatch.setattr("viz.why.worker.limit_files", lambda _: None)
    monkeypatch.setattr("viz.why.rules.declining.ask_worker", asked)
    called: Counter[str] = Counter()
    for number, of in run.passes.items():
        subject = Subject(run.store, number)
        for _, rule, node in subject.events.declines:
            found, _ = subject.fitter.rule(rule)
            if found is None or not takes_context(found) or called[found.name] == 2:
                continue
            line = declining_line(subject, rule, node)
            assert isinstance(line, Line), f"{of.name} {found.name}: {line}"
            own = [*range(found.line, found.line + found.source.count("\n") + 1)]
            assert line.file == found.file
            assert line.line in own
            ctx = dict(line.values).get("ctx", "")
            assert ctx != "None", found.name  # the pass hands something to it
            called[found.name] += 1
    assert {"narrow_arithmetic", "load_runs", "store_group"} <= called.keys()
    assert sum(called.values()) > 15


def test_the_page_of_a_rule(run: Run) -> None:
    rule = next(row for row in run.store.rules() if row["name"] == "index_elementwise")
    page = run.store.ask(RULE_PAGE, rule["id"])
    assert page["rule"]["name"] == "index_elementwise"
    assert sum(page["matches"]) == rule["matches"] == sum(p["matches"] for p in page["passes"])
    assert page["passes"][0]["tries"] >= page["passes"][0]["matches"] > 0
    assert page["rewrite"] == sorted(page["rewrite"])
    assert page["done"]
    assert run.store.ask(RULE_PAGE, 9_999) is None


def test_answers_are_named_as_the_page_will_ask_for_them() -> None:
    paths = {answer.at(*range(1, 1 + len(answer.parameters))) for answer in WHY_ANSWERS}
    assert paths == {
        "/why-not/1?node=2&rule=3",
        "/rules-at/1?node=2",
        "/near-misses/1?rule=2",
    }
