"""Every operation of a group against NumPy: layouts, numbers of warps, dtypes; on the reference
runtime and, by the text of the target, on emulated GPUs."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from core import tile
from core.dtype import DType, dtypes
from core.tile import LAYOUTS
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tile.cases import numbers
from tests.core.tile.running import ON, Array, run

TARGETS = ("sm_80", "gfx942", "gfx1100")
WARPS = (1, 2, 4, 8)
SIZE = 32
"""Columns of a warp's tile."""
INPUTS: dict[str, tuple[tuple[DType, DType], ...]] = {
    "sm_80": ((dtypes.float16, dtypes.float32), (dtypes.bfloat16, dtypes.float32),
              (dtypes.float16, dtypes.float16), (dtypes.int8, dtypes.int32)),
    "sm_90": ((dtypes.fp8e4m3, dtypes.float32), (dtypes.fp8e5m2, dtypes.float32)),
    "gfx942": ((dtypes.float16, dtypes.float32), (dtypes.bfloat16, dtypes.float32),
               (dtypes.float32, dtypes.float32), (dtypes.int8, dtypes.int32)),
    "gfx950": ((dtypes.fp8e4m3, dtypes.float32), (dtypes.float16, dtypes.float32)),
    "gfx1100": ((dtypes.float16, dtypes.float32), (dtypes.bfloat16, dtypes.float32)),
    "gfx1201": ((dtypes.float16, dtypes.float32), (dtypes.fp8e5m2, dtypes.float32)),
}  # fmt: skip
PRODUCTS = [(t, *kinds) for t, rows in INPUTS.items() for kinds in rows]


def both(ast: UOp, arrays: list[Array], target: str) -> list[list[Array]]:
    return [run(ast, arrays, target, on) for on in ON]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("target", TARGETS)
def test_elements_vectors_and_reduces(target: str, warps: int, layout: str) -> None:
    rows = 16 * warps
    with tile.Kernel("k", warps=warps, target=target) as ker:
        y, sums, tops = (ker.gl(dtypes.float, s) for s in ((rows, SIZE), (rows,), (SIZE,)))
        x = ker.gl(dtypes.float, (rows, SIZE))
        held = ker.rt(dtypes.float, (16, SIZE), layout)
        by_row, by_column = ker.rv(dtypes.float, held), ker.rv(dtypes.float, held, "column")
        ker.group.load(held, x)
        ker.group.row_reduce(by_row, held)
        ker.group.col_reduce(by_column, held, lambda a, b: a.maximum(b))
        ker.group.map(held, lambda v, r, c: v * r + c, held, by_row, by_column)
        ker.group.map_indexed(held, lambda v, r, c: v + (r * SIZE + c).cast(dtypes.float))
        ker.group.store(y, held)
        ker.group.store(sums, by_row)
        ker.group.store(tops, by_column)
    values = numbers(rows, SIZE)
    zeros = [np.zeros(s, np.float32) for s in ((rows, SIZE), (rows,), (SIZE,))]
    places = np.arange(rows * SIZE).reshape(rows, SIZE)
    for found in both(ker.ast, [*zeros, values], target):
        np.testing.assert_allclose(found[1], values.sum(1), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(found[2], values.max(0))
        want = values * values.sum(1, keepdims=True) + values.max(0) + places
        np.testing.assert_allclose(found[0], want, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.int32,
                                   dtypes.int8, dtypes.float64])  # fmt: skip
@pytest.mark.parametrize("target", TARGETS)
def test_dtypes_are_converted_on_the_way(target: str, dtype: DType) -> None:
    """float32 to the dtype in shared memory, in registers and back; reduced in it, by lanes."""
    with tile.Kernel("k", warps=2, target=target) as ker:
        y, tops = ker.gl(dtypes.float, (32, SIZE)), ker.gl(dtype, (32,))
        x = ker.gl(dtypes.float, (32, SIZE))
        shared, held = ker.st(dtype, (32, SIZE)), ker.rt(dtype, (16, SIZE), "acc")
        most = ker.rv(dtype, held)
        ker.group.load(shared, x)
        ker.group.load(held, shared)
        ker.group.row_reduce(most, held, Ops.MAX)
        ker.group.store(shared, held)
        ker.group.store(y, shared)
        ker.group.store(tops, most)
    values = numbers(32, SIZE, dtype=dtypes.int8).astype(np.float32)
    zeros = [np.zeros((32, SIZE), np.float32), np.zeros(32, np.float32)]
    for found in both(ker.ast, [*zeros, values], target):
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], values.max(1))


