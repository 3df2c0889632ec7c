"""Traces of strangers, of failed runs and of runs without anything in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.hostile import (
    IMAGE,
    SCRIPT,
    circular,
    empty,
    failed,
    hostile,
    million,
    wordy,
)
from tests.browser.served import export, serve

New = Callable[..., Explorer]


def _look_everywhere(e: Explorer) -> None:
    """Visits what shows texts of the trace; each must show as text and do nothing."""
    expect(e.subject).to_contain_text(IMAGE)
    expect(e.inspector.locator("h2")).to_contain_text(IMAGE)
    expect(e.inspector.locator(".snip")).to_contain_text(SCRIPT)
    e.give("Select the matched node", "Switch the inspector between rule and node")
    expect(e.inspector.locator("dl.kv")).to_contain_text("ADD")
    e.give("Switch the inspector between rule and node").press("w")
    expect(e.inspector.get_by_role("heading", name="Why not")).to_be_visible()
    e.press("Escape", "Escape").give("Text diff")
    text = e.page.get_by_role("region", name="Text diff of the step")
    expect(text).to_contain_text(IMAGE)
    e.press("m", "m").give("Input graph")
    expect(e.inspector).to_contain_text("Input graph")
    e.press("ArrowRight", "f")
    expect(e.navigator.get_by_role("group", name="Filters")).to_contain_text(IMAGE)
    e.give("Clear all filters").press("Control+k")
    expect(e.page.get_by_role("combobox")).to_be_focused()
    e.page.keyboard.type("<img")
    expect(e.page.get_by_role("option").first).to_contain_text("<img")
    e.press("Escape", "/")
    expect(e.page.locator("#search")).to_be_focused()
    e.page.keyboard.type("script")
    expect(e.page.get_by_role("listbox", name="Search results")).to_contain_text(SCRIPT)
    e.press("Escape")
    for name, text in (("Python", IMAGE), ("ptx for sm_90", SCRIPT)):
        source = e.sources.get_by_role("region", name=name, exact=True)
        expect(source.locator(".ed")).to_contain_text(text)
    e.page.wait_for_timeout(100)
    assert e.page.evaluate("window.pwned ?? null") is None
    assert e.page.locator("#app img, #app script, #app iframe").count() == 0


def test_markup_in_a_trace_is_text(new_page: New, tmp_path: Path) -> None:
    with serve(hostile(tmp_path / "hostile.viz")) as server:
        e = new_page(sources=True).goto(server.url)
        _look_everywhere(e)
        e.page.goto("about:blank")
        e.errors.clear()
        e.page.evaluate("window.violations = []")


def test_markup_in_an_exported_file_is_text(new_page: New, tmp_path: Path) -> None:
    file = export(hostile(tmp_path / "hostile.viz"), tmp_path / "hostile.html")
    _look_everywhere(new_page(sources=True).goto(file.as_uri()))


def test_a_failed_pass_says_what_where_and_what_to_do(new_page: New, tmp_path: Path) -> None:
    with serve(failed(tmp_path / "failed.viz")) as server:
        e = new_page()
        e.page.goto(f"{server.url}#v=graphs")
        banner = e.page.get_by_role("alert")
        expect(banner).to_contain_text("integer division by zero")
        expect(banner).to_contain_text("explodes")
        expect(banner).to_contain_text("simplify")
        expect(e.inspector).to_contain_text('File "rules.py", line 20, in explodes')
        line = e.navigator.get_by_role("treeitem").filter(has_text="simplify")
        expect(line.get_by_role("img", name="failed")).to_be_visible()
        e.ready().at_step(1)
        e.press("ArrowLeft")
        e.at_step(0)
        e.give("Problems")
        problems = e.page.locator("table.problems")
        expect(problems).to_contain_text("integer division by zero")
        problems.get_by_role("button", name="integer division").click()
        e.at_step(1)


def test_an_empty_trace_says_so(new_page: New, tmp_path: Path) -> None:
    with serve(empty(tmp_path / "empty.viz")) as server:
        e = new_page()
        with e.page.expect_response(lambda r: r.url.endswith("/api/A/traces")):
            e.page.goto(f"{server.url}#v=graphs")
        expect(e.page.locator("h1").last).to_contain_text("rewrote no graph")
        expect(e.page.locator("main")).to_contain_text("VIZ=1")
        e.press("Control+k")
        expect(e.page.get_by_role("combobox")).to_be_focused()
        e.press("Escape")


def test_a_million_steps_in_one_pass(new_page: New, tmp_path: Path) -> None:
    """It opens, says what it leaves out, steps, jumps and scrolls."""
    with serve(million(tmp_path / "million.viz")) as server:
        e = new_page().goto(server.url)
        expect(e.page.locator("#app")).to_contain_text("100,001 to 1,000,000", timeout=60_000)
        e.ready().give("Input graph")
        e.at_step(0)
        for step in (1, 2, 3):
            e.press("ArrowRight")
            e.at_step(step)
        e.give("Last step")
        e.at_step(100_000)
        e.press("ArrowLeft")
        e.at_step(99_999)
        e.page.mouse.move(100, 400)
        for _ in range(5):
            e.page.mouse.wheel(0, 4000)
        e.give("Input graph")
        e.at_step(0)
        e.page.goto("about:blank")


def test_texts_of_a_megabyte_are_cut_with_a_count(new_page: New, tmp_path: Path) -> None:
    with serve(wordy(tmp_path / "wordy.viz")) as server:
        e = new_page().goto(server.url)
        e.press("ArrowRight")
        e.at_step(1)
        expect(e.inspector.locator("h2").first).to_contain_text("more characters")
        assert len(e.page.locator("#app").inner_text()) < 100_000
        assert e.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        e.give("Select the matched node", "Switch the inspector between rule and node")
        expect(e.inspector).to_contain_text("more")
        e.page.goto("about:blank")


def test_a_circle_is_said_and_shown(new_page: New, tmp_path: Path) -> None:
    with serve(circular(tmp_path / "circular.viz")) as server:
        e = new_page().goto(server.url)
        expect(e.page.get_by_role("alert")).to_contain_text("puts a node below itself")
        expect(e.page.get_by_role("alert")).not_to_contain_text("in rule")
        e.press("a")
        e.give("Input graph").press("ArrowRight", "ArrowRight")
        e.at_step(2)
        assert len(e.boxes()) >= 3
        e.page.goto("about:blank")
