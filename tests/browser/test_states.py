"""No state of the page shows a fault: text that is cut or covered, poor contrast, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.explorer import WATCH
from tests.states.faults import faults_of
from tests.states.scenes import Scene, scenes
from tests.states.state import SLOW, State
from tests.states.states import STATES

pytestmark = pytest.mark.xdist_group("states")

VIEWS = ((1440, 900, "light"), (1280, 720, "dark"), (1920, 1080, "light"))
"""Window and colours; each state is reached in the first and shown in all."""
SETTLE_MS = 250
EXPECT_MS = 15_000
"""As the browser fixture sets it; a state may wait for a compilation."""


FIRST = frozenset(
    {
        "overview", "kernel", "graph-small-near", "sources-2", "rules-one", "why-pattern",
        "rule-page", "check-pass", "variants-form", "tile-register", "compare", "compare-text",
        "timeline", "problems", "foreign-overview", "hostile-overview",
    }
)  # fmt: skip
"""The states of a test run; with --all (every night) all are shown."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the traces of all scenes are."""
    return tmp_path_factory.mktemp("scenes")


@pytest.fixture(scope="module")
def scene(request: pytest.FixtureRequest, folder: Path, browser: Browser) -> Iterator[Scene]:
    """The scene of some states, opened once."""
    with scenes(folder, {request.param}) as opened:
        yield opened[request.param]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own, in the first of the views."""
    width, height, scheme = VIEWS[0]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(SLOW)
    context.add_init_script(WATCH)
    expect.set_options(timeout=SLOW)
    yield context.new_page()
    expect.set_options(timeout=EXPECT_MS)
    context.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The states of this run, those of one scene together."""
    if "state" not in metafunc.fixturenames:
        return
    every = metafunc.config.getoption("--all")
    chosen = [state for state in STATES if every or state.name in FIRST]
    params = [pytest.param(state.scene, state, id=state.name) for state in chosen]
    metafunc.parametrize(("scene", "state"), params, indirect=["scene"])


@pytest.mark.sampled(2)
def test_state_has_no_fault(page: Page, scene: Scene, state: State) -> None:
    state.show(page, scene)
    found: list[str] = []
    for width, height, scheme in VIEWS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.wait_for_timeout(SETTLE_MS)
        found += [f"{width}x{height} {scheme}: {fault}" for fault in faults_of(page)]
    assert found == []


BOX = "overflow: hidden; white-space: nowrap; width: 60px;"
FAULTY = {
    "cut": f'<div style="{BOX}">a text that is too long for its box</div>',
    "no title": f'<div style="{BOX} text-overflow: ellipsis">a text that is cut with dots</div>',
    "cut in height": '<div style="overflow: hidden; height: 10px; line-height: 16px">too low</div>',
    "contrast": '<p style="color: #999; background: #fff">too pale</p>',
    "over each other": '<p style="position: absolute; top: 40px">one text</p>'
    '<p style="position: absolute; top: 40px; left: 12px">another text</p>',
    "covered": "<p>what stands below</p>"
    '<div style="position: absolute; inset: 0; background: #fff"></div>',
    "the window scrolls": '<div style="height: 200vh">long</div>',
    "scrolls within": '<div style="overflow: auto; height: 50px"><div style="overflow: auto; '
    'height: 60px"><div style="height: 90px">long</div></div></div>',
    "scrolls sideways": '<div style="overflow: auto; width: 50px">'
    '<div style="width: 90px">w</div></div>',
    "no value": "<p>NaN ms</p>",
    "one, many": "<p>1 kernels</p>",
    "no name": '<button style="width: 20px; height: 20px"></button>',
}
GOOD = {
    "a title": f'<div title="all" style="{BOX} text-overflow: ellipsis">a text cut with dots</div>',
    "room": '<p style="color: #555; background: #fff">11 kernels, 2.1 kernels</p>',
    "a list": '<div style="overflow: auto; height: 50px"><p style="height: 90px">long</p></div>',
    "wrapped": '<p style="width: 60px">a long text that is wrapped</p>',
}


@pytest.mark.parametrize("kind", FAULTY)
def test_a_fault_is_found(page: Page, kind: str) -> None:
    page.set_content(f"<body><main>{FAULTY[kind]}</main></body>")
    expect(page.locator("main")).to_be_attached()
    assert [f for f in faults_of(page) if f.startswith(kind)]


@pytest.mark.parametrize("kind", GOOD)
def test_what_is_no_fault(page: Page, kind: str) -> None:
    page.set_content(f"<body><main>{GOOD[kind]}</main></body>")
    assert faults_of(page) == []
