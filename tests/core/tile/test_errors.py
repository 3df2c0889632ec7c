"""What a tile kernel refuses: one error, at the user's line, that says what is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from core import tile
from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import CompileError, DTypeError, ShapeError, UopvizError
from core.target import targets
from core.tile import RT, Kernel, kernels
from core.uop.ops import Ops
from core.uop.uop import UOp


def kernel(target: str = "sm_80", warps: int = 4) -> Kernel:
    return Kernel("k", (4,), warps, target)


def square(ker: Kernel, layout: str = "acc", dtype: DType = dtypes.half) -> RT:
    return ker.rt(dtype, (16, 16), layout)


def nothing(_: UOp) -> None:
    """A function that map cannot take."""


def wide(ker: Kernel, layout: str) -> RT:
    return ker.rt(dtypes.half, (16, 32), layout)


def broken_loop(ker: Kernel) -> None:
    for _ in ker.range(4):
        break
    ker.finish()


def unfinished(ker: Kernel) -> UOp:
    return ker.ast


WRONG: dict[str, tuple[Callable[[Kernel], object], type[UopvizError], str, str]] = {
    "layout": (lambda k: k.rt(dtypes.half, (16, 16), "diagonal"), DTypeError,
               "layout 'diagonal'", "row, col, acc"),
    "shape": (lambda k: k.rt(dtypes.half, (16, 24)), ShapeError,
              "16 x 24, float16 in layout 'row'", "multiples of 16 x 16"),
    "no shape": (lambda k: k.st(dtypes.half, (0, 16)), ShapeError, "(0, 16)", "positive"),
    "dtype": (lambda k: k.rt(dtypes.void, (16, 16)), DTypeError, "void", "numbers or bool"),
    "unknown dtype": (lambda k: k.rt("float17", (16, 16)), DTypeError, "float17", "one of"),
    "vector": (lambda k: k.rv(dtypes.half, square(k), cast("Any", "diagonal")), ShapeError,
               "diagonal", "'row' or 'column'"),
    "view": (lambda k: k.gl(dtypes.half, (1, 2, 3, 4, 5)), ShapeError, "(1, 2, 3, 4, 5)", "four"),
    "view size": (lambda k: k.gl(dtypes.half, (4, -1)), ShapeError, "(4, -1)", "positive"),
    "indices": (lambda k: k.gl(dtypes.half, (4, 4))[0, 0, 0, 0, 0], ShapeError, "5 indices", "row"),
    "stages": (lambda k: k.st(dtypes.half, (16, 16), stages=0), ShapeError, "0 stages", "1"),
    "stage": (lambda k: k.st(dtypes.half, (16, 16), stages=2)[2], ShapeError,
              "stage 2 of a tile with 2", "modulo"),
    "no stages": (lambda k: k.st(dtypes.half, (16, 16))[0], ShapeError, "with 1", "stages=n"),
    "subtile": (lambda k: k.st(dtypes.half, (32, 32)).subtile((16, 24)), ShapeError,
                "16 x 24 in one of 32 x 32", "multiples"),
    "subtile index": (lambda k: k.st(dtypes.half, (32, 32)).subtile((16, 16), 2), ShapeError,
                      "tile row 2 of 2", "16 x 16"),
    "subtile of warps": (
        lambda k: k.st(dtypes.half, (32, 32)).subtile((16, 16), k.warp_id), ShapeError,
        "tile row", "32 x 32"),
    "shared memory": (lambda k: [k.st(dtypes.float, (128, 64)) for _ in range(2)], CompileError,
                      "49,152", "smaller"),
    "group": (lambda k: k.group(3), ShapeError, "3 warps in a kernel with 4", "divides"),
    "spaces": (lambda k: k.group.load(k.st(dtypes.half, (64, 16)), k.st(dtypes.half, (64, 16))),
               ShapeError, "a shared tile to a shared tile", "from a global view"),
    "store spaces": (lambda k: k.group.store(square(k), k.gl(dtypes.half, (4, 4))), ShapeError,
                     "a global view to a register tile", "to a global view"),
    "shared shape": (lambda k: k.group.load(square(k), k.st(dtypes.half, (16, 16))), ShapeError,
                     "each of 4 warps", "64 x 16"),
    "copied shape": (lambda k: k.warp.copy(square(k), k.rt(dtypes.half, (16, 32))), ShapeError,
                     "(16, 32) to one of (16, 16)", "(16, 32)"),
    "mapped shape": (lambda k: k.warp.map(square(k), lambda x: x, wide(k, "acc")), ShapeError,
                     "16 x 32", "one shape"),
    "lanes": (lambda k: k.warp.map(square(k, "col"), lambda x: x, square(k)), ShapeError,
              "different lanes", "copy"),
    "function": (lambda k: k.warp.map(square(k), cast("Any", nothing)), DTypeError,
                 "no value", "lambda"),
    "reduce op": (lambda k: k.warp.row_reduce(k.rv(dtypes.half, square(k)), square(k), Ops.SUB),
                  DTypeError, "SUB", "ADD"),
    "reduce axis": (lambda k: k.warp.col_reduce(k.rv(dtypes.half, square(k)), square(k)),
                    ShapeError, "for each row", 'each="column"'),
    "reduce vector": (
        lambda k: k.warp.row_reduce(k.rv(dtypes.half, square(k, "col")), square(k)), ShapeError,
        "lies like another", "like=tile"),
    "product shapes": (
        lambda k: k.warp.mma_ABt(square(k), square(k, "row"), wide(k, "col")),
        ShapeError, "mma_ABt", "N x K"),
    "product dtypes": (
        lambda k: k.warp.mma_AB(square(k), square(k, "row"), square(k, "col", dtypes.bfloat16)),
        DTypeError, "float16 and bfloat16", "copy"),
    "range": (lambda k: k.range(-1), ShapeError, "-1", "0 or more"),
    "break": (broken_loop, CompileError, "left by break", "no such jumps"),
    "nothing stored": (lambda k: k.finish(), CompileError, "stores nothing", "store a tile"),
    "not finished": (unfinished, CompileError, "not finished", "finish"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_at_the_users_line(case: str) -> None:
    wrong, kind, what, hint = WRONG[case]
    with pytest.raises(kind) as found:
        wrong(kernel())
    assert what in found.value.what
    assert hint in found.value.hint


def test_errors_name_the_users_line() -> None:
    ker = kernel()
    with pytest.raises(ShapeError) as found:
        ker.rt(dtypes.half, (16, 24))  # this line
    line = next(n for n, text in enumerate(_lines(), 1) if "# this line" in text)
    assert found.value.where == f"{__file__}:{line}"


def _lines() -> Iterator[str]:
    yield from Path(__file__).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("warps", [0, 33, True])
def test_numbers_of_warps(warps: int) -> None:
    with pytest.raises(ShapeError, match="warps in a work group"):
        Kernel("k", (1,), warps, "sm_80")
    with pytest.raises(ShapeError, match="1 to 16"):
        Kernel("k", (1,), 17, "gfx942")


@pytest.mark.parametrize("grid", [(), (0,), (1, 1, 1, 1), (1, 70000)])
def test_grids(grid: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="a grid of"):
        Kernel("k", grid, 1, "sm_80")


def test_unknown_targets() -> None:
    with pytest.raises(UopvizError, match="unknown target"):
        Kernel("k", target="sm_1")


def test_an_error_in_the_block_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), kernel() as ker:
        ker.rt(dtypes.half, (16, 16 // 0))


def test_heads_that_are_no_multiple_of_a_base_tile() -> None:
    with pytest.raises(ShapeError, match="heads of 40"):
        kernels.attention(1, 1, 16, 40, "sm_80")


def test_nodes_know_the_line_that_asked_for_them() -> None:
    """Of a view of a size that no other test has: equal nodes are one, with the first line."""
    with tile.Kernel("k", target="sm_80") as ker:
        y, x = ker.gl(dtypes.half, (176, 208)), ker.gl(dtypes.half, (176, 208))
        part = square(ker)
        ker.warp.load(part, x[7, 9])  # loaded here
        ker.warp.store(y[7, 9], part)
    line = next(n for n, text in enumerate(_lines(), 1) if "# loaded here" in text)
    origins = {u.origin for u in ker.ast.toposort() if u.op is Ops.LOAD}
    assert f"{__file__}:{line} load" in origins


def test_nodes_of_shipped_kernels_know_their_lines() -> None:
    origins = {u.origin or "" for u in kernels.matmul(64, 64, 32 * 37, "sm_80").toposort()}
    assert any("kernels/matmul.py:" in o and o.endswith("mma_AB") for o in origins)


def test_barriers_do_not_depend_on_a_thread() -> None:
    """A loop whose length threads do not share, around a barrier, is refused by the verifier."""
    with tile.Kernel("k", warps=2, target="sm_80") as ker:
        y, x = ker.gl(dtypes.half, (32, 16)), ker.gl(dtypes.half, (32, 16))
        shared, part = ker.st(dtypes.half, (32, 16)), square(ker)
        for _ in ker.range(ker.warp_id + 1):
            ker.group.load(shared, x)
            ker.group.load(part, shared)
        ker.group.store(y, part)
    with pytest.raises(CompileError, match="differs between threads"):
        compile_kernel(ker.ast, targets["sm_80"])
