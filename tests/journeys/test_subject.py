"""The Graphs tab opens what is looked at: the kernel of the page that one comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.fixtures import Pass
from tests.browser.served import Process, serve
from tests.journeys.reader import Reader


@pytest.fixture(scope="module")
def twice(trace: Path, browser: Browser) -> Iterator[Process]:
    """The recorded run beside itself: everything is equal, so that nothing is selected for it."""
    with serve(trace, beside=[trace]) as process:
        yield process


def kernels(server: Any) -> list[dict[str, Any]]:
    """The rows of the kernels of the run."""
    return [row for row in server.rows() if row["label"] == "kernel" and not row.get("target")]


def address(process: Process) -> str:
    """With the token, without what it opens at."""
    return process.url.partition("#")[0]


def shows(reader: Reader, kernel: dict[str, Any]) -> None:
    """Waits until a kernel is the subject of the page."""
    subject = reader.page.get_by_role("navigation", name="Subject")
    expect(subject.get_by_role("button", name=f"Kernel {kernel['name']}:")).to_be_visible()


def opens_in_graphs(reader: Reader, server: Any, kernel: dict[str, Any]) -> None:
    """Presses 2: the pass that is shown is one of that kernel."""
    reader.presses("2").waits_for_a_graph()
    shows(reader, kernel)
    row = next(r for r in server.rows() if r["id"] == int(reader.explorer.address("r") or 0))
    while row["row"] != kernel["row"]:
        assert row["parent"] >= 0, f"a pass of another kernel than {kernel['name']}"
        row = next(r for r in server.rows() if r["row"] == row["parent"])


def test_the_tabs_keep_the_kernel(reader: Reader, server: Any) -> None:
    """Each kernel's page, then Graphs, Emulator and Workbench: the subject is that kernel."""
    lines = server.get("overview")["kernels"]
    subject = reader.page.get_by_role("navigation", name="Subject")
    for line in (lines[-1], lines[0]):
        reader.opens(f"{server.url}#kernel={line['context']}")
        expect(reader.page.locator(".kp .ov-counts")).to_contain_text(line["name"])
        for tab in ("Graphs", "Emulator", "Workbench"):
            reader.goes_to(tab)
            kernel = subject.get_by_role("button", name=re.compile(f"^Kernel {line['name']}"))
            expect(kernel).to_be_visible()
        reader.goes_to("Graphs")
        reader.waits_for_a_graph()
        row = next(r for r in server.rows() if r["id"] == int(reader.explorer.address("r") or 0))
        kernel = next(r for r in server.rows() if r["row"] == row["parent"])
        assert kernel["name"] == line["name"]


def test_what_is_selected_in_the_comparison_is_the_subject(reader: Reader, twice: Process) -> None:
    """And the other way round: a kernel of the graphs is the one that is compared."""
    first, *_, last = kernels(twice)
    reader.opens(f"{address(twice)}#v=compare&cd=all")
    listed = reader.page.get_by_role("region", name="Kernels").locator(".cmp-row")
    for kernel in (last, first):
        reader.clicks_on(listed.filter(has_text=kernel["name"]).get_by_role("button"))
        shows(reader, kernel)
        opens_in_graphs(reader, twice, kernel)
        reader.presses("5")
        expect(listed.locator("[aria-current]")).to_contain_text(kernel["name"])


def test_the_page_of_a_kernel_leads_to_its_comparison(reader: Reader, twice: Process) -> None:
    """Though another one was selected there before."""
    first, *_, last = kernels(twice)
    selected = reader.page.locator(".cmp-row [aria-current]")
    for kernel in (last, first):
        reader.opens(f"{address(twice)}#kernel={kernel['id']}")
        expect(reader.page.locator(".kp .ov-counts")).to_contain_text(kernel["name"])
        reader.presses("5")
        expect(selected).to_contain_text(kernel["name"])
    reader.clicks_on(reader.page.get_by_role("button", name=re.compile("equal. Show")))
    reader.clicks_on(reader.page.locator(".cmp-row", has_text=last["name"]).get_by_role("button"))
    reader.presses("2").waits_for_a_graph()
    reader.opens(f"{address(twice)}#kernel={first['id']}")
    expect(reader.page.locator(".kp .ov-counts")).to_contain_text(first["name"])
    reader.presses("5")
    expect(selected).to_contain_text(first["name"])


def test_what_is_picked_in_the_timeline_is_the_subject(
    reader: Reader, server: Any, some_pass: Pass
) -> None:
    """A kernel's span, the launches of a name; and what was picked of another kernel gives way."""
    first, *_, last = kernels(server)
    for kernel, pick in ((last, f"e{last['id']}"), (first, f"n:{first['name']}")):
        reader.opens(f"{server.url}#v=timeline&i={pick}")
        shows(reader, kernel)
        opens_in_graphs(reader, server, kernel)
    second = kernels(server)[1]
    reader.presses("}")
    shows(reader, second)
    reader.goes_to("Timeline")
    reader.sees("Nothing selected")
    opens_in_graphs(reader, server, second)
