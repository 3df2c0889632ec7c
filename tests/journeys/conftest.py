"""Fixtures of journeys: a person with a page of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.explorer import Explorer
from tests.journeys.reader import Reader


@pytest.fixture
def reader(new_page: Callable[..., Explorer]) -> Reader:
    """Somebody with an ordinary laptop."""
    return Reader(new_page(viewport={"width": 1440, "height": 900}))
