"""Whether steps are right, which step is wrong, and kernels compiled otherwise."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, command, graph, state


def opened(page: Page) -> Locator:
    """The control of checks, which it opens."""
    page.locator(".btn.check").click()
    return page.get_by_role("dialog", name=re.compile("^Check: "))


@state("run", "check-pass")
def right(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    control = opened(page)
    control.get_by_role("button", name="Check: pass").click()
    expect(control.get_by_role("button", name="Check again: pass")).to_be_enabled(timeout=SLOW)


@state("run", "check-running")
def running(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["small"])
    control = opened(page)
    control.get_by_role("button", name="Check: run").click()
    expect(control).to_contain_text("Checking")


@state("wrong", "check-differs")
def differs(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["step"])
    opened(page).get_by_role("button", name="Check: pass").click()
    values = page.get_by_role("table", name="Values for which the step is wrong")
    expect(values).to_contain_text("result before the step", timeout=SLOW)


@state("wrong", "bisect")
def bisected(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["kernel"])
    control = opened(page)
    control.get_by_role("button", name="Find it in this kernel").click()
    shown = control.get_by_role("button", name="Show the wrong step")
    expect(shown).to_be_visible(timeout=SLOW)


@state("run", "variants-none")
def no_variants(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["small"])
    command(page, "Variants of the kernel: what if")
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
    command(page, "Leave this rule out of the next variant")
    expect(page.get_by_role("region", name="Notice")).to_contain_text("without")
    command(page, "Variants of the kernel: what if")
    command(page, "Compile and run the variant")
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
