"""Types of the events that a thread reports.

Matches, rebuilds and declines come by the hundred thousand: each kind is one flat list, the fields
of which are named here. All other events are objects. Numbers and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from core.uop.matcher import PatternMatcher
from core.uop.rule import Rule
from core.uop.uop import UOp
from core.uop.visits import Visits


class Flat:
    """The fields of the events of one kind in a flat list, one event after the other."""

    def __init__(self, *fields: str) -> None:
        self._fields = fields
        self.width = len(fields)
        """Items of one event."""

    def column(self, values: list[Any], field: str) -> list[Any]:
        """One field of all events."""
        return values[self._fields.index(field) :: self.width]


MATCHES: Final = Flat("rule", "before", "after", "ns", "binds")
REBUILDS: Final = Flat("old", "new")
DECLINES: Final = Flat("rule", "node")


@dataclass(slots=True, eq=False)
class ContextBegin:
    """A context begins; `at` is a `perf_counter_ns`, here and below."""

    root: ClassVar[None] = None
    name: str
    kind: str
    meta: Mapping[str, object]
    at: int


@dataclass(slots=True, eq=False)
class ContextRename:
    """The innermost context gets another name."""

    root: ClassVar[None] = None
    name: str


@dataclass(slots=True, eq=False)
class ContextEnd:
    """The innermost context ends; `error` is made by `viz/recording/exceptions.py`."""

    root: ClassVar[None] = None
    error: Mapping[str, object] | None
    at: int


@dataclass(slots=True, eq=False)
class RewriteBegin:
    """A rewrite of the graph `root` begins."""

    root: UOp
    name: str
    matcher: PatternMatcher
    bottom_up: bool
    caller: str
    at: int


@dataclass(slots=True, eq=False)
class RewriteEnd:
    """The innermost rewrite ends with the graph `root`, or with `error` in `rule` at `node`;
    `inside`: it is part of another one."""

    root: UOp | None
    inside: bool
    error: Mapping[str, Any] | None
    rule: Rule | None
    node: UOp | None
    at: int


@dataclass(slots=True, eq=False)
class RewriteEmpty:
    """A rewrite inside another one changed nothing. It was not reported to begin."""

    root: ClassVar[None] = None


@dataclass(slots=True, eq=False)
class Artifact:
    """A source text of the kernel; `counts`: how many of `nodes` are behind each line. Without
    `text`, it follows from the nodes."""

    root: ClassVar[None] = None
    kind: str
    target: str
    text: str | None
    counts: Sequence[int]
    nodes: Sequence[UOp]
    facts: Mapping[str, str]


@dataclass(slots=True, eq=False)
class Kernel:
    """The kernel with the AST `root` was compiled to a program."""

    root: UOp
    program: object


@dataclass(slots=True, eq=False)
class Launch:
    """A kernel ran for `ns` from `at` on and moved `size` bytes."""

    root: ClassVar[None] = None
    name: str
    device: str
    ns: int
    at: int
    size: int


@dataclass(slots=True, eq=False)
class Values:
    """What the kernel with the AST `root` was about to read at a launch, counted from 1: dtype,
    number of elements and bytes of each argument by its number; or `why` that was not kept."""

    root: UOp
    name: str
    device: str
    launch: int
    arguments: Mapping[int, tuple[str, int, bytes]]
    variables: Mapping[str, int]
    why: str


@dataclass(slots=True, eq=False)
class Memory:
    """So many bytes are allocated on a device."""

    root: ClassVar[None] = None
    device: str
    allocated: int
    at: int


@dataclass(slots=True, eq=False)
class Visited:
    """A pass offered nodes to rules; `begun`: it was reported to begin."""

    root: ClassVar[None] = None
    name: str
    visits: Visits
    begun: bool


@dataclass(slots=True, eq=False)
class Gated:
    """The gate of a pass kept these nodes."""

    root: ClassVar[None] = None
    nodes: Sequence[UOp]


Report = (
    ContextBegin
    | ContextRename
    | ContextEnd
    | RewriteBegin
    | RewriteEnd
    | RewriteEmpty
    | Artifact
    | Kernel
    | Launch
    | Memory
    | Values
    | Visited
    | Gated
)
"""Any event but matches, rebuilds and declines. `root`: the graph that comes in with it, if any."""
