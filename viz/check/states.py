"""Whole states of a kernel: both are run on random inputs, and what they store is compared.

For steps that are right together with the other steps of their pass alone, such as splits of loops.
A state that was run is kept for the next pass, whose first state it is. Never runs compiled code.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Final

import numpy as np

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.errors import AccessError, RunError, UopvizError
from core.prove.samples.rounding import PART, allowed, rounding_of, signs_open, units
from core.prove.verdict import Verdict
from core.runtime.numeric import Array, from_memory, to_memory
from core.runtime.reference.inputs import Inputs, Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel, evaluations
from core.uop import Ops, UOp
from core.uop.kernels import work_of
from core.uop.pointer import plain_memory_of, pointer_of

MAX_WORK: Final = 1 << 21
"""Iterations, times the nodes that are in the innermost loop."""
MAX_EVALUATIONS: Final = 1 << 15
"""Nodes that are evaluated one after the other, in loops whose iterations need each other: about a
second."""
MAX_BYTES: Final = 1 << 28
_KEPT: Final = 12
_INPUTS: Final = (Values.EXACT, Values.PLAIN, Values.CORNERS)
_WAITING: Final = (Ops.BARRIER, Ops.COMMIT, Ops.WAIT)
_LARGE: Final = 4.0
UNORDERED: Final = "barriers are not checked, and the pass changes them"
SAME: Final = "the states before and after the pass store the same"
SIGNS: Final = "but for the signs of zeros"
OUTSIDE: Final = "the state after the pass leaves its memory"

Stored = dict[int, Array]


class States:
    """The results of the last states that were run."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[UOp, str], Stored] = OrderedDict()

    def compare(self, before: UOp, after: UOp) -> Verdict:
        """Whether two states of a kernel store the same, for each kind of inputs. Never raises for
        what cannot be run."""
        if _is_kernel(before) and after.op is Ops.SINK and not _stores(after):
            return Verdict("differs", "the state after the pass stores nothing")
        if not _is_kernel(before) or not _is_kernel(after):
            return Verdict("unchecked", "it is a part of a kernel, which cannot be run")
        for state in (before, after):
            if (work := work_of(state)) > MAX_WORK:
                return Verdict("unchecked", f"too large to be run ({work:,} operations)")
        ulps, signs = 0.0, False
        rounding = max(rounding_of(before), rounding_of(after))
        either = signs_open(before) or signs_open(after)
        for seed, values in enumerate(_INPUTS):
            held: Stored | None = None
            try:
                inputs = random_inputs(
                    before, after, seed=seed, values=values, most_bytes=MAX_BYTES
                )
                held = self._run(before, inputs)
                pair = held, self._run(after, inputs)
            except AccessError as error:
                kind = "unchecked" if held is None else "differs"
                how = f"a state cannot be run: {error.what}" if held is None else OUTSIDE
                return Verdict(kind, how[:300], after="" if held is None else error.what[:300])
            except (UopvizError, ArithmeticError, AssertionError, LookupError, ValueError,
                    TypeError, AttributeError, MemoryError) as error:  # fmt: skip
                what = error.what if isinstance(error, UopvizError) else type(error).__name__
                return Verdict("unchecked", f"a state cannot be run: {what}"[:300])
            found = _compared(*pair, _dtypes(before), rounding, either)
            if found.kind != "sampled":
                return found
            ulps, signs = max(ulps, found.ulps), signs or found.how != SAME
        if _synchronised(before) != _synchronised(after):
            return Verdict("assumes", UNORDERED, len(_INPUTS), ulps)
        how = f"{SAME}, but for rounding" if ulps else f"{SAME}, {SIGNS}" if signs else SAME
        return Verdict("sampled", how, len(_INPUTS), ulps)

    def _run(self, state: UOp, inputs: Inputs) -> Stored:
        key = state, _digest(inputs)
        known = self._kept.get(key)
        if known is None:
            if (many := evaluations(state, inputs.variables)) > MAX_EVALUATIONS:
                raise RunError(f"too long to be run ({many:,} operations in sequence)")
            kinds = _dtypes(state)
            buffers = {n: _tamed(array, kinds.get(n)) for n, array in inputs.copied().items()}
            with np.errstate(all="ignore"):
                evaluate_kernel(state, buffers, inputs.variables, MAX_BYTES)
            known = self._kept[key] = buffers
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return known


def _digest(inputs: Inputs) -> str:
    """What tells arguments apart."""
    found = hashlib.sha256(repr(sorted(inputs.variables.items())).encode())
    for number, array in sorted(inputs.buffers.items()):
        found.update(f"{number} {array.dtype}".encode())
        found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.hexdigest()


def _dtypes(state: UOp) -> dict[int, DType]:
    """Of each argument, what its elements are."""
    memories = (u for u in state.toposort() if u.op is Ops.DEFINE_GLOBAL)
    return {u.arg: plain_memory_of(u).dtype.base for u in memories}


