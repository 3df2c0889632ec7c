"""Elementwise operations against PyTorch: every function, operator and activation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import Tensor
from tests.conformance.comparing import Operation, check, same, shapes, values

UNARY = [
    Operation("neg", lambda x: -x, torch.neg, special=True, kinds="efdbhil"),
    Operation("relu", Tensor.relu, torch.relu, special=True, kinds="efdil"),
    Operation("abs", Tensor.abs, torch.abs, kinds="efdbhil"),
    Operation("sign", Tensor.sign, torch.sign, special=False, kinds="efdil"),
    Operation("square", Tensor.square, torch.square, kinds="efdil"),
    Operation("sqrt", Tensor.sqrt, torch.sqrt, low=0.01, kinds="efd"),
    Operation("sqrt_special", Tensor.sqrt, torch.sqrt, special=True, gradient=False),
    Operation("rsqrt", Tensor.rsqrt, torch.rsqrt, low=0.05, kinds="efd"),
    Operation("reciprocal", Tensor.reciprocal, torch.reciprocal, low=0.1, kinds="efd"),
    Operation("exp", Tensor.exp, torch.exp, kinds="efd"),
    Operation(
        "exp_special",
        Tensor.exp,
        torch.exp,
        low=-100,
        high=100,
        special=True,
        gradient=False,
        loose=10,
    ),
    Operation("exp2", Tensor.exp2, torch.exp2, kinds="efd"),
    Operation("expm1", Tensor.expm1, torch.expm1, high=4),
    Operation("log", Tensor.log, torch.log, low=0.01, kinds="efd"),
    Operation("log_special", Tensor.log, torch.log, special=True, gradient=False),
    Operation("log2", Tensor.log2, torch.log2, low=0.01, kinds="efd"),
    Operation("log10", Tensor.log10, torch.log10, low=0.01),
    Operation("log1p", Tensor.log1p, torch.log1p, low=-0.9),
    Operation("sin", Tensor.sin, torch.sin, low=-30, high=30, kinds="efd"),
    Operation("cos", Tensor.cos, torch.cos, low=-30, high=30),
    Operation("tan", Tensor.tan, torch.tan, low=-1.2, high=1.2),
    Operation("sinh", Tensor.sinh, torch.sinh, low=-4, high=4, loose=2),
    Operation("cosh", Tensor.cosh, torch.cosh, low=-4, high=4, loose=2),
    Operation("tanh", Tensor.tanh, torch.tanh, kinds="efd"),
    Operation("asinh", Tensor.asinh, torch.asinh, away=0.01, loose=4),
    Operation("acosh", Tensor.acosh, torch.acosh, low=1.1),
    Operation("atanh", Tensor.atanh, torch.atanh, low=-0.9, high=0.9),
    Operation("asin", Tensor.asin, torch.asin, low=-0.95, high=0.95, away=0.01, kinds="f", loose=4),
    Operation("acos", Tensor.acos, torch.acos, low=-0.95, high=0.95, away=0.01, kinds="f", loose=4),
    Operation("atan", Tensor.atan, torch.atan, low=-4, high=4, away=0.01, kinds="f", loose=4),
    Operation("erf", Tensor.erf, torch.erf, low=-4, high=4, away=0.01, kinds="f", loose=4),
    Operation("trunc", Tensor.trunc, torch.trunc, special=True, kinds="efd"),
    Operation("floor", Tensor.floor, torch.floor, special=True, kinds="efd", gradient=False),
    Operation("ceil", Tensor.ceil, torch.ceil, special=True, kinds="efd", gradient=False),
    Operation("round", Tensor.round, torch.round, kinds="efd", gradient=False),
    Operation("isnan", Tensor.isnan, torch.isnan, special=True, kinds="efd"),
    Operation("isinf", Tensor.isinf, torch.isinf, special=True, kinds="efdi"),
    Operation("isfinite", Tensor.isfinite, torch.isfinite, special=True, kinds="efdi"),
    Operation("logical_not", Tensor.logical_not, torch.logical_not, kinds="?fil"),
    Operation("bitwise_not", lambda x: ~x, torch.bitwise_not, low=-999, high=999, kinds="?bBhil"),
    Operation("clamp", lambda x: x.clamp(-1.5, 2.0), lambda x: x.clamp(-1.5, 2.0), kinds="efd"),
    Operation("clamp_low", lambda x: x.clamp(1), lambda x: x.clamp(1), kinds="efdil"),
    Operation("clip_high", lambda x: x.clip(max_=1), lambda x: x.clip(max=1), kinds="efdil"),
    Operation("relu6", Tensor.relu6, F.relu6, high=9),
    Operation("hardtanh", Tensor.hardtanh, F.hardtanh),
    Operation("sigmoid", Tensor.sigmoid, torch.sigmoid, kinds="efd"),
    Operation("hardsigmoid", Tensor.hardsigmoid, F.hardsigmoid, away=0.01, kinds="f"),
    Operation("logsigmoid", Tensor.logsigmoid, F.logsigmoid, away=0.01),
    Operation("silu", Tensor.silu, F.silu, kinds="efd"),
    Operation("hardswish", Tensor.hardswish, F.hardswish, away=0.01),
    Operation("gelu", Tensor.gelu, lambda x: F.gelu(x, approximate="tanh"), kinds="efd"),
    Operation("gelu none", lambda x: x.gelu("none"), F.gelu),
    Operation("quick_gelu", Tensor.quick_gelu, lambda x: x * torch.sigmoid(1.702 * x)),
    Operation("elu", Tensor.elu, F.elu, away=0.01),
    Operation("celu", lambda x: x.celu(1.3), lambda x: F.celu(x, 1.3), away=0.01, kinds="f"),
    Operation("selu", Tensor.selu, F.selu, away=0.01),
    Operation("leaky_relu", Tensor.leaky_relu, F.leaky_relu, kinds="efd"),
    Operation("softplus", lambda x: x.softplus(1.5), lambda x: F.softplus(x, 1.5), away=0.01),
    Operation("mish", Tensor.mish, F.mish, away=0.01),
    Operation("softsign", Tensor.softsign, F.softsign, away=0.01),
    Operation("pow_2", lambda x: x**2, lambda x: x**2, kinds="efdil"),
    Operation("pow_3", lambda x: x**3, lambda x: x**3, kinds="fdil"),
    Operation("pow_0", lambda x: x**0, lambda x: x**0, kinds="fd"),
    Operation("pow_half", lambda x: x**0.5, lambda x: x**0.5, low=0.05),
    Operation("pow_minus_2", lambda x: x**-2, lambda x: x**-2, low=0.3),
    Operation("pow_2.3", lambda x: x**2.3, lambda x: x**2.3, low=0.05, loose=4),
    Operation("rpow", lambda x: 2.5**x, lambda x: 2.5**x, low=-3, high=3, loose=4),
    Operation("radd", lambda x: 3 + x, lambda x: 3 + x, kinds="efdbBhil"),
    Operation("rsub", lambda x: 3 - x, lambda x: 3 - x, kinds="efdbhil"),
    Operation("rmul", lambda x: 3 * x, lambda x: 3 * x, kinds="efdbBhil"),
    Operation("rdiv", lambda x: 3 / x, lambda x: 3 / x, low=0.3, kinds="fd"),
    Operation("float_of_int", lambda x: x + 0.5, lambda x: x + 0.5, kinds="bBhil"),
]


@pytest.mark.parametrize("op", UNARY, ids=repr)
@given(data=st.data())
def test_unary(op: Operation, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(op.kinds))
    check(op, [data.draw(values(data.draw(shapes()), kind, op))])


BINARY = [
    Operation("add", lambda x, y: x + y, torch.add, kinds="efdbBhil", special=True),
    Operation("sub", lambda x, y: x - y, torch.sub, kinds="efdbhil", special=True),
    Operation("mul", lambda x, y: x * y, torch.mul, kinds="efdbBhil"),
    Operation("div", lambda x, y: x / y, torch.div, low=0.25, kinds="efd"),
    Operation("div_special", lambda x, y: x / y, torch.div, special=True, gradient=False),
    Operation("div_ints", lambda x, y: x / y, torch.div, low=1, high=90, kinds="bBhil"),
    Operation("floor_div", lambda x, y: x // y, torch.floor_divide, low=1, high=99,
              kinds="Bhil", gradient=False),
    Operation("div_trunc", lambda x, y: x.div(y, rounding_mode="trunc"),
              lambda x, y: torch.div(x, y, rounding_mode="trunc"), low=1, high=99, kinds="Bhilfd",
              gradient=False),
    Operation("maximum", Tensor.maximum, torch.maximum, kinds="efdbBhil"),
    Operation("minimum", Tensor.minimum, torch.minimum, kinds="efdbBhil"),
    Operation("pow", lambda x, y: x**y, torch.pow, low=0.1, high=3, loose=6),
    Operation("pow_ints", lambda x, y: x**y, torch.pow, low=0, high=6, kinds="il"),
    Operation("lt", lambda x, y: x < y, torch.lt, kinds="efdbBhil", special=True),
    Operation("le", lambda x, y: x <= y, torch.le, kinds="efdbBhil", special=True),
    Operation("gt", lambda x, y: x > y, torch.gt, kinds="efdbBhil", special=True),
    Operation("ge", lambda x, y: x >= y, torch.ge, kinds="efdbBhil", special=True),
    Operation("eq", lambda x, y: x == y, torch.eq, kinds="efdbBhil?", special=True),
    Operation("ne", lambda x, y: x != y, torch.ne, kinds="efdbBhil?", special=True),
    Operation("and", lambda x, y: x & y, torch.bitwise_and, low=-99, high=99, kinds="?bBhil"),
    Operation("or", lambda x, y: x | y, torch.bitwise_or, low=-99, high=99, kinds="?bBhil"),
    Operation("xor", lambda x, y: x ^ y, torch.bitwise_xor, low=-99, high=99, kinds="?bBhil"),
    Operation("lerp", lambda x, y: x.lerp(y, 0.3), lambda x, y: torch.lerp(x, y, 0.3)),
    Operation("isclose", lambda x, y: x.isclose(y, 0.1, 0.1),
              lambda x, y: torch.isclose(x, y, 0.1, 0.1), special=True),
    Operation("copysign", Tensor.copysign, torch.copysign, gradient=False),
    Operation("masked_fill", lambda x, y: x.masked_fill(y > 1, 7),
              lambda x, y: x.masked_fill(y > 1, 7)),
]  # fmt: skip


@pytest.mark.parametrize("op", BINARY, ids=repr)
@given(data=st.data())
def test_binary_broadcasts(op: Operation, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(op.kinds))
    both = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4))
    first, second = both.input_shapes
    if op.name == "masked_fill":
        first = both.result_shape
    check(op, [data.draw(values(s, kind, op)) for s in (first, second)])


@pytest.mark.parametrize("kind", "bhil")
@given(data=st.data())
def test_python_division_of_negative_integers(kind: str, data: st.DataObject) -> None:
    op = Operation("any", lambda x: x, lambda x: x, low=-100, high=100)
    shape = data.draw(shapes())
    x, y = (data.draw(values(shape, kind, op)) for _ in range(2))
    y[y == 0] = 3
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    same(Tensor(x) // Tensor(y), torch.floor_divide(tx, ty))
    same(Tensor(x) % Tensor(y), torch.remainder(tx, ty))
    same(Tensor(x).idiv(Tensor(y)), torch.div(tx, ty, rounding_mode="trunc"))
    same(Tensor(x) // 7, tx // 7)
    same(Tensor(x) % -7, tx % -7)
    same(100 // Tensor(y), 100 // ty)
    same(100 % Tensor(y), torch.remainder(100, ty))


@given(data=st.data())
def test_float_remainder(data: st.DataObject) -> None:
    op = Operation("mod", lambda x, y: x % y, torch.remainder, low=0.3, high=9, gradient=False)
    shape = data.draw(shapes())
    x, y = (data.draw(values(shape, "d", op)) for _ in range(2))
    check(op, [x, y])
    check(op, [np.negative(x, out=x), y])


@pytest.mark.parametrize("kind", "bBhil")
@given(data=st.data())
def test_shifts(kind: str, data: st.DataObject) -> None:
    op = Operation("any", lambda x: x, lambda x: x, low=-100, high=100)
    by = Operation("any", lambda x: x, lambda x: x, low=0, high=5)
    shape = data.draw(shapes())
    x, y = data.draw(values(shape, kind, op)), data.draw(values(shape, kind, by))
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    same(Tensor(x) << Tensor(y), tx << ty)
    same(Tensor(x) >> Tensor(y), tx >> ty)
    same(Tensor(x) >> 2, tx >> 2)


@given(data=st.data())
def test_where(data: st.DataObject) -> None:
    op = Operation("where", lambda c, x, y: c.where(x, y), torch.where)
    three = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=4))
    kinds = "?" + data.draw(st.sampled_from(["ff", "dd", "ii"]))
    check(op, [data.draw(values(s, k, op)) for s, k in zip(three.input_shapes, kinds, strict=True)])


CASTS = "?bBhilefd"


@pytest.mark.parametrize("kind", CASTS)
@given(data=st.data())
def test_cast(kind: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(CASTS))
    op = Operation("cast", lambda x: x, lambda x: x, low=0 if other == "B" else -100, high=100)
    x = data.draw(values(data.draw(shapes()), kind, op))
    dtype = torch.from_numpy(np.zeros(1, other)).dtype
    same(Tensor(x).cast(np.dtype(other).name), torch.from_numpy(x).to(dtype))
