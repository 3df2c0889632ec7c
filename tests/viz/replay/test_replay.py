"""The replayed slots are the engine's graph, after every kind of rewrite."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from core.uop.engine.observe import NullObserver, observing
from core.uop.engine.rewrite import graph_rewrite, graph_rewrite_map
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.uop import UOp
from tests.viz.replay.engine_graphs import Keeper, Kept, Outcomes, Texts, graph_of, states
from tests.viz.samples import double, mul_one, random_graph, rules, same, subtract
from viz.replay.slots import Slots
from viz.trace import Recorder
from viz.views.store import Store

BUDGET = 2_000
"""Nodes times steps of a pass up to which each of its steps is checked."""


class Numbers:
    """Nodes as numbers, sources first, as in a trace."""

    def __init__(self) -> None:
        self.ids: dict[UOp, int] = {}
        self.nodes: list[UOp] = []

    def __call__(self, u: UOp) -> int:
        for node in u.toposort(lambda n: n not in self.ids):
            if node not in self.ids:
                self.ids[node] = len(self.nodes)
                self.nodes.append(node)
        return self.ids[u]

    def sources(self, n: int) -> list[int]:
        return [self.ids[s] for s in self.nodes[n].src]

    def kind(self, n: int) -> object:
        return self.nodes[n].op, repr(self.nodes[n].arg)


class Replaying(NullObserver):
    """Applies every event to slots, and every delta to a copy of the state."""

    def __init__(self, sink: UOp) -> None:
        self.numbers = Numbers()
        self.slots = Slots(self.numbers(sink), self.numbers.sources, self.numbers.kind)
        self.state = {
            s: (self.slots.content[s], self.slots.edges[s]) for s in range(len(self.slots.content))
        }
        self.largest = 0

    def match(self, rule: object, before: UOp, after: UOp, binds: object, ns: int) -> None:
        self.take()
        self.slots.match(self.numbers(before), self.numbers(after))

    def rebuild(self, old: UOp, new: UOp) -> None:
        self.slots.rebuild(self.numbers(old), self.numbers(new))

    def take(self) -> None:
        delta = self.slots.take()
        shown = set(self.state)
        assert set(delta.removed) <= shown
        assert set(delta.moved) <= shown
        for slot, node, src in delta.set:
            self.state[slot] = node, src
        for slot in delta.drop:
            del self.state[slot]
        assert set(delta.added) <= set(self.state)
        self.largest = max(self.largest, len(delta.set))

    def rebuilt(self) -> UOp:
        """The graph of the state, made from nothing but contents and edges."""
        made: dict[int, UOp] = {}
        stack = [self.slots.root]
        reached = set(stack)
        while stack:
            slot = stack[-1]
            node, edges = self.state[slot]
            missing = [e for e in edges if e not in made]
            reached.update(edges)
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            made[slot] = self.numbers.nodes[node].replace(src=tuple(made[e] for e in edges))
        assert reached == set(self.state), "what is not reachable must have been dropped"
        return made[self.slots.root]


def replay(sink: UOp, rewrite: Callable[[], UOp]) -> Replaying:
    with observing(Replaying(sink)) as observer:
        result = rewrite()
    assert isinstance(observer, Replaying)
    observer.take()
    observer.slots.settle(observer.numbers(result))
    assert observer.slots.repairs == 0
    assert observer.rebuilt() is result
    return observer


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 120), st.booleans())
def test_replay_is_the_engines_graph(seed: int, size: int, bottom_up: bool) -> None:
    sink = random_graph(seed, size)
    replay(sink, lambda: graph_rewrite(sink, rules, bottom_up=bottom_up))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 80))
def test_replay_of_two_matchers_in_one_walk(seed: int, size: int) -> None:
    sink = random_graph(seed, size)
    first = PatternMatcher([double, same], name="first")
    second = PatternMatcher([subtract, mul_one], name="second")
    replay(sink, lambda: graph_rewrite(sink, second, before=first))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1 << 30))
def test_replay_of_the_map_form(seed: int) -> None:
    sink = random_graph(seed)
    replay(sink, lambda: graph_rewrite_map(sink, rules)[sink])


def test_a_root_that_becomes_its_own_source() -> None:
    sink = (UOp.variable("a", 0, 9) * 3) * 1
    observer = replay(sink, lambda: graph_rewrite(sink, rules))
    assert observer.numbers.nodes[observer.slots.content[observer.slots.root]].op is Ops.MUL


def test_a_step_costs_the_change_and_not_the_graph() -> None:
    deep = UOp.variable("a", 0, 9)
    for i in range(3000):
        deep = deep.alu(Ops.XOR, UOp.variable(f"b{i % 7}", 0, 9))
    sink = UOp.sink(deep, (UOp.variable("z", 0, 9) + 0) * 3)
    observer = replay(sink, lambda: graph_rewrite(sink, rules))
    assert observer.largest < 8


def test_whole_runs_from_a_trace(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    results: list[UOp] = []
    for seed in range(20):
        results.append(graph_rewrite(random_graph(seed, 100), rules, name=str(seed)))
    recorder.close()
    store = Store(tmp_path / "t.viz")
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert len(rows) == 20
    for row, result in zip(rows, results, strict=True):
        bundle = store.bundle(row["id"])
        assert bundle is not None
        assert final_graph(bundle) == [u.op.name for u in result.toposort()]
        assert row["nodes"] == len(result.toposort())
    store.close()


def final_graph(bundle: dict) -> list[str]:
    """The ops of the last state, sources first, as the page would work them out."""
    initial = bundle["initial"]
    state = {
        s: (n, e) for s, n, e in zip(initial["slot"], initial["node"], initial["src"], strict=True)
    }
    for step in bundle["steps"]:
        for slot, node, src in step["set"]:
            state[slot] = node, src
        for slot in step["drop"]:
            del state[slot]
    order: dict[int, None] = {}
    stack = [(bundle["root"], False)]
    while stack:
        slot, ready = stack.pop()
        if ready:
            order[slot] = None
        elif slot not in order:
            stack.append((slot, True))
            stack.extend((s, False) for s in reversed(state[slot][1]) if s not in order)
    nodes = bundle["nodes"]
    for slot in order:
        node, edges = state[slot]
        assert [state[e][0] for e in edges] == nodes["src"][node]
    return [bundle["ops"][nodes["op"][state[s][0]]] for s in order]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", ["a", "b", "c"])
def test_the_pages_graphs_of_a_whole_program_are_the_engines(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every pass at both ends; between them, every step of small graphs and some of large ones."""
    settle = Slots.settle

    def settled(slots: Slots, result: int) -> None:
        settle(slots, result)
        assert slots.repairs == 0

    monkeypatch.setattr(Slots, "settle", settled)
    keeper = Keeper()
    recorder = Recorder(tmp_path / "t.viz").start()
    with observing(keeper):
        importlib.import_module(f"tests.bench.programs.{program}").run(core)
    recorder.close()
    store = Store(tmp_path / "t.viz")
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert [row["name"] for row in rows] == [kept.name for kept in keeper.rewrites]
    ends = [u for kept in keeper.rewrites for u in (kept.sink, kept.result) if u is not None]
    steps = [u for kept in keeper.rewrites for s in kept.steps for pair in s for u in pair]
    texts = Texts([*ends, *steps])
    assert texts.alike == 0
    for row, kept in zip(rows, keeper.rewrites, strict=True):
        bundle = store.bundle(row["id"])
        assert bundle is not None
        assert bundle["truncated"] is None
        check_states(bundle, kept, texts.table(bundle))
    store.close()


