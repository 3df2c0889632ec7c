"""The rules of operations and casts keep every value: proofs of those of bools and integers, and
all pairs of edge values through the table of meanings; and what they leave has a line in PTX."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import DType, dtypes, truncate
from core.passes.ptx import casts, operations
from core.passes.ptx.bools import bools
from core.passes.ptx.casts import casting
from core.passes.ptx.halves import halves
from core.passes.ptx.integers import integers
from core.render.ptx_lines.alu import ROWS
from core.render.ptx_lines.cast import BITCASTS, CASTS
from core.target import targets
from core.uop import GroupOp, Ops, UOp, graph_rewrite
from core.uop.engine.observe import recording
from core.uop.facts.meaning import evaluate, on_bools, on_floats, on_ints
from tests.core.render.test_ops import edges
from tests.core.uop.prover import counterexample

TARGETS = ("sm_75", "sm_90")
PLAIN = tuple(d for d in dtypes.all if d not in dtypes.fp8s)
NOT_IN_PTX = {Ops.COS, Ops.POW, Ops.THREEFRY}
"""Left to `decompose`, as are functions of other floats than float32."""
ONLY_SINGLE = {Ops.EXP2, Ops.LOG2, Ops.SIN}


def var(name: str, dtype: DType) -> UOp:
    return UOp(Ops.DEFINE_VAR, dtype, (), (name, dtypes.min(dtype), dtypes.max(dtype)))


def lowered(u: UOp, target: str) -> UOp:
    sink = UOp.sink(u)
    for step in (operations, casts):
        sink = step(sink, targets[target])
    return sink.src[0]


def value(u: UOp, env: Mapping[UOp, Any]) -> Any:
    """What an expression is, for values of its variables."""
    known = dict(env)
    for n in u.toposort():
        if n not in known and n.op is Ops.CONST:
            known[n] = n.arg
        elif n not in known:
            source = n.src[0 if n.op is not Ops.WHERE else -1].dtype
            known[n] = evaluate(n.op, n.dtype, [known[s] for s in n.src], source)
    return known[u]


def same(a: Any, b: Any) -> bool:
    """Equal; any NaN is NaN, any zero is zero."""
    return type(a) is type(b) and (a == b or (a != a and b != b))


def has_lines(u: UOp) -> list[str]:
    """The nodes for which the renderer's tables have no line."""
    missing: list[str] = []
    for n in u.toposort():
        if n.op in (Ops.CAST, Ops.BITCAST):
            table = CASTS if n.op is Ops.CAST else BITCASTS
            if (n.src[0].dtype, n.dtype) not in table:
                missing.append(repr(n))
        elif n.op in GroupOp.ALU and (n.op, n.src[-1 * (n.op is Ops.WHERE)].dtype) not in ROWS:
            missing.append(repr(n))
    return missing


def operation(op: Ops, dtype: DType) -> tuple[UOp, list[UOp]]:
    names = [var(name, dtype) for name in "abc"]
    if op is Ops.WHERE:
        names = [var("t", dtypes.bool), *names[:2]]
    else:
        names = names[: 1 if op in GroupOp.Unary else 2 if op in GroupOp.Binary else 3]
    return names[0].alu(op, *names[1:]), names


def ops_of(dtype: DType) -> Sequence[Ops]:
    table = on_bools if dtypes.is_bool(dtype) else on_ints if dtypes.is_int(dtype) else on_floats
    found = [op for op in table if op not in NOT_IN_PTX and (op is not Ops.POW)]
    if dtypes.is_int(dtype):
        found.remove(Ops.TRUNC)
    if dtypes.is_float(dtype) and dtype is not dtypes.float32:
        found = [op for op in found if op not in ONLY_SINGLE or dtype.bits == 16]
    return found


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_every_operation_keeps_its_value(dtype: DType, target: str) -> None:
    for op in ops_of(dtype):
        before, names = operation(op, dtype)
        after = lowered(before, target)
        assert not has_lines(after), (op, has_lines(after))
        columns = [edges(n.dtype) for n in names]
        for values in itertools.islice(itertools.product(*columns), 600):
            env = dict(zip(names, values, strict=True))
            wanted, found = value(before, env), value(after, env)
            assert same(found, wanted), (op, values, found, wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bitcast", [False, True], ids=["cast", "bitcast"])
@pytest.mark.parametrize("source", PLAIN, ids=str)
def test_every_cast_keeps_its_value(source: DType, bitcast: bool, target: str) -> None:
    for dtype in PLAIN:
        if bitcast and (dtype.bits + 7) // 8 != (source.bits + 7) // 8:
            continue
        x = var("x", source)
        before = x.bitcast(dtype) if bitcast else x.cast(dtype)
        after = lowered(before, target)
        assert not has_lines(after), (dtype, has_lines(after))
        for v in edges(source):
            if bitcast and dtypes.is_bool(dtype) and v not in (0, 1):
                continue  # no bool has these bits
            wanted, found = value(before, {x: v}), value(after, {x: v})
            assert same(found, wanted), (dtype, v, found, wanted)


@settings(max_examples=150, deadline=None)
@given(
    st.floats(width=32), st.floats(width=32), st.sampled_from((dtypes.float16, dtypes.bfloat16)),
    st.sampled_from(TARGETS),
)  # fmt: skip
def test_halves_are_rounded_once(a: float, b: float, dtype: DType, target: str) -> None:
    a, b = (float(truncate(v, dtype)) for v in (a, b))
    for op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.CMPLT):
        before, names = operation(op, dtype)
        env = dict(zip(names, (a, b), strict=True))
        assert same(value(lowered(before, target), env), value(before, env)), op


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from((*dtypes.ints, dtypes.float64)), st.sampled_from(TARGETS))
def test_bfloat16_is_rounded_once(data: st.DataObject, source: DType, target: str) -> None:
    low, high = dtypes.min(source), dtypes.max(source)
    drawn = st.integers(low, high) if dtypes.is_int(source) else st.floats()
    x, v = var("x", source), data.draw(drawn)
    before = x.cast(dtypes.bfloat16)
    assert same(value(lowered(before, target), {x: v}), value(before, {x: v}))


