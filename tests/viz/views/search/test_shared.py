"""One table of queries and hits for the server and for the page of an exported file: the server's
side of it. viz/web/test/offline.test.ts is the page's."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.viz.share.test_export import BLOCK, entries
from tests.viz.views.search.queries import MISTAKES, STRUCTURES, TEXTS, random_structures
from viz.coredialect.adapter import DIALECT
from viz.share.copy import write_trace
from viz.share.held.search import HeldSearch
from viz.share.html import export_html
from viz.views.search.find import KINDS
from viz.views.store import Store
from viz.write.writer import TraceWriter

ROOT = Path(__file__).resolve().parents[4]
TRACE = ROOT / "tests" / "viz" / "format" / "traces" / "version2.trace"
SHARED = ROOT / "viz" / "web" / "test" / "data" / "search.json"
SHARED_TEXTS = SHARED.with_name("search_texts.json")
"""Of a run whose passes have texts."""
SEED, RANDOM = 7, 60
SEARCHED = (
    "/api/A/tree",
    "/api/A/search-index",
    "/api/A/kernels/",
    "/api/A/rewrites/",
    "/api/A/pass-texts/",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("shared") / "old.viz"
    shutil.copy(TRACE, path)
    made = Store(path)
    yield made
    made.close()


@pytest.fixture
def with_texts(tmp_path: Path) -> Iterator[Store]:
    made = Store(passes_with_texts(tmp_path / "texts.viz"))
    yield made
    made.close()


def passes_with_texts(path: Path) -> Path:
    """Three passes: one removes a line and has other names of values, one turns it round, and of
    one there is the text after it alone."""
    texts = (
        "module {\n  %0 = t.a\n  %1 = t.dead(%0)\n  t.use(%0)\n  t.use(%0)\n}\n",
        "module {\n  %7 = t.a\n  t.use(%7)\n  t.use(%7)\n  T.USE(%7, %7#1)\n}\n",
    )
    with TraceWriter(path, {"command": ["t"]}) as t:
        context, rule = t.context_begin("a", "module", at=0), t.rule("dce")
        old, new = t.node("module", src=(t.node("t.dead"),)), t.node("module")
        for name, before, after in (("dce", 0, 1), ("again", 1, 0), ("last", None, 1)):
            sink, result = (new, old) if name == "again" else (old, new)
            number = t.rewrite_begin(name, sink, context=context, at=1)
            t.match(number, rule, sink, result, {}, 0)
            if before is not None:
                t.pass_text(number, "before", "mlir", texts[before])
            t.pass_text(number, "after", "mlir", texts[after])
            t.rewrite_end(number, result, at=1)
        t.context_end(context, at=3)
    return path


def hits(store: Store) -> list[tuple[str, Any]]:
    """Every query of the table with what is found."""
    queries = [*TEXTS, *STRUCTURES, *MISTAKES, *random_structures(store, SEED, RANDOM)]
    return [(query, store.search(query[:200])) for query in queries]


def exported(store: Store, folder: Path) -> dict[str, str]:
    """The answers of an exported file that a search reads, in entries as there. Others are left
    out: some tell of today, such as which rules have changed since."""
    for name in ("index.html", "app.js", "app.css"):
        (folder / name).write_text("<html><head></head><body></body></html>")
    found: dict[str, str] = {}
    for block in BLOCK.findall(export_html(store, page=folder).html):
        for paths, packed in json.loads(block).items():
            answers = unpacked({paths: packed})
            if read := {path: a for path, a in answers.items() if path.startswith(SEARCHED)}:
                raw = json.dumps(list(read.values())).encode()
                found[" ".join(read)] = base64.b64encode(gzip.compress(raw, mtime=0)).decode()
    return found


def unpacked(held: dict[str, str]) -> dict[str, Any]:
    """The answers in entries of an export, by their paths."""
    return entries(
        f'<script type="application/json" id="uopviz-data-0">{json.dumps(held)}</script>'
    )


def test_the_table_is_what_the_server_finds(
    store: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    is_table_of(SHARED, hits(store), exported(store, tmp_path), request)


def test_lines_that_passes_changed(
    with_texts: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def lines(query: str) -> list[tuple[str, int, str]]:
        rows = with_texts.tree()["rows"]
        found = [hit for hit in with_texts.search(query)["hits"] if hit["kind"] == "text"]
        return [(rows[h["row"]]["name"], h["source"]["line"], h["source"]["target"]) for h in found]

    dead = [("dce", 3, "before"), ("again", 3, "after")]
    assert lines("t.dead") == dead
    assert lines("%1 = T.dead") == dead
    assert lines("= t.a") == [("last", 2, "after")]
    assert lines("t.use") == [
        *(("dce", 5, "after"), ("again", 5, "before")),
        *(("last", at, "after") for at in (3, 4, 5)),
    ]
    queries = ("t.dead", "%1 = T.dead", "= t.a", "t.use", "T.USE", "module", "}", "no such thing")
    found: list[tuple[str, Any]] = [(query, with_texts.search(query)) for query in queries]
    is_table_of(SHARED_TEXTS, found, exported(with_texts, tmp_path), request)


def test_an_export_without_a_trace_finds_the_same_lines() -> None:
    table = json.loads(SHARED_TEXTS.read_text())
    held = unpacked(table["entries"])
    (tree,) = (answer for path, answer in held.items() if path.startswith("/api/A/tree"))
    search = HeldSearch(
        tree["rows"],
        lambda: held["/api/A/search-index"],
        lambda kernel: held.get(f"/api/A/kernels/{kernel}"),
        lambda rewrite: held.get(f"/api/A/pass-texts/{rewrite}"),
        "a.html",
    )
    for query, found in table["answers"]:
        assert search.find(query) == found


def is_table_of(
    path: Path, found: list[tuple[str, Any]], held: dict[str, str], request: pytest.FixtureRequest
) -> None:
    """Whether a table has these answers, of an export with these entries."""
    if request.config.getoption("--update-golden"):
        table = {"commutative": sorted(DIALECT.commutative), "entries": held, "answers": found}
        path.write_text(json.dumps(table, indent=0) + "\n")
    table = json.loads(path.read_text())
    assert table["commutative"] == sorted(DIALECT.commutative)
    assert unpacked(table["entries"]) == unpacked(held), "run this test with --update-golden"
    for (query, known), (asked, now) in zip(table["answers"], found, strict=True):
        assert (query, known) == (asked, json.loads(json.dumps(now)))


def test_the_table_has_hits_of_every_kind_and_mistakes(store: Store) -> None:
    """What the comparison is worth."""
    found = [answer for _, answer in hits(store)]
    kinds = {hit["kind"] for answer in found for hit in answer["hits"]}
    assert kinds == set(KINDS) - {"text"}  # those are in the other table
    assert sum(answer["problem"] is not None for answer in found) >= len(MISTAKES) - 1
    steps = [hit["step"] for answer in found for hit in answer["hits"] if hit["kind"] == "node"]
    assert {0, 1, 2} < set(steps)
    assert sum(hit["passes"] for answer in found for hit in answer["hits"]) > 300
    assert any(hit["passes"] > 1 for answer in found for hit in answer["hits"])


@pytest.mark.parametrize("query", ["add", "relu", "simplify", "MUL(x, CONST 2)", "ADD(x, x)"])
def test_a_copy_gives_the_same_hits(store: Store, tmp_path: Path, query: str) -> None:
    """Numbers of strings differ in a copy: no order may come from them."""
    write_trace(store, tmp_path / "copy.viz", published=True)
    copy = Store(tmp_path / "copy.viz")
    assert copy.search(query) == store.search(query)
    copy.close()
