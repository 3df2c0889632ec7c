"""Proofs of steps that change loops: these are right together with the other steps of their pass.

A loop that is split or joined with another one is a change of variables: the new loops take each
combination of the old ones' values once. Loops that get other numbers, that are nested, or that are
fused do the same work. None of this runs a kernel, and none of it says anything of the order in
which floats are added, which a REDUCE leaves open. None where there is no such proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Final

import numpy as np

from core.prove.samples.sample import Samples
from core.prove.terms.axes import inwards
from core.prove.terms.node import Kind, postorder
from core.prove.terms.term import Terms
from core.prove.terms.value import Translation
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType
from core.uop.pointer import pointer_of

RENUMBERED: Final = "the same but for the numbers of loops"
NESTED: Final = "the same loops around the same work"
FUSED: Final = "fused loops that share no memory that one of them writes"
EACH_ONCE: Final = "the new loops take each value once"
MAX_ITERATIONS: Final = 1 << 20
"""Combinations of values of loops that are compared."""
_LOOPS: Final = frozenset({Ops.RANGE, Ops.SPECIAL})
_REDUCING: Final = frozenset({AxisType.REDUCE, AxisType.UNROLL, AxisType.GROUP_REDUCE})
_ORDERED: Final = frozenset({Ops.BARRIER, Ops.WAIT, Ops.COPY_ASYNC, Ops.SPECIAL})
_READS: Final = frozenset({Ops.LOAD, Ops.LDMATRIX, Ops.STORE})


def same_work(before: UOp, after: UOp, sink: UOp, result: UOp) -> str | None:
    """Why a node that ends loops, or a whole kernel, does the same as the one in its place. `sink`
    and `result`: the kernel before and after the pass."""
    if renumbered(before, after):
        return RENUMBERED
    if before.op is not Ops.END or after.op is not Ops.END:
        return None
    if _flat(before) == _flat(after):
        return NESTED
    return FUSED if _fused(before, after, sink, result) else None


def renumbered(before: UOp, after: UOp) -> bool:
    """Whether two graphs are the same but for the numbers of their loops, each of which has its
    counterpart of the same kind and length. Loops that neither of them ends are the same ones."""
    if before.ranges != after.ranges:
        return False
    pairs: dict[UOp, UOp] = {}
    back: dict[UOp, UOp] = {}
    stack = [(before, after)]
    while stack:
        x, y = stack.pop()
        if x in pairs or y in back:
            if pairs.get(x) is not y or back.get(y) is not x:
                return False
            continue
        if x.op is not y.op or x.dtype != y.dtype or len(x.src) != len(y.src) or x.tag != y.tag:
            return False
        args = (x.arg[1:], y.arg[1:]) if x.op is Ops.RANGE else (x.arg, y.arg)
        if args[0] != args[1] or repr(args[0]) != repr(args[1]):  # zeros have signs
            return False
        pairs[x], back[y] = y, x
        stack += zip(x.src, y.src, strict=True)
    return True


def change_of_variables(steps: Sequence[tuple[UOp, UOp]], sink: UOp, result: UOp) -> str | None:
    """Why it is right to put expressions of new loops in place of some loops: each combination of
    values that the old loops take together, the new ones give once. The new loops are in no other
    use, and nothing of the old ones is left. Loops that are joined are ended together, and loops of
    reductions stay such."""
    old = dict(steps)
    if not old:
        return None
    fresh = {r: [u for u in after.toposort() if u.op in _LOOPS] for r, after in old.items()}
    known = [*old, *(u for loops in fresh.values() for u in loops)]
    if any(r.op not in _LOOPS or r.src[0].op is not Ops.CONST for r in known):
        return None
    used, left = sink.toposort(), result.toposort()
    if any(r in used for loops in fresh.values() for r in loops) or any(r in left for r in old):
        return None
    ends = [frozenset(u.src[1:]) for u in used if u.op in (Ops.END, Ops.REDUCE)]
    for group in _joined(fresh):
        loops = list(dict.fromkeys(u for r in group for u in fresh[r]))
        if not _each_once({r: old[r] for r in group}, loops):
            return None
        if sink.op is not Ops.SINK and not any(group & e for e in ends):
            continue  # a part of a kernel: what ends them is around it
        if not _same_kinds(group, loops):
            return None
        in_sequence = any(u.op is Ops.RANGE for u in loops)
        if in_sequence and any(not group.isdisjoint(e) and not group <= e for e in ends):
            return None
    return EACH_ONCE


def _joined(fresh: Mapping[UOp, Iterable[UOp]]) -> list[set[UOp]]:
    """The old loops, those together whose values come of the same new ones."""
    groups: list[tuple[set[UOp], set[UOp]]] = []
    for r, loops in fresh.items():
        olds, news = {r}, {*loops}
        apart: list[tuple[set[UOp], set[UOp]]] = []
        for others, theirs in groups:
            if news.isdisjoint(theirs):
                apart.append((others, theirs))
            else:
                olds, news = olds | others, news | theirs
        groups = [*apart, (olds, news)]
    return [olds for olds, _ in groups]


def _same_kinds(old: Iterable[UOp], new: Sequence[UOp]) -> bool:
    """Whether loops that reduce become such loops, and others others. The threads of a work group
    that reduce together may become an index of the hardware, as may any loop that does not reduce;
    a loop of a REDUCE may not."""
    kinds = {r.arg[-1] for r in old if r.op is Ops.RANGE}
    if new and all(u.op is Ops.SPECIAL for u in new):
        return kinds.isdisjoint((AxisType.REDUCE, AxisType.UNROLL))
    if any(u.op is Ops.SPECIAL for u in new):
        return False
    return len({kind in _REDUCING for kind in (*kinds, *(u.arg[-1] for u in new))}) <= 1


def _each_once(old: Mapping[UOp, UOp], new: Sequence[UOp]) -> bool:
    """Whether the expressions of the new loops give each combination of the old ones' values
    once."""
    read = Translation(Terms())
    values = [read.values(after)[0] for after in old.values()]
    sizes = [int(r.src[0].arg) for r in old]
    inputs = [t for t in dict.fromkeys(t for r in new for t in read.values(r)) if not t.constant]
    if any(
        t.op is Kind.READ or (t.op is Kind.INPUT and t not in inputs) for t in postorder(values)
    ):
        return False
    count = prod(sizes)
    if not 0 < count <= MAX_ITERATIONS or prod(t.high - t.low + 1 for t in inputs) != count:
        return False
    samples = Samples(count)
    found = samples.run_given(values, samples.exhaust(inputs))
    if any(((x < 0) | (x >= n)).any() for x, n in zip(found, sizes, strict=True)):
        return False
    at = np.ravel_multi_index([x.astype(np.int64) for x in found], sizes)
    return bool(np.bincount(at, minlength=count).max() == 1)


def _flat(end: UOp) -> tuple[UOp, list[UOp]]:
    """What is done inside of ENDs around each other, and all the loops that they end, the outermost
    first."""
    ended: list[UOp] = []
    while end.op is Ops.END:
        ended += sorted(end.src[1:], key=inwards)
        end = end.src[0]
    return end, ended


def _fused(before: UOp, after: UOp, sink: UOp, result: UOp) -> bool:
    """Whether `after` ends the loops of `before` around its work and that of other ENDs of the
    kernel, none of which needs memory that another one writes, and none of which is left."""
    (work, loops), (group, kept) = (before.src[0], {*before.src[1:]}), (after.src[0], after.src[1:])
    if loops != {*kept} or group.op is not Ops.GROUP or work not in group.src:
        return False
    if any(r.arg[-1] is AxisType.THREAD for r in loops):
        return False
    ends = {u.src[0]: u for u in sink.toposort() if u.op is Ops.END and {*u.src[1:]} == loops}
    if any(other not in ends or ends[other].ranges != before.ranges for other in group.src):
        return False
    left = result.toposort()
    if any(ends[other] in left for other in group.src):
        return False
    inside = {other: other.toposort() for other in group.src}
    if any(u in inside[other] for other in group.src for u in ends.values()):
        return False
    return not any(_disturbs(inside[x], inside[y]) for x in inside for y in inside if x is not y)


def _disturbs(x: Mapping[UOp, None], y: Mapping[UOp, None]) -> bool:
    """Whether the nodes that only x has write memory that y uses, or something orders them."""
    own = [u for u in x if u not in y]
    if any(u.op in _ORDERED for u in own):
        return True
    return bool(_memories(u for u in own if u.op is Ops.STORE) & _memories(y))


def _memories(nodes: Iterable[UOp]) -> set[UOp]:
    return {pointer_of(u.src[0]) for u in nodes if u.op in _READS}
