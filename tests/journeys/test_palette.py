"""A command is given by any of its names, from any page: the palette goes where it can be given."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.browser.fixtures import Pass
from tests.journeys.reader import Reader


def test_a_command_of_another_page_goes_there_first(
    reader: Reader, server: Any, some_pass: Pass
) -> None:
    """From the timeline to the text of a step, by a word that is not in the command's name."""
    reader.opens(f"{server.url}#v=timeline&{some_pass.at(2)}")
    expect(reader.page.locator(".tl .trow").first).to_be_visible()
    reader.page.keyboard.press("Control+k")
    reader.page.get_by_role("dialog").get_by_role("combobox").fill("dump")
    option = reader.page.get_by_role("option").filter(has_text="Text diff")
    reader.sees("in Graphs", option)
    reader.page.keyboard.press("Enter")
    region = reader.page.get_by_role("region", name="Text diff of the step")
    expect(region).to_be_visible()
    assert reader.explorer.address("v") is None
    assert reader.explorer.address("k") == "2", "the step was kept"
