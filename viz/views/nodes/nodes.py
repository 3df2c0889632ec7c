"""What is known of one node over all passes: its history, the lines of the user's program that it
comes from, and the lines of a kernel's texts that came of it.

Made of answers that are there: lineages and kernels. Never guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from core.errors import TraceError
from viz.views.nodes.history import node_history
from viz.views.runs.run import Run
from viz.views.store import Store

Data = dict[str, Any]
_SCOPES: Final = 8
"""Schedules and kernels that are searched for a node."""
MOST_LINES: Final = 200
"""Lines of each text that are listed."""


def node_page(store: Store, node: int, rewrite: int | None = None) -> Data:
    """`NodePage`: a node as seen in a pass, by default the first one that has it. Raises TraceError
    for a node that nothing has, and BudgetError."""
    seen = first_pass(store, node) if rewrite is None else rewrite
    found = node_history(store, node, seen, float("inf"))
    if found is None or not found["rows"]:
        where = "in this run" if rewrite is None else f"in the schedule or kernel of pass {rewrite}"
        raise TraceError(
            f"there is no node u{node} {where}", hint="`uopviz show PASS STEP` names nodes"
        )
    names = {row["id"]: row["name"] for row in store.tree()["rows"]}
    rows: list[Data] = [
        {
            **row,
            "pass": names.get(row["rewrite"], "?"),
            "rule": None if row["rule"] < 0 else store.rule_name(row["rule"]),
        }
        for row in found["rows"]
    ]
    of = next((row["op"] for row in rows if row["node"] == node), rows[-1]["op"])
    return {
        "node": node,
        "op": of,
        "rewrite": seen,
        "pass": names.get(seen, "?"),
        "history": rows,
        "lines": list(dict.fromkeys(row["line"] for row in rows if row["line"])),
        "texts": list(_texts(store, [row["node"] for row in rows], _kernel(store, rows, seen))),
    }


def first_pass(store: Store, node: int) -> int:
    """The first pass of whose schedule or kernel a node is part. Raises TraceError where there is
    none."""
    asked: set[int] = set()
    for process in store.processes:
        local = process.local_node(node)
        if local is None:
            continue
        for rewrite in [*process.file.rewrites.values()]:
            scope = store.scope_of(process.id(rewrite.id))
            if max(rewrite.sink, rewrite.result) < local or scope is None or scope in asked:
                continue
            asked.add(scope)
            lineage = store.lineage(scope) or {"node": {"id": [], "rewrite": []}}
            if node in lineage["node"]["id"]:
                at = lineage["node"]["id"].index(node)
                return int(lineage["node"]["rewrite"][at])
            if len(asked) >= _SCOPES:
                break
    raise TraceError(
        f"no pass of this run is known to have node u{node}",
        hint="name one that has it: --pass NAME, or --pass NUMBER",
    )


def nodes_of_line(store: Run, kernel: int, text: str, line: int) -> list[int]:
    """The nodes behind a line, counted from 1, of a text of a kernel, "ptx" or "ptx:sm_90". Raises
    TraceError where there is no such text or line, or nothing is known of it."""
    kind, _, target = text.partition(":")
    texts = (store.kernel(kernel) or {"artifacts": []})["artifacts"]
    for one in texts:
        if one["kind"] == kind and target in ("", one["target"]):
            if not 0 < line <= len(one["lines"]):
                lines = len(one["lines"])
                raise TraceError(f"{kind} has no line {line} with nodes", hint=f"it has {lines}")
            if not one["lines"][line - 1]:
                raise TraceError(
                    f"no node is behind line {line} of {kind}",
                    where=one["text"].split("\n")[line - 1].strip(),
                    hint="such lines belong to the form of the language; try one that computes",
                )
            return [*one["lines"][line - 1]]
    kinds = ", ".join(dict.fromkeys(one["kind"] for one in texts)) or "none"
    raise TraceError(f"this kernel has no text {text!r}", hint=f"the trace has: {kinds}")


def _kernel(store: Store, rows: Sequence[Mapping[str, Any]], seen: int) -> int | None:
    """The kernel whose texts a history leads to."""
    kernels = {*store.kernels()}
    for rewrite in (*(row["rewrite"] for row in reversed(rows)), seen):
        scope = store.scope_of(rewrite)
        if scope in kernels:
            return scope
    return None


def _texts(store: Store, nodes: Sequence[int], kernel: int | None) -> Iterator[Data]:
    """The lines of each text of a kernel behind which one of these nodes is; where none is, those
    that come from the same nodes of its AST."""
    data = None if kernel is None else store.kernel(kernel)
    if kernel is None or data is None:
        return
    wanted = {*nodes}
    known = store.origins(kernel) or {"node": [], "origin": []}
    origins = dict(zip(known["node"], known["origin"], strict=True))
    ast = {one for node in nodes[-1:] for one in origins.get(node, ())}
    for one in data["artifacts"]:
        lines = one["text"].split("\n")
        by, found = "node", [at for at, of in enumerate(one["lines"]) if wanted & {*of}]
        if not found:
            by, found = "origin", [at for at, of in enumerate(one["origins"]) if ast & {*of}]
        if found:
            yield {
                "kernel": kernel,
                "kind": one["kind"],
                "target": one["target"],
                "by": by,
                "total": len(found),
                "lines": [
                    {"line": at + 1, "text": lines[at].strip()}
                    for at in found[:MOST_LINES]
                    if at < len(lines)
                ],
            }
