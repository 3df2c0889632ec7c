"""What is in memory when it is fullest, and which line of my program made it?"""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import expect

from tests.browser.served import PROGRAMS, Process
from tests.journeys.reader import Reader


def test_the_buffers_at_the_peak(reader: Reader, server: Process) -> None:
    """That is when the last kernel of the first line runs: it reads the product of the one before
    it, while the program holds both matrices."""
    program = (PROGRAMS / "recorded.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(program, 1) if "x @ w" in text)
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    w = np.ones((8, 8), dtype=np.float32)
    product = np.maximum(x @ w, 0)
    sums = product.sum(axis=1) + 1
    peak = sum(value.nbytes for value in (x, w, product, sums))
    names = {k["calls"]: k["name"] for k in server.get("overview")["kernels"]}

    reader.opens(server.url)
    reader.clicks(f"{peak} B", role="link", within="Course of the run")
    selection = reader.page.get_by_role("region", name="Selection")
    reader.sees(f"Allocated{peak} B the peak", selection).sees("In4 buffers", selection)
    assert reader.actions == 1

    buffers = reader.page.get_by_role("list", name="Buffers in memory").get_by_role("listitem")
    expect(buffers).to_have_count(4)
    for shown, value in zip(buffers.all(), (x, w, product, sums), strict=True):
        expect(shown).to_have_text(re.compile(rf"^{value.nbytes} B"))
    for shown in buffers.all()[:2]:
        reader.sees("data of the program", shown)
    for shown, calls in zip(buffers.all()[2:], ("matmul, relu", "sum, add"), strict=True):
        reader.sees(names[calls], shown)
        for call in calls.split(", "):
            reader.sees(f"recorded.py:{line}{call}", shown)

    # before it, only its own result was missing; the kernel of a buffer is one action away
    reader.clicks("Change before", within=selection)
    reader.sees(f"Allocated{peak - sums.nbytes} B", selection)
    expect(buffers).to_have_count(3)
    reader.clicks(names["matmul, relu"], within=buffers.last)
    reader.sees(names["matmul, relu"], selection).sees("Callsmatmul, relu", selection)
