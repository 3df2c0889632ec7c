"""Fixtures of journeys: a person with a page of their own, and a run of a tile kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.explorer import Explorer
from tests.browser.served import PROGRAMS, Process, record, serve
from tests.journeys.reader import Reader


@pytest.fixture
def reader(new_page: Callable[..., Explorer]) -> Reader:
    """Somebody with an ordinary laptop."""
    return Reader(new_page(viewport={"width": 1440, "height": 900}))


@pytest.fixture(scope="session")
def columns(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Process]:
    """Serves a run of `programs/conflicts.py`, whose kernel "columns" copies a matrix of 32 x 32
    floats through shared memory, by tiles."""
    trace = tmp_path_factory.mktemp("columns") / "columns.viz"
    with serve(record(PROGRAMS / "conflicts.py", trace)) as process:
        yield process
