"""Kernels on the GPU of a browser: Chromium with its SwiftShader, which computes on the processor.

An exported file does it from disk, offline, and says first that code of the file is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.explorer import WATCH, Explorer
from tests.browser.served import PROGRAMS, Process, export, record
from tests.browser_setup import find_browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
]
ANY_ADAPTER = "async () => (await navigator.gpu?.requestAdapter())?.info.architecture ?? ''"
LOSE = """() => {
  const { createShaderModule } = GPUDevice.prototype;
  GPUDevice.prototype.createShaderModule = function (of) {
    this.destroy();
    Object.assign(GPUDevice.prototype, { createShaderModule });
    return this.createShaderModule(of);
  };
}"""
"""In the page's worker: the device is lost in the next run."""
REFUSE = """() => {
  self.requestAdapter = GPU.prototype.requestAdapter;
  GPU.prototype.requestAdapter = () => Promise.resolve(null);
}"""
Open = Callable[..., Explorer]


@pytest.fixture(scope="module")
def gpu_browser(browser: Browser, exported: Path) -> Iterator[Browser]:
    """Chromium with WebGPU."""
    launched = browser.browser_type.launch(executable_path=find_browser(), args=ARGUMENTS)
    page = launched.new_page()
    page.goto(exported.as_uri())
    if not page.evaluate(ANY_ADAPTER):
        said = "this Chromium offers no WebGPU with SwiftShader"
        if os.environ.get("UOPVIZ_REQUIRE_BROWSER") == "1":
            pytest.fail(said)
        pytest.skip(said)
    page.close()
    yield launched
    launched.close()


@pytest.fixture
def opened(gpu_browser: Browser) -> Iterator[Open]:
    """Opens an address in a page with WebGPU, which is clean at the end."""
    made: list[Explorer] = []

    def make(address: str, *, offline: bool = False) -> Explorer:
        viewport: ViewportSize = {"width": 1600, "height": 960}
        context = gpu_browser.new_context(
            viewport=viewport, reduced_motion="reduce", offline=offline
        )
        context.add_init_script(WATCH)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        made.append(Explorer(context.new_page()))
        made[-1].page.goto(address)
        expect(made[-1].page.locator(".ov")).to_be_visible()
        return made[-1]

    yield make
    for explorer in made:
        explorer.clean()
        explorer.page.context.close()


