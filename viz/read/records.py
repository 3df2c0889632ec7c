"""Contexts, rewrites and rules of a trace, made from untrusted rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from viz.format.cells import as_text, parse_object
from viz.format.rows import ContextRow, RewriteRow

Role = Literal["kernel", "schedule", ""]
"""What a context is to the explorer: one that becomes a program, one that orders these, or a group
and no more."""
ROLES: Final[Mapping[str, Role]] = {"kernel": "kernel", "schedule": "schedule"}
"""By the kinds of contexts of which every trace may have some."""
MAX_NAME: Final = 1000
"""Longer names are cut: they are repeated in every row that has them."""


@dataclass
class Context:
    """A named group; `us` is None while it is open. `kind` is what the trace says, `role` what that
    is to the explorer, as the dialect of the run has it."""

    id: int
    parent: int
    name: str
    kind: str
    meta: dict[str, Any]
    thread: int
    start: int
    us: int | None
    error: dict[str, Any] | None
    role: Role = ""


@dataclass
class Rewrite:
    """One graph_rewrite; `us` is None while it is open, `result` 0 if there is none."""

    id: int
    parent: int
    context: int
    name: str
    matcher: str
    caller: str
    bottom_up: bool
    sink: int
    result: int
    nodes: int
    start: int
    us: int | None
    matches: int
    rebuilds: int
    declines: int
    empty: int
    blocks: tuple[int, int]
    error: dict[str, Any] | None


class MemorySample(NamedTuple):
    """Bytes that are allocated on a device from a time on, in microseconds."""

    device: str
    time: int
    allocated: int
    number: int = 0
    """Of the allocation that begins or ends; 0 where that is not known."""
    taken: int = 0
    """Bytes of an allocation that begins."""
    kernel: str = ""
    """What it was taken for; `lines`: the user's that asked for that, a line of text each."""
    lines: str = ""


@dataclass
class RuleRecord:
    """A rule as it was at record time; `texts`: doc, source, sourceLine, pattern."""

    id: int
    name: str
    matcher: str
    file: str
    line: int
    equation: str
    texts: dict[str, Any] = field(default_factory=dict[str, Any])


def context_of(row: ContextRow, roles: Mapping[str, Role]) -> Context:
    """A context from its row."""
    kind = as_text(row.kind, MAX_NAME)
    return Context(
        row.id,
        row.parent,
        as_text(row.name, MAX_NAME),
        kind,
        parse_object(row.meta),
        row.thread,
        row.start,
        row.us,
        _error(row.error),
        roles.get(kind, ""),
    )


def rewrite_of(row: RewriteRow, name: Callable[[int], str]) -> Rewrite:
    """A rewrite from its row; `name`: the text of a number, of bounded length."""
    return Rewrite(
        row.id,
        row.parent,
        row.context,
        name(row.name),
        name(row.matcher),
        name(row.caller),
        bool(row.bottom_up),
        row.sink,
        row.result,
        row.nodes,
        row.start,
        row.us,
        row.matches,
        row.rebuilds,
        row.declines,
        row.empty,
        (row.first_block, row.last_block),
        _error(row.error),
    )


def _error(text: str | None) -> dict[str, Any] | None:
    return None if text is None else parse_object(text)
