"""My rewriting failed. Which rule did it, at which line, and on what?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.served import PROGRAMS, Process, record, serve
from tests.journeys.reader import Reader

PROGRAM: Final = PROGRAMS / "failing.py"


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Process]:
    """A run of two passes: in the first a rule raises, in the second two rules never end."""
    with serve(record(PROGRAM, tmp_path_factory.mktemp("failing") / "failing.viz")) as process:
        yield process


def line_of(text: str) -> int:
    """The number of a line of the program."""
    (number,) = (
        number
        for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
        if line.strip() == text
    )
    return number


def test_the_rule_that_raised(reader: Reader, failing: Process) -> None:
    reader.opens(failing.url)
    said = "RuleError: rule explodes raised IndexError: tuple index out of range"
    first = reader.page.locator(".ov > *").first
    expect(first).to_have_attribute("role", "alert")
    reader.sees(said, first)
    reader.clicks("Show the last graph", role="link", within=first)
    reader.waits_for_a_graph()
    assert reader.actions == 1

    alert = reader.page.get_by_role("alert")
    reader.sees(said, alert)
    reader.sees("Pass raises, kernel k_raises, after step 1, in rule explodes", alert)
    raised = line_of("return x.src[7]")
    expect(alert.get_by_role("button", name=f"failing.py:{raised}", exact=True)).to_be_visible()
    reader.sees(f"hint: look at {PROGRAM}:{raised}, in explodes", alert)
    inspector = reader.explorer.inspector
    traceback = inspector.locator("pre.trace")
    reader.sees(f'failing.py", line {raised}, in explodes', traceback.first)
    expect(traceback.first).not_to_contain_text("rewrite.py")
    reader.clicks_on(inspector.get_by_text("Full Python traceback"))
    reader.sees("rewrite.py", traceback.last)
    node = reader.page.get_by_role("tree", name="Nodes around the change").get_by_role("treeitem")
    failed = node.filter(has_text="the pass failed here")
    expect(failed.first).to_have_attribute("aria-selected", "true")
    expect(failed.first).to_contain_text("MUL")


def test_the_rules_that_never_end(reader: Reader, failing: Process) -> None:
    reader.opens(failing.url)
    reader.clicks(re.compile("no fixed point"), role="link", within="Problems")
    reader.waits_for_a_graph()
    assert reader.actions == 1

    alert = reader.page.get_by_role("alert")
    reader.sees("no fixed point", alert)
    reader.sees("to_seven (step 2) → to_five (step 3), then the first again", alert)
    for rule, equation, step in (("to_seven", "x * 5 → x * 7", 2), ("to_five", "x * 7 → x * 5", 3)):
        decorator = line_of(f"def {rule}(x: UOp) -> UOp:") - 1
        reader.sees(f"{rule} ({PROGRAM}:{decorator})", alert)
        reader.clicks(rule, within=alert)
        reader.explorer.at_step(step)
        inspector = reader.explorer.inspector
        reader.sees(rule, inspector.get_by_role("heading", level=2))
        reader.sees(equation, inspector)
