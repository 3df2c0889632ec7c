"""What a tile kernel refuses of its program as a whole, and of Python values that are none of its
own: one error, at the user's line, that says what is possible."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from core import tile
from core.dtype import DType, dtypes
from core.errors import CompileError, DTypeError, ShapeError, UopvizError
from core.tile import RT, RV, Kernel
from core.uop.uop import UOp
from tests.core.tile.refused import check_refused
from tests.core.tile.running import ON, run

HALF = dtypes.half
Wrong = dict[str, tuple[Callable[[Kernel], object], type[UopvizError], str, str]]


def kernel(warps: int = 4) -> Kernel:
    return Kernel("k", (4,), warps, "sm_80")


def square(ker: Kernel, layout: str = "acc", dtype: DType = HALF) -> RT:
    return ker.rt(dtype, (16, 16), layout)


def ones(ker: Kernel, layout: str = "acc", dtype: DType = HALF) -> RT:
    part = square(ker, layout, dtype)
    ker.warp.ones(part)
    return part


def vector(ker: Kernel) -> RV:
    return ker.rv(HALF, square(ker))


def view(ker: Kernel) -> tile.Window:
    return ker.gl(HALF, (64, 16))[0, 0]


def any_value(x: object) -> Any:
    """What a type checker would refuse."""
    return cast("Any", x)


VALUES: Wrong = {
    "kernel name": (lambda k: Kernel("my kernel"), CompileError, "named 'my kernel'", "letters"),
    "no kernel name": (lambda k: Kernel(""), CompileError, "named ''", "a letter"),
    "long name": (lambda k: Kernel("k" * 129), CompileError, "named 'kk", "127"),
    "grid": (lambda k: Kernel("k", any_value(4)), ShapeError, "a grid of 4", "one to three sizes"),
    "view": (lambda k: k.gl(HALF, any_value(16)), ShapeError, "shape 16", "one to four axes"),
    "register tile": (lambda k: k.rt(HALF, any_value(16)), ShapeError, "shape 16", "(rows, col"),
    "bools": (lambda k: k.rt(HALF, (True, 16)), ShapeError, "(True, 16)", "(rows, columns)"),
    "shared tile": (lambda k: k.st(HALF, any_value("ab")), ShapeError, "'ab'", "(rows, columns)"),
    "like nothing": (lambda k: k.rv(HALF, any_value(None)), ShapeError, "NoneType", "ker.rt"),
    "like a shared tile": (lambda k: k.rv(HALF, any_value(k.st(HALF, (16, 16)))), ShapeError,
                           "a vector like ST", "register tile"),
    "part": (lambda k: k.st(HALF, (32, 32)).subtile(any_value(16)), ShapeError, "shape 16",
             "(rows, columns)"),
    "part number": (lambda k: k.st(HALF, (32, 32)).subtile((16, 16), any_value(0.5)), ShapeError,
                    "tile row 0.5 of a shared tile", "an int"),
    "stage": (lambda k: k.st(HALF, (32, 32), stages=2)[any_value("a")], ShapeError, "stage 'a'",
              "an int"),
    "fill with a text": (lambda k: k.warp.fill(square(k), any_value("a")), DTypeError,
                         "fill with 'a'", "a number"),
    "fill with nothing": (lambda k: k.warp.fill(vector(k), any_value(None)), DTypeError,
                          "fill with None", "a number"),
    "integers are finite": (lambda k: k.warp.fill(square(k, dtype=dtypes.int8), math.nan),
                            DTypeError, "fill with nan in a tile of int8", "finite"),
    "fill with what wraps": (lambda k: k.warp.fill(square(k, dtype=dtypes.int8), 1000), DTypeError,
                             "fill with 1000 in a tile of int8", "-128 to 127"),
    "fill below zero": (lambda k: k.warp.fill(square(k, dtype=dtypes.uint8), -1), DTypeError,
                        "fill with -1 in a tile of uint8", "0 to 255"),
    "fill of a load": (
        lambda k: k.warp.load(square(k), k.gl(dtypes.int, (16, 16)), fill=-math.inf), DTypeError,
        "a load with fill -inf in a tile of int32", "finite"),
    "operand": (lambda k: k.warp.map(ones(k), lambda a, b: a + b, square(k), any_value([1])),
                ShapeError, "map of list", "a register tile"),
    "array": (lambda k: k.warp.map(ones(k), lambda a: a, any_value(np.ones(3))), ShapeError,
              "map of ndarray", "a register tile"),
    "operand that is a vector": (
        lambda k: k.warp.map(ones(k), lambda a: a, UOp.const(HALF.vec(4), 1.0)), DTypeError,
        "a node of float16.vec(4)", "a tile or a vector"),
    "operand that is memory": (
        lambda k: k.warp.map(ones(k), lambda a: a, k.gl(HALF, (4, 4)).memory.define), DTypeError,
        "an operand of map that is a node of", "one number"),
    "map by nothing": (lambda k: k.warp.map(ones(k), any_value(None)), DTypeError,
                       "the function of map is None", "an element of each operand"),
    "map by fewer": (lambda k: k.warp.map(ones(k), any_value(lambda: 1)), DTypeError,
                     "the function of map: too many", "1 value: an element of each operand"),
    "map by more": (lambda k: k.warp.map_indexed(ones(k), lambda a, b: a), DTypeError,
                    "the function of map_indexed: too many", "3 values: an element"),
    "map of a vector": (lambda k: k.warp.map_indexed(vector(k), lambda a, b, c: a), DTypeError,
                        "missing a required argument", "then its number"),
    "map to nan": (lambda k: k.warp.map(ones(k, dtype=dtypes.int8), any_value(lambda _: math.nan)),
                   DTypeError, "gives nan in a tile of int8", "finite"),
    "kind of a loop": (lambda k: k.range(2, any_value("fast")), ShapeError, "kind 'fast'",
                       '"reduce", "loop" and "upcast"'),
    "written out, of a node": (
        lambda k: k.range(UOp.variable("n", 1, 4), "upcast"), ShapeError, "a loop of n", "an int"),
    "reduce by nothing": (lambda k: k.warp.row_reduce(vector(k), ones(k), any_value(None)),
                          DTypeError, "the function of a reduce is None", "two elements"),
    "reduce by a name": (lambda k: k.warp.row_reduce(vector(k), ones(k), any_value("add")),
                         DTypeError, "the function of a reduce is 'add'", "two elements"),
    "reduce by one": (lambda k: k.warp.row_reduce(vector(k), ones(k), any_value(lambda x: x)),
                      DTypeError, "the function of a reduce: too many", "2 values: two elements"),
    "reduce to nothing": (
        lambda k: k.warp.row_reduce(vector(k), ones(k), any_value(lambda x, y: None)), DTypeError,
        "gave no value", "x.maximum(y)"),
}  # fmt: skip


def another(ker: Kernel) -> None:
    ker.warp.copy(square(ker), ones(kernel()))


def another_view(ker: Kernel) -> None:
    ker.warp.store(view(kernel()), ones(ker))


def another_shared_tile(ker: Kernel) -> None:
    ker.warp.load(square(ker), kernel().st(HALF, (16, 16)))


def ended(ker: Kernel, what: Callable[[Kernel, RT, UOp], object]) -> None:
    """Uses the number of a loop behind it."""
    part = ones(ker)
    for number in ker.range(4):
        ker.warp.map(part, lambda x, n: x + n.cast(HALF), part, number)
    what(ker, part, number)


def ended_stage(ker: Kernel) -> None:
    held = ker.st(HALF, (64, 16), stages=2)
    ker.group.load(held[0], view(ker))
    for number in ker.range(4):
        ker.group.load(held[number % 2], view(ker))
    ker.group.load(square(ker), held[number % 2])


PROGRAMS: Wrong = {
    "a tile of another kernel": (another, CompileError, "another kernel", "ker.rt"),
    "a view of another kernel": (another_view, CompileError, "another kernel", "ker.gl"),
    "a shared tile of another kernel": (another_shared_tile, CompileError, "another", "ker.st"),
    "a loop that has ended, of a view": (
        lambda k: ended(k, lambda k, part, i: k.warp.store(k.gl(HALF, (64, 16))[i, 0], part)),
        CompileError, "after the loop has ended", "body of its for"),
    "a loop that has ended, in arithmetic": (
        lambda k: ended(k, lambda k, part, i: k.warp.map(part, lambda n: n.cast(HALF), i)),
        CompileError, "after the loop has ended", "keep what it was in a tile"),
    "a loop that has ended, of a stage": (ended_stage, CompileError, "after the loop", "body"),
    "tile not written": (lambda k: k.group.store(view(k), square(k)), CompileError,
                         "a register tile or vector is read that nothing", "ker.group.zero"),
    "vector not written": (lambda k: k.warp.map(ones(k), lambda x, v: x * v, ones(k), vector(k)),
                           CompileError, "a register tile or vector is read", "load it"),
    "mapped, not written": (lambda k: k.warp.map(square(k), lambda x: x + 1.0), CompileError,
                            "read that nothing was written to", "load it"),
    "reduce on top of nothing": (
        lambda k: k.warp.row_reduce(vector(k), ones(k), accumulate=True), CompileError,
        "read that nothing was written to", "ker.group.zero"),
    "product on top of nothing": (
        lambda k: k.warp.mma_AB(square(k, dtype=dtypes.float), ones(k, "row"), ones(k, "col")),
        CompileError, "read that nothing was written to", "ker.group.zero"),
    "operand not written": (lambda k: k.warp.mma_AB(ones(k), square(k, "row"), ones(k, "col")),
                            CompileError, "read that nothing was written to", "load it"),
    "shared tile not written": (lambda k: k.group.store(view(k), k.st(HALF, (64, 16))),
                                CompileError, "shared memory is read that nothing", "load it"),
    "matrices not written": (lambda k: k.group.load(square(k, "row"), k.st(HALF, (64, 16))),
                             CompileError, "shared memory is read that nothing", "load it"),
    "shared vector not written": (lambda k: k.group.load(vector(k), k.sv(HALF, 64)), CompileError,
                                  "shared memory is read that nothing", "load it"),
    "a tile for each lane": (lambda k: k.gl(HALF, (64, 16))[k.lane, 0], ShapeError,
                             "tile number of a global view: it differs", "by work group, warp"),
    "a part for each lane": (lambda k: k.st(HALF, (32, 32)).subtile((16, 16), k.lane % 2),
                             ShapeError, "tile row of a shared tile: it differs", "warp or loop"),
    "a stage for each lane": (lambda k: k.st(HALF, (32, 32), stages=2)[k.lane % 2], ShapeError,
                              "stage of a shared tile: it differs", "warp or loop"),
    "a loop for each lane": (lambda k: k.range(k.lane), ShapeError,
                             "a loop whose length differs between the threads", "map_indexed"),
    "a loop for each warp": (lambda k: k.range(k.warp_id + 1), ShapeError,
                             "a loop whose length differs between the threads", "map_indexed"),
}  # fmt: skip
WRONG = VALUES | PROGRAMS


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_at_the_users_line(case: str) -> None:
    check_refused(*WRONG[case], kernel(), __file__)


@pytest.mark.parametrize("case", [name for name in PROGRAMS if "another kernel" not in name])
def test_targets_without_lanes_refuse_the_same(case: str) -> None:
    wrong, kind, what, _ = PROGRAMS[case]
    with pytest.raises(kind) as found:
        wrong(Kernel("k", (4,), 4, "x86-64"))
    assert what in found.value.what


def test_errors_of_a_users_function_are_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        (ker := kernel()).warp.map(ones(ker), any_value(lambda _: 1 / 0), 3)


def test_functions_that_python_says_nothing_about_are_taken() -> None:
    """Builtins have no signature; numbers may be NumPy's; what is not read need not be written."""
    with tile.Kernel("k", target="sm_80") as ker:
        y, part = ker.gl(dtypes.float, (16, 16)), ker.rt(dtypes.float, (16, 16), "acc")
        ker.warp.fill(part, np.float32(2))
        ker.warp.map(part, any_value(UOp.exp2))
        ker.warp.map(part, lambda x, n: x + n, part, any_value(np.int64(3)))
        other = ker.rt(dtypes.float, (16, 16), "acc")
        ker.warp.map_indexed(other, lambda _, r, c: (r * 16 + c).cast(dtypes.float))
        ker.warp.map(part, lambda a, b: a + b, part, other)
        ker.warp.store(y, part)
    zeros = np.zeros((16, 16), np.float32)
    for on in ON:
        (found,) = run(ker.ast, [zeros], "sm_80", on)
        np.testing.assert_array_equal(found, 7 + np.arange(256).reshape(16, 16))
