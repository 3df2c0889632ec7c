"""Texts of targets that an exported file shows unasked: the same as a recorded compilation gives,
kept for the next export, and none lost to a kernel that cannot be compiled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from core.helpers import NOOPT
from core.tensor import Tensor
from core.uop.data.serial import from_data
from core.uop.ops import Ops
from viz.cli import main
from viz.coredialect.adapter import USUAL
from viz.jobs.compiled import Wanted, compiled_for
from viz.share.html import export_html
from viz.share.reopened import open_run, open_runs
from viz.views.answers import KERNEL
from viz.views.store import Store
from viz.work.targets import compiled, diskcache
from viz.workers.pool import Pool


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.viz"
    with viz.record(path):
        x = Tensor(np.arange(144, dtype=np.float32).reshape(12, 12))
        ((x @ x).relu() + 5).realize()
        (x.exp() * 7).sum().realize()
    return path


@pytest.fixture
def store(recorded: Path) -> Iterator[Store]:
    made = Store(recorded)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def texts_of(store: Store, kernel: int, target: str) -> dict[str, Any]:
    artifacts = (store.kernel(kernel) or {})["artifacts"]
    return {one["kind"]: one for one in artifacts if one["target"] == target}


def silent(done: int, count: int, last: str) -> None:
    """Nobody wants to hear it."""


@pytest.mark.parametrize("target", USUAL)
def test_texts_and_links_are_those_of_a_recorded_compilation(
    recorded: Path, store: Store, target: str
) -> None:
    other = Store(recorded)
    with (
        compiled_for(store, store.kernels(), Wanted(usual=True), silent) as failed,
        compiled_for(other, other.kernels(), Wanted(passes=[target]), silent) as also_failed,
    ):
        assert failed == also_failed == []
        for kernel in store.kernels():
            ours, theirs = texts_of(store, kernel, target), texts_of(other, kernel, target)
            assert {*ours} == {*theirs} - {"sass"}
            for kind, text in ours.items():
                assert text["text"] == theirs[kind]["text"]
                assert text["origins"] == theirs[kind]["origins"]
                assert any(text["origins"])
                assert text["passes"] is None
    other.close()


def test_a_comparison_that_is_written_as_a_page_has_them_of_both_runs(
    product: Path, tmp_path: Path
) -> None:
    page = tmp_path / "both.html"
    assert main(["diff", str(product), str(product), "--html", str(page)]) == 0
    runs = open_runs(page)
    for run in runs:
        (kernel,) = run.kernels()
        artifacts = (run.ask(KERNEL, kernel) or {"artifacts": []})["artifacts"]
        assert {"ptx", "amd_isa"} <= {one["kind"] for one in artifacts}
        run.close()
    assert len(runs) == 2


STORES = {"ptx": r"st\.global", "amd_isa": "global_store", "llvm": r"^ *store .* addrspace\(1\)"}
"""What a line has that writes the result."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("product") / "run.viz"
    with viz.record(path):
        x = Tensor(np.ones((64, 64), np.float32))
        (x @ x).realize()
    return path


@pytest.mark.parametrize("passes", [False, True], ids=["texts", "recorded"])
@pytest.mark.parametrize("target", USUAL)
def test_a_line_that_writes_comes_from_the_store_also_under_a_condition(
    product: Path, target: str, passes: bool
) -> None:
    """A store with a gate becomes one in an IF after the last rewrite: no event tells of it."""
    store = Store(product)
    kernel = next(row["id"] for row in store.tree(0)["rows"] if row["label"] == "kernel")
    wanted = Wanted(passes=[target]) if passes else Wanted(usual=True)
    data, ids = store.kernel_graph(kernel) or ({}, [])
    nodes = from_data({**data, "roots": list(range(len(ids)))})
    ops = {number: node.op for number, node in zip(ids, nodes, strict=True)}
    with compiled_for(store, [kernel], wanted, silent) as failed:
        assert failed == []
        for kind, text in texts_of(store, kernel, target).items():
            written = [
                {ops[node] for node in origins}
                for line, origins in zip(text["text"].split("\n"), text["origins"], strict=False)
                if kind in STORES and re.search(STORES[kind], line)
            ]
            assert all(of == {Ops.STORE} for of in written), kind
            assert written or kind not in STORES
    store.close()


