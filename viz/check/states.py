"""Whole states of a kernel: both are run on random inputs, and what they store is compared.

For steps that are right together with the other steps of their pass alone, such as splits of loops.
A state that was run is kept for the next pass, whose first state it is. Never runs compiled code.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import numpy as np

from core.errors import RunError, UopvizError
from core.prove.verdict import Verdict
from core.runtime.numeric import Array
from core.runtime.reference.inputs import Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel, evaluations
from core.uop import Ops, UOp

MAX_WORK: Final = 1 << 21
"""Iterations, times the nodes that are in the innermost loop."""
MAX_EVALUATIONS: Final = 1 << 15
"""Nodes that are evaluated one after the other, in loops whose iterations need each other: about a
second."""
MAX_BYTES: Final = 1 << 28
_KEPT: Final = 4
_CLOSE: Final = 1e-3
SAME: Final = "the states before and after the pass store the same"

Stored = dict[int, Array]


class States:
    """The results of the last states that were run."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[UOp, UOp], Stored] = OrderedDict()

    def compare(self, before: UOp, after: UOp) -> Verdict:
        """Whether two states of a kernel store the same. Never raises for what cannot be run."""
        if not _is_kernel(before) or not _is_kernel(after):
            return Verdict("unchecked", "it is a part of a kernel, which cannot be run")
        for state in (before, after):
            if (work := work_of(state)) > MAX_WORK:
                return Verdict("unchecked", f"too large to be run ({work:,} operations)")
        try:
            left, right = self._run(before, after), self._run(after, before)
        except (UopvizError, ArithmeticError, AssertionError, LookupError, ValueError,
                TypeError, MemoryError) as error:  # fmt: skip
            what = error.what if isinstance(error, UopvizError) else type(error).__name__
            return Verdict("unchecked", f"a state cannot be run: {what}"[:300])
        return _compared(left, right)

    def _run(self, state: UOp, other: UOp) -> Stored:
        arguments = _arguments(state)
        known = self._kept.get((state, arguments))
        if known is None:
            inputs = random_inputs(state, other, values=Values.EXACT, most_bytes=MAX_BYTES)
            if (many := evaluations(state, inputs.variables)) > MAX_EVALUATIONS:
                raise RunError(f"too long to be run ({many:,} operations in sequence)")
            buffers = inputs.copied()
            evaluate_kernel(state, buffers, inputs.variables, MAX_BYTES)
            known = self._kept[state, arguments] = buffers
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return known


def work_of(state: UOp) -> int:
    """About how many operations a state takes."""
    total = 0
    for u in state.toposort():
        count = 1
        if u.op is Ops.REDUCE_AXIS or u.op is Ops.STORE:
            shape = u.src[0].shape if u.src[0].op is not Ops.INDEX else None
            for n in shape or ():
                count *= n
        loops = [r for r in u.ranges if r.op is Ops.RANGE]
        if u.op in (Ops.REDUCE, Ops.END):
            loops += [r for r in u.src[1:] if r.op is Ops.RANGE and r not in loops]
        for r in loops:
            count *= max(1, int(r.vmax) + 1)
        total = max(total, count * max(1, u.dtype.count))
    return total


def _is_kernel(u: UOp) -> bool:
    return u.op is Ops.SINK and any(s.op in (Ops.STORE, Ops.END, Ops.GROUP) for s in u.src)


def _arguments(state: UOp) -> UOp:
    """The arguments of a kernel, as a node to be looked up by."""
    order = [u for u in state.toposort() if u.op in (Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR)]
    return UOp.sink(*sorted(order, key=lambda u: (u.op, repr(u.arg))))


def _compared(before: Stored, after: Stored) -> Verdict:
    ulps = 0.0
    for number, x in before.items():
        y = after.get(number)
        if y is None or y.shape != x.shape:
            return Verdict("unchecked", "the states have other arguments")
        same = (x == y) | ((x != x) & (y != y))
        if same.all():
            continue
        at = int(np.flatnonzero(~same)[0])
        if x.dtype.kind != "f":
            return _differs(number, at, x, y)
        with np.errstate(all="ignore"):
            left, right = x.astype(np.float64), y.astype(np.float64)
            scale = np.maximum(np.maximum(np.abs(left), np.abs(right)), 1.0)
            far = ~same & ~(np.abs(left - right) <= _CLOSE * scale)
        if far.any():
            return _differs(number, int(np.flatnonzero(far)[0]), x, y)
        unit = float(np.finfo(x.dtype).eps)
        ulps = max(ulps, float((np.abs(left - right) / (unit * scale))[~same].max()))
    how = f"{SAME}, but for rounding" if ulps else SAME
    return Verdict("sampled", how, 1, ulps)


def _differs(number: int, at: int, x: Array, y: Array) -> Verdict:
    place = ((f"argument {number}", f"element {at}"),)
    how = "the states before and after the pass store other values"
    return Verdict("differs", how, 1, 0.0, place, str(x[at].item()), str(y[at].item()))
