"""Values of expressions from the meaning table, and random expressions, for the tests here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from core.dtype import DType, dtypes
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import evaluate

INT_OPS = (
    Ops.ADD, Ops.ADD, Ops.ADD, Ops.SUB, Ops.MUL, Ops.MUL, Ops.IDIV, Ops.IDIV, Ops.MOD, Ops.MOD,
    Ops.MAX, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.NEG,
)  # fmt: skip
CORNERS = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -2.5, 1e30, 3.0, 1e-40)


def value(u: UOp, env: Mapping[UOp, Any]) -> Any:
    """The value of `u`, scalar nodes only, with `env` for its variables."""
    found = dict(env)
    for n in u.toposort():
        if n in found:
            continue
        if n.op is Ops.CONST:
            found[n] = n.arg
        elif n.op in GroupOp.Elementwise:
            src = [found[s] for s in n.src]
            source = n.src[0].dtype
            if n.op not in GroupOp.Comparison and n.op not in (Ops.CAST, Ops.BITCAST):
                source = n.dtype
            found[n] = evaluate(n.op, n.dtype, src, source)
        elif n.op is not Ops.RANGE:
            raise AssertionError(f"no value for {n}")
        else:
            found[n] = 0
    return found[u]


def same(a: Any, b: Any) -> bool:
    """Equal, NaN equal to NaN, -0.0 apart from 0.0."""
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return a == b and isinstance(a, bool) == isinstance(b, bool)


@st.composite
def variables(draw: st.DrawFn, dtype: DType) -> list[UOp]:
    """Up to three variables with bounds of any sign, sometimes the whole dtype."""
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    made: list[UOp] = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        if draw(st.integers(0, 3)) == 0:
            made.append(UOp.variable(name, low, high, dtype))
            continue
        start = draw(st.integers(max(low, -20), 20))
        made.append(UOp.variable(name, start, min(high, start + draw(st.integers(0, 40))), dtype))
    return made


@st.composite
def integer_expression(draw: st.DrawFn, dtype: DType, size: int = 12) -> tuple[UOp, list[UOp]]:
    """(an expression of integers, comparisons and WHEREs; its variables)"""
    leaves = draw(variables(dtype))
    numbers = list(leaves)
    tests: list[UOp] = []
    for _ in range(draw(st.integers(1, size))):
        x = draw(st.sampled_from(numbers))
        kind = draw(st.integers(0, 9))
        if kind < 7:
            op = draw(st.sampled_from(INT_OPS))
            if draw(st.booleans()) or op in (Ops.SHL, Ops.SHR):
                small = st.integers(0, 9) if dtypes.is_unsigned(dtype) else st.integers(-9, 9)
                y = UOp.const(dtype, draw(st.integers(0, 3) if op in (Ops.SHL, Ops.SHR) else small))
            else:
                y = draw(st.sampled_from(numbers))
            if op is Ops.NEG:
                numbers.append(x.neg())
            else:
                numbers.append(y.alu(op, x) if draw(st.booleans()) else x.alu(op, y))
        elif kind == 7 or not tests:
            op = draw(st.sampled_from((Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ)))
            y = draw(st.sampled_from([*numbers, UOp.const(dtype, draw(st.integers(0, 9)))]))
            tests.append(x.alu(op, y) if draw(st.booleans()) else y.alu(op, x))
        elif kind == 8:
            test = draw(st.sampled_from(tests))
            numbers.append(test.where(x, draw(st.sampled_from(numbers))))
        else:
            p, q = draw(st.sampled_from(tests)), draw(st.sampled_from(tests))
            tests.append(draw(st.sampled_from((p & q, p | q, p.logical_not(), p ^ q))))
    root = tests[-1] if tests and draw(st.integers(0, 3)) == 0 else numbers[-1]
    return root, leaves


def assignments(draw: Any, leaves: list[UOp], count: int) -> list[dict[UOp, int]]:
    """Values for the variables, with the ends of their bounds among them."""
    choices = [
        st.one_of(st.integers(v.arg[1], v.arg[2]), st.sampled_from((v.arg[1], v.arg[2])))
        for v in leaves
    ]
    return [{v: draw(c) for v, c in zip(leaves, choices, strict=True)} for _ in range(count)]


@st.composite
def index_expression(draw: st.DrawFn, dtype: DType, size: int = 6) -> tuple[UOp, list[UOp]]:
    """(sums, quotients, remainders and comparisons as addresses have them; its variables)"""
    numbers = st.sampled_from((1, 2, 3, 4, 6, 8, 12, 16, -1, -2, -4))
    divisors = st.sampled_from((1, 2, 3, 4, 6, 8, 12, 16, 24))
    leaves: list[UOp] = []
    for name in "abcd"[: draw(st.integers(1, 4))]:
        low = draw(st.sampled_from((0, 0, 0, 0, 1, -3, -8)))
        if dtypes.is_unsigned(dtype):
            low = max(low, 0)
        leaves.append(UOp.variable(name, low, low + draw(st.integers(0, 15)), dtype))
    made = list(leaves)
    for _ in range(draw(st.integers(1, size))):
        kind = draw(st.integers(0, 5))
        x = draw(st.sampled_from(made[-3:]))
        if kind <= 1:
            for _ in range(draw(st.integers(1, 3))):
                x = x + draw(st.sampled_from(made)) * draw(numbers)
            made.append(x + draw(st.integers(-6, 12)))
        elif kind == 2:
            made.append(x // draw(divisors))
        elif kind == 3:
            made.append(x % draw(divisors))
        elif kind == 4:
            c = draw(divisors)
            y, d = draw(st.sampled_from(((x, 1), (x // 2, 2), (x % 24, 1)))), draw(divisors)
            made.append((y[0] // c % d if draw(st.booleans()) else y[0] // c) * c + y[0] % c)
        else:
            made.append(x * draw(numbers))
    if draw(st.integers(0, 3)):
        return made[-1], leaves
    tests = [draw(st.sampled_from(made)) < draw(st.integers(-9, 40)) for _ in range(3)]
    tests = [t.logical_not() if draw(st.booleans()) else t for t in tests]
    return tests[0] & tests[1] & tests[2], leaves
