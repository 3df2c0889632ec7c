"""The kernel's sources: compiled on demand, linked with the graph both ways, and run."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer, click_line, scrolled_to
from tests.browser.fixtures import Pass
from tests.browser.held import Held

Open = Callable[..., Explorer]


def columns(e: Explorer) -> dict[str, Locator]:
    """The sources that the page chooses beside the user's lines, once both are compiled."""
    found = {name: column(e, name) for name in ("PTX", "AMD ISA")}
    for one in found.values():
        expect(one.locator(".cm-line").nth(5)).to_be_visible(timeout=30_000)
    return found


def column(e: Explorer, name: str) -> Locator:
    return e.sources.get_by_role("region", name=re.compile(f"^{name} for "))


def show(e: Explorer, name: str | re.Pattern[str]) -> None:
    """Presses the chip of a source, or takes it from the menu of those that have none."""
    chips = e.sources.get_by_role("group", name="Sources to show")
    chip = chips.get_by_role("button", name=name)
    if chip.count():
        chip.first.click()
        return
    chips.get_by_role("button", name="Further sources").click()
    e.page.get_by_role("dialog", name="Further sources").locator(".mi", has_text=name).first.click()


def test_a_node_lights_its_lines_in_every_source(open_page: Open, server: Any, rows: Any) -> None:
    """Near the end of the pipeline: a LOAD or STORE has lines in all sources."""
    number, at = _late_pass(server, rows)
    e = open_page(f"r={number}&k=1", sources=True)
    found = columns(e)
    slot = at(("LOAD", "STORE"))
    e.page.evaluate("s => { location.hash += `&s=${s}`; }", slot)
    expect(e.sources.locator(".src-lights")).to_contain_text(re.compile(r"[1-9]\d* lines? in"))
    for name, one in found.items():
        expect(one.locator(".cm-line.cm-hit").first, name).to_be_visible()


def test_a_line_lights_its_nodes_and_a_click_selects_one(
    open_page: Open, server: Any, rows: Any
) -> None:
    number, _ = _late_pass(server, rows)
    e = open_page(f"r={number}&k=1", sources=True)
    found = columns(e)
    e.press("Escape")
    line = scrolled_to(found["PTX"], r"ld\.global|st\.global")
    blank = e.still()
    line.hover()
    expect(found["AMD ISA"].locator(".cm-line.cm-hit").first).to_be_attached()
    assert e.still() != blank, "no node is lit"
    line.click()
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text("u")


@pytest.mark.parametrize("page", ["graphs", "kernel"])
def test_the_clicked_column_never_moves(
    open_kernel: Open, open_page: Open, some_pass: Pass, page: str
) -> None:
    """Nor does the clicked line, also where the edge of the column cuts it."""
    e = open_kernel() if page == "kernel" else open_page(some_pass.at(2), sources=True)
    columns(e)
    for one in e.sources.locator(".src-cols > .col").all():
        scroller = one.locator(".cm-scroller")
        for top in (300, 309, 355):
            for x, y in scroller.evaluate(EDGES, top):
                before = scroller.evaluate("(el, top) => (el.scrollTop = top, el.scrollTop)", top)
                e.page.mouse.click(x, y)
                expect(one.locator(".cm-gutterElement.cm-clicked")).to_have_count(1)
                e.page.evaluate(FRAMES)
                assert scroller.evaluate("el => el.scrollTop") == before, (y, top)


EDGES = """(el, top) => {
  el.scrollTop = top;
  const box = el.getBoundingClientRect();
  const seen = [...el.querySelectorAll(".cm-line")]
    .map((line) => line.getBoundingClientRect())
    .map((line) => [Math.max(line.top, box.top), Math.min(line.bottom, box.bottom)])
    .filter(([from, to]) => to - from > 2);
  return [0, seen.length >> 1, seen.length - 1].map((i) => [
    box.left + 90,
    (seen[i][0] + seen[i][1]) / 2,
  ]);
}"""
"""Points on the first, a middle and the last line that are in view, of a text that is scrolled."""
FRAMES = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"