@pytest.fixture(scope="module")
def exported(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded run as a file."""
    return export(trace, tmp_path_factory.mktemp("webgpu") / "bug.html")


def test_a_kernel_runs_in_an_exported_file_is_edited_and_broken(
    opened: Open, exported: Path, tmp_path: Path
) -> None:
    e = opened(exported.as_uri(), offline=True)
    page = e.page
    page.get_by_role("button", name=re.compile("^Run all kernels here")).click()
    asked = page.get_by_role("alertdialog", name="Code from this file")
    expect(asked).to_contain_text("This runs code from this file")
    asked.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("table", name="Kernels on this GPU")).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Run all kernels here")).click()
    asked.get_by_role("button", name="Run it").click()
    table = page.get_by_role("table", name="Kernels on this GPU")
    again = page.get_by_role("button", name="Run all again")
    expect(again).to_be_visible(timeout=60_000)
    rows = table.locator("tbody tr")
    assert rows.count() > 1
    expect(rows.filter(has_text="✓ equal")).to_have_count(rows.count())
    page.get_by_role("button", name="Copy results as text").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert "swiftshader" in text
    assert text.count("\tequal") == rows.count()

    rows.first.get_by_role("link").click()
    page.keyboard.press("2")
    _run(page)
    expect(page.get_by_role("button", name="Result of the run")).to_contain_text("✓ equal")

    page.keyboard.press("e")
    editor = page.locator(".cm-content").first
    expect(editor).to_be_focused()
    page.keyboard.press("Control+Home")
    page.keyboard.type("let broken = nothing;")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".unrun")).to_contain_text("line 1", timeout=30_000)
    for _ in "let broken = nothing;":
        page.keyboard.press("Backspace")
    line = _into_body(page)
    page.keyboard.type("while (data0[0] == data0[0]) { data0[0] = data0[0]; }")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".unrun")).to_contain_text("This loop may never end", timeout=60_000)
    expect(page.locator(".unrun")).to_contain_text(f"line {line}")
    page.keyboard.press("Shift+Home")
    page.keyboard.type("// as it was")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".unrun")).to_have_count(0)
    expect(page.get_by_role("button", name="Result of the run")).to_contain_text("✓ equal")


def test_a_gpu_that_is_lost_or_missing_is_one_sentence(opened: Open, exported: Path) -> None:
    page = opened(exported.as_uri(), offline=True).page
    page.locator(".ov-kernels .ov-row").first.get_by_role("link").first.click()
    page.keyboard.press("2")
    result = page.get_by_role("button", name="Result of the run")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Run it").click()
    expect(result).to_contain_text("✓ equal", timeout=60_000)
    (worker,) = page.workers
    worker.evaluate(LOSE)
    _run(page)
    expect(page.get_by_text("The GPU was lost: ")).to_be_visible()
    worker.evaluate(REFUSE)
    _run(page)
    expect(page.get_by_text("The browser offers no GPU")).to_be_visible()
    worker.evaluate("() => Object.assign(GPU.prototype, { requestAdapter })")
    _run(page)
    expect(result).to_contain_text("✓ equal")


def test_both_programs_of_the_file_run_in_turn(opened: Open, exported: Path) -> None:
    e = opened(exported.as_uri(), offline=True)
    page = e.page
    page.locator(".ov-kernels .ov-row").first.get_by_role("link").first.click()
    page.get_by_text("Workbench", exact=True).first.click()
    page.get_by_role("radio", name=re.compile("^None")).check()
    page.get_by_role("button", name=re.compile("^Run both")).click()
    page.get_by_role("button", name="Run it").click()
    outputs = page.get_by_role("region", name="Outputs")
    expect(outputs).to_contain_text("Compared", timeout=60_000)
    expect(outputs.locator("tbody tr, .wb-inputs")).not_to_have_count(0)


def test_a_live_page_compiles_for_the_browser_with_opts_of_its_own(
    opened: Open, server: Process
) -> None:
    e = opened(server.url)
    page = e.page
    page.locator(".ov-kernels .ov-row").first.get_by_role("link").first.click()
    page.keyboard.press("2")
    page.get_by_role("button", name="Device and optimizations").click()
    page.get_by_role("dialog").get_by_text("This browser").click()
    page.get_by_role("button", name="Device and optimizations").click()
    page.get_by_role("dialog").get_by_text("None", exact=True).click()
    _run(page)
    result = page.get_by_role("button", name="Result of the run")
    expect(result).to_contain_text("✓ equal", timeout=60_000)
    result.click()
    expect(page.get_by_role("dialog", name="Result of the run")).to_contain_text("swiftshader")


def test_a_captured_step_begins_with_values_of_the_run_and_ends_as_there(
    opened: Open, tmp_path: Path
) -> None:
    """Its loss is what Python computed; with a kernel that does nothing it is another one."""
    losses = tmp_path / "losses.txt"
    setting = {"VIZ_CAPTURE": "TinyJit of *", "LOSSES": str(losses)}
    trace = record(PROGRAMS / "training.py", tmp_path / "training.viz", **setting)
    file = export(trace, tmp_path / "training.html", "--values")
    page = opened(file.as_uri(), offline=True).page
    listed = page.get_by_role("list", name="Captured steps").get_by_role("listitem")
    step, precise = (listed.filter(has_text=f"TinyJit of {name}") for name in ("step", "precise"))
    step.get_by_role("button", name="Run it here").click()
    page.get_by_role("button", name="Run it", exact=True).click()
    expect(step).to_contain_text("✓ as in the run", timeout=60_000)
    expect(step).to_contain_text("recorded.")
    expect(step).not_to_contain_text("generated")
    step.get_by_role("button", name="Copy results of the step as text").click()
    loss = _loss(page)
    wanted = float(losses.read_text().split()[-1])
    assert abs(loss - wanted) <= 1e-4 * abs(wanted)

    precise.get_by_role("button", name="Run it here").click()
    expect(precise).to_contain_text("WebGPU has no float64")

    kernels = step.get_by_role("table", name="Kernels of the step")
    kernels.get_by_role("link", name=re.compile("^r_4_16_12_")).click()
    page.keyboard.press("2")
    page.keyboard.press("e")
    editor = page.locator(".cm-content").first
    expect(editor).to_be_focused()
    _into_body(page)
    page.keyboard.type("return;")
    page.get_by_role("button", name="Overview", exact=True).click()
    step.get_by_role("button", name="Run it again").click()
    expect(step).to_contain_text("≠ differs from the run", timeout=60_000)
    expect(step).to_contain_text("With your text of r_4_16_12_")
    step.get_by_role("button", name="Copy results of the step as text").click()
    assert abs(_loss(page) - wanted) > 1e-2 * abs(wanted)


def _into_body(page: Page) -> int:
    """Opens an empty line at the start of the function that is edited; its number."""
    head = page.locator(".cm-content").first.inner_text().splitlines().index(") {")
    page.keyboard.press("Control+Home")
    for _ in range(head + 1):
        page.keyboard.press("ArrowDown")
    page.keyboard.type("\n")
    page.keyboard.press("ArrowUp")
    return head + 2


def _loss(page: Page) -> float:
    """The only result of one element, in the copied text."""
    text: str = page.evaluate("navigator.clipboard.readText()")
    (found,) = re.findall(r"^b\d+\tfloat32\[1\]\t(\S+)\t", text, re.M)
    return float(found)


def _run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0, timeout=60_000)
