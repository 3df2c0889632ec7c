"""A toy compiler of its own, and the page over its trace: with its dialect, and without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.served import Process, environment, export, serve

EXAMPLES = Path(__file__).parents[2] / "examples"
DIALECT = EXAMPLES / "toycc_dialect.py"
New = Callable[..., Explorer]


def _find_division(e: Explorer) -> None:
    """Goes to the node -7 / 2 by the search for a structure."""
    e.press("/")
    expect(e.page.locator("#search")).to_be_focused()
    e.page.keyboard.type("div(_, _)")
    e.page.get_by_role("listbox", name="Search results").get_by_role("option").first.click()
    expect(e.inspector.locator("dl.kv")).to_contain_text("div")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace that the example writes."""
    path = tmp_path_factory.mktemp("toy") / "toy.viz"
    subprocess.run(
        [sys.executable, str(EXAMPLES / "toycc.py"), str(path)], check=True, env=environment()
    )
    return path


def test_a_toy_compiler_is_shown_in_its_dialect(new_page: New, toy: Path) -> None:
    command = [sys.executable, "-m", "viz", "open", "--dialect", str(DIALECT), str(toy)]
    with Process([*command, "--no-browser"], environment(), errors=False) as server:
        e = new_page().goto(server.url)
        e.at_step(1)
        # -7 / 2 is -4 here, where division rounds down
        _find_division(e)
        details = e.inspector.locator("dl.kv")
        expect(details).to_contain_text("div arithmetic")
        expect(details).to_contain_text("always -4")
        # the one action that it has, and none of those of another compiler
        e.page.get_by_role("button", name="Evaluate").click()
        expect(e.page.get_by_role("status").filter(has_text="where each variable")).to_have_text(
            "-40, where each variable is 10"
        )
        e.press("Escape")
        top = e.page.locator("header").first
        expect(top).to_contain_text("Graphs")
        for name in ("Emulator", "Workbench", "Run on", "Check"):
            expect(e.page.get_by_role("button", name=name)).to_have_count(0)
        expect(top).not_to_contain_text("Workbench")
        expect(top).not_to_contain_text("Emulator")
        # commands of theirs are in no palette
        e.press("Control+k")
        for query in ("variant", "emulat", "check", "run the kernel"):
            e.page.get_by_role("combobox").fill(query)
            listed = e.page.get_by_role("option").all_inner_texts()
            assert not [text for text in listed if query.split()[0] in text.casefold()], listed
        e.press("Escape")
        expect(e.page.get_by_role("alert")).to_have_count(0)


def test_without_its_dialect_it_is_nodes_and_texts(new_page: New, toy: Path) -> None:
    with serve(toy) as server:
        e = new_page().goto(server.url)
        _find_division(e)
        details = e.inspector.locator("dl.kv")
        expect(details).to_contain_text("div other")
        expect(details).not_to_contain_text("Bounds")
        expect(e.page.get_by_role("button", name="Evaluate")).to_have_count(0)
        e.give("Problems")
        expect(e.page.locator("table.problems")).to_contain_text(
            "the dialect of this run, toycc 1, is not installed"
        )


def test_an_exported_file_says_its_dialect(
    new_page: New, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UOPVIZ_DIALECTS", str(DIALECT))
    file = export(toy, tmp_path / "toy.html")
    e = new_page().goto(file.as_uri())
    _find_division(e)
    expect(e.inspector.locator("dl.kv")).to_contain_text("div arithmetic")
    expect(e.page.get_by_role("button", name="Evaluate")).to_have_count(0)
