"""Rows of the trace while they are still growing. Never touches a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from viz.format import schema


def plain_text(text: str) -> str:
    """Text that SQLite takes: lone surrogates (undecodable file names) become "?"."""
    return text[: schema.MAX_TEXT].encode("utf-8", "replace").decode()


@dataclass(slots=True)
class ContextRow:
    """One row of `contexts`; `us` is None while it is open."""

    id: int
    parent: int
    name: str
    kind: str
    meta: str
    thread: int
    start: int
    us: int | None = None
    error: str | None = None

    def values(self) -> tuple[object, ...]:
        """The row, in the order of the table."""
        return (
            self.id,
            self.parent,
            plain_text(self.name),
            plain_text(self.kind),
            self.meta,
            self.thread,
            self.start,
            self.us,
            self.error,
        )


@dataclass(slots=True)
class RewriteRow:
    """One row of `rewrites`, and how often each rule has declined in it so far."""

    id: int
    parent: int
    context: int
    name: int
    matcher: int
    caller: int
    bottom_up: int
    sink: int
    start: int
    result: int = 0
    nodes: int = 0
    us: int | None = None
    matches: int = 0
    rebuilds: int = 0
    declines: int = 0
    empty: int = 0
    first_block: int = 0
    last_block: int = 0
    error: str | None = None
    declined: dict[int, int] = field(default_factory=dict[int, int])

    def values(self) -> tuple[object, ...]:
        """The row, in the order of the table."""
        return (
            self.id,
            self.parent,
            self.context,
            self.name,
            self.matcher,
            self.caller,
            self.bottom_up,
            self.sink,
            self.result,
            self.nodes,
            self.start,
            self.us,
            self.matches,
            self.rebuilds,
            self.declines,
            self.empty,
            self.first_block,
            self.last_block,
            self.error,
        )


@dataclass(slots=True)
class Artifact:
    """A source text of a kernel, and packed which nodes are behind its lines."""

    context: int
    kind: str
    target: str
    text: str
    facts: dict[str, str]
    title: str
    lines: bytes = b""