@pytest.mark.parametrize("a_turned", [False, True])
@pytest.mark.parametrize("b_turned", [False, True])
@pytest.mark.parametrize(("target", "dtype", "out"), PRODUCTS)
def test_products_in_all_four_forms(
    target: str, dtype: DType, out: DType, a_turned: bool, b_turned: bool
) -> None:
    warps, m, n, k = 2, 16, 16, 64 if target == "gfx950" else 32
    name = f"mma_A{'t' * a_turned}B{'t' * b_turned}"
    with tile.Kernel("k", warps=warps, target=target) as ker:
        c = ker.gl(out, (warps * m, n))
        a = ker.gl(dtype, (warps * k, m) if a_turned else (warps * m, k))
        b = ker.gl(dtype, (n, k) if b_turned else (k, n))
        a_r = ker.rt(dtype, (k, m), "col") if a_turned else ker.rt(dtype, (m, k))
        b_r = ker.rt(dtype, (n, k)) if b_turned else ker.rt(dtype, (k, n), "col")
        total = ker.rt(out, (m, n), "acc")
        ker.group.ones(total)
        ker.group.load(a_r, a)
        ker.warp.load(b_r, b)
        getattr(ker.group, name)(total, a_r, b_r)
        ker.group.store(c, total)
    assert any(u.op is Ops.WMMA for u in ker.ast.toposort())
    left = numbers(warps * k, m, dtype=dtype) if a_turned else numbers(warps * m, k, dtype=dtype)
    right = numbers(n, k, dtype=dtype, seed=1) if b_turned else numbers(k, n, dtype=dtype, seed=1)
    parts = left.reshape(warps, -1, left.shape[1]).astype(np.float64)
    wide = right.astype(np.float64)
    want = 1 + np.concatenate(
        [(p.T if a_turned else p) @ (wide.T if b_turned else wide) for p in parts]
    )
    tolerance = 3e-2 if out is dtypes.float16 else 1e-4
    zeros = np.zeros((warps * m, n), np.int32 if dtypes.is_int(out) else np.float32)
    for found in both(ker.ast, [zeros, left, right], target):
        np.testing.assert_allclose(found[0], want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "x86-64"])
def test_products_without_an_instruction(target: str) -> None:
    """float64: every thread sums for its own elements."""
    with tile.Kernel("k", warps=2, target=target) as ker:
        c, a, b = (ker.gl(dtypes.float64, s) for s in ((32, 32), (32, 16), (32, 16)))
        a_r, b_r = ker.rt(dtypes.float64, (16, 16)), ker.rt(dtypes.float64, (32, 16))
        total = ker.rt(dtypes.float64, (16, 32), "acc")
        ker.group.zero(total)
        ker.group.load(a_r, a)
        ker.warp.load(b_r, b)
        ker.group.mma_ABt(total, a_r, b_r)
        ker.group.store(c, total)
    x, y = (np.random.default_rng(i).standard_normal((32, 16)) for i in range(2))
    for found in both(ker.ast, [np.zeros((32, 32)), x, y], target):
        np.testing.assert_allclose(found[0], x @ y.T, rtol=1e-12, atol=1e-12)


def test_tf32_is_used_where_it_is_allowed_only() -> None:
    def made(tf32: bool) -> bool:
        with tile.Kernel("k", target="sm_80", tf32=tf32) as ker:
            c, a = ker.gl(dtypes.float, (16, 16)), ker.gl(dtypes.float, (16, 16))
            a_r, b_r = ker.rt(dtypes.float, (16, 16)), ker.rt(dtypes.float, (16, 16), "col")
            total = ker.rt(dtypes.float, (16, 16), "acc")
            ker.warp.zero(total)
            ker.warp.load(a_r, a)
            ker.warp.load(b_r, a)
            ker.warp.mma_AB(total, a_r, b_r)
            ker.warp.store(c, total)
        x = numbers(16, 16)
        (found, _) = run(ker.ast, [np.zeros_like(x), x], "sm_80")
        np.testing.assert_allclose(found, x @ x, atol=2e-2 if tf32 else 1e-5)
        return any(u.op is Ops.WMMA for u in ker.ast.toposort())

    assert made(True)
    assert not made(False)


