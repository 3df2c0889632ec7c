"""One search: `/` and Ctrl-K find the same, and each page puts the focus where it can be seen."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.held import Held
from tests.browser.served import Process


def groups(hits: Locator, heads: str) -> list[str]:
    """Names of the groups that are listed, without their counts."""
    return [
        re.sub(r"[\d,]+( of [\d,]+)?$", "", text).strip()
        for text in hits.locator(heads).all_inner_texts()
    ]


def test_slash_and_palette_find_the_same_groups(open_page: Any) -> None:
    e: Explorer = open_page().press("/")
    e.page.keyboard.type("mul")
    results = e.page.get_by_role("listbox", name="Search results")
    expect(results.locator(".grp", has_text="Passes with an op")).to_be_visible()
    found = groups(results, ".grp")
    e.press("Escape")
    e.press("Control+k")
    e.page.keyboard.type("mul")
    palette = e.page.get_by_role("listbox", name="Results")
    expect(palette.locator(".grp", has_text="Passes with an op")).to_be_visible()
    # the navigator draws what is in view, the palette all groups
    assert found and [g for g in groups(palette, ".grp") if g != "Commands"][: len(found)] == found


def test_slash_on_the_rules_page_searches_the_rules(open_page: Any) -> None:
    e: Explorer = open_page().press("7", "/")
    field = e.page.locator("#rule-search")
    expect(field).to_be_focused()
    e.page.keyboard.type("ab1")
    expect(field).to_have_value("ab1")
    e.wait_address("v", "rules")


def test_slash_where_a_page_has_no_field_opens_the_palette(open_page: Any) -> None:
    e: Explorer = open_page().press("6", "/")
    expect(e.page.get_by_role("dialog", name="Command palette")).to_be_visible()
    e.page.keyboard.type("1")
    expect(e.page.get_by_role("combobox")).to_have_value("1")
    e.wait_address("v", "timeline")


def test_a_rule_is_opened_where_it_matched(open_page: Any, server: Process) -> None:
    """From the palette and the navigator: in this pass, else in the nearest one; a rule that never
    matched, on its own page."""
    matches, rules = server.get("rule-matches"), {r["id"]: r for r in server.get("rules")}
    at: dict[int, int] = {
        row["id"]: row["row"] for row in server.rows() if row["kind"] == "rewrite"
    }
    passes: dict[int, list[int]] = {}
    for rule, rewrite in zip(matches["rule"], matches["rewrite"], strict=True):
        passes.setdefault(rule, []).append(rewrite)
    names = Counter(rule["name"] for rule in rules.values())
    here = max(passes[max(passes, key=lambda r: len(passes[r]))], key=lambda p: at[p])
    elsewhere = [
        (rule, min(of, key=lambda p: abs(at[p] - at[here])))
        for rule, of in passes.items()
        if here not in of and names[rules[rule]["name"]] == 1
    ]
    rule, nearest = max(elsewhere, key=lambda one: len(passes[one[0]]))
    name = rules[rule]["name"]
    e: Explorer = open_page(f"r={here}")
    for search in ("Control+k", "/"):
        e.press(search)
        e.page.keyboard.type(name)
        label = "Results" if search == "Control+k" else "Search results"
        hits = e.page.get_by_role("listbox", name=label).get_by_role("option")
        hits.filter(has_text=name).filter(has_text="match").first.click()
        e.wait_address("r", str(nearest))
        e.wait_address("rule", str(rule))
        e.ready()
        expect(e.inspector.get_by_role("heading", level=2)).to_contain_text(name)
        e.page.go_back()
        e.wait_address("r", str(here))
    never = next(r for r in rules.values() if not r["matches"] and names[r["name"]] == 1)
    e.press("Control+k")
    e.page.keyboard.type(never["name"])
    e.page.get_by_role("option").filter(has_text="0 matches").first.click()
    e.wait_address("ru", str(never["id"]))


def test_the_cursor_passes_over_names_of_groups(open_page: Any) -> None:
    e: Explorer = open_page().press("/")
    e.page.keyboard.type("mul")
    results = e.page.get_by_role("listbox", name="Search results")
    expect(results.get_by_role("option").first).to_be_visible()
    e.press("ArrowDown", "ArrowDown")
    expect(results.locator(".trow.cur")).to_have_attribute("role", "option")


def test_hits_in_a_run_whose_rows_are_on_their_way(new_page: Any, server: Process) -> None:
    """They are listed once the rows are there: the answer may come first."""
    e: Explorer = new_page()
    held = Held(e.page, re.compile("/tree[?]"))
    e.page.goto(server.url)
    expect(e.page.locator(".ov-kernels .ov-row").first).to_be_visible()
    with e.page.expect_response(re.compile("/search[?]")):
        e.press("Control+k")
        e.page.keyboard.type("MUL(x, y)")
    nodes = e.page.get_by_role("dialog").get_by_role("group", name="Nodes")
    expect(nodes).to_have_count(0)
    held.let_go()
    expect(nodes.get_by_role("option").first).to_be_visible()
