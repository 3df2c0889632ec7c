"""Stepping: what changes, what stays where it is, and how one gets around."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.bench import traces
from tests.browser.explorer import PROBE, Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process, serve

Open = Callable[..., Explorer]

ROOMY = {"width": 3400, "height": 1500}
"""A window in which the whole pass is in view, so that no camera has a reason to move."""

WIDE = {"width": 2000, "height": 1000}


def survivors(some_pass: Pass, first: int, last: int) -> set[str]:
    """Slots that are in the graph in all states from `first` to `last`."""
    bundle = some_pass.bundle
    present, lost = set[int](bundle["initial"]["slot"]), set[int]()
    start = set(present)
    for k, step in enumerate(bundle["steps"][:last], start=1):
        present |= {slot for slot, _, _ in step["set"]}
        present -= set(step["drop"])
        if k > first:
            lost |= set(step["drop"])
        if k == first:
            start = set(present)
    return {str(s) for s in start - lost}


def test_arrow_keys_step(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1)).press("ArrowRight")
    e.at_step(2)
    rule = some_pass.rule(2)["name"]
    expect(e.inspector.locator("h2")).to_have_text(rule)
    expect(e.navigator.locator(".trow.sel")).to_contain_text(rule)
    expect(e.subject).to_contain_text(f"step 2 of {some_pass.last}")
    change = some_pass.bundle["steps"][1]
    for sign, part in (("removed", "removed"), ("added", "added"), ("moved", "moved")):
        badge = e.subject.get_by_label(f"{len(change[part])} {sign}", exact=True)
        expect(badge).to_have_count(1 if change[part] else 0)
    e.press("ArrowLeft")
    e.at_step(1)
    e.press("ArrowLeft")
    e.at_step(0)
    e.press("ArrowLeft")
    e.at_step(0)


@pytest.mark.parametrize("scope", ["", "&g=all"], ids=["around the change", "all nodes"])
def test_nodes_that_survive_a_step_stay_where_they_are(
    open_page: Open, some_pass: Pass, scope: str
) -> None:
    """Clicks tell which node lies where: before three steps, after them, and back again."""
    e = open_page(some_pass.at(1, scope), viewport=ROOMY)
    first = e.places(e.boxes())
    for keys, step in ((["ArrowRight"] * 3, 4), (["ArrowLeft"] * 3, 1)):
        e.press("Escape", *keys)
        e.at_step(step)
        now = e.places(e.boxes())
        both = [s for s in first if s in now and s in survivors(some_pass, 1, 4)]
        assert len(both) >= 8, f"too few nodes in view to tell: {sorted(now)}"
        for slot in both:
            (x, y), (was_x, was_y) = now[slot], first[slot]
            assert abs(x - was_x) <= PROBE[0] and abs(y - was_y) <= PROBE[1], (slot, x, y)


@pytest.fixture(scope="module")
def large_pass(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """Serves one pass over 7,025 nodes, in which nearly every step turns the page."""
    graph = traces.load_graph("program_24255", traces.FIRST_OF_7000)
    file = tmp_path_factory.mktemp("large") / "large.viz"
    with serve(traces.one_pass(file, graph, 1_000)) as process:
        yield process


def test_nothing_moves_where_the_page_turns(
    new_page: Callable[..., Explorer], large_pass: Process
) -> None:
    """After each step all that is still there has gone the same way: that of the camera."""
    large = next(row["id"] for row in large_pass.rows() if row["kind"] == "rewrite")

    def seen(*keys: str) -> dict[str, tuple[float, float]]:
        # A page of its own each time, because the clicks that tell what is where open groups.
        e = new_page(viewport=WIDE).goto(f"{large_pass.url}#r={large}&k=400")
        return e.press(*keys).places(e.boxes())

    right, left = "ArrowRight", "ArrowLeft"
    steps = [seen(), seen(right), seen(right, right), seen(right, right, left)]
    for was, now in itertools.pairwise(steps):
        both = [s for s in was if s in now]
        assert len(both) >= 5, f"too few nodes in view to tell: {sorted(was)}, {sorted(now)}"
        ways = [(now[s][0] - was[s][0], now[s][1] - was[s][1]) for s in both]
        x, y = (statistics.median(way[i] for way in ways) for i in (0, 1))
        near = 2 * PROBE[0], 2 * PROBE[1]
        with_it = [w for w in ways if abs(w[0] - x) <= near[0] and abs(w[1] - y) <= near[1]]
        # What a click on a group brought to light may lie at any free place.
        assert len(with_it) >= 0.9 * len(both), ways


def test_both_panes_show_a_node_at_the_same_place(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2, "&g=all"), viewport=ROOMY)
    left, right = e.canvas("before").bounding_box(), e.canvas("after").bounding_box()
    assert left is not None and right is not None
    places = e.places(e.boxes())
    stay = {s: at for s, at in places.items() if s in survivors(some_pass, 1, 2)}
    assert len(stay) >= 4
    shifted = [(x - right["x"] + left["x"], y) for x, y in stay.values()]
    assert list(e.places(shifted)) == list(stay)


def test_home_and_end(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).give("Last step")
    e.at_step(some_pass.last)
    expect(e.page.get_by_role("button", name="Next step")).to_be_disabled()
    e.give("Input graph")
    e.at_step(0)
    expect(e.inspector).to_contain_text("Input graph")
    expect(e.page.get_by_role("button", name="Previous step")).to_be_disabled()


def test_brackets_change_the_pass(open_page: Open, some_pass: Pass, rows: Any) -> None:
    changing = [r for r in rows if r["kind"] == "rewrite" and r["steps"]]
    at = changing.index(some_pass.row)
    e = open_page(some_pass.at(2)).press("]")
    e.wait_address("r", str(changing[at + 1]["id"]))
    e.ready().press("[")
    e.wait_address("r", str(some_pass.row["id"]))
    e.ready().press("[")
    e.wait_address("r", str(changing[at - 1]["id"]))
    e.ready()


def test_braces_change_the_kernel(open_page: Open, some_pass: Pass, rows: Any) -> None:
    e = open_page(some_pass.at(1)).press("}")
    kernels = [r for r in rows if r["label"] == "kernel"]
    own = next(i for i, k in enumerate(kernels) if k["row"] == some_pass.row["parent"])
    expect(e.subject).to_contain_text(kernels[own + 1]["name"])
    e.ready().press("{")
    expect(e.subject).to_contain_text(kernels[own]["name"])
    e.ready()


def test_next_match_of_the_rule(open_page: Open, some_pass: Pass) -> None:
    rules = [s["rule"] for s in some_pass.bundle["steps"]]
    first = next(i for i, r in enumerate(rules) if r in rules[i + 1 :])
    second = rules.index(rules[first], first + 1)
    e = open_page(some_pass.at(first + 1)).press("n")
    e.at_step(second + 1)
    e.press("Shift+N")
    e.at_step(first + 1)


def test_the_address_keeps_up_with_a_held_key(open_page: Open, some_pass: Pass) -> None:
    """Browsers ignore a page that writes its address too often."""
    e = open_page(some_pass.at(1))
    e.page.evaluate(
        """() => { for (let i = 0; i < 600; i++) for (const key of ["ArrowRight", "ArrowLeft"])
             document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
    )
    e.press("ArrowRight", "ArrowRight")
    e.at_step(3)
    e.wait_address("k", "3")
    e.page.reload()
    e.ready().at_step(3)


def test_strip_jumps_by_click(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    strip = e.page.get_by_role("slider", name="Step")
    box = strip.bounding_box()
    assert box is not None
    e.page.mouse.move(box["x"] + 2, box["y"] + 10)
    e.page.mouse.down()
    for k in range(1, 40):
        e.page.mouse.move(box["x"] + k * box["width"] / 40, box["y"] + 10)
        if e.step == 4:
            break
    e.page.mouse.up()
    e.wait_address("k", "4")


def test_steps_are_spoken(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1)).press("ArrowRight")
    voice = e.page.locator("[aria-live=polite]").filter(has_text="Step 2 of")
    expect(voice).to_contain_text(some_pass.rule(2)["name"])