@pytest.mark.parametrize("src", LAYOUTS)
@pytest.mark.parametrize("dst", LAYOUTS)
@pytest.mark.parametrize("target", [*TARGETS, "x86-64"])
def test_copy_and_transpose_between_layouts(target: str, src: str, dst: str) -> None:
    with tile.Kernel("k", warps=2, target=target) as ker:
        y, z = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (64, 16))
        x = ker.gl(dtypes.half, (32, 32))
        first, second = ker.rt(dtypes.half, (16, 32), src), ker.rt(dtypes.float, (16, 32), dst)
        turned = ker.rt(dtypes.float, (32, 16), dst)
        ker.group.load(first, x)
        ker.group.copy(second, first)
        ker.group.transpose(turned, first)
        ker.group.store(y, second)
        ker.group.store(z, turned)
    values = numbers(32, 32, dtype=dtypes.float16)
    zeros = np.zeros((32, 32), np.float32), np.zeros((64, 16), np.float32)
    (found,) = both(ker.ast, [*zeros, values], target)[1:]
    np.testing.assert_array_equal(found[0], values)
    np.testing.assert_array_equal(found[1], np.concatenate([values[:16].T, values[16:].T]))


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("shape", [(50, 40), (64, 64), (33, 7)])
@pytest.mark.parametrize("swizzle", [False, True])
def test_copies_through_shared_memory(warps: int, shape: tuple[int, int], swizzle: bool) -> None:
    """Tiles 16 x 32 of a matrix of another size, of the second of three; with a fill outside."""
    rows, columns = shape
    grid = -(-columns // 32), -(-rows // 16)
    with tile.Kernel("k", grid, warps, "sm_80") as ker:
        y = ker.gl(dtypes.float, (grid[1] * 16, grid[0] * 32))
        x = ker.gl(dtypes.half, (3, rows, columns))
        held = ker.st(dtypes.half, (16, 32), swizzle=swizzle)
        ker.group.load(held, x[1, ker.gy, ker.gx], fill=7.0)
        ker.group.store(y[ker.gy, ker.gx], held)
    values = numbers(3, rows, columns, dtype=dtypes.float16)
    want = np.full((grid[1] * 16, grid[0] * 32), 7.0)
    want[:rows, :columns] = values[1]
    for found in both(ker.ast, [np.zeros_like(want, np.float32), values], "sm_80"):
        np.testing.assert_array_equal(found[0], want)


@pytest.mark.parametrize("each", ["row", "column"])
@pytest.mark.parametrize("target", TARGETS)
def test_vectors_in_shared_memory(target: str, each: Literal["row", "column"]) -> None:
    with tile.Kernel("k", warps=2, target=target) as ker:
        y, x = ker.gl(dtypes.float, (64,)), ker.gl(dtypes.half, (64,))
        like = ker.rt(dtypes.float, (32, 64), "acc")
        vector = ker.rv(dtypes.float, like, each)
        shared = ker.sv(dtypes.half, 64)
        ker.group.load(vector, x)
        ker.group.map_indexed(vector, lambda v, i: v * i.cast(dtypes.float))
        ker.group.store(shared, vector)
        ker.group.neg_inf(vector)
        ker.group.load(vector, shared)
        ker.group.store(y, vector)
    values = np.round(numbers(64))
    for found in both(ker.ast, [np.zeros(64, np.float32), values], target):
        np.testing.assert_array_equal(found[0], values * np.arange(64))


def test_each_warp_has_its_own_subtile() -> None:
    with tile.Kernel("k", warps=4, target="sm_80") as ker:
        y, x = ker.gl(dtypes.half, (64, 32)), ker.gl(dtypes.half, (64, 32))
        shared, part = ker.st(dtypes.half, (64, 32)), ker.rt(dtypes.half, (16, 16))
        ker.group.load(shared, x)
        for column in range(2):
            own = shared.subtile((16, 16), ker.warp_id, column)
            ker.warp.load(part, own)
            ker.warp.map_indexed(part, lambda v, r, c: v + (r - c).cast(dtypes.half))
            ker.warp.store(own, part)
        ker.group(2).load(part, shared.subtile((32, 16), ker.warp_id // 2, 0))
        ker.group.store(y, shared)
    values = np.round(numbers(64, 32))
    at = np.arange(16)[:, None] - np.arange(16)
    for found in both(ker.ast, [np.zeros_like(values), values], "sm_80"):
        np.testing.assert_array_equal(found[0], values + np.tile(at, (4, 2)))


@pytest.mark.parametrize("target", [*TARGETS, "x86-64"])
def test_loops_keep_what_they_write(target: str) -> None:
    """A sum over a loop in a loop whose length is that of the outer one's variable."""
    with tile.Kernel("k", (2,), 2, target) as ker:
        y, x = ker.gl(dtypes.float, (64, 32)), ker.gl(dtypes.float, (64, 5 * 32))
        part, total = (ker.rt(dtypes.float, (16, 32), "acc") for _ in range(2))
        ker.group.zero(total)
        for i in ker.range(5):
            ker.group.load(part, x[ker.gx, i])
            for _ in ker.range(i + 1):
                ker.group.map(total, lambda s, v: s + v, total, part)
        for _ in ker.range(1):
            ker.group.map(total, lambda s: s * 2.0)
        ker.group.store(y[ker.gx, 0], total)
    values = np.round(numbers(64, 160))
    want = 2 * (values.reshape(64, 5, 32) * np.arange(1, 6)[:, None]).sum(1)
    for found in both(ker.ast, [np.zeros((64, 32), np.float32), values], target):
        np.testing.assert_array_equal(found[0], want)


@pytest.mark.parametrize("kind", ["reduce", "loop", "upcast"])
@pytest.mark.parametrize("target", ["sm_80", "gfx942", "x86-64"])
def test_kinds_of_loops(target: str, kind: Literal["reduce", "loop", "upcast"]) -> None:
    """In a loop, around one, and of no iteration."""
    with tile.Kernel("k", target=target) as ker:
        y, part = ker.gl(dtypes.float, (16, 4 * 16)), ker.rt(dtypes.float, (16, 16), "acc")
        for i in ker.range(4, kind):
            ker.warp.zero(part)
            for j in ker.range(3, kind):
                step = (i * 10 + j).cast(dtypes.float)
                ker.warp.map(part, lambda v, s: v + s, part, step)
            for _ in ker.range(0, kind):
                ker.warp.zero(part)
            ker.warp.store(y[0, i], part)
    kinds = {u.arg[1].name for u in ker.ast.toposort() if u.op is Ops.RANGE}
    if target != "x86-64":  # where threads are loops, too
        assert kinds == {"WARP", kind.upper()} - {"UPCAST"}
    want = np.repeat(3 + 30 * np.arange(4), 16)
    for found in both(ker.ast, [np.zeros((16, 64), np.float32)], target):
        np.testing.assert_array_equal(found[0], np.tile(want, (16, 1)))


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_sizes_given_at_launch(target: str) -> None:
    rows, columns = UOp.variable("rows", 1, 40), UOp.variable("columns", 1, 70)
    with tile.Kernel("k", (2, 2), 1, target) as ker:
        y, x = ker.gl(dtypes.float, (rows, columns)), ker.gl(dtypes.float, (rows, columns))
        part = ker.rt(dtypes.float, (32, 48), "acc")
        ker.group.load(part, x[ker.gy, ker.gx])
        ker.group.map(part, lambda v: v + 1.0)
        ker.group.store(y[ker.gy, ker.gx], part)
    values = numbers(40 * 70)
    for on in ON:
        for m, n in ((40, 70), (33, 7), (1, 1)):
            zeros = np.zeros_like(values)
            found = run(ker.ast, [zeros, values], target, on, {"rows": m, "columns": n})[0]
            np.testing.assert_array_equal(found[: m * n], values[: m * n] + 1)
            assert not found[m * n :].any()


@pytest.mark.parametrize(("dtype", "out"), [
    (dtypes.int8, dtypes.int32), (dtypes.bool, dtypes.int32), (dtypes.bfloat16, dtypes.float32),
    (dtypes.float32, dtypes.bfloat16), (dtypes.int32, dtypes.float16),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("target", ["sm_80", "gfx942", "x86-64"])
def test_reduces_are_made_in_the_wider_dtype(target: str, dtype: DType, out: DType) -> None:
    """64 times 100 is no int8, and 64 times 100 1/4 no bfloat16."""
    with tile.Kernel("k", warps=2, target=target) as ker:
        y, z = ker.gl(out, (64,)), ker.gl(out, (64,))
        x = ker.gl(dtype, (64, 64))
        part = ker.rt(dtype, (32, 64), "acc")
        rows, columns = ker.rv(out, part), ker.rv(out, part, "column")
        ker.group.load(part, x)
        ker.group.row_reduce(rows, part)
        ker.group.col_reduce(columns, part)
        ker.group.store(y, rows)
        ker.group.store(z, columns)
    values = np.full((64, 64), 1 if dtype is dtypes.bool else 100)
    values = values + np.arange(64) % 2 / 2 if dtypes.is_float(dtype) else values
    values = values.astype(np.bool_) if dtype is dtypes.bool else values
    zeros = np.zeros(64, np.float64 if dtypes.is_float(out) else np.int64)
    sums = [values.sum(axis, dtype=np.float64) for axis in (1, 0)]
    exact = {dtypes.bfloat16: 2**-8, dtypes.float16: 2**-11}.get(out, 0)
    for found in both(ker.ast, [zeros, zeros, values], target):
        for have, want in zip(found, sums, strict=False):
            np.testing.assert_allclose(have, want, rtol=exact)


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("target", [*TARGETS, "x86-64"])
def test_windows_beyond_any_side_of_a_view(target: str, warps: int) -> None:
    """Numbers that the kernel computes, of batches, matrices and tiles, some below 0 and some too
    large: what is loaded there is the fill, and what is stored there changes nothing."""
    shape, rows, columns = (2, 3, 20, 40), 16 * warps, 32
    with tile.Kernel("k", (4, 4), warps, target) as ker:
        y = ker.gl(dtypes.float, (4, 4, rows, columns))
        z, x = ker.gl(dtypes.float, shape), ker.gl(dtypes.float, shape)
        part = ker.rt(dtypes.float, (16, columns), "acc")
        window = ker.gx - 1, ker.gy, ker.gx - 1, ker.gy - 1
        ker.group.load(part, x[window], fill=7.0)
        ker.group.store(y[ker.gx, ker.gy, 0, 0], part)
        ker.group.store(z[window], part)
    values = np.round(numbers(*shape) * 9)
    loaded, stored = np.full((4, 4, rows, columns), 7.0), np.zeros(shape)
    for b, d, r, c in np.ndindex(loaded.shape):
        at = b - 1, d, (b - 1) * rows + r, (d - 1) * columns + c
        if all(0 <= n < length for n, length in zip(at, shape, strict=True)):
            loaded[b, d, r, c] = stored[at] = values[at]
    assert stored.any()
    zeros = np.zeros(loaded.shape, np.float32), np.zeros(shape, np.float32)
    for found in both(ker.ast, [*zeros, values], target):
        np.testing.assert_array_equal(found[0], loaded)
        np.testing.assert_array_equal(found[1], stored)


@pytest.mark.parametrize("target", ["sm_80", "x86-64"])
def test_vectors_beyond_a_view(target: str) -> None:
    with tile.Kernel("k", (4,), 1, target) as ker:
        y, x = ker.gl(dtypes.float, (4, 16)), ker.gl(dtypes.float, (2, 20))
        like = ker.rt(dtypes.float, (16, 16), "acc")
        vector = ker.rv(dtypes.float, like)
        ker.warp.load(vector, x[ker.gx - 1, ker.gx - 1], fill=7.0)
        ker.warp.store(y[ker.gx, 0], vector)
    values = np.round(numbers(2, 20) * 9)
    want = np.full((4, 16), 7.0)
    want[1], want[2, :4] = values[0, :16], values[1, 16:]
    for found in both(ker.ast, [np.zeros((4, 16), np.float32), values], target):
        np.testing.assert_array_equal(found[0], want)
