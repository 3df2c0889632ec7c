"""Kernels of strangers that would leave their memory if they ran, in every way that a graph of
loops can say it: refused before a processor gets them, whatever they say about their bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.dtype import AddrSpace, DType, dtypes
from core.errors import RunError, SpecError, UopvizError
from core.isolation.safety import check_kernel
from core.tile import kernels
from core.uop import Ops, UOp
from core.uop.data.serial import from_data, to_data
from core.uop.kernelinfo import AxisType, KernelInfo
from tests.core.tile.cases import attention_backward

F = dtypes.float32
I8, I32 = dtypes.int8, dtypes.int32


def given(number: int, size: int = 8, dtype: DType = F) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


def const(value: object, dtype: DType = I32) -> UOp:
    """A constant as it is written, which `UOp.const` would make fit."""
    return UOp(Ops.CONST, dtype, (), value)


def variable(low: object, high: object, dtype: DType = I32, name: object = "n") -> UOp:
    return UOp(Ops.DEFINE_VAR, dtype, (), (name, low, high))


X, WIDE = given(1), given(1, 256)


def reading(place: UOp, more: UOp | None = None, dtype: DType = F, *loops: UOp) -> UOp:
    """A kernel that stores what it reads at a place."""
    value = place.load(dtype=dtype).cast(F)
    store = given(0).index(const(0)).store(value if more is None else value + more.cast(F))
    return UOp.sink(store.end(*loops) if loops else store, arg=KernelInfo(opts=()))


def gated(pointer: UOp, offset: UOp, gate: UOp) -> UOp:
    """A kernel that reads under a condition."""
    place, other = pointer.index(offset, gate=gate), UOp.const(pointer.dtype.base, 0.0)
    store = given(0).index(const(0)).store(place.load(other, dtype=pointer.dtype.base).cast(F))
    return UOp.sink(store, arg=KernelInfo(opts=()))


def eight_bits() -> UOp:
    return UOp(Ops.GEP, I8, (UOp(Ops.VCONST, I8.vec(2), (), (1, 200)),), (1,))


loop = UOp.range(8, 0)
loaded = given(2, dtype=I32).index(const(0)).load()
doubles = UOp(Ops.NOOP, dtypes.float64.ptr(8), (X,))
held = UOp(Ops.DEFINE_LOCAL, F.ptr(8, AddrSpace.LOCAL), (), 0)

ATTACKS: dict[str, tuple[Callable[[], UOp], str]] = {
    "an offset": (lambda: reading(X.index(const(8))), "elements 8 to 8 of memory with 8"),
    "before it": (lambda: reading(X.index(loop - 1), None, F, loop), "elements -1 to 6"),
    "wide": (lambda: reading(X.index(const(6)), None, F.vec(4)), "elements 6 to 9"),
    "loaded": (lambda: reading(X.index(loaded)), "elements -2147483648"),
    "a gate": (lambda: gated(X, const(99), const(False, dtypes.bool)), "elements 99 to 99"),
    "a gate that holds": (lambda: gated(X, loaded, loaded < 0), "elements -2147483648"),
    "an address of an address": (
        lambda: reading(X.index(const(7)).index(const(7))), "not at one INDEX"),
    "an address after": (
        lambda: reading(X.index(const(7)).after(const(0)).index(const(7))), "not at one INDEX"),
    "a gated address of an address": (
        lambda: gated(X.index(const(7)), const(7), loaded < 9), "not at one INDEX"),
    "no address": (lambda: reading(X), "not at one INDEX"),
    "another dtype": (lambda: reading(doubles.index(const(7)), None, dtypes.float64), "NOOP of"),
    "another dtype, gated": (lambda: gated(doubles, const(7), loaded < 9), "NOOP of another"),
    "another dtype after": (
        lambda: reading(UOp(Ops.AFTER, F.ptr(99), (X, const(0))).index(const(7))), "AFTER of"),
    "another number": (
        lambda: reading(X.index(UOp(Ops.NOOP, I8, (const(7),)))), "NOOP of another dtype"),
    "nothing": (lambda: reading(X.index(UOp(Ops.NOOP, I32, ()))), "NOOP of another dtype"),
    "a constant": (lambda: reading(WIDE.index(const(200, I8))), "int8 does not hold"),
    "a constant, wider": (lambda: reading(WIDE.index(const(200, I8).cast(I32))), "int8 does not"),
    "below": (lambda: reading(WIDE.index(const(-1, dtypes.uint8).cast(I32) + 1)), "uint8 does not"),
    "of a vector": (lambda: reading(WIDE.index(eight_bits())), "int8 does not hold"),
    "a variable": (lambda: reading(WIDE.index(variable(0, 200, I8))), "int8 does not hold"),
    "a large variable": (
        lambda: reading(X.index(variable(0, (1 << 31) + 5).minimum(7))), "int32 does not hold"),
    "two variables": (
        lambda: reading(X.index(variable(0, 1)), variable(0, 1 << 20)), "two variables 'n'"),
    "no name": (lambda: reading(X.index(variable(0, 1, name=3))), "two variables 3"),
    "a loop": (
        lambda: reading(WIDE.index(UOp.range(const(200, I8), 0)), None, F,
                        UOp.range(const(200, I8), 0)), "int8 does not hold"),
    "a hardware index": (
        lambda: reading(WIDE.index(UOp(Ops.SPECIAL, I8, (const(200),), "gidx0"))),
        "int8 does not hold"),
    "as many as are loaded": (
        lambda: reading(X.index(UOp.range(loaded, 0)), None, F, UOp.range(loaded, 0)),
        "elements 0 to 2147483646"),
    "shared memory": (lambda: reading(held.index(const(8))), "elements 8 to 8 of memory with 8"),
    "lanes": (lambda: reading(X.index(UOp(Ops.SHUFFLE, I32, (loaded,), 1))), "elements -21474"),
    "a copy": (
        lambda: UOp.sink(held.index(const(8)).store(X.index(const(0)).load()).replace(
            arg="asynchronous").end(loop)), "elements 8 to 8 of memory with 8"),
    "two THREAD loops": (
        lambda: reading(X.index(UOp.range(9, 1, AxisType.THREAD)), None, F,
                        UOp.range(9, 1, AxisType.THREAD)), "elements 0 to 8"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_what_leaves_its_memory_is_refused(name: str) -> None:
    """Also once it was data, as everything is that comes from a trace."""
    make, what = ATTACKS[name]
    with pytest.raises(RunError) as found:
        check_kernel(make())
    assert f"this kernel is not run: {what}" in found.value.what or what in found.value.what
    with pytest.raises(UopvizError):
        check_kernel(from_data(to_data([make()]))[0])


@pytest.mark.parametrize("inside", [True, False])
def test_a_variable_with_bounds_that_are_floats_is_none(inside: bool) -> None:
    ast = reading(X.index(variable(0.0, 7.0)))
    for one in (ast, from_data(to_data([ast]))[0]):
        with pytest.raises(SpecError, match="DEFINE_VAR breaks the rule"):
            check_kernel(one, inside=inside)


NOT_EVEN_COMPILED = [
    name for name in ATTACKS
    if not any(text in ATTACKS[name][1] for text in ("elements", "several"))
]  # fmt: skip


@pytest.mark.parametrize("name", NOT_EVEN_COMPILED)
def test_what_lies_about_its_bounds_is_not_emulated_either(name: str) -> None:
    with pytest.raises(RunError):
        check_kernel(ATTACKS[name][0](), inside=False)


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "x86-64"])
def test_kernels_with_tiles_are_not_known_to_keep_to_their_memory(target: str) -> None:
    """Their gates would have to be understood: they run where each access is checked."""
    made = [kernels.copy(70, 90, target), kernels.matmul(64, 64, 64, target)]
    made += [case.ast for case in attention_backward(target, 40, 64, True)]
    for ast in made:
        with pytest.raises(RunError, match="this kernel is not run"):
            check_kernel(ast)
        check_kernel(ast, inside=False)
