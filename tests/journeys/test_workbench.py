"""Is my kernel faster with this optimization? It is taken out, and both run in turn."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader

OPT: Final = "UPCAST axis 1, 8"
"""The kernel computes 8 neighbours of a row at once, as one vector of 8 floats."""
WIDE, NARROW = "alloca [64 x float]", "alloca [8 x float]"
"""The sums of all elements at once, and of those of a column."""
SIDE: Final = 8
"""Rows and columns of both matrices."""
JOB: Final = re.compile(r"/api/(jobs/\d+)")
"""Of what the page asks: how far something is, and what came of it."""


def test_an_optimization_is_taken_out(reader: Reader, server: Process) -> None:
    jobs: set[str] = set()
    reader.page.on("request", lambda request: jobs.update(JOB.findall(request.url)))
    reader.opens(server.url)
    reader.clicks("matmul, relu", role="link", within="Kernels")
    reader.goes_to("Workbench")
    opts = reader.page.get_by_role("region", name="Optimizations")
    text = reader.page.get_by_role("region", name="Text of the kernel")
    reader.sees(WIDE, text, SLOW).sees_no(NARROW, text)
    reader.clicks(OPT, role="checkbox", within=opts)
    reader.sees("Changed by you", opts)
    reader.sees(NARROW, text, SLOW).sees_no(WIDE, text)
    run = re.compile("^Run both")
    expect(reader.page.get_by_role("button", name=run)).to_be_enabled(timeout=SLOW)
    reader.clicks(run)
    time = reader.page.get_by_role("region", name="Time, edited over original")
    reader.sees(re.compile(r"\d×"), time, SLOW)
    assert reader.actions == 4

    # the ratio is the median of those of the turns
    results = [server.ask(job)["result"] for job in jobs]
    (result,) = (one for one in results if one and "times" in one)
    times = result["times"]
    original, edited = (np.array(times[side]["us"]) for side in ("original", "edited"))
    assert np.median(edited / original) == pytest.approx(times["ratio"], rel=0.005)
    reader.sees(f"{times['ratio']:.2f}×", time)
    reader.sees(f"95% interval {times['low']:.2f} – {times['high']:.2f}", time)
    reader.sees(f"{len(original)} pairs, in turn", time)
    figures = reader.page.get_by_role("region", name="Original and edited compared")
    for name in ("Median", "p10 to p90", "Throughput", "Bandwidth", "Code size"):
        reader.sees(re.compile(r"\d"), figures.get_by_role("row", name=name))

    # both compute the same, which is 2 operations for each element and column
    assert result["flops"] == 2 * SIDE**3
    reader.sees(f"{result['flops'] / 1000:.2f} kFLOP")
    outputs = reader.page.get_by_role("region", name="Outputs")
    agree = outputs.get_by_role("img", name=re.compile("^Both agree"))
    expect(agree).to_have_count(len(result["inputs"]))
    reader.sees(f"{SIDE * SIDE} (100%)", outputs.get_by_role("definition").nth(1))
    reader.sees(f"{times['ratio']:.2f}×", "Variants")
