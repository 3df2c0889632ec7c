"""What a tile kernel refuses: one error, at the user's line, that says what is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from core import tile
from core.dtype import DType, dtypes
from core.errors import CompileError, DTypeError, ShapeError, UopvizError
from core.tile import RT, RV, ST, SV, Kernel, kernels
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tile.refused import check_refused
from tests.core.tile.running import ON, run


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
    "dtype": (lambda k: k.rt(dtypes.void, (16, 16)), DTypeError, "void", "one of"),
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
    "view index": (lambda k: k.gl(dtypes.half, (64, 64))[-1, 0], ShapeError,
                   "tile number -1", "from 0"),
    "view index of no number": (lambda k: k.gl(dtypes.half, (4, 4))[cast("Any", 0.5)], ShapeError,
                                "tile number 0.5", "an int"),
    "tile row": (lambda k: k.warp.load(square(k), k.gl(dtypes.half, (64, 64))[4, 0]), ShapeError,
                 "tile row 4 of a global view with 4", "16 x 16"),
    "tile column": (lambda k: k.warp.store(k.gl(dtypes.half, (64, 40))[0, 3], square(k)),
                    ShapeError, "tile column 3 of a global view with 3", "16 x 16"),
    "tile row of a group": (
        lambda k: k.group.load(square(k), k.gl(dtypes.half, (65, 64))[2, 0]), ShapeError,
        "tile row 2 of a global view with 2", "64 x 16"),
    "matrix": (lambda k: k.warp.load(square(k), k.gl(dtypes.half, (2, 3, 64, 64))[2, 0, 0, 0]),
               ShapeError, "tile matrix 2 of a global view with 2", "from 0"),
    "element of a vector": (
        lambda k: k.warp.load(k.rv(dtypes.half, square(k)), k.gl(dtypes.half, (64,))[4]),
        ShapeError, "tile column 4 of a global view with 4", "1 x 16"),
    "view of nothing": (lambda k: k.gl(dtypes.void, (4, 4)), DTypeError, "void", "one of"),
    "vector length": (lambda k: k.sv(dtypes.half, -4), ShapeError, "(1, -4)", "positive"),
    "shape of one number": (lambda k: k.st(dtypes.half, cast("Any", (16,))), ShapeError,
                            "(16,)", "positive"),
    "shape of no whole number": (lambda k: k.rt(dtypes.half, cast("Any", (16.0, 16))), ShapeError,
                                 "(16.0, 16)", "positive"),
    "uneven part of a swizzled tile": (
        lambda k: k.st(dtypes.half, (72, 64)).subtile((24, 20)), ShapeError,
        "24 x 20 in one of 72 x 64", "multiples"),
    "swizzled subtile": (
        lambda k: k.st(dtypes.half, (72, 64)).subtile((36, 64)), ShapeError,
        "36 x 64 in a swizzled one", "swizzle=False"),
    "swizzled rows": (
        lambda k: k.warp.load(k.rt(dtypes.half, (48 + 32, 16)), k.st(dtypes.half, (80, 24))),
        ShapeError, "each of 1 warps", "80 x 16"),
    "groups of no number": (lambda k: k.group(cast("Any", 2.0)), ShapeError, "2.0", "divides"),
    "transposed shape": (
        lambda k: k.warp.transpose(wide(k, "row"), wide(k, "row")), ShapeError,
        "(16, 32) to one of (16, 32)", "(32, 16)"),
    "shared vector": (
        lambda k: k.group.store(k.sv(dtypes.half, 16), k.rv(dtypes.half, square(k))), ShapeError,
        "64 in the group, and a shared one of 16", "equally long"),
    "vector of another": (
        lambda k: k.warp.map(square(k), lambda x: x, k.rv(dtypes.half, wide(k, "acc"), "column")),
        ShapeError, "a vector of 32 for each column", "an element for each"),
    "tile into a vector": (
        lambda k: k.warp.map(k.rv(dtypes.half, square(k)), lambda x: x, square(k)), ShapeError,
        "a tile where a vector", "reduce it"),
    "loop of no number": (lambda k: k.range(cast("Any", 2.5)), ShapeError, "2.5", "0 or more"),
    "loop of a float": (lambda k: k.range(UOp.const(dtypes.float, 2.0)), ShapeError, "2.0", "int"),
    "nothing stored": (lambda k: k.finish(), CompileError, "stores nothing", "store a tile"),
    "not finished": (unfinished, CompileError, "not finished", "finish"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_at_the_users_line(case: str) -> None:
    check_refused(*WRONG[case], kernel(), __file__)


def test_errors_name_the_users_line() -> None:
    ker = kernel()
    with pytest.raises(ShapeError) as found:
        ker.rt(dtypes.half, (16, 24))  # this line
    line = next(n for n, text in enumerate(_lines(), 1) if "# this line" in text)
    assert found.value.where == f"{__file__}:{line}"


def _lines() -> Iterator[str]:
    yield from Path(__file__).read_text(encoding="utf-8").splitlines()


MEMORIES: dict[str, Callable[[Kernel], Any]] = {
    "a global view": lambda k: k.gl(dtypes.half, (64, 16)),
    "a window of a global view": lambda k: k.gl(dtypes.half, (64, 16))[0, 0],
    "a shared tile": lambda k: k.st(dtypes.half, (64, 16)),
    "a shared vector": lambda k: k.sv(dtypes.half, 64),
    "a register tile": square,
    "a register vector": lambda k: k.rv(dtypes.half, square(k)),
    "int": lambda _: 3,
}
WINDOW = "a window of a global view"
LOADED = {
    ("a shared tile", WINDOW), ("a register tile", WINDOW), ("a register vector", WINDOW),
    ("a register tile", "a shared tile"), ("a register vector", "a shared vector"),
}  # fmt: skip


def written(ker: Kernel, memory: object) -> None:
    """Writes to what holds nothing yet."""
    if isinstance(memory, RT | RV):
        ker.group.zero(memory)
    elif isinstance(memory, ST):
        ker.group.load(memory, ker.gl(dtypes.half, (64, 16)))
    elif isinstance(memory, SV):
        vector = ker.rv(dtypes.half, square(ker))
        ker.group.zero(vector)
        ker.group.store(memory, vector)


@pytest.mark.parametrize("src", MEMORIES)
@pytest.mark.parametrize("dst", MEMORIES)
def test_every_pair_of_memories(dst: str, src: str) -> None:
    """It is loaded or stored, or both are named, with what there is."""
    ker = kernel()
    for what, pair in (("load", (dst, src)), ("store", (src, dst))):
        known = tuple(WINDOW if name == "a global view" else name for name in pair) in LOADED
        made = MEMORIES[dst](ker), MEMORIES[src](ker)
        if known:
            written(ker, made[1])
            getattr(ker.group, what)(*made)
            continue
        with pytest.raises(ShapeError) as found:
            getattr(ker.group, what)(*made)
        shown = [WINDOW if name == "a global view" else name for name in (dst, src)]
        names = [shown[0] if what == "store" else dst, shown[1] if what == "load" else src]
        assert found.value.what == f"{what} of {names[1]} to {names[0]}"
        assert "what there is" in found.value.hint
        assert found.value.where.startswith(f"{__file__}:")


OPERATIONS: dict[str, Callable[[Kernel, Any], object]] = {
    "fill": lambda k, x: k.group.fill(x, 1),
    "zero": lambda k, x: k.group.zero(x),
    "ones": lambda k, x: k.group.ones(x),
    "neg_inf": lambda k, x: k.group.neg_inf(x),
    "copy": lambda k, x: k.group.copy(square(k), x),
    "transpose": lambda k, x: k.group.transpose(x, square(k)),
    "map": lambda k, x: k.group.map(square(k), lambda v, w: v, square(k), x),
    "map_indexed": lambda k, x: k.group.map_indexed(x, lambda v, r, c: v),
    "row_reduce": lambda k, x: k.group.row_reduce(k.rv(dtypes.half, square(k)), x),
    "col_reduce": lambda k, x: k.group.col_reduce(x, square(k)),
    **{
        name: lambda k, x, name=name: getattr(k.group, name)(square(k), x, square(k, "col"))
        for name in ("mma_AB", "mma_ABt", "mma_AtB", "mma_AtBt")
    },
}


@pytest.mark.parametrize("memory", [m for m in MEMORIES if "register" not in m and m != "int"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_of_registers(name: str, memory: str) -> None:
    ker = kernel()
    given = MEMORIES[memory](ker)
    with pytest.raises(ShapeError) as found:
        OPERATIONS[name](ker, given)
    assert found.value.what == f"{name} of {memory}"
    assert "a register" in found.value.hint and "load what is" in found.value.hint
    assert found.value.where.startswith(f"{__file__}:")


def test_a_kernel_that_is_finished() -> None:
    """What would not be part of it is refused."""
    with tile.Kernel("k", target="sm_80") as ker:
        y, part = ker.gl(dtypes.half, (32, 16)), square(ker)
        ker.warp.ones(part)
        ker.warp.store(y[0, 0], part)
    for late in (lambda: ker.warp.store(y[1, 0], part), lambda: ker.warp.zero(part)):
        with pytest.raises(CompileError, match="of a finished kernel") as found:
            late()
        assert "with block" in found.value.hint
        assert found.value.where.startswith(f"{__file__}:")
    assert ker.finish() is ker.ast


def test_groups_of_four_warps_in_a_kernel_with_two() -> None:
    ker = kernel(warps=2)
    with pytest.raises(ShapeError, match="a group of 4 warps in a kernel with 2") as found:
        _ = ker.warpgroup
    assert found.value.where.startswith(f"{__file__}:")


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "x86-64"])
def test_tiles_before_and_behind_a_view(target: str) -> None:
    """Numbers that the kernel computes may be outside: loads give the fill, stores do nothing."""
    with tile.Kernel("k", (6,), 1, target) as ker:
        y, x = ker.gl(dtypes.float, (2, 64, 16)), ker.gl(dtypes.float, (2, 64, 16))
        part = ker.rt(dtypes.float, (16, 16), "acc")
        for b in ker.range(4):
            ker.warp.load(part, x[b - 1, ker.gx - 1, 0], fill=7.0)
            ker.warp.map(part, lambda v: v + 1.0)
            ker.warp.store(y[1 - (b - 1), ker.gx - 1, 0], part)
    values = np.arange(2048, dtype=np.float32).reshape(2, 64, 16)
    for on in ON:
        found, _ = run(ker.ast, [np.zeros_like(values), values], target, on)
        np.testing.assert_array_equal(found, values[::-1] + 1)


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
        kernels.AttentionShape(1, 1, 16, 40)


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
