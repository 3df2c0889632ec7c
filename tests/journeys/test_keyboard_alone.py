"""Every page without a pointer: Tab comes to each control in turn, and the focus is never lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process
from tests.browser.test_keys import focus_of

Open = New = Callable[..., Explorer]

CONTROLS = """() => [...document.querySelectorAll(
    ["button", "a[href]", "input", "select", "summary", "[tabindex]"].map((s) => `#app ${s}`))]
  .filter((el) => el.tabIndex >= 0 && !el.disabled && el.offsetParent !== null
    && getComputedStyle(el).visibility !== "hidden")
  .map((el) => el.getAttribute("aria-label") || el.textContent.trim().slice(0, 40)
    || el.className)"""
ON_BODY = "() => document.activeElement === document.body"


def _walked(e: Explorer) -> list[str]:
    """The names of what Tab comes to, until it leaves the page."""
    names: list[str] = []
    for _ in range(300):
        e.press("Tab")
        focus: dict[str, Any] | None = focus_of(e)
        if focus is None:
            return names
        assert focus["name"], f"a control without a name: {focus}"
        names.append(focus["name"])
    raise AssertionError("Tab does not leave the page")


@pytest.mark.parametrize("page", ["overview", "kernel", "timeline", "rules", "rule"])
def test_tab_comes_to_every_control(new_page: New, server: Process, page: str) -> None:
    kernel = server.get("overview")["kernels"][0]["context"]
    rule = max(server.get("rules"), key=lambda one: one["matches"])["id"]
    own = {"overview": "", "kernel": f"#kernel={kernel}", "rule": f"#v=rules&ru={rule}"}
    at = own.get(page, f"#v={page}")
    e = new_page()
    e.page.goto(server.url + at)
    if page == "kernel":
        expect(e.page.locator(".kp .cm-line").first).to_be_visible(timeout=60_000)
        compiling = e.page.get_by_role("button", name=re.compile("^Cancel compiling"))
        expect(compiling).to_have_count(0, timeout=60_000)
    else:
        expect(
            e.page.locator(".ov-row, .tl, .rulelist .trow, .rp-where .trow").first
        ).to_be_visible()
    e.page.wait_for_load_state("networkidle")
    there = {name for name in e.page.evaluate(CONTROLS) if name}
    assert len(there) > 8
    assert there - set(_walked(e)) == set()


def test_the_focus_goes_to_the_progress_of_an_export_and_back(
    open_page: Open, some_pass: Pass
) -> None:
    e = open_page(some_pass.at(1))
    held: list[Route] = []
    looked = False

    def hold(route: Route) -> None:
        """The export does not end before we looked."""
        if looked:
            route.continue_()
        else:
            held.append(route)

    e.page.route("**/api/jobs/*", hold)
    e.page.get_by_role("button", name="Share", exact=True).focus()
    e.press("Enter")
    item = e.page.get_by_role("button", name="Whole run", exact=True)
    expect(e.page.get_by_role("button", name="Copy a link to this view")).to_be_focused()
    item.focus()
    place = e.page.locator(".btn.export").bounding_box()
    e.press("Enter")
    cancel = e.page.get_by_role("button", name="Cancel the export")
    expect(cancel).to_be_focused()
    assert e.page.locator(".btn.export").bounding_box() == place, "the top bar moves"
    looked = True
    e.press("Enter")
    while held:
        held.pop().continue_()
    expect(e.page.get_by_role("button", name="Share", exact=True)).to_be_focused()


def test_the_focus_stays_in_the_filters_that_it_takes_away(
    open_page: Open, some_pass: Pass
) -> None:
    rule = some_pass.rule(2)
    e = open_page(some_pass.at(2, f"&rule={rule['id']}&op=ADD"))
    e.page.get_by_role("button", name=f"Remove the filter {rule['name']}").focus()
    e.press("Enter")
    expect(e.page.get_by_role("button", name="Filter by rule")).to_be_focused()


def test_the_target_of_the_passes_is_chosen_by_keys(open_page: Open, some_pass: Pass) -> None:
    """By the palette, and by the navigator's lines."""
    e = open_page(some_pass.at(2))
    target = e.subject.get_by_role("navigation").locator("> .mono")
    expect(target).to_have_count(0)
    e.page.get_by_role("tree", name="Passes of the run").focus()
    e.press("Control+k")
    e.page.keyboard.type("show the passes for sm_90")
    expect(e.page.get_by_role("option", name="Show the passes for sm_90").first).to_have_attribute(
        "aria-selected", "true"
    )
    e.press("Enter")
    expect(target).to_have_text("sm_90", timeout=60_000)
    e.ready().press("Control+k")
    e.page.keyboard.type("show the program's own passes")
    e.press("Enter")
    expect(target).to_have_count(0)
    assert not e.page.evaluate(ON_BODY)
