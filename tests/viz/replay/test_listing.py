"""Linear programs, whose texts are worked out from the nodes of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from core.compile import compile_kernel
from core.errors import BudgetError, TraceError
from core.passes.program.order import order_report
from core.tensor import Tensor
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU
from viz import TraceWriter
from viz.budget import Budget, within
from viz.coredialect.adapter import DIALECT
from viz.coredialect.listing import MAX_BLOCKS
from viz.dialect.rundialect import RunDialect
from viz.live import record
from viz.read.tracefile import TraceFile
from viz.replay.listing import listing
from viz.share.copy import write_trace
from viz.views.kernels.kernels import KernelReader
from viz.views.search.textlines import SourceTexts
from viz.views.store import Store


def linear(store: Store, kernel: int) -> tuple[str, list[list[int]]]:
    found = store.kernel(kernel)
    assert found is not None
    (one,) = [a for a in found["artifacts"] if a["kind"] == "linear"]
    assert one["error"] is None
    return one["text"], one["lines"]


def test_the_text_is_that_of_the_compiler(tmp_path: Path) -> None:
    with record(tmp_path / "t.viz"):
        programs = [
            compile_kernel(ast, CPU)
            for ast in (kernels.matmul(9, 13, 21).ast, kernels.total(777).ast)
        ]
    store = Store(tmp_path / "t.viz")
    for kernel, program in zip(store.kernels(), programs, strict=True):
        text, lines = linear(store, kernel)
        assert text == order_report(program.lowered)[0]
        assert lines[0] == []
        assert [len(line) for line in lines[1:]] == [1] * len(program.uops)
    write_trace(store, tmp_path / "copy.viz")
    copy = Store(tmp_path / "copy.viz")
    assert [linear(copy, k) for k in copy.kernels()] == [linear(store, k) for k in store.kernels()]
    store.close()
    copy.close()


def test_the_text_is_found(tmp_path: Path) -> None:
    with record(tmp_path / "t.viz"):
        Tensor.ones(7, 5).contiguous().sum().realize()
    file = TraceFile(tmp_path / "t.viz")
    file.refresh()
    lines, done = SourceTexts(file, KernelReader(file, int, int, dialect())).search(
        "The Kernel is complete"
    )
    assert done == 1.0
    assert {line.place[0] for line in lines} == {"linear"}
    file.close()


def chain(path: Path, op: str, count: int, arg: str = "") -> TraceFile:
    """A constant and nodes above each other that no compiler of ours has made."""
    with TraceWriter(path, {}) as t:
        node = t.node("CONST", "int32", arg="1")
        for _ in range(count):
            node = t.node(op, "int32", (node,), arg=arg)
    file = TraceFile(path)
    file.refresh()
    return file


def dialect() -> RunDialect:
    """That of `core`, as a run is in it."""
    return RunDialect(DIALECT)


def program(nodes: Sequence[int]) -> list[list[int]]:
    return [[], *([node] for node in nodes)]


@pytest.mark.parametrize(
    ("op", "arg"),
    [
        ("NEG", '{"repr":"<a plugin\'s>"}'),
        ("RANGE", '"odd"'),
        ("RANGE", ""),
        ("STORE", ""),
        ("END", ""),
        ("another compiler's", '{"any": ["json"]}'),
        ("IF", "[" * 5000),
    ],
)
def test_nodes_that_core_cannot_make_are_listed(tmp_path: Path, op: str, arg: str) -> None:
    file = chain(tmp_path / "t.viz", op, 3, arg)
    lines = listing(file, program([1, 2, 3]), dialect()).splitlines()
    assert len(lines) == 4
    assert f"u2 = {op}(u1)" in lines[3]
    file.close()


def test_very_many_loops(tmp_path: Path) -> None:
    file = chain(tmp_path / "t.viz", "RANGE", MAX_BLOCKS, '[0,{"axis":"LOOP"}]')
    lines = listing(file, program(range(1, MAX_BLOCKS + 1)), dialect()).splitlines()
    assert lines[0] == "; the nodes of the program, in their order"
    assert not any(line.startswith(" ") for line in lines)
    file.close()


@pytest.mark.parametrize("lines", [[], [[1]], [[], [1, 2]], [[], []], [[1], [2]]])
def test_lines_that_are_not_a_node_each(tmp_path: Path, lines: list[list[int]]) -> None:
    file = chain(tmp_path / "t.viz", "NEG", 3)
    with pytest.raises(TraceError, match="damaged"):
        listing(file, lines, dialect())
    file.close()


def test_what_a_text_takes_is_taken_from_the_budget(tmp_path: Path) -> None:
    file = chain(tmp_path / "t.viz", "NEG", 3, '"' + "x" * 60_000 + '"')
    with pytest.raises(BudgetError), within(Budget("the answer", memory=1 << 28)):
        listing(file, program([2, 3] * 2000), dialect())
    file.close()


WIDE = 10_000


def wide(path: Path) -> tuple[TraceFile, int, int]:
    """A node with very many sources, all one node, and another one above it in the same way: little
    in a file, WIDE * WIDE sources for who follows each of them. And their numbers."""
    with TraceWriter(path, {}) as t:
        node = t.node("CONST", "int32", arg="1")
        low = t.node("SINK", "void", (node,) * WIDE)
        high = t.node("SINK", "void", (low,) * WIDE)
    file = TraceFile(path)
    file.refresh()
    return file, low, high


def test_sources_that_are_one_node_are_followed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _, high = wide(tmp_path / "t.viz")
    looked, sources = [0], file.nodes.sources

    def counted(node: int) -> list[int]:
        found = sources(node)
        looked[0] += 1 + len(found)
        assert looked[0] < 20 * WIDE, "sources are looked at again and again"
        return found

    monkeypatch.setattr(file.nodes, "sources", counted)
    assert len(listing(file, program([high]), dialect()).splitlines()) == 2
    file.close()


def test_the_sources_of_a_node_are_paid_for_each_time_that_it_is_listed(tmp_path: Path) -> None:
    file, low, _ = wide(tmp_path / "t.viz")
    with pytest.raises(BudgetError, match="look at too much"), within(Budget("the answer")):
        listing(file, program([low] * WIDE), dialect())
    file.close()


def test_a_text_that_is_too_large_is_left_out_of_the_search(tmp_path: Path) -> None:
    """A search has a budget for each kernel, also where nobody gave it one."""
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        node = t.node("CONST", "int32", arg='"' + "x" * 60_000 + '"')
        for name, count in (("large", 5000), ("small", 1)):
            kernel = t.context_begin(name, "kernel")
            t.artifact_of(kernel, "linear", "", None, [0] + [1] * count, [node] * count, {})
            t.artifact(kernel, "c", "cpu", "find me")
            t.context_end(kernel)
    file = TraceFile(tmp_path / "t.viz")
    file.refresh()
    texts = SourceTexts(file, KernelReader(file, int, int, dialect()))
    assert [line.place[0] for line in texts.search("find me")[0]] == ["c", "c"]
    assert [line.place[0] for line in texts.search("of the program")[0]] == ["linear"]
    file.close()
