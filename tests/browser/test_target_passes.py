"""The passes of every target: chosen in the header, stepped through, and linked with their sources;
the same in an exported file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import ROOT, Process, environment, serve
from tests.browser.test_sources import show

Open = Callable[..., Explorer]
OWN = "x86-64"


@pytest.fixture(scope="module")
def own(trace: Path) -> Iterator[Process]:
    """A server of these tests: what they compile is in its run."""
    with serve(trace) as process:
        yield process


@pytest.fixture(scope="module")
def exported(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with the passes of two targets, as one file."""
    file = tmp_path_factory.mktemp("targets") / "run.html"
    command = [sys.executable, "-m", "viz", "export", str(trace), "-o", str(file)]
    command += ["--targets", "sm_90,gfx1100"]
    done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return file


def choose(e: Explorer, target: str) -> None:
    """Shows the passes for a target, by a command; those of the program are for x86-64."""
    if target == OWN:
        e.give(f"Show the program's own passes, for {target}")
    else:
        e.give(f"Show the passes for {target}")
    shows(e, target)
    e.ready()


def shows(e: Explorer, target: str) -> None:
    """Waits until the passes for a target are shown: only of another one the subject says it."""
    said = e.subject.get_by_role("navigation").locator("> .mono")
    if target == OWN:
        expect(said).to_have_count(0)
    else:
        expect(said).to_have_text(target, timeout=40_000)


def group_of(e: Explorer, target: str) -> Locator:
    """The line of a target in the navigator, below those of the program's own passes."""
    return e.navigator.get_by_role("treeitem").get_by_text(target, exact=True)


def steps_through(e: Explorer, target: str) -> None:
    """Goes to a pass of the target, one step on, and to the next pass of the same target."""
    choose(e, target)
    expect(group_of(e, target)).to_be_visible()
    number = int(e.address("r") or 0)
    assert number >= 256_000_000_000
    e.give("Input graph")
    e.at_step(0)
    e.press("ArrowRight")
    e.at_step(1)
    expect(e.inspector.locator("h3").first).to_be_visible()
    e.press("]")
    e.page.wait_for_function("n => !location.hash.includes(`r=${n}`)", arg=number)
    assert int(e.address("r") or 0) // 10**9 == number // 10**9, "of the same compilation"


def line_to_history(e: Explorer) -> None:
    """A line of PTX leads to its node in the passes for sm_90, and back to the user's line."""
    column = e.sources.get_by_role("region", name="PTX for sm_90")
    expect(column.locator(".cm-line").nth(5)).to_be_visible(timeout=40_000)
    link = column.get_by_role("button", name="from the passes for sm_90: show them")
    expect(link).to_be_visible()
    link.click()
    shows(e, "sm_90")
    expect(link).to_have_count(0)
    show(e, "LLVM IR")
    other = e.sources.get_by_role("region", name="LLVM IR for x86-64")
    expect(other.get_by_role("button", name=re.compile("the program's own passes"))).to_be_visible()
    e.ready()
    line = column.locator(".cm-line").filter(has_text=re.compile(r"ld\.global|st\.global")).first
    scroller = column.locator(".cm-scroller")
    for _ in range(60):
        if line.count():
            break
        scroller.evaluate("el => { el.scrollTop += 100; }")
    line.scroll_into_view_if_needed()
    line.click()
    expect(e.inspector.get_by_role("tab", name="Node")).to_contain_text("u")
    e.inspector.get_by_role("tab", name="Node").click()
    across = e.inspector.get_by_role("list", name="History across passes")
    expect(across).to_contain_text("your line", timeout=20_000)
    expect(across).to_contain_text("recorded.py")
    expect(across).to_contain_text("for sm_90")


def test_the_passes_of_a_target_are_stepped_through(
    new_page: Open, own: Process, some_pass: Pass
) -> None:
    """Of AMD: those of PTX are a journey."""
    e = new_page().goto(f"{own.url}#{some_pass.at(2)}")
    steps_through(e, "gfx1100")
    choose(e, OWN)
    assert int(e.address("r") or 0) < 10**9


def test_what_was_compiled_has_no_page_but_its_kernels(
    new_page: Open, own: Process, some_pass: Pass
) -> None:
    """Its row in the navigator opens its passes; a link to it opens the page of the kernel."""
    e = new_page().goto(f"{own.url}#{some_pass.at(2)}")
    choose(e, "sm_90")
    choose(e, OWN)
    group_of(e, "sm_90").click()
    shows(e, "sm_90")
    root = next(row for row in own.rows() if row.get("target") == "sm_90")
    e.page.goto(f"{own.page}#kernel={root['id']}")
    kernel = own.rows()[root["parent"]]["name"]
    expect(e.page.locator(".kp .ov-counts")).to_contain_text(kernel)


def test_a_line_leads_to_its_passes_and_back_to_the_users_line(
    new_page: Open, own: Process, some_pass: Pass
) -> None:
    line_to_history(new_page(sources=True).goto(f"{own.url}#{some_pass.at(2)}"))


def test_an_exported_file_has_them_offline(new_page: Open, exported: Path, some_pass: Pass) -> None:
    e = new_page(sources=True, offline=True).goto(f"{exported.as_uri()}#{some_pass.at(2)}")
    for target in ("sm_90", "gfx1100"):
        steps_through(e, target)
    choose(e, OWN)
    line_to_history(e)


def test_an_exported_file_is_opened_again_with_them(
    new_page: Open, exported: Path, some_pass: Pass
) -> None:
    with serve(exported) as process:
        assert len(process.get("run")["compilations"]) == 6
        steps_through(new_page().goto(f"{process.url}#{some_pass.at(2)}"), "gfx1100")
