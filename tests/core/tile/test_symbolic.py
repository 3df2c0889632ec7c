"""Sizes that are given at launch: one kernel for all values of its variables, grids among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from core import Tensor, Variable, dtypes, tile
from core.compile import compile_kernel
from core.dtype import PtrDType
from core.errors import RunError, ShapeError
from core.target import Target, targets
from core.tile import kernels
from core.tile.kernels import AttentionShape
from core.tile.sizes import Size
from core.uop.call.kernelcall import Parameter
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tile import cases
from tests.core.tile.cases import Case
from tests.core.tile.running import ON, Array, counted, run

M, N = Variable("m", 0, 150), Variable("n", 1, 90)
SHAPE = AttentionShape(1, 2, M, 16, True, dtypes.float32, N, warps=2)
HALF = AttentionShape(1, 2, M, 64, False, dtypes.float16, N)
TARGETS = ("sm_80", "gfx942", "x86-64")


@dataclass(frozen=True)
class Symbolic:
    """A kernel of sizes and a target, and the case of the same kernel for numbers."""

    build: Callable[[str], UOp]
    case: Callable[[str, int, int], Case]


KERNELS: dict[str, Symbolic] = {
    "copy": Symbolic(lambda t: kernels.copy(M, N, t), cases.copy),
    "matmul": Symbolic(
        lambda t: kernels.matmul(M, 40, N, t, dtypes.float32, warps=2, tile=(32, 32, 16)),
        lambda t, m, n: cases.matmul(t, m, 40, n, dtypes.float32, 2, (32, 32, 16)),
    ),
    "softmax": Symbolic(lambda t: kernels.softmax(M, N, t, warps=2, width=32), cases.softmax),
    "layer_norm": Symbolic(
        lambda t: kernels.layer_norm(M, N, t, warps=2, width=32), cases.layer_norm
    ),
    "attention": Symbolic(lambda t: kernels.attention(HALF, t), lambda t, m, n: attention(t, m, n)),
    "attention_causal": Symbolic(
        lambda t: kernels.attention(SHAPE, t), lambda t, m, n: exact(t, m, n)[0]
    ),
    "queries": Symbolic(
        lambda t: kernels.attention_queries(SHAPE, t), lambda t, m, n: exact(t, m, n)[2]
    ),
    "keys": Symbolic(lambda t: kernels.attention_keys(SHAPE, t), lambda t, m, n: exact(t, m, n)[1]),
}
RUNS = [(name, target, on) for name in KERNELS for target in TARGETS[:2] for on in ON]
RUNS += [(name, "x86-64", "device") for name in ("copy", "softmax", "keys")]


def attention(target: str, m: int, n: int) -> Case:
    return cases.attention(target, m, 64, False, context=n)


def exact(target: str, m: int, n: int) -> tuple[Case, Case, Case]:
    """Of float32."""
    same = {"dtype": dtypes.float32, "context": n, "warps": 2}
    _, keys, queries = cases.attention_backward(target, m, 16, True, **same)
    return cases.attention(target, m, 16, True, **same), keys, queries


def padded(values: Array, size: int) -> Array:
    """Values in memory of the largest size; what is behind them must not be changed."""
    return np.concatenate([values.ravel(), np.full(size - values.size, 7.0, values.dtype)])


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("name", "target", "on"), RUNS)
def test_one_kernel_for_all_sizes(name: str, target: str, on: str) -> None:
    ast = KERNELS[name].build(target)
    for m, n in ((33, 20), (150, 1)) if on == "device" else ((1, 90),):
        case = KERNELS[name].case(target, m, n)
        arrays = [padded(a, s) for a, s in zip(case.arrays, sizes_of(ast), strict=True)]
        found = run(ast, arrays, target, on, {"m": m, "n": n})
        case.check([f[: a.size].reshape(a.shape) for f, a in zip(found, case.arrays, strict=True)])
        for f, a in zip(found, case.arrays, strict=True):
            assert (f[a.size :] == 7).all(), "nothing is written behind a matrix"


def sizes_of(ast: UOp) -> list[int]:
    """How many elements the arguments have, by number."""
    found = {u.arg: u.dtype for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    return [d.size for _, d in sorted(found.items()) if isinstance(d, PtrDType)]


def three_axes(target: str) -> UOp:
    """Ones in a tile for each work group of a grid of m x 2 x n; the view has more."""
    m, n = Variable("m", 0, 12), Variable("n", 1, 5)
    with tile.Kernel("three_axes", (m, 2, n), 1, target) as ker:
        y = ker.gl(dtypes.float, (5, 2, 16, 12 * 16))
        part, shared = ker.rt(dtypes.float, (16, 16), "acc"), ker.st(dtypes.float, (16, 16))
        for _ in ker.range(3):
            ker.warp.ones(part)
        ker.warp.store(shared, part)
        ker.warp.store(y[ker.gz, ker.gy, 0, ker.gx], shared)
    return ker.ast


@pytest.mark.parametrize(
    ("target", "on"), [*((t, on) for t in TARGETS[:2] for on in ON), ("x86-64", "device")]
)
def test_the_grid_has_the_work_groups_that_variables_say(target: str, on: str) -> None:
    ast = three_axes(target)
    values = np.zeros((5, 2, 16, 12 * 16), np.float32)
    want = values.copy()
    want[:2, :, :, : 3 * 16] = 1
    (found,) = run(ast, [values], target, on, {"m": 3, "n": 2})
    np.testing.assert_array_equal(found, want)
    (found,) = run(ast, [values], target, on, {"m": 0, "n": 1})
    assert not found.any()


@pytest.mark.parametrize("target", TARGETS[:2])
def test_sizes_of_a_launch(target: str) -> None:
    """No more work groups are started, and nothing in the text says how many there are."""
    program = compile_kernel(three_axes(target), targets[target])
    assert program.global_size == (12, 2, 5)
    for m, n in ((0, 1), (3, 2), (12, 5)):
        assert program.groups({"m": m, "n": n}) == (m, 2, n)
    with pytest.raises(RunError, match="m is 13 at a launch"):
        program.groups({"m": 13, "n": 1})
    blocks = compile_kernel(kernels.copy(M, N, target), targets[target])
    assert blocks.groups({"m": 65, "n": 64}) == (1, 3, 1)
    text = blocks.source.text
    assert not any(wrong in text for wrong in ("add.s32 %idx0, %var", "add i32 %arg.n, 63"))


@pytest.mark.parametrize(("m", "n"), [(3, 2), (12, 1)])
def test_as_many_threads_run_as_the_grid_has(m: int, n: int) -> None:
    values, given = np.zeros(5 * 2 * 16 * 12 * 16, np.float32), {"m": m, "n": n}
    counters = counted(three_axes("sm_80"), [values], "sm_80", given)
    assert max(line.warps for line in counters.lines.values()) == 3 * m * 2 * n
    assert counters.kinds["ret"] == m * 2 * n * 32


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU", "CPU"])
def test_called_on_tensors_with_a_bound_variable(device: str) -> None:
    rows = Variable("rows", 1, 50)

    def build(target: Target, y: Parameter, x: Parameter, n: UOp) -> UOp:
        return kernels.softmax(n, 40, target, warps=1, width=32)

    x = Tensor(cases.numbers(50, 40), device=device)
    for value in (50, 7):
        y = Tensor.call_kernel(build, x, outputs=(x.shape, x.dtype), variables=[rows.bind(value)])
        want = x.softmax(1).numpy()[:value]
        np.testing.assert_allclose(y.numpy()[:value], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("size", "said"),
    [(N.bind(5), "BIND|n"), (Variable("v", -1, 4), "v"), (Variable("big", 1, 1 << 40), "big"),
     (UOp.const(dtypes.index, 4), "4"), (N.cast(dtypes.float), "n"), (UOp.range(4, 0), "L0")],
)  # fmt: skip
def test_sizes_of_grids_that_are_none(size: Size, said: str) -> None:
    for grid in ((size,), (1, size), (2, 2, size)):
        with pytest.raises(ShapeError, match=f"a grid of .*({said})") as found:
            tile.Kernel("k", grid, 1, "sm_80")
        assert "UOp.variable" in found.value.hint and "given at launch" in found.value.hint
        assert found.value.where.startswith(__file__)


def test_sizes_of_views_are_made_of_variables() -> None:
    ker = tile.Kernel("k", target="sm_80")
    assert ker.gl(dtypes.float, (M, N * 4 + 1)).shape[2:] == (M, N * 4 + 1)
    for size in (N.bind(5), ker.lane, N - 2):
        with pytest.raises(ShapeError, match="a global view of shape") as found:
            ker.gl(dtypes.float, (4, size))
        assert "UOp.variable" in found.value.hint


def test_loops_run_as_often_as_a_variable_says() -> None:
    with tile.Kernel("k", (N,), 1, "sm_80") as ker:
        y = ker.gl(dtypes.float, (16, 16 * N))
        part = ker.rt(dtypes.float, (16, 16), "acc")
        ker.warp.zero(part)
        for _ in ker.range(M + 1):
            ker.warp.map(part, lambda x: x + 1.0)
        ker.warp.store(y[0, ker.gx], part)
    values = np.zeros(90 * 256, np.float32)
    for on in ON:
        (found,) = run(ker.ast, [values], "sm_80", on, {"m": 4, "n": 2})
        assert (found[:512] == 5).all() and not found[512:].any()
