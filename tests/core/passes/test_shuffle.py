"""SHUFFLE: the value of another lane, from its specification to the text of every language."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import DType, dtypes
from core.errors import CompileError, FormatError, RenderError, RunError
from core.passes.lanes import sink_lanes
from core.render import c
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop.data.serial import from_data, to_data
from core.uop.engine.rewrite import graph_rewrite
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.spec.spec import index_spec, program_spec, violation
from core.uop.uop import UOp
from tests.core.tile.running import ON, run

DTYPES = (dtypes.bool, dtypes.int8, dtypes.uint16, dtypes.int32, dtypes.uint64, dtypes.float16,
          dtypes.bfloat16, dtypes.float32, dtypes.float64)  # fmt: skip


def moved(x: UOp, mask: int) -> UOp:
    return UOp(Ops.SHUFFLE, x.dtype, (x,), mask)


def kernel(mask: int, lanes: int, dtype: DType = dtypes.float32, count: int = 1) -> UOp:
    """out[i] = in[i ^ mask], `count` elements for each of `lanes` lanes."""
    lane = UOp.range(lanes, 0, AxisType.WARP)
    out, x = (UOp(Ops.DEFINE_GLOBAL, dtype.ptr(lanes * count), (), n) for n in range(2))
    value = moved(x.index(lane * count).load(dtype=dtype.vec(count)), mask)
    return UOp.sink(out.index(lane * count).store(value).end(lane), arg=KernelInfo("k", ()))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("target", ["sm_80", "gfx942", "gfx1100"])
@pytest.mark.parametrize("count", [1, 4])
def test_lanes_exchange_values_of_every_dtype(target: str, dtype: DType, count: int) -> None:
    wave = targets[target].wave
    x = np.arange(wave * count).reshape(wave, count) % 100
    x = x % 3 > 0 if dtype is dtypes.bool else x
    for mask in (1, 5, wave // 2):
        for on in ON:
            found = run(kernel(mask, wave, dtype, count), [np.zeros_like(x), x], target, on)[0]
            np.testing.assert_array_equal(found, x[np.arange(wave) ^ mask])


def test_the_specification() -> None:
    x = UOp.variable("x", 0, 9)
    for spec in (index_spec, program_spec):
        assert violation(moved(x, 1), spec) is None
        for wrong in (0, -1, 64, 1.0, None):
            assert violation(UOp(Ops.SHUFFLE, x.dtype, (x,), wrong), spec) is not None
        assert violation(UOp(Ops.SHUFFLE, dtypes.float32, (x,), 1), spec) is not None
        assert violation(UOp(Ops.SHUFFLE, x.dtype, (x, x), 1), spec) is not None
    assert moved(x, 1).bounds == x.bounds


def test_lanes_of_vectors_sink_below_it() -> None:
    x = UOp.vectorize(*(UOp.variable(n, 0, 9) for n in "abcd"))
    found = graph_rewrite(moved(x, 2).gep((3, 1)), sink_lanes)
    assert found is moved(UOp.vectorize(x.src[3], x.src[1]), 2)


def test_graphs_with_it_are_written_and_read() -> None:
    u = moved(UOp.variable("x", 0, 9), 3)
    assert from_data(to_data([u])) == [u]
    wrong = UOp(Ops.SHUFFLE, dtypes.index, u.src, "many")
    with pytest.raises(FormatError, match="number of lanes"):
        from_data(to_data([wrong]))


@pytest.mark.parametrize(("mask", "lanes", "what"), [
    (32, 64, "no lanes 32 apart"),
    (1, 24, "not whole warps of 32"),
])  # fmt: skip
def test_the_verifier_wants_lanes_of_whole_warps(mask: int, lanes: int, what: str) -> None:
    with pytest.raises(CompileError, match=what):
        compile_kernel(kernel(mask, lanes), targets["sm_80"])


def test_the_verifier_wants_all_lanes_to_take_part() -> None:
    lane = UOp.range(32, 0, AxisType.WARP)
    loop = UOp.range(lane + 1, 1, AxisType.REDUCE)
    out, x = (UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(32), (), n) for n in range(2))
    value = moved(x.index(loop.minimum(31)).load(), 1)
    ast = UOp.sink(out.index(lane).store(value).end(loop).end(lane), arg=KernelInfo("k", ()))
    with pytest.raises(CompileError, match="differs between threads"):
        compile_kernel(ast, targets["sm_80"])


def test_the_reference_wants_all_lanes_to_take_part() -> None:
    lane = UOp.special(6, "lidx0")
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(6), (), 0)
    place = out.index(lane)
    value = moved(lane, 4)
    program = [out, lane.src[0], lane, place, value, place.store(value)]
    with pytest.raises(RunError, match="work group of 6"):
        evaluate_kernel(program, [np.zeros(6, np.int32)])


def test_the_text_of_every_language() -> None:
    def texts(target: str, lanes: int) -> dict[str, str]:
        return {a.kind: a.text for a in sources_for(kernel(3, lanes), targets[target])}

    nvidia, amd, wide = texts("sm_80", 32), texts("gfx1100", 32), texts("gfx942", 64)
    assert re.search(r"shfl\.sync\.bfly\.b32 %\w+, %\w+, 3, 31, 0xffffffff;", nvidia["ptx"])
    assert "__shfl_xor_sync(0xffffffffu, v" in nvidia["cuda"]
    assert "__shfl_xor(v" in amd["hip"]
    assert "llvm.amdgcn.mbcnt.hi" not in amd["llvm"]
    assert "llvm.amdgcn.mbcnt.hi" in wide["llvm"]
    assert "ds_bpermute_b32" in wide["amd_isa"]


def test_languages_without_lanes_refuse_it() -> None:
    x = UOp.variable("x", 0, 9)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(1), (), 0)
    zero = UOp.const(dtypes.index, 0)
    program = [x, out, zero, out.index(zero), moved(x, 1), out.index(zero).store(moved(x, 1))]
    with pytest.raises(RenderError, match="SHUFFLE"):
        c.render(program, "k", targets["x86-64"])


@pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")
def test_ptxas_takes_it() -> None:
    for dtype in DTYPES:
        text = compile_kernel(kernel(1, 32, dtype), targets["sm_80"]).source.text
        assert assemble(text, "sm_80").facts["registers"]
