"""The first difference is the first: held against the engine's own graphs, step by step."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.uop.uop import UOp
from tests.viz.compare.made import RULES, Made, Pass, program, record
from viz.compare.comparison import Comparison
from viz.views.store import Store

PAIRS = 40


def first_of(a: list[Pass], b: list[Pass]) -> tuple[int, int | None, int | None] | None:
    """Which pass, and which step of both, by the engine's graphs."""
    for at, (one, other) in enumerate(zip(a, b, strict=True)):
        if one.sink is not other.sink:
            return at, None, None
        graphs = zip(one.graphs()[1:], other.graphs()[1:], strict=False)
        rules = zip((s[0] for s in one.steps), (s[0] for s in other.steps), strict=False)
        for step, ((left, right), (was, now)) in enumerate(zip(graphs, rules, strict=False), 1):
            if left is not right or was != now:
                return at, step, step
        count_a, count_b = len(one.steps), len(other.steps)
        if count_a != count_b:
            step = min(count_a, count_b) + 1
            return at, step if step <= count_a else None, step if step <= count_b else None
    return None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["rule off", "order of rules"])
def test_the_first_difference_is_that_of_the_engines_graphs(tmp_path: Path, kind: str) -> None:
    checked = 0
    for seed in range(PAIRS):
        choose = random.Random(seed)
        before = program(seed, kernels=2)
        off = choose.choice(RULES)
        rules = (
            tuple(rule for rule in RULES if rule is not off)
            if kind == "rule off"
            else tuple(choose.sample(RULES, len(RULES)))
        )
        graphs: dict[int, UOp] = {}
        a = record(before, tmp_path / f"a{seed}.viz", graphs)
        b = record(replace(before, rules=rules), tmp_path / f"b{seed}.viz", graphs)
        checked += _check(a, b, f"{kind}, seed {seed}")
    assert checked >= 4, "kernels that differ"


def _check(a: Made, b: Made, said: str) -> int:
    stores = Store(a.path), Store(b.path)
    comparison = Comparison(*stores)
    checked = 0
    for scope in comparison.overview()["scopes"]:
        name = scope["name"]["b"]
        expected = first_of(a.truth.kernels[name], b.truth.kernels[name])
        first: dict[str, Any] | None = scope["first"]
        if expected is None:
            assert first is None and scope["state"] == "equal", said
            continue
        assert first is not None, said
        at, step_a, step_b = expected
        assert first["pass"] == ("first", "again")[at], said
        assert (first["stepA"], first["stepB"]) == (step_a, step_b), said
        passes = comparison.scopes(scope["a"], scope["b"])
        assert passes is not None
        pair = passes["passes"][at]
        assert pair["first"] == {"stepA": step_a, "stepB": step_b}, said
        assert (pair["a"], pair["b"]) == (first["a"], first["b"])
        _check_node(a, b, name, at, first)
        checked += 1
    for store in stores:
        store.close()
    return checked


def _check_node(a: Made, b: Made, name: str, at: int, first: dict[str, Any]) -> None:
    """The node and the rules are those of the step."""
    for side, step in ((a, first["stepA"]), (b, first["stepB"])):
        if step is not None:
            before = side.truth.kernels[name][at].steps[step - 1][1]
            assert first["node"] == f"{before.op.name} {before.dtype}"
            return


