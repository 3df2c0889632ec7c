"""The page that opens first, and the page of a kernel: what they say, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

import viz
from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.held import Held
from tests.browser.served import PROGRAMS, Process, run_live, serve
from tests.browser.test_sizes import OVERHANG
from viz.write.writer import TraceWriter

Open = New = Callable[..., Explorer]


def opened(new_page: New, server: Process, at: str = "", **options: Any) -> Explorer:
    """The overview, or what of it `at` names."""
    e = new_page(**options)
    e.page.goto(f"{server.url}{at}")
    expect(e.page.locator(".ov")).to_be_visible()
    return e


def kernels(e: Explorer) -> Locator:
    """The lines of the table of kernels."""
    return e.page.locator(".ov-kernels .ov-row")


def test_every_number_leads_to_what_it_says(new_page: New, server: Process) -> None:
    overview = server.get("overview")
    line = overview["kernels"][0]
    e = opened(new_page, server)
    row = kernels(e).first

    def back() -> None:
        e.page.go_back()
        expect(e.page.locator(".ov-kernels")).to_be_visible()

    row.get_by_title("Its launches in the timeline").click()
    e.wait_address("v", "timeline")
    assert e.address("i") == f"n:{line['name']}"
    expect(e.page.locator(".tl")).to_contain_text(line["name"])
    back()
    row.get_by_title("Its passes in the graphs").click()
    e.ready()
    assert e.subject.inner_text().count(line["name"]) == 1
    back()
    row.click()
    e.wait_address("kernel", str(line["context"]))
    back()
    e.page.get_by_role("region", name="Costliest rules").locator("a.name").first.click()
    e.wait_address("q", overview["rules"][0]["name"])
    expect(e.page.get_by_role("listbox", name="Rules")).to_contain_text(
        overview["rules"][0]["name"]
    )
    back()
    e.page.get_by_role("region", name="Slowest passes").locator("a.name").first.click()
    e.wait_address("r", str(overview["passes"][0]["id"]))
    e.ready()
    back()
    part = next(p for p in overview["activity"]["parts"] if p["kind"] == "compile")
    e.page.get_by_role("link", name=re.compile("^compile ")).click()
    e.wait_address("v", "timeline")
    begin, end = (float(t) for t in (e.address("t") or "").split("_"))
    assert begin <= part["reach"][0] and end >= part["reach"][1]
    back()
    for link in e.page.locator(".ov a[href]").all():
        assert re.match(
            r"#(kernel=\d+|r=\d+(&k=\d+)?|v=\w+(&.*)?)$", link.get_attribute("href") or ""
        )


def test_a_click_on_the_strip_opens_the_timeline_there(new_page: New, server: Process) -> None:
    end = server.get("overview")["activity"]["end"]
    e = opened(new_page, server)
    box = e.page.locator(".ov-strips").bounding_box()
    assert box is not None
    x = box["x"] + 0.75 * box["width"]
    e.page.mouse.move(x, box["y"] + 8)
    expect(e.page.locator(".ov-now")).to_contain_text(re.compile(r"at [\d.]+ \w+: "))
    e.page.mouse.click(x, box["y"] + 8)
    e.wait_address("v", "timeline")
    begin, stop = (float(t) for t in (e.address("t") or "").split("_"))
    assert begin < 0.75 * end < stop
    assert stop - begin < 0.1 * end


def test_by_keyboard_alone(new_page: New, server: Process) -> None:
    lines = server.get("overview")["kernels"]
    e = opened(new_page, server)
    first = kernels(e).first.locator("a").first
    expect(first).to_be_visible()
    for _ in range(60):
        e.press("Tab")
        if first.evaluate("el => el === document.activeElement"):
            break
    focused = "() => document.activeElement.closest('[data-line]')?.innerText.split('\\n')[0]"
    ring = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert e.page.evaluate(ring) == "solid"
    texts = [row.inner_text().split("\n")[0] for row in kernels(e).all()]
    e.press("ArrowDown")
    assert e.page.evaluate(focused) == texts[1]
    e.press("ArrowRight", "ArrowLeft", "ArrowUp")
    assert e.page.evaluate(focused) == texts[0]
    e.press("End")
    assert e.page.evaluate(focused) == texts[-1]
    e.press("Home", "Enter")
    e.wait_address("kernel", str(lines[0]["context"]))
    expect(e.page.locator(".kp")).to_be_visible()
    e.press("}")
    e.page.wait_for_function(f"!location.hash.includes('kernel={lines[0]['context']}&') ")
    e.press("Escape")
    expect(kernels(e).first).to_be_visible()
    e.press("Alt+ArrowLeft")
    expect(e.page.locator(".kp")).to_be_visible()
    e.press("Escape")
    expect(kernels(e).first).to_be_visible()
    assert e.address("kernel") is None


def test_kernels_are_sorted_by_any_column(new_page: New, server: Process) -> None:
    lines = server.get("overview")["kernels"]
    e = opened(new_page, server)
    e.page.get_by_role("button", name="Steps", exact=True).click()
    e.wait_address("ko", "-steps")
    wanted = [f"{n:,}" for n in sorted((line["steps"] for line in lines), reverse=True)]
    expect(kernels(e).get_by_title("Its passes in the graphs")).to_have_text(wanted)
    e.page.reload()
    expect(e.page.get_by_role("button", name="Steps, descending")).to_be_visible()


def test_what_is_done_while_the_run_is_on_its_way_stays(new_page: New, server: Process) -> None:
    e = new_page()
    held = Held(e.page, re.compile("/tree[?]"))
    e.page.goto(f"{server.url}#ka=1")
    e.page.get_by_role("button", name="Steps", exact=True).click()
    e.wait_address("ko", "-steps")
    held.let_go()
    e.press("2")  # a page that needs what was on its way
    expect(e.page.get_by_role("slider", name="Step")).to_be_visible()
    e.press("Alt+ArrowLeft")
    expect(e.page.get_by_role("button", name="Steps, descending")).to_be_visible()
    assert (e.address("ko"), e.address("ka")) == ("-steps", "1")


def test_the_page_of_a_kernel(new_page: New, server: Process) -> None:
    line = server.get("overview")["kernels"][0]
    page = server.get(f"kernel-page/{line['context']}")
    e = opened(new_page, server, f"#kernel={line['context']}")
    kp = e.page.locator(".kp")
    expect(kp.locator(".ov-counts")).to_contain_text(line["name"])
    changed = [p for p in page["passes"] if p["steps"]]
    segments = kp.locator(".kp-seg")
    expect(segments).to_have_count(len(changed))
    sources = kp.get_by_role("region", name="Sources")
    chips = sources.get_by_role("group", name="Sources to show").get_by_role("button")
    expect(chips.first).to_have_attribute("aria-pressed", "true")
    expect(kp.locator(".cm-line").first).to_be_visible(timeout=60_000)
    further = chips.and_(kp.locator("[aria-pressed=false]")).first
    name = further.get_attribute("aria-label")
    expect(sources.get_by_role("region", name=name, exact=True)).to_have_count(0)
    further.focus()
    e.press("Space")
    expect(sources.get_by_role("region", name=name, exact=True)).to_be_visible()
    e.press("r")
    runs = kp.get_by_role("table", name="Runs of this kernel").get_by_role("row")
    expect(runs).to_have_count(3, timeout=60_000)
    expect(runs.last).to_contain_text("equal")
    segments.first.click()
    e.wait_address("r", str(changed[0]["id"]))
    e.ready()


def test_the_menu_of_the_subject_shows_the_kernel(open_page: Open, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    e.subject.get_by_role("button", name=re.compile("^Kernel ")).click()
    e.page.get_by_role("button", name="Page of this kernel").click()
    expect(e.page.locator(".kp")).to_be_visible()
    assert e.address("kernel") is not None
    e.page.go_back()
    e.ready().at_step(1)
    assert e.address("r") == str(some_pass.row["id"])


def test_the_machine_is_measured_once_asked_for(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    first = e.page.get_by_role("button", name="Measure this machine")
    again = e.page.get_by_role("button", name="Measure again")
    expect(first.or_(again)).to_be_visible()
    if first.count():
        first.click()
    expect(again).to_be_visible(timeout=60_000)
    expect(e.page.locator(".ov-rate .pc").first).to_have_text(re.compile(r"%$"))
    (peak,) = (p for p in server.ask("peaks") if p["device"] == "CPU")
    assert peak["flops"] > 1e8 and peak["bytes"] > 1e8


def test_lists_of_a_live_run_are_in_order_and_stay_under_the_pointer(
    new_page: New, tmp_path: Path
) -> None:
    with run_live(PROGRAMS / "waiting.py", tmp_path / "live.viz") as program:
        e = new_page()
        e.page.goto(program.url)
        for n in (1, 2):
            program.say("next")
            expect(kernels(e)).to_have_count(n, timeout=20_000)
            if n == 1:  # the names are r_2_2, r_3_3, r_4_4: the last one first
                name = e.page.locator(".ov-kernels").get_by_role("button", name="Kernel")
                name.click()
                name.click()
        e.page.mouse.move(1, 1)
        expect(kernels(e)).to_contain_text(["r_3", "r_2"])
        for title, key in (("Costliest rules", "rules"), ("Slowest passes", "passes")):
            names = [line["name"] for line in program.get("overview")[key][:5]]
            region = e.page.get_by_role("region", name=title)
            expect(region.locator("a.name")).to_have_text(names, timeout=20_000)
        kernels(e).first.hover()
        place = kernels(e).first.bounding_box()
        program.say("next")
        expect(kernels(e)).to_contain_text(["r_3", "r_2", "r_4"], timeout=20_000)
        assert kernels(e).first.bounding_box() == place
        e.page.mouse.move(1, 1)
        expect(kernels(e)).to_contain_text(["r_4", "r_3", "r_2"])
        e.page.goto("about:blank")  # asks nothing of a server that ends with its program


def test_another_compiler_without_times(new_page: New, tmp_path: Path) -> None:
    """It shows what it has: no empty columns, no speeds, no runs."""
    with TraceWriter(tmp_path / "t.viz", {"command": ["mycc", "a.c"]}) as t:
        x, y = t.node("A"), t.node("B")
        rule = t.rule("fold_<b>a</b>", equation="A -> B")
        for name in ("small", "large"):
            kernel = t.context_begin(name, "kernel", at=0)
            step = t.rewrite_begin("fold", x, context=kernel, at=0)
            t.match(step, rule, x, y, {}, ns=0)
            t.rewrite_end(step, y, at=0)
            t.context_end(kernel, at=0)
    with serve(tmp_path / "t.viz") as server:
        e = opened(new_page, server)
        heads = e.page.locator(".ov-kernels .heads button")
        expect(heads).to_have_text(["Kernel", "Steps"])
        expect(e.page.get_by_role("region", name="Busiest rules")).to_contain_text("fold_<b>a</b>")
        expect(e.page.locator(".ov-course")).to_have_count(0)
        expect(e.page.get_by_role("region", name="Your lines")).to_have_count(0)
        kernels(e).first.click()
        expect(e.page.locator(".kp")).to_contain_text("not launched in this run")
        expect(e.page.get_by_role("region", name="Times")).to_have_count(0)
        e.page.goto("about:blank")


SCROLLS: str = """() => {
  const el = document.querySelector(".ov");
  return el.scrollHeight - el.clientHeight;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("width", "height"), [(1280, 800), (1440, 900), (1920, 1080), (900, 700), (640, 400)]
)
def test_it_fits(new_page: New, server: Process, width: int, height: int, scheme: str) -> None:
    e = opened(new_page, server, viewport={"width": width, "height": height}, color_scheme=scheme)
    expect(kernels(e).first).to_be_visible()
    if width >= 1280:
        assert e.page.evaluate(SCROLLS) == 0
    assert e.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert e.page.evaluate(OVERHANG) == []


