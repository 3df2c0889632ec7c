"""A node that is selected, wherever that is done, is in view and ringed in both panes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process

Open = Callable[..., Explorer]
Box = tuple[float, float, float, float]

RINGED = """
([side, blank]) => {
  const canvas = document.querySelectorAll(".stage-pane > canvas:first-child")[side];
  const [l, t, r, b] = canvas.dataset.selected.split(" ").map(Number);
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  const n = parseInt(accent.slice(1), 16);
  const want = [n >> 16, (n >> 8) & 255, n & 255];
  const scale = canvas.width / canvas.clientWidth;
  const room = 8 * scale;
  const ctx = canvas.getContext("2d");
  const w = (r - l) * scale + 2 * room, h = (b - t) * scale + 2 * room;
  const data = ctx.getImageData(l * scale - room, t * scale - room, w, h).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 90 && want.every((v, c) => Math.abs(data[i + c] - v) < 90)) count++;
  return count;
}
"""


@pytest.fixture(scope="session")
def large(server: Process, rows: list[dict[str, Any]]) -> Pass:
    """The pass with most nodes of those with some steps."""
    row = max((r for r in rows if r["steps"] >= 5), key=lambda r: r["nodes"])
    rules = {rule["id"]: rule for rule in server.get("rules")}
    return Pass(row, server.get(f"rewrites/{row['id']}"), rules)


def ring(e: Explorer, side: str) -> Box:
    """Where the selected node is drawn in a pane, px from its corner."""
    said = e.canvas(side).get_attribute("data-selected")
    assert said, f"the selected node is not drawn in the pane {side}"
    left, top, right, bottom = (float(part) for part in said.split())
    return left, top, right, bottom


def in_view(e: Explorer) -> None:
    """The selected node is in view in both panes, with a ring around it."""
    e.page.wait_for_function(
        """[...document.querySelectorAll(".stage-pane > canvas:first-child")]
          .every((c) => c.dataset.selected)"""
    )
    e.still()
    for i, side in enumerate(("before", "after")):
        box = e.canvas(side).bounding_box()
        assert box is not None
        left, top, right, bottom = ring(e, side)
        assert left >= 0 and top >= 0, (side, left, top)
        assert right <= box["width"] and bottom <= box["height"], (side, right, bottom, box)
        assert e.page.evaluate(RINGED, [i, 0]) > 20, f"no ring in the pane {side}"
        mini = e.page.locator(".stage-mini")
        if side == "after" and mini.is_visible():
            over = mini.bounding_box()
            assert over is not None
            x, y = box["x"], box["y"]
            apart = (
                x + right <= over["x"]
                or x + left >= over["x"] + over["width"]
                or y + bottom <= over["y"]
                or y + top >= over["y"] + over["height"]
            )
            assert apart, "the map covers the selected node"


def far_slots(large: Pass, step: int) -> list[int]:
    """Slots of the input graph that no step near this one touches, spread over the graph."""
    touched: set[int] = set()
    for s in large.bundle["steps"]:
        touched |= {s["slot"], s["result"], *s["removed"], *s["added"], *s["moved"], *s["drop"]}
    held = [s for s in large.bundle["initial"]["slot"] if s not in touched]
    return held[:: max(1, len(held) // 6)]


def test_a_link_to_any_node(open_page: Open, large: Pass) -> None:
    for slot in far_slots(large, 1):
        in_view(open_page(large.at(1, f"&s={slot}")))


def test_nodes_selected_one_after_another(open_page: Open, large: Pass) -> None:
    e = open_page(large.at(1))
    e.still()
    zoom = e.zoom.inner_text()
    for slot in far_slots(large, 1):
        e.page.evaluate(
            "s => { location.hash = location.hash.replace(/&s=\\d+|$/, `&s=${s}`) }", slot
        )
        e.wait_address("s", str(slot))
        in_view(e)
    assert e.zoom.inner_text() == zoom, "it zoomed by itself"


def test_in_all_scopes_and_when_boxes_hold_it(open_page: Open, large: Pass) -> None:
    for more in ("&g=all", ""):
        for slot in far_slots(large, 1)[:3]:
            in_view(open_page(large.at(1, f"{more}&s={slot}")))


def test_a_node_of_the_history(open_page: Open, large: Pass) -> None:
    step = large.bundle["steps"][-1]
    e = open_page(large.at(1, f"&s={step['result']}&tab=node"))
    e.inspector.locator(".hist button").filter(has_text=re.compile(r"\w")).last.click()
    e.page.wait_for_function("location.hash.includes('k=')")
    in_view(e)


def test_sources_and_users_in_the_inspector(open_page: Open, large: Pass) -> None:
    slot = far_slots(large, 1)[-1]
    e = open_page(large.at(1, f"&s={slot}&tab=node"))
    for _ in range(6):
        link = e.inspector.locator("dl.kv .list .link").first
        if not link.count():
            break
        link.click()
        in_view(e)


def test_bound_names(open_page: Open, large: Pass) -> None:
    e = open_page(large.at(1))
    for i in range(e.inspector.locator(".binds button:enabled").count()):
        e.inspector.locator(".binds button:enabled").nth(i).click()
        in_view(e)


def test_a_node_by_its_id(open_page: Open, large: Pass) -> None:
    nodes = dict(zip(large.bundle["initial"]["slot"], large.bundle["initial"]["node"], strict=True))
    for slot in far_slots(large, 1)[:3]:
        uid = large.bundle["nodes"]["id"][nodes[slot]]
        e = open_page(large.at(1, f"&u={uid}&tab=node"))
        e.wait_address("s", str(slot))
        in_view(e)


def test_lists_of_the_inspector_walk_by_arrow_keys(open_page: Open, large: Pass) -> None:
    e = open_page(large.at(2, f"&s={large.bundle['steps'][1]['result']}&tab=node"))
    buttons = e.inspector.locator(".hist").first.locator("button:enabled")
    buttons.first.focus()
    if buttons.count() > 1:
        e.press("ArrowDown")
        expect(buttons.nth(1)).to_be_focused()
        e.press("ArrowUp")
    expect(buttons.first).to_be_focused()


def test_the_map_is_shown_only_while_somebody_moves_or_the_change_is_away(
    open_page: Open, some_pass: Pass
) -> None:
    e = open_page(some_pass.at(1), viewport={"width": 1440, "height": 900})
    mini = e.page.locator(".stage-mini")
    box = e.canvas().bounding_box()
    assert box is not None
    e.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    while not mini.is_visible():  # until not all of the graph is in view any more
        e.page.mouse.wheel(0, -120)
        e.page.wait_for_timeout(50)
    e.press("0")  # the change in view
    expect(mini).to_be_hidden()
    e.page.mouse.down()
    e.page.mouse.move(box["x"] + 4 * box["width"], box["y"] + box["height"] / 2, steps=4)
    e.page.mouse.up()
    expect(mini).to_be_visible()
    e.page.wait_for_timeout(2000)
    expect(mini).to_be_visible()  # what changed is out of view
    expect(e.page.locator(".status")).not_to_contain_text(" ms")
    expect(e.page.locator(".status kbd")).to_have_count(0)
