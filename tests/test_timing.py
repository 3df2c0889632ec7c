"""No test depends on how fast a machine is: none asserts that something took less than so many
seconds. What must not take long is bounded in units of work (tests/effort.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}


def is_span(node: ast.expr) -> bool:
    """Whether an expression is what a clock says, less what it said before."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    call = node.left
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr.removesuffix("_ns") in CLOCKS
    )


def judged_by_a_clock(tree: ast.AST) -> Iterator[int]:
    """Lines of assertions that compare a span of time, or a name that stands for one, with a
    number."""
    spans = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_span(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        for compared in ast.walk(node.test):
            if isinstance(compared, ast.Compare):
                sides = [compared.left, *compared.comparators]
                timed = any(
                    is_span(s) or (isinstance(s, ast.Name) and s.id in spans) for s in sides
                )
                if timed and any(isinstance(s, ast.Constant) for s in sides):
                    yield node.lineno


def test_no_test_is_judged_by_a_clock() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if "bench" not in path.relative_to(TESTS).parts
        for line in judged_by_a_clock(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_what_is_found() -> None:
    text = """
assert time.monotonic() - began < 3
took = time.process_time() - began
assert 0 < took < 5, "late"
assert took < share
"""
    assert [*judged_by_a_clock(ast.parse(text))] == [2, 4]
