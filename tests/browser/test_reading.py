"""Everything can be read: contrast of all texts in both themes, and a name for each control."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.held import Held

Open = Callable[..., Explorer]

LEAST = 4.5
"""Contrast of texts: WCAG 2.2, success criterion 1.4.3."""

FAINT = """(least) => {
  const parse = (text) => {
    const n = text.match(/-?[\\d.]+(?:e-?\\d+)?/g).map(Number);
    const rgb = text.startsWith("color(") ? n.slice(0, 3).map((v) => v * 255) : n.slice(0, 3);
    return [...rgb, n[3] ?? 1];
  };
  const over = (top, low) => [0, 1, 2].map((i) => top[i] * top[3] + low[i] * (1 - top[3]));
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const v = c[i] / 255;
    return sum + share * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const up = (el) => el.parentElement ?? el.getRootNode().host;
  const ground = (el) => {
    const layers = [];
    for (let p = el; p; p = up(p)) {
      layers.push(parse(getComputedStyle(p).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((low, top) => over(top, low), [255, 255, 255]);
  };
  const faint = [];
  const judge = (el, text) => {
    if (!el.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
    let opacity = 1;
    for (let p = el; p; p = up(p)) opacity *= Number(getComputedStyle(p).opacity);
    const back = ground(el);
    const [r, g, b, a] = parse(getComputedStyle(el).color);
    const [x, y] = [light(over([r, g, b, a * opacity], back)), light(back)];
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    if (ratio < least) faint.push(`${text.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  };
  const look = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let t = walk.nextNode(); t; t = walk.nextNode()) {
      const el = t.parentElement;
      // a name that is cut in the middle is drawn by its parts, below
      if (!el || !t.textContent.trim() || el.closest("style, script, svg, .cut-middle > .whole"))
        continue;
      judge(el, t.textContent);
    }
    for (const el of root.querySelectorAll("[data-text]")) judge(el, el.dataset.text);
  };
  look(document.body);
  for (const el of document.querySelectorAll("*")) if (el.shadowRoot) look(el.shadowRoot);
  return faint;
}"""

NAMELESS = """() => {
  const names = (el) => [
    el.getAttribute("aria-label"),
    document.getElementById(el.getAttribute("aria-labelledby"))?.textContent,
    el.labels?.[0]?.textContent, el.title, el.textContent,
  ].some((name) => name?.trim());
  const controls = "button, a[href], input, select, textarea, [tabindex], [role=img]";
  return [...document.querySelectorAll(controls)]
    .filter((el) => el.checkVisibility({ visibilityProperty: true }) && !names(el))
    .map((el) => el.outerHTML.slice(0, 120));
}"""

PLACES: list[tuple[str, tuple[str, ...]]] = [
    ("step", ()),
    ("input graph", ("Input graph",)),
    (
        "node",
        ("ArrowRight", "Select the matched node", "Switch the inspector between rule and node"),
    ),
    ("filtered", ("f",)),
    ("text diff", ("Text diff",)),
    ("why not", ("w",)),
    ("timeline", ("6", "ArrowRight")),
    ("rules", ("7",)),
    ("emulator", ("3",)),
    ("workbench", ("4",)),
    ("keys", ("?",)),
    ("palette", ("Control+k",)),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_texts_stand_out_and_all_controls_have_names(
    open_page: Open, some_pass: Pass, scheme: Any
) -> None:
    e = open_page(some_pass.at(2), color_scheme=scheme, sources=True)
    expect(e.sources.locator(".cm-line").first).to_be_visible()
    for place, keys in PLACES:
        for key in keys:
            (e.give if " " in key else e.press)(key)
        e.page.wait_for_timeout(250)
        assert e.page.evaluate(FAINT, LEAST) == [], place
        assert e.page.evaluate(NAMELESS) == [], place
        if place in ("keys", "palette"):
            e.press("Escape")
        if place in ("text diff", "rules", "emulator", "workbench"):
            e.press("2")


def test_the_focus_stays_where_a_control_goes_away(open_page: Open, some_pass: Pass) -> None:
    rule = some_pass.rule(2)
    e = open_page(some_pass.at(2, f"&rule={rule['id']}&op=ADD"))

    def region() -> str | None:
        found: str | None = e.page.evaluate(
            "document.activeElement.closest('[data-region]')?.dataset.region ?? null"
        )
        return found

    chip = e.navigator.get_by_role("button", name=f"Remove the filter {rule['name']}")
    chip.focus()
    e.press("Enter")
    expect(chip).to_have_count(0)
    e.page.wait_for_function("() => document.activeElement !== document.body")
    expect(e.navigator.get_by_role("button", name="Filter by rule")).to_be_focused()
    e.navigator.get_by_role("button", name="Clear", exact=True).focus()
    e.press("Enter")
    e.page.wait_for_function("() => document.activeElement !== document.body")
    assert region() == "Run navigator"
    e.inspector.get_by_role("button", name="Pin what is shown").focus()
    e.press("Enter")
    e.inspector.get_by_role("button", name="Unpin").focus()
    e.press("Enter")
    e.page.wait_for_function("() => document.activeElement !== document.body")
    assert region() == "Inspector"


def test_a_source_is_read_by_keyboard(open_page: Open, some_pass: Pass) -> None:
    """Line by line, with the nodes that belong to it lit, and Enter for the node."""
    e = open_page(some_pass.at(2), sources=True)
    text = e.sources.locator(".cm-content").first
    expect(e.sources.locator(".cm-line").first).to_be_visible()
    text.focus()
    said = e.said
    e.press("ArrowDown")
    expect(said).to_contain_text("Line 1:")
    expect(e.sources.locator(".cm-line.cm-hit").first).to_be_visible()
    for _ in range(60):
        e.press("ArrowDown", "Enter")
        if e.selected is not None:
            break
    else:
        raise AssertionError("no line leads to a node")
    e.wait_address("s", e.selected)


def test_a_walk_waits_for_its_history(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    held = Held(e.page, "**/api/A/lineage/*")
    selected = some_pass.at(2, f"&s={some_pass.bundle['steps'][1]['result']}&tab=node")
    e.page.evaluate("hash => location.hash = hash", selected)
    expect(e.inspector.get_by_role("tab", name="Node", selected=True)).to_be_visible()
    there = e.ready().page.evaluate("location.hash")
    e.give(
        "Previous event in the node's history", "Previous event in the node's history"
    )  # one walk, not two: the second asks for the same
    expect(e.said).to_have_text("The history is still loading.")
    held.let_go()
    e.page.wait_for_function("hash => location.hash !== hash", arg=there)
    assert "s=" in e.page.evaluate("location.hash")


def test_the_history_of_a_node_is_walked_by_keyboard(open_page: Open, some_pass: Pass) -> None:
    step = some_pass.bundle["steps"][1]
    e = open_page(some_pass.at(2, f"&s={step['result']}&tab=node"))
    rows = e.inspector.locator(".hist.across li")
    expect(rows.first).to_be_visible()
    there = e.page.evaluate("location.hash")
    e.give("Previous event in the node's history")
    e.page.wait_for_function("hash => location.hash !== hash", arg=there)
    earlier = e.page.evaluate("location.hash")
    e.ready()
    expect(rows.first).to_be_visible()
    e.give("Next event in the node's history")
    e.page.wait_for_function("hash => location.hash !== hash", arg=earlier)
    said = e.said
    for _ in range(200):
        e.ready().give("Next event in the node's history")
        e.page.wait_for_timeout(60)
        if re.search(r"lines? of|ends here", said.inner_text()):
            break
    else:
        raise AssertionError(f"the history does not end: {said.inner_text()}")