def test_steps_go_together_as_far_as_both_have_them(tmp_path: Path) -> None:
    before = program(3, kernels=3)
    graphs: dict[int, UOp] = {}
    a = record(before, tmp_path / "a.viz", graphs)
    b = record(replace(before, rules=RULES[1:]), tmp_path / "b.viz", graphs)
    stores = Store(a.path), Store(b.path)
    comparison = Comparison(*stores)
    aligned = 0
    for scope in comparison.overview()["scopes"]:
        passes = comparison.scopes(scope["a"], scope["b"])
        assert passes is not None
        for pair in passes["passes"]:
            made = comparison.passes(pair["a"], pair["b"])
            assert made is not None
            steps_a = [row[0] for row in made["steps"] if row[0]]
            steps_b = [row[1] for row in made["steps"] if row[1]]
            assert steps_a == [*range(1, pair["stepsA"] + 1)]
            assert steps_b == [*range(1, pair["stepsB"] + 1)]
            names = [stores[i].rule_name for i in (0, 1)]
            bundles = [stores[0].bundle(pair["a"]), stores[1].bundle(pair["b"])]
            assert bundles[0] is not None and bundles[1] is not None
            for (i, j), equal in zip(made["steps"], made["equal"], strict=True):
                if i and j:
                    aligned += 1
                    rule_a, rule_b = bundles[0]["steps"][i - 1], bundles[1]["steps"][j - 1]
                    assert names[0](rule_a["rule"]) == names[1](rule_b["rule"])
                assert not equal or (i and j)
            assert made["equal"].count(True) == pair["same"]
            counts = made["ofSteps"]
            assert counts["both"] + counts["onlyA"] == pair["stepsA"]
            assert counts["both"] + counts["onlyB"] == pair["stepsB"]
            _check_slots(bundles, made)
    assert aligned > 20
    for store in stores:
        store.close()


def _check_slots(bundles: list[Any], made: dict[str, Any]) -> None:
    """Each slot is in one pair, and what both hold at first has one op."""
    for side in (0, 1):
        slots = [pair[side] for pair in made["slots"]]
        assert len(slots) == len(set(slots))
        assert all(0 <= slot < bundles[side]["slots"] for slot in slots)
    firsts = [_first_contents(bundle) for bundle in bundles]
    same = [
        firsts[0][slot_a] == firsts[1][slot_b]
        for slot_a, slot_b in made["slots"]
        if slot_a in firsts[0] and slot_b in firsts[1]
    ]
    assert all(same) or not made["steps"]


def _first_contents(bundle: dict[str, Any]) -> dict[int, str]:
    initial, nodes = bundle["initial"], bundle["nodes"]
    return {
        slot: bundle["ops"][nodes["op"][node]]
        for slot, node in zip(initial["slot"], initial["node"], strict=True)
    }


def test_a_pass_that_is_equal_has_every_slot_paired_with_its_like(tmp_path: Path) -> None:
    one = program(5, kernels=1)
    a, b = (record(one, tmp_path / f"{name}.viz") for name in "ab")
    stores = Store(a.path), Store(b.path)
    comparison = Comparison(*stores)
    (scope,) = comparison.overview()["scopes"]
    passes = comparison.scopes(scope["a"], scope["b"])
    assert passes is not None
    for pair in passes["passes"]:
        made = comparison.passes(pair["a"], pair["b"])
        bundle = stores[0].bundle(pair["a"])
        assert made is not None and bundle is not None
        shown = set(bundle["initial"]["slot"])
        shown |= {slot for step in bundle["steps"] for slot, _, _ in step["set"]}
        assert dict(made["slots"]).keys() == shown
        assert all(a == b for a, b in made["slots"])
    for store in stores:
        store.close()


def test_a_pass_of_one_side_alone_has_gaps(tmp_path: Path) -> None:
    made = record(program(1, kernels=1), tmp_path / "a.viz")
    stores = Store(made.path), Store(made.path)
    comparison = Comparison(*stores)
    rows = [row for row in stores[0].tree()["rows"] if row["kind"] == "rewrite" and row["steps"]]
    only_a = comparison.passes(rows[0]["id"], 0)
    only_b = comparison.passes(0, rows[0]["id"])
    assert only_a is not None and only_b is not None
    steps = range(1, rows[0]["steps"] + 1)
    assert only_a["steps"] == [(n, 0) for n in steps]
    assert only_b["steps"] == [(0, n) for n in steps]
    assert only_a["ofSteps"] == {"onlyA": len(steps), "onlyB": 0, "both": 0}
    assert comparison.passes(0, 0) is None
    assert comparison.passes(10**9 + 7, 0) is None
    assert comparison.scopes(0, 0) is None and comparison.scopes(10**12, 0) is None
    assert comparison.sources(0, 0, "ptx", "") is None
    removed = comparison.scopes(stores[0].kernels()[0], 0)
    assert removed is not None
    assert {one["state"] for one in removed["passes"]} == {"removed"}
    assert list(itertools.chain(*(s.values() for s in only_a["rules"])))
    for store in stores:
        store.close()
