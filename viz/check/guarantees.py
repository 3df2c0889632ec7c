"""Whether the passes of a trace have done what they guarantee: the last graph of each is looked at.

The predicates are those of the passes themselves (`core/passes/contract.py`), of this installation.
Nothing of a trace is evaluated, and no rule is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from core.errors import UopvizError
from core.passes.contract import Pass, undone
from core.passes.pipeline import PASSES, TEXT_PASSES
from core.passes.schedule.kernels.kernelize import Kernels
from core.passes.schedule.pipeline import PASSES as SCHEDULE
from core.runtime.reference.selfreads import KERNELIZE, SELF_READS, misread
from core.target import target_named
from core.uop import Ops, UOp
from core.uop.kernels import is_lowered
from core.uop.spec.spec import violation
from viz.check.plan import TITLES, Item, fault_of, whole_of
from viz.check.rebuilt import Rebuilt
from viz.check.tensors import compare_schedule, is_in_parts
from viz.known.left import Left
from viz.read.origins import OriginsOf
from viz.read.records import Context, Rewrite
from viz.read.steps import read_steps
from viz.views.runs.process import Process

MAX_STEPS: Final = 200_000
_STRANGE: Final = (
    UopvizError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError
)  # fmt: skip
_IN_PART: Final = frozenset({Ops.KERNEL, Ops.OUTPUT})
"""Ops of kernels written by hand, whose arguments a trace does not have."""
_NEAR: Final = 200
"""Nodes below one that are asked for the user's line."""


