"""An address says everything: reload, Back and Forward, a link from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.held import Held
from tests.browser.served import PROGRAMS, Process, environment, record, serve

Open = Callable[..., Explorer]

NEEDS_TOKEN = "This page needs an access token"
NO_EDITOR = '{"error": {"what": "no editor is set", "where": "", "hint": "set UOPVIZ_EDITOR"}}'


def test_reload_restores_step_and_selection(open_page: Open, some_pass: Pass) -> None:
    e = (
        open_page(some_pass.at(1))
        .press("ArrowRight", "ArrowRight")
        .give("Select the matched node")
        .press("m")
    )
    slot = str(some_pass.bundle["steps"][2]["result"])
    assert e.selected == slot
    e.wait_address("m", "merged")
    e.page.reload()
    e.ready().at_step(3)
    assert e.address("s") == slot
    assert e.selected == slot
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text("u")
    expect(e.page.locator(".stage-pane:visible")).to_have_count(1)


def test_an_address_without_a_pass_shows_the_last_one(open_page: Open, some_pass: Pass) -> None:
    """Typed, or by way of the overview from which the page was entered: never an empty centre."""
    e = open_page(some_pass.at(2))
    for part in ("v=graphs", "v=timeline", ""):
        e.page.evaluate("part => { location.hash = part; }", part)
        if part != "v=graphs":
            e.press("2")
        e.wait_address("r", str(some_pass.row["id"]))
        e.ready().at_step(2)
        expect(e.page.get_by_text("Choose a pass")).to_have_count(0)


def test_back_and_forward(open_page: Open, some_pass: Pass, rows: Any) -> None:
    e = open_page(some_pass.at(2)).press("]")
    e.page.wait_for_function(f"!location.hash.includes('r={some_pass.row['id']}&')")
    e.ready()
    there = e.address("r")
    e.press("Alt+ArrowLeft")
    e.wait_address("r", str(some_pass.row["id"]))
    e.ready().at_step(2)
    e.page.go_forward()
    e.wait_address("r", there)
    e.ready()


def test_back_and_forward_look_where_the_panes_looked(open_page: Open, some_pass: Pass) -> None:
    drawn = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    e = open_page(some_pass.at(2)).give("Zoom in", "Zoom in")
    e.page.evaluate(drawn)
    zoom = e.zoom
    first = zoom.inner_text()
    e.give("Last step").at_step(some_pass.last)
    e.give("Zoom in", "Zoom in", "Zoom in")
    expect(zoom).not_to_have_text(first)
    e.page.evaluate(drawn)
    second = zoom.inner_text()
    for _ in range(2):
        e.page.go_back()
        e.at_step(2)
        expect(zoom).to_have_text(first)
        e.page.go_forward()
        e.at_step(some_pass.last)
        expect(zoom).to_have_text(second)


def test_a_jump_enters_history_and_a_step_does_not(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1)).press("ArrowRight", "ArrowRight").give("Last step")
    e.at_step(some_pass.last)
    e.page.go_back()
    e.at_step(3)


def test_a_bad_link_falls_back(open_page: Open, some_pass: Pass) -> None:
    at = f"r={some_pass.row['id']}&k=99999&s=javascript:alert(1)&m=%3Cb%3E&op=%3Cimg%20src=x%3E"
    e = open_page(at)
    e.at_step(some_pass.last)
    expect(e.page.locator(".stage-pane:visible")).to_have_count(2)


def test_a_link_to_a_pass_that_is_not_there_says_so(new_page: Open, server: Any) -> None:
    e = new_page()
    with e.trouble():
        e.page.goto(f"{server.url}#r=987654")
        alert = e.page.locator(".panes").get_by_role("alert")
        expect(alert).to_contain_text("987654")
    e.press("]")
    e.ready()


def test_a_tab_goes_on_after_a_restart_of_the_server(
    new_page: Callable[..., Explorer], trace: Path, some_pass: Pass, tmp_path: Path
) -> None:
    """One that was reloaded meanwhile, one that was not, and an old address with its token."""
    copy = tmp_path / "copy.viz"
    copy.write_bytes(trace.read_bytes())
    at = some_pass.at(3)
    with serve(copy) as first:
        waiting = new_page().goto(f"{first.url}#{at}")
        context = waiting.page.context
        reloaded = new_page(context).goto(f"{first.page}#{at}")
        # the port is asked for below: another process of this machine may take it meanwhile
        port, token, old = first.port, first.token, f"{first.url}#{at}"
    with waiting.trouble(), reloaded.trouble(), serve(copy) as second:
        assert (second.port, second.token != token) == (port, True)
        reloaded.page.reload()
        expect(reloaded.page.get_by_role("heading")).to_have_text(NEEDS_TOKEN)
        assert reloaded.page.url.endswith(f"#{at}")
        opened = new_page(context)
        opened.goto(second.url)
        reloaded.page.reload()
        reloaded.ready().at_step(3)
        expect(waiting.page.locator(".status")).to_contain_text("Connected")
        waiting.press("ArrowRight").at_step(4)
        opened.page.goto("about:blank")
        opened.page.goto(old)
        opened.ready().at_step(3)
        assert "token" not in opened.page.url
        for e in (waiting, reloaded, opened):
            e.page.goto("about:blank")
            e.page.evaluate("window.violations = []")


@pytest.fixture
def two(trace: Path, tmp_path: Path) -> Iterator[Process]:
    """Serves a copy of the recorded run that is not in the cache; there lies another run."""
    folder = tmp_path / "cache" / "uopviz"
    folder.mkdir(parents=True)
    record(PROGRAMS / "small.py", folder / "small.viz")
    copy = tmp_path / "recorded.viz"
    copy.write_bytes(trace.read_bytes())
    command = [sys.executable, "-m", "viz", "open", str(copy), "--no-browser"]
    setting = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    with Process(command, setting, errors=False) as process:
        yield process


def test_a_link_of_this_run_names_it_and_opens(
    new_page: Callable[..., Explorer], server: Process, some_pass: Pass
) -> None:
    e = new_page().goto(f"{server.url}#trace=recorded.viz&{some_pass.at(3)}")
    e.at_step(3)
    expect(e.page.get_by_text("another run")).to_have_count(0)


def test_a_link_of_another_run_says_so_and_opens_it(
    two: Process, new_page: Callable[..., Explorer], some_pass: Pass
) -> None:
    e = new_page()
    e.page.goto(f"{two.url}#trace=small.viz&v=rules&{some_pass.at(3)}")
    notice = e.page.locator(".notices")
    expect(notice.get_by_role("alert")).to_have_text("This link belongs to another run: small.viz.")
    expect(e.page.get_by_role("button", name="Overview", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    assert not e.scope.is_visible()
    notice.get_by_role("button", name="Open that run").click()
    expect(e.page.locator(".status")).to_contain_text("small.viz")
    expect(e.page.get_by_role("button", name="Rules", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    expect(notice).to_be_empty()
    assert e.address("r") == str(some_pass.row["id"])


def test_a_link_of_a_run_that_is_not_here_can_be_put_aside(
    two: Process, new_page: Callable[..., Explorer]
) -> None:
    e = new_page()
    e.page.goto(f"{two.url}#trace=%3Cimg%20src=x%3E.viz&r=7&k=3")
    notice = e.page.locator(".notices")
    expect(notice).to_contain_text("This link belongs to another run: <img src=x>.viz.")
    expect(notice).to_contain_text("uopviz open")
    expect(notice.get_by_role("button", name="Open that run")).to_have_count(0)
    notice.get_by_role("button", name="Stay in this run").click()
    expect(notice).to_be_empty()
    e.page.evaluate("location.hash = 'v=graphs'")
    e.ready()


def test_another_run_can_be_opened_and_left_again(
    two: Process, new_page: Callable[..., Explorer], some_pass: Pass
) -> None:
    e = new_page().goto(f"{two.url}#{some_pass.at(3)}").press("1")
    runs = e.page.get_by_role("region", name="Recent runs")
    expect(runs.get_by_role("button")).to_contain_text(["small.py"])
    expect(runs).not_to_contain_text("Back to")
    held = Held(e.page, "**/api/A/traces/open")
    runs.get_by_role("button", name="small.py").click()
    said = e.page.locator(".notices").get_by_role("status")
    expect(said).to_have_text("Opening small.viz")
    expect(e.page.locator(".notices .progress")).to_be_visible()
    held.let_go()
    expect(e.page.locator(".status")).to_contain_text("small.viz")
    expect(said).to_have_count(0)
    assert e.address("r") is None  # its number means nothing in this run
    expect(runs.locator("[data-line]").filter(has_text="small.py")).to_contain_text("open")
    runs.get_by_role("button", name="Back to recorded.viz").click()
    expect(e.page.locator(".status")).to_contain_text("recorded.viz")
    expect(runs.get_by_role("button", name="Back to small.viz")).to_be_visible()
    expect(runs).not_to_contain_text("Back to recorded.viz")


def test_a_run_that_is_gone_leaves_the_page_at_this_one(
    two: Process, new_page: Callable[..., Explorer], tmp_path: Path
) -> None:
    e = new_page()
    e.page.goto(two.url)
    runs = e.page.get_by_role("region", name="Recent runs")
    expect(runs.get_by_role("button", name="small.py")).to_be_visible()
    with e.trouble():
        (tmp_path / "cache" / "uopviz" / "small.viz").unlink()
        runs.get_by_role("button", name="small.py").click()
        expect(e.page.locator(".status")).to_contain_text("there is no such trace in the cache")
    expect(e.page.locator(".status")).to_contain_text("recorded.viz")
    expect(e.notice).to_contain_text("there is no such trace in the cache")
    e.notice.get_by_role("button", name="Close the notice").click()
    expect(e.page.locator(".notices")).to_be_empty()


def test_a_copied_link_shows_that_it_was_copied(open_page: Any, some_pass: Any) -> None:
    e = open_page(some_pass.at(2), permissions=["clipboard-read", "clipboard-write"])
    button = e.page.get_by_role("button", name="Share", exact=True)
    button.click()
    e.page.get_by_role("button", name="Copy a link to this view").click()
    expect(button).to_contain_text("Link")
    copied = e.page.evaluate("navigator.clipboard.readText()")
    assert copied == e.page.url.replace("#", "#trace=recorded.viz&")
    expect(e.page.locator(".status")).to_contain_text("Link copied")
    expect(button).not_to_contain_text("Link")
    e.give("Copy a link to this view")
    expect(button).to_contain_text("Link")


def test_a_place_without_an_editor_shows_the_recorded_text(open_page: Any, some_pass: Any) -> None:
    e = open_page(some_pass.at(2))
    rule = some_pass.rule(2)
    link = e.inspector.get_by_role("button", name=f"{rule['file'].split('/')[-1]}:{rule['line']}")
    sheet = e.page.get_by_role("dialog", name="Place in a file")
    link.first.click(modifiers=["Shift"])
    expect(sheet.locator(".ln.hl i")).to_have_text(str(rule["line"]))
    e.press("Escape")
    expect(sheet).to_have_count(0)
    with e.trouble():
        e.page.route("**/api/A/open", lambda route: route.fulfill(status=400, body=NO_EDITOR))
        link.first.click()
        expect(sheet).to_contain_text("no editor is set")
    expect(sheet.get_by_role("button", name="Copy path")).to_be_visible()
    expect(e.sources).not_to_contain_text("no editor is set")
