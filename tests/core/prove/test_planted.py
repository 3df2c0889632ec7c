"""Rules with planted errors are found, and the rules that they were made of are right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.dtype import dtypes
from core.prove.decide import TRIED, Checker
from core.uop import Ops, UOp
from core.uop.patterns.rule import Assumes
from tests.core.uop.symbols import f, g, i, num, p, pointer, q, var, x, y, z

Pair = tuple[UOp, UOp]

a = var("a", 0, 1000)
wide = var("w", -(1 << 31), (1 << 31) - 1)
vector = pointer.index(i).load(dtype=dtypes.float32.vec(4))
narrow = dtypes.int16
PLANTED: dict[str, tuple[Pair, Pair]] = {
    "operands of a difference swapped": ((x - y, x + y * -1), (x - y, y + x * -1)),
    "a constant off by one": (((x + 3) + 4, x + 7), ((x + 3) + 4, x + 8)),
    "a factor off by one": ((x * 3 + x * 4, x * 7), (x * 3 + x * 4, x * 8)),
    "no condition on the sign": (((a * 4 + 3) // 4, a), ((x * 4 + 3) // 4, x)),
    "a remainder that is too large": ((a % 8 % 4, a % 4), (a % 12 % 8, a % 8)),
    "division of what does not divide": (((a * 6) // 3, a * 2), ((a * 6) // 4, a * 2)),
    "a quotient of quotients": ((a // 3 // 5, a // 15), (a // 3 // 5, a // 8)),
    "a comparison turned": (((x < y).ne(True), (x < y).ne(True)), ((x < y).ne(True), y < x)),
    "a bound off by one": ((i < 32, num(1) < 2), (i < 31, num(1) < 2)),
    "wrapped around": ((wide + 0, wide), (wide + 1 < wide, num(2) < 1)),
    "branches swapped": ((p.where(x, y), p.ne(True).where(y, x)), (p.where(x, y), p.where(y, x))),
    "or for and": (((p & q) & p, p & q), ((p & q) & p, p | q)),
    "a shift that is too far": ((a << 3, a * 8), (a << 3, a * 16)),
    "a mask that is too narrow": ((a & 1023, a), (a & 511, a)),
    "max is not min": (
        (x.alu(Ops.MAX, y), (x < y).where(y, x)),
        (x.alu(Ops.MAX, y), (x < y).where(x, y)),
    ),
    "distributed over one term": (((x + y) * 3, x * 3 + y * 3), ((x + y) * 3, x * 3 + y)),
    "a lane of another position": (
        (vector.gep((1, 2)).gep(1), vector.gep(2)),
        (vector.gep((1, 2)).gep(1), vector.gep(1)),
    ),
    "operands of a quotient swapped": ((f / g, f / g), (f / g, g / f)),
    "a sign that is lost": ((f.alu(Ops.NEG).alu(Ops.NEG), f), (f.alu(Ops.NEG), f)),
    "a term that is dropped": ((f * g + g, g + f * g), (f * g + g, f * g)),
    "a cast that cuts": (
        (a.cast(narrow).cast(dtypes.int32), a),
        (wide.cast(narrow).cast(dtypes.int32), wide),
    ),
    "z": ((x * 0 + z, z), (x * 1 + z, z)),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_an_error_is_found(name: str) -> None:
    right, wrong = PLANTED[name]
    checker = Checker()
    found = checker.check(*right)
    assert found.kind in ("proved", "sampled"), found
    found = checker.check(*wrong)
    assert found.kind == "differs", found
    assert found.before != found.after


def test_values_of_a_difference_are_real() -> None:
    found = Checker().check(x * 2, x * 2 + (x < 5).cast(dtypes.int32))
    value = int(dict(found.values)["x"])
    assert value < 5
    assert (int(found.before), int(found.after)) == (2 * value, 2 * value + 1)


ZERO = UOp.const(dtypes.float32, 0.0)
GIVEN_UP: dict[str, tuple[Pair, Assumes]] = {
    "x * 0": ((f * 0.0, ZERO), Assumes.FINITE),
    "x + 0": ((f + 0.0, f), Assumes.EITHER_ZERO),
    "x == x": ((f.alu(Ops.CMPEQ, f).where(f, ZERO), f), Assumes.NO_NAN),
}


@pytest.mark.parametrize("name", GIVEN_UP)
def test_what_a_rule_gives_up(name: str) -> None:
    pair, assumes = GIVEN_UP[name]
    assert Checker().check(*pair).kind == "differs"
    given = (assumes, Assumes.EITHER_ZERO)
    found = Checker().check(*pair, given)
    assert found.kind == "assumes"
    assert str(assumes) in found.how


def test_rounding_is_told_from_a_difference() -> None:
    h = UOp(Ops.DEFINE_VAR, dtypes.float32, (), ("h", 0, 1))
    rounded = Checker().check((f + g) + h, f + (g + h))
    assert rounded.kind in ("sampled", "differs")
    fused = Checker().check(f * g + h, UOp(Ops.MULACC, dtypes.float32, (f, g, h)))
    assert fused.kind == "sampled"
    assert fused.how.startswith("equal but for rounding")
    assert fused.ulps > 0
    assert Checker().check(f * g + h, UOp(Ops.MULACC, dtypes.float32, (f, h, g))).kind == "differs"


def test_a_cut_that_hides_what_matters_is_opened() -> None:
    deep: Callable[[UOp], UOp] = lambda u: ((((u * 2 + 1) % 4 + 3) % 8) * 3 + 1) % 5
    shared = deep(a)
    assert Checker().check((shared * 2 + 1) % 2, num(1)).kind == "proved"
    even = ((((a * 2) * 3 + 2) * 5) * 7 + 4) * 3
    assert Checker().check(even % 2, num(0)).kind == "proved"


def test_an_answer_is_kept_for_equal_questions_only() -> None:
    """Also where the node that is replaced stays a part of what replaces it."""
    one = (f < g).where(f.const_like(1.0), f.const_like(2.0))
    checker = Checker()
    for node, kind in ((one, TRIED), (f + g, "equal but for rounding"), (one, TRIED)):
        found = checker.check(node, node.cast(dtypes.float16).cast(dtypes.float32))
        assert found.how.startswith(kind), node


def test_corner_values_of_one_input_are_all_tried() -> None:
    for factor in range(1, 40):
        assert Checker().check(f * float(factor) + 0.0, f * float(factor)).kind == "differs"


def test_z3_finds_what_samples_miss() -> None:
    pytest.importorskip("z3")
    loaded = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(8), (), 0).index(i).load()
    for read in (loaded, wide):
        found = Checker().check(read.ne(300123), num(1) < 2)
        assert found.kind == "differs" and found.before == "False", found
        assert any(value == "300123" for _, value in found.values)
