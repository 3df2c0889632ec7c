"""Mistakes in calls of kernels written by hand: each is one clear error at the user's line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Device, Tensor, Variable, dtypes
from core.dtype import DType
from core.errors import (
    CompileError,
    DeviceError,
    DTypeError,
    GradientError,
    RunError,
    ShapeError,
    UopvizError,
)
from core.target import Target
from core.uop.call.kernelcall import Parameter
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tensor.running.written import axpy, call_axpy, call_max, first_rows, through_shared

X = np.arange(12, dtype=np.float32)
OUT = ((12,), "float32")


def x() -> Tensor:
    return Tensor(X)


def call(build: Any, *inputs: Any, outputs: Any = OUT, **options: Any) -> Any:
    return Tensor.call_kernel(build, *inputs, outputs=outputs, **options)


Gradient = Callable[[list[Tensor], list[Tensor], list[Tensor]], Any]
Build = Callable[[Parameter, Parameter], Any]


def built(make: Build, **options: Any) -> Any:
    """A call of a kernel with one input."""

    def kernel(target: Target, out: Parameter, x: Parameter) -> Any:
        return make(out, x)

    return call(kernel, x(), **options)


def copy(out: Parameter, x: Parameter, number: int = 0, n: int = 12) -> UOp:
    i = UOp.range(n, number)
    return out.pointer.index(i).store(x.pointer.index(i).load()).end(i)


def copy_to_first(target: Target, first: Parameter, second: Parameter, x: Parameter) -> UOp:
    return UOp.sink(copy(first, x))


def copy_of_first(target: Target, out: Parameter, x: Parameter, y: Parameter) -> UOp:
    return UOp.sink(copy(out, x))


def plain_copy(target: Target, out: Parameter, x: Parameter) -> UOp:
    return UOp.sink(copy(out, x))


def foreign(dtype: DType, size: int, number: int) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


def unended(out: Parameter, x: Parameter) -> UOp:
    i = UOp.range(12, 7117)  # a number that no other test gives a loop: equal nodes are one
    return UOp.sink(out[i].store(x[i].load()))


def reads_input_only(out: Parameter, x: Parameter) -> UOp:
    i = UOp.range(12, 0)
    return UOp.sink(x[i].store(out[i].load()).end(i))


def gated_away(out: Parameter, x: Parameter) -> UOp:
    """Right: what is outside of the memory is gated."""
    i = UOp.range(20, 0)
    zero = UOp.const(dtypes.float32, 0.0)
    inside = i < 12
    place = out.pointer.index(i)
    stored = UOp(Ops.STORE, dtypes.void, (place, x.at(i, gate=inside).load(zero), inside))
    return UOp.sink(stored.end(i))


def raises(out: Parameter, x: Parameter) -> UOp:
    table: dict[str, int] = {}
    return UOp.sink(out[0].store(x[table["missing"]].load()))


class Unhashed:
    """A function that is equal to others, and cannot be looked up."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashed)

    def __call__(self, *_: Any) -> None:
        """No gradient."""