def test_no_name_is_cut_where_it_has_room(new_page: New, server: Process) -> None:
    e = opened(new_page, server, viewport={"width": 1920, "height": 1080})
    expect(kernels(e).first).to_be_visible()
    cut = e.page.evaluate("""() =>
      [...document.querySelectorAll(".ov-row .cut-middle")].filter((name) => {
        const head = name.querySelector(".el"), cell = name.closest(".row").getBoundingClientRect();
        const row = [...name.closest(".row").children].at(-1).getBoundingClientRect();
        return head.scrollWidth > head.clientWidth && row.right < cell.right - 20;
      }).map((name) => name.textContent)""")
    assert cut == []


LONG_CALLS = """
from core import Tensor

for i in range(2):
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    y = (x * 2).exp().log().sin().sqrt().relu().sigmoid().tanh().abs()
    (y.exp2() if i else y.square()).sum(axis=1, keepdim=True).relu().log().abs().realize()
"""
DRAWN = """el => [...el.querySelectorAll("[data-text]")].map((part) => {
  const [text, full, seen] = [part.dataset.text, part.scrollWidth, part.clientWidth];
  return full > seen ? text.slice(0, Math.floor(text.length * seen / full) - 1) + "…" : text;
}).join("")"""


def test_names_that_differ_in_the_middle_look_different(new_page: New, tmp_path: Path) -> None:
    with viz.record(tmp_path / "long.viz"):
        exec(LONG_CALLS, {})
    with serve(tmp_path / "long.viz") as process:
        e = opened(new_page, process, viewport={"width": 1280, "height": 720})
        names = e.page.locator(".ov-row a .cut-middle")
        expect(names).to_have_count(2)
        whole = names.all_inner_texts()
        drawn = [names.nth(i).evaluate(DRAWN) for i in range(2)]
        assert all("…" in text for text in drawn), drawn
        assert drawn[0] != drawn[1]
        for name, text in zip(names.all(), whole, strict=True):
            link = name.locator("xpath=ancestor::a")
            expect(link).to_have_accessible_name(text)
            copied = name.evaluate(
                "el => { const s = getSelection(); s.selectAllChildren(el); return s.toString(); }"
            )
            assert copied == text and "  " not in text