def _tamed(array: Array, dtype: DType | None) -> Array:
    """Inputs without large numbers: sums of these may overflow in one order and not in another."""
    if dtype is None or not dtypes.is_float(dtype):
        return array
    values = from_memory(array, dtype)
    with np.errstate(all="ignore"):
        large = np.isfinite(values) & (np.abs(values) > _LARGE)
    return to_memory(np.where(large, values.dtype.type(1), values), dtype)


def _is_kernel(u: UOp) -> bool:
    ends = u.op is Ops.SINK and any(s.op in (Ops.STORE, Ops.END, Ops.GROUP) for s in u.src)
    return ends and _stores(u)


def _synchronised(state: UOp) -> tuple[Counter[Ops], frozenset[tuple[object, ...]]]:
    """How often the threads of a state wait for each other, by op, and which accesses to memory
    that they share come before which others, with or without a barrier between; of a state without
    such memory, this is nothing. A run on the reference needs none of it."""
    nodes = state.toposort()
    found = Counter(u.op for u in nodes)
    if not found[Ops.DEFINE_LOCAL] and not found[Ops.COPY_ASYNC]:
        return Counter(), frozenset()
    orders: set[tuple[object, ...]] = set()
    before: dict[UOp, frozenset[tuple[object, ...]]] = {}
    for u in nodes:
        seen = frozenset[tuple[object, ...]]().union(*(before[s] for s in u.src))
        if u.op is Ops.BARRIER:
            seen = frozenset((*access[:2], True) for access in seen)
        elif (access := _shared_access(u)) is not None:
            orders.update((*earlier, access[1]) for earlier in seen if earlier[0] is access[0])
            seen |= {(*access, False)}
        before[u] = seen
    return Counter({op: found[op] for op in _WAITING if found[op]}), frozenset(orders)


def _shared_access(u: UOp) -> tuple[UOp, bool] | None:
    """Memory that the threads of a work group share, and whether it is written; None of a node that
    does not access any."""
    if u.op not in (Ops.LOAD, Ops.LDMATRIX, Ops.STORE, Ops.COPY_ASYNC):
        return None
    dtype = u.src[0].dtype
    if not isinstance(dtype, PtrDType) or dtype.addrspace is not AddrSpace.LOCAL:
        return None
    return pointer_of(u.src[0]), u.op in (Ops.STORE, Ops.COPY_ASYNC)


def _stores(u: UOp) -> bool:
    return any(s.op is Ops.STORE for s in u.toposort())


def _compared(
    before: Stored, after: Stored, kinds: Mapping[int, DType], rounding: float, signs: bool
) -> Verdict:
    """The answer for the results of one run: the same numbers, zeros with their signs unless these
    are left open (`signs`), any NaN for any other; or as close as rounding allows."""
    ulps, zeros = 0.0, False
    for number, held in before.items():
        dtype, x, y = kinds[number], held, after.get(number)
        if y is None or y.shape != x.shape:
            return Verdict("unchecked", "the states have other arguments")
        if not dtypes.is_float(dtype):
            if not (x == y).all():
                return _differs(number, int(np.flatnonzero(x != y)[0]), x, y)
            continue
        x, y = from_memory(x, dtype), from_memory(y, dtype)
        turned = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
        if turned.any() and not signs:
            return _differs(number, int(np.flatnonzero(turned)[0]), x, y)
        zeros |= bool(turned.any())
        same = (x == y) | ((x != x) & (y != y))
        if same.all():
            continue
        with np.errstate(all="ignore"):
            left, right = x.astype(np.float64), y.astype(np.float64)
            size = np.maximum(np.abs(left), np.abs(right))
            scale = max(1.0, float(size[np.isfinite(size)].max(initial=0.0)))
            apart = np.abs(left - right)
            limit = allowed(rounding, scale)
            far = ~same & ~(apart <= np.minimum(limit, scale / PART))
            if (far & (apart <= limit)).any() and not (~same & ~(apart <= limit)).any():
                return Verdict("unchecked", f"rounding in {dtype} may hide an error")
            relative = apart / (2 * units(dtype)[0] * np.maximum(size, 1.0))
        if far.any():
            return _differs(number, int(np.flatnonzero(far)[0]), x, y)
        ulps = max(ulps, float(relative[~same].max()))
    return Verdict("sampled", f"{SAME}, {SIGNS}" if zeros else SAME, 1, ulps)


def _differs(number: int, at: int, x: Array, y: Array) -> Verdict:
    place = ((f"argument {number}", f"element {at}"),)
    how = "the states before and after the pass store other values"
    return Verdict("differs", how, 1, 0.0, place, str(x[at].item()), str(y[at].item()))
