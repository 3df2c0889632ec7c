"""Types of the events that a thread reports, apart from matches, rebuilds and declines, which come
by the hundred thousand (viz/recording/buffer.py). Number and write nothing.

`depth` says which of the contexts and rewrites that are open begins or ends, counted from the
outermost: those that are deeper have ended by then, whether that was told or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from core.uop.engine.observe import MemoryChange
from core.uop.engine.visits import Visits
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp


@dataclass(slots=True, eq=False)
class ContextBegin:
    """A context begins; `at` is a `perf_counter_ns`, here and below."""

    root: ClassVar[None] = None
    depth: int
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
    """A context ends; `error` is made by `viz/recording/exceptions.py`."""

    root: ClassVar[None] = None
    depth: int
    error: Mapping[str, object] | None
    at: int


@dataclass(slots=True, eq=False)
class RewriteBegin:
    """A rewrite of the graph `root` begins; `inside`: as a part of another one."""

    root: UOp
    depth: int
    inside: bool
    name: str
    matcher: PatternMatcher
    bottom_up: bool
    caller: str
    at: int


@dataclass(slots=True, eq=False)
class RewriteEnd:
    """A rewrite ends with the graph `root`, or with `error` in `rule` at `node`."""

    root: UOp | None
    depth: int
    error: Mapping[str, Any] | None
    rule: Rule | None
    node: UOp | None
    at: int


@dataclass(slots=True, eq=False)
class RewriteEmpty:
    """A rewrite inside another one changed nothing. This stands for its begin and its end."""

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
class Unloadable:
    """The program of the kernel with the AST `root` cannot be loaded; `error` is made by
    `viz/recording/exceptions.py`."""

    root: UOp
    error: Mapping[str, object]
    at: int


@dataclass(slots=True, eq=False)
class Origins:
    """The lines that ask for the nodes of the kernel with the AST `root`, a line of text each."""

    root: UOp
    lines: Mapping[UOp, str]


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
class StepValues:
    """What the memory of the capture `number` of this process held before a replay of it, counted
    from 1, and after it: dtype, number of elements and bytes by the number of memory; and `why`
    some of it was not kept."""

    root: ClassVar[None] = None
    number: int
    name: str
    device: str
    replay: int
    before: Mapping[int, tuple[str, int, bytes]]
    after: Mapping[int, tuple[str, int, bytes]]
    why: str


@dataclass(slots=True, eq=False)
class Memory:
    """Memory of a device was taken or given back."""

    root: ClassVar[None] = None
    change: MemoryChange
    at: int


@dataclass(slots=True, eq=False)
class Visited:
    """A pass offered nodes to rules."""

    root: ClassVar[None] = None
    name: str
    visits: Visits


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
    | Unloadable
    | Origins
    | Launch
    | Memory
    | Values
    | StepValues
    | Visited
    | Gated
)
"""Any event but matches, rebuilds and declines. `root`: the graph that comes in with it, if any."""
