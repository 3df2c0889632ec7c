"""Whether steps are right, and which step broke a kernel, as the page shows it: marks, verdicts,
checks that are begun and ended. The way from a wrong result to its rule is a journey."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.served import Process, export, serve
from tests.browser.wrong import RULE, broken_copy, recorded_with, served_by
from tests.states.scenes import foreign
from viz.check.part import check_part
from viz.check.parts import Part
from viz.known.kept import Kept, identity, kept_path, save
from viz.known.whole import unknown
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


def control(e: Explorer) -> Locator:
    """The one control of checks: its button, in the line of the subject."""
    return e.subject.locator(".btn.check")


def opened(e: Explorer) -> Locator:
    """What it opens."""
    return e.page.get_by_role("dialog", name=re.compile("^Check: "))


def line(e: Explorer, title: str) -> Locator:
    """What it says of the step, the pass, the kernel or the run."""
    return opened(e).get_by_role("group", name=title, exact=True)


def answer(e: Explorer) -> Locator:
    """Its part about the step that is wrong."""
    return opened(e).get_by_role("region", name="Which step is wrong")


def colour(e: Explorer, of: Locator, token: str) -> bool:
    """Whether it has the colour of that token of the style."""
    return bool(
        of.evaluate(
            """(el, token) => {
              const probe = document.body.appendChild(document.createElement("i"));
              probe.style.color = `var(--${token})`;
              const same = getComputedStyle(el).color === getComputedStyle(probe).color;
              probe.remove();
              return same;
            }""",
            token,
        )
    )


def test_a_pass_then_the_run_by_keys(wrong: Process, new_page: New) -> None:
    tidy = pass_named(wrong, "tidy")
    e = new_page().goto(f"{wrong.url}#r={tidy['id']}&k=2")
    expect(control(e)).to_have_text(re.compile("○.*not checked"))
    marks = e.navigator.get_by_role("img", name=re.compile("^Check: "))
    expect(marks).to_have_count(1)
    expect(marks).to_have_accessible_name("Check: not checked")
    e.press("c")
    for title in ("Step", "Pass", "Kernel", "Run"):
        expect(line(e, title)).to_contain_text("not checked")
    line(e, "Pass").get_by_role("button", name="Check: pass").click()
    values = e.inspector.get_by_role("table", name="Values for which the step is wrong")
    expect(values).to_contain_text("result before the step", timeout=SLOW)
    said = wrong.get(f"verdicts/{tidy['id']}")
    verdict = said["verdicts"][said["steps"][1][2]]
    for name, value in verdict["values"]:
        expect(values).to_contain_text(f"{name}{value}")
    expect(values).to_contain_text(f"after the step{verdict['after']}")
    expect(line(e, "Step")).to_contain_text("≠differs")
    expect(line(e, "Pass")).to_contain_text("≠1 step differs")
    expect(line(e, "Run")).to_contain_text(re.compile(r"1 step differs, \d+ not checked"))
    expect(line(e, "Pass").get_by_role("button")).to_have_text("Again")
    line(e, "Run").get_by_role("button", name="Check: run").click()
    expect(line(e, "Run").get_by_role("button")).to_have_text("Again", timeout=SLOW)
    e.press("Escape")
    expect(opened(e)).to_have_count(0)
    expect(control(e)).to_contain_text("1 step differs")
    e.press("ArrowLeft")
    expect(e.inspector.get_by_role("button", name="✓ proved")).to_be_visible()
    e.page.goto(f"{wrong.page}#r={pass_named(wrong, 'reduce')['id']}")
    reduce = e.navigator.get_by_role("treeitem").filter(has_text=re.compile("^reduce"))
    expect(reduce.get_by_role("img", name=re.compile("Check: 1 step differs"))).to_be_visible()
    expect(e.navigator.get_by_role("img", name="Check: proved", exact=True).first).to_be_visible()
    e.press("d")  # from step 1 to step 2 of this pass
    e.wait_address("k", "2")
    expect(e.inspector.get_by_role("heading", name=RULE)).to_be_visible()
    strip = e.page.get_by_role("slider", name="Step")
    expect(strip).to_have_attribute("aria-valuetext", re.compile("differs$"))
    e.press("Shift+D")
    e.wait_address("r", str(tidy["id"]))


def test_samples_are_never_green(wrong: Process, new_page: New) -> None:
    """A pass that samples vouch for, as the server counts it, has the sign and colour of that."""
    e = new_page(viewport={"width": 1280, "height": 800})
    fuse = pass_named(wrong, "decompose: fuse")
    e.goto(f"{wrong.url}#r={fuse['id']}&k=1")
    expect(control(e)).to_be_visible()
    e.press("c")
    line(e, "Pass").get_by_role("button").click()
    expect(line(e, "Pass").get_by_role("button")).to_have_text("Again", timeout=SLOW)
    checks = wrong.get("checks")
    at = checks["rewrite"].index(fuse["id"])
    assert checks["sampled"][at] and not checks["differs"][at], (
        "a pass that samples alone vouch for"
    )
    said = line(e, "Pass").get_by_text("sampled").locator("..")
    assert colour(e, said, "movt") and not colour(e, said, "add")
    expect(said).to_contain_text("~")
    row = e.navigator.get_by_role("treeitem").filter(has_text="fuse")
    mark = row.get_by_role("img", name=re.compile("^Check: .*sampled"))
    expect(mark).to_have_text("~")
    assert colour(e, mark, "movt")


def test_from_a_run_that_differs_to_the_guilty_rule(wrong: Process, new_page: New) -> None:
    """Three actions: open the kernel, run it, ask."""
    kernel = next(r for r in wrong.rows() if r["label"] == "kernel" and r["name"].startswith("r_"))
    first = next(r for r in wrong.rows() if r["parent"] == kernel["row"] and r["steps"])
    e = new_page(viewport={"width": 1280, "height": 720}).goto(f"{wrong.url}#r={first['id']}&k=1")
    expect(e.page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    e.press("r")
    ask = e.page.get_by_role("button", name="Which step is wrong?")
    expect(ask).to_be_visible(timeout=SLOW)
    run = e.page.get_by_role("button", name="Run", exact=True)
    whole, end = e.subject.bounding_box(), run.bounding_box()
    assert whole and end
    assert end["x"] + end["width"] <= whole["x"] + whole["width"]
    ask.click()
    found = answer(e)
    expect(found).to_contain_text(RULE, timeout=SLOW)
    expect(found).to_contain_text("agrees with the reference")
    expect(found).to_contain_text("data0 is off by up to 1")
    expect(e.page.locator(".status")).to_contain_text(f"Made wrong by {RULE}")
    found.get_by_role("button", name="Show the wrong step").click()
    expect(opened(e)).to_have_count(0)
    e.wait_address("r", str(pass_named(wrong, "reduce")["id"]))
    expect(e.inspector.get_by_role("heading", name=RULE)).to_be_visible()
    e.press("c")
    found.get_by_role("button", name="Clear").click()
    expect(found).not_to_contain_text(RULE)


def test_from_the_overview_to_the_wrong_step(wrong: Process, new_page: New) -> None:
    """Two actions: ask, and go there. The table marks the kernel that it is in."""
    name = next(r["name"] for r in wrong.rows() if r["name"].startswith("r_"))
    e = new_page(viewport={"width": 1280, "height": 720})
    e.page.goto(f"{wrong.url.partition('#')[0]}#v=overview")
    e.page.get_by_role("main", name="Overview").get_by_role(
        "button", name="Which step is wrong?"
    ).click()
    show = answer(e).get_by_role("button", name="Show the wrong step")
    expect(show).to_be_visible(timeout=SLOW)
    expect(answer(e)).to_contain_text(f"Rule{RULE}")
    expect(answer(e)).to_contain_text(re.compile("Ruleswapped.*Step2 of tidy"))
    expect(control(e)).to_contain_text(re.compile("≠1 result differs"))
    kernel = e.page.locator(".ov-row").filter(has_text=name)
    expect(kernel.get_by_role("img", name=re.compile("^Check: 1 result differs"))).to_have_text("≠")
    show.click()
    e.ready()
    e.wait_address("r", str(pass_named(wrong, "reduce")["id"]))
    expect(e.inspector.get_by_role("heading", name=RULE)).to_be_visible()
    e.press("c")
    line(e, "Pass").get_by_role("button").click()  # "Again" where it was checked before
    expect(line(e, "Pass")).to_contain_text("1 step differs", timeout=SLOW)
    e.page.goto(f"{wrong.page}#kernel={next(r['id'] for r in wrong.rows() if r['name'] == name)}")
    reduce = e.page.locator(".kp-seg").filter(has_text="≠")
    expect(reduce).to_have_attribute("title", re.compile("^reduce: .*1 step differs"))


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
    outputs.get_by_role("button", name="Which step is wrong?").click()
    expect(answer(e)).to_contain_text(RULE, timeout=SLOW)


def test_nothing_is_wrong(open_page: New, rows: list[dict[str, Any]]) -> None:
    kernel = next(r for r in rows if r["label"] == "kernel")
    first = next(r for r in rows if r["parent"] == kernel["row"] and r["steps"])
    e = open_page(f"r={first['id']}&k=1")
    e.give("Which step of this kernel is wrong?")
    expect(answer(e)).to_contain_text("No difference was found", timeout=SLOW)
    expect(answer(e)).to_contain_text("agrees with the reference")
    expect(answer(e).get_by_role("button", name="Show the wrong step")).to_have_count(0)


def test_a_check_is_cancelled(open_page: New, rows: list[dict[str, Any]], server: Process) -> None:
    first = next(r for r in rows if r["kind"] == "rewrite" and r["steps"])
    e = open_page(f"r={first['id']}&k=1")
    expect(control(e)).to_be_visible()
    offered = [*e.commands("check"), *e.commands("run"), *e.commands("emulat")]
    assert offered and not [title for title in offered if title.startswith("Cancel")]
    e.press("c")
    line(e, "Run").get_by_role("button").click()
    expect(opened(e)).to_contain_text("Checking ")
    expect(control(e)).to_contain_text("checking")
    opened(e).get_by_role("button", name="Cancel").click()
    expect(line(e, "Run").get_by_role("button")).to_be_enabled()
    expect(e.page.locator(".status")).to_contain_text("The check was cancelled")


def test_a_kernel_whose_text_differs(wrong_trace: Path, new_page: New, tmp_path: Path) -> None:
    """What it came to as a whole stands on its page, in the control and in the table of kernels."""
    trace = tmp_path / "run.viz"
    shutil.copy(wrong_trace, trace)
    store = Store(trace)
    row = next(r for r in store.tree()["rows"] if r["label"] == "kernel")
    store.close()
    outcome = {"output": 0, "index": 3, "coordinates": [3], "got": 0.0, "wanted": 1.0,
               "said": "data0 is off by up to 1"}  # fmt: skip
    whole = {**unknown(""), "kernel": row["id"], "state": "differs", "device": "PTX:EMU",
             "sets": 2, "place": "rendering ptx", "inputs": "corner values",
             "outcome": outcome}  # fmt: skip
    assert save(kept_path(trace), identity([trace]), Kept({}, {row["id"]: whole}))
    file = export(trace, tmp_path / "run.html")
    e = new_page(viewport={"width": 1280, "height": 720})
    e.page.goto(f"{file.as_uri()}#kernel={row['id']}")
    said = "no step of it is known to: the rendering ptx is wrong. On corner values: data0 is off"
    expect(e.page.get_by_role("region", name="Passes")).to_contain_text(said)
    expect(control(e)).to_have_text(re.compile("≠1 text differs from its program"))
    e.page.goto(f"{file.as_uri()}#v=overview")
    line = e.page.locator(".ov-row").filter(has_text=row["name"])
    mark = line.get_by_role("img", name=re.compile("^Check: 1 text differs from its program"))
    expect(mark).to_have_text("≠")


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
    kernel = next(row["id"] for row in passes if row["name"] == "loadstore")
    found = check_part(Part(str(trace), (tidy, kernel)))
    known = Kept({one["rewrite"]: one for one in found})
    assert save(kept_path(trace), identity([trace]), known)
    file = export(trace, tmp_path / "run.html")
    e = new_page().goto(f"{file.as_uri()}#r={tidy}&k=2")
    mark = e.navigator.get_by_role("img", name=re.compile("^Check: 1 step differs"))
    expect(mark).to_have_count(1)
    expect(e.inspector).to_contain_text("Before and after the step differ")
    expect(control(e)).to_be_visible()
    e.press("c")
    expect(line(e, "Pass")).to_contain_text("1 step differs")
    expect(opened(e)).to_contain_text("open the trace itself with uopviz")
    expect(opened(e).get_by_role("button")).to_have_count(1)  # that closes it
    e.press("Escape")
    e.page.goto(f"{file.as_uri()}#r={other}&k=1")
    expect(control(e)).to_have_text(re.compile(r"○\d+ not checked"))  # the kernel, in part
    expect(e.navigator.get_by_role("img", name="Check: proved")).to_have_text("✓")


def test_a_trace_of_another_compiler_has_no_control_and_says_why(
    new_page: New, tmp_path: Path
) -> None:
    with serve(foreign(tmp_path / "foreign.viz")) as server:
        step = next(r for r in server.rows() if r["kind"] == "rewrite")
        e = new_page().goto(f"{server.url}#r={step['id']}&k=1")
        expect(e.inspector).to_contain_text("Not checked: The trace is of another compiler")
        expect(control(e)).to_have_count(0)
