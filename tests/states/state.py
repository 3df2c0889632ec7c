"""What every state is made of: its scene, what is done there, what several of them do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Page, expect

from tests.states.scenes import Scene

SLOW: Final = 90_000
"""How long a state may wait for a compilation, ms."""

Show = Callable[[Page, Scene], None]


@dataclass(frozen=True)
class State:
    """One picture: its name, the scene it is taken in, and what is done there. States build on
    others by calling them."""

    name: str
    scene: str
    show: Show

    def __call__(self, page: Page, scene: Scene) -> None:
        """Shows the state."""
        self.show(page, scene)


def state(scene: str, name: str) -> Callable[[Show], State]:
    """Makes a state of the function that shows it."""
    return lambda show: State(name, scene, show)


def drawn(page: Page) -> None:
    """Waits until a pass is drawn."""
    scope = page.locator(".pts .scope")
    expect(scope).to_contain_text(re.compile(r"\d of \d"), timeout=SLOW)
    expect(page.locator(".working")).to_have_count(0)


def compiled(page: Page, columns: int = 1) -> None:
    """Waits for the texts of the first columns of the sources."""
    for i in range(columns):
        column = page.locator(".sources .col").nth(i)
        expect(column.locator(".cm-line").first).to_be_visible(timeout=SLOW)


def graph(page: Page, scene: Scene, part: str) -> None:
    """Opens a place of the graphs."""
    scene.at(page, part)
    drawn(page)


def command(page: Page, title: str) -> None:
    """Gives a command from the palette."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(title)
    page.get_by_role("option", name=title).first.click()
