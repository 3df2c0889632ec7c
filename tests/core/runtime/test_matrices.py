"""Matrix instructions on NumPy arrays: every row of every target, from what lanes hold."""

from __future__ import annotations

import numpy as np
import pytest

from core.dtype import dtypes
from core.errors import RunError
from core.runtime.matrices import gather, indices, multiply, scatter
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.tensor_cores import TensorCore
from core.uop import Ops, UOp
from core.uop.facts.meaning_arrays import Array, numpy_dtype, round_array

ROWS = [*dict.fromkeys(core for target in targets.values() for core in target.tensor_cores)]


def numbers(core: TensorCore, shape: tuple[int, ...], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if dtypes.is_int(core.dtype_in):
        low, high = int(dtypes.min(core.dtype_in)), int(dtypes.max(core.dtype_in))
        return rng.integers(low, high, shape, endpoint=True).astype(numpy_dtype(core.dtype_in))
    return round_array(rng.standard_normal(shape), core.dtype_in)


@pytest.mark.parametrize("core", ROWS, ids=lambda c: f"{c}-{c.threads}-{c.a.count}")
def test_lanes_multiply_as_matrices_do(core: TensorCore) -> None:
    a, b = numbers(core, (3, core.m, core.k), 1), numbers(core, (3, core.k, core.n), 2)
    c = round_array(np.random.default_rng(3).integers(-9, 9, (3, core.m, core.n)), core.dtype_out)
    held = multiply(core, scatter(core.a, a), scatter(core.b, b), scatter(core.c, c))
    assert held.shape == (3, core.threads, core.c.count)
    if core.bits:  # bits that are not multiplied are cut off
        a, b = (np.trunc(x * 2.0**k) / 2.0**k for x, k in ((a, _shift(a)), (b, _shift(b))))
    wanted = a.astype(np.float64) @ b.astype(np.float64) + c
    found = gather(core.c, held)
    assert np.array_equal(found, round_array(wanted, core.dtype_out))


def _shift(x: Array) -> Array:
    """The power of two that leaves 11 bits before the point."""
    return 11 - np.frexp(x)[1]


@pytest.mark.parametrize("core", ROWS, ids=lambda c: f"{c}-{c.threads}-{c.a.count}")
def test_every_element_is_held_and_products_once(core: TensorCore) -> None:
    for part, copies in ((core.a, core.a.lanes.count("-")), (core.b, 0), (core.c, 0)):
        rows, columns = indices(part)
        seen = {*zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)}
        sizes = [part.size(letter) for letter in part.letters]
        assert len(seen) == sizes[0] * sizes[1]
        if part is not core.b:
            assert rows.size == len(seen) << copies


@pytest.mark.parametrize("warps", [1, 3])
def test_of_copies_of_an_element_the_first_lane_counts(warps: int) -> None:
    """However many warps there are, and however their arrays lie in memory."""
    core = next(c for c in targets["gfx1100"].tensor_cores if "-" in c.a.lanes)
    rows, columns = indices(core.a)
    lanes = np.broadcast_to(np.arange(core.threads)[:, None], rows.shape)
    held = np.ascontiguousarray(np.broadcast_to(lanes.T, (warps, *lanes.T.shape))).swapaxes(1, 2)
    first: dict[tuple[int, int], int] = {}
    for lane, row, column in zip(lanes.ravel(), rows.ravel(), columns.ravel(), strict=True):
        first.setdefault((int(row), int(column)), int(lane))
    for matrix in gather(core.a, held):
        assert {at: matrix[at] for at in first} == first


def test_integers_wrap_around() -> None:
    core = next(c for c in targets["sm_80"].tensor_cores if c.dtype_in is dtypes.int8)
    a = np.full((1, 32, core.a.count), 127, np.int8)
    b = np.full((1, 32, core.b.count), 127, np.int8)
    c = np.full((1, 32, core.c.count), 2**31 - 1, np.int32)
    assert multiply(core, a, b, c)[0, 0, 0] == 2**31 - 1 + 32 * 127**2 - 2**32


def product_under(threads: int, condition: bool) -> list[UOp]:
    """A program in which `threads` work items multiply ones, under a condition or not."""
    core = targets["sm_80"].tensor_cores[0]
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(threads), (), 0)
    lane, some = UOp.special(threads, "lidx0"), UOp.const(dtypes.int32, 8)
    kinds = (core.dtype_in, core.dtype_in, core.dtype_out)
    src = tuple(
        UOp.const(kind.vec(part.count), 1.0)
        for kind, part in zip(kinds, core.fragments, strict=True)
    )
    made = UOp(Ops.WMMA, src[2].dtype, src, core)
    few = lane < some
    begin = UOp(Ops.IF, dtypes.void, (few,))
    around = ([few, begin], [UOp(Ops.ENDIF, dtypes.void, (begin,))]) if condition else ([], [])
    store = out.index(lane).store(made.gep(0))
    body = [*around[0], made, made.gep(0), *around[1], out.index(lane), store]
    return [out, lane.src[0], lane, some, *src, *body, UOp.sink(store)]


def test_a_program_multiplies_by_warps() -> None:
    memory = [np.zeros(64, np.float32)]
    evaluate_kernel(product_under(64, condition=False), memory)
    assert memory[0].tolist() == [17.0] * 64


@pytest.mark.parametrize(
    ("threads", "condition", "what"),
    [(48, False, "needs 32 lanes, in a work group of 48"), (64, True, "some lanes of a warp")],
)
def test_what_no_warp_can_run_is_refused(threads: int, condition: bool, what: str) -> None:
    with pytest.raises(RunError, match=what) as error:
        evaluate_kernel(product_under(threads, condition), [np.zeros(threads, np.float32)])
    assert "WMMA" in error.value.where
