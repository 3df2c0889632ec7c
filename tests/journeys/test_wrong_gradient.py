"""My gradient is wrong: which derivative is to blame? In at most four actions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.served import Process
from tests.browser.wrong import broken_copy, recorded_with, served_by
from tests.journeys.reader import SLOW, Reader

PROMISED: Final = 4
RIGHT: Final = "return (ctx * x.cos(),)"
WRONG: Final = "return (-ctx * x.cos(),)"


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A program that a compiler ran in which the derivative of the sine has the wrong sign."""
    copy = broken_copy(
        tmp_path_factory.mktemp("wrong") / "copy", "core/gradients/gradient.py", RIGHT, WRONG
    )
    trace = recorded_with(copy, copy.parent / "wrong.viz", "gradient.py")
    with served_by(copy, trace) as server:
        yield server


def number(reader: Reader, name: str, within: Locator) -> float:
    """The number beside a name, in a list of names and values."""
    shown = within.get_by_role("term").filter(has_text=re.compile(rf"^{name}$"))
    return float(shown.locator("xpath=following-sibling::dd[1]").first.inner_text())


def test_from_a_wrong_gradient_to_its_rule(reader: Reader, wrong: Process) -> None:
    reader.opens(wrong.url)
    control = reader.explorer.subject.get_by_role("button", name=re.compile("^Check: "))
    expect(control).to_be_visible()
    reader.presses("c")
    reader.clicks("Find it in the run")
    answer = reader.page.get_by_role("region", name="Which step is wrong")
    reader.sees("d sin(x) = cos(x) dx", answer, timeout=SLOW)
    reader.sees("differences of the operation give another derivative", answer)
    x, gradient, before, after = (
        number(reader, name, answer) for name in ("source 0", "gradient", "Before", "After")
    )
    assert before == pytest.approx(np.cos(x) * gradient, rel=1e-4)  # as NumPy has it
    assert after == pytest.approx(-before)
    reader.clicks("Show the wrong step", within=answer)
    expect(answer).to_have_count(0)
    assert reader.actions == 3 <= PROMISED

    inspector = reader.explorer.inspector
    expect(inspector.get_by_role("heading", name="sin", level=2)).to_be_visible()
    reader.sees(WRONG, inspector)
    reader.sees("differences of the operation give another derivative", inspector)
    reader.sees("GRADIENT")
