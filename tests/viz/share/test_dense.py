"""Passes of an exported file: dense and back, made in one process or in several, damaged."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import viz
from core.tensor import Tensor
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.share.test_export import entries
from viz.share.html import export_html
from viz.share.packed import passes
from viz.share.packed.dense import dense, restored
from viz.share.packed.worker import pack_job
from viz.share.reopened import open_run
from viz.views.store import Store

SHARED = Path(__file__).parents[3] / "viz" / "web" / "test" / "data" / "dense.json"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dense") / "run.viz"
    with viz.record(made):
        for seed in range(20):
            with context(f"schedule {seed}", "schedule"):
                graph_rewrite(random_graph(seed, 30), rules, name="some")
        x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        (x.softmax() @ x).relu().sum().realize()
    return made


@pytest.fixture(scope="module")
def bundles(path: Path) -> list[Any]:
    store = Store(path)
    rows = store.tree()["rows"]
    found = [store.bundle(row["id"]) for row in rows if row["kind"] == "rewrite"]
    store.close()
    return json.loads(json.dumps(found))


def _read(made: Any) -> Any:
    return json.loads(json.dumps(made))


def test_a_pass_comes_back_as_it_was(bundles: list[Any]) -> None:
    assert sum(len(bundle["steps"]) for bundle in bundles) > 300
    for bundle in bundles:
        assert restored(_read(dense(bundle))) == bundle


def test_the_page_reads_what_is_written() -> None:
    """viz/web/test/offline.test.ts restores the same pass."""
    shared = json.loads(SHARED.read_text())
    assert _read(dense(shared["bundle"])) == shared["dense"]
    assert restored(shared["dense"]) == shared["bundle"]


def test_edges_that_lead_elsewhere_are_kept(bundles: list[Any]) -> None:
    """A slot may keep an edge to one that no longer holds its node's source."""
    tried = 0
    for bundle in copy.deepcopy(bundles):
        for step in bundle["steps"]:
            for entry in step["set"]:
                if entry[2]:
                    entry[2][0] = 0
                    tried += 1
        assert restored(_read(dense(bundle))) == bundle
    assert tried > 100


def test_it_takes_two_thirds_of_the_bytes(bundles: list[Any]) -> None:
    plain, packed = (
        gzip.compress(json.dumps(each).encode()) for each in (bundles, [*map(dense, bundles)])
    )
    assert 3 * len(packed) < 2 * len(plain)


def test_other_answers_are_left_alone() -> None:
    for answer in (None, 3, [1], {"version": 1}, {"steps": 2}):
        assert restored(answer) is answer


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a column is missing": lambda made: made["steps"].pop("binds"),
    "a column is short": lambda made: made["steps"]["set"].pop(),
    "no such node": lambda made: made["initial"]["node"].append(10**9),
    "a slot without a node": lambda made: made["initial"]["slot"].append(1),
    "text in place of sources": lambda made: made["nodes"].update(src=["x"]),
    "no object": lambda made: made.update(steps=3),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_pass_is_an_error(bundles: list[Any], damage: str) -> None:
    made = _read(dense(max(bundles, key=lambda bundle: len(bundle["steps"]))))
    DAMAGES[damage](made)
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        restored(made)


def test_several_processes_make_the_same_file(
    path: Path, dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, packed = export_html(Store(path)).html, [0]

    def here(store: Store, numbers: Any) -> passes.Packed:
        packed[0] += 1
        return passes.Packed([], [])

    monkeypatch.setattr(passes, "_WORTH", 1)
    monkeypatch.setattr(passes, "processors", lambda: 2)
    monkeypatch.setattr(passes, "pack_passes", here)
    assert entries(export_html(Store(path)).html) == entries(alone)
    assert packed == [0], "this process has made none"


def test_a_process_that_fails_costs_nothing(
    path: Path, dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = export_html(Store(path)).html
    monkeypatch.setattr(passes, "_WORTH", 1)
    monkeypatch.setattr(passes, "processors", lambda: 2)
    monkeypatch.setattr(passes, "_WORKER", "no.such.module")
    assert entries(export_html(Store(path)).html) == entries(alone)


def test_a_worker_packs_passes_and_counts_what_their_rules_did(path: Path) -> None:
    store = Store(path)
    number = next(row["id"] for row in store.tree()["rows"] if row["kind"] == "rewrite")
    made = pack_job({"trace": str(path), "passes": [number, 10**12]})
    assert [count for count, _ in made["entries"]] == [2]
    assert made["counts"] == [store.bundle(number) and store.node_counts(number), None]


def test_without_its_trace_the_file_shows_its_passes(
    path: Path, bundles: list[Any], dist: Path, tmp_path: Path
) -> None:
    html = export_html(Store(path)).html
    begin, end = html.index('<script type="application/octet-stream"'), html.rindex("<script")
    file = tmp_path / "run.html"
    file.write_text(html[:begin] + html[end:])
    run = open_run(file)
    assert [run.bundle(bundle["rewrite"]) for bundle in bundles] == bundles
    run.close()