@pytest.fixture
def open_kernel(new_page: Open, server: Any, rows: Any) -> Open:
    """Opens the page of the first kernel, and waits for its sources."""

    def make() -> Explorer:
        e = new_page(sources=True)
        kernel = next(r for r in rows if r["label"] == "kernel")
        e.page.goto(f"{server.url}#kernel={kernel['id']}")
        columns(e)
        return e

    return make


def test_a_line_of_the_kernels_page_lights_others_and_leads_to_its_node(open_kernel: Open) -> None:
    e = open_kernel()
    click_line(column(e, "PTX"), "st.global")
    for name in ("Python", "AMD ISA"):
        other = e.sources.get_by_role("region", name=re.compile(f"^{name}"))
        expect(other.locator(".cm-line.cm-hit").first).to_be_visible()
    store = scrolled_to(column(e, "AMD ISA"), "global_store")
    expect(store).to_have_class(re.compile("cm-hit"))
    e.sources.get_by_role("button", name=re.compile("nodes?: show in Graphs")).click()
    e.ready()
    expect(e.inspector.get_by_role("tab", name="Node", selected=True)).to_be_visible()
    expect(e.inspector).to_contain_text("STORE")
    expect(column(e, "PTX").locator(".cm-gutterElement.cm-clicked")).to_be_visible()


def test_what_was_said_of_a_line_goes_with_the_next_one(open_kernel: Open) -> None:
    e = open_kernel()
    said = e.page.locator(".status")
    click_line(column(e, "PTX"), ".version")
    expect(said).to_contain_text("No node stands behind this line")
    click_line(column(e, "PTX"), "st.global")
    expect(said).not_to_contain_text("No node stands behind")


def _late_pass(server: Any, rows: Any) -> tuple[int, Callable[[tuple[str, ...]], int]]:
    """The last changing pass of the first kernel, and a finder of slots by op."""
    kernel = next(r for r in rows if r["label"] == "kernel")
    number = [r for r in rows if r["parent"] == kernel["row"] and r["steps"]][-1]["id"]
    bundle = server.get(f"rewrites/{number}")

    def find(ops: tuple[str, ...]) -> int:
        initial = bundle["initial"]
        for slot, node in zip(initial["slot"], initial["node"], strict=True):
            if bundle["ops"][bundle["nodes"]["op"][node]] in ops:
                return int(slot)
        raise AssertionError(f"no {ops} in the graph")

    return number, find


def test_run_reports_time_and_equality(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    box = e.subject.locator(".runbox")
    box.get_by_role("button", name="Run", exact=True).click()
    result = box.get_by_role("button", name="Result of the run")
    expect(result).to_contain_text("equal", timeout=40_000)
    expect(result).to_contain_text(re.compile(r"\d (ns|µs|ms)"))
    expect(result).to_contain_text("100 runs")
    result.click()
    card = e.page.get_by_role("dialog", name="Result of the run")
    for text in ("Equal to the reference", "CPU", "Median", "p90", "Max error"):
        expect(card).to_contain_text(text)
    e.press("Escape")
    expect(card).to_have_count(0)


def test_runs_are_compared_over_devices_and_optimisations(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2), viewport={"width": 1440, "height": 900})
    box = e.subject.locator(".runbox")
    result = box.get_by_role("button", name="Result of the run")

    def run(choice: str | None) -> None:
        if choice is not None:
            box.get_by_role("button", name="Device and optimizations").click()
            e.page.get_by_role("checkbox", name=choice, exact=True).click()
        box.get_by_role("button", name="Run", exact=True).click()
        expect(result).to_contain_text("equal", timeout=40_000)

    compared = re.compile("less time|more time|the time|as fast|same time")  # by the machine
    run(None)
    expect(result).not_to_contain_text(compared)
    run("None")
    expect(result).to_contain_text(compared)
    run("REFERENCE")
    place, bar = box.bounding_box(), e.subject.bounding_box()
    assert place is not None and bar is not None
    assert place["x"] + place["width"] <= bar["x"] + bar["width"]
    result.click()
    table = e.page.get_by_role("table", name="Runs of this kernel")
    words = [row.inner_text().split() for row in table.locator("tbody tr").all()]
    assert [row[:2] for row in words] == [["CPU", "auto"], ["CPU", "none"], ["REFERENCE", "none"]]
    assert not compared.search(" ".join(words[0]))
    assert compared.search(" ".join(words[1]))
    assert table.locator(".cadd", has_text=compared).count() == 0  # not in turn: no claim
    e.press("Escape")
    box.get_by_role("button", name="Device and optimizations").click()
    e.page.get_by_role("textbox", name="Custom optimizations").fill("UPCAST(9, 4)")
    e.press("Enter")
    box.get_by_role("button", name="Device and optimizations").click()
    e.page.get_by_role("checkbox", name="CPU", exact=True).click()
    box.get_by_role("button", name="Run", exact=True).click()
    failed = box.get_by_role("button", name="Why the run failed")
    expect(failed).to_contain_text("does not apply", timeout=40_000)


