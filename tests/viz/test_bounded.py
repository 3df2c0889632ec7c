"""JSON answers are bounded, and say what is not in them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from core.uop.engine.rewrite import graph_rewrite
from tests.docs.shapes import Shapes
from tests.viz.samples import random_graph, rules
from tests.viz.test_json import SHAPES
from viz import record
from viz.cli import main
from viz.command.bounded import Bounds, bounded

assert isinstance(SHAPES, Shapes)


def random_data(choose: random.Random, depth: int = 0) -> Any:
    kind = choose.randrange(7) if depth < 4 else choose.randrange(4)
    if kind < 2:
        return choose.randrange(10**6)
    if kind < 4:
        return "x" * choose.choice((3, 30, 300, 6000))
    count = choose.choice((0, 2, 5, 80))
    if kind < 6:
        return [random_data(choose, depth + 1) for _ in range(count if depth < 3 else 3)]
    return {f"k{i}": random_data(choose, depth + 1) for i in range(choose.randrange(1, 5))}


def within(part: Any, whole: Any) -> bool:
    """Whether one is the beginning of the other, at every place."""
    if isinstance(whole, dict):
        return part.keys() == whole.keys() and all(within(part[k], whole[k]) for k in whole)
    if isinstance(whole, list):
        return len(part) <= len(whole) and all(map(within, part, whole))
    if isinstance(whole, str) and part != whole:
        return whole.startswith(part.partition("...")[0]) and "more characters" in part
    return bool(part == whole)


@pytest.mark.parametrize("seed", range(40))
def test_an_answer_fits_and_its_parts_are_those_of_the_whole(seed: int) -> None:
    choose = random.Random(seed)
    data = {f"field{i}": random_data(choose) for i in range(4)}
    made = bounded(data, Bounds(), "ask for less")
    assert len(made.text) <= 16_000
    kept = json.loads(made.text)
    cut = kept.pop("cut", None)
    assert within(kept, data)
    assert (cut is not None) == made.is_cut == (kept != data)
    if cut is not None:
        assert SHAPES.problems(cut, "Cut") == []
        assert cut["lists"] or cut["texts"]


def test_as_much_as_fits_is_kept() -> None:
    rows = [{"name": f"rule {i}", "matches": i} for i in range(5000)]
    made = json.loads(bounded({"rows": rows, "of": 1}, Bounds(), "h").text)
    [said] = made["cut"]["lists"]
    assert said == {"at": "rows", "shown": len(made["rows"]), "of": 5000}
    more = [*rows[: len(made["rows"]) + 1]]
    assert len(json.dumps({**made, "rows": more})) > 16_000
    assert made["cut"]["hint"] == "h"


def test_cells_of_a_row_are_not_parted() -> None:
    rows = [list(range(30)) for _ in range(2000)]
    made = json.loads(bounded({"rows": rows}, Bounds(), "").text)
    assert all(row == rows[0] for row in made["rows"])


def test_limits_can_be_chosen() -> None:
    data = {"rows": [{"a": 1}] * 50}
    assert len(json.loads(bounded(data, Bounds(rows=3), "").text)["rows"]) == 3
    assert json.loads(bounded(data, Bounds(None, None), "").text) == data
    with pytest.raises(TraceError, match="does not fit into 20 characters"):
        bounded(data, Bounds(characters=20), "")
    assert set(json.loads(bounded([{"a": 1}] * 50, Bounds(rows=3), "").text)) == {"items", "cut"}


def test_a_large_pass_is_told_in_brief(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.viz"
    with record(path):
        graph_rewrite(random_graph(1, 2000), rules, name="tidy")
    assert main(["show", str(path), "1", "--json"]) == 0
    out = capsys.readouterr().out
    assert len(out) <= 16_001
    brief = json.loads(out)
    cut = brief.pop("cut")
    assert SHAPES.problems(brief, "PassBrief") == []
    assert cut["lists"][0] == {"at": "steps", "shown": len(brief["steps"]), "of": brief["total"]}
    assert main(["show", str(path), "1", "--json", "--whole"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert SHAPES.problems(whole, "Bundle") == []
    assert len(whole["steps"]) == brief["total"] == sum(r["steps"] for r in brief["rules"])
    numbers = whole["nodes"]["id"]
    for said, step in zip(brief["steps"], whole["steps"], strict=False):
        assert (said["before"], said["after"]) == (numbers[step["before"]], numbers[step["after"]])


@pytest.mark.parametrize(
    "words", [("show", "{}", "99"), ("show", "--rows", "x"), ("node", "{}"), ("query", "{}", "x")]
)
def test_errors_are_json_too(
    words: tuple[str, ...], trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: Any = main([*(word.format(trace) for word in words), "--json"])
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert code == 2
    assert SHAPES.problems(json.loads(out), "Failed") == []
    assert json.loads(out)["error"]["what"] in err
