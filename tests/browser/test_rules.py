"""What rules cost, and which never match, as the page shows it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Pass
from tests.browser.explorer import Explorer
from tests.browser.served import Process

Open = New = Callable[..., Explorer]


def test_tries_of_a_pass_and_rules_that_never_matched(
    open_page: Open, some_pass: Pass, server: Process
) -> None:
    totals = server.get("rule-totals")
    name = some_pass.row["name"]
    tried = {row["rule"]: row["tries"] for row in totals["rows"] if row["pass"] == name}
    rule, tries = max(tried.items(), key=lambda item: item[1])
    e = open_page(some_pass.at(1))
    e.press("6")
    e.page.get_by_role("combobox", name="Pass").select_option(name)
    e.wait_address("in", name)
    lines = e.page.get_by_role("listbox", name="Rules").get_by_role("option")
    expect(lines.filter(has_text=rule).first).to_contain_text(f"{tries:,}")
    e.press("n")
    e.wait_address("only", "never")
    fired = {row["rule"] for row in totals["rows"] if row["pass"] == name and row["matches"]}
    expect(lines.first).to_be_visible()
    for rule in fired:
        expect(lines.get_by_text(rule, exact=True)).to_have_count(0)
    lines.first.click()
    panel = e.page.locator(".rv-rule")
    expect(panel.locator(".why-never")).not_to_be_empty()
    expect(panel.get_by_role("button", name="Show steps")).to_have_count(0)


def test_a_link_to_the_rules_needs_no_pass(new_page: New, server: Process) -> None:
    e = new_page()
    e.page.goto(f"{server.url}#v=rules")
    expect(e.page.get_by_role("listbox", name="Rules")).to_be_visible()
    e.page.wait_for_function("() => /[#&]r=/.test(location.hash)")
    assert e.address("v") == "rules"
    expect(e.page.get_by_role("listbox", name="Rules")).to_be_visible()
