"""What is done to my kernel for a GPU that I do not have? Its passes are compiled and stepped."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import expect

from core.passes.pipeline import TEXT_PASSES
from core.passes.ptx.memory import read_only_load
from core.passes.ptx.operands import addressing
from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader

TARGET: Final = "sm_89"
READ_ONLY: Final = "ld.global.nc."
"""PTX ISA: a load from memory that is read-only while the kernel runs."""
OF_PTX: Final = [one.name for one in TEXT_PASSES["ptx"]]
MEMORY, OPERANDS = "ptx: memory", "ptx: operands"


def passes_for(server: Process, target: str) -> list[dict[str, Any]]:
    """The passes of the kernel that was compiled for a target, as the server lists them."""
    rows = server.rows()
    (root,) = (row for row in rows if row["target"] == target)
    return [row for row in rows if row["parent"] == root["row"] and row["kind"] == "rewrite"]


def ptx_for(server: Process, target: str) -> str:
    """The PTX of that kernel."""
    rows = server.rows()
    (root,) = (row for row in rows if row["target"] == target)
    made = server.get(f"kernels/{rows[root['parent']]['id']}")["artifacts"]
    (text,) = (str(a["text"]) for a in made if (a["kind"], a["target"]) == ("ptx", target))
    return text


def test_passes_of_another_target(reader: Reader, server: Process) -> None:
    reader.opens(server.url)
    reader.clicks("sum, add", role="link", within="Kernels")
    reader.goes_to("Graphs")
    reader.waits_for_a_graph()
    reader.clicks(re.compile(r"^Compile for \d+ other targets"), role="treeitem")
    reader.clicks(f"{TARGET} compile", role="treeitem")
    subject = reader.page.get_by_role("navigation", name="Subject")
    expect(subject).to_contain_text(TARGET, timeout=SLOW)
    reader.waits_for_a_graph()
    assert reader.actions == 4

    # those of PTX come last, in the order of the pipeline; what changed something has its steps
    passes = passes_for(server, TARGET)[-len(OF_PTX) :]
    assert [row["name"] for row in passes] == OF_PTX
    steps = {row["name"]: row["steps"] for row in passes if row["steps"]}
    assert list(steps) == [MEMORY, OPERANDS]
    for name, count in steps.items():
        named = f"{name} Check: not checked {count}"
        line = reader.page.get_by_role("treeitem", name=named, exact=True)
        expect(line).to_be_visible()

    # the kernel reads its argument only: as many steps as loads of that kind in the text
    reader.clicks(re.compile(f"^{MEMORY}"), role="treeitem")
    rule = reader.explorer.inspector.get_by_role("heading", level=2)
    expect(rule).to_have_text(read_only_load.name)
    reader.sees(f"step 1 of {steps[MEMORY]}", "Subject")
    assert ptx_for(server, TARGET).count(READ_ONLY) == steps[MEMORY]

    # on to the next pass, and through it to its end
    reader.presses("]")
    reader.sees(OPERANDS, "Subject")
    known = re.compile("|".join(rf"^{one.name}$" for one in addressing.rules))
    for step in range(1, steps[OPERANDS] + 1):
        reader.explorer.at_step(step)
        expect(rule).to_have_text(known)
        reader.presses("ArrowRight")
    reader.explorer.at_step(steps[OPERANDS])
    assert reader.actions == 6 + steps[OPERANDS]