class Guarantees:
    """The passes of one process of a run."""

    def __init__(self, process: Process, rebuilt: Rebuilt) -> None:
        self._process, self._rebuilt = process, rebuilt
        self._known: dict[int, tuple[int, Left] | None] = {}
        self._unseen: dict[int, tuple[int, str]] = {}
        """By context, the rewrite from which on nothing could be looked at, and why."""
        self._at = 0
        """The rewrite that is looked at."""
        self._asked = ""
        """The line that asked for the kernel that is looked at."""
        self._origins: OriginsOf = process.file.origins.alone
        """Of its nodes, the lines: an equal node of another kernel may have another."""

    def left(self, rewrite: Rewrite) -> Left | None:
        """What the pass that ends with this rewrite left undone, if it is the first one of its
        kernel or schedule."""
        found = self._first(rewrite.context)
        return found[1] if found is not None and found[0] == rewrite.id else None

    def unseen(self, rewrite: Rewrite) -> str:
        """Why it is not known what the pass that ends with this rewrite, and those after it, left
        undone; "" where it is known, or was said of an earlier pass."""
        self._first(rewrite.context)
        at, why = self._unseen.get(rewrite.context, (0, ""))
        return why if at == rewrite.id else ""

    def before(self, rewrite: Rewrite) -> Left | None:
        """What a pass left undone before the one of this rewrite began."""
        every = self._process.file.rewrites
        while rewrite.parent in every and every[rewrite.parent].id < rewrite.id:
            rewrite = every[rewrite.parent]
        found = self._first(rewrite.context)
        return found[1] if found is not None and found[0] < rewrite.id else None

    def _first(self, context: int) -> tuple[int, Left] | None:
        """The rewrite that ends the first pass of a context which left something undone."""
        if context not in self._known:
            self._known[context] = None  # in the case of an error below
            self._known[context] = self._found(self._process.file.contexts.get(context))
        return self._known[context]

    def _found(self, context: Context | None) -> tuple[int, Left] | None:
        if context is None or context.kind not in ("kernel", "schedule"):
            return None
        if context.kind == "kernel" and not self._stores(self._process.kernels.ast(context)):
            return None  # some other graph, in passes of the user's own
        rewrites = self._rewrites.get(context.id, [])
        self._at = rewrites[0].id if rewrites else 0
        self._asked = _first_line(context)
        process = self._process
        self._origins = process.file.origins.within(process.kernels.ast(context))
        try:
            if context.kind == "schedule":
                found = self._in_table(SCHEDULE, rewrites, Kernels())
                return found or self._in_schedule(context, rewrites)
            if (left := self._of_ast(rewrites)) is not None:
                return 0, left
            target = target_named(str(context.meta.get("target", "")))
            own = (step for passes in TEXT_PASSES.values() for step in passes)
            return self._in_table((*PASSES, *own), rewrites, target)
        except _STRANGE as error:  # no graph of this compiler, or for a target that is none here
            what = error.what if isinstance(error, UopvizError) else str(error)
            kind = "" if isinstance(error, UopvizError) else f"{type(error).__name__}: "
            self._unseen[context.id] = self._at, f"{kind}{what}"[:300]
            return None

    def _stores(self, ast: int) -> bool:
        """Whether a graph is that of a kernel: something is stored."""
        nodes, text = self._process.file.nodes, self._process.file.text
        ops = (text(int(nodes.field("op")[n])) for n in nodes.sources(ast))
        return any(op == Ops.STORE.name for op in ops)

    @cached_property
    def _rewrites(self) -> dict[int, list[Rewrite]]:
        """The rewrites of each context that are in no other one, in their order."""
        found: dict[int, list[Rewrite]] = {}
        for one in sorted(self._process.file.rewrites.values(), key=lambda r: r.id):
            if not one.parent:
                found.setdefault(one.context, []).append(one)
        return found

    def _in_table(
        self, table: Sequence[Pass[Any]], rewrites: Sequence[Rewrite], context: object
    ) -> tuple[int, Left] | None:
        gone: set[Ops] = set()
        reached = 0
        for at, last in passes_of(table, rewrites):
            for step in table[reached : at + 1]:
                gone.update(step.gone)
            reached = at + 1
            if not last.result:
                return None  # it did not end
            self._at = last.id
            graph = self._rebuilt.node(last.result)
            if (found := _broken(graph, table[at], gone, context)) is not None:
                return last.id, self._left(table[at].name, *found)
        return None

    def _of_ast(self, rewrites: Sequence[Rewrite]) -> Left | None:
        """What `kernelize` left undone in the AST of a kernel, which no pass after it is to blame
        for."""
        if not rewrites or not rewrites[0].sink:
            return None
        ast = self._rebuilt.node(rewrites[0].sink)
        return None if misread(ast) is None else self._left(KERNELIZE, ast, SELF_READS)

    def _in_schedule(
        self, context: Context, rewrites: Sequence[Rewrite]
    ) -> tuple[int, Left] | None:
        """What is wrong with the kernels of a schedule, their order or their memory."""
        last = next((one for one in reversed(rewrites) if one.result), None)
        if last is None:
            return None
        graph = self._rebuilt.node(last.result)
        for kernel in (u for u in graph.toposort(_is_outside) if u.op is Ops.KERNEL):
            arguments = [m for m in kernel.src[1:] if m.op is not Ops.BIND]
            if misread(kernel.src[0], dict(enumerate(map(whole_of, arguments)))) is not None:
                return self._misreading(kernel, rewrites)
        items = self._items(context)
        fault = fault_of(graph, items) if items else None
        if fault is None:
            return self._as_a_whole(rewrites, last, graph)
        left = self._left(fault.name, fault.node, fault.says)
        return last.id, replace(left, told=f"{TITLES[fault.name]}: {fault.says}")

    def _as_a_whole(
        self, rewrites: Sequence[Rewrite], last: Rewrite, graph: UOp
    ) -> tuple[int, Left] | None:
        """Where the kernels of a schedule store something else than its Tensors are."""
        if not rewrites[0].sink:
            return None
        parts: dict[UOp, UOp] = {}
        for rewrite in rewrites:
            if rewrite.name == "multi":
                steps = read_steps(self._process.file, rewrite, MAX_STEPS).steps
                pairs = ((m.before, m.after) for m, _ in steps)
                nodes = ((self._rebuilt.node(a), self._rebuilt.node(b)) for a, b in pairs)
                parts.update((a, b) for a, b in nodes if is_in_parts(a, b))
        first = self._rebuilt.node(rewrites[0].sink)
        found = compare_schedule(first, graph, parts)
        if found is None or found.kind != "differs":
            return None
        number = int(found.values[0][1])
        value = first.src[number]
        says = "its kernels store the values of its Tensors"
        left = self._left("schedule", value, says)
        place = found.values[1][1]
        told = (
            f"the schedule as a whole: its kernels store {found.after} as element {place} of "
            f"output {number}, which is {found.before}"
        )
        return last.id, replace(left, told=f"{told}, {left.line}" if left.line else told)

    def _misreading(self, kernel: UOp, rewrites: Sequence[Rewrite]) -> tuple[int, Left]:
        """A kernel that reads what it overwrites, and the step that made it."""
        file, number = self._process.file, self._rebuilt.number(kernel)
        for rewrite in rewrites:
            for at, (match, _) in enumerate(read_steps(file, rewrite, MAX_STEPS).steps, 1):
                if number not in file.nodes.reachable(match.after):
                    continue
                record = file.rules.get(match.rule)
                rule = record.name if record is not None else ""
                ((place, _),) = passes_of(SCHEDULE, [rewrite])
                left = self._left(SCHEDULE[place].name, kernel, SELF_READS)
                told = f"{left.told}, made by {rule} in step {at}"
                return rewrite.id, replace(left, told=told, rule=rule)
        return rewrites[-1].id, self._left(KERNELIZE, kernel, SELF_READS)

    def _items(self, context: Context) -> list[Item]:
        """The plan that the trace has of a schedule: older ones have none."""
        for one in self._process.kernels.recorded(context):
            if one.kind == "order":
                lines = [[*map(self._rebuilt.node, line)] for line in one.lines if line]
                if all(u.op is Ops.KERNEL and memory for u, *memory in lines):
                    return [Item(u, tuple(memory)) for u, *memory in lines]
        return []

    def _left(self, name: str, node: UOp, says: str) -> Left:
        number = self._rebuilt.number(node)
        shown, text, line = self._process.node(number), f"{node.op.name} {node.dtype}", ""
        told = f'pass {name} left "{says}" undone at u{shown} {text}'
        if line := self._line(number):
            told += f", {line}"
        return Left(name, says, shown, text, line, told)

    def _line(self, number: int) -> str:
        """The user's line that asked for a node, or for the nearest one below it, or else for the
        kernel."""
        file, asked = self._process.file, [number]
        for n in asked:
            if lines := self._origins(n):
                return file.text(lines[0]).partition("\n")[0]
            if len(asked) < _NEAR:
                asked += [s for s in file.nodes.sources(n) if s not in asked]
        return self._asked


