"""What a schedule stores of values on several devices: each part in memory of its own.

The memory of a whole value is made here, for all of its parts at once. Never decides how a value is
cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import ScheduleError
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.call.parts import parts_of
from core.uop.facts.shapes import shown
from core.uop.facts.shards import stays

_same_elements = frozenset({Ops.RESHAPE, Ops.DETACH, Ops.CONTIGUOUS_BACKWARD})
_computed = GroupOp.Elementwise | {Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.FUSE, Ops.COPY}


@dataclass
class Outputs:
    """Where values are stored: for each output on several devices its form in memory, and how many
    parts it has; for parts the ASSIGN to their memory; and the memory that was made for them."""

    forms: dict[UOp, tuple[UOp, int]] = field(default_factory=lambda: dict[UOp, tuple[UOp, int]]())
    stores: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())
    fresh: list[UOp] = field(default_factory=lambda: list[UOp]())

    def place(self, root: UOp, value: UOp) -> UOp:
        """The MULTI `value` of the output `root` once it is stored."""
        if root.op is Ops.ASSIGN:
            form = _without_assigns(root)
            if form.base.op is Ops.BUFFER:
                _check_target(root, form)
                self.forms[root] = (form, len(value.src))
                return value
        memory = value.new_memory()
        self.forms[root] = (memory, len(value.src))
        self.fresh += parts_of(memory.base)
        pairs = zip(value.src, parts_of(memory.base), strict=True)
        return value.rebuild(tuple(self._stored(part, buffer) for part, buffer in pairs))

    def _stored(self, part: UOp, buffer: UOp) -> UOp:
        """A part in its BUFFER: stored there by whatever computes it, for all of its users, or
        copied there from where it is."""
        value = part
        while value.op in _same_elements:
            value = value.src[0]
        target = buffer.reshape(value.shaped)
        if value.op not in _computed or value in self.stores:
            return target.assign(value).reshape(part.shaped)
        inner = value.src[0] if value.op is Ops.CONTIGUOUS else value
        self.stores[value] = target.assign(inner)
        return part


def _without_assigns(form: UOp) -> UOp:
    """The memory that an ASSIGN stores in, as movement of a BUFFER."""
    while form.op is Ops.ASSIGN:
        form = form.src[0]
    base = form.base
    return form if base.op is not Ops.ASSIGN else form.substitute({base: _without_assigns(base)})


def _check_target(root: UOp, form: UOp) -> None:
    """Raises ScheduleError where what is assigned to is not in place on each device."""
    move = form
    while move.op is not Ops.BUFFER:
        if not stays(move):
            raise ScheduleError(
                f"cannot assign to {move.op.name} along the axis that is cut between "
                f"{shown(form.device)}",
                where=root.origin or "",
                hint="assign to all of it, with where for the elements that change",
            )
        move = move.src[0]


def stored_outputs(roots: Sequence[UOp], graph: UOp) -> tuple[UOp, Outputs]:
    """The graph that stores its outputs on several devices in memory of their own. `roots` are what
    its sources were before they were taken apart."""
    outputs = Outputs()
    made = (
        outputs.place(root, value) if value.op is Ops.MULTI else value
        for root, value in zip(roots, graph.src, strict=True)
    )
    return graph.rebuild(tuple(made)), outputs


@rule(UPat(frozenset(Ops), name="u"))
def store_parts(ctx: Outputs, u: UOp) -> UOp | None:
    """f(x) -> f(assign(memory, x)) for each part x of an output"""
    if ctx.stores.keys().isdisjoint(u.src):
        return None
    src = tuple(s if (a := ctx.stores.get(s)) in (None, u) else a for s in u.src)
    return None if src == u.src else u.rebuild(src)


@rule(UPat(Ops.SINK, name="sink"))
def flatten_sink(sink: UOp) -> UOp | None:
    """sink(multi(a, b)) -> sink(a, b)"""
    if all(s.op is not Ops.MULTI for s in sink.src):
        return None
    return sink.rebuild(tuple(p for s in sink.src for p in (s.src if s.op is Ops.MULTI else (s,))))


storing_parts = PatternMatcher([store_parts, flatten_sink], name="multi: outputs")