def check_states(bundle: dict, kept: Kept, table: list[UOp]) -> None:
    """The slots hold the engine's graph. Between the ends a rule may have made a node of sources
    that were replaced long before, which the engine finds out when it gets there; so there, nodes
    are the same if they have become the same."""
    last, outcomes, root = len(kept.steps), Outcomes(), bundle["root"]
    assert len(bundle["steps"]) == last
    every = 1 + len(bundle["initial"]["slot"]) * last // BUDGET
    for step, state in enumerate(states(bundle)):
        outcomes.add(kept.steps[step - 1] if step else ())
        if step and (step % every == 0 or step == last):
            before, after = kept.steps[step - 1][0]
            held = {table[node] for node, _ in state.values()}
            assert before not in held or before in after.toposort()
            assert outcomes.of(table[state[root][0]]) is outcomes.of(kept.sink)
            for node, edges in state.values():
                for source, edge in zip(table[node].src, edges, strict=True):
                    assert outcomes.of(table[state[edge][0]]) is outcomes.of(source)
        if step in (0, last):
            end = kept.sink if step == 0 else kept.result
            assert graph_of(root, state, table) is end


def test_an_unknown_node_gets_a_place_apart_from_the_graph() -> None:
    numbers = Numbers()
    sink = numbers(UOp.sink(UOp.variable("a", 0, 9)))
    other, new = numbers(UOp.variable("b", 0, 9)), numbers(UOp.variable("c", 0, 9))
    slots = Slots(sink, numbers.sources, numbers.kind)
    slots.match(other, new)
    delta = slots.take()
    assert not delta.set
    assert not delta.removed


@pytest.mark.parametrize("wrong", [0, 1])
def test_settle_puts_right_what_events_left_wrong(wrong: int) -> None:
    numbers = Numbers()
    a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)
    old, new = numbers(UOp.sink(a + 0, a)), numbers(UOp.sink(b, a) if wrong else UOp.sink(a, a))
    slots = Slots(old, numbers.sources, numbers.kind)
    slots.settle(new)
    assert slots.repairs > 0
    assert [slots.content[e] for e in slots.edges[slots.root]] == numbers.sources(new)
