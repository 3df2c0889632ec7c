"""What `make test` and `make test-all` leave out is named rightly, and what a change touches is
found."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import changed, in_turn, thorough

ROOT = Path(__file__).parents[1]


def test_each_test_that_is_left_out_exists() -> None:
    names = thorough.left_out()
    assert len(names) > 100
    known: set[str] = set()
    for file in {name.partition("::")[0] for name in names}:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        known |= {f"{file}::{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert names - known == set()
    assert not [name for name in names if name.startswith(thorough.KEPT)]


def test_the_longest_have_their_turn() -> None:
    parts = in_turn.parts()
    names = [name for part in parts for name in part]
    assert len({*names}) == len(names) > 100
    assert {*names} <= thorough.left_out()
    ran: set[str] = set()
    for digest in ("0", "1" * 40, "", "2", "f" * 39 + "7"):
        ran |= {*parts[in_turn.part_of(digest)]}
    assert ran == {*names}
    now = {*parts[in_turn.part_of(in_turn.commit())]}
    assert in_turn.resting() == {*names} - now


def test_parts_take_as_long_as_each_other() -> None:
    times = {"a": 9.0, "b": 5.0, "c": 5.0, "d": 5.0, "e": 4.0, "f": 4.0, "g": 4.0, "h": 0.5}
    rows = in_turn.choose(times, times)
    assert [name for _, name in rows] == ["a", "b", "c", "d", "e", "f", "g"]
    taken = [sum(times[name] for part, name in rows if part == at) for at in range(4)]
    assert taken == [9, 9, 9, 9]


def test_cases_are_spread() -> None:
    assert thorough.spread([1, 2, 3]) == [1, 2, 3]
    assert thorough.spread([*range(100)]) == [0, 33, 66, 99]
    assert thorough.spread([*range(5)]) == [0, 1, 3, 4]


def test_the_cheapest_stay(tmp_path: Path) -> None:
    times = [("a", "one", 50), ("a", "two[x]", 4), ("a", "two[y]", 4), ("b", "three", 900)]
    times.append(("journeys.c", "four", 9_000))
    cases = "".join(
        f'<testcase classname="tests.{file}" name="test_{name}" time="{time}"/>'
        for file, name, time in times
    )
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert thorough.choose(report) == ["::".join(("tests/a" + ".py", "test_one"))]


@pytest.mark.parametrize(
    ("file", "touches", "leaves"),
    [
        (
            "core/passes/vectors/expand.py",
            "tests/core/passes/test_final.py",
            "tests/viz/test_cli.py",
        ),
        ("tests/viz/samples.py", "tests/viz/share/test_answers.py", "tests/core/test_jit.py"),
        (
            "viz/share/packed/dense.py",
            "tests/viz/share/test_dense.py",
            "tests/core/test_jit.py",
        ),
        ("viz/web/src/main.tsx", "tests/browser", "tests/viz/test_cli.py"),
        ("tests/viz/test_cli.py", "tests/viz/test_cli.py", "tests/browser"),
        ("docs/cli.md", "tests/docs", "tests/browser"),
        ("pyproject.toml", "tests", "tests/docs"),
    ],
)
def test_what_a_change_touches(file: str, touches: str, leaves: str) -> None:
    found = changed.touched([file])
    assert touches in found
    assert leaves not in found
    assert not changed.touched(["CHANGELOG.md"])
