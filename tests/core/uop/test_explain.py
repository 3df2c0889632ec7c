"""`explain` agrees with the engine on which rule fires, and names the part that does not fit."""

from __future__ import annotations

import random

import pytest

from core.dtype import dtypes
from core.uop import GroupOp, Ops, UOp, UPat, rule
from core.uop.engine.explain import Declines, Explanation, Fires, Misfits, Raises, explain, misfit
from core.uop.patterns.rule import Variant
from core.uop.symbolic import symbolic

X = UOp.variable("x", 0, 9)
Y = UOp.variable("y", 0, 9)


@rule(UPat.var("x") * UPat.cvar("c", vec=False) + UPat.var("x") * UPat.cvar("d", vec=False))
def factored(x: UOp, c: UOp, d: UOp) -> UOp | None:
    """x * c + x * d -> x * (c + d)"""
    total = c.arg + d.arg
    if total > 10:
        return None
    return x * total


def misfits(of: Explanation | None) -> Misfits:
    assert isinstance(of, Misfits)
    return of


def test_it_fires() -> None:
    found = explain(factored, X * 2 + X * 3)
    assert isinstance(found, Fires)
    assert found.result is X * 5
    assert found.binds["x"] is X


def test_the_function_declines() -> None:
    found = explain(factored, X * 6 + X * 7)
    assert isinstance(found, Declines)
    assert found.text == "return None"
    assert [*found.values] == ["x", "c", "d", "total"]  # it names none of them: all are told
    assert found.values["total"] == "13"
    assert found.line == factored.line + 5
    assert found.binds["c"].arg in (6, 7)
    assert found.ways == 2  # in either order

    @rule(UPat.cvar("c", vec=False))
    def small(c: UOp) -> UOp | None:
        """small"""
        limit = 3
        return c.const_like(0) if c.arg < limit else None

    found = explain(small, UOp.const(dtypes.int32, 7))
    assert isinstance(found, Declines)
    assert found.values == {"c": "CONST() arg=7 int32", "limit": "3"}


def test_the_function_raises() -> None:
    @rule(UPat.cvar("c", vec=False))
    def faulty(c: UOp) -> UOp | None:
        """faulty"""
        zero = 0
        return c.const_like(c.arg // zero)

    found = explain(faulty, UOp.const(dtypes.int32, 7))
    assert isinstance(found, Raises)
    assert found.error.startswith("ZeroDivisionError")
    assert found.text == "return c.const_like(c.arg // zero)"
    assert found.values["zero"] == "0"


def test_the_deepest_part_is_told() -> None:
    node = (X + Y) * 2 + Y * 3
    found = misfits(explain(factored, node))
    assert (found.kind, found.node) == ("name", Y)
    assert found.path == (1, 0)
    assert found.binds["x"] is X + Y
    assert [path for path, _ in found.fitted] == [(), (0,), (0, 0), (0, 1), (1,)]


CASES: dict[str, tuple[UPat, UOp, tuple[int, ...], str, str]] = {
    "op": (UPat.var("x") + 0, X * 2, (), "ADD", "MUL"),
    "dtype": (UPat(Ops.ADD, dtypes.float32), X + 1, (), "float32", "int32"),
    "argument": (UPat.var("x") + UPat.const(None, 0), X + 1, (1,), "0", "1"),
    "sources": (UPat(Ops.ADD, src=(UPat(), UPat(), UPat())), X + 1, (), "3 sources", "2: "),
    "among": (
        UPat(Ops.ADD, early_reject={Ops.MUL}), X + 1, (), "MUL among the sources", "2: ",
    ),
    "condition": (UPat(Ops.ADD, custom=lambda u: u is X), X + 1, (), "<lambda>", "false"),
    "name": (UPat.var("x") + UPat.var("x"), X + Y, (1,), "the same node as x", "DEFINE_VAR"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_kinds(kind: str) -> None:
    pattern, node, path, expected, found = CASES[kind]
    answer = misfits(misfit(pattern, node))
    assert (answer.kind, answer.path) == (kind, path)
    assert answer.expected.startswith(expected)
    assert answer.found.startswith(found)


def test_repeated_sources() -> None:
    every = UPat(GroupOp.ALU, src=UPat(Ops.CONST))
    answer = misfits(misfit(every, X + 1))
    assert (answer.kind, answer.path, answer.node) == ("op", (0,), X)
    named = UPat(Ops.SINK, src=UPat(Ops.CONST, name="c"))
    assert misfits(misfit(named, UOp.sink())).expected == "one source or more"


def test_of_equally_deep_parts_one_of_the_wanted_op_is_told() -> None:
    answer = misfits(misfit(UPat.var("x") + 0, UOp.const(dtypes.int32, 2) + X))
    assert (answer.kind, answer.expected, answer.found) == ("argument", "0", "2")


def test_alternatives_are_all_tried() -> None:
    either = UPat.any(UPat(Ops.MUL), UPat(Ops.ADD, src=(UPat(), UPat(Ops.CONST, arg=3))))
    answer = misfits(misfit(either, X + 1))
    assert (answer.kind, answer.expected, answer.found) == ("argument", "3", "1")


def test_explain_agrees_with_the_engine() -> None:
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    pool = [X, Y, UOp.const(dtypes.int32, 0), UOp.const(dtypes.int32, 1), X + 0, Y * 1]
    for _ in range(60):
        a, b = rng.choice(pool), rng.choice(pool)
        pool.append(rng.choice((a + b, a * b, a // 3, a % 4, a.maximum(b), (a < b).where(a, b))))
    for node in pool:
        for one in rng.sample(symbolic.rules, 40):
            first = next((r for v in one.variants if (r := _plain(v, node)) is not None), None)
            found = explain(one, node)
            assert isinstance(found, Fires) == (first is not None), (seed, one, node)
            assert not isinstance(found, Fires) or found.result is first, (seed, one, node)


def _plain(variant: Variant, node: UOp) -> UOp | None:
    """What the engine's code of a variant gives, which trusts that the op fits."""
    ops = variant.pattern.op
    return None if ops is not None and node.op not in ops else variant.plain(node, None)
