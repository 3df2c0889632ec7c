"""Every kernel of the demo on this machine, one after the other: made as WGSL, and run in an
exported file that Chromium shows, on WEBGPU, OPENCL and the CPU.

All compute on the processor where the drivers are SwiftShader and PoCL. Times are medians of one
launch; a page's are of batches, because browsers make clocks coarse.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from core.compile import compile_kernel
from core.errors import UopvizError
from core.kernelname import kernel_name
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.target import targets
from core.trial.trial import arguments, largest_variables
from core.uop import UOp
from tests import opencl_setup, webgpu_setup
from tests.bench.measure import run, table
from tests.browser_setup import find_browser
from tests.on_targets.collect import kernel_of, lines_of
from tests.on_targets.subject import subject_of
from tests.on_targets.webgpu import ARGUMENTS

DEVICES: Final = {"WEBGPU": webgpu_setup.missing, "OPENCL": opencl_setup.missing, "CPU": str}
"""Beside the page, and what says what they lack on this machine."""
LONGEST: Final = 6
"""Kernels with a row of their own: those that take longest in the page."""
RUNS: Final = 15
_DEMO: Final = Path(__file__).resolve().parents[2] / "examples" / "digits.py"
_UNITS: Final = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
_TIME: Final = re.compile(r"([\d.,]+) (ns|µs|ms|s)")


def figures() -> str:
    """The table, or why there is none."""
    if lacks := webgpu_setup.missing():
        return f"Kernels in the page and on WEBGPU: not measured, there is not {lacks}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        trace, page, kernels = folder / "demo.viz", folder / "demo.html", folder / "kernels"
        kernels.mkdir()
        here = {"XDG_CACHE_HOME": scratch, "DEV": "CPU"}
        run([sys.executable, str(_DEMO)], here | {"VIZ": "-1", "VIZ_TRACE": str(trace)})
        run([sys.executable, "-m", "viz", "export", str(trace), "-o", str(page)], here)
        run([sys.executable, "-m", "tests.on_targets.collect", "demo", str(kernels)], here)
        asts = {kernel_name(ast): ast for ast in map(kernel_of, lines_of(kernels).values())}
        adapter, shown = in_a_page(page)
    made = {name: making(ast) for name, ast in asts.items()}
    names = [name for name, missing in DEVICES.items() if not missing()]
    columns = {name: {n: times(ast, name) for n, ast in asts.items()} for name in names}
    return table(
        f"Kernels of the demo, us: page on {adapter}",
        ["kernel", "WGSL made", "page", *names, *(f"page / {name}" for name in names)],
        rows_of(made, shown, columns),
    )


def making(ast: UOp) -> float:
    """Microseconds of processor time to make the WGSL of a kernel, once another text of it is made:
    what all targets share is computed once, and kept."""
    compile_kernel(ast, targets["gfx1100"])
    start = time.process_time()
    compile_kernel(ast, targets["webgpu"])
    return 1e6 * (time.process_time() - start)


def rows_of(
    made: Mapping[str, float],
    page: Mapping[str, float],
    columns: Mapping[str, Mapping[str, float]],
) -> list[list[object]]:
    """All kernels that every column has, together, then those that take longest in the page."""
    common = [n for n in page if all(n in column for column in columns.values())]
    common.sort(key=lambda n: -page[n])
    groups = [(f"all {len(common)}, one launch of each", common)]
    groups += [(f"`{name}`", [name]) for name in common[:LONGEST]]
    rows: list[list[object]] = []
    for title, names in groups:
        ours = sum(page[n] for n in names)
        others = [sum(column[n] for n in names) for column in columns.values()]
        text = sum(made[n] for n in names)
        values = [f"{value:,.0f}" for value in (text, ours, *others)]
        rows.append([title, *values, *(f"{ours / other:.2f}" for other in others)])
    return rows


def times(ast: UOp, name: str) -> float:
    """Microseconds of one launch on a device: the median of RUNS."""
    device = Device[name]
    assert device.target is not None
    runner = device.load(compile_kernel(ast, device.target))
    buffers = [
        Buffer(name, a.size, u.dtype.base).allocate().copyin(a.data.cast("B"))
        for a, u in zip(subject_of(ast).before, arguments(ast), strict=True)
    ]
    variables = largest_variables(ast)
    found = [runner(buffers, variables, wait=True) or 0.0 for _ in range(RUNS + 2)]
    return 1e6 * statistics.median(found[2:])


def in_a_page(file: Path) -> tuple[str, dict[str, float]]:
    """(the GPU as the page names it, microseconds of each kernel) of an exported file that runs all
    its kernels. Raises UopvizError where a kernel is not equal, or nothing runs."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=[*ARGUMENTS, "--disable-background-networking"]
        )
        context = browser.new_context(offline=True)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(file.as_uri())
        page.get_by_role("button", name=re.compile("^Run all kernels here")).click()
        page.get_by_role("button", name="Run it", exact=True).click()
        page.get_by_role("button", name="Run all again").wait_for(timeout=600_000)
        page.get_by_role("button", name="Copy results as text").click()
        text = str(page.evaluate("navigator.clipboard.readText()"))
        browser.close()
    first, *_ = text.splitlines()
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line][1:]
    if wrong := [row[0] for row in rows if row[4] != "equal"]:
        raise UopvizError(f"not equal in the page: {', '.join(wrong)}")
    return first.partition(": ")[2], {row[0]: microseconds(row[3]) for row in rows}


def microseconds(text: str) -> float:
    """A time as the page writes it."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise UopvizError(f"no time: {text!r}")
    return float(found[1].replace(",", "")) * _UNITS[found[2]]
