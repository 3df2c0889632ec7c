"""A person at the page: what a journey does and sees, in the words in which a person would tell it.

Every action is counted, so that a journey can say how many it takes to an answer.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from playwright.sync_api import Locator, Page, expect

from tests.browser.explorer import Explorer

Role = Literal[
    "button",
    "link",
    "option",
    "row",
    "tab",
    "treeitem",
    "menuitem",
    "checkbox",
    "heading",
    "searchbox",
    "textbox",
    "combobox",
]
SLOW: Final = 60_000
"""For what loads the compiler, compiles or runs in a process of its own, ms."""


class Reader:
    """One person with one page."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.actions = 0
        """Clicks, keys and words typed since the page was opened."""

    @property
    def page(self) -> Page:
        return self.explorer.page

    def opens(self, address: str) -> Reader:
        """Opens an address, or a file's."""
        self.page.goto(address)
        self.actions = 0
        return self

    # what a person does

    def goes_to(self, tab: str) -> Reader:
        """Presses a tab of the top bar."""
        return self.clicks(tab, within="Views")

    def clicks(
        self, name: str | re.Pattern[str], role: Role = "button", within: str | Locator = ""
    ) -> Reader:
        """Clicks on the first thing of this name. Waits until it is there."""
        self._thing(name, role, within).click()
        self.actions += 1
        return self

    def clicks_on(self, thing: Locator) -> Reader:
        """Clicks on what has no name of its own, such as a line of a text."""
        thing.click()
        self.actions += 1
        return self

    def presses(self, *keys: str) -> Reader:
        """Presses keys one after another; each is an action."""
        for key in keys:
            self.page.keyboard.press(key)
        self.actions += len(keys)
        return self

    def types(self, text: str) -> Reader:
        """Types where the focus is; one action."""
        self.page.keyboard.type(text)
        self.actions += 1
        return self

    def gives(self, command: str) -> Reader:
        """Gives a command by its name: opens the palette, types, and takes it."""
        self.explorer.give(command)
        self.actions += 3
        return self

    # what a person sees

    def sees(
        self, text: str | re.Pattern[str], within: str | Locator = "", timeout: float = 15_000
    ) -> Reader:
        """Waits until a text can be seen, in a region if one is named."""
        if isinstance(within, str) and not within:
            expect(self.page.locator("#app")).to_contain_text(text, timeout=timeout)
            shown = self.page.get_by_text(text).locator("visible=true").first
            expect(shown).to_be_visible(timeout=timeout)
        else:
            place = self._place(within)
            expect(place).to_be_visible(timeout=timeout)
            expect(place).to_contain_text(text, timeout=timeout)
        return self

    def sees_no(self, text: str | re.Pattern[str], within: str | Locator = "") -> Reader:
        """Waits until a text is nowhere."""
        expect(self._place(within)).not_to_contain_text(text)
        return self

    def waits_for_a_graph(self) -> Reader:
        """Waits until a pass is drawn."""
        self.explorer.ready()
        return self

    def _place(self, within: str | Locator) -> Locator:
        if not isinstance(within, str):
            return within
        if not within:
            return self.page.locator("#app")
        named = (
            self.page.get_by_role(role, name=within, exact=True)
            for role in ("region", "navigation", "complementary", "main", "dialog", "listbox")
        )
        first = next(named)
        for other in named:
            first = first.or_(other)
        return first.first

    def _thing(self, name: str | re.Pattern[str], role: Role, within: str | Locator) -> Locator:
        exact = isinstance(name, str)
        return self._place(within).get_by_role(role, name=name, exact=exact).first
