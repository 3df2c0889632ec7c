"""The compiler's own text before and after a pass: its lines are linked to nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.served import export, serve
from viz.cli import main

New = Callable[..., Explorer]
HEAD = "// -----// IR Dump {} X (dce) //----- //\n"
BEFORE = """module {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.muli %a, %a : i32
    %1 = arith.addi %a, %a : i32
    return %1 : i32
  }
}
"""
AFTER = """module {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    return %0 : i32
  }
}
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of one pass, imported."""
    folder = tmp_path_factory.mktemp("texts")
    log = folder / "a.log"
    log.write_text(HEAD.format("Before") + BEFORE + HEAD.format("After") + AFTER)
    assert main(["import", "-o", str(folder / "a.viz"), str(log)]) == 0
    return folder / "a.viz"


def look(e: Explorer) -> None:
    """The difference, and both ways between lines and nodes."""
    e.give("The compiler's own text before and after the pass")
    centre = e.page.locator(".cover.text")
    text = centre.get_by_role("listbox", name="The compiler's text before and after the pass")
    expect(text.locator(".ln.dd")).to_have_count(1)
    expect(text.locator(".ln.dd")).to_contain_text("arith.muli")
    expect(text.locator(".ln.da")).to_have_count(0)
    expect(e.page.locator(".pt")).to_contain_text("0 lines added, 1 removed")
    text.locator(".ln.dd").click()
    e.give("Switch the inspector between rule and node")
    expect(e.inspector.locator("dl.kv")).to_contain_text("arith.muli")
    expect(text.locator(".ln.hl")).to_contain_text("arith.muli")
    text.locator(".ln", has_text="arith.addi").click()
    expect(e.inspector.locator("dl.kv")).to_contain_text("arith.addi")
    expect(text.locator(".ln.hl")).to_have_count(1)
    text.focus()  # the keys are on the line that was removed
    text.press("Enter")
    expect(e.inspector.locator("dl.kv")).to_contain_text("arith.muli")
    text.press("ArrowDown")
    text.press("Enter")
    expect(e.inspector.locator("dl.kv")).to_contain_text("arith.addi")
    e.press("m")
    expect(centre).to_have_count(0)
    foot = e.sources.get_by_role("listbox", name="The compiler's text before and after the pass")
    expect(foot.locator(".ln.hl")).to_contain_text("arith.addi")


def test_lines_and_nodes_are_linked(new_page: New, trace: Path) -> None:
    with serve(trace) as server:
        look(new_page(sources=True).goto(server.url))


def test_of_a_kernel_there_are_its_sources_as_well(new_page: New, tmp_path: Path) -> None:
    log = Path(__file__).parents[1] / "viz" / "importers" / "dumps" / "torch"
    assert main(["import", "-o", str(tmp_path / "a.viz"), str(log)]) == 0
    with serve(tmp_path / "a.viz") as server:
        e = new_page(sources=True)
        e.goto(f"{server.url}#v=graphs&r=10")
        text = e.sources.get_by_role(
            "listbox", name="The compiler's text before and after the pass"
        )
        expect(text.locator(".ln.da", has_text="addmm.default")).to_be_visible()
        e.sources.get_by_role("button", name="Sources", exact=True).click()
        code = e.sources.get_by_role("region", name="Output code", exact=True)
        expect(code).to_contain_text("AOT ID")
        e.sources.get_by_role("button", name="Compiler's text").click()
        expect(text).to_be_visible()


def test_an_exported_file_has_the_texts(new_page: New, trace: Path, tmp_path: Path) -> None:
    look(new_page(sources=True).goto(export(trace, tmp_path / "a.html").as_uri()))
