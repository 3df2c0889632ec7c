"""Merged and text diff, all nodes, light and dark."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Pass
from tests.browser.explorer import Explorer

Open = Callable[..., Explorer]


def test_merged_shows_one_graph(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("m")
    e.wait_address("m", "merged")
    expect(e.canvas("before and after")).to_be_visible()
    expect(e.page.locator(".stage-pane:visible")).to_have_count(1)
    e.press("m")
    expect(e.page.locator(".stage-pane:visible")).to_have_count(2)


def test_text_diff_says_what_the_step_did(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1)).press("d")
    text = e.page.get_by_role("region", name="Text diff of the step")
    step, nodes = some_pass.bundle["steps"][0], some_pass.bundle["nodes"]
    ops = some_pass.bundle["ops"]
    expect(
        text.locator(".ln.dd").filter(has_text=ops[nodes["op"][step["before"]]])
    ).not_to_have_count(0)
    expect(
        text.locator(".ln.da").filter(has_text=ops[nodes["op"][step["after"]]])
    ).not_to_have_count(0)
    e.press("a")
    expect(text.locator(".ln").filter(has_text="unchanged line")).to_have_count(0)
    e.press("d")
    expect(text).to_have_count(0)


def test_all_nodes_and_back(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("a")
    e.wait_address("g", "all")
    total = e.page.get_by_role("button", name="All", exact=False).filter(has_text="All").first
    expect(total).to_have_attribute("aria-pressed", "true")
    words = e.page.locator(".pf span").filter(has_text=" nodes").first.inner_text()
    shown, all_nodes = words.replace(" nodes shown", "").split(" of ")
    assert shown == all_nodes
    e.press("a")
    e.wait_address("g", None)


def test_zoom_and_fit(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    zoom = e.page.locator(".pf > span").last
    seen = [zoom.inner_text()]
    for key in ("+", "0", "-"):
        e.press(key)
        expect(zoom).not_to_have_text(seen[-1])
        seen.append(zoom.inner_text())
    first, near, fit, far = (int(text.rstrip("%")) for text in seen)
    assert near > first and far < fit < near
    e.press("0")
    expect(zoom).to_have_text(f"{fit}%")


def test_light_and_dark_follow_the_system_and_the_button(open_page: Open) -> None:
    paint = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        e = open_page(color_scheme=scheme)
        seen[scheme] = e.page.evaluate(paint)
        e.page.get_by_role("button", name="Switch to").click()
        seen[f"not {scheme}"] = e.page.evaluate(paint)
    assert seen["light"] == seen["not dark"] == "rgb(246, 247, 249)"
    assert seen["dark"] == seen["not light"] == "rgb(14, 16, 19)"


def test_theme_reaches_the_canvas_and_stays(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1), color_scheme="light")
    light = e.canvas().screenshot()
    e.page.get_by_role("button", name="Switch to dark").click()
    assert e.canvas().screenshot() != light
    e.page.reload()
    e.ready()
    expect(e.page.get_by_role("button", name="Switch to light")).to_be_visible()
