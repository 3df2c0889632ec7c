"""Pairs of random graphs that are equal by real rules, or nearly equal by one mutation.

Each pair follows from its seed. Says nothing of whether the two are equal: that is asked of the
checker, and tried by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Final

from core.dtype import DType, PtrDType, dtypes
from core.errors import UopvizError
from core.passes.decompose.replace import replacing
from core.passes.lanes import sink_lanes
from core.passes.loops.collapse import collapsing
from core.passes.loops.reduce import accumulate
from core.passes.loops.trim import trimming
from core.passes.lower import Loops, lowering
from core.passes.program.final import for_scalars, for_vectors
from core.passes.ptx.casts import casting
from core.passes.ptx.integers import integers
from core.passes.schedule.kernels.push_views import pushing
from core.passes.schedule.kernels.views import view_algebra
from core.passes.schedule.simplify.consts import folding
from core.passes.schedule.simplify.reduces import merging_reduces, reducing
from core.passes.vectors.expand import expanding
from core.target import targets
from core.uop import GroupOp, Ops, PatternMatcher, UOp, graph_rewrite
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO
from core.uop.symbolic import gated, symbolic_index
from tests.core.prove.mutations import MUTATIONS, Mutation
from tests.core.prove.random_graphs import FLOATS, INTS, Graphs

TRIES: Final = 24
"""Rules and mutations that are tried until one changes the graph."""
_SIMPLIFYING: Final = symbolic_index + gated
_SCALARS: Final[tuple[tuple[PatternMatcher, Callable[[Random], Any]], ...]] = (
    (_SIMPLIFYING, lambda rng: None),
    (_SIMPLIFYING, lambda rng: None),
    (replacing, lambda rng: rng.choice(list(targets.values()))),
    (sink_lanes, lambda rng: None),
    (collapsing, lambda rng: None),
    (trimming, lambda rng: None),
    (accumulate, lambda rng: count()),
    (accumulate, lambda rng: count()),
    (expanding, lambda rng: None),
    (integers, lambda rng: None),
    (casting, lambda rng: None),
    (for_scalars, lambda rng: None),
    (for_vectors, lambda rng: None),
    (lowering, lambda rng: Loops()),
    (folding, lambda rng: None),
    (pushing, lambda rng: None),
    (reducing, lambda rng: None),
    (merging_reduces, lambda rng: None),
    (view_algebra, lambda rng: None),
)
_SHAPED: Final = tuple(
    row
    for row in _SCALARS
    if row[0] in (_SIMPLIFYING, lowering, folding, pushing, reducing, merging_reduces, view_algebra)
)


@dataclass(frozen=True)
class Pair:
    """Two graphs, and how the second came of the first."""

    before: UOp
    after: UOp
    how: str


def random_pair(seed: int) -> Pair | None:
    """The pair of a seed; None where no rule and no mutation applied."""
    rng = Random(seed)
    graphs = Graphs(rng)
    kind = rng.random()
    try:
        if kind < 0.12:
            before: UOp | None = graphs.writes()
        elif kind < 0.24:
            before = graphs.shaped()
        else:
            before = graphs.scalar()
    except UopvizError:
        return None
    if before is None or len(before.toposort()) > 80:
        return None
    after, how = before, list[str]()
    turns = rng.choice((("rules",), ("rules",), ("mutation",), ("rules", "mutation"), ("identity",),
                        ("identity", "mutation"), ("mutation", "rules")))  # fmt: skip
    for turn in turns:
        changed = {"rules": _rewritten, "mutation": _mutated, "identity": _identical}[turn](
            after, rng
        )
        if changed is not None:
            after, name = changed
            how.append(name)
    if after is before or after.dtype != before.dtype:
        return None
    if before.dtype is not dtypes.void and not _is_shaped(before) and _is_shaped(after):
        return None
    return Pair(before, after, ", ".join(how))


def _is_shaped(u: UOp) -> bool:
    return not isinstance(u.dtype, PtrDType) and u.shape not in (None, ())


def _well_formed(u: UOp) -> None:
    """Raises where the shape, the loops or the bounds of a node cannot be told."""
    for n in u.toposort():
        _ = n.ranges
        if n.dtype is not dtypes.void and not isinstance(n.dtype, PtrDType):
            _ = n.shape, n.bounds


def _rewritten(u: UOp, rng: Random) -> tuple[UOp, str] | None:
    """The graph after some rules of one set, to a fixed point; often of a single one."""
    for _ in range(TRIES // 3):
        matcher, context = rng.choice(_SCALARS if not _is_shaped(u) else _SHAPED)
        rules = list(matcher.rules)
        chosen = rng.sample(
            rules, rng.choice((1, 2, len(rules) // 2 + 1, len(rules))[: len(rules)])
        )
        try:
            made = graph_rewrite(u, PatternMatcher(chosen), context(rng))
            if made is not u and made.dtype == u.dtype:
                _well_formed(made)
                return made, " ".join(sorted(r.name for r in chosen)[:3])
        except (UopvizError, RecursionError, AssertionError, AttributeError, KeyError, TypeError,
                ValueError):  # fmt: skip
            continue  # a rule that needs what only its pass knows
    return None


def _mutated(u: UOp, rng: Random) -> tuple[UOp, str] | None:
    nodes = list(u.toposort())
    for _ in range(TRIES):
        v, mutation = rng.choice(nodes), rng.choice(ALL)
        try:
            made = mutation(v, nodes, rng)
            if made is None or made is v or made.dtype != v.dtype:
                continue
            changed = u.substitute({v: made})
            _well_formed(changed)
        except (UopvizError, TypeError, ValueError, IndexError):
            continue
        if changed is not u:
            return changed, mutation.__name__
    return None


def _identical(u: UOp, rng: Random) -> tuple[UOp, str] | None:
    """The graph with one node written in another way that is the same."""
    nodes = [n for n in u.toposort() if n.dtype is not dtypes.void]
    rng.shuffle(nodes)
    for v in nodes[:TRIES]:
        for name, made in _identities(v, rng):
            if made is not v and made.dtype == v.dtype:
                try:
                    _well_formed(u.substitute({v: made}))
                    return u.substitute({v: made}), name
                except UopvizError:
                    continue
    return None


def _identities(u: UOp, rng: Random) -> Iterator[tuple[str, UOp]]:
    """Ways to write a node that are right for all values."""
    if isinstance(u.dtype, PtrDType) or u.arg in (UNLESS_ZERO, UNLESS_NAN):
        return
    x, y = (*u.src, u, u)[:2]
    whole = dtypes.is_int(u.dtype.scalar())
    match u.op:
        case Ops.ADD | Ops.MUL | Ops.AND | Ops.OR | Ops.XOR:
            yield "commuted", u.replace(src=(y, x))
        case Ops.SUB if whole:
            yield "x - y is x + y * -1", x + y * -1
        case Ops.WHERE:
            yield "branches and condition turned", x.logical_not().where(u.src[2], y)
        case Ops.NEG if whole:
            yield "-x is 0 - x", u.const_like(0) - x
        case Ops.SHL if y.op is Ops.CONST and 0 <= y.arg < u.dtype.scalar().bits:
            yield "a shift as a product", x * (1 << y.arg)
        case Ops.CMPLT if dtypes.is_int(x.dtype.scalar()):
            yield (
                "x < y is not y < x + (x == y)",
                (y.alu(Ops.CMPLT, x) | x.alu(Ops.CMPEQ, y)).logical_not(),
            )
        case Ops.IDIV | Ops.MOD:
            if u.op is Ops.MOD:
                yield "the remainder by a quotient", x - x.alu(Ops.IDIV, y) * y
            yield (
                "promised",
                y.alu(Ops.CMPEQ, y.const_like(0)).where(
                    u.const_like(0) if u.op is Ops.IDIV else x, u.replace(arg=UNLESS_ZERO)
                ),
            )
        case _:
            pass
    if whole and u.op not in (Ops.CONST, Ops.RANGE, Ops.DEFINE_VAR) and u.shape in (None, ()):
        yield "x is x + c - c", (u + 3) - 3
        yield "x is x * 3 - x * 2", u * 3 - u * 2
        if dtypes.is_int(u.dtype) and u.dtype.bits < 64:
            yield "cast there and back", u.cast(dtypes.int64).cast(u.dtype)


# mutations that kernels of the compiler rarely have


def other_operation(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """an op -> another one of as many operands"""
    sets = ((Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX), (Ops.IDIV, Ops.MOD), (Ops.SHL, Ops.SHR),
            (Ops.AND, Ops.OR, Ops.XOR), (Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ),
            (Ops.SIN, Ops.COS, Ops.EXP2, Ops.LOG2, Ops.SQRT))  # fmt: skip
    group = next((s for s in sets if u.op in s), None)
    return u.replace(op=rng.choice(group)) if group else None


def comparison_includes_equal(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """x < y -> not y < x"""
    if u.op is not Ops.CMPLT:
        return None
    return u.replace(src=u.src[::-1]).alu(Ops.CMPNE, u.const_like(True))


def promise_toggled(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """x / y -> x / y that is undefined for y = 0, and back"""
    if u.op in (Ops.IDIV, Ops.MOD):
        return u.replace(arg=None if u.arg else UNLESS_ZERO)
    if u.op is Ops.CAST and dtypes.is_float(u.src[0].dtype.scalar()) and dtypes.is_int(u.dtype):
        return u.replace(arg=None if u.arg else UNLESS_NAN)
    return None


def guard_dropped(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """where(y == 0, z, x / y) -> x / y"""
    kept = u.src[2] if u.op is Ops.WHERE else u
    return kept if kept.arg in (UNLESS_ZERO, UNLESS_NAN) else None


def cast_by_way_of_another(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """cast(x, a) -> cast(cast(x, b), a)"""
    if u.op is not Ops.CAST:
        return None
    between: DType = rng.choice((*INTS, *FLOATS, dtypes.bool)).vec(u.dtype.count)
    return u.src[0].cast(between).cast(u.dtype)


def cast_dropped(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """cast(cast(x, b), a) -> cast(x, a)"""
    if u.op is not Ops.CAST or u.src[0].op is not Ops.CAST:
        return None
    return u.src[0].src[0].cast(u.dtype)


def loop_of_other_length(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """sum(x, r) -> sum(x, r of another length)"""
    if u.op is not Ops.REDUCE:
        return None
    r = rng.choice(u.src[1:])
    if r.op is not Ops.RANGE:
        return None
    n = r.src[0]
    other = rng.choice((n + 1, n.const_like(n.vmax), n.const_like(max(1, n.vmax - 1))))
    return u.substitute({r: r.replace(src=(other,))})


def lanes_shuffled(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """gep(x, i) -> gep(x, j)"""
    if u.op is not Ops.GEP:
        return None
    picks = tuple(rng.randrange(u.src[0].dtype.count) for _ in u.arg)
    return u.src[0].gep(picks)


def shift_changed(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """x << c -> x << c + 1, and to the width"""
    if u.op not in (Ops.SHL, Ops.SHR) or u.src[1].op is not Ops.CONST:
        return None
    bits = u.dtype.scalar().bits
    return u.replace(src=(u.src[0], u.src[1].const_like(rng.choice((u.src[1].arg + 1, bits)))))


def dtype_of_operands(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """x op y -> the same in a neighbouring dtype, cast back"""
    if u.op not in GroupOp.Binary - GroupOp.Comparison - {Ops.THREEFRY, Ops.FDIV, Ops.POW}:
        return None
    if not dtypes.is_int(u.dtype) or u.arg is not None:
        return None
    other = rng.choice(INTS)
    return u.src[0].cast(other).alu(u.op, u.src[1].cast(other)).cast(u.dtype)


def axes_moved(u: UOp, nodes: Any, rng: Random) -> UOp | None:
    """a movement with another argument"""
    match u.op:
        case Ops.FLIP:
            return u.replace(arg=tuple(not f for f in u.arg))
        case Ops.PERMUTE:
            made = u.replace(arg=tuple(u.arg[1:]) + u.arg[:1])
            return made if made.shape == u.shape else None
        case Ops.PAD:
            return u.replace(arg=tuple((b, a) for a, b in u.arg))
        case Ops.SHRINK:
            inner = u.src[0].shaped
            moved = tuple((a + 1, b + 1) if b < n else (a, b)
                          for (a, b), n in zip(u.arg, inner, strict=True))  # fmt: skip
            return u.replace(arg=moved)
        case Ops.REDUCE_AXIS:
            made = u.replace(arg=(rng.choice((Ops.ADD, Ops.MUL, Ops.MAX)), u.arg[1]))
            return made if made.shape == u.shape else None
        case _:
            return None


MORE: Final[tuple[Mutation, ...]] = (
    other_operation, comparison_includes_equal, promise_toggled, guard_dropped,
    cast_by_way_of_another, cast_dropped, loop_of_other_length, lanes_shuffled, shift_changed,
    dtype_of_operands, axes_moved,
)  # fmt: skip
ALL: Final = (*MUTATIONS, *MORE, *MORE)
