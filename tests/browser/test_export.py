"""A run as one file: opened from disk, offline, it does what the live page does, but compile."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Download, Route, expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import PROGRAMS, Process, export, record, serve
from viz.share.reopened import open_run
from viz.write.writer import TraceWriter

New = Callable[..., Explorer]


@pytest.fixture(scope="module")
def exported(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded run as a file."""
    return export(trace, tmp_path_factory.mktemp("export") / "bug.html")


def test_the_file_opens_at_a_link(new_page: New, exported: Path, some_pass: Pass) -> None:
    e = new_page(offline=True).goto(f"{exported.as_uri()}#{some_pass.at(3)}")
    e.at_step(3)
    e.page.reload()
    e.ready().at_step(3)


def test_a_large_graph_is_laid_out_by_the_worker_of_the_file(new_page: New, tmp_path: Path) -> None:
    """The worker is started from the file itself, under the file's policy."""
    path = tmp_path / "large.viz"
    with TraceWriter(path, {"command": ["large.py"]}) as t:
        nodes = [t.node("CONST", "int32", arg=str(i)) for i in range(40)]
        for i in range(1200):
            nodes.append(t.node("ADD", "int32", (nodes[i], nodes[(i * 7) % len(nodes)])))
        sink = t.node("SINK", "void", nodes[-40:])
        done = t.node("SINK", "void", nodes[-39:])
        rule = t.rule("shorten", "rules.py", 1)
        step = t.rewrite_begin("shorten", sink=sink)
        t.match(step, rule, sink, done, {}, ns=100)
        t.rewrite_end(step, done, nodes=1200)
    e = new_page(offline=True).goto(export(path, tmp_path / "large.html").as_uri())
    e.give("Fold or show repeated blocks").press("a")  # with repeated blocks shown
    expect(e.scope).to_have_text(re.compile(r"^All, (1,\d{3}) of \1$"))
    expect(e.page.locator(".working")).to_have_count(0)
    assert e.boxes()


def test_the_page_exports_in_the_background(
    open_page: Callable[..., Explorer], server: Process, some_pass: Pass, tmp_path: Path
) -> None:
    e = open_page(some_pass.at(1)).ready()
    menu = e.page.get_by_role("button", name="Share", exact=True)
    menu.click()
    running = {"state": "running", "progress": "42%, copying", "result": None, "error": None}

    def at_work(route: Route) -> None:  # in truth it may be done at once
        route.fulfill(json=running)

    e.page.route("**/api/jobs/*", at_work)
    with e.page.expect_download(timeout=60_000) as download:
        e.page.get_by_role("button", name="Whole run", exact=True).click()
        progress = e.page.get_by_role("progressbar", name="Export")
        expect(progress).to_have_attribute("aria-valuenow", "42")
        expect(progress).to_contain_text("Exporting 42%")
        expect(menu).to_have_count(0)
        e.press("ArrowRight")  # the page goes on meanwhile
        e.at_step(2)
        e.page.unroute("**/api/jobs/*")
    expect(menu).to_be_visible()
    expect(e.page.get_by_role("status").filter(has_text="The export is saved")).to_have_count(1)
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    with closing(open_run(path)) as again:
        assert len(again.tree()["rows"]) == len(server.rows())


def test_captured_values_are_kept_on_request(
    new_page: New, server: Process, tmp_path: Path
) -> None:
    trace = record(PROGRAMS / "captured.py", tmp_path / "run.viz", VIZ_CAPTURE="*")
    box = re.compile(r"^With values captured of \d kernels?, up to [\d.]+ [KM]?B more$")
    with serve(trace) as other:
        e = new_page().goto(other.url)
        kept = []
        for wanted in (False, True):
            e.page.get_by_role("button", name="Share", exact=True).click()
            menu = e.page.get_by_role("dialog", name="Share")
            tick = menu.get_by_role("checkbox", name=box)
            expect(tick).not_to_be_checked()  # each export anew
            if wanted:
                tick.click()
                expect(tick).to_be_checked()
            with e.page.expect_download(timeout=60_000) as download:
                menu.get_by_role("button", name="Whole run", exact=True).click()
            kept.append(captured_in(download.value, tmp_path))
        e.press("Control+k")
        e.page.keyboard.type("with values captured")
        with e.page.expect_download(timeout=60_000) as download:
            e.press("Enter")
        kept.append(captured_in(download.value, tmp_path))
        held = other.get("run")["captured"]
    assert held["kernels"] > 0
    assert [one["bytes"] for one in kept] == [0, held["bytes"], held["bytes"]]
    e = new_page().goto(server.url)  # of a run without any
    e.page.get_by_role("button", name="Share", exact=True).click()
    menu = e.page.get_by_role("dialog", name="Share")
    expect(menu.get_by_role("checkbox", name="With the passes of the targets")).to_be_visible()
    expect(menu.get_by_role("checkbox", name=re.compile("values"))).to_have_count(0)


