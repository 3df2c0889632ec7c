"""Random arguments of kernels: which numbers they hold, and that indices address what is there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from core import Tensor
from core.dtype import DType, dtypes
from core.errors import RunError
from core.runtime.numeric import from_memory, memory_dtype
from core.runtime.reference.inputs import Values, corner_floats, random_inputs
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.spans import LONGEST, Span, index_spans
from core.runtime.reference.states import kernel_states
from core.target import targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType

NUMBERS = [d for d in dtypes.all if d is not dtypes.bool and d is not dtypes.void]


def pointer(number: int, size: int, dtype: DType = dtypes.int32) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


def copied(dtype: DType, size: int = 4000) -> UOp:
    i = UOp.range(size, 0)
    value = pointer(1, size, dtype).index(i).load()
    return UOp.sink(pointer(0, size, dtype).index(i).store(value).end(i))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_every_corner_value_is_there(dtype: DType) -> None:
    held = random_inputs(copied(dtype)).buffers[1]
    assert held.dtype == memory_dtype(dtype)
    values = from_memory(held, dtype).astype(np.float64 if dtypes.is_float(dtype) else held.dtype)
    if dtypes.is_float(dtype):
        info = dtypes.finfo(dtype)
        least = info.smallest_normal * info.eps
        assert {0.0, least, info.smallest_normal, info.max, -info.max, 1.0} <= {*values.tolist()}
        assert np.isnan(values).any()
        assert np.isinf(values).any() == (dtype is not dtypes.fp8e4m3)
        assert np.signbit(values[values == 0]).any()
        assert not np.signbit(values[values == 0]).all()
    else:
        assert {int(dtypes.min(dtype)), int(dtypes.max(dtype)), 0, 1} <= {*values.tolist()}
    assert len({*values.tolist()}) > 60, "most are other numbers"


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("kind", [Values.EXACT, Values.PLAIN])
def test_other_values_are_finite(kind: Values, dtype: DType) -> None:
    held = from_memory(random_inputs(copied(dtype), values=kind).buffers[1], dtype)
    if dtypes.is_float(dtype):
        assert np.isfinite(held).all()
        if kind is Values.EXACT:
            assert np.array_equal(held * 8, np.rint(held * 8))
            assert abs(held).max() <= 4


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_values_that_readers_choose(dtype: DType) -> None:
    kinds = (Values.ZEROS, Values.ONES, Values.UNIFORM, Values.SUBNORMALS, Values.SPECIALS)
    zeros, ones, uniform, small, special = (
        from_memory(random_inputs(copied(dtype), values=k).buffers[1], dtype).astype(np.float64)
        for k in kinds
    )
    assert (zeros == 0).all()
    assert (ones == 1).all()
    if dtypes.is_float(dtype):
        least = dtypes.finfo(dtype).smallest_normal
        assert 0 <= uniform.min() < 0.3 < 0.7 < uniform.max() <= 1
        assert -least <= small.min() < 0 < small.max() <= least
        assert np.isnan(special).any()
        assert np.signbit(special[special == 0]).any()
    else:
        low, high = max(int(dtypes.min(dtype)), -65535), min(int(dtypes.max(dtype)), 65535)
        assert low <= uniform.min() <= low // 2 <= high // 2 <= uniform.max() <= high
        assert 0.7 < ((uniform >= 0) & (uniform < 10)).mean() < 0.95, "most are 0 to 9"


def test_a_constant_index_stays_within_what_it_addresses() -> None:
    i = UOp.range(5, 0)
    index = pointer(1, 5).index(i).load()
    kernel = UOp.sink(pointer(0, 5).index(i).store(pointer(2, 1).index(index).load()).end(i))
    assert {*random_inputs(kernel, values=Values.ONES).buffers[1].tolist()} == {0}


def test_one_seed_gives_one_set_of_values() -> None:
    a, b = copied(dtypes.float32), copied(dtypes.float32, 5000)
    first, again, other = (random_inputs(a, seed=s).buffers[1] for s in (3, 3, 4))
    assert first.tobytes() == again.tobytes() != other.tobytes()
    assert random_inputs(a, b, seed=3).buffers[1].size == 5000


def test_copies_are_apart() -> None:
    inputs = random_inputs(copied(dtypes.int32))
    memory = inputs.copied()
    evaluate_kernel(copied(dtypes.int32), memory)
    assert not np.array_equal(memory[0], inputs.buffers[0])


def test_an_index_stays_within_what_it_addresses() -> None:
    i = UOp.range(500, 0)
    index = pointer(1, 500).index(i).load()
    kernel = UOp.sink(
        pointer(0, 500).index(i).store(pointer(2, 30).index(index * 3 + 2).load()).end(i)
    )
    assert index_spans(kernel.toposort()) == {1: Span(0, 9, strict=True)}
    for kind in (Values.EXACT, Values.PLAIN, Values.CORNERS, Values.NORMAL, Values.SPECIALS):
        inputs = random_inputs(kernel, values=kind)
        assert {*inputs.buffers[1].tolist()} == {*range(10)}
        evaluate_kernel(kernel, inputs.copied())


def test_an_index_under_a_gate_is_extreme_sometimes() -> None:
    x, index = Tensor.empty(50, 8), Tensor.empty(600, dtype="int32")
    (item,) = x[index].schedule()
    for state in kernel_states(item.ast, targets["sm_90"]):
        if state.name in ("ast", "collapse", "linear"):
            nodes = state.root.toposort() if isinstance(state.root, UOp) else state.root
            assert index_spans(nodes) == {1: Span(0, 49, strict=False)}, state.name
    held = random_inputs(item.ast).buffers[1]
    assert {-1, 50, 2**31 - 1, -(2**31), *range(50)} <= {*held.tolist()}
    assert ((held >= 0) & (held < 50)).mean() > 0.7
    assert {*random_inputs(item.ast, values=Values.PLAIN).buffers[1].tolist()} == {*range(50)}


def test_spans_do_not_depend_on_the_order_of_stores() -> None:
    """Two stores that need different bounds of one argument: apart, and one within another."""
    index = pointer(1, 1).index(0).load()
    spans = set[Span]()
    for bounds in itertools.permutations([(5, 8), (90, 99), (5, 40), (93, 95)]):
        loops = [(UOp.range(high - low + 1, n), low) for n, (low, high) in enumerate(bounds)]
        stores = [
            pointer(0, 9).index(0).store((index < r + low).cast(dtypes.int32)).end(r)
            for r, low in loops
        ]
        spans |= {*index_spans(UOp.sink(*stores).toposort()).values()}
    assert len(spans) == 1


def test_the_length_of_a_loop_is_short() -> None:
    length = pointer(1, 1).index(0).load()
    k = UOp(Ops.RANGE, dtypes.int32, (length,), (0, AxisType.REDUCE))
    kernel = UOp.sink(pointer(0, 1).index(0).store(k.reduce(Ops.ADD, k)))
    assert index_spans(kernel.toposort()) == {1: Span(0, LONGEST, strict=True)}


def test_variables_are_within_their_bounds() -> None:
    n = UOp.variable("n", 3, 9)
    kernel = UOp.sink(pointer(0, 4).index(0).store(n))
    assert {random_inputs(kernel, seed=s).variables["n"] for s in range(20)} == {3, 9}
    plain = {random_inputs(kernel, seed=s, values=Values.PLAIN).variables["n"] for s in range(60)}
    assert plain == {*range(3, 10)}
    assert random_inputs(kernel, variables={"n": 5}).variables == {"n": 5}
    with pytest.raises(RunError, match="n is 10"):
        random_inputs(kernel, variables={"n": 10})


def test_what_no_arguments_can_be_made_for() -> None:
    unknown = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(), (), 0)
    with pytest.raises(RunError, match="size of argument 0"):
        random_inputs(UOp.sink(unknown.index(0).store(1)))
    with pytest.raises(RunError, match="take 32,000 bytes, of at most 10,000"):
        random_inputs(copied(dtypes.float32), most_bytes=10_000)
    with pytest.raises(RunError, match="argument 0 is of"):
        random_inputs(copied(dtypes.float32), copied(dtypes.int32))


def test_corner_values_are_those_of_the_dtype() -> None:
    found = corner_floats(dtypes.float16)
    assert {2.0**-24, 2.0**-14, 2.0**-14 - 2.0**-24, 65504.0, 1.0 - 2.0**-11} <= {*found}
