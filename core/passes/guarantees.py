"""What each pass of a kernel guarantees, as predicates over the graph that it leaves.

They are written apart from the rules of the passes: a rule that declines where it must not is found
by what it leaves. Cheap: one look at each node. Never changes a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import AddrSpace, PtrDType, dtypes
from core.passes.address import gate_of
from core.passes.contract import Guarantee, each
from core.target import Target
from core.uop import GroupOp, Ops, UOp
from core.uop.kernelinfo import AxisType
from core.uop.pointer import address_space

_PARALLEL: Final = (
    AxisType.GLOBAL,
    AxisType.LOCAL,
    AxisType.WARP,
    AxisType.THREAD,
    AxisType.GROUP_REDUCE,
)
"""Loops whose iterations run at once: nothing is combined over them after `grouped`."""
_HARDWARE: Final = (AxisType.GLOBAL, AxisType.LOCAL, AxisType.WARP, AxisType.GROUP_REDUCE)
"""Loops that hardware indices run."""
_LANES: Final = (AxisType.UPCAST, AxisType.UNROLL)
_NARROW: Final = (*dtypes.fp8s, dtypes.float16, dtypes.bfloat16)
_SINGLE_ONLY: Final = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW})
"""Functions that a target has of float32 alone."""
_NEVER_NARROW: Final = _SINGLE_ONLY | {Ops.SQRT, Ops.RECIPROCAL, Ops.FDIV, Ops.TRUNC}


def _loops_of(u: UOp) -> tuple[UOp, ...]:
    """The loops that a RANGE is, or a REDUCE or END is over."""
    if u.op is Ops.RANGE:
        return (u,)
    return u.src[1:] if u.op in (Ops.REDUCE, Ops.END) else ()


def _is_over(u: UOp, kinds: Sequence[AxisType]) -> bool:
    return any(loop.op is Ops.RANGE and loop.arg[1] in kinds for loop in _loops_of(u))


def _moved(u: UOp) -> UOp | None:
    """The address of a LOAD or STORE in memory; None of any other node, and of registers."""
    if u.op not in (Ops.LOAD, Ops.STORE) or u.src[0].op is not Ops.INDEX:
        return None
    return None if address_space(u.src[0]) is AddrSpace.REG else u.src[0]


def _is_of_memory(u: UOp, target: Target) -> bool:
    return u.op is not Ops.INDEX or isinstance(u.src[0].dtype, PtrDType)


def _needs_its_loops(u: UOp, target: Target) -> bool:
    if u.op is not Ops.REDUCE or not dtypes.is_int(u.dtype):
        return True  # a product with a number of iterations may round otherwise than their sum
    inside = u.src[0].ranges
    return all(r in inside or r.src[0].op is not Ops.CONST for r in u.src[1:])


def _is_over_loops(u: UOp, target: Target) -> bool:
    return all(loop.op is Ops.RANGE for loop in _loops_of(u))


def _is_one_move(u: UOp, target: Target) -> bool:
    if _moved(u) is None:
        return True
    dtype = u.dtype if u.op is Ops.LOAD else u.src[1].dtype
    if dtype.count > target.vector_lanes(dtype):
        return False
    return bool(target.simd_bytes) or dtype.count & (dtype.count - 1) == 0


def _has_one_gate(u: UOp, target: Target) -> bool:
    if (place := _moved(u)) is None or (gate := gate_of(place)) is None:
        return True
    together = gate.dtype.count == 1
    return together or (u.op is Ops.LOAD and target.lane_gates and gate.dtype.count > 1)


def _is_computed_at_once(u: UOp, target: Target) -> bool:
    if u.op not in GroupOp.ALU and u.op is not Ops.CAST:
        return True
    if u.op is Ops.CAST and isinstance(u.dtype, PtrDType):
        return True
    return u.dtype.count <= target.alu_lanes(u.dtype)


def _too_wide(nodes: Sequence[UOp], target: Target) -> UOp | None:
    """The first arithmetic that is wider than the target's and of which no gate alone is made: a
    gate for each lane is as wide as its load."""
    values = {nodes[-1]}
    for u in reversed(nodes):
        if u in values:
            gate = gate_of(u) if u.op is Ops.INDEX and target.lane_gates else None
            values.update(s for s in u.src if s is not gate)
    return next((u for u in nodes if u in values and not _is_computed_at_once(u, target)), None)


def _is_of_target(u: UOp, target: Target) -> bool:
    """Whether an operation is one that the target has, of a dtype that it computes with."""
    if u.op not in GroupOp.ALU:
        return True
    if u.op not in target.ops:
        return False
    dtype = u.src[-1].dtype.scalar()
    if u.op is Ops.MAX and dtypes.is_bool(dtype):
        return False
    if u.op in _SINGLE_ONLY and dtypes.is_float(dtype) and dtype is not dtypes.float32:
        return False
    if u.op is Ops.WHERE or dtype not in _NARROW:
        return True
    return target.supports(dtype) and u.op not in _NEVER_NARROW


def _is_conversion(u: UOp, target: Target) -> bool:
    """Whether a cast from or to a narrow float is one that the target has."""
    if u.op is not Ops.CAST or isinstance(u.dtype, PtrDType):
        return True
    dtypes_of = (u.src[0].dtype.scalar(), u.dtype.scalar())
    for narrow, other in (dtypes_of, dtypes_of[::-1]):
        missing = narrow in _NARROW and not target.supports(narrow)
        if missing and (other is not dtypes.float32 or not target.converts(narrow)):
            return False
    return True


def _has_alternative(u: UOp, target: Target) -> bool:
    if u.op is not Ops.LOAD or u.src[0].op is not Ops.INDEX:
        return True
    return (len(u.src) > 1) == (gate_of(u.src[0]) is not None)


def _has_gate_itself(u: UOp, target: Target) -> bool:
    return u.op is not Ops.STORE or u.src[0].op is not Ops.INDEX or gate_of(u.src[0]) is None


def _is_single_lane(u: UOp, target: Target) -> bool:
    return u.op is not Ops.GEP or target.alu_lanes(dtypes.float32) > 1 or len(u.arg) == 1


def _ended_twice(nodes: Sequence[UOp], target: Target) -> UOp | None:
    """The first END of a loop that another one has ended."""
    ended: set[UOp] = set()
    for u in nodes:
        if u.op is Ops.END:
            if not ended.isdisjoint(u.src[1:]):
                return u
            ended.update(u.src[1:])
    return None


MEMORY: Final = each("INDEX is of memory, and of no value", _is_of_memory)
NEEDED_LOOPS: Final = each(
    "a REDUCE of integers depends on each of its loops of known length", _needs_its_loops
)
LOOPS: Final = each("what END and REDUCE are over are loops, and no expressions", _is_over_loops)
NO_LANES: Final = each(
    "no loop of the kinds UPCAST and UNROLL", lambda u, _: not _is_over(u, _LANES)
)
IN_SEQUENCE: Final = each(
    "no REDUCE over a loop whose iterations run at once",
    lambda u, _: u.op is not Ops.REDUCE or not _is_over(u, _PARALLEL),
)
HARDWARE: Final[Guarantee[Target]] = each(
    "no loop that the hardware runs, and no END without a loop",
    lambda u, _: (
        (u.op is not Ops.RANGE or not _is_over(u, _HARDWARE))
        and (u.op is not Ops.END or len(u.src) > 1)
    ),
)
ONE_OFFSET: Final = each(
    "an INDEX has one offset", lambda u, _: u.op is not Ops.INDEX or u.src[1].dtype.count == 1
)
MOVES: Final = each("a LOAD or STORE is one that the target has", _is_one_move)
GATES: Final = each(
    "a LOAD or STORE has one gate, or one for each lane where the target has that", _has_one_gate
)
LANES: Final = Guarantee("arithmetic is no wider than the target's", _too_wide)
OPERATIONS: Final = each("an operation is one that the target has", _is_of_target)
CONVERSIONS: Final = each("a cast of a narrow float is one that the target has", _is_conversion)
ALTERNATIVES: Final = each(
    "a LOAD has an alternative exactly where it has a gate", _has_alternative
)
STORE_GATES: Final = each("the gate of a STORE is none of its address", _has_gate_itself)
SINGLE_LANES: Final = each("a target of scalars takes single lanes", _is_single_lane)
ONE_LOOP: Final = each("an END ends one loop", lambda u, _: u.op is not Ops.END or len(u.src) == 2)
ENDED_ONCE: Final = Guarantee("a loop is ended once", _ended_twice)
