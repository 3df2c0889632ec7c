"""What does this rule do for my kernel? It is left out, compiled, run and compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import expect

from tests.browser.explorer import lines_with
from tests.browser.served import PROGRAMS, Process, record, serve
from tests.journeys.reader import SLOW, Reader

RULE: Final = "multiply_add"
FUSED: Final = "@llvm.fma."
APART: Final = (" = fmul ", " = fadd ")
"""LLVM IR: a * b + c, rounded once, and what is there without the rule."""
NEEDED: Final = "reduce_in_loop"
"""A rule without which the kernel cannot be compiled: it is left out where that is possible."""


def text_of(server: Process, run: str) -> str:
    """The LLVM IR of the product in a run."""
    rows = server.get("tree", run)["rows"]
    kernel = next(r for r in rows if r["label"] == "kernel" and r["name"].startswith("r_"))
    artifacts: list[dict[str, Any]] = server.get(f"kernels/{kernel['id']}", run)["artifacts"]
    (text,) = (str(a["text"]) for a in artifacts if a["kind"] == "llvm")
    return text


def test_a_rule_is_left_out_and_compared(reader: Reader, tmp_path: Path) -> None:
    with serve(record(PROGRAMS / "whatif.py", tmp_path / "run.viz")) as server:
        reader.opens(server.url)
        reader.clicks("matmul", role="link", within="Kernels")
        reader.goes_to("Graphs")
        reader.waits_for_a_graph()
        reader.clicks(re.compile("^decompose: fuse"), role="treeitem")
        heading = reader.explorer.inspector.get_by_role("heading", name=RULE)
        expect(heading).to_be_visible()
        reader.presses(".")
        reader.clicks("Leave this rule out of the kernel", within="Actions")
        reader.sees(f"What if without {RULE}", "Notice")
        reader.clicks("Compile and compare", within="Notice")
        comparison = reader.page.get_by_role("main", name="Comparison")
        expect(comparison).to_be_visible(timeout=SLOW)
        assert reader.actions == 6
        reader.sees("Its result is equal", "Notice")

        # nothing else fires less, and each operation that was fused is two
        own, other = text_of(server, "A"), text_of(server, "B")
        fired = own.count(f" {FUSED}")
        rules = comparison.get_by_role("region", name="Rules that fire more or less")
        expect(rules.locator("[data-line]")).to_have_count(1)
        reader.sees(RULE, rules).sees(f"{fired} → 0", rules)
        ir = comparison.get_by_role("region", name=re.compile("^LLVM IR"))
        expect(ir.locator(".cm-line.cm-gone, .cm-line.cm-come").first).to_be_visible()
        assert len(lines_with(ir, re.escape(FUSED), ".cm-gone")) == fired
        for instruction in APART:
            more = other.count(instruction) - own.count(instruction)
            assert more == fired
            assert len(lines_with(ir, instruction, ".cm-come")) == more
        # the variant has not recorded the program's lines: nothing is said of these
        expect(comparison.get_by_role("region", name=re.compile("^Python"))).to_have_count(0)
        reader.sees_no("different programs", comparison)

        # it computes the same
        reader.clicks("All variants", within="Notice")
        variants = reader.page.get_by_role("table", name="Variants of this kernel")
        first = variants.get_by_role("row", name="Choose variant 1")
        reader.sees(f"without {RULE}", first).sees("equal", first)
        (made,) = server.get("variants")
        before, after = (made[code]["instructions"] for code in ("oldCode", "code"))
        reader.sees(f"{before} → {after}", first)
        assert reader.actions == 7

        # another one, and both against each other
        reader.clicks("Change the next variant")
        form = reader.page.get_by_role("form", name="The next variant")
        reader.clicks(f"Use {RULE} again", within=form)
        reader.clicks_on(form.get_by_label("Rule to leave out")).types(NEEDED).presses("Enter")
        reader.clicks("Compile and run", within=form)
        second = variants.get_by_role("row", name="Choose variant 2")
        expect(second).to_be_visible(timeout=SLOW)
        reader.sees("cannot do without what was changed: left out", variants)
        for row in (first, second):
            reader.clicks(re.compile("^Choose variant"), role="checkbox", within=row)
        reader.clicks("Compare 1 and 2")
        expect(comparison).to_be_visible(timeout=SLOW)
        assert (reader.explorer.address("ca"), reader.explorer.address("cb")) == ("B", "C")
        reader.page.goto("about:blank")  # asks nothing of a server that ends with its test
