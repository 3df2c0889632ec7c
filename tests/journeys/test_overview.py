"""What did my program run, and which of its kernels took longest?"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.browser.served import PROGRAMS, Process
from tests.journeys.figures import ROUNDED, microseconds
from tests.journeys.reader import Reader

NOT_CHECKED: Final = "○"
"""The mark of a kernel whose steps nobody has checked."""


def launched(server: Process) -> tuple[Counter[str], Counter[str]]:
    """How often each kernel was launched, and how long that took, µs: sums of single launches."""
    timeline: dict[str, Any] = server.get("timeline")
    times: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for track in timeline["tracks"]:
        if track["kind"] == "device":
            for name, ns in zip(track["names"], track["ns"], strict=True):
                times[timeline["names"][name]] += ns / 1000
                counts[timeline["names"][name]] += 1
    return counts, times


def test_what_ran_and_what_took_longest(reader: Reader, server: Process) -> None:
    totals, overview = server.get("run")["totals"], server.get("overview")
    counts, times = launched(server)
    whole = sum(times.values())
    reader.opens(server.url)
    for number, word in (
        (totals["kernels"], "kernel"),
        (totals["steps"], "step"),
        (totals["rewrites"], "pass"),
        (overview["ruleCount"], "rule"),
        (totals["launches"], "launch"),
    ):
        reader.sees(re.compile(rf"\b{number:,} {word}"), reader.page.locator(".ov-counts"))
    for rule in overview["rules"][:5]:
        reader.sees(rule["name"], "Costliest rules")
    table = reader.page.get_by_role("region", name="Kernels")
    rows = table.locator(".ov-row")
    expect(rows).to_have_count(len(times))
    words = [row.inner_text().split("\n") for row in rows.all()]
    assert [times[row[2]] for row in words] == sorted(times.values(), reverse=True)
    program = (PROGRAMS / "recorded.py").read_text().splitlines()
    for calls, line, name, check, launches, took, share, *_ in words:
        assert check == NOT_CHECKED
        source = program[int(line.lstrip(":")) - 1]
        for call in calls.split(", "):
            assert {"matmul": "@", "add": "+"}.get(call, f".{call}(") in source
        assert int(launches) == counts[name]
        assert microseconds(took) == pytest.approx(times[name], rel=ROUNDED)
        assert float(share.strip("<%")) == pytest.approx(100 * times[name] / whole, abs=0.51)

    costliest = words[0][2]
    reader.clicks_on(rows.first.get_by_role("link").first)
    head = reader.page.get_by_role("main", name="Kernel").locator("header")
    reader.sees(f"1 of {len(times)} kernels by time", head)
    reader.sees(costliest, head)
    shown = head.get_by_role("link", name=re.compile(r"^[\d.,]+ (ns|µs|ms|s)$"))
    assert microseconds(shown.inner_text()) == pytest.approx(times[costliest], rel=ROUNDED)
    assert reader.actions == 1
