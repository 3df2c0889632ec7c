"""Whether steps are right, which step broke a kernel, and kernels compiled otherwise."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, graph, state


def section(page: Page) -> Locator:
    """What the inspector says of the step that is shown."""
    return page.get_by_role("region", name="Is this step right")


@state("run", "check-pass")
def right(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.keyboard.press("q")
    expect(section(page)).to_contain_text(re.compile("This pass: [0-9]"), timeout=SLOW)


@state("run", "check-running")
def running(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["small"])
    section(page).get_by_role("button", name="The run").click()
    expect(section(page)).to_contain_text("Checking the run")


@state("wrong", "check-differs")
def differs(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["step"])
    page.keyboard.press("q")
    values = page.get_by_role("table", name="Values for which the step is wrong")
    expect(values).to_contain_text("result before the step", timeout=SLOW)


@state("wrong", "bisect")
def bisected(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["kernel"])
    page.keyboard.press("b")
    answer = page.get_by_role("region", name="Which step broke it")
    expect(answer).to_contain_text("Made wrong by", timeout=SLOW)


@state("run", "variants-none")
def no_variants(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["small"])
    page.keyboard.press("Shift+V")
    expect(page.locator(".whatif")).to_be_visible()


@state("run", "variants-form")
def form(page: Page, scene: Scene) -> None:
    no_variants(page, scene)
    page.get_by_role("button", name="Change the next variant").click()
    expect(page.get_by_role("form", name="The next variant")).to_be_visible()


@state("wrong", "variants")
def variants(page: Page, scene: Scene) -> None:
    """A rule left out that the pass does without."""
    graph(page, scene, scene.facts["kernel"])
    page.keyboard.press("Shift+X")
    expect(page.get_by_role("region", name="Notice")).to_contain_text("without")
    page.keyboard.press("Shift+V")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".variants tbody tr").first).to_be_visible(timeout=SLOW)
    expect(page.locator(".wi-job .progress")).to_have_count(0, timeout=SLOW)


STATES: Final = (
    right,
    running,
    differs,
    bisected,
    no_variants,
    form,
    variants,
)
