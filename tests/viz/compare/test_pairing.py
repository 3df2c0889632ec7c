"""Which scopes, passes and rules go together where little is equal; differences inside passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.viz.compare.made import compare
from viz.compare.comparison import Comparison
from viz.format.schema import COMPILER
from viz.views.store import Store
from viz.write.writer import TraceWriter

Kernel = tuple[str, str, Sequence[str]]
"""Name, call, and the ops of its graph, each of which reads the one before."""


def write(path: Path, kernels: Sequence[Kernel], target: str = "mycpu") -> Path:
    with TraceWriter(path, {"command": ["mycc"]}) as t:
        for name, call, ops in kernels:
            meta = {"target": target, "metadata": [f"a.py:1 {call}"] if call else []}
            kernel = t.context_begin(name, "kernel", meta=meta)
            node = t.node("load", "i32", arg=f'"{ops[0]}"')
            for op in ops[1:]:
                node = t.node(op, "i32", (node,))
            t.rewrite_end(t.rewrite_begin("peephole", node, context=kernel), node, nodes=len(ops))
            t.context_end(kernel)
    return path


def pairs(tmp_path: Path, a: Sequence[Kernel], b: Sequence[Kernel]) -> list[tuple[object, ...]]:
    found = compare(write(tmp_path / "a.viz", a), write(tmp_path / "b.viz", b))
    return sorted(
        ((s["name"]["a"], s["name"]["b"], s["by"], s["state"]) for s in found["scopes"]), key=str
    )


def test_structure_comes_before_names_and_order(tmp_path: Path) -> None:
    a = [("k_1", "conv", ["x", "add", "mul"]), ("k_2", "relu", ["x", "max"])]
    b = [("k_1", "conv", ["x", "max"]), ("k_2", "relu", ["x", "add", "mul"])]
    assert pairs(tmp_path, a, b) == [
        ("k_1", "k_2", "structure", "equal"),
        ("k_2", "k_1", "structure", "equal"),
    ]


def test_calls_come_next_in_their_order(tmp_path: Path) -> None:
    a = [("k_1", "conv", ["x", "add"]), ("k_2", "relu", ["x", "max"]), ("k_3", "conv", ["x", "s"])]
    b = [("j_1", "conv", ["y", "add"]), ("j_2", "relu", ["y", "max"]), ("j_3", "conv", ["y", "t"])]
    assert pairs(tmp_path, a, b) == [
        ("k_1", "j_1", "call", "changed"),
        ("k_2", "j_2", "call", "changed"),
        ("k_3", "j_3", "call", "changed"),
    ]


def test_kernels_of_one_call_go_by_their_sizes(tmp_path: Path) -> None:
    a = [("r_8_8_aaaa", "conv", ["x", "add"]), ("r_4_4_bbbb", "conv", ["x", "mul"])]
    b = [("r_4_4_cccc", "conv", ["y", "mul"]), ("r_8_8_dddd", "conv", ["y", "add"])]
    assert pairs(tmp_path, a, b) == [
        ("r_4_4_bbbb", "r_4_4_cccc", "call", "changed"),
        ("r_8_8_aaaa", "r_8_8_dddd", "call", "changed"),
    ]


def test_likeness_comes_last_and_has_a_limit(tmp_path: Path) -> None:
    """A fused kernel is most like the larger one of the two that it became."""
    ops = ["x", "mul", "add", "add", "add", "exp", "max"]
    a = [("k_1", "conv, relu", ops)]
    b = [("j_1", "conv", ["y", *ops[1:-1]]), ("j_2", "relu", ["y", "max", "neg", "neg", "neg"])]
    assert pairs(tmp_path, a, b) == [
        ("k_1", "j_1", "likeness", "changed"),
        (None, "j_2", None, "added"),
    ]


def test_one_kernel_for_two_targets(tmp_path: Path) -> None:
    kernel = [("k_1", "conv", ["x", "add", "mul"])]
    found = compare(
        write(tmp_path / "a.viz", kernel, "sm_80"), write(tmp_path / "b.viz", kernel, "sm_90")
    )
    (scope,) = found["scopes"]
    assert (scope["by"], scope["state"], scope["first"]) == ("structure", "changed", None)
    assert {"what": "targets", "a": "sm_80", "b": "sm_90"} in found["environment"]


def test_rules_go_together_by_pattern_then_file_then_name(tmp_path: Path) -> None:
    def run(path: Path, rules: Sequence[tuple[str, str, str, str]]) -> Path:
        with TraceWriter(path, {"command": ["mycc"]}) as t:
            node = t.node("load", "i32")
            one = t.rewrite_begin("peephole", node)
            for name, file, op, source in rules:
                rule = t.rule(name, file, 1, pattern={"op": [op]}, source=source)
                after = t.node("load", "i32", arg=str(len(source)))
                t.match(one, rule, node, after, {}, 1)
                node = after
            t.rewrite_end(one, node)
        return path

    a = run(
        tmp_path / "a.viz",
        [("f", "/x/p/r.cc", "ADD", "1"), ("f", "/x/p/r.cc", "MUL", "22"),
         ("g", "a.cc", "ADD", "333"), ("h", "a.cc", "ADD", "4444"),
         ("gone", "a.cc", "ADD", "55555")],
    )  # fmt: skip
    b = run(
        tmp_path / "b.viz",
        [("f", "/y/p/r.cc", "MUL", "22"), ("f", "/y/p/r.cc", "ADD", "1"),
         ("g", "a.cc", "SUB", "333"), ("h", "b.cc", "ADD", "other"),
         ("new", "a.cc", "ADD", "666666")],
    )  # fmt: skip
    found = {(r["name"], r["a"], r["b"]): (r["state"], r["text"]) for r in compare(a, b)["rules"]}
    assert found == {
        ("f", 1, 2): ("equal", False),
        ("f", 2, 1): ("equal", False),
        ("g", 3, 3): ("equal", True),
        ("h", 4, 4): ("equal", True),
        ("gone", 5, None): ("gone", False),
        ("new", None, 5): ("new", False),
    }


@pytest.mark.parametrize("inner_first", [True, False])
def test_a_difference_in_a_pass_inside_another_one(tmp_path: Path, inner_first: bool) -> None:
    """The pass inside begins between two steps of the outer one: whichever differs first in time is
    the first difference."""

    def run(path: Path, other: bool) -> Path:
        with TraceWriter(path, {"command": ["mycc"]}) as t:
            rule = t.rule("rule", "a.cc", 1)
            nodes = [t.node("load", "i32", arg=str(n)) for n in range(8)]
            outer = t.rewrite_begin("outer", nodes[0])
            early = 6 if other and not inner_first else 1
            t.match(outer, rule, nodes[0], nodes[early], {}, 1)
            inner = t.rewrite_begin("inner", nodes[2], parent=outer)
            t.match(inner, rule, nodes[2], nodes[7 if other else 3], {}, 1)
            t.rewrite_end(inner, nodes[7 if other else 3])
            t.match(outer, rule, nodes[early], nodes[5 if other else 4], {}, 1)
            t.rewrite_end(outer, nodes[5 if other else 4])
        return path

    found = compare(run(tmp_path / "a.viz", False), run(tmp_path / "b.viz", True))
    (scope,) = found["scopes"]
    first: dict[str, Any] = scope["first"]
    assert (first["pass"], first["stepA"], first["stepB"]) == (
        "inner" if inner_first else "outer",
        1,
        1,
    )


def test_passes_go_together_by_name_and_place(tmp_path: Path) -> None:
    def run(path: Path, names: Sequence[str]) -> Path:
        with TraceWriter(path, {"command": ["mycc"]}) as t:
            kernel = t.context_begin("k", "kernel")
            node = t.node("load", "i32")
            for name in names:
                t.rewrite_end(t.rewrite_begin(name, node, context=kernel), node)
            t.context_end(kernel)
        return path

    stores = (
        Store(run(tmp_path / "a.viz", ["lower", "simplify", "merge loops of 32 and 3",
                                       "simplify"])),
        Store(run(tmp_path / "b.viz", ["lower", "simplify", "new", "merge loops of 96 and 8",
                                       "simplify"])),
    )  # fmt: skip
    comparison = Comparison(*stores)
    (scope,) = comparison.overview()["scopes"]
    made = comparison.scopes(scope["a"], scope["b"])
    assert made is not None
    assert [(one["name"], one["state"]) for one in made["passes"]] == [
        ("lower", "equal"),
        ("simplify", "equal"),
        ("new", "added"),
        ("merge loops of 96 and 8", "equal"),
        ("simplify", "equal"),
    ]
    assert (scope["first"]["pass"], scope["first"]["a"]) == ("new", None)
    for store in stores:
        store.close()


def test_texts_without_names_and_lines(tmp_path: Path) -> None:
    """A kernel's name and the lines of the user's program are out; anything else is a change."""

    def run(path: Path, name: str, line: int, text: str) -> Path:
        with TraceWriter(path, {"command": ["mycc"], "compiler": COMPILER}) as t:
            node = t.node("load", "i32")
            plan = t.context_begin("plan", "schedule")
            t.artifact(plan, "memory", "", f"t0 = float32[4]  (/x{line}/net.py:{line} relu)\n")
            t.context_end(plan)
            kernel = t.context_begin(name, "kernel")
            t.rewrite_end(t.rewrite_begin("peephole", node, context=kernel), node)
            t.artifact(kernel, "mycpu_asm", "mycpu", f".entry {name}\n{text}\nret\n")
            t.context_end(kernel)
        return path

    a = run(tmp_path / "a.viz", "k_32_abcd", 10, "add r1, r2")
    assert compare(a, run(tmp_path / "b.viz", "k_32_wxyz", 77, "add r1, r2"))["equal"]
    other = compare(a, run(tmp_path / "c.viz", "k_32_abcd", 10, "add r1, r3"))
    assert {s["kind"]: s["state"] for s in other["scopes"]} == {
        "schedule": "equal",
        "kernel": "changed",
    }
