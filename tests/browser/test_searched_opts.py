"""The search of the workbench: progress, cancel, what it finds, and where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.served import Process
from tests.browser.test_workbench import WAIT, card, opened, opts

New = Callable[..., Explorer]


def said(e: Explorer) -> Locator:
    return card(e, "Optimizations").get_by_role("status")


def test_a_search_is_cancelled_and_finds_opts(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    expect(said(e)).to_have_text("Chosen by the compiler")
    height = card(e, "Optimizations").bounding_box()
    e.give("Search for the optimizations")
    cancel = e.page.get_by_role("button", name="Cancel search")
    expect(cancel).to_be_visible()
    expect(said(e)).to_have_text(re.compile(r"^Round \d+: \d+ tried, best .*µs$"), timeout=WAIT)
    assert card(e, "Optimizations").bounding_box() == height
    e.press("Escape")
    expect(cancel).to_have_count(0)
    expect(said(e)).to_have_text(re.compile(r"^Best .*; \d+ tried.*, cancelled$"))
    assert e.address("wo") is not None or opts(e).count(), "the best so far is in the list"
    e.page.get_by_role("button", name="Width of the search: 4").click()
    e.page.get_by_role("dialog").get_by_role("checkbox", name="1", exact=True).click()
    e.page.get_by_role("button", name="Search, width 1").click()
    found = re.compile(r"^Best .*[µn]s, heuristic .*[µn]s; \d+ tried")
    expect(said(e)).to_have_text(found, timeout=2 * WAIT)
    expect(opts(e).first).to_be_checked()
    expect(e.page.get_by_role("button", name="Run both")).to_be_enabled()
    expect(card(e, "Outputs")).to_contain_text("Not run yet")


def test_no_search_where_no_device_runs_the_kernel(new_page: New, server: Process) -> None:
    e = new_page()
    e.page.goto(f"{server.url}#v=workbench&wt=gfx1100")
    expect(said(e)).to_contain_text("No device of this machine runs gfx1100.", timeout=WAIT)
    expect(e.page.get_by_role("button", name="Search, width 4")).to_be_disabled()
