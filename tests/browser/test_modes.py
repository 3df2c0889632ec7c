"""Merged and text diff, all nodes, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass

Open = Callable[..., Explorer]


def test_merged_shows_one_graph(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("m")
    e.wait_address("m", "merged")
    expect(e.canvas("before and after")).to_be_visible()
    expect(e.page.locator(".stage-pane:visible")).to_have_count(1)
    e.press("m", "m")
    expect(e.page.locator(".stage-pane:visible")).to_have_count(2)


def test_text_diff_says_what_the_step_did(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1)).give("Text diff")
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
    e.give("Text diff")
    expect(text).to_have_count(0)


def test_all_nodes_and_back(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("a")
    e.wait_address("g", "all")
    expect(e.scope).to_have_text(re.compile(r"^All, ([\d,]+) of \1$"))
    e.press("a")
    e.wait_address("g", None)


def test_zoom_and_fit(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    zoom = e.zoom
    seen = [zoom.inner_text()]
    fits = e.page.get_by_role("button", name="fit the graph")
    near, far = (e.page.get_by_role("button", name=f"Zoom {way}") for way in ("in", "out"))
    for button in (near, fits, far):
        button.click()
        expect(zoom).not_to_have_text(seen[-1])
        seen.append(zoom.inner_text())
    first, closer, fit, away = (int(text.rstrip("%")) for text in seen)
    assert closer > first and away < fit < closer
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
