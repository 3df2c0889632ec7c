"""Rules of floats keep NaN, infinities and the sign of zero: on corner values."""

from __future__ import annotations

import itertools

import pytest

from core.dtype import dtypes
from core.uop import Ops, UOp
from tests.core.uop.evaluator import CORNERS, same, value
from tests.core.uop.symbols import after, f, g, num, x

FLOATS: dict[str, tuple[UOp, ...]] = {
    "float_add_zero": (f + -0.0, f - 0.0),
    "float_mul_one": (f * 1.0, f / 1.0),
    "power_of_one": (f.const_like(1.0).alu(Ops.POW, f),),
    "float_minus_minus": (f * -1.0 * -1.0,),
    "float_divide_by_power": (f / 4.0, f / -0.5, f / 2.0**126, f / 2.0**-100),
    "float_reciprocal": (1.0 / f,),
    "trunc_of_integer": (f.trunc().trunc(), x.cast(dtypes.float32).trunc()),
    "bitcast_to_same": (f.bitcast(dtypes.int32).bitcast(dtypes.float32),),
}


@pytest.mark.parametrize(("name", "before"), [(n, u) for n, us in FLOATS.items() for u in us])
def test_floats_on_corners(name: str, before: UOp) -> None:
    made = after(name, before)
    assert made is not None
    for number in CORNERS:
        env = {f: dtypes_round(number), x: 7}
        assert same(value(before, env), value(made, env)), number


def dtypes_round(number: float) -> float:
    from_const = UOp.const(dtypes.float32, number)
    return float(from_const.arg)


@pytest.mark.parametrize("op", [Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX])
def test_all_layers_keep_corners_of_floats(op: Ops) -> None:
    """Both operands, and each with a constant."""
    expressions = [f.alu(op, g), f.alu(op, f), (f < g).where(f.alu(op, g), f)]
    for c in CORNERS:
        expressions += [f.alu(op, num(c, dtypes.float32)), num(c, dtypes.float32).alu(op, f)]
    for u in expressions:
        simpler = u.simplify()
        for m, n in itertools.product(CORNERS, repeat=2):
            env = {f: dtypes_round(m), g: dtypes_round(n)}
            old, new = value(u, env), value(simpler, env)
            if op is Ops.MAX and old == new == 0:
                continue  # which zero MAX gives is left open
            assert same(old, new), f"{u.render()} -> {simpler.render()} for {m}, {n}"


def test_float_bounds_hold_on_corners() -> None:
    made = (
        f.exp2(),
        f.sin(),
        f.sqrt(),
        -f,
        f.maximum(0.5),
        (f < g),
        f.eq(g),
        f.ne(num(2, f.dtype)),
    )
    tests = tuple(UOp.const(dtypes.float32, c) for c in CORNERS)
    made += tuple(t.alu(op, f) for t in tests for op in (Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ))
    for u, m, n in itertools.product(made, CORNERS, CORNERS):
        found = value(u, {f: dtypes_round(m), g: dtypes_round(n)})
        assert found != found or u.vmin <= found <= u.vmax, (u.render(), m, n)
