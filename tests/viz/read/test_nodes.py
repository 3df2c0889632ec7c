"""The node table: blocks of both versions, and blocks that lie."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import BudgetError, TraceError
from viz.budget import Budget, within
from viz.format import schema
from viz.format.blocks import HEADS, NEAR, NODES, PLAIN_NODES
from viz.read.nodes import MAX_GAP, NodeTable
from viz.write.numbering import Fields, Numbering

A: Fields = (1, 2, 3, 4, 5, 6, 7)
B: Fields = (2, 0, 0, 0, 0, 0, 0)
HUGE = 1 << 62


def read(numbers: Numbering, table: NodeTable) -> None:
    readers = {schema.HEADS: table.add_heads, schema.NODES: table.add}
    taken = numbers.take()
    for block in taken.blocks:
        readers[block.kind](block.first, block.count, block.data)
    taken.forget()


def heads(*sources: int) -> bytes:
    """Heads of nodes with so many sources."""
    return HEADS.pack([*[[1] * len(sources)] * 7, sources])


def table(*sources: int) -> NodeTable:
    made = NodeTable()
    made.add_heads(1, len(sources), heads(*sources))
    return made


def test_nodes_are_read_as_they_were_written() -> None:
    numbers, made = Numbering(), NodeTable()
    wanted: list[tuple[Fields, tuple[int, ...]]] = [(A, ()), (B, (1,)), (A, (1, 2, 2))]
    wanted += [(B, (1 + n // 2, n + 2, 1)) for n in range(2 * NEAR)]
    for at, (fields, src) in enumerate(wanted, 1):
        assert numbers.node(fields, src) == at
        if at % 50 == 0:
            read(numbers, made)
    read(numbers, made)
    assert made.count == len(wanted)
    for at, (fields, src) in enumerate(wanted, 1):
        assert tuple(made.sources(at)) == src
        assert tuple(int(made.field(f)[at]) for f in HEADS.names[:-1]) == fields


def test_a_head_is_written_once() -> None:
    numbers = Numbering()
    for n in range(1, 100):
        numbers.node(B, ())
        numbers.node((3, 0, n, 0, 0, 0, 0), (1,))
    taken = numbers.take()
    first = [block for block in taken.blocks if block.kind == schema.HEADS]
    assert [block.count for block in first] == [100]
    taken.forget()
    numbers.node((3, 0, 5, 0, 0, 0, 0), (2,))
    assert [block.kind for block in numbers.take().blocks] == [schema.NODES]


def test_nodes_of_version_2() -> None:
    made = NodeTable()
    made.add_plain(1, 3, PLAIN_NODES.pack([*[[1, 2, 1]] * 7, [0, 1, 2], [1, 2, 1]]))
    assert [made.sources(n) for n in (1, 2, 3)] == [[], [1], [1, 2]]
    assert made.field("op").tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize(
    "columns",
    [
        ([1, 3], [1], []),  # a head that is not there
        ([1, 0], [1], []),
        ([1, -1], [1], []),
        ([1, HUGE], [1], []),
        ([1, 2, 2], [1, 1], []),  # another number of nodes than the row says
        ([1, 2], [], []),  # too few sources
        ([1, 2], [1, 1], []),  # too many
        ([1, 2], [0], []),  # a far source is missing
        ([1, 2], [0], [1, 1]),
        ([1, 2], [1], [1]),
        ([1, 2], [0], [2]),  # its own source
        ([1, 2], [0], [3]),
        ([1, 2], [0], [0]),
        ([1, 2], [0], [-HUGE]),
        ([1, 2], [0], [HUGE]),
        ([1, 2], [-1], []),
        ([1, 2], [2], []),
        ([1, 2], [NEAR], []),
        ([1, 2], [HUGE], []),
    ],
)
def test_a_damaged_block_leaves_nodes_without_fields(columns: tuple[list[int], ...]) -> None:
    made = table(0, 1)
    with pytest.raises(TraceError):
        made.add(1, 2, NODES.pack(columns))
    assert made.count == 2
    assert [made.sources(n) for n in (1, 2)] == [[], []]
    assert made.field("op").tolist() == [0, 0, 0]
    made.add(3, 2, NODES.pack(([1, 2], [2], [])))
    assert made.sources(4) == [2]


@pytest.mark.parametrize("sources", [-1, 3, HUGE, -HUGE])
def test_heads_with_impossible_numbers_of_sources(sources: int) -> None:
    made = table(0, sources)
    with pytest.raises(TraceError):
        made.add(1, 3, NODES.pack(([1, 2, 2], [1, 1], [])))
    assert made.count == 3


def test_sums_of_sources_that_overflow() -> None:
    made = table(0, HUGE)
    with pytest.raises(TraceError):
        made.add(1, 5, NODES.pack(([1, 2, 2, 2, 2], [], [])))


def test_a_lost_block_of_heads_costs_only_the_nodes_that_have_them() -> None:
    made = table(0, 1)
    made.add_heads(5, 2, heads(0, 1))
    with pytest.raises(TraceError):
        made.add(1, 2, NODES.pack(([1, 3], [1], [])))
    made.add(3, 2, NODES.pack(([5, 6], [1], [])))
    assert [made.sources(n) for n in (1, 2, 3, 4)] == [[], [], [], [3]]


@pytest.mark.parametrize("first", [-1, 0, 2, MAX_GAP + 10, HUGE])
def test_heads_whose_numbers_do_not_follow(first: int) -> None:
    made = table(0, 1)
    with pytest.raises(TraceError):
        made.add_heads(first, 2, heads(0, 1))
    made.add(1, 2, NODES.pack(([1, 2], [1], [])))
    assert made.sources(2) == [1]


def test_what_a_block_stands_for_is_taken_from_the_budget() -> None:
    n = 1 << 20
    made = table(0)
    attacks: list[Callable[[], None]] = [
        lambda: made.add(1, n, NODES.pack(([1] * n, [], []))),
        lambda: made.add_heads(2, n, HEADS.pack([[0] * n] * 8)),
        lambda: made.add_heads(1 + MAX_GAP, 1, heads(0)),
    ]
    for attack in attacks:
        with pytest.raises(BudgetError), within(Budget("the answer", memory=n)):
            attack()
