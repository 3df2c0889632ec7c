"""Whether steps are right, and which step broke a kernel, as the page shows it: marks, verdicts,
checks that are begun and ended, and the way from a wrong result to the rule."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.served import Process, export
from tests.browser.wrong import RULE, broken_copy, recorded_with, served_by
from viz.check.known.kept import identity, kept_path, save
from viz.check.part import Part, check_part
from viz.views.store import Store

New = Callable[..., Explorer]
SLOW = 60_000
"""A worker loads the compiler, ms."""


@pytest.fixture(scope="module")
def wrong_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that a compiler with a wrong rule recorded; the compiler lies beside it."""
    folder = tmp_path_factory.mktemp("wrong")
    return recorded_with(broken_copy(folder / "copy"), folder / "wrong.viz")


@pytest.fixture(scope="module")
def wrong(wrong_trace: Path, browser: Browser) -> Iterator[Process]:
    """A server of that compiler."""
    with served_by(wrong_trace.parent / "copy", wrong_trace) as process:
        yield process


def pass_named(server: Process, name: str) -> dict[str, Any]:
    """A pass with steps."""
    return next(r for r in server.rows() if r["name"] == name and r["steps"])


def section(e: Explorer) -> Locator:
    """What the inspector says of the step that is shown."""
    return e.inspector.get_by_role("region", name="Is this step right")


def test_a_pass_then_the_run_by_keys(wrong: Process, new_page: New) -> None:
    tidy = pass_named(wrong, "tidy")
    e = new_page().goto(f"{wrong.url}#r={tidy['id']}&k=2")
    expect(section(e)).to_contain_text("This pass was not checked")
    expect(e.navigator.get_by_role("img", name=re.compile("^Checked"))).to_have_count(0)
    e.press("c")
    values = section(e).get_by_role("table", name="Values for which the step is wrong")
    expect(values).to_contain_text("result before the step", timeout=SLOW)
    said = wrong.get(f"verdicts/{tidy['id']}")
    verdict = said["verdicts"][said["steps"][1][2]]
    for name, value in verdict["values"]:
        expect(values).to_contain_text(f"{name}{value}")
    expect(values).to_contain_text(f"after the step{verdict['after']}")
    row = e.navigator.get_by_role("treeitem").filter(has_text=re.compile("tidy|made by hand"))
    marks = row.get_by_role("img", name="Checked: a step differs")
    expect(marks).to_have_count(1)
    e.press("ArrowLeft")
    expect(section(e)).to_contain_text("proved")
    section(e).get_by_role("button", name="The run").click()
    total = e.navigator.locator(".foot").get_by_role("img", name="Checked: a step differs")
    expect(total).to_be_visible(timeout=SLOW)
    e.page.goto(f"{wrong.page}#r={pass_named(wrong, 'reduce')['id']}")
    reduce = e.navigator.get_by_role("treeitem").filter(has_text=re.compile("^reduce"))
    expect(reduce.get_by_role("img", name="Checked: a step differs")).to_be_visible(timeout=SLOW)
    expect(total).to_be_visible()
    right = e.navigator.get_by_role("img", name="Checked: right", exact=True)
    expect(right.first).to_be_visible()
    e.press("d")  # from step 1 to step 2 of this pass
    e.wait_address("k", "2")
    e.press("d")
    e.wait_address("r", str(pass_named(wrong, "reduce")["id"]))
    expect(e.inspector.get_by_role("heading", name=RULE)).to_be_visible()
    strip = e.page.get_by_role("slider", name="Step")
    expect(strip).to_have_attribute("aria-valuetext", re.compile("differs$"))
    e.press("Shift+D")
    e.wait_address("r", str(tidy["id"]))


