"""The workbench of a kernel: what is changed, both texts, errors, links and keys. Whether a change
makes it faster is a journey."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.hostile import hostile
from tests.browser.served import PROGRAMS, Process, export, record, serve
from tests.browser.test_sizes import OVERHANG

New = Callable[..., Explorer]
WAIT = 60_000


def opened(new_page: New, server: Process, at: str = "", **options: object) -> Explorer:
    e = new_page(**options)
    e.page.goto(f"{server.url}#v=workbench{at}")
    expect(opts(e).first).to_be_visible(timeout=WAIT)
    expect(e.page.locator(".wb .cm-line").nth(3)).to_be_visible(timeout=WAIT)
    expect(e.page.get_by_role("button", name="Run both")).to_be_enabled(timeout=WAIT)
    return e


def opts(e: Explorer) -> Locator:
    return e.page.get_by_role("region", name="Optimizations").get_by_role("checkbox")


def card(e: Explorer, name: str) -> Locator:
    return e.page.get_by_role("region", name=name)


def test_an_opt_is_taken_out_and_restored_by_a_link(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    expect(e.page.locator('.top .tab[aria-current="page"]')).to_have_text("Workbench")
    before = opts(e).count()
    opts(e).first.uncheck()
    e.page.wait_for_function("() => location.hash.includes('wo=')")
    expect(opts(e)).to_have_count(before)
    e.give("Show the difference of both texts")
    expect(e.page.get_by_role("region", name="Changed lines").locator(".da").first).to_be_visible()
    lines = e.page.get_by_role("region", name="Changed lines")
    assert lines.evaluate("e => e.scrollHeight > e.clientHeight")
    expect(e.page.locator(".wb-text .wb-foot .badge.add")).to_have_text(re.compile(r"^\+\d+$"))
    e.wait_address("wx", "difference")
    e.page.reload()
    expect(opts(e)).to_have_count(before, timeout=WAIT)
    expect(opts(e).and_(e.page.locator(":checked"))).to_have_count(before - 1)
    expect(e.page.get_by_role("button", name="Difference")).to_have_attribute(
        "aria-pressed", "true"
    )
    e.press("e")  # while it is still compiled, or after
    editor = e.page.get_by_role("textbox", name=re.compile("^LLVM IR source"))
    expect(editor).to_be_focused(timeout=WAIT)
    foot = e.page.locator(".wb-text .wb-foot")
    expect(foot.locator(".badge")).to_have_count(0)  # nothing is edited yet
    e.page.keyboard.type("; mine\n")
    expect(foot.locator(".badge.add")).to_have_text("+1")
    expect(opts(e).and_(e.page.locator(":checked"))).to_have_count(before - 1)
    e.press("Control+Enter")
    expect(card(e, "Variants")).to_contain_text("edited LLVM IR", timeout=WAIT)
    agree = card(e, "Outputs").get_by_role("img", name=re.compile("^Both agree"))
    expect(agree).to_have_count(6)
    e.give("Discard the edits of this text")
    e.page.get_by_role("button", name="Reset").click()
    expect(opts(e).and_(e.page.locator(":checked"))).to_have_count(before)
    e.wait_address("wo", None)


def test_an_edit_that_is_wrong_shows_where(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    e.press("e")
    editor = e.page.get_by_role("textbox", name=re.compile("^LLVM IR source"))
    expect(editor).to_be_focused(timeout=WAIT)
    line = e.page.locator(".wb .cm-line").filter(has_text="splat (float 0.0").first
    text = line.inner_text()
    line.click()
    e.press("Home", "Shift+End")
    e.page.keyboard.type(text.replace("0.000000e+00", "5.000000e+00"))
    expect(e.page.get_by_role("region", name="Text of the kernel")).to_contain_text("+1")
    e.press("Control+Enter")
    outputs = card(e, "Outputs")
    expect(outputs).to_contain_text("differ: Normal, seed 0", timeout=WAIT)
    picture = outputs.get_by_role("slider")
    worst = outputs.locator("dd").nth(3)
    expect(worst).to_have_text(re.compile(r"^\[\d+, \d+\]$"))
    first = worst.inner_text()
    picture.press("ArrowRight")
    expect(worst).not_to_have_text(first)
    expect(outputs.locator("dt").nth(3)).to_have_text("Element")
    line.click()
    e.page.keyboard.press("Home")
    e.page.keyboard.type("nonsense ")
    expect(card(e, "Time, edited over original")).to_contain_text("changed since")
    e.press("Control+Enter")
    said = card(e, "Time, edited over original").get_by_role("alert")
    expect(said).to_contain_text(re.compile(r"line \d+"), timeout=WAIT)
    expect(e.page.locator(".wb-text .wb-foot")).to_contain_text(re.compile(r"Line \d+: "))


def test_devices_targets_and_what_applies(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    devices = card(e, "Devices")
    devices.get_by_role("button", name="Run on CPU").click()
    expect(devices.get_by_role("row", name="CPU")).to_contain_text(
        re.compile(r"µs|ns|ms"), timeout=WAIT
    )
    e.page.get_by_role("button", name="Add an optimization").click()
    menu = e.page.get_by_role("dialog", name="Add an optimization")
    expect(menu).to_contain_text("Loops left:")
    count = opts(e).count()
    menu.locator(".mi").first.click()
    expect(opts(e)).to_have_count(count + 1)
    expect(card(e, "Optimizations")).to_contain_text("Changed by you")
    e.page.get_by_role("button", name="Target whose texts are shown").click()
    e.page.get_by_role("dialog").get_by_role("checkbox", name="gfx1100").click()
    expect(e.page.get_by_role("tab", name="AMD ISA")).to_be_visible()
    expect(card(e, "Optimizations")).to_contain_text("Chosen by the compiler")
    expect(e.page.get_by_role("button", name="Run both")).to_be_disabled()
    e.page.get_by_role("button", name="Device to run on").click()
    e.page.get_by_role("dialog").get_by_role("checkbox", name="CPU").click()
    expect(e.page.get_by_role("button", name="Run both")).to_be_enabled()


def test_keys_palette_and_the_navigator(new_page: New, server: Process) -> None:
    e = new_page().goto(server.url)
    e.press("4")
    expect(e.page.locator(".wb-grid")).to_be_visible()
    kernels = [row for row in server.rows() if row["label"] == "kernel" and not row["target"]]
    names = [row["name"] for row in kernels]
    e.subject.get_by_role("button", name=re.compile("^Kernel ")).click()
    e.page.get_by_role("searchbox", name="Find a kernel").fill(names[-1])
    e.press("Enter")
    expect(e.page.get_by_role("heading", name=names[-1])).to_be_visible()
    assert e.address("v") == "workbench"
    e.page.go_back()
    expect(e.page.get_by_role("heading", name=names[-1])).to_have_count(0)
    e.press("Control+k")
    e.page.keyboard.type("difference of both texts")
    e.press("Enter")
    e.wait_address("wx", "difference")
    e.press("2")
    expect(e.page.locator(".wb")).to_have_count(0)


def test_it_fits(new_page: New, server: Process) -> None:
    e = opened(new_page, server)
    for width, height in ((1280, 720), (1440, 900), (1920, 1080)):
        e.page.set_viewport_size({"width": width, "height": height})
        assert e.page.evaluate(OVERHANG) == [], width


def test_values_of_the_run(new_page: New, server: Process, tmp_path: Path) -> None:
    e = opened(new_page, server)
    e.page.get_by_role("button", name="Inputs that both are timed on").click()
    menu = e.page.get_by_role("dialog", name="Inputs that both are timed on")
    expect(menu.get_by_role("checkbox", name="Captured from the run")).to_be_disabled()
    expect(menu.get_by_role("checkbox", checked=True)).to_have_text(re.compile("Normal, seed 0"))
    expect(menu).to_contain_text(re.compile(r"record it again with VIZ=1 VIZ_CAPTURE=[rE]_\w+$"))
    trace = record(PROGRAMS / "captured.py", tmp_path / "run.viz", VIZ_CAPTURE="*")
    with serve(trace) as other:
        e = opened(new_page, other)
        button = e.page.get_by_role("button", name="Inputs that both are timed on")
        expect(button).to_have_text("Captured from the run")
        e.press("e")
        expect(e.page.get_by_role("textbox", name=re.compile("^LLVM IR source"))).to_be_focused()
        line = e.page.locator(".wb .cm-line").filter(has_text="1.500000e+03").first
        text = line.inner_text()
        line.click()
        e.press("Home", "Shift+End")
        e.page.keyboard.type(text.replace("1.500000e+03", "2.500000e+03"))
        e.press("Control+Enter")
        outputs = card(e, "Outputs")
        expect(outputs).to_contain_text("differ: Captured from the run", timeout=WAIT)
        expect(outputs.locator("dd").nth(4)).to_have_text("2000")
        expect(outputs.locator("dd").nth(5)).to_have_text("4000")
        expect(outputs.get_by_role("img", name=re.compile("^The two differ"))).to_have_count(1)
        expect(card(e, "Variants")).to_contain_text("captured from the run")
        e.page.locator(".wb-head").click()
        e.press("Control+k")
        e.page.keyboard.type("inputs Normal")
        e.press("Enter")
        e.wait_address("wi", "normal")
        expect(button).to_have_text("Normal, seed 0")
        expect(card(e, "Time, edited over original")).to_contain_text("changed since")


def test_a_file_which_can_run_nothing_has_no_workbench(
    new_page: New, server: Process, trace: Path, tmp_path: Path
) -> None:
    file = export(trace, tmp_path / "run.html")
    kernel = next(row for row in server.rows() if row["label"] == "kernel")
    e = new_page(offline=True)
    e.page.add_init_script("Object.defineProperty(Navigator.prototype, 'gpu', {value: undefined})")
    e.page.goto(f"{file.as_uri()}#v=workbench&kernel={kernel['id']}")
    expect(e.page.locator("#app main").get_by_text(kernel["name"]).first).to_be_visible()
    e.wait_address("v", None)
    assert e.address("kernel") == str(kernel["id"])
    expect(e.page.locator(".sources .cm-line").nth(3)).to_be_visible()
    said = e.page.get_by_text(re.compile("^To run this kernel, open the trace with uopviz, or: "))
    expect(said).to_contain_text("no WebGPU")
    views = e.page.get_by_role("navigation", name="Views")
    expect(views.get_by_role("button", name="Graphs")).to_be_visible()
    expect(views.get_by_role("button", name="Workbench")).to_have_count(0)
    e.press("4")
    e.press("5")
    e.wait_address("v", "compare")  # the other keys stay as they are
    assert "Show the original text" not in e.commands("text")


def test_traces_of_other_compilers_have_none(new_page: New, tmp_path: Path) -> None:
    """A link to it leads to what the run has."""
    with serve(hostile(tmp_path / "hostile.viz")) as server:
        e = new_page()
        e.page.goto(f"{server.url}#v=workbench")
        views = e.page.get_by_role("navigation", name="Views")
        expect(views.get_by_role("button", name="Overview")).to_be_visible()
        expect(views.get_by_role("button", name="Workbench")).to_have_count(0)
        expect(e.page.locator(".wb")).to_have_count(0)
        expect(e.page.get_by_role("main")).to_be_visible()
        assert e.page.locator("#app img, #app script, #app iframe").count() == 0
