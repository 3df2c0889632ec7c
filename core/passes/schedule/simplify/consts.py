"""Shaped constants of the Tensor graph, and folding what is computed from them alone.

A Tensor-level constant of some shape is a CONST with a device under an EXPAND or VIEW. Folding uses
the one table that gives ops their meaning. Never turns a constant into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from core.dtype import ConstType, DType, dtypes
from core.passes.schedule.images import is_image
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.observe import attached
from core.uop.facts.meaning import evaluate
from core.uop.patterns.policy import in_force
from core.uop.symbolic import symbolic

shaped_const = UPat(Ops.VIEW, src=(UPat(Ops.CONST),))
const_like = UPat.any(UPat(Ops.CONST), shaped_const)


def const_of(u: UOp) -> UOp | None:
    """The CONST that every element of `u` is; None where `u` is no constant."""
    if u.op is Ops.CONST:
        return u
    if u.op is Ops.VIEW and u.src[0].op is Ops.CONST and not u.arg.masked:
        return u.src[0]
    return None


def broadcast(const: UOp, shape: tuple[int, ...]) -> UOp:
    """A CONST as a VIEW of some shape; itself where the shape is ()."""
    if not shape:
        return const
    return const.view(ShapeTracker.from_shape(shape, (0,) * len(shape)))


@rule(UPat(GroupOp.Elementwise - {Ops.BITCAST}, src=const_like, name="x"))
def fold_shaped_constants(x: UOp) -> UOp | None:
    """f(c1, c2) -> c"""
    consts = [const_of(s) for s in x.src]
    values = [c.arg for c in consts if c is not None]
    if len(values) != len(consts) or x.shape is None or is_image(x.dtype):
        return None
    given = x.src[0].dtype if x.op in GroupOp.Comparison or x.op is Ops.CAST else None
    value = evaluate(x.op, x.dtype, values, given)
    first = x.src[0] if x.src[0].op is Ops.CONST else x.src[0].src[0]
    return broadcast(UOp(Ops.CONST, x.dtype, first.src, value), x.shape)


@rule(UPat(GroupOp.ALU, name="u"))
def fold_identity(u: UOp) -> UOp | None:
    """x + 0 -> x;  -(-x) -> x;  x ^ x -> 0;  by the symbolic rules, applied to one element"""
    if not _has_constant(u) and len(set(u.src)) == len(u.src):
        return None
    operands: list[UOp] = []
    parts = tuple([_element(s, operands) for s in u.src])
    simplified = _simplified_element if in_force() is None else _simplified_element.__wrapped__
    found = simplified((u.op, u.dtype, parts, u.arg))
    made = None if found is None else _for_all(found, operands, u)
    if made is not None and attached() is not None:
        # tells which rules these are, on an element that is read from memory
        shown = _node((u.op, u.dtype, parts, u.arg), read=True)
        graph_rewrite(shown, symbolic, name="fold an identity")
    return made


def _for_all(found: Element, operands: Sequence[UOp], u: UOp) -> UOp | None:
    """What one element of `u` is equal to, for all of them; None where that cannot replace it."""
    op, _, _, arg = found
    if op is Ops.CONST:
        return None if u.device is None else UOp.full(u.shaped, _value(arg), u.dtype, u.device)
    operand = operands[arg]
    return operand if _stands_for(operand, u) else None


def _stands_for(value: UOp, u: UOp) -> bool:
    """Whether `value`, equal to `u`, may replace it: it has the shape, and a device if `u` has one,
    which a value of variables alone has not."""
    return value.shape == u.shape and (value.device is not None or u.device is None)


Element: TypeAlias = "tuple[Ops, DType, tuple[Element, ...], Any]"
"""What computes one element, as (op, dtype, sources, argument): an op, a CONST, or the operand with
the number in the argument (UNIQUE). As a key it keeps no node alive. A float that is 0 or NaN is
its text, which tells these apart."""


def _argument(value: ConstType) -> ConstType | str:
    return repr(value) if value.__class__ is float and (value == 0.0 or value != value) else value


def _value(argument: ConstType | str) -> ConstType:
    return float(argument) if isinstance(argument, str) else argument


def _has_constant(u: UOp) -> bool:
    for s in u.src:
        if s.op is Ops.CONST or const_of(s) is not None:
            return True
    return u.op is Ops.NEG


def _element(u: UOp, operands: list[UOp], inside: bool = False) -> Element:
    """`u` for a single element: a constant, an op with constants, or an operand, which goes to
    `operands`, for any other node."""
    if (const := const_of(u)) is not None:
        return (Ops.CONST, u.dtype, (), _argument(const.arg))
    if not inside and u.op in GroupOp.ALU and _has_constant(u):
        return (u.op, u.dtype, tuple([_element(s, operands, True) for s in u.src]), u.arg)
    if u not in operands:
        operands.append(u)
    return (Ops.UNIQUE, u.dtype, (), operands.index(u))


@lru_cache(maxsize=4096)
def _simplified_element(e: Element) -> Element | None:
    """The constant or the operand that an element always equals; None where it is neither."""
    found, dtype = _simplified(_node(e)), e[1]
    if found.op is Ops.CONST:
        return (Ops.CONST, dtype, (), _argument(found.arg))
    return (Ops.UNIQUE, dtype, (), found.arg) if found.op is Ops.UNIQUE else None


def _node(e: Element, read: bool = False) -> UOp:
    """An element as a node; `read`: its operands are read from memory."""
    op, dtype, src, arg = e
    if op is Ops.CONST:
        return UOp.const(dtype, _value(arg))
    if op is Ops.UNIQUE and read:
        pointer = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(1), (), arg)
        return pointer.index(UOp.const(dtypes.index, 0)).load(dtype=dtype)
    return UOp(op, dtype, tuple(_node(s, read) for s in src), arg)


def _simplified(u: UOp) -> UOp:
    """The fixed point of the symbolic rules on a graph of a few nodes, most of which stay as they
    are: no graph_rewrite, of which observers would be told."""
    u = u.rebuild(tuple(map(_simplified, u.src)))
    found = symbolic.rewrite(u)
    return u if found is None else _simplified(found)


@rule(UPat(Ops.WHERE, src=(const_like.named("c"), UPat.var("yes"), UPat.var("no")), name="u"))
def known_where(u: UOp, c: UOp, yes: UOp, no: UOp) -> UOp | None:
    """where(true, a, b) -> a; where(false, a, b) -> b"""
    const = const_of(c)
    chosen = None if const is None else yes if const.arg else no
    return chosen if chosen is not None and _stands_for(chosen, u) else None


folding = PatternMatcher([fold_shaped_constants, known_where, fold_identity], name="fold constants")
