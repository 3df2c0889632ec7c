"""Events on their way from the program's threads to the columns of a trace: none is lost, counted
twice or put in another pass."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import viz
from core.uop.engine.observe import context, recording
from core.uop.engine.rewrite import graph_rewrite
from core.uop.patterns.matcher import PatternMatcher
from tests.viz.samples import random_graph, rules
from viz.format.schema import DECLINE, MATCH, REBUILD
from viz.recording.buffer import OTHER
from viz.views.store import Store
from viz.write.events.eventlog import BLOCK, DECLINES_KEPT
from viz.write.events.grouping import Groups, counted
from viz.write.writer import TraceWriter

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40)


@given(pairs)
def test_groups(items: list[tuple[int, int]]) -> None:
    first, second = (np.array([i[k] for i in items], np.int64) for k in (0, 1))
    values = np.arange(len(items), dtype=np.int64) * 7
    groups = Groups(first, second)
    wanted = Counter(items)
    found = list(groups.sums(values))
    assert [(a, b) for a, b, _, _ in found] == sorted(wanted)
    for a, b, count, total in found:
        assert count == wanted[a, b]
        assert total == sum(7 * i for i, item in enumerate(items) if item == (a, b))
    seen: Counter[tuple[int, int]] = Counter(dict.fromkeys(wanted, 3))
    for item, rank in zip(items, groups.ranks([3] * len(found)).tolist(), strict=True):
        assert rank == seen[item]
        seen[item] += 1
    assert dict(counted(first)) == Counter(a for a, _ in items)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("around", [True, False])
def test_every_event_is_counted_once(tmp_path: Path, around: bool) -> None:
    """More events than a block holds, of passes that end before it is written."""
    path = tmp_path / "t.viz"
    with recording() as wanted, viz.record(path) as recorder:
        number = 0
        while len(wanted.events) < 2 * BLOCK:
            if around:
                with context(f"kernel {number}", "kernel"):
                    graph_rewrite(random_graph(number), rules, name=f"pass {number}")
            else:
                graph_rewrite(random_graph(number), rules, name=f"pass {number}")
            number += 1
            if number % 40 == 0:
                recorder.flush()
    store = Store(path)
    passes = [r for r in store.tree()["rows"] if r["kind"] == "rewrite"]
    assert [r["name"] for r in passes] == [f"pass {i}" for i in range(number)]
    assert sum(r["steps"] for r in passes) == len(wanted.matches)
    matches = Counter(e.rule.name for e in wanted.matches if e.rule)
    declines = Counter(e.rule.name for e in wanted.events if e.rule and e.after is None)
    assert {r["name"]: r["matches"] for r in store.rules() if r["matches"]} == matches
    assert {r["name"]: r["declines"] for r in store.rules() if r["declines"]} == declines
    for row in passes[:: len(passes) // 20]:
        bundle = store.bundle(row["id"])
        assert bundle is not None
        assert len(bundle["steps"]) == row["steps"]
    store.close()


def test_declines_beyond_those_kept_are_only_counted(tmp_path: Path) -> None:
    """Whatever flushes come between."""
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        a = t.node("A")
        often, seldom = t.rule("often"), t.rule("seldom")
        step = t.rewrite_begin("p", a)
        for i in range(3 * DECLINES_KEPT):
            t.decline(step, often, a)
            if i % 10 == 0:
                t.decline(step, seldom, a)
            if i % 25 == 0:
                t.flush()
        t.rewrite_end(step, a)
    store = Store(path)
    counts = {r["name"]: r["declines"] for r in store.rules()}
    (file,) = store.files
    kept = Counter(
        file.rules[rule].name for arrays in file.event_blocks.all() for rule in arrays.decline[:, 0]
    )
    assert counts == {"often": 3 * DECLINES_KEPT, "seldom": 20}
    assert kept == {"often": DECLINES_KEPT, "seldom": 20}
    store.close()


def test_an_interrupt_before_a_rewrite_has_begun_to_work(tmp_path: Path) -> None:
    """Its end is never told. What comes after its context is as if it had been."""
    u = random_graph(3)
    with viz.record(tmp_path / "t.viz") as recorder:
        with suppress(KeyboardInterrupt), context("first", "kernel"):
            recorder.rewrite_begin("unended", u, rules, False, "a.py:1")
            recorder.flush()
            raise KeyboardInterrupt
        with context("second", "kernel"):
            graph_rewrite(u, PatternMatcher([], name="none"), name="in vain")
    store = Store(tmp_path / "t.viz")
    rows = store.tree()["rows"]
    assert [(r["name"], r["parent"]) for r in rows] == [
        ("first", -1),
        ("unended", 0),
        ("second", -1),
        ("in vain", 2),
    ]
    assert [r["status"] for r in rows if r["kind"] == "context"] == ["error", "ok"]
    store.close()


def test_codes_fit() -> None:
    assert len({OTHER, MATCH, REBUILD, DECLINE}) == 4
