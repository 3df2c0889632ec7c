"""What rules cost, and which never match, as the page shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process, export

Open = New = Callable[..., Explorer]


TRIES = "Show what tries took: in the pass that was looked at last, or of this rule by pass"


def test_tries_of_a_pass_and_rules_that_never_matched(
    open_page: Open, some_pass: Pass, server: Process
) -> None:
    totals = server.get("rule-totals")
    name = some_pass.row["name"]
    tried = {row["rule"]: row["tries"] for row in totals["rows"] if row["pass"] == name}
    rule, tries = max(tried.items(), key=lambda item: item[1])
    e = open_page(some_pass.at(1))
    e.press("7")
    e.page.get_by_role("combobox", name="Pass").select_option(name)
    e.wait_address("in", name)
    lines = e.page.get_by_role("listbox", name="Rules").get_by_role("option")
    expect(lines.filter(has_text=rule).first).to_contain_text(f"{tries:,}")
    e.give("Show only rules that never matched, or all rules")
    e.wait_address("only", "never")
    fired = {row["rule"] for row in totals["rows"] if row["pass"] == name and row["matches"]}
    expect(lines.first).to_be_visible()
    for rule in fired:
        expect(lines.get_by_text(rule, exact=True)).to_have_count(0)
    lines.first.click()
    panel = e.page.locator(".rv-rule")
    expect(panel.locator(".why-never")).not_to_be_empty()
    expect(panel.get_by_role("button", name="Show steps")).to_have_count(0)


def costs(server: Process) -> list[tuple[str, int]]:
    """Each rule with the time of all its tries, added up over passes, the longest first."""
    totals, names = server.get("rule-totals"), {r["id"]: r["name"] for r in server.get("rules")}
    spent = Counter[str]()
    for row in totals["rows"]:
        spent[row["rule"]] += row["tryUs"]
    for silent in totals["silent"]:
        for rule, us in zip(silent["id"], silent["us"], strict=True):
            spent[names[rule]] += us
    return spent.most_common()


def test_the_costliest_rule_stands_first(new_page: New, server: Process) -> None:
    """By the time of all tries, also of a rule that never matched; on both pages."""
    ranked = [name for name, _ in costs(server)[:4]]
    e = new_page()
    e.page.goto(server.url)
    region = e.page.get_by_role("region", name="Costliest rules")
    expect(region).to_be_visible()
    assert region.locator("a.name").all_inner_texts()[:4] == ranked
    region.get_by_role("link", name="all rules").click()
    head = e.page.get_by_role("toolbar", name="Sort by")
    expect(head.get_by_role("button", name="In tries, descending")).to_be_visible()
    lines = e.page.get_by_role("listbox", name="Rules").locator(".trow > .mono")
    expect(lines.first).to_be_visible()
    assert lines.all_inner_texts()[:4] == ranked


def test_keys_in_the_search_of_rules(open_page: Open, some_pass: Pass) -> None:
    """Arrows choose in the list, Enter opens, Escape clears and then leaves the field."""
    e = open_page(some_pass.at(1)).press("7", "/")
    field = e.page.locator("#rule-search")
    e.page.keyboard.type("fold")
    lines = e.page.get_by_role("listbox", name="Rules").get_by_role("option")
    expect(lines.first).to_contain_text("fold")
    e.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
    expect(e.page.locator("#rules-list .cur")).to_have_count(1)
    expect(lines.nth(1)).to_have_class(re.compile("cur"))
    expect(field).to_be_focused()
    name = lines.nth(1).locator(".mono").first.inner_text()
    e.press("Enter")
    expect(e.page.get_by_role("complementary", name=f"Rule {name}")).to_be_visible()
    e.page.keyboard.type("_")  # what is found first is what Enter opens next
    expect(lines.first).to_contain_text("fold_")
    first = lines.first.locator(".mono").first.inner_text()
    e.press("Enter")
    expect(e.page.get_by_role("complementary", name=f"Rule {first}")).to_be_visible()
    e.press("Escape")
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    e.press("Escape")
    expect(field).not_to_be_focused()
    e.wait_address("v", "rules")


def test_a_link_to_the_rules_needs_no_pass(new_page: New, server: Process) -> None:
    e = new_page()
    e.page.goto(f"{server.url}#v=rules")
    expect(e.page.get_by_role("listbox", name="Rules")).to_be_visible()
    e.page.wait_for_function("() => /[#&]r=/.test(location.hash)")
    assert e.address("v") == "rules"
    expect(e.page.get_by_role("listbox", name="Rules")).to_be_visible()


def test_what_trying_rules_took(open_page: Open, some_pass: Pass, server: Process) -> None:
    """In the table of all rules, in one pass alone, and of one rule pass by pass; by keyboard."""
    number = some_pass.row["id"]
    totals = server.get("rule-totals")
    assert max(row["tryUs"] for row in totals["rows"]) > 0
    alone = server.get(f"pass-rules/{number}")
    assert alone["rows"][0]["tryUs"] > 0
    e = open_page(some_pass.at(1))
    e.press("7")
    head = e.page.get_by_role("toolbar", name="Sort by")
    head.get_by_role("button", name="In matches").click()
    e.wait_address("o", "-us")
    head.get_by_role("button", name="In tries").click()
    e.wait_address("o", "-tryUs")
    e.give(TRIES)
    e.wait_address("rp", str(number))
    lines = e.page.get_by_role("listbox", name="Rules of this pass").get_by_role("option")
    expect(lines.first).to_contain_text(alone["rows"][0]["rule"])
    expect(e.page.get_by_role("main")).to_contain_text("less than 10 µs")
    e.page.reload()
    expect(lines.first).to_contain_text(alone["rows"][0]["rule"])
    lines.first.locator(".mono").first.click()
    rule = alone["rows"][0]["id"]
    e.wait_address("ru", str(rule))
    page = server.get(f"rule-page?rule={rule}")
    table = e.page.get_by_role("table", name="By pass")
    expect(table.get_by_role("columnheader", name="In tries")).to_be_visible()
    expect(e.page.get_by_text("All its tries took")).to_be_visible()
    e.give(TRIES)
    e.wait_address("rt", "time")
    by_time = e.page.get_by_role("listbox", name="Passes by the time of its tries")
    slowest = next(
        row
        for row in server.get("tree?since=0")["rows"]
        if row["id"] == page["times"]["rewrite"][0]
    )
    expect(by_time.get_by_role("option").first).to_contain_text(slowest["name"])
    by_time.focus()
    e.press("ArrowDown", "Enter")
    e.ready()
    e.wait_address("v", None)
    e.wait_address("r", str(slowest["id"]))
    e.page.go_back()
    expect(by_time).to_be_visible()
    e.press("Escape")
    expect(lines.first).to_be_visible()
    e.press("Escape")
    expect(head).to_be_visible()


def test_a_file_has_the_times_of_the_run_but_not_of_single_passes(
    new_page: New, trace: Path, some_pass: Pass, server: Process, tmp_path: Path
) -> None:
    rule = max(server.get("rule-totals")["rows"], key=lambda row: row["tryUs"])
    file = export(trace, tmp_path / "times.html")
    e = new_page(offline=True).goto(f"{file.as_uri()}#v=rules&ru={rule['id']}&rt=time")
    expect(e.page.get_by_role("table", name="By pass")).to_contain_text("ms")
    expect(e.page.get_by_role("main")).to_contain_text("the time in each pass needs the trace")
    e.page.evaluate("h => { location.hash = h; }", f"v=rules&rp={some_pass.row['id']}")
    expect(e.page.get_by_role("main")).to_contain_text("This answer needs the trace")
