"""Whole states of a kernel: what is equal, what is rounding, and what differs for which inputs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from core import Tensor
from core.dtype import AddrSpace, DType, dtypes
from core.prove.samples.rounding import longest_sum
from core.prove.verdict import Verdict
from core.runtime.reference.states import kernel_states
from core.shape import ShapeTracker
from core.target import targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, KernelInfo
from tests.core.passes.kernels import CPU, plain, store
from viz.check import states
from viz.check.states import States

N = 64


def kernel(value: UOp) -> UOp:
    return UOp.sink(store(value), arg=KernelInfo())


def total(x: UOp) -> UOp:
    """The sum along the last axis."""
    axis = len(x.shaped) - 1
    return UOp(Ops.REDUCE_AXIS, x.dtype, (x,), (Ops.ADD, (axis,)))


def compared(a: UOp, b: UOp) -> Verdict:
    return States().compare(kernel(a), kernel(b))


def loaded(dtype: DType = dtypes.float32, shape: tuple[int, ...] = (4, N)) -> UOp:
    return plain(1, shape, dtype)


def test_the_same() -> None:
    found = compared(total(loaded() * 2.0), total(loaded() + loaded()))
    assert (found.kind, found.ulps, found.samples) == ("sampled", 0.0, 3)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.bfloat16], ids=str)
def test_another_order_of_a_sum_is_rounding(dtype: DType) -> None:
    x = loaded(dtype)
    halves = [total(half(x, at)) for at in (0, N // 2)]
    found = compared(total(x), halves[0] + halves[1])
    assert found.kind == "sampled", found


def half(x: UOp, begin: int) -> UOp:
    """Half of the elements of each row, as a view."""
    whole = ShapeTracker.from_shape((4, N))
    return x.rebuild((x.src[0].replace(arg=whole.shrink([(0, 4), (begin, begin + N // 2)])),))


def test_an_element_that_is_left_out() -> None:
    x = loaded()
    whole = ShapeTracker.from_shape((4, N)).shrink([(0, 4), (0, N - 1)])
    less = x.rebuild((x.src[0].replace(arg=whole),))
    assert compared(total(x), total(less)).kind == "differs"


def test_a_small_error_is_no_rounding() -> None:
    assert compared(loaded(), loaded() * 1.0001).kind == "differs"
    assert compared(total(loaded()), total(loaded() * 1.0005)).kind == "differs"


@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float16], ids=str)
def test_an_error_of_a_narrow_dtype_is_no_rounding(dtype: DType) -> None:
    x = loaded(dtype)
    assert compared(x, x * 1.25).kind == "differs"
    assert compared(x, x * 1.0 + 0.5).kind == "differs"
    assert compared(total(x), total(x * 1.5)).kind in ("differs", "unchecked")
    wide = x.cast(dtypes.float32)
    assert compared(total(wide).cast(dtype), total(wide * 1.25).cast(dtype)).kind == "differs"


def test_values_that_differ_in_corners_only() -> None:
    x = loaded(dtypes.int32)
    least = x.const_like(int(dtypes.min(dtypes.int32)) + 1)
    assert compared(x, x.alu(Ops.MAX, least)).kind == "differs"
    y = loaded()
    assert compared(y, y - y + y).kind == "differs"  # infinity less infinity


def test_a_state_that_stores_nothing() -> None:
    found = States().compare(kernel(loaded()), UOp.sink(loaded()))
    assert (found.kind, found.how) == ("differs", "the state after the pass stores nothing")


def test_states_that_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MAX_EVALUATIONS", 3)
    found = compared(total(loaded()), total(loaded() * 2.0))
    assert found.kind == "unchecked" and "too long to be run" in found.how


def test_both_states_have_the_same_inputs() -> None:
    """What an index may be follows from both, whichever is looked at first."""
    at = UOp.range(5, 0)
    out, low, high, values = (
        UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(size), (), number)
        for number, size in enumerate((5, 2, 3, 2))
    )
    first = at < 3
    one = high.index(at, gate=first).load(at.const_like(0))
    other = low.index(at - 3, gate=first.logical_not()).load(at.const_like(0))
    place, r = first.where(one, other), UOp.range(2, 1, AxisType.REDUCE)
    chosen = (r + 2).eq(place).where(values.index(r).load(), r.const_like(0)).reduce(Ops.ADD, r)
    inside = (place - 2 >= 0) & (place - 2 < 2)
    loaded_at = values.index(place - 2, gate=inside).load(at.const_like(0))
    before, after = (
        UOp.sink(out.index(at).store(value).end(at), arg=KernelInfo())
        for value in (chosen, inside.where(loaded_at, at.const_like(0)))
    )
    assert States().compare(before, after).kind == "sampled"


def test_the_length_of_the_longest_sum() -> None:
    assert longest_sum(kernel(total(loaded(shape=(4, 256))))) == 256


def test_all_passes_keep_what_is_stored() -> None:
    checked = States()
    found = [s.root for s in kernel_states(kernel(total(loaded())), CPU) if isinstance(s.root, UOp)]
    for before, after in pairwise(found):
        if before is not after and before.op is after.op is Ops.SINK:
            assert checked.compare(before, after).kind == "sampled"


def reversed_in_shared_memory(waits: bool) -> UOp:
    """Each thread of a work group writes an element, and reads that of another thread."""
    at = UOp.special(16, "lidx0").cast(dtypes.int32)
    source, to = (UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(16), (), n) for n in (1, 0))
    shared = UOp(Ops.DEFINE_LOCAL, dtypes.int32.ptr(16, AddrSpace.LOCAL), (), 0)
    written = shared.index(at).store(source.index(at).load())
    done = UOp(Ops.BARRIER, dtypes.void, (written,)) if waits else written
    value = shared.after(done).index(at.const_like(15) - at).load()
    return UOp.sink(to.index(at).store(value))


def test_a_barrier_that_is_dropped() -> None:
    right, wrong = (reversed_in_shared_memory(waits) for waits in (True, False))
    found = States().compare(right, wrong)
    assert (found.kind, found.how) == ("assumes", states.UNORDERED)
    assert States().compare(right, right).kind == "sampled"


def waiting_at(where: str) -> UOp:
    """Two accesses to shared memory, and a barrier that is between them or not."""
    at = UOp.special(16, "lidx0").cast(dtypes.int32)
    source, to = (UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(16), (), n) for n in (1, 0))
    shared = UOp(Ops.DEFINE_LOCAL, dtypes.int32.ptr(16, AddrSpace.LOCAL), (), 0)
    written = shared.index(at).store(source.index(at).load())
    waits = UOp(Ops.BARRIER, dtypes.void, (written,) if where == "between" else ())
    deps = {"between": (waits,), "beside": (written, waits), "behind": (written,)}[where]
    stored = to.index(at).store(shared.after(*deps).index(at.const_like(15) - at).load())
    return UOp.sink(stored, *([waits] if where == "behind" else []))


@pytest.mark.parametrize("where", ["beside", "behind"])
def test_a_barrier_that_is_moved(where: str) -> None:
    right = waiting_at("between")
    found = States().compare(right, waiting_at(where))
    assert (found.kind, found.how) == ("assumes", states.UNORDERED)
    assert States().compare(right, right).kind == "sampled"


def turned(x: UOp) -> UOp:
    """x with zeros of the other sign, other numbers as they are."""
    return x.alu(Ops.CMPEQ, x.const_like(0.0)).where(x.alu(Ops.NEG), x)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.bfloat16], ids=str)
def test_zeros_are_told_apart(dtype: DType) -> None:
    x = loaded(dtype)
    found = compared(x, turned(x))
    assert found.kind == "differs" and {found.before, found.after} == {"0.0", "-0.0"}
    assert compared(x, turned(turned(x))).how == states.SAME


def test_signs_of_zeros_that_are_left_open() -> None:
    x = loaded()
    found = compared(x.alu(Ops.MAX, turned(x)), turned(x).alu(Ops.MAX, x))
    assert found.kind == "sampled"
    found = compared(total(x), total(x) + 0.0)
    assert (found.kind, found.ulps) == ("sampled", 0.0)


def test_any_nan_is_any_other() -> None:
    x = loaded()
    nan = x.const_like(float("nan"))
    odd = x.alu(Ops.CMPNE, x)
    assert compared(x, odd.where(nan, x)).how == states.SAME
    assert compared(x, odd.where(x.const_like(0.0), x)).kind == "differs"


@pytest.mark.parametrize("target", ["opencl", "x86-64"])
def test_states_with_images_of_float16(target: str) -> None:
    """Whose memory is of float16, as that of the state in which it is plain memory."""
    x = Tensor(np.arange(48, dtype=np.float32)).cast(dtypes.imageh((3, 4, 4)))
    for item in (x + 1).schedule():
        states = [s.root for s in kernel_states(item.ast, targets[target])]
        sinks = [root for root in states if isinstance(root, UOp)]
        for before, after in pairwise(sinks):
            assert States().compare(before, after).kind == "sampled"


def test_a_state_that_leaves_its_memory() -> None:
    at = UOp.range(16, 0)
    source, to = (UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(16), (), n) for n in (1, 0))
    right, wrong = (
        UOp.sink(to.index(at).store(source.index(at + n).load()).end(at)) for n in (0, 1)
    )
    found = States().compare(right, wrong)
    assert (found.kind, found.how) == ("differs", states.OUTSIDE)
    assert States().compare(wrong, right).kind == "unchecked"
