"""Keys of nodes: what takes part in them, deep graphs, and other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import BudgetError
from tests.viz.compare.made import compare
from viz.budget import Budget, within
from viz.compare.matching.buffers import graph_key
from viz.compare.matching.canonical import canonical_arg, canonical_tag
from viz.compare.matching.keys import NodeKeys
from viz.compare.matching.side import Side
from viz.coredialect.adapter import DIALECT
from viz.dialect.rundialect import RunDialect
from viz.format.schema import CORE_DIALECT
from viz.read.tracefile import TraceFile
from viz.views.store import Store
from viz.write.writer import TraceWriter

OURS = RunDialect(DIALECT)

ROOT = Path(__file__).parents[3]


def keys_of(path: Path) -> tuple[TraceFile, NodeKeys]:
    file = TraceFile(path)
    file.refresh()
    keys = NodeKeys(file, OURS)
    keys.refresh()
    file.close()
    return file, keys


def test_what_a_node_is_takes_part_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        one = t.node("CONST", "int32", arg="1")
        two = t.node("CONST", "int32", arg="2")
        base = t.node("ADD", "int32", (one, two))
        alike = [
            t.node("ADD", "int32", (one, two), origin="a.py:9"),
            t.node("ADD", "int32", (one, two), tag="3"),
        ]
        others = [
            t.node("ADD", "int32", (two, one)),
            t.node("ADD", "int64", (one, two)),
            t.node("SUB", "int32", (one, two)),
            t.node("ADD", "int32", (one, two), arg="1"),
            t.node("ADD", "int32", (one, two), tag='"wrapped"'),
            t.node("ADD", "int32", (one, one)),
            t.node("ADD", "int32", (one,)),
        ]
    keys = keys_of(path)[1].keys
    assert {int(keys[node]) for node in alike} == {int(keys[base])}
    found = [int(keys[node]) for node in (base, *others)]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("op", "a", "b", "same"),
    [
        ("UNIQUE", "12", "13", True),
        ("UNIQUE", '"weights"', '"bias"', False),
        ("BUFFER", "12", "13", False),
        ("SINK", '{"kernelinfo":{"name":"E_2","opts":null}}',
         '{"kernelinfo":{"opts":null,"name":"r_7"}}', True),
        ("SINK", '{"kernelinfo":{"name":"E_2","opts":null}}',
         '{"kernelinfo":{"name":"E_2","opts":[]}}', False),
        ("KERNEL", '[1,{"kernelinfo":{"name":"a","opts":null}}]',
         '[1,{"kernelinfo":{"name":"b","opts":null}}]', True),
        ("CALL", '{"repr":"<f at 0x7f12ab34cd56>"}', '{"repr":"<f at 0x7f00ab34cd00>"}', True),
        ("CALL", '{"repr":"<f>"}', '{"repr":"<g>"}', False),
    ],
)  # fmt: skip
def test_arguments_in_canonical_form(op: str, a: str, b: str, same: bool) -> None:
    assert (canonical_arg(OURS, op, a) == canonical_arg(OURS, op, b)) is same


def test_tags_that_are_numbers_are_history() -> None:
    assert canonical_tag("17") == canonical_tag("-2") == canonical_tag("")
    assert canonical_tag('"a"') != canonical_tag('"b"')


def test_a_deep_chain_and_a_wide_level(tmp_path: Path) -> None:
    """More of both than any recursion takes; and across the parts in which keys are made."""
    depth = 70_000
    paths = [tmp_path / "a.viz", tmp_path / "b.viz"]
    for path, last in zip(paths, ("1", "2"), strict=True):
        with TraceWriter(path, {}) as t:
            node = t.node("CONST", "int32", arg="0")
            for _ in range(depth):
                node = t.node("NEG", "int32", (node,))
            t.node("SINK", "void", (node, t.node("CONST", "int32", arg=last)))
    (_, a), (_, b) = map(keys_of, paths)
    assert a.known == b.known == depth + 4
    assert (a.keys[: depth + 2] == b.keys[: depth + 2]).all()
    assert a.keys[-1] != b.keys[-1]


def test_keys_grow_with_the_trace_and_stay_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        one = t.node("CONST", "int32", arg="1")
        t.flush()
        file = TraceFile(path)
        file.refresh()
        keys = NodeKeys(file, OURS)
        keys.refresh()
        first = keys.keys.tolist()
        t.node("NEG", "int32", (one,))
        t.flush()
        file.refresh()
        keys.refresh()
    assert keys.keys.tolist()[: len(first)] == first
    assert keys.known == len(first) + 1
    assert keys.keys.tolist() == keys_of(path)[1].keys.tolist()
    file.close()


def test_keys_are_within_a_budget(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        node = t.node("CONST", "int32", arg="1")
        for _ in range(5000):
            node = t.node("ADD", "int32", (node, node))
    file = TraceFile(path)
    file.refresh()
    with pytest.raises(BudgetError), within(Budget("the keys", items=4000)):
        NodeKeys(file, OURS).refresh()
    file.close()


def test_buffers_of_a_graph_are_told_apart(tmp_path: Path) -> None:
    """x * y + x and x * y + y, whose nodes have the same keys; and the first one once more, with
    other numbers."""
    found: list[int] = []
    for name, numbers, last in (("a", ("1", "2"), 0), ("b", ("1", "2"), 1), ("c", ("9", "7"), 0)):
        path = tmp_path / f"{name}.viz"
        with TraceWriter(path, {"dialect": CORE_DIALECT}) as t:
            unique = [t.node("UNIQUE", "void", arg=number) for number in numbers]
            x, y = (t.node("BUFFER", "float32", (u,), arg="4") for u in unique)
            product = t.node("MUL", "float32", (x, y))
            sink = t.node("SINK", "void", (t.node("ADD", "float32", (product, (x, y)[last])),))
            t.rewrite_end(t.rewrite_begin("schedule", sink), sink)
        store = Store(path)
        side = Side(store)
        side.refresh()
        (part,) = side.parts
        assert part.key(sink)
        found.append(graph_key(part, sink))
        store.close()
    assert found[0] == found[2] != found[1]
    equal = compare(tmp_path / "a.viz", tmp_path / "c.viz")
    other = compare(tmp_path / "a.viz", tmp_path / "b.viz")
    assert equal["equal"] and not other["equal"]
    (scope,) = other["scopes"]
    assert (scope["state"], scope["first"]["pass"]) == ("changed", "schedule")


PROGRAM = """
import sys
import viz
from core import Tensor, nn
for path in sys.argv[1:]:
    compile_module._kept.cache_clear()  # else the second run has no kernels to compile
    with viz.record(path):
        x = Tensor.ones(4, 3, 8, 8).contiguous()
        y = nn.Conv2d(3, 5, 3)(x).relu().max_pool2d()
        for item in (y.softmax(axis=-1) + Tensor.arange(3)).sum(axis=1).schedule():
            if item.ast.op is Ops.SINK:
                compile_kernel(item.ast, targets["sm_90"])
