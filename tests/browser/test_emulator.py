"""The emulator: counters of each line, one warp step by step, breakpoints; mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Pass
from tests.browser.explorer import Explorer

Open = Callable[..., Explorer]


def emulated(e: Explorer) -> Locator:
    """The panel, once the kernel was emulated."""
    expect(e.drawer.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=30_000)
    e.page.keyboard.press("Shift+R")
    panel = e.drawer.locator(".emulator")
    expect(panel.locator(".eln").nth(5)).to_be_visible(timeout=30_000)
    return panel


def at(panel: Locator) -> int:
    """How many steps were taken."""
    found = re.match(r"([\d,]+) of", panel.locator(".bar [role=status]").inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


def test_lines_have_counters(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    expect(panel.locator(".said")).to_contain_text("thread instructions in")
    expect(panel.locator(".lh")).to_contain_text("threads")
    text = panel.get_by_role("listbox")
    for _ in range(40):
        if text.locator(".eln .heat4").count():
            break
        text.evaluate("el => { el.scrollTop += 90; }")
    expect(text.locator(".eln .heat4").first).to_have_text(re.compile(r"^[\d,]+$"))


def test_steps_forwards_and_back(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    assert at(panel) == 0
    text = panel.get_by_role("listbox")
    text.focus()
    for _ in range(4):
        text.press("ArrowRight")
    expect(panel.locator(".bar [role=status]")).to_contain_text(re.compile("^4 of"))
    expect(panel.locator(".registers tr.changed")).not_to_have_count(0)
    expect(panel.locator(".eln.now")).to_have_count(1)
    registers = panel.locator(".registers").inner_text()
    text.press("ArrowRight")
    text.press("ArrowLeft")
    expect(panel.locator(".bar [role=status]")).to_contain_text(re.compile("^4 of"))
    assert panel.locator(".registers").inner_text() == registers


def test_stops_before_a_line(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    for _ in range(6):
        panel.get_by_label("One instruction forward (Right)").click()
    panel.locator(".eln.now").get_by_role("button").click()
    expect(panel.locator(".eln.now .stop")).to_be_visible()
    panel.get_by_label("To the start").click()
    assert at(panel) == 0
    panel.get_by_label("On to the next breakpoint (Space)").click()
    assert at(panel) == 6


def test_a_warp_that_is_not_there_is_said(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1), drawer=True)
    panel = emulated(e)
    panel.get_by_role("spinbutton", name="Warp").fill("999")
    panel.get_by_role("spinbutton", name="Warp").press("Tab")
    panel.get_by_role("button", name="Emulate").click()
    expect(panel.get_by_role("alert")).to_contain_text("the block has no warp 999")


def test_amd(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    panel.get_by_label("Emulated device").select_option("AMD:EMU")
    panel.get_by_role("button", name="Emulate").click()
    expect(panel.locator(".said")).to_contain_text("on gfx942", timeout=30_000)
