"""Two runs side by side, as a reader works with them: find what a rule did, step through it, read
the difference in PTX, and send the place to somebody else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.explorer import WATCH, Explorer, click_line, give, place_of, scrolled_to
from tests.browser.served import PROGRAMS, ROOT, Process, environment, record, serve
from tests.states.scenes import pair

RULE = "multiply_add"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A program recorded as it is, and without a rule."""
    return pair(tmp_path_factory.mktemp("pair"))


@pytest.fixture(scope="module")
def two(traces: tuple[Path, Path], browser: Browser) -> Iterator[Process]:
    """A server with both runs."""
    before, after = traces
    with serve(before, beside=[after]) as process:
        yield process


@pytest.fixture
def explorer(browser: Browser, two: Process) -> Iterator[Explorer]:
    """The comparison, in a page of its own."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.add_init_script(WATCH)
    opened = Explorer(context.new_page())
    yield compared(opened, two)
    assert opened.errors == []
    assert opened.page.evaluate("window.violations") == []
    context.close()


def address(process: Process, part: str = "") -> str:
    """Of the comparison of the two runs."""
    return f"{process.url.partition('#')[0]}#v=compare{part}"


def compared(explorer: Explorer, process: Process, part: str = "") -> Explorer:
    """Opens the comparison, and waits until it is done."""
    explorer.page.goto(address(process, part))
    expect(explorer.page.locator(".cmp-totals")).to_be_visible()
    expect(explorer.page.locator(".cmp-progress")).to_have_count(0)
    return explorer


def walk(page: Page) -> Locator:
    """Goes to the first difference; the line below the graphs."""
    expect(page.locator(".cmp-first .pf")).to_contain_text("only in A")
    page.get_by_role("button", name="Go there").click()
    foot = page.locator(".cmp-walk .pf")
    expect(foot).to_contain_text(re.compile(r"\d nodes?"))
    return foot


def test_the_page_opens_on_the_comparison_of_two_traces(browser: Browser, two: Process) -> None:
    assert two.url.endswith("#v=compare")
    page = browser.new_page()
    page.goto(two.url)
    expect(page.get_by_role("main", name="Comparison")).to_be_visible()
    page.close()


def test_equal_kernels_are_folded_with_their_count(explorer: Explorer) -> None:
    page = explorer.page
    rows = page.locator(".cmp-row")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name=re.compile("more are equal")).click()
    expect(page.locator(".cmp-row.same").first).to_be_visible()
    assert rows.count() > 3
    page.get_by_role("button", name="Differences only").click()
    expect(rows).to_have_count(1)


def test_the_difference_in_ptx_is_read(explorer: Explorer) -> None:
    page = explorer.page
    source = sources(page)
    expect(source.get_by_role("button", name="PTX for", exact=False).first).to_have_attribute(
        "aria-pressed", "true"
    )
    ptx = source.get_by_role("region", name=re.compile("^PTX for"))
    expect(ptx.locator(".cm-line.cm-gone, .cm-line.cm-come").first).to_be_visible()
    expect(scrolled_to(ptx, "fma.rn.f32", ".cm-gone")).to_be_visible()
    expect(scrolled_to(ptx, "mul.rn.f32", ".cm-come")).to_be_visible()
    expect(ptx.locator(".cm-gutterElement.cm-gone").first).to_contain_text("−")
    expect(ptx.locator(".cm-gutterElement.cm-come").first).to_contain_text("+")
    page.keyboard.press("d")
    expect(source.get_by_role("group", name="Differences")).to_contain_text("1 of")
    give(page, "Show the texts side by side, or in one column")
    a, b = (source.get_by_role("region", name=re.compile(rf"^PTX for .*\({s}\)")) for s in "AB")
    expect(scrolled_to(a, "fma.rn.f32", ".cm-gone")).to_be_visible()
    expect(scrolled_to(b, "mul.rn.f32", ".cm-come")).to_be_visible()
    expect(b.locator(".cm-gone")).to_have_count(0)


def test_a_line_lights_others_in_both_runs_and_its_column_stays(explorer: Explorer) -> None:
    page = explorer.page
    source = sources(page)
    ptx = source.get_by_role("region", name=re.compile("^PTX for"))
    expect(ptx.locator(".cm-line.cm-gone, .cm-line.cm-come").first).to_be_visible()
    own = source.get_by_role("region", name="Python", exact=True)
    expect(own.locator(".cm-line").first).to_be_visible()  # a column that comes moves the others
    for text, kind in (("fma.rn.f32", ".cm-gone"), ("mul.rn.f32", ".cm-come")):
        at = place_of(ptx, text, kind)
        before = ptx.locator(".cm-scroller").evaluate("el => el.scrollTop")
        page.mouse.click(*at)
        expect(ptx.locator(".cm-gutterElement.cm-clicked")).to_have_count(1)
        python = source.get_by_role("region", name="Python", exact=True)
        expect(python.locator(".cm-line.cm-hit").first).to_be_visible()
        assert ptx.locator(".cm-scroller").evaluate("el => el.scrollTop") == before
    page.keyboard.press("Escape")
    expect(ptx.locator(".cm-clicked")).to_have_count(0)


def beside(explorer: Explorer) -> dict[str, Locator]:
    """The PTX of both runs, in a column each."""
    give(explorer.page, "Show the texts side by side, or in one column")
    source = sources(explorer.page)
    columns = {
        s: source.get_by_role("region", name=re.compile(rf"^PTX for .*\({s}\)")) for s in "AB"
    }
    for column in columns.values():
        expect(column.locator(".cm-line").first).to_be_visible()
    return columns


LINES = {"A": ("fma.rn.f32", ".cm-gone"), "B": ("mul.rn.f32", ".cm-come")}
"""What the rule makes of a product and a sum; and the product without it."""

TOP_OF = """
(text, number) => {
  const scroller = text.getBoundingClientRect();
  for (const mark of text.querySelectorAll(".cm-gutterElement")) {
    const { top, height } = mark.getBoundingClientRect();
    if (mark.textContent.replace(/^\\D+/, "") === String(number) && height)
      return top < scroller.top || top + height > scroller.bottom ? null : top;
  }
  return null;
}
"""
"""Where a line of a column is, by its number; null out of view."""


def test_side_by_side_both_texts_go_to_a_difference(explorer: Explorer) -> None:
    page = explorer.page
    with page.expect_response(re.compile(r"/sources\?.*kind=ptx")) as answer:
        page.reload()
    asked = answer.value.request  # perhaps by the page before, whose answers are gone
    rows = page.request.get(asked.url, headers=asked.headers).json()["rows"]
    expect(page.locator(".cmp-totals")).to_be_visible()
    expect(page.locator(".cmp-progress")).to_have_count(0)
    differs = [row["state"] not in ("same", "renamed") for row in rows]
    begins = [i for i, now in enumerate(differs) if now and not (i and differs[i - 1])]
    columns = beside(explorer)
    for column in columns.values():
        column.locator(".cm-scroller").evaluate("el => { el.scrollTop = 0 }")
    for at in begins[:4]:
        page.keyboard.press("d")
        # A side that has nothing of the difference stands at its line before.
        ends = next((i for i in range(at, len(rows)) if not differs[i]), len(rows))
        lines = [
            next((row[side] for row in rows[at:ends] if row[side]), 0)
            or max(row[side] for row in rows[:at])
            for side in "ab"
        ]
        texts = [column.locator(".cm-scroller") for column in columns.values()]
        for _ in range(100):  # until both have gone there
            tops = [text.evaluate(TOP_OF, line) for text, line in zip(texts, lines, strict=True)]
            scrolled = [text.evaluate("el => el.scrollTop") for text in texts]
            if None not in tops and (0 in scrolled or abs(tops[0] - tops[1]) < 3):
                break
            page.wait_for_timeout(100)
        else:
            raise AssertionError(f"lines {lines} are at {tops}, and not level")


def test_a_line_of_either_run_leads_to_its_nodes(explorer: Explorer) -> None:
    page = explorer.page
    for side, op in (("A", "MULACC"), ("B", "MUL")):
        columns = beside(explorer)
        click_line(columns[side], *LINES[side])
        sources(page).get_by_role("button", name=re.compile("show in Graphs$")).click()
        expect(page.locator(".stage canvas").first).to_be_visible()
        explorer.wait_address("tab", "node")
        assert (explorer.address("run") or "A") == side
        expect(explorer.inspector).to_contain_text(re.compile(rf"Op\s*{op}\b"))
        page.go_back()
        expect(page.get_by_role("main", name="Comparison")).to_be_visible()
        give(page, "Show the texts side by side, or in one column")


def test_a_text_that_was_not_recorded_is_compiled_for_both_runs(explorer: Explorer) -> None:
    page = explorer.page
    give(page, "Compile for gfx942 (AMD ISA)")
    isa = sources(page).get_by_role("region", name="AMD ISA for gfx942")
    expect(isa.locator(".cm-line").nth(5)).to_be_visible(timeout=60_000)
    expect(isa).to_contain_text("compiled on request")
    click_line(isa, "global_store")
    ptx = sources(page).get_by_role("region", name=re.compile("^PTX for"))
    expect(ptx.locator(".cm-line.cm-hit").first).to_be_visible()


def sources(page: Page) -> Locator:
    """The texts of the selected kernel."""
    return page.get_by_role("region", name=re.compile("^Sources of"))


def small_pass(two: Process) -> tuple[int, int, int]:
    """A pass that can be shown whole, of both runs, and its number of steps."""
    changed = two.ask("compare/A/B")["scopes"][0]
    found = two.ask(f"compare/A/B/scopes?of={changed['a']}&with={changed['b']}")["passes"]
    one = next(p for p in found if p["name"] == "simplify" and p["stepsA"] > 1)
    return one["a"], one["b"], one["stepsA"]


def test_walking_goes_in_step_and_nothing_moves(explorer: Explorer, two: Process) -> None:
    page = explorer.page
    a, b, steps = small_pass(two)
    page.evaluate("hash => { location.hash = hash }", f"v=compare&cp={a}.{b}&cr={steps}")
    row = page.get_by_role("slider", name="Row")
    expect(row).to_have_attribute("aria-valuenow", str(steps))
    page.keyboard.press("k")
    panes = page.locator(".cmp-walk canvas[role=img]")
    expect(panes.nth(0)).to_have_attribute("data-selected", re.compile(r"\d"))
    before = panes.nth(0).get_attribute("data-selected") or ""
    expect(panes.nth(1)).to_have_attribute("data-selected", before)
    seen = 0
    for k in range(steps - 1, -1, -1):
        page.keyboard.press("ArrowLeft")
        expect(row).to_have_attribute("aria-valuenow", str(k))
        if k:
            expect(page.locator(".cmp-pts")).to_contain_text(f"step {k} of {steps}")
        expect(panes.nth(1)).to_have_attribute("data-selected", re.compile(f"^({before})?$"))
        at = panes.nth(1).get_attribute("data-selected") or ""
        expect(panes.nth(0)).to_have_attribute(
            "data-selected", at
        )  # there in the same place, or not
        seen += at == before
    assert seen > 0


def test_a_side_without_the_step_stands_still(explorer: Explorer) -> None:
    page = explorer.page
    walk(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".cmp-pts")).to_contain_text("step 2 of")
    expect(page.locator(".cmp-pts")).to_contain_text("stands still")


def test_differences_are_reached_by_key_and_counted(explorer: Explorer) -> None:
    page = explorer.page
    foot = walk(page)
    row = page.get_by_role("slider", name="Row")
    page.keyboard.press("d")
    expect(row).to_have_attribute("aria-valuenow", "2")
    expect(foot).to_contain_text("+ 2 only in B")
    page.keyboard.press("Shift+D")
    expect(row).to_have_attribute("aria-valuenow", "1")
    give(page, "Input graphs of both")
    expect(row).to_have_attribute("aria-valuetext", "input graphs")
    expect(foot).to_contain_text("+ 0 only in B")


def test_one_side_moves_alone_and_back_in_step(explorer: Explorer) -> None:
    page = explorer.page
    foot = walk(page)
    for _ in range(3):
        give(page, "A alone: next step")
    expect(page.locator(".cmp-pts")).to_contain_text("step 4 of")
    expect(foot).to_contain_text("Not in step")
    expect(page).to_have_url(re.compile(r"cz=4.0"))
    give(page, "Both sides in step again")
    expect(foot).not_to_contain_text("Not in step")
    expect(page.locator(".cmp-pts")).to_contain_text("step 1 of")


def test_a_link_and_back_lead_to_the_same_place(
    explorer: Explorer, browser: Browser, two: Process
) -> None:
    page = explorer.page
    walk(page)
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("slider", name="Row")).to_have_attribute("aria-valuenow", "2")
    expect(page).to_have_url(re.compile(r"cr=2"))
    link = page.evaluate("location.hash")
    other = browser.new_page()
    other.goto(two.url.partition("#")[0] + link)
    expect(other.get_by_role("slider", name="Row")).to_have_attribute("aria-valuenow", "2")
    expect(other.get_by_role("button", name="Merged")).to_have_attribute("aria-pressed", "true")
    other.close()
    page.go_back()
    expect(page.get_by_role("main", name="Comparison")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("main", name="Two passes in step")).to_be_visible()


def test_nodes_and_lines_of_both_texts_are_linked(explorer: Explorer) -> None:
    page = explorer.page
    walk(page)
    page.keyboard.press("s")
    ptx = sources(page).get_by_role("region", name=re.compile("^PTX for"))
    expect(ptx.locator(".cm-line").first).to_be_visible()
    page.keyboard.press("k")
    expect(ptx.locator(".cm-line.cm-hit").first).to_be_visible()
    pane = page.locator(".cmp-walk canvas[role=img]").first
    expect(pane).to_have_attribute("data-selected", re.compile(r"\d"))
    text = ptx.locator(".cm-line.cm-hit").first.inner_text()
    page.keyboard.press("Escape")
    expect(pane).to_have_attribute("data-selected", "")
    click_line(ptx, re.escape(text))
    expect(pane).to_have_attribute("data-selected", re.compile(r"\d"))


def test_swapping_turns_everything_round(explorer: Explorer) -> None:
    page = explorer.page
    give(page, "Swap A and B")
    rules = page.get_by_role("region", name="Rules that fire more or less")
    expect(rules.locator("[data-line]")).to_contain_text("only in B")
    expect(page.locator(".cmp-first")).to_contain_text(RULE)
    expect(page).to_have_url(re.compile(r"ca=B"))


def test_filter_without_a_hit_says_so_and_is_cleared(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("/")
    page.keyboard.type("no such <b>kernel</b>")
    expect(page.locator("#cmp-filter")).to_be_focused()
    expect(page.locator(".cmp-kernels .state")).to_contain_text("no such <b>kernel</b>")
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.locator(".cmp-row")).to_have_count(1)


def test_passes_are_opened_from_their_list_and_escape_leads_back(explorer: Explorer) -> None:
    page = explorer.page
    give(page, "Next tab of the comparison")
    give(page, "Next tab of the comparison")
    line = page.locator(".cmp-pass-line").first
    expect(line).to_contain_text("decompose")
    line.get_by_role("link").click()
    expect(page.get_by_role("main", name="Two passes in step")).to_be_visible()
    page.get_by_role("button", name="Rules that differ in this pass").click()
    expect(page.locator(".cmp-pop")).to_contain_text(RULE)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("main", name="Comparison")).to_be_visible()


def test_a_run_against_itself_is_equal(explorer: Explorer, two: Process) -> None:
    compared(explorer, two, "&cb=A")
    expect(explorer.page.locator(".ov-notes")).to_contain_text("The runs are equal")


def test_no_time_of_a_program_recorded_twice_is_coloured(browser: Browser, tmp_path: Path) -> None:
    """Whatever else the machine did meanwhile: nobody changed anything."""
    runs = [record(PROGRAMS / "captured.py", tmp_path / f"{name}.viz") for name in "ab"]
    with serve(runs[0], beside=[runs[1]]) as process:
        page = browser.new_page(viewport={"width": 1720, "height": 900})
        compared(Explorer(page), process)
        page.keyboard.press("a")  # what is equal, too
        expect(page.locator(".cmp-row").first).to_be_visible()
        for tab in ("Kernels", "Rules", "Passes"):
            page.get_by_role("button", name=re.compile(f"^{tab} ")).click()
            expect(
                page.locator("main").get_by_text(re.compile(r"^\d+\.\d\d×$")).first
            ).to_be_visible()
            assert (
                page.locator("main .cadd, main .cmov, main .badge.add, main .badge.mov").count()
                == 0
            )
        page.close()


def test_alone_it_says_what_to_do(browser: Browser, server: Process) -> None:
    page = browser.new_page()
    page.goto(f"{server.url.partition('#')[0]}#v=compare")
    expect(page.locator(".cmp-alone")).to_contain_text("uopviz open")
    page.close()


def test_rules_are_listed_by_what_they_cost_and_lead_to_their_pages(explorer: Explorer) -> None:
    page = explorer.page
    give(page, "Next tab of the comparison")
    lines = page.locator(".cmp-rule.whole")
    expect(lines).to_have_count(1)
    page.get_by_role("button", name="By time").click()
    expect(lines.nth(5)).to_be_visible()
    page.locator("#cmp-filter").fill(RULE)
    expect(lines).to_have_count(1)
    page.get_by_role("button", name="By matches").click()
    page.get_by_role("link", name="in A").click()
    expect(page).to_have_url(re.compile("v=rules"))
    expect(page.get_by_role("main")).to_contain_text(RULE)
    page.go_back()
    expect(lines).to_have_count(1)


def test_a_filter_is_that_of_one_tab(explorer: Explorer) -> None:
    page = explorer.page
    rules = page.get_by_role("region", name="Rules that fire more or less")
    rules.get_by_role("button", name=RULE).click()
    expect(page.locator("#cmp-filter")).to_have_value(RULE)
    give(page, "Previous tab of the comparison")
    expect(page.locator("#cmp-filter")).to_have_value("")
    expect(page.locator(".cmp-row")).to_have_count(1)


def test_the_menu_of_passes_opens_at_the_one_that_is_shown(explorer: Explorer) -> None:
    page = explorer.page
    walk(page)
    page.locator(".cmp-pass").first.click()
    chosen = page.locator(".menu .mi[aria-checked=true]")
    expect(chosen).to_be_focused()
    expect(chosen).to_be_in_viewport()


def test_what_is_selected_stays_while_all_nodes_come(explorer: Explorer) -> None:
    page = explorer.page
    foot = walk(page)
    give(page, "Last row")
    pane = page.locator(".cmp-walk canvas[role=img]").first
    x, y = next(at for at in explorer.boxes("of A") if _is_node(page, pane, at))
    page.mouse.click(x, y)
    expect(pane).to_have_attribute("data-selected", re.compile(r"\d"))
    selected = pane.get_attribute("data-selected") or ""
    some = foot.inner_text()
    page.keyboard.press("a")
    expect(foot).not_to_have_text(some)
    page.keyboard.press("Escape")
    expect(pane).not_to_have_attribute("data-selected", selected)
    page.mouse.click(x, y)
    expect(pane).to_have_attribute("data-selected", selected)


def test_a_file_shows_the_text_of_an_equal_kernel_and_says_so(
    traces: tuple[Path, Path], browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "both.html"
    before, after = map(str, traces)
    command = [sys.executable, "-m", "viz", "export", before, after, "-o", str(file)]
    subprocess.run(command, env=environment(), cwd=ROOT, check=True, capture_output=True)
    page = browser.new_page()
    page.goto(f"{file.as_uri()}#v=compare&cd=all")
    page.locator(".cmp-row.same .link").first.click()
    source = sources(page)
    expect(source).to_contain_text("equal in both runs")
    expect(source.locator(".cm-line", has_text=".version").first).to_be_visible()
    expect(source).not_to_contain_text("Not included")
    page.close()


def _is_node(page: Page, pane: Locator, at: tuple[float, float]) -> bool:
    """Whether a node is drawn there, and no group of them."""
    page.mouse.move(*at)
    return " more: " not in (pane.get_attribute("title") or "")
