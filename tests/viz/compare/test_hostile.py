"""Traces that are made to do harm, and very large ones: answers within their budgets."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from core.errors import UopvizError
from tests.effort import at_most
from viz.compare import overview
from viz.compare.comparison import Comparison
from viz.views.store import Store
from viz.write.writer import TraceWriter


def empty(path: Path) -> Path:
    with TraceWriter(path, {"command": ["mycc"]}):
        pass
    return path


def kernels(path: Path, count: int, passes: int = 1) -> Path:
    """A run with many kernels of one step each."""
    with TraceWriter(path, {"command": ["mycc"]}) as t:
        rule = t.rule("rule", "rules.cc", 1)
        sink = t.node("load", "i32", arg='"a"')
        for n in range(count):
            kernel = t.context_begin(f"k_{n}", "kernel", meta={"metadata": [f"a:{n} f"]})
            after = t.node("load", "i32", arg=str(n))
            for _ in range(passes):
                one = t.rewrite_begin("pass", sink, context=kernel)
                t.match(one, rule, sink, after, {}, 1)
                t.rewrite_end(one, after, nodes=1)
            t.context_end(kernel)
            if n % 20_000 == 0:
                t.flush()
    return path


def test_very_many_kernels_against_none(tmp_path: Path) -> None:
    many = Store(kernels(tmp_path / "many.viz", 20_000))
    none = Store(empty(tmp_path / "none.viz"))
    for pair, state in (((many, none), "removed"), ((none, many), "added")):
        with at_most(2000):
            found = Comparison(*pair).overview()
        assert not found["equal"]
        assert len(found["scopes"]) == overview.MAX_SCOPES
        assert found["leftOut"] == 20_000 - overview.MAX_SCOPES
        assert {scope["state"] for scope in found["scopes"]} == {state}
        assert len(json.dumps(found)) < 10_000_000
    many.close()
    none.close()


def test_slices_of_a_comparison_are_short_and_end(tmp_path: Path) -> None:
    a, b = (Store(kernels(tmp_path / f"{name}.viz", 3000)) for name in "ab")
    comparison = Comparison(a, b)
    before, slices = 0.0, 0
    while True:
        with at_most(2000):
            found = comparison.overview(0.05)
        slices += 1
        assert found["progress"] >= before
        before = found["progress"]
        if found["done"]:
            break
        assert not found["equal"] and found["runs"]["a"]["file"] == "a.viz"
    assert slices > 2 and found["equal"]
    a.close()
    b.close()


def test_a_run_that_goes_on_is_compared_anew(tmp_path: Path) -> None:
    a, path = Store(kernels(tmp_path / "a.viz", 2)), tmp_path / "b.viz"
    with TraceWriter(path, {"command": ["mycc"]}) as t:
        sink = t.node("load", "i32", arg='"a"')
        rule = t.rule("rule", "rules.cc", 1)
        t.flush()
        b = Store(path)
        comparison = Comparison(a, b)
        first = comparison.overview()
        assert not first["equal"] and {s["state"] for s in first["scopes"]} == {"removed"}
        for n in range(2):
            kernel = t.context_begin(f"k_{n}", "kernel", meta={"metadata": [f"a:{n} f"]})
            after = t.node("load", "i32", arg=str(n))
            one = t.rewrite_begin("pass", sink, context=kernel)
            t.match(one, rule, sink, after, {}, 1)
            t.rewrite_end(one, after, nodes=1)
            t.context_end(kernel)
        t.flush()
        b.refresh()
        assert {s["state"] for s in comparison.overview()["scopes"]} == {"equal"}
    a.close()
    b.close()


def test_contexts_and_passes_that_are_inside_each_other(tmp_path: Path) -> None:
    """Deeply nested, and such that a pass says it is inside one that does not exist."""
    path = tmp_path / "deep.viz"
    with TraceWriter(path, {}) as t:
        sink = t.node("load", "i32")
        context = parent = 0
        for n in range(3000):
            context = t.context_begin(f"c{n}", "group", parent=context)
            parent = t.rewrite_begin("p", sink, context=context, parent=parent)
        t.rewrite_begin("lost", sink, context=10**6, parent=10**7)
    a, b = Store(path), Store(path)
    found = Comparison(a, b).overview()
    assert found["done"] and {scope["state"] for scope in found["scopes"]} == {"equal"}
    for scope in found["scopes"]:
        assert Comparison(a, b).scopes(scope["a"], scope["b"]) is not None
    a.close()
    b.close()


def test_texts_that_are_too_long_are_cut(tmp_path: Path) -> None:
    path, long = tmp_path / "long.viz", "x" * 100_000
    with TraceWriter(path, {"command": [long], "versions": {long: long}, "machine": long}) as t:
        rule = t.rule(long, long, 1, source=long)
        for n in range(20):
            kernel = t.context_begin(f"{n}{long}", "kernel", meta={"metadata": [f"a:1 {long}"]})
            one = t.rewrite_begin(long, t.node(long, long), context=kernel)
            t.match(one, rule, 1, t.node(long, "", (1,), arg=json.dumps(long)), {}, 1)
            t.rewrite_end(one, error={"message": long, "traceback": long})
            t.context_end(kernel)
    a, b = Store(path), Store(empty(tmp_path / "none.viz"))
    assert len(json.dumps(Comparison(a, b).overview())) < 200_000
    a.close()
    b.close()


@pytest.mark.parametrize("seed", range(40))
def test_damaged_traces_end_in_an_answer_or_in_one_error(tmp_path: Path, seed: int) -> None:
    whole = kernels(tmp_path / "whole.viz", 40, passes=2)
    data = bytearray(whole.read_bytes())
    choose = random.Random(seed)
    for _ in range(choose.randrange(1, 30)):
        data[choose.randrange(4096, len(data))] = choose.randrange(256)
    damaged = tmp_path / "damaged.viz"
    damaged.write_bytes(data)
    stores: list[Store] = []
    try:
        stores = [Store(whole), Store(damaged)]
        comparison = Comparison(*stores)
        found = comparison.overview()
        assert found["done"]
        if any(file.db.problems for file in stores[1].files):
            assert not found["equal"] and any("could not be read" in n for n in found["notes"])
        for scope in found["scopes"][:5]:
            answer: Any = comparison.scopes(scope["a"] or 0, scope["b"] or 0)
            for one in answer["passes"][:3]:
                comparison.passes(one["a"] or 0, one["b"] or 0)
    except UopvizError:
        pass  # one that is said in a sentence
    finally:
        for store in stores:
            store.close()
