"""Kernels compiled otherwise, in the page: scripts, code that has changed, a rule without an end. A
rule that is left out is a journey."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.code_copy import RULE, CodeCopy
from tests.browser.explorer import Explorer
from tests.browser.served import PROGRAMS, Process


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> CodeCopy:
    return CodeCopy(tmp_path_factory.mktemp("code") / "copy")


@pytest.fixture(scope="module")
def served(code: CodeCopy) -> Iterator[Process]:
    """A run of two kernels, served by a copy of the code that recorded it."""
    trace = code.run(PROGRAMS / "whatif.py")
    with code.serve(trace) as process:
        yield process


@pytest.fixture
def explorer(
    code: CodeCopy, served: Process, new_page: Callable[..., Explorer]
) -> Iterator[Explorer]:
    """The pass in which a product and a sum become one operation."""
    made = new_page(viewport={"width": 1440, "height": 900})
    made.goto(f"{served.url.partition('#')[0]}#r={_pass(served)['id']}&k=1")
    yield made
    code.restore()


def _pass(served: Process) -> dict[str, Any]:
    rows = served.rows()
    kernel = next(row for row in rows if row["label"] == "kernel" and row["name"][0] == "r")
    return next(
        row for row in rows if row["row"] > kernel["row"] and row["name"] == "decompose: fuse"
    )


def test_scripts_and_deleting(explorer: Explorer) -> None:
    page = explorer.page
    explorer.give("Variants of the kernel: what if")
    page.get_by_role("button", name="Compile and run").click()
    rows = page.locator(".variants tbody tr")
    expect(rows.first).to_contain_text("the code on disk")
    before = rows.count()
    more = rows.first.get_by_role("button", name=re.compile("More about"))
    more.click()
    with page.expect_download() as script:
        page.get_by_role("button", name="Save a reproduction script").click()
    assert "from core.uop.data.serial import from_data" in Path(script.value.path()).read_text()
    more.click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(rows).to_have_count(before - 1)


def test_a_changed_rule_is_replayed(explorer: Explorer, code: CodeCopy) -> None:
    page = explorer.page
    notice = explorer.notice
    expect(notice).to_have_count(0)
    code.edit()
    expect(notice).to_contain_text(re.compile(rf"{RULE} changed, reduce\.py:\d+"))
    notice.get_by_role("button", name="Replay this kernel").click()
    expect(page.get_by_role("main", name="Comparison")).to_be_visible()
    expect(page.locator(".cmp-row")).to_have_count(1)
    expect(page.locator(".cmp-first .pf")).to_contain_text("differ")
    expect(notice).to_contain_text("Replayed")
    code.restore()
    expect(notice).to_have_count(0)
    explorer.give("Replay this kernel with the code on disk")  # from here, too
    expect(page.get_by_role("main", name="Comparison")).to_contain_text("The runs are equal")


def test_a_rule_that_hangs_is_ended_by_its_limit(explorer: Explorer, code: CodeCopy) -> None:
    page = explorer.page
    code.hang()
    explorer.give("Variants of the kernel: what if")
    page.get_by_role("button", name="Change the next variant").click()
    choice = page.get_by_label("Time limit")
    choice.evaluate("select => { select.options[0].value = '2'; }")
    choice.select_option("2")
    page.get_by_role("button", name="Close", exact=True).click()
    table = page.locator(".whatif")
    expect(table).to_contain_text(re.compile("No variant of this kernel|Result"))
    before = page.locator(".variants tbody tr").count()
    page.get_by_role("button", name="Compile and run").click()
    expect(page.locator(".wi-job")).to_contain_text("took longer than 2 seconds and was ended")
    page.get_by_role("button", name="Compile and run").click()
    page.locator(".whatif").get_by_role("button", name="Cancel").click()
    expect(page.locator(".wi-job")).to_contain_text("Next:")
    assert page.locator(".variants tbody tr").count() == before
