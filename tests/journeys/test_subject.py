"""The Graphs tab opens what is looked at: the kernel of the page that one comes from."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.journeys.reader import Reader


def test_the_tabs_keep_the_kernel(reader: Reader, server: Any) -> None:
    """Each kernel's page, then Graphs, Emulator and Workbench: the subject is that kernel."""
    lines = server.get("overview")["kernels"]
    subject = reader.page.get_by_role("navigation", name="Subject")
    for line in (lines[-1], lines[0]):
        reader.opens(f"{server.url}#kernel={line['context']}")
        expect(reader.page.locator(".kp .ov-counts")).to_contain_text(line["name"])
        for tab in ("Graphs", "Emulator", "Workbench"):
            reader.goes_to(tab)
            kernel = subject.get_by_role("button", name=re.compile(f"^Kernel {line['name']}"))
            expect(kernel).to_be_visible()
        reader.goes_to("Graphs")
        reader.waits_for_a_graph()
        row = next(r for r in server.rows() if r["id"] == int(reader.explorer.address("r") or 0))
        kernel = next(r for r in server.rows() if r["row"] == row["parent"])
        assert kernel["name"] == line["name"]