V, W = Variable("v", 1, 12), Variable("w", 1, 12)
CASES: list[tuple[str, Callable[[], Any], type[UopvizError], str]] = [
    # what is given
    ("few_inputs", lambda: call(axpy, x()), DTypeError,
     r"axpy does not take a target, 1 outputs and 1 inputs.*missing"),
    ("many_inputs", lambda: call(axpy, x(), x(), x()), DTypeError, "too many positional"),
    ("no_tensor", lambda: call(axpy, x(), X), DTypeError, "call_kernel: inputs is of type ndarray"),
    ("no_function", lambda: call(7, x()), CompileError, "takes a function that .* not an int"),
    ("no_outputs", lambda: call(axpy, x(), x(), outputs=[]), ShapeError, "without outputs"),
    ("bad_output", lambda: call(axpy, x(), x(), outputs=(12, "float32")), ShapeError,
     r"output is given as \(12, 'float32'\)"),
    ("bad_lengths", lambda: call(axpy, x(), x(), outputs=((1.5,), "float32")), ShapeError,
     "output is given"),
    ("negative", lambda: call(axpy, x(), x(), outputs=((-1,), "float32")), ShapeError, r"\(-1,\)"),
    ("bad_dtype", lambda: call(axpy, x(), x(), outputs=((12,), 5)), DTypeError, "dtype 5"),
    ("unknown_dtype", lambda: call(axpy, x(), x(), outputs=((12,), "float7")), DTypeError,
     "float7"),
    ("void", lambda: call(axpy, x(), x(), outputs=((12,), dtypes.void)), DTypeError, "void"),
    ("empty_output", lambda: call(axpy, x(), x(), outputs=((0,), "float32")), ShapeError,
     r"shape \(0,\) has no elements"),
    ("empty_input", lambda: call(axpy, x()[:0], x()), ShapeError, "no elements"),
    ("devices", lambda: call(axpy, x(), x().to("REFERENCE")), DeviceError, "CPU and REFERENCE"),
    ("own_device", lambda: call(axpy, x(), x(), device="REFERENCE"), DeviceError,
     "CPU and REFERENCE"),
    ("no_device", lambda: call(axpy, x(), x(), device="TPU"), DeviceError, "no device 'TPU'"),
    ("no_value", lambda: call(first_rows, x(), variables=[V]), DTypeError,
     "variable is given as DEFINE_VAR"),
    ("no_variable", lambda: call(first_rows, x(), variables=[3]), DTypeError, "given as 3"),
    ("variable_twice", lambda: call(first_rows, x(), variables=[V.bind(1), V.bind(2)]), DTypeError,
     "variable v is given twice"),
    ("no_backward", lambda: call(axpy, x(), x(), backward=3), DTypeError,
     r"backward is 3 \(int\)"),
    ("backward_without_hash", lambda: call(plain_copy, x(), backward=Unhashed()), DTypeError,
     "plain_copy: backward is a Unhashed, which has no hash"),
    # what is built
    ("nothing", lambda: built(lambda out, x: None), CompileError, "returned NoneType"),
    ("no_sink", lambda: built(copy), CompileError, "returned END void, which is no kernel"),
    ("values", lambda: built(lambda out, x: UOp.sink(x[0].load())), CompileError,
     "something else than loops and single elements"),
    ("empty_sink", lambda: built(lambda out, x: UOp.sink()), CompileError, "is no kernel"),
    ("not_stored", lambda: built(copy, outputs=[OUT, OUT]), DTypeError, "does not take"),
    ("never_stored", lambda: call(copy_to_first, x(), outputs=[OUT, OUT]),
     CompileError, r"stores nothing in output 1: float32 of shape \(12,\)"),
    ("never_read", lambda: call(copy_of_first, x(), x()),
     CompileError, "does not read input 1"),
    ("input_stored", lambda: built(reads_input_only), CompileError, "it stores in input 0"),
    ("unknown_parameter", lambda: built(
        lambda out, x: UOp.sink(copy(out, x), foreign(dtypes.float32, 12, 2).index(0).store(1.0))),
     CompileError, "no parameter 2 among 2"),
    ("other_dtype", lambda: built(lambda out, x: UOp.sink(
        foreign(dtypes.int32, 12, 0).index(0).store(1))), CompileError,
     r"parameter 0 is float32\* \[12\], and the kernel takes it as int32\* \[12\]"),
    ("other_size", lambda: built(lambda out, x: UOp.sink(
        foreign(dtypes.float32, 9, 0).index(0).store(1.0))), CompileError, r"float32\* \[9\]"),
    ("other_input_dtype", lambda: call(plain_copy, x().int()),
     CompileError, "STORE breaks the rule"),
    ("outside", lambda: built(lambda out, x: UOp.sink(copy(out, x, n=13))), CompileError,
     "elements 0 to 12 of parameter [01], which has 12"),
    ("below", lambda: built(lambda out, x: UOp.sink(
        out.pointer.index(UOp.range(3, 0) - 1).store(x[0].load()).end(UOp.range(3, 0)))),
     CompileError, "elements -1 to 1 of parameter 0"),
    ("unended", lambda: built(unended), CompileError, "loop 7117 is never ended"),
    ("no_such_variable", lambda: built(
        lambda out, x: UOp.sink(out.pointer.index(V - 1).store(x[0].load()))),
     CompileError, "variable v is not given"),
    ("hardware", lambda: call(through_shared, x().reshape(1, 12), outputs=((1, 12), "float32")),
     CompileError, "has no hardware index [gl]idx0"),
    ("raises", lambda: built(raises), CompileError, "kernel raised KeyError: 'missing'"),
    ("own_error", lambda: built(lambda out, x: UOp.sink(out[0].store(x[0].load() + x[0]))),
     UopvizError, ""),
    ("indices", lambda: built(lambda out, x: UOp.sink(out[0, 1].store(x[0].load()))), ShapeError,
     r"2 indices for parameter 0 of shape \(12,\)"),
    ("index_outside", lambda: built(lambda out, x: UOp.sink(out[12].store(x[0].load()))),
     ShapeError, "index 12 of an axis of parameter 0 that is 12 long"),
    ("index_negative", lambda: built(lambda out, x: UOp.sink(out[-1].store(x[0].load()))),
     ShapeError, "index -1"),
    ("index_float", lambda: built(lambda out, x: UOp.sink(out[x[0].load()].store(x[0].load()))),
     DTypeError, "at an index of float32"),
    ("index_text", lambda: built(lambda out, x: UOp.sink(out["a"].store(x[0].load()))),
     DTypeError, "at an index of str"),
    # what the gradient is
    ("no_gradient", lambda: wanting(None), GradientError,
     r"a kernel written by hand has no gradient: KernelCall\(unnamed -> float32\[12\]\)"),
    ("gradient_count", lambda: wanting(lambda g, i, o: g[0]), GradientError,
     "2 inputs returned 1 gradients"),
    ("gradient_shape", lambda: wanting(lambda g, i, o: (g[0], g[0].sum())), GradientError,
     r"float32 of shape \(\) on CPU as the gradient of input 1, which is float32 of shape \(12,\)"),
    ("gradient_dtype", lambda: wanting(lambda g, i, o: (g[0].half(), g[0])), GradientError,
     "float16 of shape"),
    ("gradient_device", lambda: wanting(lambda g, i, o: (g[0].to("REFERENCE"), g[0])),
     GradientError, "on REFERENCE as the gradient of input 0"),
    ("gradient_kind", lambda: wanting(lambda g, i, o: (1.0, g[0])), DTypeError,
     "float as a gradient"),
    ("gradient_of_ints", lambda: gather(lambda g, i, o: (g[0], g[0])), GradientError,
     "a gradient of input 1, which is int32"),
    ("gradient_error", lambda: wanting(lambda g, i, o: (g[0].reshape(7), g[0])), ShapeError,
     "cannot reshape"),
]  # fmt: skip