def captured_in(download: Download, folder: Path) -> dict[str, int]:
    """How much an exported file holds of the values of its run."""
    path = folder / "saved.html"
    download.save_as(path)
    with closing(open_run(path)) as again:
        return again.run()["captured"]


@pytest.mark.parametrize("way", ["button", "key"])
def test_an_export_is_cancelled(
    open_page: Callable[..., Explorer], some_pass: Pass, way: str
) -> None:
    e = open_page(some_pass.at(1)).ready()
    ended: list[str] = []
    e.page.on("request", lambda r: ended.append(r.url) if r.method == "DELETE" else None)
    downloads: list[Download] = []
    e.page.on("download", lambda d: downloads.append(d))
    e.give("Export the whole run as one HTML file")
    expect(e.page.get_by_role("progressbar", name="Export")).to_be_visible()
    if way == "button":
        e.page.get_by_role("button", name="Cancel the export", exact=True).click()
    else:
        e.press("Escape")
    expect(e.page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    expect(e.page.get_by_role("status").filter(has_text="The export was cancelled")).to_have_count(
        1
    )
    assert len(ended) == 1
    assert "/api/jobs/" in ended[0]
    assert downloads == []
    expect(e.page.get_by_role("alert")).to_have_count(0)


QUERIES = ("relu", "mul", "recorded.py", "fmul", "MUL(x, CONST 2)", "ADD(x, _)", "MUL(x,", "zzz")


def listed(e: Explorer, query: str) -> list[str]:
    """What the search box lists for a query, once all has been searched."""
    e.page.locator("#search").fill(query)
    said = e.page.locator(".nav [role=status], .nav .state").first
    expect(said).to_be_visible()
    expect(said).not_to_contain_text(re.compile("Searching|so far"))
    lines = e.page.locator("#nav-list .trow")
    return [said.inner_text(), *lines.all_inner_texts()]


def test_the_search_finds_offline_what_it_finds_with_a_server(
    new_page: New, trace: Path, exported: Path, tmp_path: Path
) -> None:
    """In a file with the texts of the run only; one with further texts finds their lines, too."""
    own = export(trace, tmp_path / "own.html", "--texts-for", "none")
    file = new_page(offline=True).goto(own.as_uri())
    with serve(trace) as server:  # of its own: nothing was compiled there
        served = new_page().goto(server.url)
        found = {query: (listed(served, query), listed(file, query)) for query in QUERIES}
    for query, (with_server, without) in found.items():
        assert without == with_server, query
    assert "No results" in found["zzz"][0][0] and "is expected" in found["MUL(x,"][0][0]
    assert any("Nodes" in line for line in found["ADD(x, _)"][0])
    assert any("Lines of sources" in line for line in found["fmul"][0])
    more = listed(new_page(offline=True).goto(exported.as_uri()), "st.global")
    assert any("sm_90, line" in line for line in more)


def test_a_hit_of_a_structure_selects_its_node_offline(new_page: New, exported: Path) -> None:
    e = new_page(offline=True).goto(exported.as_uri())
    e.page.locator("#search").fill("MUL(x, _)")
    hits = e.page.get_by_role("listbox", name="Search results")
    head = hits.locator(".grp", has_text="Nodes")
    expect(head).to_be_visible()
    hit = hits.get_by_role("option").filter(has_text="MUL").last
    hit.click()
    e.ready()
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text("u")
    expect(e.inspector).to_contain_text("MUL")
