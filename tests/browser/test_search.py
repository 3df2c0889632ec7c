"""One search: `/` and Ctrl-K find the same, and each page puts the focus where it can be seen."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer


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


def test_the_cursor_passes_over_names_of_groups(open_page: Any) -> None:
    e: Explorer = open_page().press("/")
    e.page.keyboard.type("mul")
    results = e.page.get_by_role("listbox", name="Search results")
    expect(results.get_by_role("option").first).to_be_visible()
    e.press("ArrowDown", "ArrowDown")
    expect(results.locator(".trow.cur")).to_have_attribute("role", "option")
