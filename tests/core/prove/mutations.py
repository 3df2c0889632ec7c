"""Changes of one node of a kernel, most of them wrong: the material of test_random_rewrites.py.

A mutation gets a node, the nodes of its kernel and a source of random choices, and returns what is
put in the node's place, or None where it does not apply. Never looks at what the result computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from core.dtype import PtrDType, dtypes, truncate
from core.uop import GroupOp, Ops, UOp

Mutation = Callable[[UOp, Sequence[UOp], Random], UOp | None]

_COMMUTATIVE: Final = frozenset({Ops.ADD, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR})
_BINARY: Final = _COMMUTATIVE | {
    Ops.SUB, Ops.FDIV, Ops.IDIV, Ops.MOD, Ops.CMPLT, Ops.MAX, Ops.SHL, Ops.SHR,
}  # fmt: skip
_NARROW: Final = (dtypes.int8, dtypes.uint8, dtypes.int32, dtypes.float16)


def constant_off_by_one(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """c -> c + 1"""
    number = u.op is Ops.CONST and not isinstance(u.arg, bool) and u.arg == u.arg
    return u.replace(arg=truncate(u.arg + 1, u.dtype.scalar())) if number else None


def zero_negated(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """0.0 -> -0.0"""
    zero = u.op is Ops.CONST and dtypes.is_float(u.dtype) and u.arg == 0
    return u.replace(arg=-u.arg) if zero else None


def operands_commuted(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x + y -> y + x, and the same for other commutative operations: right"""
    return u.replace(src=u.src[::-1]) if u.op in _COMMUTATIVE and len(u.src) == 2 else None