def test_nothing_runs_by_itself(open_page: Open, some_pass: Pass) -> None:
    e = open_page("", sources=True)
    asked: list[str] = []
    e.page.on("request", lambda r: asked.append(r.url) if r.url.endswith("/run") else None)
    e.page.evaluate("h => { location.hash = h; }", some_pass.at(3))
    e.at_step(3)
    e.page.reload()
    e.ready()
    columns(e)
    assert [url for url in asked if "/kernels/" in url] == []


def test_the_sources_are_large_or_small(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2), sources=True)
    columns(e)
    before = e.canvas().bounding_box()
    regions = e.sources.locator(".src-cols > section")
    count = regions.count()
    e.press("s")
    expect(e.sources.locator(".cm-line")).to_have_count(0)
    expect(regions).to_have_text(re.compile("^Select a node"))  # nothing is lit
    e.give("Select the matched node")
    expect(regions).to_have_count(count)  # a line of each
    after = e.canvas().bounding_box()
    assert before is not None and after is not None and after["height"] > before["height"] + 100
    e.press("s")
    expect(regions).to_have_count(count)
    columns(e)


@pytest.mark.parametrize(("width", "most"), [(1280, 3), (1920, 4)])
def test_a_further_source_takes_the_place_of_the_one_used_longest_ago(
    open_page: Open, some_pass: Pass, width: int, most: int
) -> None:
    e = open_page(some_pass.at(2), sources=True, viewport={"width": width, "height": 900})
    columns(e)
    regions = e.sources.locator(".src-cols > .col")
    expect(regions).to_have_count(most)
    column(e, "PTX").locator(".cm-line").nth(3).click()
    column(e, "AMD ISA").locator(".cm-line").nth(3).click()
    show(e, re.compile("^LLVM IR"))
    expect(regions).to_have_count(most)
    expect(column(e, "LLVM IR")).to_be_visible()
    for name in ("PTX", "AMD ISA"):
        expect(column(e, name)).to_be_visible()
    boxes = [one.bounding_box() for one in regions.all()]
    assert all(a and b and abs(a["width"] - b["width"]) < 2 for a, b in pairwise(boxes))


def test_the_processors_assembly_is_compiled_on_demand(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2), sources=True)
    show(e, re.compile("^CPU assembly.*x86-64"))
    expect(column(e, "CPU assembly").locator(".ed")).to_contain_text("ret", timeout=30_000)


def test_a_page_opened_again_finds_what_was_compiled(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2), sources=True)
    columns(e)
    asked: list[str] = []
    e.page.on("request", lambda r: asked.append(r.url) if r.method == "POST" else None)
    e.page.reload()
    for name in ("PTX", "AMD ISA"):
        expect(column(e, name).locator(".cm-line").nth(5)).to_be_visible()
    assert asked == [], "it was compiled again"


