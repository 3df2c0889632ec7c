"""Parameters of kernels written by hand, and the nodes of their calls."""

from __future__ import annotations

import itertools

import pytest

from core.dtype import dtypes
from core.errors import DTypeError, ShapeError, SpecError
from core.uop import Ops, UOp
from core.uop.call.kernelcall import (
    KernelCall,
    Parameter,
    called_kernel,
    inputs_of_call,
    outputs_of_call,
)
from core.uop.data.serial import from_data, to_data
from core.uop.kernelinfo import KernelInfo
from core.uop.spec.spec import tensor_spec, verify

F = dtypes.float32


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 4), (1, 1)])
def test_addresses_are_row_major(shape: tuple[int, ...]) -> None:
    p = Parameter(3, shape, F)
    for number, index in enumerate(itertools.product(*map(range, shape))):
        place = p[index]
        assert place.src == (UOp(Ops.DEFINE_GLOBAL, F.ptr(p.size), (), 3), place.src[1])
        assert place.src[1].simplify() is UOp.const(dtypes.index, number)
    loops = [UOp.range(n, k) for k, n in enumerate(shape)]
    offset = p.at(*loops).src[1]
    assert offset.bounds == (0, p.size - 1)


def test_large_memory_is_addressed_with_64_bits() -> None:
    i, j = UOp.range(1 << 20, 0), UOp.range(1 << 12, 1)
    offset = Parameter(0, (1 << 20, 1 << 12), F)[i, j].src[1]
    assert offset.dtype is dtypes.int64
    assert offset.vmax == (1 << 32) - 1


def test_gates_and_what_is_no_index() -> None:
    p, i = Parameter(0, (4, 2), F), UOp.range(9, 0)
    assert p.at(i, 0, gate=i < 4).src[2] is (i < 4)
    for index, error in (((0,), ShapeError), ((0, 2), ShapeError), ((-1, 0), ShapeError),
                         ((0, 1.5), DTypeError), ((UOp.const(F, 1.0), 0), DTypeError)):  # fmt: skip
        with pytest.raises(error):
            p[index]


def call(backward: bool = False) -> tuple[UOp, ...]:
    ast = UOp.sink(Parameter(0, (2, 3), F)[0, 0].store(1.0), arg=KernelInfo("mine"))
    made = KernelCall(ast, (((2, 3), F), ((4,), dtypes.int32)), gradient if backward else None)
    source = UOp.new_buffer("CPU", 5, F)
    return called_kernel(made, "CPU", [source], [UOp.variable("n", 1, 3).bind(2)])


def gradient(*_: object) -> list[None]:
    return [None]


def test_outputs_have_shapes_dtypes_and_a_device() -> None:
    first, second = call()
    assert (first.shape, first.dtype, first.device) == ((2, 3), F, "CPU")
    assert (second.shape, second.dtype, second.device) == ((4,), dtypes.int32, "CPU")
    kernel = first.src[0]
    assert second.src[0] is kernel
    assert outputs_of_call(kernel) == (first, second)
    assert [u.op for u in inputs_of_call(kernel)] == [Ops.BUFFER]
    verify(UOp.sink(first, second), tensor_spec, "test")


def test_equal_calls_are_one_node_and_the_gradient_is_part_of_them() -> None:
    ast = call()[0].src[0].arg.ast
    given = ast, (((2, 3), F),)
    one, two = (called_kernel(KernelCall(*given), "CPU", []) for _ in range(2))
    assert one[0] is two[0]
    assert called_kernel(KernelCall(*given, gradient), "CPU", [])[0] is not one[0]
    assert called_kernel(KernelCall(*given), "REFERENCE", [])[0] is not one[0]


def test_what_a_call_looks_like() -> None:
    (first, _), (other, _) = call(), call(backward=True)
    shown = "KernelCall(mine -> float32[2, 3], int32[4]"
    assert repr(first.src[0].arg) == shown + ")"
    assert repr(other.src[0].arg) == shown + ", with backward)"


def test_the_verifier_refuses_what_does_not_fit() -> None:
    first, second = call()
    for wrong in (
        first.replace(arg=(1, (2, 3))),
        first.replace(arg=(0, (6,))),
        first.replace(arg=(2, (2, 3))),
        first.replace(dtype=dtypes.int32),
    ):
        with pytest.raises(SpecError, match="OUTPUT breaks the rule"):
            verify(wrong, tensor_spec, "test")
    with pytest.raises(SpecError, match="OUTPUT is not allowed here, or not with these sources"):
        verify(first.replace(src=(first.src[0], second)), tensor_spec, "test")


def test_output_nodes_are_written_as_data() -> None:
    kernel = UOp(Ops.KERNEL, dtypes.void, (UOp(Ops.DEVICE, arg="CPU"),), KernelInfo("k"))
    output = UOp(Ops.OUTPUT, F, (kernel,), (0, (2, 3)))
    assert from_data(to_data([output])) == [output]
