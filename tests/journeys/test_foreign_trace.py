"""I wrote a trace from my own compiler, as the manual says. Does the page show what it did?"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.served import ROOT, Process, environment, serve
from tests.journeys.reader import Reader

MANUAL: Final = ROOT / "docs" / "trace-format.md"
SECTION: Final = "## Writing a trace from another compiler"


@pytest.fixture(scope="module")
def mycc(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Process]:
    """Serves the trace that the manual's example writes."""
    folder = tmp_path_factory.mktemp("mycc")
    section = MANUAL.read_text().split(SECTION)[1]
    example = section.split("```python\n")[1].split("```")[0]
    subprocess.run([sys.executable, "-c", example], env=environment(), cwd=folder, check=True)
    with serve(folder / "mycc.viz") as process:
        yield process


def test_the_example_of_the_manual(reader: Reader, mycc: Process) -> None:
    reader.opens(mycc.url)
    reader.sees("recorded by another compiler, not by uopviz")
    reader.sees("return (a[0] + 0) * 2;", "Your lines")
    reader.clicks("a", role="link", within="Kernels")
    reader.sees("not launched in this run")
    expect(reader.page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
    program = reader.page.get_by_role("region", name="Program", exact=True)
    reader.sees("return (a[0] + 0) * 2;", program)
    text = reader.page.get_by_role("region", name=re.compile("for mycpu$"))
    expect(text.locator(".cm-line")).to_have_text(["shl r0, 1", "ret", ""])

    reader.clicks(re.compile("^peephole: 2 steps"), role="link", within="Passes")
    reader.waits_for_a_graph()
    assert reader.actions == 2, "the kernel, and its pass"
    reader.explorer.at_step(1)
    heading = reader.explorer.inspector.get_by_role("heading", level=2)
    nodes = reader.page.get_by_role("tree", name="Nodes around the change").get_by_role("treeitem")
    for rule, equation, place, change in (
        ("add_zero", "x + 0 → x", "rules.cc:12", "mul, i32, source 0 moved"),
        ("mul_to_shift", "x * 2**n → x << n", "rules.cc:31", "shl, i32, was mul"),
    ):
        expect(heading).to_have_text(rule)
        reader.sees(equation, reader.explorer.inspector)
        reader.sees(place, reader.explorer.inspector)
        expect(nodes.filter(has_text=change)).to_have_count(1)
        reader.presses("ArrowRight")
    reader.presses("s")
    reader.clicks_on(text.locator(".cm-line").first)
    selected = nodes.and_(reader.page.locator('[aria-selected="true"]'))
    expect(selected).to_contain_text("shl, i32")
