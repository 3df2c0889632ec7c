"""Everything by keyboard: palette, key sheet, regions, focus."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.held import Held
from tests.browser.served import Process

Open = Callable[..., Explorer]

FOCUS = """() => {
  const el = document.activeElement;
  if (!el || el === document.body) return null;
  const deep = el.shadowRoot?.activeElement ?? el;
  const shape = deep.getBoundingClientRect();
  const rings = [deep, deep.closest(".field"), deep.closest(".cm-editor")].filter(Boolean)
    .map((n) => getComputedStyle(n));
  return {
    name: deep.getAttribute("aria-label") || deep.textContent.trim().slice(0, 40) || deep.className,
    region: el.closest("[data-region]")?.dataset.region ?? "",
    ring: rings.some((s) => (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1)
      || s.boxShadow !== "none"),
    seen: shape.width > 0 && shape.height > 0 && shape.bottom > 0 && shape.right > 0
      && shape.top < innerHeight && shape.left < innerWidth,
  };
}"""


def focus_of(e: Explorer) -> dict[str, Any] | None:
    """What has the focus; a source pane takes a moment to draw its ring."""
    for _ in range(20):
        focus: dict[str, Any] | None = e.page.evaluate(FOCUS)
        if focus is None or focus["ring"]:
            return focus
        e.page.wait_for_timeout(25)
    raise AssertionError(f"no visible focus: {focus}")


def test_palette_finds_and_runs(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("Control+k")
    box = e.page.get_by_role("combobox")
    expect(box).to_be_focused()
    e.page.keyboard.type("text diff")
    expect(e.page.get_by_role("option", name="Text diff").first).to_have_attribute(
        "aria-selected", "true"
    )
    e.press("Enter")
    expect(e.page.get_by_role("dialog")).to_have_count(0)
    expect(e.page.get_by_role("region", name="Text diff of the step")).to_be_visible()


def test_palette_goes_to_a_rule_and_closes_by_escape(open_page: Open, some_pass: Pass) -> None:
    rule = some_pass.rule(2)
    e = open_page(some_pass.at(1)).press("Control+k")
    expect(e.page.get_by_role("combobox")).to_be_focused()
    e.page.keyboard.type(rule["name"])
    e.page.get_by_role("group", name="Rules").get_by_role("option").first.click()
    e.wait_address("rule", str(rule["id"]))
    e.press("Control+k")
    expect(e.page.get_by_role("combobox")).to_be_focused()
    e.press("Escape")
    expect(e.page.get_by_role("dialog")).to_have_count(0)


def test_palette_keeps_letters_to_itself(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("Control+k")
    expect(e.page.get_by_role("combobox")).to_be_focused()
    e.page.keyboard.type("mdax")
    expect(e.page.get_by_role("combobox")).to_have_value("mdax")
    e.press("Escape")
    assert e.address("m") is None and e.step == 2


def test_key_sheet(open_page: Open) -> None:
    e = open_page().press("?")
    sheet = e.page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_role("heading", name="Keys in Graphs")).to_be_visible()
    for text in ("Next step", "Next pass", "Search this page", "Run the kernel"):
        expect(sheet).to_contain_text(re.compile(text, re.IGNORECASE))
    sheet.get_by_role("searchbox").fill("bracket nothing")
    expect(sheet).to_contain_text("No key does that")
    sheet.get_by_role("searchbox").fill("kernel")
    expect(sheet.locator(".line")).to_have_count(2)
    e.press("Escape")
    expect(sheet).to_have_count(0)


def test_single_letters_can_be_turned_off(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("?")
    e.page.get_by_role("checkbox", name="Single-letter keys").uncheck()
    e.press("Escape", "m", "ArrowRight")
    e.at_step(3)
    assert e.address("m") is None


def test_f6_walks_the_regions_with_a_visible_focus(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    names = e.page.eval_on_selector_all("[data-region]", "all => all.map(n => n.dataset.region)")
    walked = []
    for _ in names:
        e.press("F6")
        focus = focus_of(e)
        assert focus is not None and focus["seen"], focus
        walked.append(focus["region"])
    assert sorted(walked) == sorted(names)
    e.press("Shift+F6")
    assert e.page.evaluate(FOCUS)["region"] == walked[-2]


def test_tab_reaches_every_control_with_a_visible_focus(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    seen: list[dict[str, Any]] = []
    for _ in range(150):
        e.press("Tab")
        focus = focus_of(e)
        if focus is None:
            break
        assert focus["seen"], f"focus out of view: {focus}"
        seen.append(focus)
    else:
        raise AssertionError("Tab does not leave the page")
    names = {focus["name"] for focus in seen}
    assert {"Share", "Search the run", "Passes of the run", "Next step", "Run", "Step"} <= names
    assert all(focus["name"] for focus in seen)


def test_navigator_by_keyboard_alone(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    e.page.get_by_role("tree", name="Passes of the run").focus()
    e.press("Home", "End", "Home")
    line = "() => document.activeElement.getAttribute('aria-activedescendant')"
    first = e.page.evaluate(line)
    e.press("ArrowDown")
    while not e.page.evaluate(line).startswith("nav-list-r"):
        e.press("ArrowDown")
    assert e.page.evaluate(line) != first
    e.press("Enter")
    e.page.wait_for_function(
        "id => !location.hash.includes(`r=${id}&`)", arg=str(some_pass.row["id"])
    )
    e.ready()


def test_a_key_that_comes_too_early_acts_once_the_page_is_ready(
    new_page: Callable[..., Explorer], server: Process
) -> None:
    e = new_page()
    held = Held(e.page, "**/api/A/tree*")
    e.page.goto(f"{server.url}#v=graphs")
    expect(e.subject).to_be_visible()
    e.press("c")
    expect(e.page.locator(".status .said")).to_contain_text("as soon as the page is ready")
    held.let_go()
    e.ready()
    expect(e.page.get_by_role("dialog", name=re.compile("Check"))).to_be_visible()
