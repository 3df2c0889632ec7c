"""The emulator: one warp instruction by instruction, places to stop, edited texts, faults, exports;
by mouse and by keyboard. What is asked of it about bank conflicts is a journey."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass

Open = Callable[..., Explorer]
SLOW = 60_000


def emulated(e: Explorer) -> Locator:
    """The page of the emulator, once the kernel was emulated: nobody has to ask for that."""
    e.press("3")
    panel = e.page.get_by_role("main", name="Emulator")
    expect(position(panel)).to_have_text(re.compile(r"instruction 1 of"), timeout=SLOW)
    return panel


def position(panel: Locator) -> Locator:
    """The instruction that is shown, in words."""
    return panel.locator(".ebar .at")


def at(panel: Locator) -> int:
    """Its number, from 1."""
    found = re.match(r"instruction ([\d,]+) of", position(panel).inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


def stands_at(panel: Locator, number: int) -> None:
    """Waits until an instruction is shown."""
    expect(position(panel)).to_have_text(re.compile(rf"^instruction {number:,} of"))


def test_steps_forwards_and_back(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    e.press(*["ArrowRight"] * 6)
    stands_at(panel, 7)
    lanes = panel.get_by_role("region", name="Registers of the warp")
    shown = lanes, panel.locator(".lines .eln.now")
    before = [part.inner_text() for part in shown]
    e.press("ArrowRight", "ArrowLeft")
    stands_at(panel, 7)
    assert [part.inner_text() for part in shown] == before
    assert 0 < lanes.locator("tbody tr").count() <= 32
    expect(panel.locator(".lines .eln.now")).to_have_count(1)
    panel.get_by_role("button", name="Last instruction").click()
    expect(position(panel)).to_have_text(re.compile(r"^instruction ([\d,]+) of \1$"))
    panel.get_by_role("button", name="First instruction").click()
    stands_at(panel, 1)
    e.press("ArrowRight")
    e.wait_address("ei", "1")
    e.page.reload()
    stands_at(panel, 2)


def test_a_line_lights_where_it_comes_from(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    own = panel.get_by_role("group", name="Where the line comes from")
    store = panel.locator(".lines .eln", has_text="st.global").first
    for _ in range(400):
        if store.count() and "now" in (store.get_attribute("class") or ""):
            break
        e.press("ArrowRight")
    else:
        raise AssertionError("the warp stores nothing")
    expect(own).to_contain_text("print(", timeout=SLOW)  # the line of the program
    own.get_by_role("button", name=re.compile("node.*: show in Graphs$")).click()
    e.wait_address("v", None)
    e.wait_address("tab", "node")
    expect(e.inspector).to_contain_text(re.compile(r"Op\s*STORE\b"))


def test_stops_at_lines(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    e.press(*["ArrowRight"] * 5, "b")
    expect(panel.locator(".lines .eln.now .stop")).to_be_visible()
    chip = panel.get_by_role("group", name="Stops").get_by_role("listitem")
    expect(chip).to_contain_text(re.compile(r"line \d+"))
    panel.get_by_role("button", name="First instruction").click()
    e.press("Space")
    stands_at(panel, 6)
    panel.get_by_label("Back to the previous stop").click()
    stands_at(panel, 1)
    chip.get_by_role("button", name=re.compile("^line")).click()
    stands_at(panel, 6)
    chip.get_by_role("button", name=re.compile("^Remove")).click()
    expect(panel.locator(".stop")).to_have_count(0)


def test_a_line_leads_to_its_next_instruction(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    text = panel.get_by_role("listbox", name=re.compile("emulated$"))
    now = panel.locator(".lines .eln.now")
    line = now.locator(".no").inner_text()
    e.press(*["ArrowRight"] * 3)
    expect(now.locator(".no")).not_to_have_text(line)
    text.locator(f"#emulated-{line} .code").click()
    expect(now.locator(".no")).to_have_text(line)
    text.focus()
    text.press("Home")
    text.press("Enter")
    expect(e.page.locator("body")).to_contain_text("This warp does not run line 1")


def test_a_warp_that_is_not_there_is_said(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1)))
    panel.get_by_role("spinbutton", name="Warp").fill("999")
    panel.get_by_role("spinbutton", name="Warp").press("Tab")
    expect(panel.get_by_role("alert")).to_contain_text("the block has no warp 999", timeout=SLOW)
    panel.get_by_role("spinbutton", name="Warp").fill("0")
    panel.get_by_role("spinbutton", name="Warp").press("Tab")
    stands_at(panel, 1)


def test_amd(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1)))
    panel.get_by_label("Text to emulate").select_option(label="LLVM IR gfx942")
    expect(panel.get_by_role("listbox", name=re.compile("gfx942, emulated"))).to_be_visible(
        timeout=SLOW
    )
    expect(panel.locator(".lanes thead")).to_contain_text("lane")


def stop_when(panel: Locator, text: str) -> Locator:
    """Writes a condition and gives it; the field."""
    field = panel.page.get_by_label("Stop when", exact=True).and_(panel.page.locator("input"))
    if not field.is_visible():
        panel.get_by_role("button", name="Stop when").click()
    field.fill(text)
    field.press("Enter")
    return field


def test_stops_where_memory_and_registers_change(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    stop_when(panel, "data0[0] written")
    chip = panel.get_by_role("group", name="Stops").get_by_role("listitem")
    expect(chip).to_contain_text("1×")
    e.press("Space")
    expect(chip.get_by_role("status")).to_have_text("thread 0")
    stored = panel.locator(".lanes tbody tr").first.locator("td").first
    expect(stored).to_have_text("data0[0]")
    expect(stored).to_have_attribute("title", re.compile(r"^data0\[0\].* → "))
    panel.get_by_label("Remove data0[0] written").click()
    expect(chip).to_have_count(0)
    panel.get_by_role("button", name="First instruction").click()
    stop_when(panel, "%lidx0 changes")
    e.press("Space")
    expect(panel.locator(".lanes-pane .changed").first).to_contain_text("%lidx0")
    register = at(panel)
    e.press("Space")
    panel.get_by_label("Back to the previous stop").click()
    stands_at(panel, register)


def test_a_condition_is_written_with_the_keyboard_alone(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    e.page.keyboard.press("Control+k")
    e.page.keyboard.type("stop when a value")
    e.page.keyboard.press("Enter")
    expect(e.page.locator("#emulator-condition")).to_be_focused()
    e.page.keyboard.type("%lidx0 written")
    e.page.keyboard.press("Enter")
    expect(panel.get_by_role("group", name="Stops").get_by_role("listitem")).to_have_count(1)
    e.page.keyboard.press("Space")
    expect(panel.locator(".chip.now")).to_have_count(1)
    assert e.address("k") == "1", "keys of the field moved the page"


def test_a_condition_that_is_wrong_says_why(open_page: Open, some_pass: Pass) -> None:
    panel = emulated(open_page(some_pass.at(1)))
    for text, said in (
        ("%lidx0 = 1", "Equality is written =="),
        ("out[5] changes", "There is no memory called out"),
        ("%nothing == 1", "There is no register %nothing"),
        ("alert(1)", "is not understood"),
        ("data0[99999999] changes", "is the last one"),
    ):
        field = stop_when(panel, text)
        expect(panel.page.locator(".stop-when").get_by_role("alert")).to_contain_text(said)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_be_focused()
    panel.page.keyboard.press("Escape")
    expect(panel.get_by_role("group", name="Stops").get_by_role("listitem")).to_have_count(0)


def test_registers_are_chosen(open_page: Open, some_pass: Pass) -> None:
    """What is ticked has a column whatever the instruction uses, also where all lanes agree."""
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    panel.get_by_role("button", name="Last instruction").click()
    panel.get_by_role("button", name="Choose registers").click()
    menu = e.page.get_by_role("dialog", name="Choose registers")
    menu.get_by_role("searchbox").fill("%data0")
    menu.get_by_role("option").first.click()
    e.page.keyboard.press("Escape")
    head = panel.locator(".lanes thead")
    expect(head).to_contain_text("%data0")
    e.press("ArrowLeft", "ArrowLeft")
    expect(head).to_contain_text("%data0")


def edit_ptx(e: Explorer, panel: Locator, line: str) -> Locator:
    """Types a line before the PTX's `ret`, and emulates that; the column."""
    panel.get_by_role("button", name="Edit", exact=True).click()
    column = e.sources.get_by_role("region", name="PTX for sm_90")
    expect(column.get_by_role("textbox")).to_be_focused(timeout=SLOW)
    e.page.keyboard.press("Control+End")
    column.locator(".cm-line").filter(has_text=re.compile(r"^\s*ret;$")).click()
    e.page.keyboard.press("Home")
    e.page.keyboard.type(line + "\n")
    column.get_by_role("button", name="Emulate", exact=True).click()
    return column


