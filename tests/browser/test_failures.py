"""Passes in which a rule failed: the node, the line, the traceback, the loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.served import PROGRAMS, record, serve

New = Callable[..., Explorer]
PROGRAM = PROGRAMS / "failing.py"


def line_of(text: str) -> int:
    lines = PROGRAM.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.strip() == text)


def test_where_a_rule_raised_and_where_rules_go_round(new_page: New, tmp_path: Path) -> None:
    with serve(record(PROGRAM, tmp_path / "failing.viz")) as server:
        raises, circles = (row for row in server.rows() if row["kind"] == "rewrite")
        e = new_page().goto(server.url)
        error = server.get(f"rewrites/{raises['id']}")["error"]
        e.wait_address("s", str(error["slot"]))
        banner = e.page.get_by_role("alert")
        place = f"failing.py:{line_of('return x.src[7]')}"
        expect(banner.get_by_role("button", name=place)).to_be_visible()
        expect(banner).to_contain_text(f"look at {PROGRAM}")
        trace = e.inspector.locator("pre.trace")
        expect(trace.first).to_contain_text("in explodes")
        expect(trace.first).not_to_contain_text("rewrite.py")
        expect(trace.last).to_be_hidden()
        e.inspector.locator("details.engine summary").click()
        expect(trace.last).to_contain_text("rewrite.py")
        outline = e.page.get_by_role("tree").get_by_role("treeitem", name="the pass failed here")
        expect(outline.first).to_have_count(1)

        e.page.goto(f"{server.url}#r={circles['id']}")
        loop = server.get(f"rewrites/{circles['id']}")["error"]["loop"]
        said = banner.locator(".loop")
        expect(said).to_contain_text("to_seven")
        e.wait_address("s", str(loop[-1]["slot"]))
        said.get_by_role("button", name="to_seven").click()
        e.at_step(loop[0]["step"])
