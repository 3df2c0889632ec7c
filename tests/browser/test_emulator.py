"""The emulator: counters of each line, one warp step by step, places to stop, edited texts; by
mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Pass
from tests.browser.explorer import Explorer

Open = Callable[..., Explorer]
DRAWN = """() => new Promise((drawn) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
})"""
SCROLL = """el => new Promise((drawn) => {
  el.scrollTop += 90;
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
})"""
"""Scrolls on, and waits until the lines that came into view are drawn."""


def emulated(e: Explorer) -> Locator:
    """The panel, once the kernel was emulated."""
    expect(e.drawer.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=30_000)
    e.page.keyboard.press("Shift+R")
    panel = e.drawer.locator(".emulator")
    expect(panel.locator(".eln").nth(5)).to_be_visible(timeout=30_000)
    return panel


def at(panel: Locator) -> int:
    """How many steps were taken."""
    found = re.match(r"([\d,]+) of", panel.locator(".said [role=status]").inner_text())
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
        text.evaluate(SCROLL)
    expect(text.locator(".eln .heat4").first).to_have_text(re.compile(r"^[\d,]+$"))


def test_steps_forwards_and_back(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    assert at(panel) == 0
    text = panel.get_by_role("listbox")
    text.focus()
    for _ in range(4):
        text.press("ArrowRight")
    expect(panel.locator(".said [role=status]")).to_contain_text(re.compile("^4 of"))
    expect(panel.locator(".registers tr.changed")).not_to_have_count(0)
    expect(panel.locator(".eln.now")).to_have_count(1)
    registers = panel.locator(".registers").inner_text()
    text.press("ArrowRight")
    text.press("ArrowLeft")
    expect(panel.locator(".said [role=status]")).to_contain_text(re.compile("^4 of"))
    assert panel.locator(".registers").inner_text() == registers


def test_stops_before_a_line(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    for _ in range(6):
        panel.get_by_label("One instruction forward (Right)").click()
    expect(panel.locator(".said [role=status]")).to_contain_text(re.compile("^6 of"))
    panel.get_by_role("listbox").evaluate(DRAWN)  # the list has moved to the line by then
    panel.locator(".eln.now").get_by_role("button").click()
    expect(panel.locator(".eln.now .stop")).to_be_visible()
    panel.get_by_label("To the start").click()
    assert at(panel) == 0
    panel.get_by_label("On to the next stop (Space)").click()
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


def stop_when(panel: Locator, text: str) -> Locator:
    """Writes a condition and gives it; the field."""
    field = panel.get_by_label("Stop when")
    field.fill(text)
    field.press("Enter")
    return field


def test_stops_where_memory_and_registers_change(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    stop_when(panel, "data0[0] written")
    chip = panel.locator(".stops li")
    expect(chip).to_contain_text("1×")
    forward = panel.get_by_label("On to the next stop (Space)")
    forward.click()
    stored = panel.locator(".registers tr.changed th")
    expect(stored).to_have_attribute("title", re.compile(r"^data0\[0\]"))
    expect(chip.get_by_role("status")).to_have_text("thread 0")
    panel.get_by_label("Remove data0[0] written").click()
    expect(chip).to_have_count(0)
    panel.get_by_label("To the start").click()
    stop_when(panel, "%lidx0 changes")
    forward.click()
    expect(panel.locator(".registers tr.changed th")).to_contain_text("%lidx0")
    register = at(panel)
    forward.click()
    panel.get_by_label("Back to the last stop").click()
    assert at(panel) == register


def test_a_condition_is_written_with_the_keyboard_alone(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1), drawer=True)
    panel = emulated(e)
    e.page.keyboard.press("Control+k")
    e.page.keyboard.type("stop when a value")
    e.page.keyboard.press("Enter")
    expect(panel.get_by_label("Stop when")).to_be_focused()
    e.page.keyboard.type("%lidx0 written")
    e.page.keyboard.press("Enter")
    expect(panel.locator(".stops li")).to_have_count(1)
    expect(panel.get_by_label("Stop when")).to_be_focused()
    panel.get_by_role("listbox").focus()
    e.page.keyboard.press("Space")
    expect(panel.locator(".stops li").get_by_role("status")).to_be_visible()
    assert e.address("k") == "1", "keys of the field moved the page"


def test_a_condition_that_is_wrong_says_why(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1), drawer=True))
    for text, said in (
        ("%lidx0 = 1", "Equality is written =="),
        ("out[5] changes", "There is no memory called out"),
        ("%nothing == 1", "There is no register %nothing"),
        ("alert(1)", "is not understood"),
        ("data0[99999999] changes", "is the last one"),
    ):
        field = stop_when(panel, text)
        expect(panel.locator(".stops").get_by_role("alert")).to_contain_text(said)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_be_focused()
    expect(panel.locator(".stops li")).to_have_count(0)


def edit_ptx(e: Explorer, panel: Locator, line: str) -> Locator:
    """Types a line before the PTX's `ret`, and emulates that; the column."""
    panel.get_by_role("button", name="Edit PTX").click()
    column = e.drawer.get_by_role("region", name="PTX for sm_90")
    expect(column.get_by_role("textbox")).to_be_focused(timeout=30_000)
    e.page.keyboard.press("Control+End")
    column.locator(".cm-line").filter(has_text=re.compile(r"^\s*ret;$")).click()
    e.page.keyboard.press("Home")
    e.page.keyboard.type(line + "\n")
    column.get_by_role("button", name="Emulate", exact=True).click()
    return column


