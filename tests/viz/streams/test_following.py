"""What an engine did between two matches is derived: the engine of `core` tells it, and is the
truth here."""

from __future__ import annotations

from pathlib import Path

import pytest

import viz
from core.tensor import Tensor
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile
from viz.replay.slots import Slots
from viz.streams.following import Following


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> TraceFile:
    path = tmp_path_factory.mktemp("following") / "run.viz"
    with viz.record(path):
        x = Tensor.ones(8, 12).contiguous()
        (x.softmax(1) @ x.permute(1, 0)).relu().sum().realize()
    file = TraceFile(Path(path))
    file.refresh()
    return file


def test_rebuilds_are_those_of_the_engine(recorded: TraceFile) -> None:
    """From the matches of each pass alone, every match is at a node of the graph, and the last
    graph is the result."""
    nodes = recorded.nodes
    fields = [nodes.field(name) for name in ("op", "dtype", "arg", "tag")]
    known: dict[object, int] = {}

    def head(node: int) -> tuple[int, ...]:
        return tuple(int(field[node]) for field in fields)

    for node in range(1, nodes.count + 1):
        known.setdefault((head(node), tuple(nodes.sources(node))), node)
    passes, steps, missed, wrong = 0, 0, 0, 0
    for rewrite in recorded.rewrites.values():
        events = read_steps(recorded, rewrite)
        if not events.steps or rewrite.error or not rewrite.result:
            continue
        following = Following(rewrite.sink, nodes.sources, head, lambda h, s: known.get((h, s), 0))
        slots = Slots(rewrite.sink, nodes.sources, head)
        for match, _ in events.steps:
            for old, new in following.before(match.before):
                slots.rebuild(old, new)
            missed += slots.holding(match.before) < 0
            slots.match(match.before, match.after)
            for old, new in following.match(match.before, match.after):
                slots.rebuild(old, new)
            steps += 1
        for old, new in following.end(rewrite.result):
            slots.rebuild(old, new)
        slots.settle(rewrite.result)
        passes += 1
        wrong += slots.repairs > 0
    assert passes > 50 and steps > 500
    assert (missed, wrong) == (0, 0)


def node_table(*made: tuple[str, *tuple[int, ...]]) -> dict[int, tuple[str, tuple[int, ...]]]:
    return {at: (name, tuple(sources)) for at, (name, *sources) in enumerate(made, 1)}


def following(table: dict[int, tuple[str, tuple[int, ...]]], sink: int) -> Following:
    known = {made: at for at, made in table.items()}
    return Following(
        sink,
        lambda n: table[n][1],
        lambda n: table[n][0],
        lambda h, s: known.get((str(h), s), 0),
    )


def test_users_that_become_equal_are_one() -> None:
    """f(a) and f(b) are both f(c) once a and b are c."""
    table = node_table(
        ("a",), ("b",), ("f", 1), ("f", 2), ("g", 3, 4), ("c",), ("f", 6), ("g", 7, 7), ("d",)
    )
    found = following(table, 5)
    assert found.match(1, 6) == []
    assert found.before(2) == []
    found.match(2, 6)
    rebuilt = found.before(8)
    assert {(3, 7), (4, 7), (5, 8)} >= {*rebuilt} and (5, 8) in rebuilt


def test_what_was_replaced_before_is_replaced_again() -> None:
    """a -> c; then b -> f(a), which an engine makes f(c)."""
    table = node_table(("a",), ("b",), ("g", 1, 2), ("c",), ("f", 1), ("f", 4), ("g", 4, 6))
    found = following(table, 3)
    found.match(1, 4)
    assert found.match(2, 5) == [(1, 4)]
    assert found.end(7) == [(5, 6), (3, 7)]
    walked = following(table, 3)
    walked._remembers = False
    walked.match(1, 4)
    assert walked.match(2, 5) == []