def test_from_a_run_that_differs_to_the_guilty_rule(wrong: Process, new_page: New) -> None:
    """Three actions: open the kernel, run it, ask."""
    kernel = next(r for r in wrong.rows() if r["label"] == "kernel" and r["name"].startswith("r_"))
    first = next(r for r in wrong.rows() if r["parent"] == kernel["row"] and r["steps"])
    e = new_page(viewport={"width": 1280, "height": 720}).goto(f"{wrong.url}#r={first['id']}&k=1")
    expect(e.page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    e.press("r")
    ask = e.page.get_by_role("button", name="Which step broke it?")
    expect(ask).to_be_visible(timeout=SLOW)
    box, run = ask.bounding_box(), e.page.get_by_role("button", name="Run", exact=True)
    line, end = e.subject.bounding_box(), run.bounding_box()
    assert box and line and end
    assert end["x"] + end["width"] <= line["x"] + line["width"]
    ask.click()
    answer = e.inspector.get_by_role("region", name="Which step broke it")
    expect(answer).to_contain_text(f"Made wrong by {RULE}", timeout=SLOW)
    expect(answer).to_contain_text("shown here")
    expect(answer).to_contain_text("agrees with the reference")
    expect(answer).to_contain_text("data0 is off by up to 1")
    e.wait_address("r", str(pass_named(wrong, "reduce")["id"]))
    expect(e.inspector.get_by_role("heading", name=RULE)).to_be_visible()
    e.give("Input graph")
    expect(answer).not_to_contain_text("shown here")
    answer.get_by_role("button", name="Show the step").click()
    expect(answer).to_contain_text("shown here")
    answer.get_by_role("button", name="Close the answer").click()
    expect(answer).to_have_count(0)


def test_the_workbench_says_that_the_original_is_wrong(wrong: Process, new_page: New) -> None:
    """Original and edited agree, and neither is right: three actions from there to the rule."""
    kernel = next(r for r in wrong.rows() if r["label"] == "kernel" and r["name"].startswith("r_"))
    first = next(r for r in wrong.rows() if r["parent"] == kernel["row"] and r["steps"])
    e = new_page().goto(f"{wrong.url}#r={first['id']}&k=1")
    e.press("4")
    expect(e.page.get_by_role("button", name="Run both")).to_be_enabled(timeout=SLOW)
    e.press("Control+Enter")
    outputs = e.page.get_by_role("region", name="Outputs")
    expect(outputs).to_contain_text("both wrong: Normal, seed 0", timeout=SLOW)
    said = "Both agree. The original differs from the reference, the edited kernel differs from it"
    row = outputs.get_by_role("row", name="Normal, seed 0")
    expect(row.get_by_role("img", name=said)).to_have_text("≠")
    outputs.get_by_role("button", name="Which step broke it?").click()
    answer = e.inspector.get_by_role("region", name="Which step broke it")
    expect(answer).to_contain_text(f"Made wrong by {RULE}", timeout=SLOW)


def test_nothing_is_wrong(open_page: New, rows: list[dict[str, Any]]) -> None:
    kernel = next(r for r in rows if r["label"] == "kernel")
    first = next(r for r in rows if r["parent"] == kernel["row"] and r["steps"])
    e = open_page(f"r={first['id']}&k=1")
    e.give("Which step broke this kernel?")
    answer = e.inspector.get_by_role("region", name="Which step broke it")
    expect(answer).to_contain_text("Nothing is wrong", timeout=SLOW)
    expect(answer).to_contain_text("agrees with the reference")


def test_a_check_is_cancelled(open_page: New, rows: list[dict[str, Any]], server: Process) -> None:
    first = next(r for r in rows if r["kind"] == "rewrite" and r["steps"])
    e = open_page(f"r={first['id']}&k=1")
    section(e).get_by_role("button", name="The run").click()
    expect(section(e)).to_contain_text("Checking the run")
    e.press("Escape")
    expect(section(e).get_by_role("button", name="The run")).to_be_visible()
    expect(e.page.locator(".status")).to_contain_text("The check was cancelled")


def test_an_exported_file_shows_what_is_known(
    wrong_trace: Path, new_page: New, tmp_path: Path
) -> None:
    trace = tmp_path / "run.viz"
    shutil.copy(wrong_trace, trace)
    store = Store(trace)
    passes = [row for row in store.tree()["rows"] if row["kind"] == "rewrite" and row["steps"]]
    store.close()
    tidy = next(row["id"] for row in passes if row["name"] == "tidy")
    other = next(row["id"] for row in passes if row["name"] == "reduce")
    found = check_part(Part(str(trace), (tidy,)))
    assert save(kept_path(trace), identity([trace]), {one["rewrite"]: one for one in found})
    file = export(trace, tmp_path / "run.html")
    e = new_page().goto(f"{file.as_uri()}#r={tidy}&k=2")
    mark = e.navigator.get_by_role("img", name="Checked: a step differs")
    expect(mark).to_have_count(2)  # pass, run
    expect(section(e)).to_contain_text("Before and after the step differ")
    expect(section(e)).to_contain_text("open the trace itself with uopviz")
    expect(section(e).get_by_role("button", name="The run")).to_have_count(0)
    e.press("c")
    e.page.goto(f"{file.as_uri()}#r={other}&k=1")
    expect(section(e)).to_contain_text("This pass was not checked")
