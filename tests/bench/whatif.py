"""The loop of somebody who writes a rule: from saving its file to the comparison on screen.

The run is that of a small program, recorded and served by a copy of the code whose rule is edited;
the page is in real Chromium. What the reader takes to see the notice and to click is not counted:
the click follows at once.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from tests.bench.browser import chromium
from tests.bench.measure import spread, table
from tests.browser.code_copy import RULE, CodeCopy
from tests.browser.served import PROGRAMS, Process

RUNS: Final = 5
HEADER: Final = ("what", "median (best..worst)", "mark")
Row = Sequence[object]
_LONG: Final = 60_000


def figures() -> str:
    """The table."""
    with tempfile.TemporaryDirectory() as folder:
        return table("What if", HEADER, list(_rows(Path(folder))))


def _rows(folder: Path) -> Iterator[Row]:
    copy = CodeCopy(folder / "code")
    trace = copy.run(PROGRAMS / "compared.py")
    with copy.serve(trace) as process, chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(_LONG)
        expect.set_options(timeout=_LONG)
        rows = process.rows()
        kernel = max((row for row in rows if row["label"] == "kernel"), key=lambda r: r["steps"])
        noticed: list[float] = []
        shown: list[float] = []
        keyed: list[float] = []
        for turn in range(RUNS + 1):
            copy.restore()
            _open(page, process, kernel["id"])
            expect(page.locator(".wi-notice")).to_have_count(0)
            begun = time.perf_counter()
            copy.edit(f"UOp.const(red.dtype, {turn + 2} + identity(red.arg, red.dtype))")
            button = page.get_by_role("button", name="this kernel")
            expect(page.locator(".wi-notice")).to_contain_text(f"{RULE} changed")
            noticed.append(time.perf_counter() - begun)
            button.click()
            _compared(page)
            shown.append(time.perf_counter() - begun)
            _open(page, process, kernel["id"])
            begun = time.perf_counter()
            page.keyboard.press("Shift+L")
            _compared(page)
            keyed.append(time.perf_counter() - begun)
        # the first turn is that of a server that has just begun
        yield "saving a rule's file to the notice", _said(noticed[1:]), ""
        yield "saving a rule's file to the comparison of one kernel", _said(shown[1:]), "2 s"
        yield "the same, the first time after the server has started", _said(shown[:1]), ""
        yield "replay of one kernel, key to comparison", _said(keyed[1:]), ""


def _open(page: Page, process: Process, kernel: int) -> None:
    """The page of the kernel."""
    page.goto(f"{process.url.partition('#')[0]}#kernel={kernel}")
    page.reload()
    expect(page.get_by_role("main").first).to_be_visible()
    expect(page.locator(".status")).to_contain_text("Connected")
    page.wait_for_timeout(1500)  # what the page asks for by itself is over


def _compared(page: Page) -> None:
    """Waits for what differs: totals, the kernel, the first step."""
    expect(page.locator(".cmp-totals")).to_be_visible()
    expect(page.locator(".cmp-first .pf")).to_contain_text(re.compile("differ|only in"))


def _said(seconds: Sequence[float]) -> str:
    return spread([1000 * s for s in seconds], 0) + " ms"
