"""`uopviz find`: everything in a run that has a text, or nodes of a structure."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from core.errors import TraceError
from viz.command.columns import Column, plural, table
from viz.command.line.names import Row, is_file
from viz.command.session import open_store, put
from viz.terminal import Line, Styled


def find(options: argparse.Namespace) -> int:
    """What has a text in a name, call, rule, op, file, source, or line that a pass changed."""
    if options.text is None and options.trace is not None and not is_file(options.trace):
        options.trace, options.text = None, options.trace
    if options.text is None:
        return options.error("find what? Give a text, or a structure such as ADD(MUL, _)")
    store = open_store(options)
    options.progress.begin("searching")
    found = store.search(options.text)
    if (problem := found["problem"]) is not None:
        raise TraceError(problem["what"], problem["where"], problem["hint"])
    rows = store.tree()["rows"]
    hits = [_hit(rows, hit) for hit in found["hits"]]
    data = {"hits": hits, "totals": found["totals"], "total": found["total"]}
    return put(options, data, find_lines(data))


def _hit(rows: list[Row], hit: dict[str, Any]) -> dict[str, Any]:
    """A hit with the number and the name of what it is in."""
    row = rows[hit["row"]] if 0 <= hit["row"] < len(rows) else None
    kept = {key: hit[key] for key in ("kind", "text", "step", "node", "passes", "source")}
    return {**kept, "number": row["id"] if row else -1, "in": row["name"] if row else "?"}


def find_lines(data: dict[str, Any]) -> Iterator[Line]:
    """The hits, by kind."""
    yield Styled(plural(data["total"], "hit"), "heading")
    columns = (
        Column("kind"),
        Column("what", style="name"),
        Column("in"),
        Column("number", True),
        Column("at"),
    )
    yield from table(
        columns,
        [(h["kind"], h["text"], h["in"], str(h["number"]), _place(h)) for h in data["hits"]],
    )
    shown = len(data["hits"])
    if data["total"] > shown:
        yield Styled(f"{data['total'] - shown:,} more; a longer text finds fewer", "hint")


def _place(hit: dict[str, Any]) -> str:
    if (source := hit["source"]) is not None:
        return f"{source['target' if hit['kind'] == 'text' else 'kind']}:{source['line']}"
    step = "" if hit["step"] is None else f"step {hit['step']}"
    return f"{step} u{hit['node']}".strip() if hit["node"] is not None else step
