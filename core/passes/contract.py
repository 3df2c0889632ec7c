"""`Pass`: one step from graph to graph with a stated contract; `Guarantee`: what has to hold after
one; and `run_table`, which runs a table.

Kernels (`pipeline.py`) and schedules (`schedule/pipeline.py`) each have such a table. Knows no
pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.errors import CompileError, SpecError
from core.helpers import SPEC
from core.uop import Ops, PatternMatcher, UOp
from core.uop.patterns.policy import in_force, stage
from core.uop.spec.spec import verify

Context = TypeVar("Context")


@dataclass(frozen=True, slots=True)
class Guarantee(Generic[Context]):
    """What holds of a graph after a pass. `says` it in words; `breach` gives the first node for
    which it does not hold, of the nodes of the graph, sources first, and what the pass is given."""

    says: str
    breach: Callable[[Sequence[UOp], Context], UOp | None]


def each(says: str, holds: Callable[[UOp, Context], bool]) -> Guarantee[Context]:
    """A guarantee about each node separately."""

    def breach(nodes: Sequence[UOp], context: Context) -> UOp | None:
        return next((u for u in nodes if not holds(u, context)), None)

    return Guarantee(says, breach)


@dataclass(frozen=True, slots=True)
class Undone:
    """What a pass has left undone: the first node for which it does not hold what it `says`."""

    node: UOp
    says: str


@dataclass(frozen=True, slots=True)
class Pass(Generic[Context]):
    """One pass of a table. `keeps` says what it preserves, `guarantees` what holds after it and did
    not before.

    The ops in `gone` do not appear any more, here and in all later passes; what is in `leaves`
    holds after it. With SPEC=1 the graph is verified against `spec` (None: its nodes are of several
    stages). A pass whose `runs` returns False is skipped, as a setting asks for.
    """

    name: str
    function: Callable[[UOp, Context], UOp]
    keeps: str
    guarantees: str
    spec: PatternMatcher | None = None
    gone: tuple[Ops, ...] = ()
    runs: Callable[[], bool] | None = None
    leaves: tuple[Guarantee[Context], ...] = ()


def verifying() -> bool:
    """Whether graphs are verified: SPEC asks for it, and so does a policy, under which a pass may
    leave something undone."""
    return bool(SPEC) or in_force() is not None


def position(passes: Sequence[Pass[Context]], name: str) -> int:
    """The position of the pass called `name` in a table. Raises CompileError where there is
    none."""
    for at, step in enumerate(passes):
        if step.name == name:
            return at
    raise CompileError(
        f"there is no pass {name!r}", hint="one of " + ", ".join(step.name for step in passes)
    )


def run_table(
    passes: Sequence[Pass[Context]],
    graph: UOp,
    context: Context,
    start: str | None = None,
    stop: str | None = None,
) -> UOp:
    """The graph after the passes from `start` to `stop`, both included (None: the first, the last).

    Raises CompileError for a name that is not in the table and for a `start` after `stop`, with
    SPEC=1 SpecError where a pass breaks a contract, and under a policy PolicyError for any error.
    """
    first = 0 if start is None else position(passes, start)
    last = len(passes) - 1 if stop is None else position(passes, stop)
    if first > last:
        raise CompileError(
            f"pass {start!r} comes after pass {stop!r}", hint="start where the graph is, stop later"
        )
    check = verifying()
    gone: set[Ops] = set()
    if start is not None:  # what earlier passes remove must not be in a graph that enters here
        for step in passes[:first]:
            gone.update(step.gone)
        if check:
            entered = passes[first - 1] if first else passes[0]
            check_contract(graph, entered, gone, context, f"entry at {start}")
    for step in passes[first : last + 1]:
        if step.runs is not None and not step.runs():
            continue
        with stage(f"pass {step.name}"):
            graph = step.function(graph, context)
            gone.update(step.gone)
            if check:
                check_contract(graph, step, gone, context, step.name)
    return graph


def undone(
    graph: UOp, step: Pass[Context], gone: Collection[Ops], context: Context
) -> Undone | None:
    """What a pass has left undone in the graph that it made; `gone`: the ops that it and those
    before it remove. None where all holds."""
    if not gone and not step.leaves:
        return None
    nodes = tuple(graph.toposort())
    for u in nodes:
        if u.op in gone:
            return Undone(u, f"no {u.op.name} from here on")
    for one in step.leaves:
        if (node := one.breach(nodes, context)) is not None:
            return Undone(node, one.says)
    return None


def check_contract(
    graph: UOp, step: Pass[Context], gone: Collection[Ops], context: Context, stage: str
) -> None:
    """Raises SpecError where a graph is not what a pass may leave; `gone`: the ops that it and
    those before it remove."""
    if (found := undone(graph, step, gone, context)) is not None:
        raise SpecError(
            f"{found.node.op.name} appears after pass {stage}, which guarantees: {found.says}",
            where=repr(found.node),
            hint="the pass breaks its contract, or that of one before it",
        )
    if step.spec is not None:
        verify(graph, step.spec, stage)
