"""The emulator: what each line did, stepping, places to stop, edited texts, faults, exports."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, graph, state


def _panel(page: Page) -> Locator:
    panel = page.locator(".emulator")
    expect(panel.locator(".eln").nth(5)).to_be_visible(timeout=SLOW)
    return panel


def _stop_when(page: Page, text: str) -> None:
    """Writes a condition and gives it."""
    field = page.locator("#emulator-condition")
    if not field.is_visible():
        page.locator(".emulator").get_by_role("button", name="Stop when").click()
    field.fill(text)
    field.press("Enter")


@state("run", "emulator")
def emulated(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    run = page.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_visible(timeout=SLOW)
    page.keyboard.press("3")
    panel = _panel(page)
    panel.get_by_role("listbox", name=re.compile("emulated$")).focus()
    for _ in range(16):
        page.keyboard.press("ArrowRight")
    expect(panel.locator(".ebar .at")).to_have_text(re.compile("^instruction 17 of"))


@state("run", "emulator-stops")
def stops(page: Page, scene: Scene) -> None:
    """Two conditions, at the first place where one of them comes true."""
    emulated(page, scene)
    panel = page.locator(".emulator")
    for text in ("data0[0] changes", "thread 1: %lidx0 written"):
        _stop_when(page, text)
    panel.get_by_role("button", name="First instruction").click()
    panel.get_by_label("On to the next stop (Space)").click()
    expect(panel.locator(".stops li.now")).to_have_count(1)


@state("run", "emulator-stops-wrong")
def wrong_stop(page: Page, scene: Scene) -> None:
    emulated(page, scene)
    _stop_when(page, "%r999 = 0")
    expect(page.locator(".stop-when").get_by_role("alert")).to_be_visible()


@state("run", "emulator-amd")
def amd(page: Page, scene: Scene) -> None:
    emulated(page, scene)
    panel = page.locator(".emulator")
    panel.get_by_label("Text to emulate").select_option(label="LLVM IR gfx942")
    text = panel.get_by_role("listbox", name=re.compile("gfx942, emulated"))
    expect(text).to_be_visible(timeout=SLOW)


def _edit(page: Page, scene: Scene, typed: str) -> None:
    """Emulates the PTX with a line typed before its `ret`."""
    emulated(page, scene)
    page.locator(".emulator").get_by_role("button", name="Edit", exact=True).click()
    text = page.get_by_role("textbox", name=re.compile("edited"))
    expect(text).to_be_focused(timeout=SLOW)
    page.keyboard.press("Control+End")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.type(f"\n{typed}")
    column = page.locator(".sources .col").filter(has=text)
    column.get_by_role("button", name="Emulate", exact=True).click()


@state("run", "emulator-edited")
def edited(page: Page, scene: Scene) -> None:
    _edit(page, scene, "mov.u32 %lidx0, 7;")
    panel = _panel(page)
    expect(panel.locator(".lines .badge")).to_have_text("edited", timeout=SLOW)


@state("run", "emulator-edited-error")
def edited_error(page: Page, scene: Scene) -> None:
    _edit(page, scene, "explode.u32 %lidx0;")
    expect(page.locator(".emulator").get_by_role("alert")).to_contain_text("explode", timeout=SLOW)


@state("run", "emulator-fault")
def fault(page: Page, scene: Scene) -> None:
    _edit(page, scene, "mov.u64 %addr0, 4; ld.global.u32 %lidx0, [%addr0];")
    panel = _panel(page)
    expect(panel.locator(".said").get_by_role("alert")).to_be_visible()


@state("run", "emulator-palette")
def commands(page: Page, scene: Scene) -> None:
    emulated(page, scene)
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Command, pass, kernel or rule").fill("stop when a value")
    page.keyboard.press("Enter")
    expect(page.locator("#emulator-condition")).to_be_focused()


STATES: Final = (
    emulated,
    stops,
    wrong_stop,
    amd,
    edited,
    edited_error,
    fault,
    commands,
)
