"""Small files that stand for a great deal: what each answer may cost, and that it says what it
leaves out. Large honest traces are shown whole, and fast."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from core.errors import BudgetError
from tests.bench import hostile
from tests.effort import unit
from viz import budget
from viz.budget import Budget, answering, part, take, within
from viz.format.pack import read_json
from viz.jobs import jobs
from viz.read.room import MOST, ROOM, ROOM_PER_BYTE, Room
from viz.replay.provenance import positions
from viz.views.kernels.kernels import KernelReader
from viz.views.rules.rulebook import clean_pattern
from viz.views.store import Store
from viz.views.timeline import FirstFree
from viz.work import kinds
from viz.write.writer import TraceWriter

SAYS = {
    "patterns": "what is kept of the trace would take too much memory",
    "lines": "this kernel would take too much memory",
    "shapes": "63 nodes are left out",
    "nested_contexts": None,
    "overlapping": None,
    "nested_rewrites": None,
    "empty_lists": "what is kept of the trace would take too much memory",
    "sparse": "parts of this file hold nothing",
    "hub": "are left out",
    "origins": None,
    "events": "left out: this pass would",
    "long_names": None,
    "one_argument": "the graph of this kernel would take too much memory",
    "ranges": None,
    "one_text": "this kernel would take too much memory",
    "wide": "what is kept of the trace would take too much memory",
}
"""What must be said of each trace; None: it is shown whole and soon, and nothing is said."""
PEAK = budget.MEMORY + (1 << 28)
"""Bytes: the budget, and the program itself."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", hostile.TRACES)
def test_no_answer_costs_more_than_its_budget(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.viz"
    hostile.TRACES[name](path)
    found = hostile.measured(path)
    assert "ended" not in found, found["ended"]
    seconds, what = found["worst"]
    assert seconds < budget.SECONDS + 175 * unit(), what
    assert found["peak"] < PEAK
    wanted = SAYS[name]
    if wanted is None:
        assert found["said"] == []
        assert seconds < 175 * unit(), what
    elif wanted:
        assert any(wanted in said for said in found["said"]), found["said"]


def test_a_budget_refuses_before_it_is_spent() -> None:
    with within(Budget("the answer", memory=100, items=10)) as left:
        take(4, 60)
        with pytest.raises(BudgetError, match="the answer would take too much memory"):
            take(1, 41)
        with pytest.raises(BudgetError, match="would look at too much"):
            take(7)
        take(6, 40)
        assert (left.memory, left.items) == (0, 0)
    take(1 << 60, 1 << 60)  # nothing is being answered


def test_a_part_leaves_the_rest_to_what_comes_after() -> None:
    with within(Budget("the answer", memory=100, items=100)) as left:
        with part(1 / 2):
            take(1, 30)
            with pytest.raises(BudgetError):
                take(1, 30)
        assert left.memory == 70
        with answering("another"):
            take(1, 70)
        assert left.memory == 0


def test_the_clock_ends_an_answer() -> None:
    def work() -> None:
        for _ in range(100_000_000):
            take(100, 0)

    budget = Budget("the answer", items=1 << 60, seconds=0.05)
    with within(budget), pytest.raises(BudgetError, match="too long"):
        work()


def test_patterns_of_all_rules_share_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TraceWriter(tmp_path / "t.viz", {"ended": 1}) as t:
        for i in range(20):
            t.rule(f"rule {i}", pattern={"src": {"kind": "ordered", "of": [{}] * 50}})
    store = Store(tmp_path / "t.viz")
    assert [len(rule["pattern"]["src"]["of"]) for rule in store.rules()] == [50] * 20
    assert store.run()["problems"] == []
    monkeypatch.setattr(Budget.__init__, "__defaults__", (1_000_000, *budget_defaults()[1:]))
    found = store.rules()
    assert len(found) == 20
    assert found[-1]["pattern"] == clean_pattern(None)
    (problem,) = store.run()["problems"]
    assert "of 20 rules are left out" in problem["what"]
    store.close()


def budget_defaults() -> tuple[float, ...]:
    defaults = Budget.__init__.__defaults__
    assert defaults is not None
    return defaults


def test_what_is_kept_grows_with_what_the_file_holds() -> None:
    room = Room()
    for size, wanted in ((0, ROOM), (1000, ROOM + 1000 * ROOM_PER_BYTE), (1 << 40, MOST)):
        room.grow(Path("a"), size)
        assert room.budget.memory == wanted
    room.grow(Path("b"), 1 << 40)  # all files of a run share one
    assert room.budget.memory == MOST


def test_the_first_free_level_is_that_of_a_plain_search() -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    choose = random.Random(seed)
    for _ in range(100):
        count = choose.randrange(1, 40)
        free, ends = FirstFree(count), list[int]()
        for start in sorted(choose.randrange(50) for _ in range(count)):
            level = wanted = choose.randint(0, len(ends))
            while wanted < len(ends) and ends[wanted] > start:
                wanted += 1
            assert free.find(level, start) == wanted
            ends += [0] * (wanted + 1 - len(ends))
            ends[wanted] = start + choose.randrange(20)
            free.put(wanted, ends[wanted])


@pytest.mark.parametrize("length", [0, 1, 64, 511, 513, 5000])
def test_positions_of_bits(length: int) -> None:
    wanted = sorted(random.Random(length).sample(range(length), length // 3))
    assert positions(sum(1 << p for p in wanted)) == wanted


def test_halves_of_characters_become_question_marks() -> None:
    assert read_json(r'["\ud800", "\ud83d\ude00", "\\ud800"]') == [
        "?",
        "\N{GRINNING FACE}",
        "\\ud800",
    ]
    assert read_json(b'["\xed\xa0\x80"]')[0].isascii() is False
    assert "\ud800" not in read_json(b'["\xed\xa0\x80"]')[0]


def test_counts_reach_contexts_through_passes_in_any_order(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        a, rule = t.node("ADD"), t.rule("rule")
        outer = t.context_begin("outer", "group")
        first = t.rewrite_begin("first", a, context=outer)
        inner = t.context_begin("inner", "group", parent=outer)
        second = t.rewrite_begin("second", a, context=inner, parent=first)
        t.match(second, rule, a, a, {}, 1)
        t.match(first, rule, a, a, {}, 1)
        t.rewrite_end(second, a)
        t.rewrite_end(first, a)
        t.context_end(inner)
        t.context_end(outer)
    store = Store(tmp_path / "t.viz")
    assert {row["name"]: row["steps"] for row in store.tree()["rows"]} == {
        "outer": 2,
        "first": 1,
        "inner": 0,
        "second": 1,
    }
    store.close()


def test_origins_that_are_kept_have_a_size(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        for _ in range(12):
            kernel = t.context_begin("kernel", "kernel")
            t.kernel(kernel, "kernel", ast=t.node("ADD"))
            t.context_end(kernel)
    store = Store(tmp_path / "t.viz")
    for kernel in store.kernels():
        assert store.origins(kernel) is not None
    (process,) = store._processes
    assert isinstance(process.kernels, KernelReader)
    assert len(process.kernels._origins) == 8
    store.close()


def test_jobs_share_memory() -> None:
    capacity = jobs.Capacity(3, 10)
    assert capacity.acquire(8, 0)
    assert not capacity.acquire(8, 0.01)
    assert capacity.acquire(2, 0)
    threading.Timer(0.1, capacity.release, (8,)).start()
    assert capacity.acquire(6, 600)
    assert capacity.acquire(2, 0)
    assert not capacity.acquire(0, 0)  # three run
    assert max(kind.memory for kind in (*jobs.KINDS.values(), *kinds.KINDS.values())) <= jobs.MEMORY
