"""The graphs, the inspector beside them and the sources below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, Show, State, command, compiled, drawn, graph, state


@state("run", "overview")
def overview(page: Page, scene: Scene) -> None:
    scene.at(page)
    expect(page.locator(".ov-row").first).to_be_visible()


@state("run", "overview-all")
def overview_all(page: Page, scene: Scene) -> None:
    scene.at(page, "ko=-steps&ka=1")
    expect(page.locator(".ov-row").first).to_be_visible()


@state("run", "overview-measured")
def overview_measured(page: Page, scene: Scene) -> None:
    overview(page, scene)
    page.get_by_role("button", name=re.compile("^Measure (this machine|again)")).click()
    expect(page.get_by_role("button", name="Measure again")).to_be_visible(timeout=SLOW)


@state("run", "kernel")
def kernel(page: Page, scene: Scene) -> None:
    scene.at(page, f"kernel={scene.facts['kernel']}")
    expect(page.locator(".kp .cm-line").first).to_be_visible(timeout=SLOW)


@state("run", "kernel-opts")
def kernel_opts(page: Page, scene: Scene) -> None:
    scene.at(page, f"kernel={scene.facts['opts']}")
    expect(page.locator(".kp .cm-line").first).to_be_visible(timeout=SLOW)
    page.keyboard.press("r")
    rows = page.get_by_role("table", name="Runs of this kernel").get_by_role("row")
    expect(rows).to_have_count(3, timeout=SLOW)


@state("run", "kernel-sm_90")
def kernel_of_another_target(page: Page, scene: Scene) -> None:
    passes_for(page, scene)
    line = page.locator(".nav .trow").filter(has_text=re.compile("for sm_90|sm_90")).first
    line.click()
    page.wait_for_timeout(500)


@state("run", "graph-passes-for-sm_90")
def passes_for(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    if page.get_by_role("button", name="Passes for sm_90", exact=True).count() == 0:
        page.get_by_role("button", name=re.compile("^Passes for ")).click()
        page.get_by_role("checkbox", name=re.compile(r"Passes for sm_90(?![\w-])")).click()
    shown = page.get_by_role("button", name="Passes for sm_90", exact=True)
    expect(shown).to_be_visible(timeout=SLOW)
    drawn(page)


@state("run", "graph-passes-menu")
def passes_menu(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.get_by_role("button", name=re.compile("^Passes for ")).click()


def _graph_states() -> Iterator[State]:
    for size in ("small", "medium", "large"):
        for name, more in _MODES:
            if size != "medium" and name in ("merged", "text"):
                continue

            def show(page: Page, scene: Scene, size: str = size, more: str = more) -> None:
                scene.at(page, scene.facts[size] + more)
                if more != "&m=text":
                    drawn(page)

            yield State(f"graph-{size}-{name}", "run", show)


_MODES: Final = (("near", ""), ("all", "&g=all"), ("merged", "&m=merged"), ("text", "&m=text"))


@state("run", "graph-input")
def graph_input(page: Page, scene: Scene) -> None:
    graph(page, scene, re.sub(r"k=\d+", "k=0", scene.facts["medium"]))


@state("run", "folded-opened")
def folded(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["folded"] + "&g=all")
    command(page, "Expand all folded boxes")


@state("run", "folded")
def folded_boxes(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["folded"] + "&g=all")


@state("run", "selection")
def selection(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["late"])
    command(page, "Select the matched node")
    page.locator("aside.insp").get_by_role("tab", name="Node").click()
    expect(page.get_by_role("list", name="History across passes")).to_be_visible(timeout=SLOW)


@state("run", "filters")
def filters(page: Page, scene: Scene) -> None:
    graph(page, scene, scene.facts["medium"])
    page.keyboard.press("f")
    command(page, "Select the matched node")
    command(page, "Show only steps that affect the selected node")


def sources_of(*keys: str) -> Show:
    """The sources with these columns."""

    def show(page: Page, scene: Scene) -> None:
        graph(page, scene, scene.facts["late"])
        page.evaluate(
            "keys => { localStorage.setItem('uopviz.sources', JSON.stringify(keys));"
            "localStorage.setItem('uopviz.sourcesHalf', 'true'); }",
            list(keys),
        )
        page.reload()
        drawn(page)
        compiled(page)
        command(page, "Select the matched node")
        page.wait_for_timeout(1000)

    return show


_SOURCES = (
    State("sources-1", "run", sources_of("ptx:sm_90")),
    State("sources-2", "run", sources_of("ptx:sm_90", "amd_isa:gfx942")),
    State("sources-3", "run", sources_of("llvm:x86-64", "ptx:sm_90", "amd_isa:gfx942")),
    State("sources-lines", "run", sources_of("python:", "llvm:x86-64", "hip:gfx942")),
)


@state("run", "sources-chooser")
def sources_chooser(page: Page, scene: Scene) -> None:
    sources_of("python:", "llvm:x86-64")(page, scene)
    page.get_by_role("button", name="Further sources").click()


@state("run", "sources-editor")
def editor(page: Page, scene: Scene) -> None:
    sources_of("llvm:x86-64", "ptx:sm_90")(page, scene)
    expect(page.get_by_role("button", name="Edit", exact=True).first).to_be_enabled(timeout=SLOW)
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name=re.compile("edited"))).to_be_focused()
    page.keyboard.press("Control+Home")
    page.keyboard.type("; mine\n")
    expect(page.get_by_role("region", name="Changed lines")).to_be_visible()


@state("run", "sources-editor-error")
def editor_error(page: Page, scene: Scene) -> None:
    editor(page, scene)
    page.keyboard.type("x")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".sources .col").get_by_role("alert").first).to_be_visible(timeout=SLOW)


@state("run", "sources-run")
def run_result(page: Page, scene: Scene) -> None:
    sources_of("llvm:x86-64", "ptx:sm_90")(page, scene)
    page.get_by_role("button", name="Run", exact=True).click()
    result = page.get_by_role("button", name="Result of the run")
    expect(result).to_be_visible(timeout=SLOW)
    result.click()


@state("run", "sources-run-how")
def run_how(page: Page, scene: Scene) -> None:
    sources_of("llvm:x86-64", "ptx:sm_90")(page, scene)
    page.get_by_role("button", name="Device and optimizations").click()


STATES: Final = (
    overview,
    overview_all,
    overview_measured,
    kernel,
    kernel_opts,
    kernel_of_another_target,
    passes_for,
    passes_menu,
    *_graph_states(),
    graph_input,
    folded,
    folded_boxes,
    selection,
    filters,
    *_SOURCES,
    sources_chooser,
    editor,
    editor_error,
    run_result,
    run_how,
)
