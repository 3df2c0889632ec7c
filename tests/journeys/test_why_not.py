"""Why did my rule not fire at this node? From the overview to the part of its pattern that does not
fit."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Locator, expect

from core.dtype import dtypes
from core.passes.decompose.fuse import multiply_add
from core.uop import Ops, UOp
from core.uop.engine.explain import Misfits, misfit
from tests.browser.served import Process
from tests.browser.test_keys import focus_of
from tests.journeys.reader import SLOW, Reader

PASS: Final = "decompose: fuse"


def kernel_of(server: Process, calls: str) -> str:
    """The name of the kernel that these calls became."""
    (name,) = (k["name"] for k in server.get("overview")["kernels"] if k["calls"] == calls)
    return str(name)


def asks(reader: Reader, node: str, kernel: str, where: str) -> Locator:
    """Looks for a node of a kernel by its shape, and asks why `multiply_add` did not fire there;
    the answer. `where`: the end of the hit's line, its pass or how many it goes through."""
    reader.presses("/").types(node)
    said = reader.explorer.navigator.get_by_role("status")
    expect(said).to_have_text(re.compile(r"^\d+ hits?(, \d+ compiled for others)?$"))  # all of them
    hits = reader.page.get_by_role("listbox", name="Search results").get_by_role("option")
    head = f"preceding-sibling::*[@role='presentation'][1][normalize-space()='{kernel}']"
    of_kernel = hits.and_(reader.page.locator(f"xpath=//*[{head}]"))
    reader.clicks_on(of_kernel.filter(has_text=re.compile(f"{where}$")).first)
    reader.waits_for_a_graph().presses("w")
    inspector = reader.explorer.inspector
    expect(inspector.get_by_role("combobox", name="Rule that did not fire")).to_be_focused()
    expect(inspector.get_by_role("group", name="Near at this node")).to_be_visible(timeout=SLOW)
    reader.types(multiply_add.name)
    expect(inspector.get_by_role("option").first).to_contain_text(multiply_add.name)
    reader.presses("Enter")
    return inspector.get_by_role("region", name=f"Why {multiply_add.name} did not fire")


def tabs_to(reader: Reader, name: str) -> None:
    """Presses Tab until the control whose name begins so has the focus."""
    for _ in range(40):
        reader.presses("Tab")
        focus = focus_of(reader.explorer)
        if focus is not None and focus["name"].startswith(name):
            return
    raise AssertionError(f"Tab does not come to {name}")


def test_the_pattern_does_not_fit(reader: Reader, server: Process) -> None:
    """What stands beside the 1 in `.sum(axis=1) + 1` is no product."""
    a, b = (UOp.variable(name, 0, 9).cast(dtypes.float) for name in "ab")
    said = misfit(multiply_add.pattern, a.alu(Ops.ADD, b) + 1.0)
    assert isinstance(said, Misfits)
    reader.opens(server.url)
    reader.goes_to("Graphs")
    kernel = kernel_of(server, "sum, add")
    answer = asks(reader, "ADD(ADD, CONST 1.0)", kernel, r"simplify, in \d+ passes")
    expect(answer).to_be_focused()
    assert reader.actions == 7
    reader.sees("Not a rule of this pass", answer, timeout=SLOW)  # the first that has the node
    reader.clicks(PASS, within=answer)  # the same question in the nearest that has the rule
    reader.sees(PASS, reader.page.get_by_role("navigation", name="Subject"))
    assert reader.actions == 8
    reader.sees("The pattern does not fit", answer, timeout=SLOW)
    reader.sees(f"Expected{said.expected}", answer)
    reader.sees(f"Found{said.found}", answer)

    # the part that differs is one of those that are listed, and leads to its node
    parts = answer.get_by_role("list", name="Parts of the pattern").get_by_role("listitem")
    expect(parts.filter(has=reader.page.get_by_label("fits", exact=True))).to_have_count(
        len(said.fitted)
    )
    wrong = parts.filter(has=reader.page.get_by_label("does not fit", exact=True))
    reader.sees(said.expected, wrong)
    node = wrong.get_by_role("button").inner_text()
    assert node.endswith(said.found)
    tabs_to(reader, node)
    reader.presses("Enter")
    reader.sees(node.split()[0], reader.explorer.inspector.locator(".why-asked"))


def test_it_did_fire(reader: Reader, server: Process) -> None:
    """Of the series for `.exp2()`, the last term is a product and a 1: the last that is fused."""
    kernel = kernel_of(server, "max, exp2")
    rows = server.rows()
    (row,) = (r for r in rows if r["name"] == PASS and rows[r["parent"]]["name"] == kernel)
    bundle = server.get(f"rewrites/{row['id']}")
    last, ids = bundle["steps"][-1], bundle["nodes"]["id"]
    reader.opens(server.url)
    reader.goes_to("Graphs")
    answer = asks(reader, "ADD(MUL, CONST 1.0)", kernel, PASS)
    said = f"{multiply_add.name} did fire, at step {row['steps']}: "
    said += f"u{ids[last['before']]} became u{ids[last['after']]}"
    reader.sees(said, answer, timeout=SLOW)
    reader.clicks(f"Go to step {row['steps']}", within=answer)
    reader.explorer.at_step(row["steps"])
    assert reader.actions == 8
