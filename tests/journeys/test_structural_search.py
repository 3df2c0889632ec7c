"""Where is there a product with a constant? Nodes are found by their shape, in all passes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.browser.served import PROGRAMS, Process, record, serve
from tests.journeys.reader import SLOW, Reader
from viz.views.runs.process import is_compiled

SHAPE: Final = "MUL(x, CONST 8)"
TARGET: Final = "sm_86"


def has_it(bundle: dict[str, Any]) -> bool:
    """Whether a graph of a pass has a product with the constant 8."""
    nodes, ops, args = bundle["nodes"], bundle["ops"], bundle["args"]

    def is_eight(node: int) -> bool:
        return ops[nodes["op"][node]] == "CONST" and args[nodes["arg"][node]] == "8"

    products = (
        sources
        for op, sources in zip(nodes["op"], nodes["src"], strict=True)
        if ops[op] == "MUL" and len(sources) == 2
    )
    return any(is_eight(node) for sources in products for node in sources)


def passes_of(hit: str) -> int:
    """In how many passes a hit says that it is found."""
    said = re.search(r"in (\d+) passes$", hit)
    return int(said[1]) if said else 1


def searches(reader: Reader) -> None:
    """Asks for the shape in the field of the navigator, whatever stands there."""
    reader.presses("/", "Control+a").types(SHAPE)


def test_products_with_a_constant(reader: Reader, tmp_path: Path) -> None:
    with serve(record(PROGRAMS / "recorded.py", tmp_path / "run.viz")) as server:
        finds_products(reader, server)
        reader.page.goto("about:blank")  # asks nothing of a server that ends with its test


def finds_products(reader: Reader, server: Process) -> None:
    own = [r["id"] for r in server.rows() if r["kind"] == "rewrite" and not is_compiled(r["id"])]
    passes = sum(has_it(server.get(f"rewrites/{number}")) for number in own)
    assert 8 < passes < len(own)
    reader.opens(server.url)
    reader.sees("Kernels")
    reader.presses("Control+k").types(SHAPE)
    nodes = reader.page.get_by_role("dialog").get_by_role("group", name="Nodes")
    found = server.get(f"search?{urlencode({'q': SHAPE})}")["totals"]["node"]
    reader.sees(f"of {found}", nodes)
    reader.clicks_on(nodes.get_by_role("option").first)

    # that node is a product, and a source of it the constant
    reader.waits_for_a_graph()
    node = reader.explorer.inspector.get_by_role("tabpanel")
    reader.sees("OpMUL", node)
    assert reader.actions == 3
    reader.clicks(re.compile(r"^u\d+ CONST"), within=node)
    reader.sees("OpCONST", node).sees(re.compile(r"Arg8(?!\d)"), node)

    # as many are found in the navigator, which tells of each in how many passes of its kernel it
    # is: in all that have it, together
    said = reader.explorer.navigator.get_by_role("status")
    searches(reader)
    expect(said).to_have_text(re.compile(rf"^{found} hits(, \d+ compiled for others)?$"))
    hits = reader.page.get_by_role("listbox", name="Search results")
    listed = hits.get_by_role("option").all_inner_texts()[:found]
    assert sum(passes_of(hit) for hit in listed) == passes
    reader.gives(f"Show the passes for {TARGET}")
    subject = reader.page.get_by_role("navigation", name="Subject")
    expect(subject).to_contain_text(TARGET, timeout=SLOW)
    reader.waits_for_a_graph()
    searches(reader)
    expect(said).to_have_text(re.compile(rf"^{found} hits, [1-9]\d* compiled for others$"))

    # those of the other target stand apart, behind the others
    reader.presses("ArrowDown", "End")
    expect(hits).to_contain_text(re.compile(rf"Compiled for others.*Passes for {TARGET}"))
