"""Pages of a run that goes on, of a server that goes away, and several at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import PROGRAMS, ROOT, Process, environment, record, run_live, serve

New = Callable[..., Explorer]


def kernels_to_choose(e: Explorer) -> list[str]:
    """Those that the menu of the subject lists now."""
    e.subject.get_by_role("navigation").get_by_role("button").first.click()
    listed = e.page.get_by_role("listbox", name="Find a kernel").get_by_role("option")
    expect(listed.first).to_be_visible()
    names = [name for name in listed.locator(".sp").all_inner_texts() if name.startswith("r_")]
    e.press("Escape")
    return names


def test_rows_appear_while_the_program_runs(new_page: New, tmp_path: Path) -> None:
    """And what is being looked at stays: pass, step, selection, the line under the pointer."""
    with run_live(PROGRAMS / "waiting.py", tmp_path / "live.viz") as program:
        e = new_page()
        e.page.goto(f"{program.url}#v=graphs")
        expect(e.page.locator(".live")).to_contain_text("Live")
        program.say("next")
        e.ready().press("ArrowRight").give("Select the matched node")
        counts = e.page.locator(".status")
        expect(counts).to_contain_text("1 kernel,")
        expect(e.navigator.locator(".foot")).not_to_contain_text("running")
        lines = e.navigator.get_by_role("treeitem")
        shown, own = e.address("r"), lines.all_inner_texts()
        assert len(kernels_to_choose(e)) == 1
        chosen = e.navigator.locator(".trow.sel")
        words, place = chosen.inner_text(), chosen.bounding_box()
        selected = e.selected
        assert selected is not None
        for kernels in (2, 3):
            program.say("next")
            expect(counts).to_contain_text(f"{kernels} kernels")
            assert len(kernels_to_choose(e)) == kernels
        assert lines.all_inner_texts() == own, "the passes of what is looked at, not of others"
        e.wait_address("s", selected)
        assert e.address("r") == shown
        assert chosen.inner_text() == words
        assert chosen.bounding_box() == place
        assert e.selected == selected
        e.page.goto("about:blank")  # asks nothing of a server that ends with its program


def test_a_program_of_another_compiler(new_page: New, tmp_path: Path) -> None:
    """`uopviz record --serve`: the page shows passes as they come, and then that it is finished."""
    folder = ROOT / "tests" / "viz" / "streams" / "programs"
    command = [sys.executable, "-m", "viz", "record", "--serve", "-o", str(tmp_path / "a.viz")]
    command += [sys.executable, str(folder / "program.py"), "lines"]
    setting = environment(UOPVIZ_STAY="20")
    setting["PYTHONPATH"] = f"{ROOT}{os.pathsep}{folder}"
    with Process(command, setting, errors=True, first="3") as program:
        e = new_page()
        e.page.goto(f"{program.url}#v=graphs")
        expect(e.page.locator(".live")).to_contain_text("Live")
        e.ready()
        counts = e.page.locator(".status")
        expect(counts).to_contain_text("1 kernel,")
        expect(e.page.locator(".pts")).to_contain_text("Before")
        program.say("5")
        expect(counts).to_contain_text("2 kernels,")
        assert program.get("run")["dialect"]["title"] == "tinygrad"
        assert program.closes_input() == 0
        expect(e.page.locator(".live")).to_contain_text("Finished")
        e.press("}")
        e.ready()
        e.page.goto("about:blank")


def test_a_lost_server_is_said_and_found_again(new_page: New, trace: Path, some_pass: Pass) -> None:
    first = serve(trace)
    e = new_page().goto(f"{first.url}#{some_pass.at(3)}")
    with e.trouble():
        first.kill()
        status = e.page.locator(".status")
        expect(status).to_contain_text("Connection lost, next try in")
        expect(e.page.locator(".live")).to_contain_text("Offline")
        e.press("ArrowRight")  # what is loaded stays usable
        e.at_step(4)
        e.press("]")
        expect(e.page.locator(".panes").get_by_role("alert")).to_contain_text("does not answer")
        expect(e.inspector).to_contain_text("could not be read")
        expect(e.subject).not_to_contain_text("step")
        expect(e.navigator.locator(".trow.stp")).to_have_count(0)
        e.press("[").at_step(1)
        with serve(trace, port=first.port) as second:
            expect(status).to_contain_text("Open the address that uopviz printed")
            other = new_page(e.page.context).goto(second.url)  # carries the new key
            expect(status).to_contain_text("Connected")
            e.press("]")
            e.ready()
            for page in (e, other):
                page.page.goto("about:blank")


def test_two_pages_at_once(new_page: New, server: Any, some_pass: Pass) -> None:
    one = new_page(sources=True).goto(f"{server.url}#{some_pass.at(1)}")
    two = new_page(one.page.context).goto(f"{server.page}#{some_pass.at(4)}")
    one.press("ArrowRight")
    one.at_step(2)
    two.press("ArrowLeft", "m")
    two.at_step(3)
    one.at_step(2)
    assert one.address("m") is None
    for e in (one, two):
        expect(e.sources.get_by_role("region").first.locator(".cm-line").first).to_be_visible(
            timeout=30_000
        )
        expect(e.sources.get_by_role("alert")).to_have_count(0)


def test_a_program_that_is_run_again_to_the_same_file(new_page: New, tmp_path: Path) -> None:
    """The page shows the run before as it was, says that there is a new one, and opens it."""
    trace = record(PROGRAMS / "recorded.py", tmp_path / "run.viz")
    with serve(trace) as server:
        before = server.get("run")
        assert not before["replaced"]
        e = new_page()
        e.page.goto(server.url)
        expect(e.page.locator(".ov-row")).to_have_count(3)
        record(PROGRAMS / "recorded.py", trace, OPT="0")
        expect(e.notice).to_contain_text("recorded again", timeout=20_000)
        said = {"replaced", "again", "devices", "editable"}  # what runs here is found out meanwhile
        now = server.get("run")
        assert now["replaced"]
        assert {k: v for k, v in now.items() if k not in said} == {
            k: v for k, v in before.items() if k not in said
        }
        rows = server.rows()
        for row in rows:  # read by several threads, of which each has a connection of its own
            if row["kind"] == "rewrite":
                assert len(server.get(f"rewrites/{row['id']}")["steps"]) == row["steps"]
        e.notice.get_by_role("button", name="Show the new run").click()
        expect(e.notice).to_have_count(0)
        after = server.get("run")
        assert not after["replaced"] and after["started"] != before["started"]
        assert len(server.rows()) != len(rows)
        expect(e.page.locator(".ov-row").first).to_be_visible()
        e.page.goto("about:blank")
