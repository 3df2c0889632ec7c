"""My result is wrong, and no rule of mine: one of a schedule is, or one of PTX. Which one? In at
most four actions."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.browser.wrong import broken_copy, recorded_with, served_by
from tests.journeys.reader import SLOW, Reader

PROMISED: Final = 4
PLANTED: Final = {
    "schedule": (
        "core/passes/schedule/kernels/views.py",
        "return x.view(inner.arg + outer.arg)",
        "return x.view(outer.arg + inner.arg)",
        "wrong_view.py",
        "merge_views",
    ),
    "PTX": (
        "core/passes/ptx/bools.py",
        "return negated(a) & b",
        "return a & negated(b)",
        "wrong_ptx.py",
        "smaller_bool",
    ),
}
"""The file, what stands there, the mistake, the program, and the rule."""


@pytest.mark.parametrize("where", PLANTED)
def test_from_a_wrong_result_to_the_rule(
    reader: Reader, tmp_path_factory: pytest.TempPathFactory, where: str
) -> None:
    file, right, wrong, program, rule = PLANTED[where]
    copy = broken_copy(tmp_path_factory.mktemp("wrong") / "copy", file, right, wrong)
    with served_by(copy, recorded_with(copy, copy.parent / "wrong.viz", program)) as server:
        reader.opens(server.url)
        control = reader.explorer.subject.get_by_role("button", name=re.compile("^Check: "))
        expect(control).to_be_visible()
        reader.presses("c")
        reader.clicks("Find it in the run")
        answer = reader.page.get_by_role("region", name="Which step is wrong")
        reader.sees(rule, answer, timeout=SLOW)
        reader.clicks("Show the wrong step", within=answer)
        expect(answer).to_have_count(0)
        assert reader.actions == 3 <= PROMISED
        inspector = reader.explorer.inspector
        expect(inspector.get_by_role("heading", name=rule, level=2)).to_be_visible()
        reader.sees(wrong, inspector)