"""
IMPORTS = """
from core import Tensor, compile as compile_module
from core.compile import compile_kernel
from core.target import targets
from core.uop.ops import Ops
"""


def recorded(folder: Path, paths: list[Path], seed: str, before: str = "") -> None:
    """Runs the program in a process, once for each trace, with this seed of hashes."""
    folder.mkdir()
    (folder / "program.py").write_text(IMPORTS + before + PROGRAM)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "program.py", *map(str, paths)]
    subprocess.run(command, cwd=folder, env=environment, check=True)


def assert_equal(paths: list[Path]) -> None:
    found = compare(*paths)
    assert found["equal"], [scope for scope in found["scopes"] if scope["state"] != "equal"][:2]
    assert found["totals"][0]["a"] == found["totals"][0]["b"] >= 3
    assert {scope["by"] for scope in found["scopes"]} == {"structure"}


def test_one_program_in_two_processes_is_equal(tmp_path: Path) -> None:
    """With another seed of hashes, other numbers of buffers, another folder and other lines."""
    paths = [tmp_path / name for name in ("a.viz", "b.viz")]
    recorded(tmp_path / "one", paths[:1], "1")
    recorded(tmp_path / "two", paths[1:], "77", "\n\nTensor.ones(9).contiguous().realize()\n")
    assert_equal(paths)


def test_one_program_twice_in_one_process_is_equal(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.viz", "b.viz")]
    recorded(tmp_path / "one", paths, "5")
    assert_equal(paths)
