"""Queries that would take the machine: each ends within its bounds with one clear error."""

from __future__ import annotations

from pathlib import Path

import pytest

import viz
from core import Tensor
from core.errors import TraceError
from viz.fleet import bounded
from viz.fleet.bounded import ask_within_bounds
from viz.fleet.folder import LocalFolder
from viz.fleet.packing import pack

SECONDS = 2.0
BOMBS = {
    "a long text": "SELECT length(repeat('x', 1000000000)) FROM range(100)",
    "long texts": "SELECT repeat('x', 100000000) || range FROM range(3000)",
    "a text of many": "SELECT string_agg(repeat('x', 1000000), '') FROM range(100000)",
    "a long list": "SELECT range(1000000000)",
    "long lists": "SELECT range(100000000) FROM range(100)",
    "a list that can be made": "SELECT range(50000000)",
    "a list of many": "SELECT list(range) FROM range(10000000000)",
    "many rows": "SELECT * FROM range(10000000000)",
    "all pairs": "SELECT sum(a.range % b.range) FROM range(1000000000) a, range(1000000000) b",
    "a sort": "SELECT * FROM range(3000000000) ORDER BY hash(range)",
    "groups": "SELECT hash(range), count(*) FROM range(3000000000) GROUP BY 1",
    "no end": "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM t) SELECT sum(x) FROM t",
    "padding": "SELECT lpad('x', 2000000000, 'y')",
    "a format": "SELECT printf('%1000000000d', 1)",
    "bits": "SELECT bitstring('1', 2000000000)",
    "a long query": "SELECT " + "-".join(["1"] * 100_000),
}

WHY = r"this query (takes more than|needs more than|failed)|ended without an answer \(SIG"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounds")
    with viz.record(folder / "run.viz"):
        (Tensor([1.0] * 7).sqrt() + 1).tolist()
    pack([folder / "run.viz"], LocalFolder(folder / "runs"))
    return folder / "runs"


def test_rows_are_those_of_a_query_in_this_process(runs: Path) -> None:
    names, rows = ask_within_bounds(str(runs), "SELECT kernels, 1.5, NULL, 'ä' FROM runs")
    assert (names[0], rows) == ("kernels", [(1, 1.5, None, "ä")])
    for wrong in ("nonsense", "SELECT '\udcff'", "SELECT * FROM '/etc/passwd'"):
        with pytest.raises(TraceError, match="this query failed"):
            ask_within_bounds(str(runs), wrong)


def test_an_answer_has_a_longest_length(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LENGTH", 1 << 20)
    with pytest.raises(TraceError, match="longer than 1 MB"):
        ask_within_bounds(str(runs), "SELECT repeat('x', 2000000)")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", BOMBS)
def test_a_query_ends_within_its_bounds(
    runs: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TraceError, match=WHY):
        ask_within_bounds(str(runs), BOMBS[name], SECONDS)
    assert [*tmp_path.iterdir()] == []