@settings(max_examples=150, deadline=None)
@given(st.floats(), st.sampled_from(dtypes.ints), st.sampled_from(dtypes.floats[2:]))
def test_floats_to_integers_saturate(v: float, dtype: DType, source: DType) -> None:
    v = float(truncate(v, source)) if math.isfinite(v) else v
    x = var("x", source)
    before = x.cast(dtype)
    assert same(value(lowered(before, "sm_90"), {x: v}), value(before, {x: v}))


PROOFS = [
    *((dtypes.bool, op) for op in on_bools),
    *((d, op) for d in (dtypes.int8, dtypes.uint8) for op in ops_of(d)),
    *((d, op) for d in (dtypes.int16, dtypes.uint16) for op in (Ops.SHL, Ops.SHR)),
]


@pytest.mark.parametrize(("dtype", "op"), PROOFS, ids=lambda v: getattr(v, "name", str(v)))
def test_proofs(dtype: DType, op: Ops) -> None:
    before, _ = operation(op, dtype)
    if op is Ops.MULACC:  # the prover has products and sums
        a, b, c = before.src
        before = a * b + c
    after = graph_rewrite(before, bools + integers)
    assert counterexample(before, after) is None


def test_every_rule_fires() -> None:
    with recording() as steps:
        for target in TARGETS:
            for dtype in PLAIN:
                for op in ops_of(dtype):
                    lowered(operation(op, dtype)[0], target)
                for other in PLAIN:
                    lowered(var("x", dtype).cast(other), target)
                    if dtype.itemsize == other.itemsize:
                        lowered(var("x", dtype).bitcast(other), target)
        p, q = var("p", dtypes.bool), var("q", dtypes.bool)
        for u in (p.where(True_, q), p.where(q, False_), p ^ False_):
            lowered(u, "sm_90")
    wanted = {r.name for r in (*bools.rules, *integers.rules, *halves.rules, *casting.rules)}
    assert set(steps.rules) == wanted


True_, False_ = UOp.const(dtypes.bool, True), UOp.const(dtypes.bool, False)


def test_what_ptx_has_stays() -> None:
    a, b = var("a", dtypes.int32), var("b", dtypes.int32)
    f, g = var("f", dtypes.float32), var("g", dtypes.float32)
    numbers = (a + b, a.alu(Ops.MAX, b), a / 3, a.cast(dtypes.int64))
    for u in (*numbers, f * g, f.alu(Ops.MAX, g), f < g, f.cast(dtypes.int32)):
        assert lowered(u, "sm_90") is u


def test_forms() -> None:
    """A few rules, exactly."""
    a, b, n = var("a", dtypes.int32), var("b", dtypes.int32), var("n", dtypes.int64)
    f, c = var("f", dtypes.float32), UOp.const(dtypes.float32, 0.0)
    assert lowered(a << 3, "sm_90").src[1] is UOp.const(dtypes.uint32, 3)
    assert lowered(a << -1, "sm_90").src[1] is UOp.const(dtypes.uint32, 64)
    assert lowered(a << b, "sm_90").src[1] is b.cast(dtypes.uint32)
    assert lowered(n << n, "sm_90").src[1].src[0].op is Ops.WHERE
    assert lowered(a % b, "sm_90").op is Ops.WHERE
    assert lowered(f.alu(Ops.MAX, c), "sm_75") is (f < c).where(c, f)
    assert lowered(f.cast(dtypes.int64), "sm_90").op is Ops.WHERE
    assert lowered(a.cast(dtypes.int8), "sm_90") is a.cast(dtypes.uint16).cast(dtypes.int8)
