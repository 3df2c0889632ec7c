"""What if this instruction did something else? A kernel's text, edited and run on the CPU."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader


def test_an_edited_text_differs_by_what_was_edited(reader: Reader, server: Process) -> None:
    """The kernel adds 1 to the sums of rows. With 3 in its place each result is larger by 2."""
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    (off,) = set((x.sum(axis=1) + 3) - (x.sum(axis=1) + 1))
    reader.opens(server.url)
    reader.clicks("sum, add", role="link", within="Kernels")
    ptx = reader.page.get_by_role("region", name="PTX for sm_90", exact=True)
    expect(ptx.get_by_role("button", name="Edit", exact=True)).to_be_visible(timeout=SLOW)
    reader.presses("e")
    editor = reader.page.get_by_role("textbox", name=re.compile("^LLVM IR source, edited"))
    expect(editor).to_be_focused(timeout=SLOW)
    line = editor.locator(".cm-line").filter(has_text="1.000000e+00")
    for _ in range(30):  # the page has the lines that are in view
        if line.count():
            break
        reader.presses("PageDown")
    text = line.inner_text()
    reader.clicks_on(line)
    reader.presses("Home", "Shift+End")
    reader.types(text.strip().replace("1.000000e+00", "3.000000e+00"))
    changes = reader.page.get_by_role("region", name="Changed lines")
    reader.sees(text.strip(), changes.locator(".ln.dd"))
    reader.sees("3.000000e+00", changes.locator(".ln.da"))
    reader.presses("Control+Enter")
    result = reader.page.get_by_role("button", name="Result of the run")
    reader.sees("differs", result, timeout=SLOW)
    reader.clicks("Result of the run")
    card = reader.page.get_by_role("dialog", name="Result of the run")
    reader.sees("Differs from the reference", card)
    wrong = re.search(r"off by up to ([\d.]+),.* is 0: (\S+) in place of (\S+)", card.inner_text())
    assert wrong is not None
    largest, found, right = map(float, wrong.groups())
    assert largest == pytest.approx(off, rel=1e-3)
    assert found - right == pytest.approx(off, rel=1e-3)
    runs = card.get_by_role("table", name="Runs of this kernel").locator("tbody tr")
    assert [row.inner_text().split()[:2] for row in runs.all()] == [
        ["CPU", "auto"],
        ["CPU", "edited"],
    ]
    reader.sees("equal", runs.first)
    reader.sees("differs", runs.last)
