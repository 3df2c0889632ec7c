"""Faults that can be seen in any state of the page, whatever it shows.

Reads what is laid out in a real browser, never what the sources say. Canvases are pictures to it,
and so is the text of an editor, which scrolls by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from playwright.sync_api import Page

_FAULTS: Final = Path(__file__).with_suffix(".js").read_text("utf-8")


def faults_of(page: Page) -> list[str]:
    """What is wrong with the page as it stands; each is a sentence with the element."""
    found: list[str] = page.evaluate(_FAULTS)
    return found