def test_an_edited_text_runs_beside_the_compilers(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2), sources=True, viewport={"width": 1440, "height": 900})
    llvm = column(e, "LLVM IR")
    assert not columns(e)["AMD ISA"].get_by_role("button", name="Edit").count()
    e.press("e")
    text = llvm.get_by_role("textbox", name=re.compile("edited"))
    expect(text).to_be_focused()
    expect(llvm).to_contain_text("as compiled")
    e.page.keyboard.press("Control+Home")
    e.page.keyboard.type("n")  # a letter that is a command elsewhere
    expect(llvm).not_to_contain_text("as compiled")
    e.page.keyboard.press("Control+Enter")
    expect(llvm.get_by_role("alert")).to_contain_text("line 1", timeout=40_000)
    expect(llvm.locator(".cm-fault")).to_contain_text("ntarget")
    expect(llvm.locator(".cm-fault-note")).to_contain_text("expected")
    e.page.keyboard.press("Backspace")
    expect(llvm.locator(".cm-fault")).to_have_count(0)
    e.page.keyboard.press("Control+z")
    expect(llvm.locator(".cm-line").first).to_contain_text("ntarget")
    e.page.keyboard.press("Control+Shift+z")
    expect(llvm.locator(".cm-line").first).to_have_text(re.compile("^target"))
    e.page.keyboard.type("; mine")
    e.page.keyboard.press("Enter")
    assert e.address("k") == "2"
    changes = e.sources.get_by_role("region", name="Changed lines")
    expect(changes.locator(".ln.da")).to_contain_text("; mine")
    llvm.get_by_role("button", name="Run edited").click()
    result = e.subject.locator(".runbox").get_by_role("button", name="Result of the run")
    expect(result).to_contain_text("equal", timeout=40_000)
    result.click()
    table = e.page.get_by_role("table", name="Runs of this kernel")
    words = [row.inner_text().split() for row in table.locator("tbody tr").all()]
    assert [row[:2] for row in words] == [["CPU", "auto"], ["CPU", "edited"]]
    e.press("Escape")
    e.press("}")
    expect(llvm.get_by_role("button", name="Edit", exact=True)).to_be_visible()
    e.press("{")
    expect(llvm.locator(".cm-line").first).to_contain_text("; mine")
    llvm.get_by_role("button", name="Versions").click()
    menu = e.page.get_by_role("checkbox")
    expect(menu.filter(has_text="ran")).to_have_count(1)
    expect(menu.filter(has_text="failed")).to_have_count(1)
    menu.filter(has_text="failed").click()
    expect(llvm.locator(".cm-line").first).to_contain_text("ntarget")
    llvm.get_by_role("button", name="Discard").click()
    expect(llvm.locator(".cm-line").first).to_have_text(re.compile("^target"))
    expect(e.page.get_by_role("slider", name="Step")).to_be_visible()
    expect(llvm.get_by_role("button", name="Edit", exact=True)).to_be_visible()


def test_a_line_that_is_clicked_before_the_graph_is_there(
    new_page: Callable[..., Explorer], server: Any, rows: Any
) -> None:
    """Its node is selected once the graph has come."""
    group = next(r for r in rows if r["name"] == "group")
    e = new_page(sources=True)
    held = Held(e.page, f"**/api/A/rewrites/{group['id']}")
    e.page.goto(f"{server.url}#r={group['id']}&k=0")
    one = e.sources.get_by_role("region", name="Grouping", exact=True)
    one.locator(".cm-line").filter(has_text="; stored: ").first.click()
    expect(e.sources.locator(".src-lights")).to_contain_text("Grouping")
    held.wait()
    assert "s=" not in e.page.url
    held.let_go()
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text("u")


def test_a_schedule_says_what_it_decided(open_page: Open, server: Any, rows: Any) -> None:
    """Grouping, order and memory plan stand where the sources of a kernel stand, and a line lights
    its node."""
    schedule = next(r for r in rows if r["label"] == "schedule")
    inside = [r for r in rows if r["parent"] == schedule["row"]]
    group = next(r for r in inside if r["name"] == "group")
    e = open_page(f"r={group['id']}&k=0", sources=True)
    for name, text in (
        ("Grouping", "; stored: the end of the elementwise chain after a reduce"),
        ("Order of kernels", "item 0 = kernel stores"),
        ("Memory plan", "intermediate results"),
    ):
        one = e.sources.get_by_role("region", name=name, exact=True)
        expect(one.locator(".ed")).to_contain_text(text)
    expect(
        e.sources.get_by_role("group", name="Sources to show").get_by_role("button")
    ).to_have_count(0)
    one = e.sources.get_by_role("region", name="Grouping", exact=True)
    line = one.locator(".cm-line").filter(has_text="; stored: ").first
    line.click()
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text("u")
    expect(e.sources.locator(".src-lights")).to_contain_text(re.compile(r"[1-9]\d* lines? in"))
