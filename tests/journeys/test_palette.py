"""A command is given by any of its names, from any view: the palette goes where it can be given."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Locator, expect

from tests.browser.fixtures import Pass
from tests.journeys.reader import SLOW, Reader

VIEWS: Final = {
    "overview": "Overview",
    "kernel": "Kernel",
    "graphs": None,
    "emulator": "Emulator",
    "workbench": "Workbench",
    "compare": "Comparison",
    "timeline": "Timeline",
    "memory": "Timeline",
    "rules": "What rules cost",
}
"""Each view, and what its main region is called."""


def opens_at_a_step(reader: Reader, server: Any, view: str, some_pass: Pass) -> None:
    """A view by its address, with the second step of a pass."""
    kernel = server.rows()[some_pass.row["parent"]]["id"]
    own = {"kernel": f"kernel={kernel}", "memory": "v=timeline&i=peak"}
    reader.opens("about:blank")
    reader.opens(f"{server.url}#{own.get(view, f'v={view}')}&{some_pass.at(2)}")
    if name := VIEWS[view]:
        expect(reader.page.get_by_role("main", name=name)).to_be_visible()
    else:
        reader.waits_for_a_graph()


def finds(reader: Reader, words: str, command: str) -> Locator:
    """Opens the palette and types; the command, which is the first that is listed."""
    reader.presses("Control+k").types(words)
    commands = reader.page.get_by_role("group", name="Commands").get_by_role("option")
    expect(commands.first).to_contain_text(command)
    return commands.first


def test_a_command_from_every_view(reader: Reader, server: Any, some_pass: Pass) -> None:
    """To the text of a step, by a word that is not in the command's name."""
    for view in VIEWS:
        opens_at_a_step(reader, server, view, some_pass)
        found = finds(reader, "dump", "Text diff")
        if view == "graphs":
            reader.sees_no("in Graphs", found)
        else:
            reader.sees("in Graphs", found)
        reader.presses("Enter")
        region = reader.page.get_by_role("region", name="Text diff of the step")
        expect(region).to_be_visible()
        assert reader.actions == 3
        reader.explorer.at_step(2)  # it was kept


def test_commands_of_every_view_one_after_another(
    reader: Reader, server: Any, some_pass: Pass
) -> None:
    """Each is given in the view of the one before it."""
    page = reader.page
    opens_at_a_step(reader, server, "emulator", some_pass)
    position = page.locator(".ebar .at")
    expect(position).to_have_text(re.compile("^instruction 1 of"), timeout=SLOW)
    sorting = page.get_by_role("toolbar", name="Sort by").get_by_role("button", pressed=True)

    def gives(words: str, command: str) -> None:
        finds(reader, words, command)
        reader.presses("Enter")

    gives("page of this", "Page of this kernel")
    expect(page.get_by_role("main", name="Kernel")).to_be_visible()
    gives("peak", "Memory at the peak")
    reader.sees("the peak", "Selection")
    gives("reverse", "Reverse the sort order")
    expect(page.get_by_role("main", name="What rules cost")).to_be_visible()
    expect(sorting).to_have_accessible_name(re.compile("ascending$"))
    gives("difference of both", "Show the difference of both texts")
    expect(page.get_by_role("button", name="Difference", pressed=True)).to_be_visible()
    gives("last instruction", "Last instruction")
    expect(position).to_have_text(re.compile(r"^instruction ([\d,]+) of \1$"))
    gives("sort the kernels", "Sort the kernels by the next column")
    expect(page.get_by_role("main", name="Overview")).to_be_visible()
    expect(sorting).to_have_accessible_name("Per launch, descending")
    gives("dump", "Text diff")
    expect(page.get_by_role("region", name="Text diff of the step")).to_be_visible()
    reader.explorer.at_step(2)
    assert reader.actions == 7 * 3
