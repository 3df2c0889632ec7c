"""docs/semantics.md has an entry for each op, and says of each what the meaning tables say."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.prove.decide import Checker
from core.target import targets
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import evaluate, threefry
from tests.core.uop.evaluator import same

TEXT: Final = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
HELD: Final = {
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.fp8e4m3: ml_dtypes.float8_e4m3fn,
    dtypes.fp8e5m2: ml_dtypes.float8_e5m2,
}
UNDER_TEST: Final = (
    dtypes.int8, dtypes.uint8, dtypes.int32, dtypes.uint64, dtypes.float32, dtypes.float64,
    dtypes.float16, *HELD, dtypes.bool,
)  # fmt: skip
FLOATS: Final = (0.0, -0.0, 1.0, -1.5, 0.3, 3.0, 1e-3, -240.0, math.inf, -math.inf, math.nan)
MATHEMATICS: Final = ("nan", "inf", "copysign", "isfinite", "log2", "sin", "cos", "sqrt")
GROUPS: Final[tuple[str, ...]] = ("integers", "floats", "bools")


def rows(title: str) -> Iterator[list[str]]:
    """The rows of the first table below a title, without its head."""
    part = TEXT.split(f"# {title}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in part.split("\n") if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def formula(cell: str) -> str:
    return cell.strip("`").replace("\\|", "|")


def names(cell: str) -> list[Ops]:
    return [Ops[name.strip()] for name in cell.split(",")]


Formulas = dict[str, str]


def formulas(cells: list[str]) -> Formulas:
    """By kind of dtype."""
    return dict(zip(GROUPS, map(formula, cells), strict=True))


ARITHMETIC: Final = {Ops[r[0]]: formulas(r[1:]) for r in rows("Arithmetic")}
CASTS: Final = {r[1]: formulas(r[2:]) for r in rows("Conversions")}
OTHERS: Final = [(op, r[-1]) for r in rows("All other ops") for op in names(r[0])]


def group(dtype: DType) -> str:
    """Which formula a dtype has."""
    if dtypes.is_bool(dtype):
        return "bools"
    return "floats" if dtypes.is_float(dtype) else "integers"


def values(dtype: DType) -> list[Any]:
    """Corners of a dtype, and plain values."""
    if dtypes.is_bool(dtype):
        return [False, True]
    if dtypes.is_float(dtype):
        return list(dict.fromkeys(_near(v, dtype) for v in FLOATS))
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    return [n for n in (0, 1, 2, 3, 7, 8, 31, 100, -1, -2, -7, low, low + 1, high)
            if low <= n <= high]  # fmt: skip


def _near(v: Any, dtype: DType) -> float:
    """Rounded by NumPy or ml_dtypes, whose tables are not ours. An exact fraction is first rounded
    to odd, so that two roundings are as one."""
    if isinstance(v, Fraction):
        near = float(v)
        if Fraction(near) != v and dtype is not dtypes.float64:
            down = near if abs(Fraction(near)) < abs(v) else math.nextafter(near, 0.0)
            odd = np.float64(down).view(np.uint64) & np.uint64(1)
            near = down if odd else math.nextafter(down, math.copysign(math.inf, down))
        v = near
    with np.errstate(all="ignore"):
        return float(np.float64(v).astype(HELD.get(dtype, dtype.name)))


def _wrapped(n: int, dtype: DType) -> int:
    n %= 1 << dtype.bits
    signed = not dtypes.is_unsigned(dtype) and n >> (dtype.bits - 1)
    return n - (1 << dtype.bits) if signed else n


def _power(x: float, y: float) -> float:
    """pow of C."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        return math.nan if x != 0 else math.copysign(math.inf, x) if y % 2 == 1 else math.inf


def _fused(x: float, y: float, z: float) -> Fraction | float:
    if not all(map(math.isfinite, (x, y, z))) or x * y == 0 or z == 0:
        return x * y + z
    return Fraction(x) * Fraction(y) + Fraction(z) or 0.0


def _quotient(x: int, y: int) -> int:
    return int(Fraction(x, y))


def said(text: str, dtype: DType, args: tuple[Any, ...]) -> Any:
    """What a formula gives."""

    def near(v: Any) -> float:
        return _near(v, dtype)

    def wrap(n: int) -> int:
        return _wrapped(n, dtype)

    known: dict[str, Any] = {name: getattr(math, name) for name in MATHEMATICS}
    known |= {"near": near, "wrap": wrap, "quotient": _quotient, "fused": _fused}
    known |= {"power": _power, "threefry": threefry, "bits": dtype.bits}
    known |= {"low": dtypes.min(dtype), "high": dtypes.max(dtype)}
    return eval(text, {}, known | dict(zip("xyz", args, strict=False)))


def test_each_op_has_one_entry() -> None:
    counted = Counter([*ARITHMETIC, Ops.CAST, Ops.BITCAST, *(op for op, _ in OTHERS)])
    assert {op for op, n in counted.items() if n > 1} == set()
    assert set(Ops) - set(counted) == set()
    assert set(ARITHMETIC) == set(GroupOp.ALU)


def arity(op: Ops) -> int:
    return 1 if op in GroupOp.Unary else 3 if op in GroupOp.Ternary else 2


@pytest.mark.parametrize("dtype", UNDER_TEST, ids=str)
@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda op: op.name)
def test_a_formula_is_what_the_table_computes(op: Ops, dtype: DType) -> None:
    text = ARITHMETIC[op][group(dtype)]
    if not text or (op is Ops.THREEFRY and dtype is not dtypes.uint64):
        return
    result = dtypes.bool if op in GroupOp.Comparison else dtype
    sources = [values(dtype)] * arity(op)
    if op is Ops.WHERE:
        sources[0] = [False, True]
    for args in product(*(s[:: 2 if arity(op) == 3 and len(s) > 2 else 1] for s in sources)):
        wanted, found = said(text, result, args), evaluate(op, result, args, dtype)
        zeros = op is Ops.MAX and wanted == found == 0  # which zero is left open
        assert zeros or same(wanted, found), (op, args, wanted, found)


@pytest.mark.parametrize("dtype", UNDER_TEST, ids=str)
@pytest.mark.parametrize("source", UNDER_TEST, ids=str)
def test_a_conversion_is_what_the_table_computes(source: DType, dtype: DType) -> None:
    text = CASTS[group(source)][group(dtype)]
    for x in values(source):
        wanted, found = said(text, dtype, (x,)), evaluate(Ops.CAST, dtype, (x,), source)
        assert same(wanted, found), (x, wanted, found)


ARGUMENTS: Final = {Ops.MULTI: None, Ops.WMMA: targets["sm_80"].tensor_cores[0]}


@pytest.mark.parametrize("op", [op for op, how in OTHERS if how == "none"], ids=lambda op: op.name)
def test_what_no_proof_knows_is_not_checkable(op: Ops) -> None:
    """Never right by itself: neither for another value, nor in the place of one."""
    x = UOp.variable("x", 0, 9)
    unknown = UOp(op, dtypes.int32, (x,), ARGUMENTS.get(op, 1))
    for before, after in ((unknown, x), (x, unknown), (unknown + 1, x + 2)):
        assert Checker().check(before, after).kind == "unchecked"


def test_an_op_that_nothing_knows_is_not_checkable() -> None:
    """The meaning tables have no such op on integers: that is no crash, and no proof."""
    x = UOp.variable("x", 0, 9)
    assert Checker().check(x, UOp(Ops.SIN, dtypes.int32, (x,))).kind == "unchecked"
