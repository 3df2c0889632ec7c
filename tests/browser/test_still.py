"""Nothing moves but what the reader moved: while the page fills, steps, switches and lives on."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import PROGRAMS, Process, run_live

New = Callable[..., Explorer]
Open = Callable[..., Explorer]

PEAK = {
    "device": "CPU",
    "processor": "a processor",
    "flops": 1e12,
    "bytes": 1e11,
    "measured": "2026-01-01T00:00:00",
}
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (entry.value >= 0.00005)  // a word that grows where nothing stands behind it counts as 0
      window.shifts.push([entry.value, ...entry.sources.map((s) => s.node?.className || "text")]);
}).observe({ type: "layout-shift", buffered: true });
"""
FRAME = """() => [
  ".top > *", ".top .tab", ".nav", ".nav > .head", ".nav .tree", ".pts", ".pts .btn", ".subj",
  ".subj .runbox", ".insp .tab", ".panes", ".scrub", ".scrub .zoom", ".scrub .ctl button",
  ".sources", ".sources button", ".insp", ".status",
].flatMap((name) => [...document.querySelectorAll(name)].map((el) => {
  const { x, y, width, height } = el.getBoundingClientRect();
  return [name, x, y, width, height];
}))"""


def _watched(new_page: New, **options: Any) -> Explorer:
    e = new_page(**options)
    e.page.context.add_init_script(OBSERVE)
    return e


def _shifts(e: Explorer) -> list[Any]:
    e.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    found: list[Any] = e.page.evaluate("window.shifts.splice(0)")
    return found


def test_nothing_moves_while_the_page_fills(new_page: New, server: Process) -> None:
    for size in ((1280, 720), (1440, 900), (1920, 1080)):
        e = _watched(new_page, viewport={"width": size[0], "height": size[1]})
        e.goto(server.url)
        assert _shifts(e) == [], f"at {size}"


PAGES = {
    "the overview": ("", ".ov-row"),
    "a kernel": ("kernel={kernel}", ".kp-seg"),
    "the timeline": ("v=timeline", ".tl .trow"),
}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_while_a_page_fills(new_page: New, server: Process, name: str) -> None:
    at, filled = PAGES[name]
    kernel = next(row["id"] for row in server.rows() if row["label"] == "kernel")
    for size in ((1280, 720), (1920, 1080)):
        e = _watched(new_page, viewport={"width": size[0], "height": size[1]})
        e.page.goto(f"{server.url}#{at.format(kernel=kernel)}")
        expect(e.page.locator(filled).first).to_be_visible()
        e.page.wait_for_load_state("networkidle")
        assert _shifts(e) == [], f"at {size}"


def test_speeds_stay_where_shares_of_peaks_arrive_late(new_page: New, server: Process) -> None:
    def late(route: Route) -> None:
        asked.append(route)

    asked: list[Route] = []
    e = _watched(new_page, viewport={"width": 1280, "height": 720})
    e.page.route("**/api/peaks", late)
    with e.page.expect_response(re.compile("/overview")):
        e.page.goto(server.url)
    assert _shifts(e) == []
    asked.pop().fulfill(json=[PEAK])
    expect(e.page.locator(".ov-rate .pc").first).to_be_visible()
    assert _shifts(e) == []


def test_the_frame_stays_through_steps_and_modes(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    expect(e.sources.get_by_role("button", name=re.compile("PTX"))).to_be_visible()
    frame = e.page.evaluate(FRAME)
    for k in range(2, min(some_pass.last, 8)):
        e.press("ArrowRight").at_step(k)
        assert e.page.evaluate(FRAME) == frame, f"at step {k}"
    # What is filtered to stands above the tree as long as it is, Why not in the place of the tabs.
    for keys in ("m", "m", "m", "a", "a", "f f", "w Escape", "b", "b"):
        for key in keys.split():
            e.press(key).page.wait_for_timeout(200)
        assert e.page.evaluate(FRAME) == frame, f"after {keys}"
    for key in ("]", "["):
        e.press(key).ready()
        assert e.page.evaluate(FRAME) == frame, f"after {key}"


def test_pages_and_tabs_keep_their_places(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    tabs = "() => [...document.querySelectorAll('.top .tab')].map((t) => t.offsetLeft)"
    places = e.page.evaluate(tabs)
    for key, name in (("6", "Timeline"), ("7", "Rules"), ("1", "Overview"), ("2", "Graphs")):
        e.press(key)
        current = e.page.locator('.top .tab[aria-current="page"]')
        expect(current).to_contain_text(name)
        assert e.page.evaluate(tabs) == places


def test_rows_that_arrive_move_nothing(new_page: New, tmp_path: Path) -> None:
    with run_live(PROGRAMS / "waiting.py", tmp_path / "live.viz") as program:
        e = _watched(new_page)
        e.page.goto(f"{program.url}#v=graphs")
        program.say("next")
        e.ready()
        foot = e.page.locator(".status")
        expect(foot).to_contain_text("1 kernel,")
        slider = e.page.get_by_role("slider", name="Step")
        while int(slider.get_attribute("aria-valuemax") or 0) < 2:
            e.press("]").ready()  # the first pass that arrived may have a single step
        e.press("ArrowRight").at_step(2)
        _shifts(e)
        for kernels in (2, 3):
            program.say("next")
            expect(foot).to_contain_text(f"{kernels} kernels")
        assert _shifts(e) == []
        e.page.goto("about:blank")


def test_a_pass_on_its_way_shows_no_step_that_nobody_asked_for(
    open_page: Open, some_pass: Pass
) -> None:
    e = open_page(some_pass.at(some_pass.last))
    rule = e.inspector.locator("h2").inner_text()
    e.page.evaluate(
        """() => {
          const title = () => document.querySelector("aside.insp h2")?.textContent;
          window.titles = [];
          new MutationObserver(() => {
            if (window.titles.at(-1) !== title()) window.titles.push(title());
          }).observe(document.querySelector("aside.insp"), { childList: true, subtree: true,
            characterData: true });
        }"""
    )
    e.press("]")
    e.page.wait_for_function(f"!location.hash.includes('r={some_pass.row['id']}&')")
    e.ready()
    now = e.inspector.locator("h2").inner_text()
    assert set(e.page.evaluate("window.titles")) <= {rule, now}
