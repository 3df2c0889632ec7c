"""Fixtures of the tests in a browser: one recorded trace, one server and one Chromium for the tests
of `tests/browser` and `tests/journeys`. A plugin that `tests/conftest.py` loads where Playwright is
installed, so that both folders have the same ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.explorer import LARGE, WATCH, Explorer
from tests.browser.served import PROGRAMS, Process, record, serve
from tests.browser_setup import find_browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
TESTS = Path(__file__).parents[1]
FOLDERS = ("browser", "journeys")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a folder share a worker, and so a browser; those of states may have another."""
    for item in items:
        for folder in FOLDERS:
            if TESTS / folder in item.path.parents and not item.get_closest_marker("xdist_group"):
                item.add_marker(pytest.mark.xdist_group(folder))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, as it is installed on this machine."""
    path = find_browser()
    if path is None:
        said = "no Chromium found: install it, or name one in UOPVIZ_BROWSER"
        if os.environ.get("UOPVIZ_REQUIRE_BROWSER") == "1":
            pytest.fail(said)
        pytest.skip(said)
    expect.set_options(timeout=15_000)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of three kernels."""
    return record(PROGRAMS / "recorded.py", tmp_path_factory.mktemp("trace") / "recorded.viz")


@pytest.fixture(scope="session")
def server(trace: Path, browser: Browser) -> Iterator[Process]:
    """Serves the recorded run."""
    with serve(trace) as process:
        yield process


@pytest.fixture(scope="session")
def rows(server: Process) -> list[dict[str, Any]]:
    """The rows of the navigator of the recorded run."""
    return server.rows()


@dataclass(frozen=True)
class Pass:
    """A pass of a kernel with a handful of steps, and what the server says about it."""

    row: dict[str, Any]
    bundle: dict[str, Any]
    rules: dict[int, dict[str, Any]]

    def at(self, step: int, more: str = "") -> str:
        """The part of the address behind `#` that names a step."""
        return f"r={self.row['id']}&k={step}{more}"

    def rule(self, step: int) -> dict[str, Any]:
        """The rule of a step."""
        return self.rules[self.bundle["steps"][step - 1]["rule"]]

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.bundle["steps"])


@pytest.fixture(scope="session")
def some_pass(server: Process, rows: list[dict[str, Any]]) -> Pass:
    """The first pass of a kernel that has 5 to 40 steps."""
    kernels = {row["row"] for row in rows if row["label"] == "kernel"}
    row = next(r for r in rows if r["parent"] in kernels and 5 <= r["steps"] <= 40)
    rules = {rule["id"]: rule for rule in server.get("rules")}
    return Pass(row, server.get(f"rewrites/{row['id']}"), rules)


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Explorer]]:
    """Makes a page in a context of its own; at the end each of them must be clean."""
    contexts: list[BrowserContext] = []
    made: list[Explorer] = []

    def make(
        context: BrowserContext | None = None, *, sources: bool = False, **options: Any
    ) -> Explorer:
        if context is None:
            options.setdefault("viewport", {"width": 1600, "height": 960})
            options.setdefault("reduced_motion", "reduce")
            context = browser.new_context(**options)
            context.set_default_timeout(15_000)
            context.add_init_script(WATCH)
            if sources:
                context.add_init_script(LARGE)
            contexts.append(context)
        made.append(Explorer(context.new_page()))
        return made[-1]

    try:
        yield make
        for explorer in made:
            explorer.clean()
    finally:
        for context in contexts:
            for page in context.pages:  # what is on its way then is no test's any more
                page.unroute_all(behavior="ignoreErrors")
            context.close()


@pytest.fixture
def open_page(new_page: Callable[..., Explorer], server: Process) -> Callable[..., Explorer]:
    """Opens the recorded run at a hash such as "r=7&k=2"."""

    def make(at: str = "", **options: Any) -> Explorer:
        return new_page(**options).goto(server.url + (f"#{at}" if at else ""))

    return make
