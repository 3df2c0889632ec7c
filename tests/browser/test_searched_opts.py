"""The search of the workbench: progress, cancel, what it finds, what is kept of it, and where there
is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.explorer import Explorer
from tests.browser.served import Process
from tests.browser.test_workbench import WAIT, card, opened, opts

New = Callable[..., Explorer]
ROUND = re.compile(r"^Round \d+: \d+ tried, best .*[µn]s$")


def said(e: Explorer) -> Locator:
    return card(e, "Optimizations").get_by_role("status")


def applied(e: Explorer) -> list[str]:
    """The optimizations that are ticked, in order."""
    found: list[str] = card(e, "Optimizations").evaluate(
        "el => [...el.querySelectorAll('.wb-opt')]"
        ".filter((row) => row.querySelector(':checked')).map((row) => row.title)"
    )
    return found


class Held:
    """The answers about a search as the server gives them, until one says what it has found: from
    then on that one again, so that the search is at this point for as long as the test looks."""

    def __init__(self, e: Explorer) -> None:
        self.said: dict[str, Any] | None = None
        self._url = ""
        e.page.route("**/api/jobs/*", self._answer)

    def _answer(self, route: Route) -> None:
        if route.request.method != "GET":
            route.continue_()
            return
        if self.said is not None and route.request.url == self._url:
            route.fulfill(json=self.said)
            return
        answer = route.fetch().json()
        if self.said is None and answer.get("best") and answer["state"] == "running":
            self.said, self._url = answer, route.request.url
        route.fulfill(json=answer)

    @property
    def best(self) -> list[str]:
        """The optimizations of the best kernel so far."""
        assert self.said is not None
        return re.findall(r"[A-Z]+\([^)]*\)", self.said["best"]["opts"])


def begun(e: Explorer) -> Held:
    """A search that has found something, and goes on."""
    expect(said(e)).to_have_text("Chosen by the compiler")
    held = Held(e)
    e.give("Search for the optimizations")
    expect(said(e)).to_have_text(ROUND, timeout=WAIT)
    return held


def test_a_search_is_cancelled_and_finds_opts(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    height = card(e, "Optimizations").bounding_box()
    held = begun(e)
    cancel = e.page.get_by_role("button", name="Cancel search")
    expect(cancel).to_be_visible()
    assert card(e, "Optimizations").bounding_box() == height
    e.press("Escape")
    expect(cancel).to_have_count(0)
    expect(said(e)).to_have_text(re.compile(r"^Best .*; \d+ tried.*, cancelled$"))
    assert applied(e) == held.best, "the best so far is in the list"
    e.page.get_by_role("button", name="Width of the search: 4").click()
    e.page.get_by_role("dialog").get_by_role("checkbox", name="1", exact=True).click()
    e.page.get_by_role("button", name="Search, width 1").click()
    found = re.compile(r"^Best .*[µn]s, chosen .*[µn]s; \d+ tried")
    expect(said(e)).to_have_text(found, timeout=2 * WAIT)
    expect(opts(e).first).to_be_checked()
    expect(e.page.get_by_role("button", name="Run both")).to_be_enabled()
    expect(card(e, "Outputs")).to_contain_text("Not run yet")


@pytest.mark.parametrize("what", ["kernel", "device"])
def test_the_best_so_far_is_kept_when_one_goes_on(
    new_page: New, server: Process, what: str
) -> None:
    e = opened(new_page, server)
    kernels = [row for row in server.rows() if row["label"] == "kernel" and not row["target"]]

    def turn(to: str) -> None:
        if what == "kernel":
            e.subject.get_by_role("button", name=re.compile("^Kernel ")).click()
            e.page.get_by_role("searchbox", name="Find a kernel").fill(to)
            e.press("Enter")
        else:
            e.page.get_by_role("button", name="Device to run on").click()
            e.page.get_by_role("dialog").get_by_role("checkbox", name=to).click()

    first, other = (
        (kernels[0]["name"], kernels[-1]["name"]) if what == "kernel" else ("CPU", "PTX:EMU")
    )
    held = begun(e)
    turn(other)
    expect(said(e)).to_have_text("Chosen by the compiler")
    expect(e.page.get_by_role("button", name="Search, width 4")).to_be_enabled(timeout=WAIT)
    assert e.address("wo") is None, "what was found is of another kernel or device"
    turn(first)
    expect(said(e)).to_have_text(re.compile(r"^Best .*; \d+ tried.*, ended when you went on$"))
    assert applied(e) == held.best
    e.page.get_by_role("button", name="Reset").click()
    turn(other)
    expect(said(e)).to_have_text("Chosen by the compiler")
    turn(first)
    expect(said(e)).to_have_text(re.compile("ended when you went on$"))
    expect(e.page.get_by_role("button", name="Reset")).to_be_disabled()  # it is put there once


def test_opts_stay_with_their_kernel(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    kernels = [row for row in server.rows() if row["label"] == "kernel" and not row["target"]]
    first = applied(e)
    opts(e).first.uncheck()
    e.page.wait_for_function("() => location.hash.includes('wo=')")
    changed = applied(e)
    assert changed != first
    e.subject.get_by_role("button", name=re.compile("^Kernel ")).click()
    e.page.get_by_role("searchbox", name="Find a kernel").fill(kernels[-1]["name"])
    e.press("Enter")
    e.wait_address("wo", None)
    expect(said(e)).to_have_text("Chosen by the compiler")
    e.page.go_back()
    expect(said(e)).to_have_text("Changed by you")
    expect(opts(e).first).to_be_visible(timeout=WAIT)
    assert applied(e) == changed


def test_no_search_where_no_device_runs_the_kernel(new_page: New, server: Process) -> None:
    e = new_page()
    e.page.goto(f"{server.url}#v=workbench&wt=gfx1100")
    expect(said(e)).to_contain_text("No device of this machine runs gfx1100.", timeout=WAIT)
    expect(e.page.get_by_role("button", name="Search, width 4")).to_be_disabled()
