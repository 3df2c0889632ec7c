"""How do I show somebody this run who has nothing installed? As one file, which answers offline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader

PTX: Final = "PTX for sm_90"
AMD: Final = "AMD ISA for gfx942"


def test_a_run_is_read_from_a_file_alone(
    reader: Reader,
    new_page: Callable[..., Explorer],
    server: Process,
    some_pass: Pass,
    tmp_path: Path,
) -> None:
    file = tmp_path / "run.html"
    reader.opens(server.url)
    reader.clicks("sum, add", role="link", within="Kernels")
    ptx, amd = (text(reader, name) for name in (PTX, AMD))
    reader.clicks("Share")
    with reader.page.expect_download(timeout=2 * SLOW) as download:
        reader.clicks("Whole run")
    download.value.save_as(file)
    assert reader.actions == 3

    friend = Reader(new_page(offline=True, viewport={"width": 1440, "height": 900}))
    asked: list[str] = []
    friend.page.on("request", lambda request: asked.append(request.url))
    friend.opens(file.as_uri())
    friend.sees("Exported file", friend.page.locator(".status"))
    friend.sees_no("Measure this machine")
    for kernel in server.get("overview")["kernels"]:
        friend.goes_to("Overview")
        friend.clicks(kernel["calls"], role="link", within="Kernels")
        assert f".visible .entry {kernel['name']}(" in text(friend, PTX)
        assert text(friend, AMD)[0] == f"{kernel['name']}:"
        if kernel["calls"] == "sum, add":
            assert (text(friend, PTX), text(friend, AMD)) == (ptx, amd)
    friend.sees("This browser")  # the one device that a file has
    sees_the_rules(friend, server)
    sees_the_steps(friend, some_pass)
    finds(friend, server, some_pass.rule(2)["name"])
    kept = ("blob:", "data:", file.as_uri())
    assert [url for url in asked if not url.startswith(kept)] == []


def text(someone: Reader, name: str) -> list[str]:
    """The lines of a source that are in view."""
    lines = someone.page.get_by_role("region", name=name, exact=True).locator(".cm-line")
    expect(lines.nth(9)).to_be_visible(timeout=SLOW)
    return lines.all_inner_texts()


def sees_the_rules(friend: Reader, server: Process) -> None:
    totals = server.get("rule-totals")["rows"]
    friend.goes_to("Rules")
    rules = friend.page.get_by_role("listbox", name="Rules").get_by_role("option")
    for row in totals[:3]:
        friend.sees(row["rule"], rules.filter(has_text=row["rule"]).first)


def sees_the_steps(friend: Reader, some_pass: Pass) -> None:
    """A pass, and a step of it with its rule."""
    friend.page.evaluate("hash => { location.hash = hash; }", some_pass.at(1))
    friend.waits_for_a_graph()
    friend.explorer.at_step(1)
    friend.presses("ArrowRight")
    friend.explorer.at_step(2)
    rule = some_pass.rule(2)
    inspector = friend.explorer.inspector
    expect(inspector.get_by_role("heading", level=2)).to_have_text(rule["name"])
    friend.sees(f"def {rule['name']}", inspector)


def finds(friend: Reader, server: Process, query: str) -> None:
    """What the server finds, too."""
    friend.presses("/")
    friend.types(query)
    results = friend.page.get_by_role("listbox", name="Search results")
    for hit in server.get(f"search?q={query}")["hits"]:
        friend.sees(hit["text"], results)
