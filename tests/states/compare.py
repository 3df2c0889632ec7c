"""Two runs side by side: the overview of a pair, and two of its passes in step."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, command, state


def _compared(page: Page, scene: Scene, part: str = "") -> None:
    scene.at(page, f"v=compare{part}")
    expect(page.locator(".cmp-totals")).to_be_visible(timeout=SLOW)
    expect(page.locator(".cmp-progress")).to_have_count(0, timeout=SLOW)


@state("pair", "compare")
def overview(page: Page, scene: Scene) -> None:
    _compared(page, scene)
    expect(page.locator(".cmp-first .pf")).to_contain_text("only in A", timeout=SLOW)
    expect(page.locator(".cmp-source .cm-come").first).to_be_visible(timeout=SLOW)


@state("pair", "compare-all")
def everything(page: Page, scene: Scene) -> None:
    _compared(page, scene, "&cd=all&cu=0")
    expect(page.locator(".cmp-first .pf")).to_contain_text("only in A", timeout=SLOW)


@state("pair", "compare-equal-kernel")
def equal_kernel(page: Page, scene: Scene) -> None:
    _compared(page, scene, "&cd=all")
    page.locator(".cmp-row.same .link").first.click()
    expect(page.locator(".cmp-first .state")).to_be_visible(timeout=SLOW)


@state("pair", "compare-no-hit")
def no_hit(page: Page, scene: Scene) -> None:
    _compared(page, scene, "&cq=no%20such%20kernel")


@state("pair", "compare-rules")
def rules(page: Page, scene: Scene) -> None:
    _compared(page, scene, "&ct=rules&cd=all")


@state("pair", "compare-passes")
def passes(page: Page, scene: Scene) -> None:
    _compared(page, scene, "&ct=passes")
    expect(page.locator(".cmp-pass-line").first).to_be_visible(timeout=SLOW)


@state("pair", "compare-environment")
def environment(page: Page, scene: Scene) -> None:
    _compared(page, scene, "&ct=environment")


@state("alike", "compare-equal")
def equal(page: Page, scene: Scene) -> None:
    _compared(page, scene)
    expect(page.locator(".ov-notes")).to_contain_text("equal", timeout=SLOW)


@state("pair", "compare-other-run")
def other_run(page: Page, scene: Scene) -> None:
    scene.at(page, "v=compare&cb=Q")
    expect(page.locator(".cmp .state")).to_be_visible()


@state("run", "compare-alone")
def alone(page: Page, scene: Scene) -> None:
    scene.at(page, "v=compare")
    expect(page.locator(".cmp-alone")).to_be_visible()


@state("pair", "compare-walk")
def walk(page: Page, scene: Scene) -> None:
    overview(page, scene)
    page.get_by_role("button", name="Go there").click()
    foot = page.locator(".cmp-walk .pf")
    expect(foot).to_contain_text(re.compile(r"\d nodes?"), timeout=SLOW)


@state("pair", "compare-merged")
def merged(page: Page, scene: Scene) -> None:
    walk(page, scene)
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")


@state("pair", "compare-all-nodes")
def all_nodes(page: Page, scene: Scene) -> None:
    walk(page, scene)
    page.keyboard.press("a")
    page.wait_for_timeout(800)


@state("pair", "compare-apart")
def apart(page: Page, scene: Scene) -> None:
    walk(page, scene)
    for _ in range(3):
        command(page, "B alone: next step")
    page.keyboard.press("k")


@state("pair", "compare-text")
def text(page: Page, scene: Scene) -> None:
    walk(page, scene)
    page.keyboard.press("s")
    expect(page.locator(".cmp-source .cm-line").first).to_be_visible(timeout=SLOW)
    page.keyboard.press("k")
    page.mouse.move(10, 10)


@state("pair", "compare-choose-pass")
def choose_pass(page: Page, scene: Scene) -> None:
    walk(page, scene)
    page.locator(".cmp-pass").first.click()


@state("pair", "compare-pass-rules")
def pass_rules(page: Page, scene: Scene) -> None:
    walk(page, scene)
    page.get_by_role("button", name="Rules that differ in this pass").click()


STATES: Final = (
    overview, everything, equal_kernel, no_hit, rules, passes, environment, equal, other_run, alone,
    walk, merged, all_nodes, apart, text, choose_pass, pass_rules,
)  # fmt: skip
