"""The observer hook: how a recorder watches every rewrite without the core knowing recorders.

Nothing happens here while no observer is attached. Observers are told; they never change a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from core.uop.engine.settled import Known, know, known_now
from core.uop.engine.visits import Visits
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp, keep_uses

P = ParamSpec("P")
R = TypeVar("R")


class MemoryChange(NamedTuple):
    """Memory that was taken or given back. `key` names the allocation for as long as it lasts."""

    device: str
    nbytes: int
    """Taken; negative where it was given back."""
    key: int
    kernel: str = ""
    """What is the first to write it, a kernel or copy; "" where it was taken for none, such as
    for the elements of a list."""
    lines: tuple[str, ...] = ()
    """The user's lines and calls that asked for that kernel."""
    allocated: int = 0
    """Bytes that all allocations on the device now take."""


class Observer(Protocol):
    """What can be watched. Calls come from the thread that does the work, well bracketed in it,
    and from the frame that a context or rewrite is a block of; but an end is not told where an
    exception of a signal handler (Ctrl-C) comes just before it."""

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        """A named group of rewrites (a schedule, a kernel) begins."""

    def context_rename(self, name: str) -> None:
        """The innermost open context gets its final name."""

    def context_end(self, error: BaseException | None) -> None:
        """The innermost open context ends, with the exception that passed through it."""

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        """A graph_rewrite of `sink` begins, called from "file:line"."""

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """`rule` replaced `before` by `after` in `ns` nanoseconds."""

    def rebuild(self, old: UOp, new: UOp) -> None:
        """`old` is `new` from here on: the same node with rewritten sources or, where the outcome
        for `old` was known from earlier in the same rewrite, that outcome."""

    def decline(self, rule: Rule, node: UOp) -> None:
        """The pattern of `rule` matched `node`, but its function said no."""

    def visited(self, name: str, visits: Visits) -> None:
        """The innermost rewrite, of that name, offered these nodes to one of its matchers. Called
        for each of them just before `rewrite_end`."""

    def gated(self, nodes: Sequence[UOp]) -> None:
        """The innermost rewrite kept these nodes as they were, with all below them: its gate was
        false for them, or its rules are known to have left them so before. Called just before
        `rewrite_end`, of a rewrite that has a gate or kept any."""

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        """The innermost rewrite ends with a result, or with an error at a rule and node."""

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        """A text was made of the current kernel, or of the schedule; `lines` has the nodes behind
        each line, `kind` is one of `core/render/kinds.py`."""

    def linear(self, target: str, uops: Sequence[UOp]) -> None:
        """The linear program of the current kernel, for a target. Its text and the reasons for its
        order follow from the nodes: `core.passes.program.order.order_report`."""

    def kernel(self, ast: UOp, program: object) -> None:
        """Inside a kernel context: the finished Program."""

    def unloadable(self, ast: UOp, error: BaseException) -> None:
        """The program of the kernel `ast`, which was finished before, cannot be loaded on a device:
        its text does not assemble, or the device refuses it."""

    def origins(self, ast: UOp, lines: Mapping[UOp, str]) -> None:
        """The kernel `ast` was built, or an equal one, or a graph `ast` of Tensors was cut into
        kernels: which lines of the user's program ask for its nodes, a line of text each ("": none
        that is known); a node that is left out has its own `origin`. Equal nodes of two kernels
        are one node, whose `origin` is that of the first."""

    def launch(self, name: str, device: str, ns: int, start_ns: int, bytes_: int) -> None:
        """A kernel ran for `ns`, from `start_ns` on the clock of time.perf_counter_ns."""

    def memory(self, change: MemoryChange) -> None:
        """Memory of a device was taken or given back."""


class NullObserver(Observer):
    """Watches nothing: a base for observers that want a few of the calls."""


_attached: Final[list[Observer]] = []
"""The observers in force. A change is one call, which no other thread and no interrupt divides."""


class _Each:
    """Several observers as one: every call goes to each in turn."""

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        self._observers = observers

    def __getattr__(self, name: str) -> Callable[..., None]:
        calls = [getattr(o, name) for o in self._observers]

        def tell_each(*args: Any) -> None:
            for call in calls:
                call(*args)

        setattr(self, name, tell_each)
        return tell_each


def attached() -> Observer | None:
    """The observers in force as one, or None. Ask once per piece of work and keep the answer, so
    that an observer that sees its beginning sees its end."""
    if not _attached:
        return None
    observers = tuple(_attached)
    return observers[0] if len(observers) == 1 else cast(Observer, _Each(observers))


def attach(observer: Observer) -> None:
    """`observer` is notified of everything that begins from now on, in all threads."""
    _attached.append(observer)
    keep_uses(True)


def detach(observer: Observer) -> None:
    """Ends `attach`; nothing where it was not attached."""
    with suppress(ValueError):
        _attached.remove(observer)
    keep_uses(bool(_attached))


@contextmanager
def observing(observer: Observer) -> Generator[Observer]:
    """Attaches `observer` for a block."""
    attach(observer)
    try:
        yield observer
    finally:
        detach(observer)


class context:
    """`with context(name, kind, **meta):` groups the rewrites of a block."""

    def __init__(self, name: str, kind: str = "group", **meta: object) -> None:
        self._name, self._kind, self._meta = name, kind, meta
        self._observer: Observer | None = None
        self._known: Known | None = None

    def __enter__(self) -> context:
        self._observer = attached()
        if self._observer is not None:
            self._observer.context_begin(self._name, self._kind, self._meta)
        self._known = known_now()
        know({})
        return self

    def rename(self, name: str) -> None:
        """The final name, once it is known."""
        if self._observer is not None:
            self._observer.context_rename(name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        know(self._known)
        if self._observer is not None:
            self._observer.context_end(error)


def track_rewrites(
    name: str | Callable[[Any, tuple[Any, ...]], str] | None = None, kind: str = "group"
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: all rewrites in a call of the function form one context.

    `name` is its name, or a function (result, args) -> name asked when the call has returned;
    without it, the name of the function.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        label = name if isinstance(name, str) else function.__name__

        @functools.wraps(function)
        def tracked(*args: P.args, **kwargs: P.kwargs) -> R:
            with context(label, kind) as open_context:
                result = function(*args, **kwargs)
                if name is not None and not isinstance(name, str) and attached() is not None:
                    open_context.rename(name(result, args))
                return result

        return tracked

    return decorate


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a rewrite. `rule` is None for a rebuild; `after` is None for a decline."""

    rule: Rule | None
    before: UOp
    after: UOp | None
    binds: Mapping[str, object]


class Recording(NullObserver):
    """The events of all rewrites in memory, in engine order: for tests and small tools."""

    def __init__(self) -> None:
        self.events: list[Step] = []

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """Keeps the match."""
        self.events.append(Step(rule, before, after, binds))

    def rebuild(self, old: UOp, new: UOp) -> None:
        """Keeps the rebuild, as a step without a rule."""
        self.events.append(Step(None, old, new, {}))

    def decline(self, rule: Rule, node: UOp) -> None:
        """Keeps the decline, as a step without a result."""
        self.events.append(Step(rule, node, None, {}))

    @property
    def matches(self) -> list[Step]:
        """The matches alone."""
        return [e for e in self.events if e.rule is not None and e.after is not None]

    @property
    def rules(self) -> list[str]:
        """The names of the rules that matched, in order."""
        return [e.rule.name for e in self.events if e.rule is not None and e.after is not None]


@contextmanager
def recording() -> Generator[Recording]:
    """`with recording() as r:` keeps the events of a block in `r`."""
    recorded = Recording()
    with observing(recorded):
        yield recorded