def wanting(backward: Gradient | None) -> Any:
    leaf = Tensor(X, requires_grad=True)
    return call_axpy(leaf, leaf, backward=backward).sum().backward()


def gather(backward: Gradient) -> Any:
    def build(target: Target, out: Parameter, x: Parameter, at: Parameter) -> UOp:
        i = UOp.range(12, 0)
        return UOp.sink(out[i].store(x[at[i].load()].load()).end(i))

    leaf = Tensor(X, requires_grad=True)
    return call(build, leaf, Tensor.arange(12), backward=backward).sum().backward()


@pytest.mark.parametrize(("name", "run", "kind", "what"), CASES, ids=[c[0] for c in CASES])
def test_mistake(name: str, run: Callable[[], Any], kind: type[UopvizError], what: str) -> None:
    with pytest.raises(kind) as raised:
        run()
    error = raised.value
    assert re.search(what, error.what, re.DOTALL), error.what
    assert error.hint
    assert str(Path(__file__).parent) in error.where, error


def test_the_error_names_the_line_that_made_the_node_and_the_call() -> None:
    with pytest.raises(CompileError) as raised:
        built(unended)
    lines = raised.value.where.splitlines()
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    shown = [int(found[1]) for line in lines if (found := re.search(r"\.py:(\d+)", line))]
    assert "UOp.range(12, 7117)" in source[shown[0] - 1]
    assert "call_kernel" in source[shown[-1] - 1]


def test_a_builder_that_raises_is_the_cause() -> None:
    with pytest.raises(CompileError) as raised:
        built(raises)
    assert isinstance(raised.value.__cause__, KeyError)


def test_after_an_error_a_call_works() -> None:
    for _ in range(2):
        with pytest.raises(CompileError):
            built(unended)
    assert call_axpy(x(), x()).tolist() == (3 * X).tolist()


def test_what_is_gated_may_be_outside() -> None:
    assert built(gated_away).tolist() == X.tolist()


def test_a_device_that_runs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device["NULL"], "target", None)
    with pytest.raises(DeviceError, match="NULL runs no kernels written by hand") as raised:
        call(plain_copy, Tensor.empty(12, device="NULL"))
    assert str(Path(__file__)) in raised.value.where
    with pytest.raises(DeviceError, match="CPU runs compiled programs"):
        Device["CPU"].load_ast(UOp.sink(), "kernel")


def test_several_devices_are_refused() -> None:
    spread = Tensor(UOp.new_buffer(("CPU", "CPU:1"), 12, dtypes.float32))
    with pytest.raises(DeviceError, match="CPU and CPU:1"):
        call(axpy, spread, spread)


def test_a_value_out_of_the_bounds_of_its_variable() -> None:
    rows = Tensor(X).reshape(4, 3)
    with pytest.raises(DTypeError, match="w = 13 is outside"):
        call(first_rows, rows, outputs=((3,), "float32"), variables=[W.bind(13)])
    short = call(first_rows, rows, outputs=((3,), "float32"), variables=[W.bind(2)])
    assert short.tolist() == rows[:2].sum(0).tolist()


def test_a_kernel_that_no_target_takes_is_an_error_when_it_is_compiled() -> None:
    def build(target: Target, out: Parameter, x: Parameter) -> UOp:
        i = UOp.special(12, "lidx3")
        return UOp.sink(out[i].store(x[i].load()))

    made = call(build, Tensor(X, device="PTX:EMU"))
    with pytest.raises((CompileError, RunError), match="lidx3"):
        made.realize()


def test_an_integer_output_has_no_gradient() -> None:
    leaf = Tensor(X.reshape(3, 4), requires_grad=True)
    top, where = call_max(leaf)
    assert top.requires_grad
    assert not where.requires_grad