def multiplied_by_one(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x -> x * 1: right"""
    return u * 1 if u.op in GroupOp.Elementwise and _is_number(u) else None


def operands_swapped(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x - y -> y - x, and the same for other operations that are not commutative"""
    return u.replace(src=u.src[::-1]) if u.op in _BINARY - _COMMUTATIVE and _alike(u) else None


def operand_kept(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x + y -> x, or -> y"""
    kept = rng.choice(u.src) if u.op in _BINARY else u
    return kept if kept.dtype == u.dtype and kept is not u else None


def branches_swapped(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """where(c, x, y) -> where(c, y, x)"""
    return u.replace(src=(u.src[0], u.src[2], u.src[1])) if u.op is Ops.WHERE else None


def first_branch_taken(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """where(c, x, y) -> x"""
    return u.src[1] if u.op is Ops.WHERE else None


def factors_rotated(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x * y + z -> y * z + x"""
    return u.replace(src=(*u.src[1:], u.src[0])) if u.op is Ops.MULACC else None


def sum_regrouped(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """(x + y) + z -> x + (y + z) of floats"""
    if u.op is not Ops.ADD or u.src[0].op is not Ops.ADD or not dtypes.is_float(u.dtype.scalar()):
        return None
    (x, y), z = u.src[0].src, u.src[1]
    return u.replace(src=(x, u.src[0].replace(src=(y, z))))


def zero_added(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x -> x + 0.0, which makes -0.0 positive"""
    return u + 0.0 if _is_number(u) and dtypes.is_float(u.dtype) else None


def cast_through(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """x -> x cast to a narrow dtype and back"""
    if u.op not in GroupOp.Elementwise | {Ops.LOAD} or not _is_number(u):
        return None
    return u.cast(rng.choice(_NARROW)).cast(u.dtype)


def next_element(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """memory[i] -> memory[i + 1]"""
    if not _is_address(u) or u.src[1].dtype.count != 1:
        return None
    return u.replace(src=(u.src[0], u.src[1] + 1, *u.src[2:]))


def gate_dropped(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """memory[i if gate] -> memory[i]"""
    return u.replace(src=u.src[:2]) if _is_address(u) and len(u.src) > 2 else None


def alternative_changed(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a load that gives x where its gate does not hold -> x + 1"""
    if u.op is not Ops.LOAD or len(u.src) < 3 or not _is_number(u.src[1]):
        return None
    return u.replace(src=(u.src[0], u.src[1] + 1, *u.src[2:]))


def parts_shuffled(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """the parts of a GROUP or SINK in another order"""
    if u.op not in (Ops.GROUP, Ops.SINK) or len(u.src) < 2:
        return None
    return u.replace(src=tuple(rng.sample(u.src, len(u.src))))


def part_dropped(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a GROUP or SINK without one of its parts"""
    if u.op not in (Ops.GROUP, Ops.SINK) or len(u.src) < 2:
        return None
    dropped = rng.randrange(len(u.src))
    return u.replace(src=u.src[:dropped] + u.src[dropped + 1 :])


def wait_dropped(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """an AFTER that waits for less"""
    if u.op is not Ops.AFTER:
        return None
    place, *waits = u.src
    return u.replace(src=(place, *waits[:-1])) if len(waits) > 1 else place


def loops_ended_in_turn(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """end(work, i, j) -> end(end(work, j), i)"""
    if u.op is not Ops.END or len(u.src) != 3:
        return None
    work, outer, inner = u.src
    return u.replace(src=(u.replace(src=(work, inner)), outer))


def loop_shortened(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a loop with one iteration less"""
    if u.op is not Ops.RANGE or u.src[0].op is not Ops.CONST or u.src[0].arg < 2:
        return None
    return u.replace(src=(u.src[0].replace(arg=u.src[0].arg - 1),))


def reduction_changed(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a sum -> the largest, any other reduction -> a sum"""
    if u.op is Ops.REDUCE:
        return u.replace(arg=Ops.MAX if u.arg is Ops.ADD else Ops.ADD)
    if u.op is Ops.REDUCE_AXIS:
        op, axes = u.arg
        return u.replace(arg=(Ops.MAX if op is Ops.ADD else Ops.ADD, axes))
    return None


def loop_not_reduced(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a reduction over one loop less"""
    return u.replace(src=u.src[:-1]) if u.op is Ops.REDUCE and len(u.src) > 1 else None


def next_lane(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """each lane of a vector that is taken -> the one that follows it"""
    if u.op is not Ops.GEP or u.src[0].dtype.count < 2:
        return None
    return u.replace(arg=tuple((lane + 1) % u.src[0].dtype.count for lane in u.arg))


def lanes_reversed(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a vector made of the same lanes, the last one first"""
    return u.replace(src=u.src[::-1]) if u.op is Ops.VECTORIZE else None


def other_value_stored(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """a store of another value of the same dtype"""
    if u.op is not Ops.STORE or len(u.src) != 2 or u.src[0].op is not Ops.INDEX:
        return None
    wanted = u.src[1].dtype
    others = [v for v in nodes if v.op in (Ops.LOAD, Ops.CONST) and v.dtype == wanted]
    return u.replace(src=(u.src[0], rng.choice(others))) if others else None


def other_node(u: UOp, nodes: Sequence[UOp], rng: Random) -> UOp | None:
    """another node of the same dtype, in no loop that the node is not in"""
    if u.dtype is dtypes.void or isinstance(u.dtype, PtrDType):
        return None
    others = [v for v in nodes if v.dtype == u.dtype and v is not u and v.ranges <= u.ranges]
    others = [v for v in others if u not in v.toposort()]
    return rng.choice(others) if others else None


RIGHT: Final[tuple[Mutation, ...]] = (operands_commuted, multiplied_by_one)
"""Mutations after which the same is computed."""
MUTATIONS: Final[tuple[Mutation, ...]] = (
    *RIGHT,
    constant_off_by_one,
    zero_negated,
    operands_swapped,
    operand_kept,
    branches_swapped,
    first_branch_taken,
    factors_rotated,
    sum_regrouped,
    zero_added,
    cast_through,
    next_element,
    gate_dropped,
    alternative_changed,
    parts_shuffled,
    part_dropped,
    wait_dropped,
    loops_ended_in_turn,
    loop_shortened,
    reduction_changed,
    loop_not_reduced,
    next_lane,
    lanes_reversed,
    other_value_stored,
    other_node,
)


def _is_number(u: UOp) -> bool:
    """Whether a node is a single integer or float."""
    return dtypes.is_float(u.dtype) or dtypes.is_int(u.dtype)


def _alike(u: UOp) -> bool:
    """Whether a node has two different operands of one dtype."""
    return len(u.src) == 2 and u.src[0].dtype == u.src[1].dtype and u.src[0] is not u.src[1]


def _is_address(u: UOp) -> bool:
    """Whether a node is an element of memory."""
    return u.op is Ops.INDEX and isinstance(u.dtype, PtrDType) and len(u.src) > 1
