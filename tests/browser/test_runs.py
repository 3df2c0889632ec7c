"""Several runs on one page: which one is shown, switching, opening one more, and files of two."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import PROGRAMS, ROOT, Process, environment, record

New = Callable[..., Explorer]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of the user, with one trace."""
    folder = tmp_path_factory.mktemp("cache") / "uopviz"
    folder.mkdir()
    return record(PROGRAMS / "small.py", folder / "small.viz")


@pytest.fixture
def two(trace: Path, other: Path) -> Iterator[Process]:
    """`uopviz open recorded.viz small.viz`."""
    command = [sys.executable, "-m", "viz", "open", str(trace), str(other), "--no-browser"]
    with Process(command, environment(), errors=False) as process:
        yield process


@pytest.fixture
def one(trace: Path, other: Path) -> Iterator[Process]:
    """One run, with another one in the cache."""
    setting = environment(XDG_CACHE_HOME=str(other.parents[1]))
    command = [sys.executable, "-m", "viz", "open", str(trace), "--no-browser"]
    with Process(command, setting, errors=False) as process:
        yield process


@pytest.fixture(scope="module")
def file(trace: Path, other: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both runs as one file."""
    path = tmp_path_factory.mktemp("export") / "both.html"
    command = [sys.executable, "-m", "viz", "export", str(trace), str(other), "-o", str(path)]
    done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


def shows(e: Explorer, letter: str, program: str) -> None:
    """The run of this letter is shown."""
    expect(e.page.locator(".btn.runs .run-letter")).to_have_text(letter)
    expect(e.page.locator(".top h1")).to_contain_text(program)


def test_switching_by_menu_key_and_palette(two: Process, new_page: New, some_pass: Pass) -> None:
    e = new_page().goto(f"{two.page}?token={two.token}#{some_pass.at(2)}")
    shows(e, "A", "recorded.py")
    e.at_step(2)
    e.give("Show the next open run")
    shows(e, "B", "small.py")
    e.ready()
    assert e.address("run") == "B"
    assert e.address("k") is None, "steps are those of the run"
    expect(e.page.locator(".status")).to_contain_text("small.viz")
    expect(e.navigator.get_by_role("treeitem").first).to_be_visible()
    e.page.get_by_role("button", name="Run B, of 2").click()
    menu = e.page.get_by_role("dialog", name="Run B, of 2")
    expect(menu.get_by_role("checkbox")).to_have_count(2)
    expect(menu.get_by_role("checkbox", checked=True)).to_contain_text("B small.py")
    menu.get_by_role("checkbox").first.click()
    shows(e, "A", "recorded.py")
    e.ready().at_step(2)  # as it was left
    e.press("Control+k")
    e.page.keyboard.type("show run b")
    e.page.keyboard.press("Enter")
    shows(e, "B", "small.py")
    assert e.page.title().startswith("B: ")


def test_back_forward_and_reload(two: Process, new_page: New, some_pass: Pass) -> None:
    e = new_page().goto(f"{two.page}?token={two.token}#{some_pass.at(2)}")
    e.give("Show the next open run")
    shows(e, "B", "small.py")
    e.page.go_back()
    shows(e, "A", "recorded.py")
    e.ready().at_step(2)
    e.page.go_forward()
    shows(e, "B", "small.py")
    e.page.reload()
    shows(e, "B", "small.py")
    e.ready()


def test_a_copied_link_finds_its_run(two: Process, new_page: New) -> None:
    """By its trace, though it says another letter."""
    e = new_page()
    e.page.goto(f"{two.page}?token={two.token}#trace=small.viz&v=rules")
    shows(e, "B", "small.py")
    expect(e.page.locator(".notices")).to_be_empty()
    e.page.goto(f"{two.page}#trace=recorded.viz&run=B&v=rules")
    shows(e, "A", "recorded.py")


def test_a_link_of_a_run_that_is_not_open(two: Process, new_page: New) -> None:
    e = new_page()
    e.page.goto(f"{two.page}?token={two.token}#run=F&r=7")
    shows(e, "A", "recorded.py")
    notice = e.page.locator(".notices")
    expect(notice).to_contain_text("This link belongs to run F, which is not open.")
    notice.get_by_role("button", name="Stay in this run").click()
    expect(notice).to_be_empty()


def test_one_more_is_opened_and_closed(one: Process, new_page: New) -> None:
    e = new_page()
    e.page.goto(one.url)
    expect(e.page.locator(".top h1")).to_contain_text("recorded.py")
    expect(e.page.locator(".btn.runs")).to_have_count(0)  # one run is the case of one
    runs = e.page.get_by_role("region", name="Recent runs")
    runs.get_by_role("button", name="Compare").click()
    expect(e.page.locator(".btn.runs")).to_be_visible()
    assert [run["name"] for run in one.ask("runs")] == ["A", "B"]
    e.give("Show the next open run")
    shows(e, "B", "small.py")
    e.page.get_by_role("button", name="Run B, of 2").click()
    e.page.get_by_role("button", name="Close run B").click()
    expect(e.page.locator(".btn.runs")).to_have_count(0)
    expect(e.page.locator(".top h1")).to_contain_text("recorded.py")
    assert [run["name"] for run in one.ask("runs")] == ["A"]


def test_a_run_that_another_page_closes(two: Process, new_page: New) -> None:
    e = new_page()
    e.page.goto(f"{two.page}?token={two.token}#run=B&v=rules")
    shows(e, "B", "small.py")
    with e.trouble():
        two.ask("runs/B", "DELETE")
        expect(e.page.locator(".top h1")).to_contain_text("recorded.py")
        expect(e.page.locator(".btn.runs")).to_have_count(0)
    expect(e.page.locator(".status")).to_contain_text("Connected")


def test_a_file_of_two_runs_works_offline(new_page: New, file: Path, some_pass: Pass) -> None:
    e = new_page(offline=True)
    asked: list[str] = []
    e.page.on("request", lambda r: asked.append(r.url))
    e.page.goto(file.as_uri())
    shows(e, "A", "recorded.py")
    assert e.address("v") == "compare"
    expect(e.page.locator('.tabs [aria-current="page"]')).to_have_text("Compare")
    expect(e.page.get_by_text("against")).to_be_visible()
    e.page.evaluate("h => { location.hash = h; }", some_pass.at(2))
    e.ready().at_step(2)
    e.give("Show the next open run")
    shows(e, "B", "small.py")
    e.ready()
    e.press("/")
    e.page.keyboard.type("small")
    expect(e.page.get_by_role("listbox", name="Search results")).to_be_visible()
    e.press("Escape")
    e.page.get_by_role("button", name="Run B, of 2").click()
    expect(e.page.get_by_role("button", name="Close run B")).to_have_count(0)
    others = [u for u in asked if not u.startswith(("file://", "blob:", "data:"))]
    assert others == []


def test_all_runs_are_exported_from_the_page(two: Process, new_page: New, tmp_path: Path) -> None:
    e = new_page().goto(f"{two.page}?token={two.token}#v=graphs")
    e.page.get_by_role("button", name="Share").click()
    with e.page.expect_download(timeout=60_000) as saved:
        e.page.get_by_text("All 2 runs, with their comparison").click()
    path = tmp_path / "both.html"
    saved.value.save_as(path)
    again = new_page(offline=True)
    again.page.goto(f"{path.as_uri()}#run=B")
    shows(again, "B", "small.py")
