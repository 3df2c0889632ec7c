"""LDMATRIX: matrices of shared memory, from its specification to the texts."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import AddrSpace, DType, dtypes
from core.errors import CompileError, FormatError, RenderError, RunError
from core.isolation.safety import check_kernel
from core.passes.program.verify import verify_program
from core.passes.ptx.memory import Pointers, matrices_of_words, moves
from core.render import c, ptx
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain import nvrtc
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop.data.serial import from_data, to_data
from core.uop.engine.observe import recording
from core.uop.engine.rewrite import graph_rewrite
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.spec.ldmatrix import dealt
from core.uop.spec.spec import index_spec, machine_spec, program_spec, violation
from core.uop.uop import UOp
from tests.core.tile.running import ON, run

ZERO = UOp.const(dtypes.index, 0)
FORMS = [(count, turned) for count in (1, 2, 4) for turned in (False, True)]


def memory(dtype: DType, size: int) -> tuple[UOp, UOp, UOp]:
    """(shared, out, in)"""
    shared = UOp(Ops.DEFINE_LOCAL, dtype.ptr(size, AddrSpace.LOCAL), (), 0)
    out, x = (UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), n) for n in range(2))
    return shared, out, x


def matrices(place: UOp, count: int, turned: bool, dtype: DType | None = None) -> UOp:
    kind = place.dtype.base if dtype is None else dtype
    each = 2 if kind.itemsize == 2 else 1
    return UOp(Ops.LDMATRIX, kind.vec(each * count), (place,), (count, turned))


def kernel(count: int, turned: bool, dtype: DType = dtypes.float16, lanes: int = 32) -> UOp:
    """out[lane] = what the lane gets of x, which is `lanes` rows of 8."""
    lane = UOp.range(lanes, 0, AxisType.WARP)
    shared, out, x = memory(dtype, lanes * 8)
    row = dtype.vec(8)
    stored = shared.index(lane * 8).store(x.index(lane * 8).load(dtype=row))
    ready = shared.after(UOp(Ops.BARRIER, dtypes.void, (stored,)))
    found = matrices(ready.index(lane * 8), count, turned)
    return UOp.sink(out.index(lane * 8).store(found).end(lane), arg=KernelInfo("k", ()))


@pytest.mark.parametrize(("count", "turned"), FORMS)
@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.uint16], ids=str)
@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_every_lane_gets_its_elements(count: int, turned: bool, dtype: DType, target: str) -> None:
    x = np.arange(256) % 250
    wanted = np.zeros((32, 8))
    for lane in range(32):
        for matrix in range(count):
            for half in range(2):
                row, column = lane // 4, lane % 4 * 2 + half
                row, column = (column, row) if turned else (row, column)
                wanted[lane, 2 * matrix + half] = x.reshape(32, 8)[matrix * 8 + row, column]
    rows = x.reshape(1, 32, 8)
    np.testing.assert_array_equal(dealt(rows, count, turned)[0], wanted[:, : 2 * count])
    for on in ON:
        found = run(kernel(count, turned, dtype), [np.zeros(256), x], target, on)[0]
        np.testing.assert_array_equal(found.reshape(32, 8), wanted)


def test_the_specification() -> None:
    shared, out, _ = memory(dtypes.float16, 64)
    wide, _, _ = memory(dtypes.float32, 64)
    for spec in (index_spec, program_spec, machine_spec):
        for count, turned in FORMS:
            for dtype in (dtypes.float16, dtypes.uint32):
                assert violation(matrices(shared.index(ZERO), count, turned, dtype), spec) is None
        u = matrices(shared.index(ZERO), 4, False)
        for wrong in (
            u.replace(arg=(3, False)),
            u.replace(arg=(4, None)),
            u.replace(arg=4),
            u.replace(arg=None),
            u.replace(dtype=dtypes.float16.vec(4)),
            u.replace(dtype=dtypes.bfloat16.vec(8)),
            u.replace(src=(out.index(ZERO),)),
            u.replace(src=(wide.index(ZERO),)),
            u.replace(src=(ZERO,)),
            u.replace(src=(*u.src, ZERO)),
        ):
            assert violation(wrong, spec) is not None


def test_graphs_with_it_are_written_and_read() -> None:
    root = kernel(2, True)
    assert from_data(json.loads(json.dumps(to_data([root])))) == [root]
    u = matrices(memory(dtypes.float16, 64)[0].index(ZERO), 2, True)
    for wrong in (u.replace(arg=(2, "yes")), u.replace(arg=2)):
        with pytest.raises(FormatError, match="matrices, transposed"):
            from_data(to_data([wrong]))


def test_ptx_loads_words() -> None:
    sink = UOp.sink(matrices(memory(dtypes.bfloat16, 64)[0].index(ZERO), 2, True))
    with recording() as steps:
        found = graph_rewrite(sink, moves, Pointers.of(sink))
    assert matrices_of_words in [s.rule for s in steps.matches]
    (words,) = [u for u in found.toposort() if u.op is Ops.LDMATRIX]
    assert words.dtype is dtypes.uint32.vec(2)
    assert found.src[0].dtype is dtypes.bfloat16.vec(4)


def program(*nodes: UOp) -> list[UOp]:
    """Nodes with all that they need before them."""
    return list(dict.fromkeys(u for node in nodes for u in node.toposort()))


def refused(what: str, uops: list[UOp], target: str = "sm_80") -> None:
    with pytest.raises(CompileError, match=what):
        verify_program(uops, targets[target], "k")


def test_what_the_verifier_wants() -> None:
    lane, shared = UOp.special(32, "lidx0"), memory(dtypes.float16, 256)[0]
    place = shared.index(lane * 8)
    u = matrices(place, 4, False)
    verify_program(program(u), targets["sm_75"], "k")
    refused("gfx1100 has no LDMATRIX", program(u), "gfx1100")
    refused("not whole warps of 32", program(matrices(shared.index(UOp.special(8, "lidx0")), 1,
                                                      False)))  # fmt: skip
    refused("of memory with 256", program(matrices(shared.index(lane * 8 + 1), 4, False)))
    stored = shared.index(lane).store(0.0)
    late = matrices(shared.after(stored).index(lane * 8), 4, False)
    refused("read without a BARRIER", program(late))
    opened = UOp(Ops.IF, dtypes.void, (lane < 5,))
    refused(r"LDMATRIX in a block \(IF\) that differs", [*program(opened, place), u])


def test_the_reference_wants_whole_warps() -> None:
    shared = memory(dtypes.float16, 64)[0]
    lane = UOp.special(8, "lidx0")
    with pytest.raises(RunError, match="LDMATRIX needs 32 lanes, in a work group of 8"):
        evaluate_kernel(program(matrices(shared.index(lane * 8), 1, False)), [])


def test_what_a_stranger_may_load() -> None:
    """Every row lies in its memory, whatever the lane."""
    check_kernel(kernel(4, False))
    lane = UOp.range(32, 0, AxisType.WARP)
    shared, out, _ = memory(dtypes.float16, 256)
    found = matrices(shared.index(lane * 8 + 1), 4, False)
    ast = UOp.sink(out.index(lane * 8).store(found).end(lane), arg=KernelInfo("k", ()))
    with pytest.raises(RunError, match="elements 1 to 256 of memory with 256"):
        check_kernel(ast)


@pytest.mark.parametrize(("count", "turned"), FORMS)
def test_the_text_of_every_language(count: int, turned: bool) -> None:
    ast, name = kernel(count, turned), f"x{count}" + ".trans" * turned
    found = {a.kind: a.text for a in sources_for(ast, targets["sm_75"])}
    groups = r"\{" + ", ".join([r"%load_r\d+"] * count) + r"\}"
    text = found["ptx"]
    assert text.startswith(".version 6.5\n")
    assert f"ldmatrix.sync.aligned.m8n8.{name}.shared.b16 {{" in text
    assert re.search(groups, text)
    assert f"ldmatrix.sync.aligned.m8n8.{name}.shared.b16 {{%0" in found["cuda"]
    assert "__cvta_generic_to_shared" in found["cuda"]


@pytest.mark.skipif(nvrtc.library() is None, reason="NVRTC is not installed")
def test_nvrtc_takes_it() -> None:
    for count, turned in FORMS:
        for dtype in (dtypes.float16, dtypes.bfloat16):
            ast = kernel(count, turned, dtype)
            (text,) = [a.text for a in sources_for(ast, targets["sm_80"]) if a.kind == "cuda"]
            assert "ldmatrix" in nvrtc.ptx_of(text, "k", "sm_80")


@pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90"])
def test_ptxas_takes_it(target: str) -> None:
    for count, turned in FORMS:
        text = compile_kernel(kernel(count, turned), targets[target]).source.text
        assert assemble(text, target).facts["registers"]


def test_texts_that_have_none_refuse_it() -> None:
    u = matrices(memory(dtypes.float16, 64)[0].index(ZERO), 2, True)
    with pytest.raises(RenderError, match="LDMATRIX"):
        ptx.render(program(u), "k", targets["sm_80"])
    with pytest.raises(RenderError, match="LDMATRIX"):
        c.render(program(u), "k", targets["x86-64"])
