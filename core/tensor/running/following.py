"""Which expressions are kept when values are stored, and what happens to those that read
overwritten memory.

Looks at the graph of a schedule before Tensors forget it, once, and only where a Tensor that
requires a gradient needs one of its values. Never schedules, and never changes the graph of a
Tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from core.dtype import dtypes
from core.gradients.gradient import ways
from core.tensor.running import kept, lost
from core.tensor.running.kept import Kept
from core.tensor.state.base import TensorBase, live
from core.tensor.state.live import Holder
from core.tensor.state.storage import put_back
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp


@dataclass(frozen=True)
class Ways:
    """What gradients that flow to memory flow on to after a schedule: BUFFERs that it overwrote,
    the expressions of BUFFERs, and those that gradients are lost at."""

    anew: Collection[UOp]
    expressions: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())
    lost: list[UOp] = field(default_factory=lambda: list[UOp]())
    views: list[UOp] = field(default_factory=lambda: list[UOp]())
    """Roots that keep their graphs, unless these read what the schedule overwrites after that. A
    VIEW, such as a copy of a transposed value is, has no gradient; and what turned out to be equal
    to a Tensor may have been stored as other movement of its memory, by which no gradient comes to
    that Tensor."""

    def open(self) -> None:
        """To be called once the graphs of Tensors name the memory."""
        for buffer in self.anew:
            lost.stored_anew(buffer)
        for buffer in self.lost:
            lost.mark(buffer)
        for buffer, expression in self.expressions.items():
            kept.keep(buffer, expression)


def follow(graph: Collection[UOp], stored: Mapping[UOp, UOp]) -> Ways:
    """Where gradients continue from what a schedule stores. `graph`: all of it, sources first;
    `stored`: roots in it, with all its ASSIGNs, as movement of the memory that they are stored in.

    A kept expression that reads memory overwritten now uses the expression of the old value, if
    that is known; it is cut where that was the value of a Tensor that requires a gradient.
    """
    past = _Past(graph)
    found = Ways(past.overwritten)
    stored = {root: _elements(form) for root, form in stored.items()}
    above, holders = live.above(stored, lambda user, source: user.op is not Ops.DETACH)
    if not (wanting := [t for t in holders if _wants(t)]):
        return found
    ends = UOp.sink(*(t.uop for t in wanting))
    needed = ends.toposort(lambda u: u is ends or u in above or u in stored)
    roots = [u for u in needed if u in stored and dtypes.is_float(u.dtype)]
    reached = _reached(roots)
    named = {t.uop for t in live.named_in(reached) if _wants(t)}
    leading, gone = _leading(graph, reached, named, past)
    computed = [u for u in roots if u.op is not Ops.ASSIGN]
    equal = {u for u in computed if stored[u].base in graph}
    passes_by = _PassesBy(named)
    found.views.extend(
        u
        for u in computed
        if u in leading
        and (stored[u].op is Ops.VIEW or (u in equal and passes_by(stored[u])))
        and not past.is_before(u)
    )
    stored = {u: form for u, form in stored.items() if u not in found.views}
    for root in (u for u in roots if u in stored):
        if root in equal:  # no kernel ran: gradients continue from what was in memory
            continue
        memory = stored[root].base
        if memory.op is not Ops.BUFFER or memory in found.expressions:
            continue
        if root.op is Ops.ASSIGN:
            whole = _assigned(root)
            way = (root.src[1], memory) if _is_part(root.src[0]) else root.src[1:]
        else:
            whole = _computed(root, stored[root])
            way = ways(root if whole is None else whole)
        if not gone.isdisjoint(way):
            found.lost.append(memory)
        elif not leading.isdisjoint(way):
            if whole is None:  # not known to be all of the memory
                found.lost.append(memory)
            elif root.op is Ops.ASSIGN:
                found.expressions[memory] = past.resolve(whole, stored)
            else:
                reads = [past.resolve(s, stored) for s in whole.src]
                made = whole.rebuild(tuple(reads))
                for axis, _ in made.lengths:
                    made = made.all_of(axis)
                found.expressions[memory] = made
    calls = {
        u.src[0]
        for u, form in stored.items()
        if u.op is Ops.OUTPUT and form.base in found.expressions
    }
    for u, form in stored.items():  # integers, too: a gradient may read all outputs of a kernel
        if u.op is Ops.OUTPUT and u.src[0] in calls and form.base not in found.expressions:
            found.expressions[form.base] = u.rebuild((past.resolve(u.src[0], stored),))
    return found


def _elements(form: UOp) -> UOp:
    """Movement of memory, without the lengths of its axes that are variables."""
    while form.op is Ops.LENGTH:
        form = form.src[0]
    return form


class _Past:
    """What was in memory that a schedule overwrites."""

    def __init__(self, graph: Collection[UOp]) -> None:
        assigns = [(_memory(u), u) for u in graph if u.op is Ops.ASSIGN]
        self.overwritten = {memory: u for memory, u in assigns if memory.op is Ops.BUFFER}
        """The ASSIGN to each BUFFER."""
        self._leaves = {m for m, u in self.overwritten.items() if _was_leaf(m, u)}
        readers = kept.readers(self.overwritten)
        known = {m: kept.forget(m) for m in self.overwritten}
        self._known = {m: expression for m, expression in known.items() if expression is not None}
        new: dict[UOp, UOp] = {}
        kept.expand([*self._known, *(k.expression for k in readers)], self.before, new)
        self._known |= {m: new[m] for m in self._known if m in new}
        gone = [k for k in readers if kept.is_cut_off(k.expression)]
        for k in readers:
            k.uop = UOp.sink(new[k.expression])
        kept.cut([*gone, *(k for k in readers if kept.is_cut_off(k.expression))])
        self._new: dict[UOp, UOp] = {}

    def before(self, memory: UOp) -> UOp | None:
        """An expression for the former content of a BUFFER; None where it has not changed."""
        if memory not in self.overwritten:
            return None
        if memory not in self._known:
            self._known[memory] = lost.former(memory, memory in self._leaves)
        return self._known[memory]

    def is_before(self, root: UOp) -> bool:
        """Whether a value is of what was in memory before it was overwritten for the last time: its
        graph would read something else by now."""
        graph = root.toposort() if self.overwritten else {}
        return any(m in graph and last not in graph for m, last in self.overwritten.items())

    def resolve(self, uop: UOp, stored: Mapping[UOp, UOp]) -> UOp:
        """A value in the graph of the schedule as one of memory after it."""
        self._new = self._new or dict(stored)
        kept.expand([uop], self.before, self._new)
        return self._new[uop]


class _PassesBy:
    """Whether movement of a BUFFER leaves out a node that is movement of it, too."""

    def __init__(self, nodes: Collection[UOp]) -> None:
        self._ends: dict[UOp, set[UOp]] = {}
        for u in nodes:
            self._ends.setdefault(u.base, set()).add(u)

    def __call__(self, form: UOp) -> bool:
        way = {form}
        while form is not form.base:
            form = form.src[0]
            way.add(form)
        return not self._ends.get(form, set[UOp]()) <= way


def _was_leaf(memory: UOp, assign: UOp) -> bool:
    """Whether a gradient that flows to what a BUFFER held before an ASSIGN is lost."""
    if lost.is_lost(memory):
        return True
    sees = live.elements_of(assign)
    wanted = any(isinstance(t, TensorBase) and t.requires_grad for t in sees)
    return wanted and not kept.leads(assign.src[1])


def _memory(assign: UOp) -> UOp:
    """What an ASSIGN stores in."""
    while assign.op is Ops.ASSIGN:
        assign = assign.src[0].base
    return assign


def _reached(roots: Collection[UOp]) -> Collection[UOp]:
    """The nodes that gradients of `roots` flow to, `roots` included."""
    reached = dict.fromkeys(roots)
    stack = list(roots)
    while stack:
        u = stack.pop()
        for s in (*ways(u), _memory(u)) if u.op is Ops.ASSIGN else ways(u):
            if s not in reached:
                reached[s] = None
                stack.append(s)
    return reached.keys()


def _leading(
    graph: Collection[UOp], reached: Collection[UOp], named: Collection[UOp], past: _Past
) -> tuple[set[UOp], set[UOp]]:
    """The nodes of `reached` from where gradients flow on to those of `named`, or to where they are
    lost; and the latter."""
    leading: set[UOp] = set()
    gone: set[UOp] = set()
    for u in graph:
        if u not in reached:
            continue
        before = past.before(u) if u.op is Ops.BUFFER else None
        if before is not None:
            lead, end = kept.leads(before), kept.is_cut_off(before)
        else:
            end = lost.is_lost(u) or not gone.isdisjoint(ways(u))
            lead = u in named or kept.is_kept(u) or not leading.isdisjoint(ways(u))
        if end:
            gone.add(u)
        if lead or end:
            leading.add(u)
    return leading, gone


def _wants(t: Holder) -> bool:
    return isinstance(t, Kept) or (isinstance(t, TensorBase) and bool(t.requires_grad))


def _is_part(target: UOp) -> bool:
    """Whether an ASSIGN leaves some of the memory of its target as it was."""
    return target.size != target.base.size


def _assigned(assign: UOp) -> UOp | None:
    """The value of all of the BUFFER that an ASSIGN stores in, row-major; None where that takes
    more than the ASSIGN."""
    target = assign.src[0]
    memory = target
    while memory.op in GroupOp.Movement:
        memory = memory.src[0]
    return None if memory.op is not Ops.BUFFER else put_back(target, memory, assign.src[1])


def _computed(root: UOp, form: UOp) -> UOp | None:
    """The node whose elements are all that is in the BUFFER that `form`, in which `root` is stored,
    is movement of, row-major; None where that is no node."""
    while form.op is not Ops.BUFFER:
        if form.op is Ops.RESHAPE and form.src[0].op is Ops.BUFFER:
            break
        if form.op not in GroupOp.Movement or (form.op, form.arg) != (root.op, root.arg):
            return None
        root, form = root.src[0], form.src[0]
    return root
