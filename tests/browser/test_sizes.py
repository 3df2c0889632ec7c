"""Windows of several sizes and zooms: nothing overlaps, nothing hangs over the edge."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass

Open = Callable[..., Explorer]

PANELS = (".top", ".nav", ".pts", ".host", ".scrub", ".sources", ".insp", ".subj", ".status")
OVERHANG = """() => {
  const wide = [];
  for (const el of document.querySelectorAll("#app *")) {
    const box = el.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    let clip = el.parentElement;
    while (clip && getComputedStyle(clip).overflowX === "visible") clip = clip.parentElement;
    if (!clip && box.right > innerWidth + 1) wide.push(el.className || el.tagName);
  }
  return wide;
}"""
CUT = """() => [".top", ".pts", ".subj", ".notices > *", ".sources > .src-head"].flatMap((name) => {
  const bar = document.querySelector(name)?.getBoundingClientRect();
  if (!bar) return [];  // nothing is to be said
  return [...document.querySelectorAll(`${name} button`)].filter((b) => {
    const r = b.getBoundingClientRect();
    return r.width && (r.right > bar.right + 1 || r.left < bar.left - 1
      || b.scrollWidth > b.clientWidth + 1);
  }).map((b) => b.getAttribute("aria-label") || b.textContent);
})"""


@pytest.mark.parametrize(
    ("width", "height", "scale"),
    [(1280, 720, 1), (1280, 800, 2), (1440, 900, 1), (1920, 1080, 1), (1920, 1080, 1.5)],
)
def test_panels_fit(
    open_page: Open, some_pass: Pass, width: int, height: int, scale: float
) -> None:
    e = open_page(
        some_pass.at(2, "&s=13"),
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        sources=True,
    )
    _fits(e)
    boxes = {p: e.page.locator(p).first.bounding_box() for p in PANELS}
    for (a, p), (b, q) in combinations(boxes.items(), 2):
        assert p is not None and q is not None
        apart = (
            p["x"] + p["width"] <= q["x"] + 1
            or q["x"] + q["width"] <= p["x"] + 1
            or p["y"] + p["height"] <= q["y"] + 1
            or q["y"] + q["height"] <= p["y"] + 1
        )
        assert apart, f"{a} overlaps {b}"
    canvas = e.canvas().bounding_box()
    assert canvas is not None and canvas["width"] >= 280 and canvas["height"] >= 200


def _fits(e: Explorer) -> None:
    assert e.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert e.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert e.page.evaluate(OVERHANG) == []
    assert e.page.evaluate(CUT) == []


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_two_hundred_percent_zoom(
    open_page: Open, some_pass: Pass, width: int, height: int
) -> None:
    """Zooming a page to 200% halves its window in CSS pixels and doubles the pixels of each."""
    e = open_page(
        some_pass.at(2),
        viewport={"width": width // 2, "height": height // 2},
        device_scale_factor=2,
    )
    _fits(e)
    e.page.get_by_role("button", name="Inspector", exact=True).click()
    expect(e.inspector.locator("h2")).to_have_text(some_pass.rule(2)["name"])
    e.press("Escape")
    e.page.get_by_role("button", name="Run navigator", exact=True).click()
    expect(e.navigator.get_by_role("tree")).to_be_visible()
    e.press("Escape", "ArrowRight")
    e.at_step(3)
    canvas = e.canvas().bounding_box()
    assert canvas is not None and canvas["height"] >= 100


def test_filters_with_long_names_stay_in_the_navigator(open_page: Open, some_pass: Pass) -> None:
    rule = some_pass.rule(2)["id"]
    at = some_pass.at(2, f"&rule={rule}&op=DEFINE_GLOBAL&node=1")
    e = open_page(at, viewport={"width": 1280, "height": 720})
    nav = e.navigator.bounding_box()
    assert nav is not None
    chips = e.navigator.locator(".chip, .field").all()
    assert len(chips) == 5
    for chip in chips:
        box = chip.bounding_box()
        assert box is not None and box["width"] >= 24
        assert box["x"] + box["width"] <= nav["x"] + nav["width"]


def test_dividers_move_and_are_remembered(open_page: Open) -> None:
    e = open_page()
    before = e.navigator.bounding_box()
    e.page.get_by_role("separator", name="Width of the navigator").focus()
    e.press("ArrowRight", "ArrowRight")
    after = e.navigator.bounding_box()
    assert before is not None and after is not None
    assert after["width"] == before["width"] + 32
    e.page.reload()
    e.ready()
    kept = e.navigator.bounding_box()
    assert kept is not None and kept["width"] == after["width"]
