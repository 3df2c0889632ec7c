"""Traces that earlier versions of the program wrote: they open, and nothing of them is lost.

`traces/version2.trace` was recorded by the last program that wrote version 2, and published:
three graphs of `tests/viz/samples.py`, and a Tensor program of one kernel. `traces/version3.trace`
holds the like, of the last program that wrote version 3.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from viz.share.copy import write_trace
from viz.share.sql import TABLES, run_query
from viz.views.store import Store

TRACES = Path(__file__).parent / "traces"
VERSION2 = TRACES / "version2.trace"


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "old.viz"
    shutil.copy(VERSION2, path)
    made = Store(path)
    yield made
    made.close()


def count(store: Store, table: str) -> int:
    return run_query(store.files, f"SELECT count(*) FROM {table}")[1][0][0]


def test_it_opens_without_problems(old: Store) -> None:
    run = old.run()
    assert run["problems"] == []
    assert run["format"]["trace"] == 2
    assert run["totals"] == {
        "contexts": 4, "kernels": 2, "rewrites": 29, "steps": 238, "launches": 1
    }  # fmt: skip


def test_every_step_can_be_replayed(old: Store) -> None:
    matches = 0
    for rewrite in old.files[0].rewrites.values():
        bundle = old.bundle(rewrite.id)
        assert bundle is not None
        assert len(bundle["steps"]) == rewrite.matches
        matches += rewrite.matches
    assert matches == 238


def test_its_kernels_have_their_texts_and_nodes(old: Store) -> None:
    compiled, sample = (old.kernel(context) for context in old.kernels())
    assert compiled is not None and sample is not None
    assert compiled["tensorCalls"] == [
        f"/tmp/tr/old.py:12 {call}" for call in ("relu", "sum", "add")
    ]
    assert [a["kind"] for a in compiled["artifacts"]] == ["llvm"]
    assert "define void @r_3_4" in compiled["artifacts"][0]["text"]
    assert sample["artifacts"][0]["text"] == "define\nret\n"
    data, _ = old.kernel_graph(compiled["context"]) or ({}, [])
    assert {node[0] for node in data["nodes"]} >= {"SINK", "STORE", "REDUCE_AXIS"}


def test_version_3_opens_whole(tmp_path: Path) -> None:
    path = tmp_path / "old.viz"
    shutil.copy(TRACES / "version3.trace", path)
    store = Store(path)
    try:
        run = store.run()
        assert (run["problems"], run["format"]["trace"]) == ([], 3)
        bundles = map(store.bundle, store.files[0].rewrites)
        assert sum(len(bundle["steps"]) for bundle in bundles if bundle is not None) == 195
        (kernel,) = (store.kernel(context) for context in store.kernels())
        assert kernel is not None
        texts = {a["kind"]: zlib.crc32(a["text"].encode()) for a in kernel["artifacts"]}
        del texts["linear"]  # in the words of the program that reads it
    finally:
        store.close()
    assert texts == {"llvm": 2201838863, "choice": 3552843125}


@pytest.mark.parametrize("table", TABLES)
def test_its_tables_are_those_of_its_copy(old: Store, tmp_path: Path, table: str) -> None:
    write_trace(old, tmp_path / "copy.viz")
    copy = Store(tmp_path / "copy.viz")
    try:
        counts = count(old, table), count(copy, table)
    finally:
        copy.close()
    assert counts[0] == counts[1]
    assert counts[0] or table in ("user_lines", "captured", "captured_steps", "origins")