def passes_of(
    table: Sequence[Pass[Any]], rewrites: Sequence[Rewrite]
) -> Iterator[tuple[int, Rewrite]]:
    """The passes of a table that rewrites, in their order, are of: the place of each, and its last
    rewrite. One whose name is of no pass belongs to the pass before it."""
    at, last = -1, None
    for rewrite in rewrites:
        known = range(max(at, 0), len(table))
        found = next((n for n in known if _is_of(rewrite.name, table[n].name)), at)
        if found != at and last is not None:
            yield at, last
        at = found
        last = rewrite if at >= 0 else None
    if last is not None:
        yield at, last


def _is_of(rewrite: str, step: str) -> bool:
    """Whether a rewrite is one of a pass: it has its name, or one of the two begins with the
    other's."""
    return rewrite == step or rewrite.startswith(f"{step}:") or step.startswith(f"{rewrite}:")


def _first_line(context: Context) -> str:
    """The user's line that asked for a kernel; "" where it is not known."""
    match context.meta.get("metadata"):
        case [str(line), *_]:
            return line
        case _:
            return ""


def _is_outside(u: UOp) -> bool:
    """Whether a node of a schedule is in no kernel."""
    return u.op is not Ops.SINK or not (is_lowered(u) or all(s.op is Ops.STORE for s in u.src))


def _broken(graph: UOp, step: Pass[Any], gone: set[Ops], context: object) -> tuple[UOp, str] | None:
    """The first node for which a guarantee of a pass does not hold, or that is none of its stage,
    and what that is."""
    if (found := undone(graph, step, gone, context)) is not None:
        return found.node, found.says
    if step.spec is None:
        return None
    for u in graph.toposort():
        if u.op not in _IN_PART and (what := violation(u, step.spec)) is not None:
            return u, f"a graph of its stage: {what}"
    return None
