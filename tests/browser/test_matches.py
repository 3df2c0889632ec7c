"""Matches of a rule in the whole run: N goes on in other passes, and X keeps the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process

Open = Callable[..., Explorer]


@pytest.fixture(scope="session")
def matches(server: Process, rows: list[dict[str, Any]]) -> tuple[int, list[tuple[int, int]]]:
    """A rule that matched in three to eight passes, and its matches: rewrite and step."""
    order = {row["id"]: row["row"] for row in rows if row["kind"] == "rewrite"}
    found = server.get("rule-matches")
    passes: dict[int, list[int]] = {}
    for rule, rewrite, count in zip(found["rule"], found["rewrite"], found["matches"], strict=True):
        passes.setdefault(rule, []).append(rewrite)
        assert count > 0
    rule = next(r for r, p in passes.items() if 3 <= len(p) <= 8)
    steps: list[tuple[int, int]] = []
    for rewrite in sorted(passes[rule], key=order.__getitem__):
        bundle = server.get(f"rewrites/{rewrite}")
        steps += [(rewrite, k) for k, s in enumerate(bundle["steps"], 1) if s["rule"] == rule]
    return rule, steps


@pytest.mark.parametrize("filtered", [False, True])
def test_next_match_goes_through_all_passes_and_back(
    open_page: Open, matches: tuple[int, list[tuple[int, int]]], filtered: bool
) -> None:
    rule, steps = matches
    first, k = steps[0]
    e = open_page(f"r={first}&k={k}" + (f"&rule={rule}" if filtered else ""))
    passes = list(dict.fromkeys(rewrite for rewrite, _ in steps))

    def at(i: int) -> None:
        rewrite, step = steps[i]
        e.wait_address("r", str(rewrite))
        e.at_step(step)
        expect(e.inspector).to_contain_text(
            f"Match {i + 1} of {len(steps)} in this run, "
            f"pass {passes.index(rewrite) + 1} of {len(passes)}"
        )

    for i in range(1, min(len(steps), 12)):
        e.press("n")
        at(i)
    for i in reversed(range(min(len(steps), 12) - 1)):
        e.press("Shift+N")
        at(i)
    e.press("Shift+N")
    expect(e.said).to_contain_text("No earlier match")
    if filtered:
        assert e.address("rule") == str(rule)


def test_stepping_with_a_filter_goes_on_in_the_next_pass(
    open_page: Open, matches: tuple[int, list[tuple[int, int]]]
) -> None:
    rule, steps = matches
    last = max(k for rewrite, k in steps if rewrite == steps[0][0])
    after = next(s for s in steps if s[0] != steps[0][0])
    e = open_page(f"r={steps[0][0]}&k={last}&rule={rule}").press("ArrowRight")
    e.wait_address("r", str(after[0]))
    e.at_step(after[1])


def test_clearing_filters_keeps_step_and_camera(open_page: Open, some_pass: Pass) -> None:
    e = open_page(f"r={some_pass.row['id']}").press("f")
    k = e.step
    e.press("n").give("Zoom in", "Zoom in")
    later = e.step
    before = e.still()
    e.give("Clear all filters")
    e.wait_address("rule", None)
    assert e.step == later
    assert e.still() == before
    again = open_page(f"r={some_pass.row['id']}&rule={some_pass.rule(3)['id']}")
    k = again.step
    again.give("Clear all filters")
    again.wait_address("rule", None)
    again.at_step(k)