def test_an_edited_text_is_emulated(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    column = edit_ptx(e, panel, "mov.u32 %lidx0, 4711;")
    expect(panel.locator(".lines .badge")).to_have_text("edited", timeout=SLOW)
    stop_when(panel, "%lidx0 == 4711")
    e.press("Space")
    expect(panel.locator(".lanes-pane .changed").first).to_contain_text("4711")
    expect(panel.get_by_label("Text to emulate").locator("option:checked")).to_have_text(
        "PTX sm_90, edited"
    )
    panel.get_by_role("button", name="Edit", exact=True).click()
    expect(column.get_by_role("textbox")).to_be_focused()
    column.get_by_role("button", name="Versions").click()
    expect(e.page.get_by_role("checkbox").filter(has_text="ran")).to_have_count(1)
    e.page.keyboard.press("Escape")
    column.get_by_role("textbox").focus()
    e.page.keyboard.type(" ")
    e.page.get_by_role("navigation", name="Views").get_by_role("button", name="Emulator").click()
    expect(panel.locator(".said")).to_contain_text("the text has changed since")
    panel.get_by_label("Text to emulate").select_option(label="PTX sm_90")
    expect(panel.locator(".lines .badge")).to_have_count(0, timeout=SLOW)


def test_an_edited_text_that_is_wrong_is_quoted_at_its_line(
    open_page: Open, some_pass: Pass
) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    column = edit_ptx(e, panel, "explode.u32 %lidx0;<img src=x onerror=alert(1)>")
    alert = panel.get_by_role("alert")
    expect(alert).to_contain_text("no instruction explode.u32", timeout=SLOW)
    expect(alert.locator(".wrong")).to_contain_text("explode.u32 %lidx0;<img")
    assert not panel.locator("img").count()
    panel.get_by_role("button", name="Edit", exact=True).click()
    expect(column.locator(".cm-fault")).to_contain_text("explode")
    expect(column.get_by_role("alert")).to_contain_text("line")


def test_a_fault_is_shown_at_its_line(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    edit_ptx(e, panel, "mov.u64 %addr0, 4; ld.global.u32 %lidx0, [%addr0];")
    said = panel.locator(".said").get_by_role("alert")
    expect(said).to_contain_text("ld.global.u32 of 4 bytes at address 0x4", timeout=SLOW)
    expect(said).to_contain_text("thread (0, 0, 0)")
    expect(panel.locator(".eln.fault")).to_contain_text("ld.global.u32 %lidx0")


def test_an_exported_file_shows_what_was_emulated(
    open_page: Open, new_page: Callable[..., Explorer], some_pass: Pass, tmp_path: Path
) -> None:
    """Offline: counts beside the text, the steps, places to stop; nothing is to be run. Of another
    kernel nothing was emulated, which one sentence says."""
    e = open_page(some_pass.at(1))
    panel = emulated(e)
    said = panel.locator(".lines .eh").inner_text()
    e.page.get_by_role("button", name="Share", exact=True).click()
    with e.page.expect_download(timeout=SLOW) as download:
        e.page.get_by_role("button", name="Whole run", exact=True).click()
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    offline = new_page(offline=True).goto(f"{path.as_uri()}#{some_pass.at(1)}")
    panel = emulated(offline)
    panel.get_by_label("Emulation").select_option(label="PTX sm_90")
    expect(panel.locator(".lines .eh")).to_have_text(said.replace("\n", ""))
    assert not panel.get_by_role("button", name="Emulate").count()
    stop_when(panel, "data0[0] written")
    offline.press("Space")
    expect(panel.locator(".lanes tbody")).to_contain_text("data0[0]")
    offline.press("}")
    expect(panel.locator(".state")).to_contain_text("holds no emulation of this kernel")
