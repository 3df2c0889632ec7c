"""Register tiles from shared ones by LDMATRIX: every layout, shape and width against NumPy, what is
loaded at once, and when single elements are."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.target import targets
from core.tile import Kernel
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tile.cases import matmul
from tests.core.tile.running import ON, conflicts, counted, run

Array = np.ndarray[Any, Any]


def through(
    target: str,
    dtype: DType,
    layout: str,
    shape: tuple[int, int],
    warps: int = 1,
    swizzle: bool = True,
    out: DType | None = None,
) -> UOp:
    """y = x through a shared tile, and registers of a layout."""
    whole = shape[0] * warps, shape[1]
    with Kernel("through", (1,), warps, target) as ker:
        y, x = ker.gl(out or dtype, whole), ker.gl(dtype, whole)
        held = ker.st(dtype, whole, swizzle=swizzle)
        part = ker.rt(out or dtype, shape, layout)
        ker.group.load(held, x)
        ker.group.load(part, held)
        ker.group.store(y, part)
    return ker.ast


def text_of(ast: UOp, target: str) -> str:
    return compile_kernel(ast, targets[target]).source.text


def forms(text: str) -> Counter[str]:
    """How often each form of the instruction is in a text."""
    return Counter(re.findall(r"ldmatrix\.sync\.aligned\.m8n8\.(\S+)\.shared\.b16", text))


def numbers(shape: tuple[int, int]) -> Array:
    return (np.arange(shape[0] * shape[1]) % 251).reshape(shape)


CASES: dict[str, tuple[str, DType, str, tuple[int, int], dict[str, int]]] = {
    "A": ("sm_80", dtypes.half, "row", (16, 32), {"x4": 2}),
    "A of 8 columns": ("sm_75", dtypes.half, "row", (16, 24), {"x2": 3}),
    "A of two tiles": ("sm_75", dtypes.half, "row", (16, 16), {"x4": 1}),
    "tall A": ("sm_80", dtypes.bfloat16, "row", (48, 16), {"x4": 3}),
    "B": ("sm_80", dtypes.half, "col", (32, 64), {"x4.trans": 8}),
    "narrow B": ("sm_80", dtypes.half, "col", (16, 8), {"x2.trans": 1}),
    "odd B": ("sm_80", dtypes.half, "col", (16, 24), {"x2.trans": 3}),
    "odd, deep B": ("sm_80", dtypes.bfloat16, "col", (64, 24), {"x4.trans": 6}),
    "one matrix": ("sm_75", dtypes.half, "col", (8, 8), {"x1.trans": 1}),
    "two matrices": ("sm_75", dtypes.half, "col", (16, 8), {"x2.trans": 1}),
    "product": ("sm_80", dtypes.half, "acc", (16, 8), {"x2": 1}),
    "wide product": ("sm_80", dtypes.half, "acc", (32, 48), {"x4": 6}),
    "integers": ("sm_80", dtypes.int16, "row", (16, 16), {"x4": 1}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("swizzle", [True, False])
@pytest.mark.parametrize("warps", [1, 2, 4])
def test_matrices_against_numpy(name: str, swizzle: bool, warps: int) -> None:
    target, dtype, layout, shape, wanted = CASES[name]
    ast = through(target, dtype, layout, shape, warps, swizzle)
    x = numbers((shape[0] * warps, shape[1]))
    for on in ON:
        y, _ = run(ast, [np.zeros_like(x), x], target, on)
        np.testing.assert_array_equal(y, x)
    text = text_of(ast, target)
    assert forms(text) == wanted
    assert "ld.shared" not in text
    assert not find_tool("ptxas") or assemble(text, target).facts["registers"]


@pytest.mark.parametrize("name", CASES)
def test_matrices_of_swizzled_tiles_have_no_bank_conflicts(name: str) -> None:
    target, dtype, layout, shape, _ = CASES[name]
    wide = shape[0], max(64, shape[1])
    x = numbers(wide)
    assert conflicts(counted(through(target, dtype, layout, wide), [x, x], target)) == 0
    plain = through(target, dtype, layout, wide, swizzle=False)
    assert conflicts(counted(plain, [x, x], target)) > 0


def test_an_odd_number_of_matrices_is_loaded_one_by_one() -> None:
    x = numbers((48, 8))
    ast = through("sm_75", dtypes.half, "col", (24, 8), 2, False)
    for on in ON:
        np.testing.assert_array_equal(run(ast, [0 * x, x], "sm_75", on)[0], x)
    assert forms(text_of(ast, "sm_75")) == {"x1.trans": 3}


def test_elements_are_converted_behind_it() -> None:
    ast = through("sm_80", dtypes.half, "acc", (16, 16), out=dtypes.float32)
    x = numbers((16, 16))
    for on in ON:
        np.testing.assert_array_equal(run(ast, [np.zeros_like(x), x], "sm_80", on)[0], x)
    assert forms(text_of(ast, "sm_80")) == {"x4": 1}


@pytest.mark.parametrize("layout", ["row", "col"])
@pytest.mark.parametrize("stages", [1, 2])
def test_parts_and_stages_of_shared_tiles(layout: str, stages: int) -> None:
    with Kernel("parts", (1,), 2, "sm_80") as ker:
        y, x = ker.gl(dtypes.half, (64, 64)), ker.gl(dtypes.half, (64, 64))
        held, part = ker.st(dtypes.half, (64, 64), stages), ker.rt(dtypes.half, (16, 32), layout)
        tile = held[stages - 1] if stages > 1 else held
        ker.group.load(tile, x)
        for j in ker.range(2):
            for i in range(2):
                ker.warp.load(part, tile.subtile((16, 32), ker.warp_id + 2 * i, j))
                ker.warp.store(y[ker.warp_id + 2 * i, j], part)
    values = numbers((64, 64))
    for on in ON:
        np.testing.assert_array_equal(run(ker.ast, [0 * values, values], "sm_80", on)[0], values)
    text = text_of(ker.ast, "sm_80")
    assert "ld.shared" not in text and forms(text)
    assert conflicts(counted(ker.ast, [values, values], "sm_80")) == 0


@pytest.mark.parametrize("layouts", [("row", "row"), ("row", "col"), ("col", "acc"),
                                     ("acc", "col")])  # fmt: skip
def test_transposes_are_loaded_as_matrices(layouts: tuple[str, str]) -> None:
    with Kernel("turn", (1,), 2, "sm_80") as ker:
        y, x = ker.gl(dtypes.half, (2, 32, 16)), ker.gl(dtypes.half, (2, 16, 32))
        src, dst = (ker.rt(dtypes.half, s, n)
                    for s, n in zip(((16, 32), (32, 16)), layouts, strict=True))  # fmt: skip
        ker.warp.load(src, x[ker.warp_id, 0, 0])
        ker.warp.transpose(dst, src)
        ker.warp.store(y[ker.warp_id, 0, 0], dst)
    values = np.arange(1024).reshape(2, 16, 32)
    wanted = values.transpose(0, 2, 1)
    for on in ON:
        np.testing.assert_array_equal(run(ker.ast, [0 * wanted, values], "sm_80", on)[0], wanted)
    assert "ld.shared" not in text_of(ker.ast, "sm_80")


@pytest.mark.parametrize(("target", "dtype", "columns", "swizzle"), [
    ("sm_80", dtypes.float32, 32, True),
    ("sm_80", dtypes.int8, 32, True),
    ("gfx942", dtypes.half, 32, True),
    ("gfx1100", dtypes.half, 32, True),
])  # fmt: skip
def test_others_load_single_elements(
    target: str, dtype: DType, columns: int, swizzle: bool
) -> None:
    ast = through(target, dtype, "acc", (16, columns), swizzle=swizzle)
    assert not any(u.op is Ops.LDMATRIX for u in ast.toposort())
    x = numbers((16, columns)) % 100
    np.testing.assert_array_equal(run(ast, [0 * x, x], target)[0], x)


def test_rows_that_are_not_aligned_are_loaded_as_single_elements() -> None:
    with Kernel("narrow", (1,), 1, "sm_75") as ker:
        y, x = ker.gl(dtypes.half, (16, 8)), ker.gl(dtypes.half, (16, 8))
        held = ker.st(dtypes.half, (16, 20), swizzle=False).subtile((16, 4), 0, 0)
        part = ker.rt(dtypes.half, (16, 8), "acc")
        ker.warp.load(part, x)
        ker.group.load(held, x)
        ker.warp.store(y, part)
    assert not any(u.op is Ops.LDMATRIX for u in ker.ast.toposort())


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_a_product_loads_its_operands_as_matrices(target: str) -> None:
    case = matmul(target, 128, 64, 96)
    text = text_of(case.ast, target)
    assert "ld.shared" not in text
    assert forms(text) == {"x4": 2, "x4.trans": 8}
    assert conflicts(counted(case.ast, case.arrays, target)) == 0


@pytest.mark.parametrize("name", CASES)
def test_the_same_program_is_the_same_graph(name: str) -> None:
    target, dtype, layout, shape, _ = CASES[name]
    assert through(target, dtype, layout, shape) is through(target, dtype, layout, shape)
