"""A text of both runs in a comparison: their lines in one column, with what is gone, what came."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Locator, expect

from tests.journeys.reader import Reader

COUNTED: Final = re.compile(r"(\d+) removed, (\d+) added")


def counted(text: Locator) -> tuple[int, int]:
    """How many lines are gone, and how many came, as its head says it."""
    expect(text).to_contain_text(COUNTED)
    found = COUNTED.search(text.inner_text())
    assert found is not None
    return int(found[1]), int(found[2])


def lines(text: Locator, kind: str, word: str) -> Locator:
    """Lines of it that are "gone", that "come", or that are a "hit", with a word in them."""
    return text.locator(f".cm-line.cm-{kind}").filter(has_text=word)


def goes_to(reader: Reader, text: Locator, kind: str, word: str) -> None:
    """Goes from difference to difference until such a line is shown."""
    wanted = lines(text, kind, word).first
    differences = reader.page.get_by_role("group", name="Differences")
    for _ in range(20):
        if wanted.is_visible():
            return
        reader.clicks("Next difference", within=differences)
        reader.page.wait_for_timeout(100)
    expect(wanted).to_be_visible()