def test_a_second_export_compiles_nothing(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in (Wanted(usual=True), Wanted(passes=USUAL)):
        first, second = Store(recorded), Store(recorded)
        with compiled_for(first, first.kernels(), wanted, silent) as failed:
            assert failed == []
            made = [first.kernel(kernel) for kernel in first.kernels()]
        with monkeypatch.context() as patched:
            patched.setattr(Pool, "ask", lambda *_: pytest.fail("it was compiled again"))
            with compiled_for(second, second.kernels(), wanted, silent) as failed:
                assert failed == []
                assert [second.kernel(kernel) for kernel in second.kernels()] == made
        first.close()
        second.close()


def test_other_flags_and_damage_are_compiled_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, _ = store.kernel_graph(store.kernels()[0]) or ({}, [])
    key = diskcache.made_of(graph, "sm_90")
    diskcache.keep_texts([(key, [{"kind": "ptx"}])])
    assert diskcache.find_texts(key) is None, "no text of the worker"
    assert diskcache.find_texts(diskcache.made_of(graph, "sm_80")) is None
    with compiled_for(store, store.kernels()[:1], Wanted(texts=["sm_90"]), silent) as failed:
        assert failed == []
        assert texts_of(store, store.kernels()[0], "sm_90")["ptx"]["text"]
    assert diskcache.find_texts(key)
    diskcache._surroundings.cache_clear()
    monkeypatch.setattr(NOOPT, "value", 1)
    assert diskcache.find_texts(diskcache.made_of(graph, "sm_90")) is None
    monkeypatch.undo()
    diskcache._surroundings.cache_clear()


def test_a_kernel_that_cannot_be_compiled_costs_no_other_its_text(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = store.kernels()
    graph_of = compiled.graph_of

    def broken(run: Store, kernel: int) -> Any:
        graph, numbers = graph_of(run, kernel)
        if kernel == first:
            graph = json.loads(json.dumps(graph).replace('"STORE"', '"NO_SUCH_OP"'))
        return graph, numbers

    monkeypatch.setattr(compiled, "graph_of", broken)
    with compiled_for(store, store.kernels(), Wanted(usual=True), silent) as failed:
        name = (store.kernel(first) or {})["name"]
        assert len(failed) == len(USUAL)
        assert all(said.startswith(f"not compiled: {name} for ") for said in failed)
        (ptx,) = texts_of(store, first, "sm_90").values()
        assert ptx["kind"] == "ptx" and "unknown op" in ptx["error"]["what"]
        for kernel in others:
            assert all(texts_of(store, kernel, target) for target in USUAL)


def test_an_exported_file_has_them_and_keeps_them(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, again = tmp_path / "a.html", tmp_path / "b.html"
    assert main(["export", str(recorded), "-o", str(file)]) == 0
    assert main(["export", str(file), "--texts-for", "none", "-o", str(again)]) == 0
    assert "left out" not in capsys.readouterr().out
    for path in (file, again):
        run = open_run(path)
        kernels = run.kernels()
        assert kernels
        for kernel in kernels:
            artifacts = (run.kernel(kernel) or {})["artifacts"]
            found = {(one["kind"], one["target"]) for one in artifacts}
            assert {("ptx", "sm_90"), ("amd_isa", "gfx942")} <= found
            assert not [one for one in artifacts if one["error"]]
        run.close()


def test_a_redacted_file_has_them_without_folders(store: Store) -> None:
    with compiled_for(store, store.kernels(), Wanted(texts=["sm_90"]), silent):
        kernel = store.kernels()[0]
        (found,) = [one for one in store.texts.of(kernel) if one["kind"] == "ptx"]
        found["text"] += "// /home/somebody/secret/file.py\n"
        store.texts.add(kernel, [found])
        html = export_html(store, redact=True).html
    path = Path(store.path).with_name("redacted.html")
    path.write_text(html)
    run = open_run(path)
    texts = [one["text"] for one in (run.kernel(kernel) or {})["artifacts"] if one["kind"] == "ptx"]
    assert ".visible .entry" in texts[0] and "secret" not in texts[0]
    run.close()


def test_texts_for_a_trace_are_refused(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "a.viz")
    assert main(["export", str(recorded), "--texts-for", "sm_90", "-o", file]) == 2
    assert "--passes-for" in capsys.readouterr().err
