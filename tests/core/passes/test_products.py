"""Rules of products of matrices: what each makes, and that it keeps every value."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtype import dtypes
from core.passes.vectors.products import (
    absorbing,
    gep_of_products,
    one_tile_each,
    product_takes_sum,
)
from core.runtime.numeric import from_memory
from core.runtime.reference.inputs import Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.tensor_cores import TensorCore
from core.uop import Ops, PatternMatcher, UOp, graph_rewrite
from core.uop.facts.meaning_arrays import Array

CORES = [targets[name].tensor_cores[0] for name in ("sm_75", "sm_80", "gfx1100", "gfx942")]
SINGLE = targets["gfx942"].tensor_cores[2]
"""float32, one element of A and B to a lane."""


def vector(number: int, core: TensorCore, part: int, tiles: int) -> UOp:
    """A vector of a lane's elements, told apart by a number: a LOAD."""
    dtype = (core.dtype_in, core.dtype_in, core.dtype_out)[part].vec(
        core.fragments[part].count * tiles
    )
    size = core.threads * dtype.count
    memory = UOp(Ops.DEFINE_GLOBAL, dtype.scalar().ptr(size), (), number)
    lane = UOp.special(core.threads, "lidx0")
    return memory.index(lane * dtype.count).load(dtype=dtype)


def product(core: TensorCore, tiles: int, zero: bool = False) -> UOp:
    src = [vector(part, core, part, tiles) for part in range(3)]
    if zero:
        src[2] = UOp.const(src[2].dtype, 0)
    return UOp(Ops.WMMA, src[2].dtype, tuple(src), core)


def value(u: UOp, lanes: int, seed: int) -> Array:
    """What the lanes of a warp hold of a graph of such vectors, with small numbers in memory."""
    kind, count = u.dtype.scalar(), u.dtype.count
    out = UOp(Ops.DEFINE_GLOBAL, kind.ptr(lanes * count), (), 99)
    lane = UOp.special(lanes, "lidx0")
    kernel = UOp.sink(out.index(lane * count).store(u))
    memory = random_inputs(kernel, seed=seed, values=Values.EXACT).copied()
    evaluate_kernel(kernel, memory)
    return from_memory(memory[99], kind)


def same(a: UOp, b: UOp, core: TensorCore, seed: int = 0) -> None:
    np.testing.assert_array_equal(value(a, core.threads, seed), value(b, core.threads, seed))


@pytest.mark.parametrize("core", [*CORES, SINGLE], ids=str)
def test_one_tile_each(core: TensorCore) -> None:
    """wmma of n tiles -> vectorize(elements of n wmma of one tile)"""
    wide = product(core, 3)
    cut = graph_rewrite(wide, PatternMatcher([one_tile_each], name="test"))
    made = {u for u in cut.toposort() if u.op is Ops.WMMA}
    assert len(made) == 3
    assert all(u.dtype.count == core.c.count for u in made)
    same(wide, cut, core)
    assert graph_rewrite(product(core, 1), PatternMatcher([one_tile_each], name="test")) is product(
        core, 1
    )


@pytest.mark.parametrize("core", CORES, ids=str)
def test_gep_of_products(core: TensorCore) -> None:
    """gep(wmma(a, b, c), i) -> gep(wmma of the tiles that i is of, j)"""
    rules = PatternMatcher([gep_of_products], name="test")
    wide = product(core, 4)
    some = wide.gep(tuple(e * 4 + t for t in (2, 0) for e in range(core.c.count)))
    cut = graph_rewrite(some, rules)
    (made,) = (u for u in cut.toposort() if u.op is Ops.WMMA)
    assert made.dtype.count == 2 * core.c.count
    same(some, cut, core)
    every = wide.gep(tuple(reversed(range(wide.dtype.count))))
    assert graph_rewrite(every, rules) is every


@pytest.mark.parametrize("zero", [False, True])
def test_product_takes_sum(zero: bool) -> None:
    """x + wmma(a, b, c) -> wmma(a, b, c + x)"""
    core = CORES[1]
    rules = PatternMatcher([product_takes_sum], name="test")
    x, wide = vector(7, core, 2, 2), product(core, 2, zero)
    for total in (x + wide, wide + x, x + wide.gep((7, 6, 5, 4, 3, 2, 1, 0))):
        made = graph_rewrite(total, rules)
        product_ = made if made.op is Ops.WMMA else made.src[0]
        assert product_.op is Ops.WMMA
        assert (Ops.ADD in {u.op for u in made.toposort()}) is not zero
        same(total, made, core)
    part = vector(8, core, 2, 1) + wide.gep((0, 1, 2, 3))
    assert graph_rewrite(part, rules) is part, "half of a product is still needed as it is"


@given(st.integers(0, 1 << 30))
def test_sums_of_parts_of_products(seed: int) -> None:
    """Whatever parts of a product are summed, the rules together keep the sum."""
    rng = Random(seed)
    core = rng.choice(CORES)
    tiles = rng.choice((2, 3, 4))
    wide = product(core, tiles, rng.random() < 0.5)
    count = core.c.count
    chosen = rng.sample(range(tiles), rng.randint(1, tiles))
    total = vector(9, core, 2, 1)
    for tile in chosen:
        order = rng.sample(range(count), count)
        total = total.gep(tuple(order)) + wide.gep(tuple(e * tiles + tile for e in range(count)))
    made = graph_rewrite(total, absorbing)
    same(total, made, core, seed)
    assert len([u for u in made.toposort() if u.op is Ops.WMMA]) == len(chosen)
    assert not any(u.op is Ops.WMMA and u.dtype.count > count for u in made.toposort())
    assert all(dtypes.is_float(u.dtype) for u in made.toposort() if u.op is Ops.ADD)
