"""The verifier: allows what each stage holds, and says what is wrong with anything else."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.errors import SpecError
from core.shape import ShapeTracker
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.spec.spec import (
    ast_spec,
    index_spec,
    machine_spec,
    program_spec,
    tensor_spec,
    verify,
    violation,
)

n = UOp.const(dtypes.int32, 8)
out = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8), (), 0)
data = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8), (), 1)
loop = UOp.range(8, 0)
one = UOp.const(dtypes.float32, 1.0)


def kernel(value: UOp) -> UOp:
    return UOp.sink(out.index(loop).store(value).end(loop), arg=KernelInfo("k"))


def test_tensor_graphs() -> None:
    x = UOp.new_buffer("CPU", 12, dtypes.float32).reshape((3, 4))
    total = (x + x.const_like(2.0)).r(Ops.ADD, (1,)).expand((3, 4))
    verify(UOp.sink(total.copy_to_device("OTHER"), x.assign(total).contiguous()), tensor_spec, "t")
    with pytest.raises(SpecError, match="t: RANGE is not allowed here"):
        verify(UOp.sink(loop), tensor_spec, "t")


def test_kernel_asts() -> None:
    st = ShapeTracker.from_shape((8,))
    load = UOp(Ops.LOAD, dtypes.float32, (data.view(st),))
    verify(UOp.sink(out.view(st).store(load + one), arg=KernelInfo()), ast_spec, "ast")
    wrong = UOp(Ops.LOAD, dtypes.int32, (data.view(st),))
    with pytest.raises(SpecError, match="the global's element dtype"):
        verify(UOp.sink(wrong), ast_spec, "ast")
    with pytest.raises(SpecError, match="UNIQUE is not allowed here"):
        verify(UOp.sink(UOp.new_buffer("CPU", 3, dtypes.int32)), ast_spec, "ast")


def test_index_graphs() -> None:
    total = data.index(loop).load().reduce(Ops.ADD, UOp.range(4, 1, AxisType.REDUCE))
    verify(kernel(total), index_spec, "lower")
    with pytest.raises(SpecError, match="reduce: REDUCE is not allowed here"):
        verify(kernel(total), program_spec, "reduce")
    gated = data.index(loop, gate=loop < 4)
    verify(kernel(gated.load(one)), index_spec, "lower")
    with pytest.raises(SpecError, match="where the address is gated, there is an alternative"):
        verify(kernel(gated.load()), index_spec, "lower")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (UOp(Ops.ADD, dtypes.float32, (one, n)), "operands have the dtype of the result"),
        (UOp(Ops.ADD, dtypes.float32, (one,)), "as many as the op takes"),
        (UOp(Ops.EXP2, dtypes.int32, (n,)), "which has the op"),
        (UOp(Ops.CMPLT, dtypes.float32, (one, one)), "gives a bool per element"),
        (UOp(Ops.WHERE, dtypes.float32, (n, one, one)), "WHERE chooses by a bool"),
        (UOp(Ops.CONST, dtypes.float32, (), "1"), "the arg of a CONST"),
        (UOp(Ops.CAST, dtypes.float32.vec(2), (n,)), "keeps the number of elements"),
        (
            UOp(Ops.GEP, dtypes.float32, (UOp.vectorize(one, one),), (2,)),
            "elements that its vector",
        ),
        (UOp(Ops.VECTORIZE, dtypes.float32.vec(3), (one, one)), "VECTORIZE makes a vector"),
        (UOp(Ops.RANGE, dtypes.int32, (n,), 3), "the arg (number, AxisType)"),
        (UOp(Ops.INDEX, out.dtype, (out, one)), "INDEX is (pointer, integer offset)"),
        (UOp(Ops.STORE, dtypes.void, (out.index(0), n)), "STORE writes elements"),
        (UOp(Ops.DEFINE_VAR, dtypes.int32, (), ("v", 3, 2)), "a DEFINE_VAR is an integer"),
        (UOp(Ops.SINK, dtypes.int32), "SINK is void"),
    ],
)
def test_what_is_wrong_is_said(wrong: UOp, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        verify(UOp.sink(wrong) if wrong.op is not Ops.SINK else wrong, index_spec, "pass")
    assert said in str(caught.value)
    assert wrong.op.name in caught.value.where


def test_bits_of_what_is_loaded_from_the_begin_of_two_arguments() -> None:
    """Of such loads each has the shape of all of its memory, and of their sum there is none."""
    loads = [
        UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(size), (), at).load()
        for at, size in enumerate((3, 2))
    ]
    made = loads[0] + loads[1]
    assert violation(UOp(Ops.BITCAST, dtypes.int32, (made,)), machine_spec) is None
    assert violation(UOp(Ops.BITCAST, dtypes.int64, (made,)), machine_spec) is not None
