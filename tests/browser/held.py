"""Requests of the page that do not go on before a test has looked."""

from __future__ import annotations

import re
import time
from typing import Final

from playwright.sync_api import Page, Route

PATIENCE: Final = 30.0
"""How long the page may take until it asks, seconds."""


class Held:
    """The requests of a page for an address, until they are let go."""

    def __init__(self, page: Page, url: str | re.Pattern[str]) -> None:
        self._page = page
        self._routes: list[Route] = []
        self._is_open = False
        page.route(url, self._came)

    def _came(self, route: Route) -> None:
        if self._is_open:
            route.continue_()
        else:
            self._routes.append(route)

    def wait(self) -> None:
        """Until the page has asked: it may show all that a test looks at before."""
        until = time.monotonic() + PATIENCE
        while not self._routes:
            assert time.monotonic() < until, "the page has not asked"
            self._page.wait_for_timeout(20)

    def let_go(self) -> None:
        """Those that came, and all that come from now on."""
        self.wait()
        self._is_open = True
        for route in self._routes:
            route.continue_()
