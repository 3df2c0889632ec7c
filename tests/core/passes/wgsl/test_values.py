"""The rules for WGSL keep every value: all pairs of edge values through the table of meanings; and
what they leave has a text."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from core.dtype import DType, dtypes
from core.errors import CompileError
from core.passes.wgsl import narrowed, operations, pairs
from core.passes.wgsl.floats import floats
from core.passes.wgsl.guarantees import NANS, REMAINDERS
from core.passes.wgsl.integers import integers
from core.passes.wgsl.narrow import narrowing
from core.passes.wgsl.pairs import pairs_matcher as pairing
from core.render.wgsl_lines.ops import DIVISION
from core.target import targets
from core.uop import GroupOp, Ops, UOp
from core.uop.bits import from_bits, to_bits
from core.uop.engine.observe import recording
from core.uop.facts.meaning import evaluate
from tests.core.passes.ptx.test_values import operation, ops_of, same, var
from tests.core.render.test_ops import edges

TARGET = targets["webgpu"]
COMPUTED = (*dtypes.ints, dtypes.bool, dtypes.float32)
WIDE = (dtypes.int64, dtypes.uint64)
ELSEWHERE = {Ops.EXP2, Ops.LOG2, Ops.SIN}
"""Which `decompose` makes."""
KEPT = (Ops.ADD, Ops.SUB, Ops.MUL)


def lowered(u: UOp) -> UOp:
    sink = UOp.sink(u)
    for step in (operations, narrowed, pairs):
        sink = step(sink, TARGET)
    return sink.src[0]


def value(u: UOp, env: Mapping[UOp, Any]) -> Any:
    """What an expression is, for values of its variables; of a vector, a tuple."""
    known = dict(env)
    for n in u.toposort():
        if n in known:
            continue
        if n.op is Ops.CONST:
            known[n] = n.arg
            continue
        found = [known[s] for s in n.src]
        if n.op is Ops.VECTORIZE:
            known[n] = tuple(found)
        elif n.op is Ops.GEP:
            known[n] = found[0][n.arg[0]]
        elif n.op is Ops.BITCAST and n.dtype.count != n.src[0].dtype.count:
            known[n] = _other_lanes(found[0], n.src[0].dtype, n.dtype)
        else:
            source = n.src[0 if n.op is not Ops.WHERE else -1].dtype
            known[n] = evaluate(n.op, n.dtype, found, source)
    return known[u]


def _other_lanes(x: Any, source: DType, target: DType) -> Any:
    lanes = x if source.count > 1 else (x,)
    bits = sum(to_bits(v, source.scalar()) << i * source.scalar().bits for i, v in enumerate(lanes))
    size = target.scalar().bits
    made = [from_bits(bits >> i * size & (1 << size) - 1, target.scalar())
            for i in range(target.count)]  # fmt: skip
    return tuple(made) if target.count > 1 else made[0]


def without_text(u: UOp) -> list[str]:
    """Arithmetic that WGSL has no text for."""
    found: list[str] = []
    for n in u.toposort():
        computed = n.op in GroupOp.ALU or n.op is Ops.CAST
        wide = any(s.dtype.scalar() in WIDE for s in (n, *n.src))
        division = n.op in DIVISION and n.dtype is dtypes.uint64
        if computed and wide and not division:
            found.append(repr(n))
        narrow = n.dtype.scalar().bits < 32 and not dtypes.is_bool(n.dtype)
        if n.op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.SHL, Ops.NEG) and narrow:
            found.append(repr(n))
    return found


@pytest.mark.parametrize("dtype", COMPUTED, ids=str)
def test_every_operation_keeps_its_value(dtype: DType) -> None:
    for op in ops_of(dtype):
        if op in ELSEWHERE:
            continue
        before, names = operation(op, dtype)
        after = lowered(before)
        assert not without_text(after), (op, without_text(after))
        columns = [edges(n.dtype) for n in names]
        for values in itertools.islice(itertools.product(*columns), 600):
            env = dict(zip(names, values, strict=True))
            wanted, found = value(before, env), value(after, env)
            assert same(found, wanted), (op, values, found, wanted)


@pytest.mark.parametrize("source", COMPUTED, ids=str)
def test_every_cast_keeps_its_value(source: DType) -> None:
    for dtype in COMPUTED:
        x = var("x", source)
        after = lowered(x.cast(dtype))
        assert not without_text(after), (dtype, without_text(after))
        for v in edges(source):
            wanted, found = value(x.cast(dtype), {x: v}), value(after, {x: v})
            assert same(found, wanted), (dtype, v, found, wanted)


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_words_that_are_known_are_folded(dtype: DType) -> None:
    """Of casts, of a division and a product by a number, of shifts by a few bits."""
    x, n = var("x", dtype), var("n", dtypes.uint32) & 63
    made = [x * x.const_like(7), UOp(Ops.IDIV, dtype, (x, x.const_like(10))), x < 5,
            UOp(Ops.SHL, dtype, (x, n)), UOp(Ops.SHR, dtype, (x, n))]  # fmt: skip
    made += [var("y", source).cast(dtype) for source in COMPUTED]
    made += [x.cast(other) for other in COMPUTED]
    for before in made:
        for u in lowered(before).toposort():
            if u.op in GroupOp.ALU or u.op is Ops.CAST:
                assert any(s.op is not Ops.CONST for s in u.src), (before, u)
                assert u.op is not Ops.WHERE or u.src[0].op is not Ops.CONST, (before, u)


@pytest.mark.parametrize("op", [Ops.SHL, Ops.SHR])
@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_every_shift_by_a_constant_keeps_its_value(dtype: DType, op: Ops) -> None:
    x = var("x", dtype)
    for n in range(70):
        before = x.alu(op, UOp.const(dtype, n))
        after = lowered(before)
        for v in edges(dtype):
            assert value(after, {x: v}) == value(before, {x: v}), (n, v)


def test_small_numbers_are_computed_in_32_bits() -> None:
    x = UOp.variable("x", 0, 1000).cast(dtypes.int64)
    for made in (x * 3 + 1, x // 7, x % 7, (x < 5).where(x, x - 1), x << 2, x.maximum(x - 4)):
        after = lowered(made.cast(dtypes.int32))
        assert all(n.dtype.scalar() not in WIDE for n in after.toposort()), after


def test_zeros_that_are_added_or_multiplied_with_keep_their_meaning() -> None:
    """The sign of a zero, and NaN: compilers of shaders drop such operations."""
    x = var("x", dtypes.float32)
    for before in (x + 0.0, x * 0.0, x * -0.0, 0.0 - x):
        after = lowered(before)
        for u in after.toposort():
            is_zero = u.op is Ops.CONST and u.dtype is dtypes.float32 and u.arg == 0
            assert not any(is_zero and u in n.src for n in after.toposort() if n.op in KEPT)
        for v in edges(dtypes.float32):
            assert same(value(after, {x: v}), value(before, {x: v})), (before, v)


def test_float64_is_an_error_that_says_so() -> None:
    with pytest.raises(CompileError, match="WebGPU has no float64"):
        lowered(var("x", dtypes.float64) + 1.0)


def test_every_rule_fires() -> None:
    with recording() as steps:
        for dtype in COMPUTED:
            for op in ops_of(dtype):
                if op not in ELSEWHERE:
                    lowered(operation(op, dtype)[0])
            for other in COMPUTED:
                lowered(var("x", dtype).cast(other))
        lowered(var("x", dtypes.int64).bitcast(dtypes.uint64))
        x = UOp.variable("x", 0, 1000).cast(dtypes.int64)
        for made in (
            x * 3,
            x // 7,
            (x < 5).where(x, x * 2),
            x << 2,
            x >> 1,
            x.cast(dtypes.float32),
        ):
            lowered(made)
        lowered((x + 1).cast(dtypes.int32))
        f = var("f", dtypes.float32)
        lowered(f.ne(f))
        lowered(f.eq(f))
        lowered(f + 0.0)
        lowered(0.0 - f)
        lowered(f * 0.0)
        memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(9), (), 0)
        lowered(memory.index(x).load(dtype=dtypes.float32))
    rules = (*integers.rules, *floats.rules, *narrowing.rules, *pairing.rules)
    assert {r.name for r in rules} - set(steps.rules) == set()


def test_what_asks_for_a_nan_is_a_float_compared_with_itself() -> None:
    """Integers that are compared with themselves ask nothing."""
    zero, x = UOp.const(dtypes.int32, 0), var("x", dtypes.float32)
    same_integers = UOp(Ops.CMPEQ, dtypes.bool, (zero, zero))
    asks = UOp(Ops.CMPNE, dtypes.bool, (x, x))
    assert NANS.breach([zero, same_integers], TARGET) is None
    assert NANS.breach([x, asks], TARGET) is asks


@pytest.mark.parametrize("dtype", dtypes.sints)
def test_remainders_are_of_operands_without_a_sign(dtype: DType) -> None:
    """`%` of negative operands is left open by what WGSL's compilers make of it."""
    some, few = (UOp(Ops.DEFINE_VAR, dtype, (), (n, -9, 99)) for n in "ab")
    for u in (var("x", dtype) % var("y", dtype), some % few, some % 7, (some + 9) % 7):
        before_pairs = narrowed(operations(UOp.sink(u), TARGET), TARGET)
        assert REMAINDERS.breach(list(before_pairs.toposort()), TARGET) is None
