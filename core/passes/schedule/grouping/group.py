"""Grouping: which values become memory, so that the graph falls apart into kernels.

A value is stored because it must be (an output, a copied value) or because computing it again where
it is used would cost more than storing it. A reduce is stored at the end of the elementwise chain
that follows it. The decision never changes a result, only the number and the cost of kernels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from core.helpers import DONT_GROUP_REDUCES, DONT_REALIZE_EXPAND, MAX_BUFFERS, OPT
from core.passes.schedule.grouping.fanout import BARRIERS, COMPUTE, Fanout
from core.passes.schedule.grouping.fuse import computed_within
from core.passes.schedule.grouping.storing import Stored, reuse_contiguous
from core.passes.schedule.simplify.picks import picks
from core.passes.schedule.simplify.repeats import reads
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp

EXPENSIVE = {
    Ops.EXP2: 8,
    Ops.LOG2: 8,
    Ops.SIN: 8,
    Ops.COS: 8,
    Ops.POW: 16,
    Ops.SQRT: 4,
    Ops.RECIPROCAL: 4,
    Ops.FDIV: 4,
    Ops.IDIV: 4,
    Ops.MOD: 4,
    Ops.THREEFRY: 64,
}
"""Cost of an op in additions; 1 for all others, and for a load."""
REPEAT_LIMIT = 16
"""A value read several times by an expanding view is computed each time up to this cost."""
SHARE_LIMIT = 256
"""A value that several kernels use is computed in each up to this cost."""
SPREAD_LIMIT = 64
"""A value that one kernel reads through several views is computed for each up to this cost."""
_OUTPUTS = (BARRIERS | COMPUTE) - {Ops.SINK}
"""Nodes that can be what a kernel stores."""
Decisions = dict[UOp, str]
"""For each value: whether it is stored, and why."""
_STORED_ANYWAY = {
    Ops.CONTIGUOUS: "it is to be memory of its own",
    Ops.ASSIGN: "assigned to memory",
    Ops.COPY: "copied from another device",
    Ops.OUTPUT: "a kernel written by hand makes it",
}
"""What is memory whatever is decided here, and why."""
_WITHIN = "fuse() asks for one kernel for all of it"
_FOLLOWS = "it follows a reduce element for element, in the reduce's kernel"


def group(
    sink: UOp,
    order: Iterable[UOp],
    fused: Sequence[UOp] = (),
    decisions: Decisions | None = None,
) -> Stored:
    """The values to store of a graph with the nodes `order`, sources first, besides what
    CONTIGUOUS, ASSIGN and COPY store already. Each of `fused` is computed by one kernel.
    `decisions` is filled with what was decided about each value, and why."""
    fanout = Fanout(sink, order)
    picked = {u for u in fanout.order if picks(u)}
    grouping = Grouping(fanout, decisions, fused, computed_within(fanout, fused), picked)
    grouping.store_needed()
    if OPT.value == 0:
        for u in grouping.fanout.order:
            if u.op in COMPUTE and u.device is not None:  # else it is computed where it is used
                grouping.store(u, "OPT=0: every value is a kernel")
    else:
        grouping.end_reduces()
        grouping.store_repeated()
        grouping.store_spread()
        grouping.limit_buffers()
    found = Stored(grouping.stored)
    if OPT.value >= 3:
        found = reuse_contiguous(grouping.stored, fanout)
        for u in found.instead:
            if u in grouping.stored:
                grouping.store(u, "in the order in which it is made contiguous")
    if decisions is not None:
        grouping.explain_rest(decisions)
    return found


@dataclass
class Grouping:
    """The state of one `group`: what is stored, and which reduce each elementwise node follows."""

    fanout: Fanout
    decisions: Decisions | None
    fused: Sequence[UOp] = ()
    within: Collection[UOp] = ()
    """What is computed in the kernels of `fused`, and stored only where it must be."""
    picked: Collection[UOp] = ()
    """Sums that pick one element, which are taken for elementwise values."""
    stored: set[UOp] = field(default_factory=lambda: set[UOp]())
    follows: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())

    def store(self, u: UOp, reason: str) -> None:
        """`u` becomes memory."""
        self.stored.add(u)
        if self.decisions is not None:
            self.decisions[u] = f"stored: {reason}"

    def compute(self, u: UOp, reason: str) -> None:
        """`u` is computed in the kernels that use it, unless something else stores it later."""
        if self.decisions is not None and u not in self.stored:
            self.decisions[u] = f"computed where it is used: {reason}"

    def explain_rest(self, decisions: Decisions) -> None:
        """What was never in question: what is memory anyway, and what one value uses."""
        for u in self.fanout.order:
            if u in decisions:
                continue
            if u.op in _STORED_ANYWAY:
                decisions[u] = f"stored: {_STORED_ANYWAY[u.op]}"
            elif u.op in COMPUTE and u not in self.fanout.reads_memory:
                self.compute(u, "it reads no memory")
            elif u in self.picked:
                self.compute(u, "it picks one element: a load")
            elif u.op is Ops.REDUCE_AXIS:
                self.compute(u, "its chain ends in a value that is stored")
            elif u.op in COMPUTE:
                self.compute(u, "each element is used once")

    def store_needed(self) -> None:
        """Outputs, copied values, and values whose bits are read as elements of another size."""
        for u in self.fanout.order:
            resized = u.op is Ops.BITCAST and u.dtype.itemsize != u.src[0].dtype.itemsize
            if u.op in (Ops.SINK, Ops.COPY) or resized:
                what = {Ops.SINK: "an output", Ops.COPY: "copied to another device"}
                reason = what.get(u.op, "its bits are read as elements of another size")
                for s in u.src:
                    if s.base.op in COMPUTE:
                        self.store(s.base, reason)

    def end_reduces(self) -> None:
        """Stores each reduce, and what is computed in one kernel, at the end of the elementwise
        chain that it can be computed with."""
        for u in self.within:
            self.compute(u, _WITHIN)
        whole = set(self.fused)
        for r in self.fanout.order:
            begins = (r.op is Ops.REDUCE_AXIS and r not in self.picked) or r in whole
            done = r in self.stored or r in self.within
            if begins and r in self.fanout.reads_memory and not done:
                self._end_reduce(r)

    def _end_reduce(self, r: UOp) -> None:
        end, reason = r, "its users meet in no one value before the outputs"
        grouped = OPT.value >= 2 and not DONT_GROUP_REDUCES
        while end not in self.stored and grouped:
            meet = self.fanout.meets[end]
            if meet.op in (Ops.SINK, Ops.COPY, Ops.KERNEL):
                break
            region = self.fanout.between(end, meet, lambda u: self._may_follow(u, r))
            if region is None:
                reason = "another reduce or memory lies between it and where its users meet"
                break
            if not self._fits(r, end, region):
                reason = "what follows reads it in another order, or as another shape"
                break
            for u in region:
                self.follows[u] = r
                if u.op in COMPUTE:
                    self.compute(u, _FOLLOWS)
            end = meet
            if end.op in BARRIERS:
                return
        if end not in self.stored:
            while end.op is Ops.CAST and end is not r:
                inner = end.src[0].base
                if (
                    end.dtype.itemsize <= inner.dtype.itemsize
                    or self.follows.get(inner, r) is not r
                ):
                    break
                end = inner  # the wider dtype would only be more to write and read
            chain = "a reduce" if end is r else "the end of the elementwise chain after a reduce"
            self.store(end, f"{chain}; {reason}" if grouped else chain)
        elif end is not r:
            self.compute(r, "its chain ends in a value that is stored")

    def _may_follow(self, u: UOp, r: UOp) -> bool:
        """Whether the kernel of the reduce `r` may compute `u` on the way to its output."""
        return self._elementwise(u) and self.follows.get(u, r) is r

    def _fits(self, r: UOp, end: UOp, region: list[UOp]) -> bool:
        """Whether one kernel can compute `region`, the last node of it being its output: each node
        reading the elements of `end` in one order. All but the last are elementwise."""
        output = region[-1]
        if output.op not in GroupOp.Elementwise | BARRIERS or self.follows.get(output, r) is not r:
            return False
        reads: dict[UOp, ShapeTracker] = {end: ShapeTracker.from_shape(end.shaped)}
        for u in region:
            if u.device != r.device:
                return False
            values = u.src[1:] if u.op is Ops.ASSIGN else u.src
            for s in values:
                base, st = (s.src[0], s.arg) if s.op is Ops.VIEW else (s, None)
                if base not in reads:
                    continue
                if st is not None and not _one_to_one(st, base.shaped):
                    return False
                through = reads[base] if st is None else reads[base] + st
                if reads.setdefault(u, through) != through:
                    return False
        return True

    def store_repeated(self) -> None:
        """Stores elementwise values that expanding views or several kernels would compute again."""
        meeting = self.fanout.meeting(self._elementwise)
        costly: set[UOp] = set()  # over SHARE_LIMIT, as whatever is computed from one is
        for u, uses in self.fanout.uses.items():
            computed = u.op in COMPUTE and u not in self.stored
            if computed and not costly.isdisjoint([s.base for s in u.src]):
                costly.add(u)
            if len(uses) == 1 and uses[0].st is None:
                continue
            if not self._elementwise(u) or u in self.within or not self._may_store(u):
                continue
            repeated = any(use.st is not None and reads(use.st) > u.size for use in uses)
            repeated = repeated and not DONT_REALIZE_EXPAND
            limit = SPREAD_LIMIT if u.size == 1 else REPEAT_LIMIT
            if len(uses) > 1 and u not in costly and self._cost(u, SHARE_LIMIT) > SHARE_LIMIT:
                costly.add(u)
            shared = len(uses) > 1 and u in costly
            stays = u in meeting and self.fanout.meets[u].op in _OUTPUTS
            if repeated and (u in costly or self._cost(u, limit) > limit):
                costly.discard(u)
                self.store(u, f"read more than once, and one element costs more than {limit}")
            elif shared and not stays:
                costly.discard(u)
                self.store(u, f"several kernels use it, and it costs more than {SHARE_LIMIT}")
            elif repeated:
                self.compute(u, f"read more than once, but one element costs at most {limit}")
            elif shared:
                self.compute(u, "its users meet again in one kernel")
            elif len(uses) > 1:
                self.compute(u, f"several values use it, but it costs at most {SHARE_LIMIT}")

    def _may_store(self, u: UOp) -> bool:
        """Constants and counting are never stored, except for random numbers, which are costly."""
        return u in self.fanout.reads_memory or self._cost(u, 63) > 63

    def _elementwise(self, u: UOp) -> bool:
        """Whether a kernel that reads `u` may compute it on the way."""
        return (u.op in GroupOp.Elementwise or u in self.picked) and u not in self.stored

    def store_spread(self) -> None:
        """Stores elementwise values that one kernel would compute under many different views."""
        copies: dict[UOp, int] = {}
        for u, uses in reversed(self.fanout.uses.items()):
            through: dict[ShapeTracker | None, int] = {}
            for use in uses:
                fresh = use.user in self.stored or use.user.op in BARRIERS
                count = 1 if fresh else copies.get(use.user, 1)
                through[use.st] = max(through.get(use.st, 1), count)
            copies[u] = sum(through.values()) or 1
            free = u not in self.stored and u not in self.within
            if copies[u] > 4 and self._elementwise(u) and free:
                limit = SPREAD_LIMIT // copies[u]
                if u in self.fanout.reads_memory and self._cost(u, limit) > limit:
                    self.store(u, f"one kernel would compute it in {copies[u]} different orders")
            if u in self.stored:
                copies[u] = 1

    def limit_buffers(self) -> None:
        """Stores elementwise values until no kernel uses more buffers than a launch can pass."""
        inputs: dict[UOp, frozenset[UOp]] = {}
        none: frozenset[UOp] = frozenset()
        most = MAX_BUFFERS.value
        for u in self.fanout.order:
            if u.op is Ops.VIEW:
                inputs[u] = inputs[u.src[0]]
            elif u.op not in COMPUTE and u.op not in (Ops.CONTIGUOUS, Ops.ASSIGN):
                inputs[u] = frozenset({u}) if u in self.fanout.reads_memory else none
                continue
            else:
                values = u.src[1:] if u.op is Ops.ASSIGN else u.src
                while len(found := none.union(*(inputs[s] for s in values))) > most:
                    widest = max(values, key=lambda s: len(inputs[s]))
                    if len(inputs[widest]) <= 1:
                        break
                    self.store(widest.base, f"its kernel would use over {most} buffers")
                    inputs[widest] = inputs[widest.base] = frozenset({widest.base})
                inputs[u] = found
            if u in self.stored or u.op in (Ops.CONTIGUOUS, Ops.ASSIGN):
                inputs[u] = frozenset({u})

    def _cost(self, u: UOp, limit: int) -> int:
        """Cost of one element of `u` computed from stored values; counting stops over `limit`."""
        total, seen, stack = 0, {u}, [u]
        while stack and total <= limit:
            v = stack.pop()
            if v.op in COMPUTE:
                total += EXPENSIVE.get(v.op, 1)
            elif v.op in (Ops.BUFFER, Ops.BUFFER_VIEW, Ops.OUTPUT) or v.op in BARRIERS:
                total += 1
                continue
            for s in v.src:
                base = s.base
                if base in self.stored:
                    total += base not in seen
                elif base not in seen:
                    stack.append(base)
                seen.add(base)
        return total


def _one_to_one(st: ShapeTracker, shape: tuple[int, ...]) -> bool:
    """Whether the view reads each element exactly once and nothing else."""
    if st.contiguous:
        return True
    return not st.masked and st.invert(shape) is not None
