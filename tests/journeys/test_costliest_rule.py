"""Which rule does compilation spend most of its time in, tries that matched nothing included?"""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import expect

from tests.browser.served import Process
from tests.journeys.figures import ROUNDED, microseconds
from tests.journeys.reader import Reader


def tried(server: Process) -> tuple[Counter[str], Counter[str]]:
    """How often each rule was tried and how long that took, µs, over all passes."""
    totals = server.get("rule-totals")
    names = {rule["id"]: rule["name"] for rule in server.get("rules")}
    tries: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for row in totals["rows"]:
        tries[row["rule"]] += row["tries"]
        times[row["rule"]] += row["tryUs"]
    for row in totals["silent"]:  # passes in which a rule matched nothing
        for rule, count, us in zip(row["id"], row["tries"], row["us"], strict=True):
            tries[names[rule]] += count
            times[names[rule]] += us
    return tries, times


def test_rules_by_all_their_time(reader: Reader, server: Process) -> None:
    tries, times = tried(server)
    costliest, took = times.most_common(1)[0]
    reader.opens(server.url)
    reader.goes_to("Rules")
    order = reader.page.get_by_role("toolbar", name="Sort by")
    expect(order.get_by_role("button", name="In tries, descending")).to_be_visible()
    first = reader.page.get_by_role("listbox", name="Rules").get_by_role("option").first
    expect(first).to_contain_text(costliest)
    assert reader.actions == 1, "the tab"
    name, *cells = first.inner_text().split("\n")
    assert name == costliest
    assert f"{tries[costliest]:,}" in cells
    assert microseconds(cells[-1]) == pytest.approx(took, rel=ROUNDED)

    sums = reader.page.locator(".sums")
    total = sums.locator("span").filter(has_text="in tries").inner_text()
    shown = microseconds(total.removesuffix(" in tries"))
    assert shown == pytest.approx(sum(times.values()), rel=ROUNDED)

    reader.clicks_on(first)
    reader.clicks("Rule page")
    reader.sees("All its tries took")
    assert reader.actions == 3
    main = reader.page.get_by_role("main")
    reader.sees(cells[-1], main)
    reader.sees(costliest, main.get_by_role("heading").first)
