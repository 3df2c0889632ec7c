"""On which line the function of a rule declined, and what it saw there: it is called again.

In a process of its own, with a time limit, and only where the rule of this installation is the
recorded one, in text and pattern. One that needs what the pass hands to it is called by the pass,
which is run again for that, on the kernel or the graph of Tensors that was recorded. What was
recorded is the truth: where the function says something else today, that is said.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from core.isolation import child
from core.isolation.client import Worker
from core.uop.patterns.rule import Rule
from viz.budget import part
from viz.coredialect.graph import graph_data
from viz.format.cells import as_int, as_text
from viz.read.records import RuleRecord
from viz.why.again import pass_request
from viz.why.subject import Subject

WORKER: Final = "viz.why.worker"
SECONDS: Final = 20.0
MEMORY: Final = 2 << 30
MAX_GRAPH: Final = 20_000
"""Nodes below the one at which a function is called again."""
MAX_ANSWER: Final = 1 << 20
_SAID: Final = 300


@dataclass(frozen=True)
class Line:
    """Where the function returned without a result: the file of this installation, the line, its
    text, and the values that the line names. `ways`: of that many ways to match the pattern, all
    declined, this is the last; `binds`: its nodes, by their numbers in the file."""

    file: str
    line: int
    text: str
    values: tuple[tuple[str, str], ...]
    ways: int
    binds: tuple[tuple[str, int], ...]


Request = tuple[dict[str, Any], list[int]]
"""What the worker is asked, and the numbers in the file of the nodes in it."""


def declining_line(subject: Subject, rule: int, node: int) -> Line | str:
    """The line on which a rule declined a node; or why that cannot be told. Both are numbers of the
    file. Raises BudgetError."""
    request = decline_request(subject, rule, node)
    return request if isinstance(request, str) else line_of(ask_worker(request[0]), request[1])


def decline_request(
    subject: Subject, rule: int, node: int, load: Path | None = None
) -> Request | str:
    """What a worker is asked, to see on which line a rule declined a node; or why the function is
    not called again. `load`: a file of the user's that has the rule, where the installation has
    not; the worker runs it. Raises BudgetError."""
    installed, why = subject.fitter.rule(rule)
    if installed is None and load is None:
        return f"its function is not called again: {why}"
    again: dict[str, Any] | str | None = None
    if installed is not None and takes_context(installed):
        again = pass_request(subject)
        if isinstance(again, str):
            return f"its function is not called again: {again}"
    order = subject.file.nodes.reachable(node)
    if len(order) > MAX_GRAPH:
        return f"its function is not called again: more than {MAX_GRAPH:,} nodes are below this one"
    with part(1 / 2):
        graph = graph_data(subject.file, order)
    graph["roots"] = [*range(len(order))]
    record = subject.file.rules[rule]
    request = {"job": "decline", "graph": graph, "rule": _record_data(record), "memory": MEMORY}
    if again is not None:
        request["pass"] = again
    if installed is None:
        request["load"] = str(load)
    return request, order


def takes_context(rule: Rule) -> bool:
    """Whether the function of a rule takes what the pass hands to it."""
    call = rule.variants[0].call
    return call.anything or "ctx" in call.parameters


def record_of(data: Mapping[str, Any]) -> RuleRecord:
    """The rule of a request."""
    texts = data.get("texts")
    return RuleRecord(
        0,
        as_text(data.get("name")),
        "",
        as_text(data.get("file")),
        as_int(data.get("line")),
        "",
        cast("dict[str, Any]", texts) if isinstance(texts, dict) else {},
    )


def _record_data(record: RuleRecord) -> dict[str, Any]:
    texts = {key: record.texts.get(key) for key in ("source", "sourceLine", "pattern")}
    return {"name": record.name, "file": record.file, "line": record.line, "texts": texts}


def ask_worker(request: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """The answer of the worker; or why there is none."""
    worker = Worker(child.start(WORKER, subprocess.DEVNULL))
    try:
        answer = worker.ask(request, SECONDS, last=True, most=MAX_ANSWER)
    finally:
        worker.end()
    if answer.late:
        return f"its function, called again, was not done after {SECONDS:g} seconds"
    if answer.ended:
        return f"its function, called again, ended its process ({answer.ended})"
    if answer.fault is not None:
        return f"its function could not be called again: {as_text(answer.fault.what, _SAID)}"
    if not isinstance(answer.result, dict):
        return "its function, called again, gave no answer"
    return cast("dict[str, Any]", answer.result)


def line_of(answer: Mapping[str, Any] | str, order: list[int]) -> Line | str:
    """What the worker answered to a request with these nodes."""
    if isinstance(answer, str):
        return answer
    if "why" in answer:
        return as_text(answer["why"], _SAID)
    binds = cast("Mapping[str, int]", answer["binds"])
    values = cast("Mapping[str, str]", answer["values"])
    return Line(
        as_text(answer["file"]),
        as_int(answer["line"]),
        as_text(answer["text"]),
        tuple(values.items()),
        as_int(answer["ways"]),
        tuple((name, order[at]) for name, at in binds.items()),
    )
