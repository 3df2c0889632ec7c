"""Asynchronous loads of tiles: against NumPy at every size of a copy and at every edge, with any
number of groups on the way; what the text of each target is; and what goes wrong without a wait."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from core import tile
from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import CompileError, DTypeError, FaultError, ShapeError, UopvizError
from core.target import targets
from core.tile import Kernel, kernels
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop.ops import Ops
from core.uop.spec.flight import ASYNCHRONOUS
from core.uop.spec.spec import index_spec, verify
from core.uop.uop import UOp
from tests.core.tile.cases import matmul
from tests.core.tile.running import ON, conflicts, counted, run

TARGETS = ("sm_80", "sm_75", "gfx942")
Array = np.ndarray[Any, Any]


def through(
    target: str,
    dtype: DType,
    shape: tuple[int, int],
    tile_shape: tuple[int, int] = (32, 32),
    warps: int = 2,
    swizzle: bool = True,
) -> UOp:
    """y = x, tile by tile through shared memory that is loaded asynchronously; y is larger than x,
    and 0 there."""
    rows, columns = tile_shape
    grid = -(-shape[1] // columns), -(-shape[0] // rows)
    with Kernel("through", grid, warps, target) as ker:
        y = ker.gl(dtype, (grid[1] * rows, grid[0] * columns))
        x, held = ker.gl(dtype, shape), ker.st(dtype, tile_shape, swizzle=swizzle)
        ker.group.load(held, x[ker.gy, ker.gx], asynchronous=True)
        ker.wait()
        ker.group.store(y[ker.gy, ker.gx], held)
    return ker.ast


def numbers(dtype: DType, shape: tuple[int, ...]) -> Array:
    x = np.arange(np.prod(shape)).reshape(shape) % 50 + 1
    if dtype.itemsize == 1 and dtypes.is_float(dtype):
        return x % 8
    return x % 3 > 0 if dtype is dtypes.bool else x


def padded(x: Array, shape: tuple[int, int]) -> Array:
    found = np.zeros(shape, x.dtype)
    found[: x.shape[0], : x.shape[1]] = x
    return found


def text_of(ast: UOp, target: str) -> str:
    return compile_kernel(ast, targets[target]).source.text


CASES: dict[str, tuple[DType, tuple[int, int], tuple[int, int], int]] = {
    "whole": (dtypes.half, (64, 64), (32, 32), 16),
    "rows": (dtypes.half, (50, 64), (32, 32), 16),
    "columns": (dtypes.half, (64, 40), (32, 32), 16),
    "8 bytes": (dtypes.half, (40, 44), (32, 32), 8),
    "4 bytes": (dtypes.half, (40, 46), (32, 32), 4),
    "bfloat16": (dtypes.bfloat16, (40, 44), (32, 32), 8),
    "float": (dtypes.float32, (40, 40), (16, 32), 16),
    "float, odd": (dtypes.float32, (33, 35), (16, 32), 4),
    "double": (dtypes.float64, (20, 36), (16, 32), 16),
    "double, odd": (dtypes.float64, (20, 35), (16, 32), 8),
    "bytes": (dtypes.int8, (40, 44), (32, 32), 4),
    "bools": (dtypes.bool, (40, 48), (32, 32), 16),
    "8-bit floats": (dtypes.fp8e4m3, (40, 40), (32, 32), 8),
    "words": (dtypes.uint32, (5, 6), (16, 16), 8),
    "one row": (dtypes.half, (1, 8), (16, 16), 16),
    "odd turns": (dtypes.half, (24, 24), (24, 24), 16),
    "narrow tile": (dtypes.half, (32, 64), (32, 4), 8),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("on", ON)
def test_what_arrives_is_what_was_there(name: str, target: str, on: str) -> None:
    dtype, shape, tile_shape, nbytes = CASES[name]
    ast = through(target, dtype, shape, tile_shape)
    x = numbers(dtype, shape)
    size = tuple(-(-n // t) * t for n, t in zip(shape, tile_shape, strict=True))
    y, _ = run(ast, [np.ones(size, x.dtype), x], target, on)
    np.testing.assert_array_equal(y, padded(x, (size[0], size[1])))
    if on == "device" and target == "sm_80":
        text = text_of(ast, target)
        cache = "cg" if nbytes == 16 else "ca"
        found = set(re.findall(r"cp\.async\.(\w+)\.shared\.global [^,]+, [^,]+, (\d+)", text))
        assert found == {(cache, str(nbytes))}
        assert "ld.global" not in text


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("swizzle", [True, False])
def test_any_number_of_warps(warps: int, swizzle: bool) -> None:
    for target in TARGETS:
        x = numbers(dtypes.half, (48, 40))
        ast = through(target, dtypes.half, (48, 40), (32, 32), warps, swizzle)
        y, _ = run(ast, [np.ones((64, 64)), x], target)
        np.testing.assert_array_equal(y, padded(x, (64, 64)))


def pipeline(target: str, steps: int, behind: int, stages: int = 4, waits: bool = True) -> UOp:
    """y = the sum of `steps` tiles of x, with `behind` + 1 groups on their way at a time."""
    with Kernel("pipeline", (1,), 2, target) as ker:
        y, x = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (32 * steps, 32))
        held = ker.st(dtypes.float, (32, 32), stages=stages)
        part, total = (ker.rt(dtypes.float, (16, 32), "acc") for _ in range(2))
        ker.group.zero(total)
        for i in range(behind + 1):
            row = UOp.const(dtypes.int32, i)  # a node: it may be behind the end of x
            ker.group.load(held[i], x[row, 0], asynchronous=True)
            ker.commit()
        for i in ker.range(steps):
            if waits:
                ker.wait(behind)
            ker.group.load(part, held[i % stages])  # read here
            ker.group.map(total, lambda a, b: a + b, total, part)
            ker.group.load(held[(i + behind + 1) % stages], x[i + behind + 1, 0], asynchronous=True)
        ker.group.store(y, total)
    return ker.ast


@pytest.mark.parametrize("behind", range(4))
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_groups_that_are_on_their_way(behind: int, steps: int) -> None:
    x = numbers(dtypes.float32, (32 * steps, 32))
    wanted = x.reshape(steps, 32, 32).sum(0)
    for target in TARGETS:
        ast = pipeline(target, steps, behind, max(2, behind + 2))
        for on in ON:
            y, _ = run(ast, [np.zeros((32, 32)), x], target, on)
            np.testing.assert_array_equal(y, wanted)
        if target == "sm_80":
            text = text_of(ast, target)
            assert f"cp.async.wait_group {behind};" in text
            assert re.findall(r"cp\.async\.wait_group \d+;", text)[-1].endswith(" 0;")


def test_a_group_that_is_not_waited_for_is_a_fault() -> None:
    """Waiting for one group too few: what is read is on its way."""
    with Kernel("early", (1,), 2, "sm_80") as ker:
        y, x = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (32, 32))
        held, part = ker.st(dtypes.float, (32, 32)), ker.rt(dtypes.float, (16, 32), "acc")
        ker.group.load(held, x, asynchronous=True)
        ker.wait(1)
        ker.group.load(part, held)
        ker.group.store(y, part)
    zeros = np.zeros((32, 32))
    with pytest.raises(FaultError) as found:
        run(ker.ast, [zeros, zeros], "sm_80")
    assert found.value.kind == "in flight"


@pytest.mark.parametrize("steps", [1, 4])
def test_a_program_that_forgets_the_wait_is_a_fault_with_line_thread_and_node(steps: int) -> None:
    ast = pipeline("sm_80", steps, 0, 2, waits=False)
    zeros = np.zeros((32 * steps, 32))
    with pytest.raises(FaultError) as found:
        run(ast, [np.zeros((32, 32)), zeros], "sm_80")
    error = found.value
    assert error.kind == "in flight"
    assert "asynchronous copy of thread" in error.what
    line = text_of(ast, "sm_80").splitlines()[error.line - 1].strip()
    assert line.startswith("ld.shared") and f"line {error.line}: {line}" in error.where
    assert "block (0, 0, 0), thread (0, 0, 0)" in error.where
    read = next(n for n, text in enumerate(_lines(), 1) if "# read here" in text)
    assert f"node LOAD of float32.vec(2) from {__file__}:{read} load" in error.where.replace(
        "uint32", "float32"
    )


def _lines() -> list[str]:
    return Path(__file__).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("target", TARGETS)
def test_a_wait_in_a_loop_is_followed_by_a_barrier_behind_it(target: str) -> None:
    """Nothing but the wait touches shared memory there, and a barrier came before the loop."""
    with Kernel("behind", (1,), 2, target) as ker:
        y, x = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (32, 32))
        held, other = ker.st(dtypes.float, (32, 32)), ker.st(dtypes.float, (32, 32))
        part, total = (ker.rt(dtypes.float, (32, 32), "acc") for _ in range(2))
        ker.group.load(other, x)
        ker.group.load(held, x, asynchronous=True)
        ker.warp.load(part, other)
        ker.warp.zero(total)
        for _ in ker.range(3):
            ker.wait()
            ker.warp.map(total, lambda a, b: a + b, total, part)
        ker.warp.load(part, held)
        ker.warp.map(total, lambda a, b: a + b, total, part)
        ker.group(1).store(y, total)
    values = numbers(dtypes.float32, (32, 32))
    for on in ON:
        found = run(ker.ast, [np.zeros((32, 32)), values], target, on)[0]
        np.testing.assert_array_equal(found, 4 * values)


def test_where_there_are_no_such_copies_there_are_loads_and_stores() -> None:
    for target, load in (("sm_75", "ld.global"), ("gfx942", "addrspace(1)")):
        text = text_of(pipeline(target, 4, 1), target)
        assert "cp.async" not in text and load in text


def test_a_kernel_waits_for_its_copies_before_it_ends() -> None:
    with Kernel("unread", (1,), 1, "sm_80") as ker:
        y, x = ker.gl(dtypes.float, (16, 16)), ker.gl(dtypes.float, (16, 16))
        part = ker.rt(dtypes.float, (16, 16), "acc")
        ker.group.load(ker.st(dtypes.float, (16, 16)), x, asynchronous=True)
        ker.warp.ones(part)
        ker.warp.store(y, part)
    text = text_of(ker.ast, "sm_80")
    assert text.index("cp.async.commit_group") < text.index("cp.async.wait_group 0")


def test_one_thread_loads_at_once() -> None:
    """A processor without lanes has nobody to wait for."""
    x = numbers(dtypes.float32, (40, 24))
    ast = through("x86-64", dtypes.float32, (40, 24), (16, 16))
    assert not any(u.op in (Ops.COMMIT, Ops.WAIT) or u.arg == ASYNCHRONOUS for u in ast.toposort())
    y, _ = run(ast, [np.ones((48, 32)), x], "x86-64")
    np.testing.assert_array_equal(y, padded(x, (48, 32)))


@pytest.mark.parametrize("make", [
    lambda: pipeline("sm_80", 5, 2),
    lambda: through("sm_80", dtypes.half, (50, 44)),
    lambda: kernels.matmul(100, 64, 96, "sm_80"),
])  # fmt: skip
def test_the_same_program_is_the_same_graph(make: Callable[[], UOp]) -> None:
    assert make() is make()
    verify(make(), index_spec, "kernel")


@pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_ptxas_takes_every_form(arch: str) -> None:
    made = [through(arch, dtype, shape, of) for dtype, shape, of, _ in CASES.values()]
    made += [pipeline(arch, 5, behind) for behind in range(4)]
    for ast in made:
        assert assemble(text_of(ast, arch), arch).facts["registers"]


# the product


def body_of(text: str) -> str:
    """The loop over K."""
    return text[text.index("LOOP") : text.index("EXIT")]


@pytest.mark.parametrize("n", [64, 70, 71])
def test_a_product_loads_the_next_part_during_a_product(n: int) -> None:
    """Where rows are 4 bytes or more apart; else at once, as before."""
    case = matmul("sm_80", 100, n, 96)
    case.check(run(case.ast, case.arrays, "sm_80"))
    body = body_of(text_of(case.ast, "sm_80"))
    assert body.count("bar.sync") == 1
    if n % 2:
        assert "cp.async" not in body
        return
    assert "ld.global" not in body and "st.shared" not in body
    order = ["cp.async.wait_group 0", "bar.sync 0", "cp.async.c", "mma.sync"]
    assert [body.index(part) for part in order] == sorted(body.index(part) for part in order)
    last_copy = body.rindex("cp.async.c", 0, body.index("cp.async.commit_group"))
    assert last_copy < body.index("mma.sync")


def test_a_product_has_no_bank_conflicts() -> None:
    case = matmul("sm_80", 128, 64, 96)
    counters = counted(case.ast, case.arrays, "sm_80")
    assert conflicts(counters) == 0
    copied = sum(n for kind, n in counters.kinds.items() if kind.startswith("cp.async.cg"))
    assert copied == 2 * 128 * 4 * 4  # 2 work groups, 128 threads, 4 copies each for 1 + 3 parts


@pytest.mark.parametrize("target", ["sm_75", "gfx942", "gfx1100"])
def test_a_product_is_as_before_where_nothing_is_copied(target: str) -> None:
    found = kernels.matmul(128, 64, 96, target).toposort()
    assert not any(u.op in (Ops.COMMIT, Ops.WAIT) for u in found)


# what goes wrong


def half(ker: Kernel, columns: int = 64) -> tile.GL:
    return ker.gl(dtypes.half, (64, columns))


def shared(ker: Kernel, dtype: DType = dtypes.half, columns: int = 16) -> tile.ST:
    return ker.st(dtype, (64, columns))


def store_to_source(ker: Kernel) -> None:
    x = half(ker)
    held = shared(ker)
    ker.group.load(held, x, asynchronous=True)
    ker.group.store(x, held)


WRONG: dict[str, tuple[Callable[[Kernel], object], type[UopvizError], str, str]] = {
    "registers": (
        lambda k: k.group.load(k.rt(dtypes.half, (16, 16)), half(k), asynchronous=True),
        ShapeError, "an asynchronous load of a window of a global view to a register tile",
        "a shared tile from a global view"),
    "vector": (
        lambda k: k.group.load(k.sv(dtypes.half, 16), half(k), asynchronous=True),
        ShapeError, "to a shared vector", "a shared tile from a global view"),
    "from shared": (
        lambda k: k.group.load(k.rt(dtypes.half, (16, 16)), shared(k), asynchronous=True),
        ShapeError, "of a shared tile to a register tile", "a shared tile from a global view"),
    "dtype": (
        lambda k: k.group.load(shared(k, dtypes.float32), half(k), asynchronous=True),
        DTypeError, "float16 to a tile of float32", "make the tile float16"),
    "fill": (
        lambda k: k.group.load(shared(k), half(k), 1, asynchronous=True),
        ShapeError, "fill=1", "becomes 0"),
    "negative zero": (
        lambda k: k.group.load(shared(k), half(k), -0.0, asynchronous=True),
        ShapeError, "fill=-0.0", "becomes 0"),
    "odd rows": (
        lambda k: k.group.load(shared(k), half(k, 63), asynchronous=True),
        ShapeError, "pieces of 2 bytes: rows of 63 elements of 2 bytes", "multiples of 2"),
    "odd tile": (
        lambda k: k.group.load(shared(k, dtypes.int8, 6), k.gl(dtypes.int8, (64, 64)),
                               asynchronous=True),
        ShapeError, "to a tile with 6 columns", "multiples of 4"),
    "variable rows": (
        lambda k: k.group.load(shared(k), k.gl(dtypes.half, (64, UOp.variable("n", 1, 64))),
                               asynchronous=True),
        ShapeError, "rows of a variable number of elements of 2 bytes", "4, 8, 16 bytes"),
    "wait": (lambda k: k.wait(-1), ShapeError, "all but -1 groups", "may still be on their way"),
    "wait for": (lambda k: k.wait(cast("Any", 1.0)), ShapeError, "all but 1.0 groups", "groups"),
    "source": (store_to_source, CompileError, "may still read", "ker.wait()"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("target", ["sm_80", "sm_75", "gfx942"])
def test_what_is_wrong_is_said_at_the_users_line(case: str, target: str) -> None:
    wrong, kind, what, hint = WRONG[case]
    with pytest.raises(kind) as found:
        wrong(Kernel("k", (4,), 4, target))
    assert what in found.value.what
    assert hint in found.value.hint
    assert f"{__file__}:" in found.value.where


def test_rows_of_variable_length_are_copied_element_by_element() -> None:
    n = UOp.variable("n", 1, 64)
    with Kernel("through", (2, 2), 2, "sm_80") as ker:
        y, x = ker.gl(dtypes.float, (64, 64)), ker.gl(dtypes.float, (64, n))
        held = ker.st(dtypes.float, (32, 32))
        ker.group.load(held, x[ker.gy, ker.gx], asynchronous=True)
        ker.wait()
        ker.group.store(y[ker.gy, ker.gx], held)
    for width in (64, 37):
        values = numbers(dtypes.float32, (64, 64))
        for on in ON:
            y_, _ = run(ker.ast, [np.ones((64, 64)), values], "sm_80", on, {"n": width})
            wanted = padded(values.reshape(-1)[: 64 * width].reshape(64, width), (64, 64))
            np.testing.assert_array_equal(y_, wanted)
    assert "cp.async.ca.shared.global" in text_of(ker.ast, "sm_80")
