"""The other pages of a run, what lies over a page, and runs that are not as usual."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, Show, State, command, graph, state


@state("run", "rules")
def rules(page: Page, scene: Scene) -> None:
    scene.at(page, "v=rules")
    expect(page.get_by_role("listbox", name="Rules").get_by_role("option").first).to_be_visible()


@state("run", "rules-one")
def one_rule(page: Page, scene: Scene) -> None:
    rules(page, scene)
    page.get_by_role("listbox", name="Rules").get_by_role("option").nth(2).click()


@state("run", "rules-per-pass")
def rules_per_pass(page: Page, scene: Scene) -> None:
    scene.at(page, "v=rules&by=pass")
    expect(page.get_by_role("listbox", name="Rules").get_by_role("option").first).to_be_visible()


@state("run", "rules-never")
def rules_never(page: Page, scene: Scene) -> None:
    scene.at(page, "v=rules&only=never")
    expect(page.get_by_role("listbox", name="Rules").get_by_role("option").first).to_be_visible()


@state("run", "rules-no-hit")
def rules_no_hit(page: Page, scene: Scene) -> None:
    scene.at(page, "v=rules&q=no%20such%20rule")
    page.wait_for_timeout(500)


@state("run", "workbench")
def workbench(page: Page, scene: Scene) -> None:
    scene.at(page, "v=workbench")
    expect(page.locator(".wb-opts input").first).to_be_visible(timeout=SLOW)
    expect(page.locator(".wb .cm-line").first).to_be_visible(timeout=SLOW)


@state("run", "workbench-run")
def workbench_run(page: Page, scene: Scene) -> None:
    """With an optimisation taken out, run against the original."""
    workbench(page, scene)
    page.locator(".wb-opts input").first.click()
    page.get_by_role("button", name="Run both").click()
    expect(page.locator(".wb-inputs")).to_be_visible(timeout=SLOW)


@state("run", "timeline")
def timeline(page: Page, scene: Scene) -> None:
    scene.at(page, "v=timeline")
    expect(page.locator(".tl")).to_be_visible()
    page.wait_for_timeout(500)


@state("run", "timeline-selected")
def timeline_selected(page: Page, scene: Scene) -> None:
    scene.at(page, f"v=timeline&i=n:{scene.facts['name']}")
    expect(page.locator(".tl")).to_contain_text(scene.facts["name"])
    page.wait_for_timeout(500)


def searched(query: str) -> Show:
    """The navigator after a search."""

    def show(page: Page, scene: Scene) -> None:
        graph(page, scene, scene.facts["medium"])
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()
        page.keyboard.type(query)
        page.wait_for_timeout(1500)

    return show


_SEARCHES = (
    State("search", "run", searched("mul")),
    State("search-structure", "run", searched("MUL(x, CONST 64)")),
    State("search-structure-wrong", "run", searched("MUL(x, ")),
    State("search-no-hit", "run", searched("no such thing")),
)


@state("run", "palette")
def palette(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()


@state("run", "palette-hits")
def palette_hits(page: Page, scene: Scene) -> None:
    palette(page, scene)
    page.keyboard.type("mul")
    page.wait_for_timeout(1500)


@state("run", "palette-no-hit")
def palette_no_hit(page: Page, scene: Scene) -> None:
    palette(page, scene)
    page.keyboard.type("no such thing")
    page.wait_for_timeout(1500)


@state("run", "keys")
def keys(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


@state("run", "place")
def place(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.locator("aside.insp").get_by_role("button", name=re.compile(r"\.py:\d+")).first.click(
        modifiers=["Shift"]
    )
    expect(page.get_by_role("dialog", name="Place in a file")).to_be_visible()


@state("run", "export-menu")
def export_menu(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.get_by_role("button", name="Share", exact=True).click()


@state("run", "export-progress")
def export_progress(page: Page, scene: Scene) -> None:
    export_menu(page, scene)
    page.get_by_role("button", name="Whole run", exact=True).click()
    expect(page.get_by_role("progressbar", name="Export")).to_contain_text(re.compile(r"\d%"))


@state("run", "export-done")
def export_done(page: Page, scene: Scene) -> None:
    export_menu(page, scene)
    page.locator(".menu").get_by_role("button", name=re.compile("^Only ")).click()
    said = page.get_by_role("status").filter(has_text="The export is saved")
    expect(said).to_have_count(1, timeout=SLOW)


@state("run", "export-failed")
def export_failed(page: Page, scene: Scene) -> None:
    page.route(
        "**/api/export",
        lambda route: route.fulfill(
            status=500,
            json={
                "error": {
                    "what": "the disk is full",
                    "where": "/tmp/uopviz/export.html",
                    "hint": "Free some space, or name another folder in UOPVIZ_CACHE.",
                }
            },
        ),
    )
    export_menu(page, scene)
    page.get_by_role("button", name="Whole run", exact=True).click()
    page.wait_for_timeout(1000)


@state("run", "problems")
def problems(page: Page, scene: Scene) -> None:
    export_failed(page, scene)
    command(page, "Problems")
    expect(page.locator("table.problems")).to_be_visible()


@state("run", "problems-none")
def no_problems(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    command(page, "Problems")


@state("run", "other-run")
def other_run(page: Page, scene: Scene) -> None:
    scene.at(page, "t_=x&trace=another.viz&r=3&k=1")
    page.wait_for_timeout(1000)


@state("failing", "failed-overview")
def failed_overview(page: Page, scene: Scene) -> None:
    scene.at(page)
    expect(page.locator(".ov")).to_be_visible()


@state("failing", "failed-pass")
def failed_pass(page: Page, scene: Scene) -> None:
    graph(page, scene, f"r={scene.facts['passes'][0]}")
    expect(page.get_by_role("alert")).to_be_visible()


@state("failing", "failed-loop")
def failed_loop(page: Page, scene: Scene) -> None:
    graph(page, scene, f"r={scene.facts['passes'][1]}")
    expect(page.get_by_role("alert")).to_be_visible()


@state("failing", "failed-problems")
def failed_problems(page: Page, scene: Scene) -> None:
    failed_pass(page, scene)
    command(page, "Problems")
    expect(page.locator("table.problems")).to_be_visible()


def opens(part: str = "", wait: str = "#app > *") -> Show:
    """The scene as it opens at a part of its address."""

    def show(page: Page, scene: Scene) -> None:
        scene.at(page, part)
        expect(page.locator(wait).first).to_be_visible(timeout=SLOW)
        page.wait_for_timeout(800)

    return show


_OPENED = (
    State("live-waiting", "waiting", opens()),
    State("live-waiting-graphs", "waiting", opens("v=graphs")),
    State("live-overview", "live", opens(wait=".ov-row")),
    State("live-graphs", "live", opens("v=graphs", ".pts .scope")),
    State("live-timeline", "live", opens("v=timeline")),
    State("empty", "empty", opens()),
    State("start", "start", opens()),
    State("damaged-overview", "damaged", opens()),
    State("damaged-graphs", "damaged", opens("v=graphs")),
    State("foreign-overview", "foreign", opens()),
    State("foreign-kernel", "foreign", opens("kernel=1")),
    State("foreign-graphs", "foreign", opens("v=graphs", ".pts .scope")),
    State("foreign-rules", "foreign", opens("v=rules")),
    State("foreign-timeline", "foreign", opens("v=timeline")),
    State("hostile-overview", "hostile", opens()),
    State("hostile-graphs", "hostile", opens("v=graphs", ".pts .scope")),
    State("file-overview", "file", opens(wait=".ov-row")),
    State("file-graphs", "file", opens("v=graphs", ".pts .scope")),
    State("file-timeline", "file", opens("v=timeline")),
    State("forbidden", "forbidden", opens(wait="h1")),
)


@state("file", "file-kernel")
def file_kernel(page: Page, scene: Scene) -> None:
    scene.at(page)
    page.locator(".ov-kernels .ov-row").first.click()
    expect(page.locator(".kp .cm-line").first).to_be_visible()


@state("lost", "lost")
def lost(page: Page, scene: Scene) -> None:
    assert scene.process is not None
    graph(page, scene, "v=graphs")
    scene.process.kill()
    expect(page.locator(".status")).to_contain_text("Connection lost", timeout=SLOW)
    page.keyboard.press("]")
    page.wait_for_timeout(500)


STATES: Final = (
    rules,
    one_rule,
    rules_per_pass,
    rules_never,
    rules_no_hit,
    timeline,
    timeline_selected,
    *_SEARCHES,
    palette,
    palette_hits,
    palette_no_hit,
    keys,
    place,
    export_menu,
    export_progress,
    export_done,
    export_failed,
    problems,
    no_problems,
    other_run,
    failed_overview,
    failed_pass,
    failed_loop,
    failed_problems,
    *_OPENED,
    file_kernel,
    lost,
)
