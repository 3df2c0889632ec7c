"""My compilation took 300,000 steps. Can I still open the one that I look for?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.served import Process, serve
from tests.journeys.long import KERNELS, PASSES, STEPS, long_run
from tests.journeys.reader import SLOW, Reader

ALL: Final = KERNELS * PASSES * STEPS


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Process]:
    """Serves a run in which each step of a pass adds a node, by two rules in turn."""
    with serve(long_run(tmp_path_factory.mktemp("long") / "long.viz")) as process:
        yield process


def is_at(reader: Reader, step: int, rule: str) -> None:
    """The step is shown: its number, its rule, and a graph of as many sums and one constant."""
    reader.explorer.at_step(step)
    expect(reader.explorer.scope).to_have_text(re.compile(rf" of {step + 1}$"), timeout=SLOW)
    expect(reader.explorer.inspector.get_by_role("heading", level=2)).to_have_text(rule)


def test_a_step_in_the_middle_and_the_last(reader: Reader, endless: Process) -> None:
    kernel, turn, step = KERNELS // 2, PASSES // 2, STEPS // 2
    reader.opens(endless.url)
    reader.sees(f"{ALL:,} steps", reader.page.locator(".ov-counts"), timeout=SLOW)
    for crumb, wanted in (
        (f"Open one of {KERNELS} kernels", f"kernel_{kernel}"),
        (re.compile("^Pass "), f"pass {turn}"),
        (re.compile("^Step "), str(step)),
    ):
        reader.clicks(crumb, within="Subject").types(wanted).presses("Enter")
    is_at(reader, step, "grow")
    assert reader.actions == 9, "kernel, pass and step: a click, a word and Enter each"
    reader.presses("ArrowRight")
    is_at(reader, step + 1, "fold")
    row = next(row for row in endless.rows() if str(row["id"]) == reader.explorer.address("r"))
    parent = next(other for other in endless.rows() if other["row"] == row["parent"])
    assert (parent["name"], row["name"]) == (f"kernel_{kernel}", f"pass {turn}")

    reader.presses("Control+k").types("rare")
    reader.clicks(re.compile(f"pass {PASSES - 1}, kernel_{KERNELS - 1}"), role="option")
    reader.sees(f"kernel_{KERNELS - 1}", "Subject")
    reader.waits_for_a_graph()
    is_at(reader, STEPS, "rare")
    expect(reader.page.get_by_role("button", name="Last step")).to_be_disabled()
    reader.sees("1 in this pass, 1 in the run", reader.explorer.inspector)
    reader.presses("f", "ArrowLeft")  # no longer this rule alone
    is_at(reader, STEPS - 1, "fold")
