"""What differs between two runs, where do they begin to differ, and what did it do to the code?"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Locator, expect

from tests.browser.explorer import lines_with
from tests.browser.served import Process, serve
from tests.journeys.reader import Reader
from tests.states.scenes import pair

RULE: Final = "multiply_add"
"""Left out of the second run."""
FUSED: Final = "fma.rn.f32"
"""PTX ISA: a * b + c, rounded once. It is what the rule makes a product and a sum into."""
APART: Final = ("mul.rn.f32", "add.rn.f32")


def matches(server: Process, run: str) -> int:
    """How often the rule matched in a run."""
    rules = server.get("rules", run)
    return sum(rule["matches"] for rule in rules if rule["name"] == RULE)


def ptx_of(server: Process, run: str, kernel: int) -> list[tuple[str, tuple[int, ...]]]:
    """Each instruction in the PTX of a kernel, and the nodes of its AST that it comes from."""
    artifacts: list[dict[str, Any]] = server.get(f"kernels/{kernel}", run)["artifacts"]
    (ptx,) = (a for a in artifacts if a["kind"] == "ptx")
    lines = zip(ptx["text"].splitlines(), ptx["origins"], strict=True)
    return [(line.split()[0], tuple(sorted(nodes))) for line, nodes in lines if line.strip()]


def instructions(server: Process, run: str, kernel: int) -> Counter[str]:
    """How often each instruction stands in the PTX of a kernel."""
    return Counter(instruction for instruction, _ in ptx_of(server, run, kernel))


def relatives(server: Process, run: str, kernel: int, instruction: str) -> set[str]:
    """The instructions that come from exactly the same nodes as the first one of this name."""
    lines = ptx_of(server, run, kernel)
    origin = next(nodes for name, nodes in lines if name == instruction)
    return {name for name, nodes in lines if nodes == origin}


def stand_apart(words: Locator) -> bool:
    """Whether there is some room between words that stand on one line."""
    boxes = [box for word in words.all() if (box := word.bounding_box())]
    return all(a["x"] + a["width"] + 6 <= b["x"] for a, b in pairwise(boxes))


def test_from_two_runs_to_the_rule_and_its_instructions(reader: Reader, tmp_path: Path) -> None:
    before, after = pair(tmp_path)
    with serve(before, beside=[after]) as server:
        fired = matches(server, "A")
        assert fired > 0
        assert matches(server, "B") == 0
        reader.opens(server.url)  # as `uopviz open before.viz after.viz` prints it
        rules = reader.page.get_by_role("region", name="Rules that fire more or less")
        reader.sees(RULE, rules).sees(f"{fired} → 0", rules).sees("no longer fires", rules)
        (changed,) = (s for s in server.ask("compare/A/B")["scopes"] if s["state"] == "changed")
        reader.sees(changed["name"]["a"], "Kernels").sees("more are equal", "Kernels")

        # of its text all that was fused is gone, and as many products and sums have come
        ours = instructions(server, "A", changed["a"])
        theirs = instructions(server, "B", changed["b"])
        assert ours[FUSED] == fired
        assert theirs[FUSED] == 0
        ptx = reader.page.get_by_role("region", name=re.compile("^PTX for"))
        expect(ptx.locator(".cm-line.cm-gone, .cm-line.cm-come").first).to_be_visible()
        assert len(lines_with(ptx, re.escape(FUSED), ".cm-gone")) == fired
        for instruction in APART:
            more = theirs[instruction] - ours[instruction]
            assert more == fired
            assert len(lines_with(ptx, re.escape(instruction), ".cm-come")) == more
        assert reader.actions == 0, "all of this is said at once"

        # the first step that differs is the first one of the rule, in that kernel
        reader.sees(f"{changed['name']['a']} / decompose: fuse / 1", "First step that differs")
        reader.clicks("Go there", within="First step that differs")
        walk = reader.page.get_by_role("main", name="Two passes in step")
        reader.sees(f"step 1 of {fired}", walk).sees(f"by {RULE}", walk)
        reader.sees("no match here: stands still", walk)
        counts = walk.locator(".pf > span").filter(has_text="only in")
        expect(counts).to_have_count(2)
        assert stand_apart(counts)
        reader.presses("s", "k")  # both texts, and the node that the rule made
        expect(ptx.locator(".cm-line.cm-hit").first).to_be_visible()
        marked = Counter(line.split()[0] for line in lines_with(ptx, "", ".cm-hit"))
        assert marked[FUSED] == marked[APART[1]] == fired
        assert marked.keys() == relatives(server, "A", changed["a"], FUSED) | relatives(
            server, "B", changed["b"], APART[1]
        )
        assert reader.actions == 3
        reader.page.goto("about:blank")  # asks nothing of a server that ends with its test
