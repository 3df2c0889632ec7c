"""`uopviz node`: where a node comes from, what became of it, and which lines it stands behind."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any, Final

from core.errors import TraceError
from viz.command.columns import Column, plural, table
from viz.command.line.names import below, find_kernel, find_pass, is_file, node_number
from viz.command.session import put, trace_of
from viz.terminal import Line, Styled
from viz.views.nodes.nodes import node_page, nodes_of_line

_LINE: Final = re.compile(r"([\w:.]+):(\d{1,7})")
"""A line of a text of a kernel: ptx:12, ptx:sm_90:12."""


def node(options: argparse.Namespace) -> int:
    """The history and the lines of one node."""
    if options.node is None and options.trace is not None and not is_file(options.trace):
        options.trace, options.node = None, options.trace
    if options.node is None:
        return options.error("which node? Name it as u123, or as a line of a text, ptx:12")
    store = trace_of(options)
    rows = store.tree()["rows"]
    kernel = None if options.kernel is None else find_kernel(rows, options.kernel)
    within = rows if kernel is None else below(rows, kernel["id"])
    rewrite = None
    if options.pass_name is not None:
        rewrite = find_pass(within, options.pass_name, kernel["name"] if kernel else "")["id"]
    others: list[int] = []
    if (line := _LINE.fullmatch(options.node)) is not None:
        if kernel is None:
            raise TraceError("a line of a text of which kernel?", hint="name it with --kernel")
        number, *others = nodes_of_line(store, kernel["id"], line[1], int(line[2]))
        passes = [row["id"] for row in within if row["kind"] == "rewrite"]
        rewrite = rewrite or (passes[-1] if passes else None)
    else:
        number = node_number(options.node)
        if kernel is not None and rewrite is None:
            rewrite = next((row["id"] for row in within if row["kind"] == "rewrite"), None)
    options.progress.begin("tracing the node")
    data = {**node_page(store, number, rewrite), "others": others}
    return put(options, data, node_lines(data))


def node_lines(data: dict[str, Any]) -> Iterator[Line]:
    """The node, its history, and the lines."""
    yield Styled(f"u{data['node']} {data['op']}", "heading"), f"  in {data['pass']}"
    if data["others"]:
        others = ", ".join(f"u{number}" for number in data["others"])
        yield Styled(f"behind the same line: {others}", "hint")
    for line in data["lines"]:
        yield "  from ", line
    yield ""
    columns = (
        Column("node", style="name"),
        Column("op"),
        Column("came"),
        Column("rule"),
        Column("pass"),
        Column("step", True),
    )
    rows = [
        (
            f"u{row['node']}",
            row["op"],
            row["kind"],
            row["rule"] or "",
            f"{row['pass']} ({row['rewrite']})",
            str(row["step"]),
        )
        for row in data["history"]
    ]
    yield from table(columns, rows)
    for text in data["texts"]:
        yield ""
        said = plural(text["total"], "line")
        yield Styled(f"{said} of {text['kind']} for {text['target'] or 'any target'}", "heading")
        for line in text["lines"]:
            yield f"  {line['line']:>5}  {line['text']}"
        if text["total"] > len(text["lines"]):
            yield Styled(f"  and {text['total'] - len(text['lines'])} more", "hint")