TWO_FILES = """
import a.layers
import b.layers
from core import Tensor

x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
a.layers.forward(x)
b.layers.forward(x)
"""
LAYERS = """
def forward(x):
    y = ({0} + 1).exp().log().sin()
    return (y * {1}).sum(axis=1, keepdim=True).relu().maximum(0.5).contiguous().realize()
"""
OVERLAPPING = """() => [...document.querySelectorAll(".ov-line")].flatMap((line) => {
  const boxes = [...line.children].map((el) => [el.textContent, el.getBoundingClientRect()]);
  return boxes.slice(1).filter(([, box], i) => box.left < boxes[i][1].right - 0.5)
    .map(([text]) => text);
})"""


def test_lines_of_two_files_stand_apart_and_are_told_apart(
    new_page: New, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, factor in (("a", 2), ("b", 3)):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "layers.py").write_text(LAYERS.format("x", factor))
    monkeypatch.syspath_prepend(tmp_path)
    with viz.record(tmp_path / "t.viz"):
        exec(TWO_FILES, {})
    with serve(tmp_path / "t.viz") as server:
        e = opened(new_page, server)
        lines = e.page.locator(".ov-line")
        for width in (1024, 1280, 1920):
            e.page.set_viewport_size({"width": width, "height": 900})
            expect(lines.first).to_be_visible()
            assert e.page.evaluate(OVERLAPPING) == []
            said = [link.inner_text() for link in e.page.locator(".ov-line > .link").all()]
            for package in ("a", "b"):
                assert f"{package}/layers.py:4" in said, (width, said)
        assert e.page.evaluate(OVERHANG) == []
        e.page.goto("about:blank")
