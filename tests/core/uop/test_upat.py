"""Patterns: what they match, with which bindings, interpreted and compiled alike."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.errors import PatternError
from core.uop import Ops, PatternMatcher, Rule, UOp, UPat, rule
from core.uop.patterns.compiled import MAX_LOOPS, compile_matches, could_match
from core.uop.patterns.interpreted import matches

a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)
f = UOp(Ops.DEFINE_VAR, dtypes.float32, (), ("f", 0, 1))


def compiled(pattern: UPat, node: UOp) -> list[dict[str, UOp]]:
    """What the compiled form finds, by the dispatch that it trusts."""
    found: list[dict[str, UOp]] = []
    for variant in pattern.variants():
        ops: Any = tuple(s.op for s in node.src)
        if could_match(variant, node.op, node.dtype.name, ops if len(ops) < 4 else frozenset(ops)):
            compile_matches(variant, "test")(node, found)
    return found


def bindings(pattern: UPat, node: UOp) -> list[dict[str, UOp]]:
    """What both forms find, in order."""
    found = [dict(m) for m in matches(pattern, node)]
    assert compiled(pattern, node) == found
    return found


def test_op_dtype_arg_and_name() -> None:
    assert bindings(UPat(Ops.ADD, name="u"), a + b) == [{"u": a + b}]
    assert bindings(UPat((Ops.ADD, Ops.MUL), dtypes.ints), a * b) == [{}]
    assert not bindings(UPat(Ops.MUL), a + b)
    assert not bindings(UPat(Ops.ADD, dtypes.floats), a + b)
    assert bindings(UPat(Ops.DEFINE_VAR, arg=("a", 0, 9)), a) == [{}]
    assert not bindings(UPat(Ops.DEFINE_VAR, arg=("a", 0, 9)), b)


def test_scalar_dtype_matches_vectors_but_not_pointers() -> None:
    vector = UOp.const(dtypes.int32.vec(4), 1)
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(4), (), 0)
    assert bindings(UPat(None, dtypes.int32), vector)
    assert bindings(UPat(None, dtypes.int32.vec(4)), vector)
    assert not bindings(UPat(None, dtypes.int32.vec(2)), vector)
    assert not bindings(UPat(None, dtypes.int32), pointer)
    assert bindings(UPat(None, dtypes.int32.ptr(4)), pointer)
    assert not bindings(UPat(None, dtypes.int32.ptr(8)), pointer)


def test_sources_ordered_permuted_repeated_or_any() -> None:
    x, y = UPat.var("x"), UPat.var("y")
    assert bindings(UPat(Ops.SUB, src=(x, y)), a - b) == [{"x": a, "y": b}]
    assert bindings(x + y, a + b) == [{"x": a, "y": b}, {"x": b, "y": a}]
    assert bindings(x + y, a + a) == [{"x": a, "y": a}]
    assert bindings(UPat(Ops.SINK, src=UPat(Ops.DEFINE_VAR)), UOp.sink(a, b, a)) == [{}]
    assert bindings(UPat(Ops.SINK, src=UPat(Ops.DEFINE_VAR)), UOp.sink()) == [{}]
    assert not bindings(UPat(Ops.SINK, src=UPat(Ops.DEFINE_VAR)), UOp.sink(a, a + b))
    assert bindings(UPat(Ops.SINK), UOp.sink(a, b)) == [{}]
    assert not bindings(UPat(Ops.SINK, src=()), UOp.sink(a))
    assert bindings(UPat(Ops.SINK, src=()), UOp.sink()) == [{}]


def test_repeated_source_that_binds_means_the_same_node() -> None:
    repeated = UPat(Ops.SINK, src=UPat.var("x"))
    assert bindings(repeated, UOp.sink(a, a, a)) == [{"x": a}]
    assert not bindings(repeated, UOp.sink(a, b))
    assert not bindings(repeated, UOp.sink())
    inner = UPat(Ops.SINK, src=UPat(Ops.NEG, src=(UPat.var("x"),)))
    assert bindings(inner, UOp.sink(-a, -a)) == [{"x": a}]
    assert not bindings(inner, UOp.sink(-a, -b))


def test_same_name_means_same_node() -> None:
    x = UPat.var("x")
    assert bindings(UPat(Ops.SUB, src=(x, x)), a - a) == [{"x": a}]
    assert not bindings(UPat(Ops.SUB, src=(x, x)), a - b)
    assert bindings(x * 2 + x, b + b * 2) == [{"x": b}]


def test_any_length_and_early_reject() -> None:
    first = UPat(Ops.SINK, src=(UPat.var("x"),), allow_any_len=True)
    assert bindings(first, UOp.sink(a, b, b)) == [{"x": a}]
    assert not bindings(first, UOp.sink())
    has_mul = UPat(Ops.SINK, early_reject=[Ops.MUL])
    assert bindings(has_mul, UOp.sink(a, b * 2))
    assert not bindings(has_mul, UOp.sink(a, b))


def test_custom_test_of_a_node() -> None:
    small = UPat(Ops.CONST, custom=lambda u: u.arg < 5, name="c")
    assert bindings(UPat.var("x") + small, a + 3)
    assert not bindings(UPat.var("x") + small, a + 7)


def test_alternatives_casts_broadcasts_and_afters() -> None:
    x = UPat.var("x", dtypes.int32)
    cast = a.cast(dtypes.int64)
    either = UPat(Ops.SINK, src=(UPat(Ops.DEFINE_VAR, name="x").or_casted("c"),))
    assert bindings(either, UOp.sink(a)) == [{"x": a}]
    assert bindings(either, UOp.sink(cast)) == [{"c": cast, "x": a}]
    broadcast = UPat(Ops.SINK, src=(x.or_broadcasted(),))
    assert bindings(broadcast, UOp.sink(UOp.vectorize(a, a)))[-1] == {"x": a}
    assert len(bindings(broadcast, UOp.sink(UOp.vectorize(a, b)))) == 1
    after = UPat(Ops.SINK, src=(UPat(Ops.DEFINE_VAR, name="x").or_after(),))
    assert bindings(after, UOp.sink(a.after(b))) == [{"x": a}]
    named = UPat.any(UPat(Ops.ADD), UPat(Ops.MUL)).named("u")
    assert bindings(named, a * b) == [{"u": a * b}]
    nested = UPat(Ops.SINK, src=UPat.any(UPat(Ops.ADD), UPat(Ops.MUL)))
    assert bindings(nested, UOp.sink(a + b, a * b))
    assert not bindings(nested, UOp.sink(a + b, a))


def test_constants() -> None:
    x = UPat.var("x")
    for dtype in (dtypes.int32, dtypes.float32, dtypes.bool):
        assert bindings(UPat.const(None, 0), UOp.const(dtype, 0))
    assert bindings(UPat.const(None, 0), UOp.const(dtypes.float32, -0.0))
    assert not bindings(UPat.const(None, 0.0), UOp.const(dtypes.float32, -0.0))
    assert bindings(UPat.const(None, -0.0), UOp.const(dtypes.float32, -0.0))
    assert bindings(UPat.const(None, math.nan), UOp.const(dtypes.float32, math.nan))
    assert bindings(2 * x, a * 2)
    vector = UOp.const(dtypes.int32.vec(2), (1, 2))
    assert bindings(UPat.cvar("c"), vector)
    assert not bindings(UPat.cvar("c", vec=False), vector)


def test_operators_build_the_ops_they_name() -> None:
    x, y = UPat.var("x"), UPat.var("y")
    for pattern, node in (
        (x - y, a - b), (x // y, a // b), (x % y, a % b), (x & y, a & b), (x | y, a | b),
        (x ^ y, a ^ b), (x << y, a << b), (x >> y, a >> b), (x < y, a < b), (x > y, a > b),
        (x <= y, a <= b), (x >= y, a >= b), (x.ne(y), a.ne(b)), (x.eq(y), a.eq(b)),
        ((x < y).where(x, y), (a < b).where(a, b)), (x.maximum(y), a.maximum(b)), (-x, -a),
        (x / y, f / f), (x.recip(), f.recip()), (x.exp2(), f.exp2()), (x.log2(), f.log2()),
        (x.sin(), f.sin()), (x.sqrt(), f.sqrt()), (x.trunc(), f.trunc()),
        ((x < y).logical_not(), (a < b).logical_not()), (x.cast(dtypes.int8), a.cast("int8")),
        (x.bitcast(dtypes.uint32), a.bitcast("uint32")), (1 - x, 1 - a), (1 + x, 1 + a),
    ):  # fmt: skip
        assert bindings(pattern, node), pattern


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: UPat(Ops.ADD, src=[UPat()], allow_any_len=True), "allow_any_len"),
        (lambda: UPat(name="not a name"), "cannot be bound"),
        (lambda: UPat(name="ctx"), "ctx"),
        (lambda: UPat.any(), "no patterns"),
        (lambda: UPat(()), "no op"),
        (lambda: rule(UPat.var("x"))(lambda y: y), "does not bind"),
        (lambda: rule(UPat.var("x"))(lambda *x: None), "not a name"),
        (lambda: rule(UPat.var("x").or_casted("c"))(lambda x, c: x), "some of its alternatives"),
        (lambda: PatternMatcher([(UPat.var("x"), lambda z: z)]), "does not bind"),
        (lambda: PatternMatcher([UPat()]), "UPat, function"),
        (lambda: Rule(UPat.var("x"), min), "cannot be seen"),
    ],
)
def test_wrong_declarations_raise_at_once(declare: Any, said: str) -> None:
    with pytest.raises(PatternError, match=said):
        declare()


def test_too_many_variants() -> None:
    many = UPat(Ops.SINK, src=tuple(UPat.var("x").or_casted() for _ in range(9)))
    with pytest.raises(PatternError, match="variants"):
        rule(many)(lambda x: x)


def test_more_choices_than_nested_loops() -> None:
    """CPython refuses such code, so the pattern is interpreted."""
    pattern, node = UPat.var("x0"), a
    for i in range(MAX_LOOPS + 2):
        pattern, node = pattern + UPat.const(None, i), node + i
    ((only, *_), found) = (bindings(pattern, node), PatternMatcher([(pattern, lambda x0: x0)]))
    assert only == {"x0": a}
    assert found.rewrite(node) is a


# random patterns against random graphs

NAMES = ("x", "y", None, None)


@st.composite
def graphs(draw: st.DrawFn) -> UOp:
    nodes = [a, b, UOp.const(dtypes.int32, 1), UOp.const(dtypes.int32, 2)]
    for _ in range(draw(st.integers(1, 5))):
        src = tuple(draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4)))
        op = draw(st.sampled_from((Ops.ADD, Ops.MUL, Ops.SINK, Ops.NEG)))
        nodes.append(UOp(op, dtypes.int32, src))
    return nodes[-1]


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2) -> UPat:
    if depth and draw(st.integers(0, 5)) == 0:
        return UPat.any(draw(patterns(depth - 1)), draw(patterns(depth - 1)))
    op = draw(st.sampled_from((None, Ops.ADD, Ops.MUL, Ops.CONST, (Ops.SINK, Ops.ADD))))
    name, dtype = draw(st.sampled_from(NAMES)), draw(st.sampled_from((None, dtypes.int32)))
    if not depth or op is Ops.CONST:
        return UPat(op, dtype, name=name)
    inner = [draw(patterns(depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return UPat(op, dtype, inner, name=name)
    if kind == 1:
        return UPat(op, dtype, inner[0], name=name)
    return UPat(op, dtype, tuple(inner), name=name, allow_any_len=kind == 2)


@settings(max_examples=400, deadline=None)
@given(patterns(), graphs())
def test_compiled_and_interpreted_agree(pattern: UPat, node: UOp) -> None:
    bindings(pattern, node)
