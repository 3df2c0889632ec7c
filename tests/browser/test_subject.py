"""The rule and the node: what the inspector says, and what a click does."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass

Open = Callable[..., Explorer]


def test_rule_panel(open_page: Open, some_pass: Pass) -> None:
    rule = some_pass.rule(1)
    step = some_pass.bundle["steps"][0]
    e = open_page(some_pass.at(1))
    panel = e.inspector
    expect(panel.locator("h2")).to_have_text(rule["name"])
    shown = panel.locator(".eq").inner_text().replace("→", "->")
    assert "".join(shown.split()) == "".join(rule["equation"].replace("→", "->").split())
    expect(panel.get_by_role("img").first).to_be_visible()
    for name, node in step["binds"]:
        line = panel.locator(".binds").get_by_text(name, exact=True)
        expect(line).to_be_visible()
        op = some_pass.bundle["ops"][some_pass.bundle["nodes"]["op"][node]]
        expect(panel.locator(".binds")).to_contain_text(op)
    expect(panel.locator(".snip")).to_contain_text(f"def {rule['name']}")
    lines = rule["source"].splitlines()
    head = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    expect(panel.locator(".snip .hl")).to_contain_text(str(rule["sourceLine"] + head))
    if head:
        expect(panel.locator(".snip")).not_to_contain_text(lines[0])
        panel.get_by_role("button", name=re.compile("Show decorator")).click()
        expect(panel.locator(".snip")).to_contain_text(lines[0])
    file = rule["file"].replace("\\", "/").rsplit("/", 1)[-1]
    expect(panel.get_by_role("button", name=f"{file}:{rule['line']}")).to_be_visible()


def test_a_binding_selects_what_it_bound(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    e.inspector.locator(".binds button").first.click()
    node = some_pass.bundle["steps"][0]["binds"][0][1]
    uid = some_pass.bundle["nodes"]["id"][node]
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text(f"u{uid}")


def test_click_selects_in_both_panes_and_details_follow(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2))
    blank = {side: e.canvas(side).screenshot() for side in ("before", "after")}
    places = e.places(e.boxes()[:8])
    slot, point = next(iter(places.items()))
    e.page.mouse.click(*point)
    e.wait_address("s", slot)
    tree = e.page.get_by_role("tree", name="Nodes around the change")
    expect(tree.locator(f"[data-slot='{slot}']")).to_have_attribute("aria-selected", "true")
    words = tree.locator(f"[data-slot='{slot}']").inner_text()
    e.inspector.get_by_role("tab", name="Node").click()
    expect(e.inspector.locator("dl.kv").last).to_contain_text(words.split()[0].rstrip(","))
    e.page.mouse.move(4, 4)
    for side in ("before", "after"):
        assert e.canvas(side).screenshot() != blank[side], f"no ring in the pane {side}"
    e.press("Escape")
    e.wait_address("s", None)
    expect(e.inspector.locator("dl.kv")).to_have_count(0)


def test_walk_along_the_edges(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(2)).press("j")
    first = e.selected
    assert first is not None
    e.press("k")
    assert e.selected not in (None, first)


def test_only_this_rule(open_page: Open, some_pass: Pass) -> None:
    rule = some_pass.rule(2)
    here = sum(s["rule"] == rule["id"] for s in some_pass.bundle["steps"])
    e = open_page(some_pass.at(2))
    e.press(".")
    e.page.get_by_role("button", name="Show only this rule").click()
    e.wait_address("rule", str(rule["id"]))
    expect(e.navigator.get_by_role("status")).to_have_text(f"{here} of {some_pass.last} steps here")
    shown = e.navigator.locator(".trow.stp")
    expect(shown).to_have_count(min(here, 8))
    for text in shown.all_inner_texts():
        assert rule["name"] in text
    hidden = [s["rule"] != rule["id"] for s in some_pass.bundle["steps"]]
    if hidden[0]:
        gap = hidden.index(False)
        said = f"{gap} rule{'s' if gap > 1 else ''} applied"
        expect(e.navigator.locator(".trow.fold").filter(has_text=said).first).to_be_visible()
    e.give("Last step").press("ArrowLeft")
    assert some_pass.rule(e.step) == rule
    e.give("Clear all filters")
    e.wait_address("rule", None)
    expect(shown).not_to_have_count(here)


def test_only_steps_of_this_node(open_page: Open, some_pass: Pass) -> None:
    slot = some_pass.bundle["steps"][1]["slot"]
    e = open_page(some_pass.at(2, f"&s={slot}")).give(
        "Show only steps that affect the selected node"
    )
    e.wait_address("node", str(slot))
    count = e.navigator.get_by_role("status").inner_text()
    assert 1 <= int(count.split()[0]) <= some_pass.last
    e.navigator.get_by_role("button", name="Clear", exact=True).click()
    e.wait_address("node", None)


def test_history_of_a_node_jumps_to_its_steps(open_page: Open, some_pass: Pass) -> None:
    step = some_pass.bundle["steps"][2]
    e = open_page(some_pass.at(1, f"&s={step['result']}&tab=node"))
    rule = some_pass.rule(3)["name"]
    e.inspector.locator(".hist button").filter(has_text=rule).last.click()
    e.page.wait_for_function("location.hash.includes('k=')")
    assert some_pass.rule(e.step)["name"] == rule
