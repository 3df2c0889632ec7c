"""Why a rule did not fire: the list of rules, kinds of answers, near misses, the page of a rule."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, Show, State, command, graph, state


def place(scene: Scene, kind: str) -> dict[str, Any]:
    """Where a rule did not fire, by the kind of the answer."""
    found: dict[str, Any] = scene.facts["why"][kind]
    return found


def inspected(page: Page) -> None:
    """Shows the inspector, which lies over the graph where the window is small."""
    if (page.viewport_size or {"width": 0})["width"] < 1080:
        page.get_by_role("button", name=re.compile("inspector", re.IGNORECASE)).first.click()


def answers(kind: str, title: str) -> Show:
    """The answer of a kind, with this title."""

    def show(page: Page, scene: Scene) -> None:
        graph(page, scene, place(scene, kind)["at"])
        inspected(page)
        heading = page.locator("#why-answer").get_by_role("heading", name=title, exact=True)
        expect(heading).to_be_visible(timeout=SLOW)

    return show


@state("run", "why-rules")
def rules(page: Page, scene: Scene) -> None:
    graph(page, scene, place(scene, "pattern")["selected"])
    page.keyboard.press("w")
    expect(page.locator("#why-rules").get_by_role("option").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("group", name="Near at this node")).to_be_visible(timeout=SLOW)


@state("run", "why-rules-searched")
def rules_searched(page: Page, scene: Scene) -> None:
    rules(page, scene)
    page.keyboard.type("mul")


@state("run", "why-rules-no-hit")
def rules_no_hit(page: Page, scene: Scene) -> None:
    rules(page, scene)
    page.keyboard.type("no such rule")


@state("run", "why-no-node")
def no_node(page: Page, scene: Scene) -> None:
    graph(page, scene, place(scene, "pattern")["pass"] + "&tab=why")
    page.keyboard.press("w")


@state("run", "why-declined")
def declined(page: Page, scene: Scene) -> None:
    answers("declined", "Its function declined")(page, scene)
    expect(page.locator("#why-answer .snip .ln.hl")).to_have_count(1, timeout=SLOW)


@state("run", "why-declined-failed")
def declined_failed(page: Page, scene: Scene) -> None:
    said = {
        "what": "the job took longer than 60 seconds and was ended",
        "where": "",
        "hint": "the function of this rule does not come to an end at this node",
    }
    page.route("**/why-declined", lambda r: r.fulfill(status=400, json={"error": said}))
    answers("declined", "Its function declined")(page, scene)
    expect(page.locator("#why-answer").get_by_role("alert")).to_be_visible(timeout=SLOW)


@state("run", "why-near-misses")
def near_misses(page: Page, scene: Scene) -> None:
    at = place(scene, "pattern")
    graph(page, scene, f"{at['pass']}&tab=why&why={at['rule']}")
    inspected(page)
    expect(page.locator(".why-miss").first).to_be_visible(timeout=SLOW)


@state("run", "why-near-misses-below")
def near_misses_below(page: Page, scene: Scene) -> None:
    answers("pattern", "The pattern does not fit")(page, scene)
    page.get_by_role("button", name="Near misses in this pass").click()
    expect(page.locator(".why-miss").first).to_be_visible(timeout=SLOW)
    page.locator(".why-near").scroll_into_view_if_needed()


@state("run", "why-failed")
def failed(page: Page, scene: Scene) -> None:
    said = {
        "what": "why this rule did not fire would take too long",
        "where": "",
        "hint": "the trace is very large, or made to do harm; its other parts are still shown",
    }
    page.route("**/why-not/**", lambda r: r.fulfill(status=400, json={"error": said}))
    graph(page, scene, place(scene, "pattern")["at"])
    inspected(page)
    expect(page.locator("#why-answer").get_by_role("alert")).to_be_visible(timeout=SLOW)


@state("run", "rule-page")
def rule_page(page: Page, scene: Scene) -> None:
    scene.at(page, f"v=rules&ru={place(scene, 'fired')['rule']}")
    expect(page.get_by_role("table", name="By pass")).to_be_visible()
    expect(page.locator("#rule-passes .trow").first).to_be_visible()


@state("run", "rule-page-never")
def rule_page_never(page: Page, scene: Scene) -> None:
    scene.at(page, f"v=rules&ru={scene.facts['never']}")
    expect(page.get_by_role("table", name="By pass")).to_be_visible()


@state("run", "rule-page-unknown")
def rule_page_unknown(page: Page, scene: Scene) -> None:
    scene.at(page, "v=rules&ru=99999")
    expect(page.get_by_role("alert")).to_be_visible()


@state("file", "file-why")
def file_why(page: Page, scene: Scene) -> None:
    graph(page, scene, "v=graphs&tab=why&why=1")
    command(page, "Select the matched node")
    inspected(page)
    expect(page.locator("aside.insp .state .h")).to_have_text("This answer needs the trace")


STATES: Final = (
    rules,
    rules_searched,
    rules_no_hit,
    no_node,
    State("why-pattern", "run", answers("pattern", "The pattern does not fit")),
    State("why-fired", "run", answers("fired", "It did fire")),
    State("why-overtaken", "run", answers("overtaken", "Another rule came first")),
    State("why-not-in-pass", "run", answers("not in pass", "Not a rule of this pass")),
    declined,
    declined_failed,
    near_misses,
    near_misses_below,
    failed,
    rule_page,
    rule_page_never,
    rule_page_unknown,
    file_why,
)
