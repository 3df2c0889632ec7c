"""My kernel computes the wrong thing: which rule is to blame? In at most four actions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.served import Process
from tests.browser.wrong import RULE, WRONG, broken_copy, recorded_with, served_by
from tests.journeys.reader import SLOW, Reader

PROMISED: Final = 4


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiler in which the accumulator of a sum begins with 1."""
    return broken_copy(tmp_path_factory.mktemp("wrong") / "copy")


@pytest.fixture(scope="module")
def wrong(copy: Path) -> Iterator[Process]:
    """A product of matrices that it compiled: each element is too large by 1."""
    with served_by(copy, recorded_with(copy, copy.parent / "wrong.viz")) as server:
        yield server


def names_the_rule(reader: Reader) -> Locator:
    """Waits for the answer, which names the rule, and the value as NumPy has it."""
    answer = reader.page.get_by_role("region", name="Which step is wrong")
    reader.sees(f"Rule{RULE}", answer, timeout=SLOW)
    reader.sees("agrees with the reference", answer)  # before the step
    reader.sees("data0 is off by up to 1,", answer)  # after it
    shown = re.search(r"(\S+) in place of (\S+)$", answer.inner_text().strip(), re.MULTILINE)
    assert shown is not None
    assert np.float32(shown[1]) - np.float32(shown[2]) == pytest.approx(1, abs=1e-5)
    return answer


def shows_the_mistake(reader: Reader, copy: Path) -> None:
    """Goes to the step; the rule's source there has the mistake."""
    answer = reader.page.get_by_role("region", name="Which step is wrong")
    reader.clicks("Show the wrong step", within=answer)
    expect(answer).to_have_count(0)
    lines = (copy / "core/passes/loops/reduce.py").read_text().splitlines()
    (mistake,) = (line.strip() for line in lines if WRONG in line)
    heading = reader.explorer.inspector.get_by_role("heading", name=RULE, level=2)
    expect(heading).to_be_visible()
    reader.sees(mistake, reader.explorer.inspector)


def test_from_a_wrong_result_to_its_rule(reader: Reader, wrong: Process, copy: Path) -> None:
    reader.opens(wrong.url)
    reader.clicks("matmul", role="link", within="Kernels")
    reader.clicks("Run")
    reader.sees("differs", reader.page.get_by_role("table", name="Runs of this kernel"), SLOW)
    reader.clicks("Which step is wrong?")
    names_the_rule(reader)
    assert reader.actions == 3
    shows_the_mistake(reader, copy)
    assert reader.actions == PROMISED

    # the answer stays with the checks until it is no longer wanted
    reader.gives("Input graph")
    reader.presses("c")
    answer = names_the_rule(reader)
    reader.clicks("Clear", within=answer)
    reader.sees_no(RULE, answer)


def test_from_the_overview_to_the_wrong_step(reader: Reader, wrong: Process, copy: Path) -> None:
    """Nothing was run, and no kernel is suspected: in the whole run."""
    reader.opens(wrong.url)
    control = reader.explorer.subject.get_by_role("button", name=re.compile("^Check: "))
    expect(control).to_be_visible()
    reader.presses("c")
    reader.clicks("Find it in the run")
    names_the_rule(reader)
    shows_the_mistake(reader, copy)
    assert reader.actions == 3 <= PROMISED


def test_from_the_workbench_to_the_rule(reader: Reader, wrong: Process, copy: Path) -> None:
    """Original and edited agree, and neither is right."""
    reader.opens(wrong.url)
    reader.clicks("matmul", role="link", within="Kernels")
    reader.goes_to("Workbench")
    both = reader.page.get_by_role("button", name=re.compile("^Run both"))
    expect(both).to_be_enabled(timeout=SLOW)
    reader.presses("Control+Enter")
    outputs = reader.page.get_by_role("region", name="Outputs")
    reader.sees("both wrong: Normal, seed 0", outputs, SLOW)
    said = "Both agree. The original differs from the reference, the edited kernel differs from it"
    row = outputs.get_by_role("row", name="Normal, seed 0")
    expect(row.get_by_role("img", name=said)).to_have_text("≠")
    reader.clicks("Which step is wrong?", within="Outputs")
    names_the_rule(reader)
    assert reader.actions == PROMISED
    shows_the_mistake(reader, copy)
