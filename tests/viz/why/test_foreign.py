"""Runs of other compilers, and hostile ones: recorded patterns alone, no code, bounded cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import viz
from core.errors import BudgetError, TraceError
from tests.effort import at_most
from viz.budget import Budget, within
from viz.views.store import Store
from viz.why.answers import NEAR_MISSES, WHY_DECLINED, WHY_NOT

ANY: dict[str, Any] = {"op": [], "dtype": [], "name": None, "arg": None, "src": {"kind": "any"}}


def pat(*of: dict[str, Any], kind: str = "ordered", **fields: Any) -> dict[str, Any]:
    """A recorded pattern."""
    src = {"kind": kind, "of": list(of)} if of else {"kind": "any"}
    return {**ANY, "src": src, **fields}


def zero(name: str | None = None) -> dict[str, Any]:
    return pat(op=["const"], arg="0", name=name)


class Planted:
    """A run of another compiler with a node of each kind."""

    def __init__(self, path: Path) -> None:
        with viz.TraceWriter(path, {"command": ["mycc"]}) as t:
            kernel = t.context_begin("kernel a", "kernel")
            self.load = t.node("load", "i32", arg='"a"')
            self.zero, self.two = t.node("const", "i32", arg="0"), t.node("const", "i32", arg="2")
            self.add = t.node("add", "i32", (self.load, self.zero))
            self.mul = t.node("mul", "f32", (self.add, self.two))
            self.other = t.node("add", "i32", (self.two, self.load))
            ret = t.node("ret", "void", (self.mul, self.other))
            x = pat(name="%x")
            self.add_zero = self._rule(t, "add_zero", pat(x, zero(), op=["add"], kind="permuted"))
            self.add_any = self._rule(t, "add_any", pat(x, pat(), op=["add"]))
            self.ints = self._rule(t, "ints", pat(x, pat(), op=["mul"], dtype=["i32"]))
            self.twice = self._rule(t, "twice", pat(x, x, op=["add", "mul"]))
            self.lone = self._rule(t, "lone", zero())
            self.adds = self._rule(t, "adds", pat(op=["add", "mul"], among=["add"]))
            self.unheard = self._rule(t, "unheard", pat(op=["ret"]))
            self.rewrite = t.rewrite_begin("peephole", sink=ret, context=kernel)
            t.match(self.rewrite, self.add_zero, self.add, self.load, {"%x": self.load}, 1)
            mul2 = t.node("mul", "f32", (self.load, self.two))
            t.rebuild(self.rewrite, self.mul, mul2)
            t.decline(self.rewrite, self.add_any, self.other)
            ret2 = t.node("ret", "void", (mul2, self.other))
            t.rebuild(self.rewrite, ret, ret2)
            t.rewrite_end(self.rewrite, ret2, nodes=4)
            ran = [self.add_zero, self.add_any, self.ints, self.twice, self.lone, self.adds]
            t.visited(
                "peephole", t.rule_set(ran), {"add": 2, "mul": 1}, {(self.add_zero, "add"): 1}
            )
            t.context_end(kernel)
        self.store = Store(path)

    def _rule(self, t: Any, name: str, pattern: dict[str, Any]) -> int:
        return int(t.rule(name, "rules.cc", 12, matcher="peephole", pattern=pattern))

    def ask(self, node: int, rule: int) -> dict[str, Any]:
        return self.store.ask(WHY_DECLINED, self.rewrite, node, rule)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    made = Planted(tmp_path_factory.mktemp("foreign") / "mycc.viz")
    yield made
    made.store.close()


def test_a_rule_without_a_pattern_fits_nothing(tmp_path: Path) -> None:
    """Other compilers need not tell patterns: that is said, and none is made up."""
    with viz.TraceWriter(tmp_path / "mycc.viz", {"command": ["mycc"]}) as t:
        load = t.node("load", "i32")
        add = t.node("add", "i32", (load, load))
        rule = t.rule("untold", "rules.cc", 12)
        rewrite = t.rewrite_begin("peephole", sink=add)
        t.match(rewrite, rule, add, load, {}, 1)
        t.rewrite_end(rewrite, load)
    store = Store(tmp_path / "mycc.viz")
    said = store.ask(WHY_DECLINED, rewrite, load, rule)
    assert (said["kind"], said["pattern"]) == ("unknown", None)
    assert "the trace has no pattern of this rule" in said["said"]
    misses = store.ask(NEAR_MISSES, rewrite, rule)
    assert (misses["fitting"], misses["rows"]) == (0, [])
    assert misses["leftOut"] == "the trace has no pattern of this rule"
    store.close()


def test_each_kind_of_answer(planted: Planted) -> None:
    p = planted
    said = p.ask(p.add, p.add_zero)
    assert (said["kind"], said["by"]["step"]) == ("fired", 1)
    said = p.ask(p.add, p.add_any)
    assert (said["kind"], said["by"]["name"]) == ("overtaken", "add_zero")
    assert said["said"] == (
        "add_zero came first, at step 1: it is rule 1 of 6 in this pass, add_any is 2"
    )
    said = p.ask(p.other, p.add_any)
    assert said["kind"] == "declined"
    assert said["notCalled"] == ("its function is not called again: the run is another compiler's")
    assert said["pattern"]["binds"] == [{"name": "%x", "node": p.two, "text": "const() i32 2"}]
    said = p.ask(p.load, p.unheard)
    assert (said["kind"], said["passes"]) == ("not in pass", [])


def test_where_recorded_patterns_fail(planted: Planted) -> None:
    p = planted
    for node, rule, kind, path, at, expected, found in (
        (p.load, p.add_zero, "op", [], p.load, "add", "load"),
        (p.other, p.add_zero, "argument", [1], p.two, "0", "2"),
        (p.two, p.lone, "argument", [], p.two, "0", "2"),
        (p.mul, p.ints, "dtype", [], p.mul, "i32", "f32"),
        (p.add, p.adds, "among", [], p.add, "add among the sources", "2: load, const"),
        (p.other, p.twice, "name", [1], p.load, "the same node as %x: ", "load() arg='a' i32"),
    ):
        said = p.ask(node, rule)
        assert said["kind"] == "pattern", said
        bad = said["pattern"]["misfit"]
        assert (bad["kind"], bad["path"], bad["node"]) == (kind, path, at), said
        assert bad["expected"].startswith(expected)
        assert bad["found"] == found
        assert not said["pattern"]["installed"]


def test_what_a_trace_does_not_say_is_unknown(planted: Planted) -> None:
    said = planted.ask(planted.mul, planted.twice)
    assert said["kind"] == "pattern"
    said = planted.ask(planted.mul, planted.add_any)
    assert said["kind"] == "pattern"
    misses = planted.store.ask(NEAR_MISSES, planted.rewrite, planted.add_zero)
    assert not misses["known"]
    assert [row["node"] for row in misses["rows"]] == [planted.other]
    assert misses["rows"][0]["fitted"] == 2


def test_numbers_that_nothing_has(planted: Planted) -> None:
    for numbers, what in (
        ((planted.rewrite, 99, 1), "no node u99"),
        ((planted.rewrite, 0, 1), "no node u0"),
        ((planted.rewrite, 1, 99), "no rule 99"),
    ):
        with pytest.raises(TraceError, match=what):
            planted.store.ask(WHY_NOT, *numbers)
    for rewrite in (0, 1, 99, 5_000_000_000):  # 1 is a context
        assert planted.store.ask(WHY_NOT, rewrite, 1, 1) is None
        assert planted.store.ask(NEAR_MISSES, rewrite, 1) is None


def deep(levels: int) -> dict[str, Any]:
    made = pat(op=["const"])
    for _ in range(levels):
        made = pat(made, op=["x"])
    return made


def chosen(levels: int) -> dict[str, Any]:
    """A pattern of 4 ** levels variants and few parts."""
    one = {**ANY, "anyOf": [pat(op=["const"], arg=str(i)) for i in range(4)]}
    return pat(*[one] * levels, op=["wide"])


HOSTILE: dict[str, Any] = {
    "orders": pat(*[pat(op=["never"])] * 12, op=["wide"], kind="permuted"),
    "orders within orders": pat(
        *[pat(*[pat(*[pat(op=["n"])] * 6, kind="permuted")] * 6, kind="permuted")] * 6,
        kind="permuted",
        op=["six"],
    ),
    "variants": chosen(12),
    "depth": deep(300),
    "repeats": {**ANY, "src": {"kind": "repeat", "of": {**ANY, "name": "x"}}},
    "nothing": None,
    "text": "not a pattern",
    "wrong": {"op": 3, "dtype": {"a": 1}, "src": {"kind": "permuted", "of": 7}, "anyOf": "x"},
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, int, list[int]]]:
    path = tmp_path_factory.mktemp("hostile") / "h.viz"
    with viz.TraceWriter(path, {"command": ["x"], "compiler": "uopviz"}) as t:
        leaf = t.node("const", "i32", arg="9" * 5000)
        six = t.node("six", "i32", (leaf,) * 6)
        for _ in range(3):
            six = t.node("six", "i32", (six,) * 5 + (leaf,))
        wide = t.node("wide", "", tuple(t.node("m", "i32", arg=str(i)) for i in range(12)))
        many = t.node("many", "i32", (leaf,) * 20_000)
        nodes = [leaf, six, wide, many]
        root = t.node("root", "void", tuple(nodes))
        rewrite = t.rewrite_begin("hostile", sink=root)
        rules: list[int] = []
        for name, pattern in HOSTILE.items():
            where = "/core/uop/symbolic/../../../../etc/passwd"
            rule = t.rule(name, where, 1, matcher="m", pattern=pattern, source="x\n")
            rules.append(rule)
            t.match(rewrite, rule, leaf, root, {}, 1)
            t.match(rewrite, rule, root, leaf, {}, 1)
        t.rewrite_end(rewrite, root, nodes=1)
        t.visited("hostile", t.rule_set(rules), {"six": 1, "wide": 1}, {})
    store = Store(path)
    yield store, rewrite, [*nodes, root]
    store.close()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("orders", "the recorded pattern has 12 sources in any order"),
        ("variants", "the recorded pattern has too many variants"),
        ("text", "the trace has no pattern of this rule"),
    ],
)
def test_patterns_that_no_rule_can_have_are_unknown(
    hostile: tuple[Store, int, list[int]], name: str, why: str
) -> None:
    store, rewrite, nodes = hostile
    rule = next(row["id"] for row in store.rules() if row["name"] == name)
    said = store.ask(WHY_NOT, rewrite, nodes[2], rule)
    assert (said["kind"], said["unknown"]) == ("unknown", why)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_patterns_keep_to_the_budget(
    hostile: tuple[Store, int, list[int]], name: str
) -> None:
    store, rewrite, nodes = hostile
    rule = next(row["id"] for row in store.rules() if row["name"] == name)
    with at_most(700):
        for node in nodes:
            try:
                with within(Budget("the answer", seconds=1.0)):
                    said = store.ask(WHY_NOT, rewrite, node, rule)
            except BudgetError:
                continue
            assert said["kind"] in ("fired", "overtaken", "pattern", "unknown")
            assert said["line"] is None
        try:
            with within(Budget("the answer", seconds=1.0)):
                store.ask(NEAR_MISSES, rewrite, rule)
        except BudgetError:
            pass
