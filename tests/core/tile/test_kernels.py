"""The shipped kernels against NumPy, on the reference runtime, on emulated GPUs and on the CPU;
what the vendors' tools say of their texts; and that their shared memory has no bank conflicts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from core import tile
from core.compile import compile_kernel, sources_for
from core.dtype import dtypes
from core.target import targets
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop.ops import Ops
from tests.core.tile import cases
from tests.core.tile.cases import Case
from tests.core.tile.running import ON, conflicts, counted, run

GPUS = ("sm_80", "gfx942", "gfx1100")
CASES: dict[str, Callable[[str], Case]] = {
    "copy": cases.copy,
    "copy_half": lambda t: cases.copy(t, out=dtypes.float16),
    "matmul": lambda t: cases.matmul(t, 128, 64, 96),
    "matmul_uneven": lambda t: cases.matmul(t, 100, 70, 90),
    "softmax": cases.softmax,
    "layer_norm": cases.layer_norm,
    "attention": lambda t: cases.attention(t, 75, 64, False),
    "attention_causal": lambda t: cases.attention(t, 75, 64, True),
    "attention_128": lambda t: cases.attention(t, 70, 128, True, warps=2),
    "attention_across": lambda t: cases.attention(t, 40, 64, False, context=75),
    "attention_causal_across": lambda t: cases.attention(t, 75, 64, True, context=40),
    "delta": lambda t: cases.attention_backward(t, 75, 64, True)[0],
    "keys": lambda t: cases.attention_backward(t, 75, 64, False)[1],
    "keys_causal": lambda t: cases.attention_backward(t, 75, 64, True)[1],
    "queries": lambda t: cases.attention_backward(t, 75, 64, False)[2],
    "queries_causal": lambda t: cases.attention_backward(t, 75, 64, True)[2],
    "keys_across": lambda t: cases.attention_backward(t, 40, 64, False, context=75)[1],
    "keys_causal_across": lambda t: cases.attention_backward(t, 20, 64, True, context=75)[1],
    "queries_across": lambda t: cases.attention_backward(t, 75, 64, True, context=40)[2],
    "keys_128": lambda t: cases.attention_backward(
        t, 40, 128, True, warps=2, columns=16 if targets[t].wave == 32 else 32
    )[1],
    "queries_128": lambda t: cases.attention_backward(t, 40, 128, True, warps=2)[2],
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("on", ON)
def test_kernels_compute_what_numpy_does(name: str, target: str, on: str) -> None:
    case = CASES[name](target)
    case.check(run(case.ast, case.arrays, target, on))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_any_number_of_warps(target: str, warps: int) -> None:
    for case in (
        cases.copy(target, warps=warps),
        cases.matmul(target, 130, 40, 50, warps=warps, tile=(16 * warps, 32, 32)),
        cases.softmax(target, warps=warps),
        cases.attention(target, 40, 64, True, warps=warps),
    ):
        case.check(run(case.ast, case.arrays, target))


PRODUCTS = ("attention_causal", "attention_128", "keys", "keys_128", "queries", "queries_128")
"""Between whose products tiles go from a layout to another."""


@pytest.mark.sampled(13)
@pytest.mark.parametrize(
    ("target", "name"),
    [*product(GPUS, ("copy", "matmul", "softmax", "layer_norm", "delta", *PRODUCTS)),
     ("gfx1201", "attention_causal"), ("gfx1201", "keys_128")]
)  # fmt: skip
def test_no_bank_conflicts(target: str, name: str) -> None:
    case = CASES[name](target)
    found = counted(case.ast, case.arrays, target)
    assert conflicts(found) == 0
    used = any(u.op is Ops.DEFINE_LOCAL for u in case.ast.toposort())
    assert used is (name not in ("softmax", "layer_norm", "delta")), "rows are within a warp"


def test_a_tile_that_is_not_swizzled_has_bank_conflicts() -> None:
    """The counter that the test above believes."""
    with tile.Kernel("columns", target="sm_80") as ker:
        y, x = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (32, 32))
        held, part = ker.st(dtypes.float, (32, 32), swizzle=False), ker.rt(dtypes.float, (32, 32))
        ker.warp.load(held, x)
        ker.warp.load(part, held)
        ker.warp.store(y, part)
    zeros = np.zeros((32, 32), np.float32)
    assert conflicts(counted(ker.ast, [zeros, zeros], "sm_80")) > 0


@pytest.mark.sampled(5)
@pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", CASES)
def test_ptxas_takes_every_kernel(name: str, arch: str) -> None:
    program = compile_kernel(CASES[name](arch).ast, targets[arch])
    facts = assemble(program.source.text, arch).facts
    assert int(facts["registers"]) <= 255
    assert facts.get("spill stores", "0") == "0"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", CASES)
def test_llvm_compiles_every_kernel(name: str, target: str) -> None:
    found = {a.kind: a.text for a in sources_for(CASES[name](target).ast, targets[target])}
    wanted = {"gfx942": "v_mfma_f32", "gfx1100": "v_wmma_f32"}[target]
    products = "matmul" in name or "attention" in name or name[:4] in ("keys", "quer")
    assert any(wanted in text for text in found.values()) is products


@pytest.mark.parametrize("name", CASES)
def test_the_same_program_is_the_same_graph(name: str) -> None:
    assert CASES[name]("sm_80").ast is CASES[name]("sm_80").ast


SMALL: dict[str, Callable[[], Case]] = {
    "copy": lambda: cases.copy("x86-64"),
    "matmul": lambda: cases.matmul("x86-64", 40, 20, 40, dtypes.float32, 2, (32, 16, 16)),
    "softmax": lambda: cases.softmax("x86-64", 40, 40, warps=2),
    "layer_norm": lambda: cases.layer_norm("x86-64", 40, 40, warps=2),
    "attention": lambda: cases.attention(
        "x86-64", 20, 16, True, warps=2, columns=16, dtype=dtypes.float32
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_processors_without_lanes_run_them(name: str) -> None:
    case = SMALL[name]()
    case.check(run(case.ast, case.arrays, "x86-64"))


def test_one_barrier_for_each_step_of_a_product() -> None:
    """Parts of K are loaded into the half of the shared tiles that nobody reads."""
    text = compile_kernel(CASES["matmul"]("sm_80").ast, targets["sm_80"]).source.text
    body = text[text.index("LOOP") : text.index("EXIT")]
    assert body.count("bar.sync") == text.count("bar.sync") == 1
