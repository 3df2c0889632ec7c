"""The loops of a kernel as the optimizer sees them: ordered, by kind, and splittable.

Holds a lowered graph and replaces it as loops are split; each change is one rewrite of the graph.
Never decides what to split (choose.py) nor whether it is allowed (apply.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy

from core.helpers import prod
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.kernelinfo import AxisType
from core.uop.patterns.rule import Assumes

Path = tuple[int, ...]

OUTER = (AxisType.LOOP, AxisType.GLOBAL)
"""Kinds of the loops over outputs that have not been given another task."""

_ranks = {
    AxisType.LOOP: 0,
    AxisType.GLOBAL: 0,
    AxisType.THREAD: 0,
    AxisType.LOCAL: 1,
    AxisType.GROUP_REDUCE: 2,
    AxisType.WARP: 3,
    AxisType.REDUCE: 4,
    AxisType.UNROLL: 5,
    AxisType.UPCAST: 6,
}
"""Order of the kinds in the numbering: lanes of outputs vary fastest, then unrolled lanes. Of the
threads of a group, those of a warp do: they are neighbours."""
_FASTEST = max(_ranks.values()) + 1


@rule(UPat(Ops.RANGE, name="r"), assumes=(Assumes.CONTEXT,))
def replace_range(ctx: Mapping[UOp, UOp], r: UOp) -> UOp | None:
    """r: n -> outer: n/k * k + inner: k"""
    return ctx.get(r)


@rule(UPat((Ops.REDUCE, Ops.END), name="x"), assumes=(Assumes.CONTEXT,))
def spread_ranges(x: UOp) -> UOp | None:
    """end(a, outer * k + inner) -> end(a, outer, inner)"""
    if all(r.op is Ops.RANGE for r in x.src[1:]):
        return None
    ranges: dict[UOp, None] = {}
    for r in x.src[1:]:
        ranges.update((u, None) for u in r.toposort() if u.op is Ops.RANGE)
    return x.rebuild((x.src[0], *ranges))


@rule(UPat(Ops.SINK, name="sink"), assumes=(Assumes.CONTEXT,))
def number_loops(ctx: dict[UOp, UOp], sink: UOp) -> UOp:
    """range number -> its place in the nest, for all loops at once"""
    made = sink.substitute(ctx)
    ctx.clear()
    return made


splitting = PatternMatcher([replace_range, spread_ranges], name="optimize: split loops")
numbering = PatternMatcher([number_loops], name="optimize: number loops")


class Kernel:
    """A lowered kernel under optimisation.

    `sink` is its graph. `path` orders loops: a loop split from another lies next to it.
    """

    def __init__(self, sink: UOp, target: Target) -> None:
        self.sink, self.target = sink, target
        self.local_allowed = target.has_local
        self.group_outside = False
        """Whether threads that reduce together are further apart than those of LOCAL loops."""
        self.operand_lanes: set[UOp] = set()
        """Loops over the elements of A and B that a lane holds for its tensor core."""
        self.fastest: set[UOp] = set()
        """Lanes of a reduce that are neighbours in memory, and so in vectors: they vary fastest."""
        order = sink.toposort()
        loops = [u for u in order if u.op is Ops.RANGE]
        self.as_written = {r.arg for r in loops if r.src[0].op is not Ops.CONST}
        """Arguments of the loops that stay as they are: those whose length is not known, whose
        iterations or end something in the kernel waits for, or that may write an element again."""
        self.as_written.update(r.arg for r in (*_waited_for(order), *_writing_again(order)))
        self.path: dict[UOp, Path] = {r: (r.arg[0],) for r in loops}
        self._next = 1 + max((r.arg[0] for r in loops), default=-1)

    def copied(self) -> Kernel:
        """The kernel once more: opts applied to one leave the other as it is."""
        made = copy(self)
        made.path, made.operand_lanes = dict(self.path), set(self.operand_lanes)
        made.fastest = set(self.fastest)
        return made

    def take(self, other: Kernel) -> None:
        """Becomes what a copy of it has become."""
        self.__dict__.update(other.__dict__)

    def loops(self, *kinds: AxisType) -> list[UOp]:
        """The loops of these kinds that may be changed, outermost first."""
        found = [r for r in self.path if r.arg[1] in kinds and r.arg not in self.as_written]
        return sorted(found, key=self.path.__getitem__)

    def sizes(self, *kinds: AxisType) -> list[int]:
        """Their numbers of iterations."""
        return [r.src[0].arg for r in self.loops(*kinds)]

    def lanes(self, *kinds: AxisType) -> int:
        """Iterations of all the loops of these kinds together; those over the operands of a tensor
        core make no value of the kernel wider."""
        return prod(r.src[0].arg for r in self.loops(*kinds) if r not in self.operand_lanes)

    @property
    def reduces(self) -> list[UOp]:
        """The REDUCE nodes, inner ones first."""
        return [u for u in self.sink.toposort() if u.op is Ops.REDUCE]

    def new_loop(self, size: int, kind: AxisType, path: Path) -> UOp:
        """A loop that is not in the graph yet."""
        made = UOp.range(size, self._next, kind)
        self._next += 1
        self.path[made] = path
        return made

    def split(self, loop: UOp, amount: int, kind: AxisType, top: bool, name: str) -> UOp:
        """Makes `amount` iterations of a loop a loop of another kind, the inner one or (`top`) the
        outer one. Returns the new loop."""
        size, path = loop.src[0].arg, self.path[loop]
        made = self.new_loop(amount, kind, (*path, 0 if top else 1))
        value = made
        if amount != size:
            rest = self.new_loop(size // amount, loop.arg[1], (*path, 1 if top else 0))
            inner, outer = (rest, made) if top else (made, rest)
            step = size // amount if top else amount
            value = outer.cast(loop.dtype) * step + inner.cast(loop.dtype)
        value = value.cast(loop.dtype)
        self.replace({loop: value}, name)
        return made

    def replace(self, loops: Mapping[UOp, UOp], name: str) -> None:
        """Puts expressions of other loops in place of loops."""
        for loop in loops:
            del self.path[loop]
        self.sink = graph_rewrite(self.sink, splitting, loops, bottom_up=True, name=name)

    def swap(self, a: UOp, b: UOp) -> None:
        """Exchanges the places of two loops in the nest."""
        self.path[a], self.path[b] = self.path[b], self.path[a]

    def numbered(self) -> UOp:
        """The graph with loops numbered in the order of the nest."""
        ranks = dict(_ranks)
        if self.group_outside:
            ranks[AxisType.GROUP_REDUCE] = ranks[AxisType.LOOP]
            ranks[AxisType.LOOP] = ranks[AxisType.GLOBAL] = -1
        rank = {r: _FASTEST if r in self.fastest else ranks[r.arg[1]] for r in self.path}
        order = sorted(self.path, key=lambda r: (rank[r], self.path[r]))
        numbers = {r.arg: number for number, r in enumerate(order)}
        renamed: dict[UOp, UOp] = {}
        for r in self.sink.toposort() if self.as_written else order:
            if r.op is Ops.RANGE:
                length = r.src[0].substitute(renamed)  # another loop may be in it
                made = r.replace(src=(length,), arg=(numbers[r.arg], r.arg[1]))
                if made is not r:
                    renamed[r] = made
        if not renamed:
            return self.sink
        return graph_rewrite(self.sink, numbering, renamed, name="optimize: number loops")


def _writing_again(order: Iterable[UOp]) -> set[UOp]:
    """The loops around a store of a kernel written by hand whose place does not follow from their
    iteration: it is read from memory, or the same each time. The last iteration has to be the
    last."""
    found: set[UOp] = set()
    for end in order:
        if end.op is not Ops.END:
            continue
        body = end.src[0].toposort(lambda u: u.op in _BODIES)
        for store in (u for u in body if u.op is Ops.STORE and u.src[0].op is Ops.INDEX):
            place = store.src[0].src[1].toposort(lambda u: u.op is not Ops.LOAD)
            found.update(r for r in end.src[1:] if r.op is Ops.RANGE and r not in place)
    return found


_BODIES = frozenset({Ops.END, Ops.GROUP, Ops.AFTER, Ops.NOOP, Ops.STORE})
"""What stores stand in, down to them."""


def _waited_for(order: Iterable[UOp]) -> set[UOp]:
    """The loops of a kernel written by hand that are no loops over outputs: memory is in another
    state in each iteration, or something runs once they have ended."""
    found: set[UOp] = set()
    seen: set[UOp] = set()
    for u in order:
        if u.op not in (Ops.AFTER, Ops.BARRIER):
            continue
        stack = list(u.src if u.op is Ops.BARRIER else u.src[1:])
        if u.op is Ops.BARRIER or not _without_content(u.src[0]):
            found.update(r for r in stack if r.op is Ops.RANGE)
        while stack:
            below = stack.pop()
            if below not in seen:
                seen.add(below)
                stack.extend(below.src)
                if below.op is Ops.END:
                    found.update(r for r in below.src[1:] if r.op is Ops.RANGE)
    return found


def _without_content(memory: UOp) -> bool:
    """Whether nothing was stored in registers or shared memory, so that no loop finds any there."""
    while memory.op is Ops.AFTER and all(s.op is Ops.RANGE for s in memory.src[1:]):
        memory = memory.src[0]
    return memory.op in (Ops.DEFINE_REG, Ops.DEFINE_LOCAL)


def run_by_groups(kernel: Kernel) -> None:
    """Gives every loop over outputs to work groups, one iteration each."""
    loops = {r: r.replace(arg=(r.arg[0], AxisType.GLOBAL)) for r in kernel.loops(AxisType.LOOP)}
    if loops:
        paths = {made: kernel.path[r] for r, made in loops.items()}
        kernel.replace(loops, "optimize: run outputs by work groups")
        kernel.path.update(paths)
