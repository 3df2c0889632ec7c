"""Edited texts as rows of the table of variants: kept, compared by their source, edited again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer, lines_with
from tests.browser.served import PROGRAMS, Process, record, serve

New = Callable[..., Explorer]
WAIT = 60_000


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A run of its own: what is kept lies beside its trace."""
    trace = record(PROGRAMS / "whatif.py", tmp_path_factory.mktemp("texts") / "run.viz")
    with serve(trace) as process:
        yield process


def edited(e: Explorer, was: str, now: str) -> Locator:
    """Changes the first line that has such a word in the editor of the workbench."""
    e.press("e")
    editor = e.page.get_by_role("textbox", name=re.compile("^LLVM IR source"))
    expect(editor).to_be_focused(timeout=WAIT)
    line = e.page.locator(".wb .cm-line").filter(has_text=was).first
    text = line.inner_text()
    line.click()
    e.press("Home", "Shift+End")
    e.page.keyboard.type(text.replace(was, now))
    return line


def test_an_edited_text_is_kept_compared_and_edited_again(new_page: New, own: Process) -> None:
    e = new_page()
    page = e.page
    kernel = next(r for r in own.rows() if r["label"] == "kernel" and r["name"][0] == "r")
    page.goto(f"{own.url.partition('#')[0]}#v=workbench&n={kernel['id']}")
    card = page.get_by_role("region", name="Variants")
    keep = card.get_by_role("button", name="Keep as variant")
    expect(keep).to_be_disabled()
    expect(page.get_by_role("button", name="Run both")).to_be_enabled(timeout=WAIT)
    expect(page.locator(".wb .cm-line").nth(3)).to_be_visible(timeout=WAIT)
    edited(e, "0.000000e+00", "5.000000e+00")
    expect(keep).to_be_enabled()
    keep.click()
    kept = card.get_by_role("list", name="Kept variants").get_by_role("listitem")
    expect(kept).to_have_count(1, timeout=WAIT)
    expect(kept).to_contain_text(re.compile(r"1\s*edited LLVM IR \(\+1 -1\)\s*differs"))

    kept.get_by_role("button", name=re.compile("^1")).click()
    main = page.get_by_role("main", name="Comparison")
    expect(main).to_contain_text("B is a text that was edited. It has no steps: its source is")
    expect(main).to_contain_text("The text of B was edited and made by no pass")
    text = main.get_by_role("region", name="LLVM IR for x86-64")
    expect(text).to_contain_text("1 changed")
    expect(text.locator(".cm-come").first).to_be_attached()
    added = lines_with(text, "", ".cm-come")
    assert len(added) == 1
    assert "5.000000e+00" in added[0]
    page.go_back()

    page.reload()  # the draft of the editor is gone, the variant is not
    expect(kept).to_have_count(1, timeout=WAIT)
    kept.get_by_role("button", name="More about variant 1").click()
    menu = page.get_by_role("dialog")
    expect(menu).to_contain_text("Not minimized: a smaller kernel would need another text")
    with page.expect_download() as script:
        menu.get_by_role("button", name="Save a reproduction script").click()
    assert "5.000000e+00" in Path(script.value.path()).read_text()
    kept.get_by_role("button", name="More about variant 1").click()
    menu.get_by_role("button", name="Edit this text again").click()
    expect(page.locator(".wb .cm-line").filter(has_text="5.000000e+00")).to_have_count(
        1, timeout=WAIT
    )


def test_the_sources_panel_keeps_it_too(new_page: New, own: Process) -> None:
    e = new_page(viewport={"width": 1440, "height": 900})
    kernel = next(r for r in own.rows() if r["label"] == "kernel" and r["name"][0] == "E")
    first = next(r for r in own.rows() if r["row"] > kernel["row"] and r["kind"] == "rewrite")
    e.goto(f"{own.url.partition('#')[0]}#r={first['id']}&k=1")
    page = e.page
    e.press("s")
    editor = page.get_by_role("textbox", name=re.compile("^LLVM IR source"))
    edit = page.get_by_title(re.compile("^Edit this text and run it on"))
    expect(edit.first).to_be_enabled(timeout=WAIT)
    e.press("e")
    expect(editor).to_be_focused(timeout=WAIT)
    page.get_by_role("button", name="Keep as variant").click()
    rows = page.locator(".variants tbody tr")
    expect(rows).to_have_count(1, timeout=WAIT)
    expect(rows).to_contain_text("edited LLVM IR (+0 -0)")
    expect(rows).to_contain_text("equal")
    measured = re.compile(r"^[\d.]+×, 95% interval [\d.]+ – [\d.]+; .+ before, .+ now, \d+ turns$")
    expect(rows.locator(".wi-time")).to_have_attribute("title", measured)