def test_an_edited_text_is_emulated(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1), drawer=True)
    panel = emulated(e)
    column = edit_ptx(e, panel, "mov.u32 %lidx0, 4711;")
    expect(panel.locator(".said .badge")).to_have_text("edited", timeout=30_000)
    stop_when(panel, "%lidx0 == 4711")
    panel.get_by_label("On to the next stop (Space)").click()
    expect(panel.locator(".registers tr.changed")).to_contain_text("4711")
    expect(panel.get_by_label("Text to emulate")).to_have_value("edited")
    panel.get_by_role("button", name="Edit", exact=True).click()
    expect(column.get_by_role("textbox")).to_be_focused()
    column.get_by_role("button", name="Versions").click()
    expect(e.page.get_by_role("checkbox").filter(has_text="ran")).to_have_count(1)
    e.page.keyboard.press("Escape")
    column.get_by_role("textbox").focus()
    e.page.keyboard.type(" ")
    e.drawer.get_by_role("tab", name="Emulator").click()
    expect(panel.locator(".said")).to_contain_text("the text has changed since")
    panel.get_by_label("Text to emulate").select_option("compiled")
    panel.get_by_role("button", name="Emulate", exact=True).click()
    expect(panel.locator(".said .badge")).to_have_count(0, timeout=30_000)


def test_an_edited_text_that_is_wrong_is_quoted_at_its_line(
    open_page: Open, some_pass: Pass
) -> None:
    e = open_page(some_pass.at(1), drawer=True)
    panel = emulated(e)
    column = edit_ptx(e, panel, "explode.u32 %lidx0;<img src=x onerror=alert(1)>")
    alert = panel.get_by_role("alert")
    expect(alert).to_contain_text("no instruction explode.u32", timeout=30_000)
    expect(alert.locator(".wrong")).to_contain_text("explode.u32 %lidx0;<img")
    assert not panel.locator("img").count()
    panel.get_by_role("button", name="Edit", exact=True).click()
    expect(column.locator(".cm-fault")).to_contain_text("explode")
    expect(column.get_by_role("alert")).to_contain_text("line")


def test_a_fault_is_shown_at_its_line(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1), drawer=True)
    panel = emulated(e)
    edit_ptx(e, panel, "mov.u64 %addr0, 4; ld.global.u32 %lidx0, [%addr0];")
    said = panel.locator(".said").get_by_role("alert")
    expect(said).to_contain_text("ld.global.u32 of 4 bytes at address 0x4", timeout=30_000)
    expect(said).to_contain_text("thread (0, 0, 0)")
    expect(panel.locator(".eln.fault")).to_contain_text("ld.global.u32 %lidx0")


def test_an_exported_file_shows_what_was_emulated(
    open_page: Open, new_page: Callable[..., Explorer], some_pass: Pass, tmp_path: Path
) -> None:
    """Offline: counts beside the text, the steps, places to stop; nothing is to be run."""
    e = open_page(some_pass.at(1), drawer=True)
    panel = emulated(e)
    said = panel.locator(".said > .t2").inner_text()
    e.page.get_by_role("button", name="Export", exact=True).click()
    with e.page.expect_download(timeout=60_000) as download:
        e.page.get_by_role("button", name="Whole run", exact=True).click()
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    offline = new_page(offline=True, drawer=True).goto(f"{path.as_uri()}#{some_pass.at(1)}")
    offline.drawer.get_by_role("tab", name="Emulator").click()
    panel = offline.drawer.locator(".emulator")
    expect(panel.locator(".said > .t2")).to_have_text(said)
    expect(panel.get_by_label("Emulation").locator("option:checked")).to_have_text("PTX:EMU")
    assert not panel.get_by_role("button", name="Emulate").count()
    stop_when(panel, "data0[0] written")
    panel.get_by_label("On to the next stop (Space)").click()
    expect(panel.locator(".registers tr.changed th")).to_contain_text("data0")
    offline.page.keyboard.press("Shift+R")
    expect(panel.locator(".said > .t2")).to_have_text(said)
