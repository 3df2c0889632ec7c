"""Integers of variables, evaluated for a launch."""

from __future__ import annotations

import pytest

from core.dtype import AddrSpace, dtypes
from core.errors import RunError
from core.uop import Ops, UOp
from core.uop.call.atlaunch import known_at_launch, value_at_launch

M, N = UOp.variable("m", 0, 150), UOp.variable("n", 1, 90)


@pytest.mark.parametrize(("m", "n"), [(0, 1), (1, 90), (64, 7), (150, 33)])
def test_values(m: int, n: int) -> None:
    given = {"m": m, "n": n, "other": 5}
    assert value_at_launch(UOp.const(dtypes.index, 7), {}) == 7
    assert value_at_launch(M, given) == m
    assert value_at_launch((M + 63) // 64, given) == -(-m // 64)
    assert value_at_launch(((M + 63) // 64).simplify(), given) == -(-m // 64)
    assert value_at_launch((M * N - 7).maximum(3), given) == max(3, m * n - 7)
    assert value_at_launch((M < N).where(M, N.cast(dtypes.index)), given) == min(m, n)
    assert value_at_launch((N - M) // 2, given) == int((n - m) / 2)
    assert value_at_launch((N.cast(dtypes.int64) << 40) % 1000, given) == (n << 40) % 1000


@pytest.mark.parametrize("value", [-1, 151, 1 << 40])
def test_a_value_outside_of_its_bounds_is_an_error(value: int) -> None:
    with pytest.raises(RunError, match=f"m is {value} at a launch") as found:
        value_at_launch(M + 1, {"m": value})
    assert "0 to 150" in found.value.hint


def test_a_variable_without_a_value_is_an_error() -> None:
    with pytest.raises(RunError, match="needs a value for n"):
        value_at_launch(M + N, {"m": 3})


data = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(8), (), 0)
held = UOp(Ops.DEFINE_REG, dtypes.int32.ptr(8, AddrSpace.REG), (), 0)


@pytest.mark.parametrize("size", [
    data.index(UOp.const(dtypes.index, 0)).load(), held.index(UOp.const(dtypes.index, 0)).load(),
    UOp.range(4, 0), UOp.special(4, "gidx0"), data, M.broadcast(2), M.bind(5),
    M + UOp.special(M, "gidx1").cast(M.dtype),
])  # fmt: skip
def test_what_a_kernel_computes_has_no_value_before_it_runs(size: UOp) -> None:
    assert not known_at_launch(size)
    with pytest.raises(RunError, match="a launch of size"):
        value_at_launch(size, {"m": 3})
