"""Where did my rule match? From the overview to all matches of one rule, and to a step of them."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.served import Process
from tests.journeys.reader import Reader


def test_all_matches_of_a_rule(reader: Reader, server: Process) -> None:
    rule = max(server.get("rule-totals")["rows"], key=lambda row: row["matches"])
    reader.opens(server.url)
    reader.goes_to("Rules")
    reader.clicks("Search the rules", role="searchbox").types(rule["rule"])
    reader.clicks_on(reader.page.get_by_role("listbox", name="Rules").get_by_role("option").first)
    page = server.get(f"rule-page?rule={rule['id']}")
    matches = sum(row["matches"] for row in page["passes"])
    reader.clicks("Rule page")
    reader.sees(re.compile(rf"It matched {matches:,} times? in {len(page['rewrite'])} pass"))
    passes = reader.page.get_by_role("listbox", name="Passes in which it matched")
    expect(passes.get_by_role("option")).to_have_count(len(page["rewrite"]))
    reader.clicks_on(passes.get_by_role("option").first)
    reader.waits_for_a_graph()
    expect(reader.explorer.inspector.get_by_role("heading", level=2)).to_contain_text(rule["rule"])
