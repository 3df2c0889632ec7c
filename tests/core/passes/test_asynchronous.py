"""Asynchronous stores, COMMIT, WAIT and COPY_ASYNC: specification, passes, verifier, texts."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import AddrSpace, DType, dtypes
from core.errors import CompileError, FormatError, RenderError
from core.passes.pipeline import TEXT_PASSES, run_passes
from core.passes.program.verify import verify_program
from core.passes.ptx.copies import copy_of_load, copying
from core.render import ptx
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.uop.data.serial import from_data, to_data
from core.uop.engine.observe import recording
from core.uop.engine.rewrite import graph_rewrite
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.spec.flight import ASYNCHRONOUS, arrives_later
from core.uop.spec.spec import index_spec, machine_spec, program_spec, violation
from core.uop.uop import UOp
from tests.core.tile.running import ON, run

GPU = targets["sm_80"]
ZERO = UOp.const(dtypes.index, 0)


def memory(dtype: DType = dtypes.float32, size: int = 64) -> tuple[UOp, UOp, UOp]:
    """(shared, out, in)"""
    shared = UOp(Ops.DEFINE_LOCAL, dtype.ptr(size, AddrSpace.LOCAL), (), 0)
    out, x = (UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), n) for n in range(2))
    return shared, out, x


def later(place: UOp, value: UOp) -> UOp:
    return UOp(Ops.STORE, dtypes.void, (place, value), ASYNCHRONOUS)


def commit(*src: UOp) -> UOp:
    return UOp(Ops.COMMIT, dtypes.void, src)


def wait(behind: int, *src: UOp) -> UOp:
    return UOp(Ops.WAIT, dtypes.void, src, behind)


def kernel(dtype: DType = dtypes.float32, count: int = 4, limit: int = 32 * 4) -> UOp:
    """out[i] = x[31 - lane ...] through shared memory; x has 0 from `limit` on."""
    lane = UOp.range(32, 0, AxisType.WARP)
    shared, out, x = memory(dtype, 32 * count)
    at = lane * count
    gate = None if limit == 32 * count else at < limit
    place = x.index(at, gate=gate)
    alternative = [] if gate is None else [UOp.const(dtype.vec(count), 0)]
    value = place.load(*alternative, dtype=dtype.vec(count))
    arrived = wait(0, commit(later(shared.index(at), value)))
    met = shared.after(UOp(Ops.BARRIER, dtypes.void, (arrived,)))
    read = met.index((lane * -1 + 31) * count).load(dtype=dtype.vec(count))
    return UOp.sink(out.index(at).store(read).end(lane), arg=KernelInfo("k", ()))


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "gfx942", "gfx1100"])
@pytest.mark.parametrize("limit", [32, 8 * 4])
def test_what_arrives(target: str, limit: int) -> None:
    if targets[target].wave != 32:
        return
    x = np.arange(128, dtype=np.float32) + 1
    held = np.where(np.arange(128) < limit, x, 0)
    for on in ON:
        found = run(kernel(limit=limit), [np.zeros(128), x], target, on)[0]
        np.testing.assert_array_equal(found, held.reshape(32, 4)[::-1].reshape(-1))


def test_the_specification() -> None:
    shared, out, x = memory()
    stored = later(shared.index(ZERO), x.index(ZERO).load())
    for spec in (index_spec, program_spec, machine_spec):
        assert violation(stored, spec) is None
        assert violation(later(out.index(ZERO), x.index(ZERO).load()), spec) is not None
        assert violation(stored.replace(arg="sometimes"), spec) is not None
        assert violation(commit(stored), spec) is None
        assert violation(commit().replace(arg=1), spec) is not None
        assert violation(wait(3), spec) is None
        for wrong in (-1, 1.0, None, True):
            assert violation(wait(0).replace(arg=wrong), spec) is not None
    assert arrives_later(stored) and not arrives_later(stored.replace(arg=None))


def copied(nbytes: int = 16, *gates: UOp) -> UOp:
    shared, _, x = memory()
    whole = UOp.const(dtypes.uint32, nbytes)
    src = (shared.index(ZERO), x.index(ZERO), whole, *gates)
    return UOp(Ops.COPY_ASYNC, dtypes.void, src, nbytes)


def test_the_specification_of_copies() -> None:
    u = copied()
    assert violation(u, machine_spec) is None
    assert violation(copied(16, ZERO.eq(0)), machine_spec) is None
    assert violation(u, program_spec) is not None
    to, source, taken = u.src
    for src in ((source, to, taken), (to, to, taken), (to, source, ZERO), (to, source, taken, ZERO),
                (to, source), (ZERO, source, taken)):  # fmt: skip
        assert violation(u.replace(src=src), machine_spec) is not None
    for arg in (0, -4, 4.0, None):
        assert violation(u.replace(arg=arg), machine_spec) is not None


def test_graphs_with_them_are_written_and_read() -> None:
    sink = kernel()
    for root in (sink, copied()):
        assert from_data(json.loads(json.dumps(to_data([root])))) == [root]
    for wrong in (wait(0).replace(arg="all"), copied().replace(arg="16"),
                  later(*copied().src[:2]).replace(arg=1)):  # fmt: skip
        with pytest.raises(FormatError):
            from_data(to_data([wrong]))


def test_the_passes_keep_the_mark() -> None:
    for target in ("sm_80", "sm_75", "gfx942"):
        stores = [u for u in run_passes(kernel(limit=32), targets[target]).toposort()
                  if u.op is Ops.STORE]  # fmt: skip
        assert sorted(str(u.arg) for u in stores) == ["None", ASYNCHRONOUS]


def lowered(ast: UOp, target: str = "sm_80") -> list[UOp]:
    return list(compile_kernel(ast, targets[target]).lowered)


def test_a_store_of_what_is_loaded_is_a_copy() -> None:
    shared, _, x = memory()
    wide = dtypes.float32.vec(4)
    gate = UOp.variable("n", 0, 9) < 5
    with recording() as steps:
        store = later(shared.index(ZERO), x.index(ZERO).load(dtype=wide))
        found = graph_rewrite(store, copying, GPU)
    assert [s.rule for s in steps.matches] == [copy_of_load]
    assert found is copied()
    load = x.index(ZERO, gate=gate).load(UOp.const(wide, 0.0), dtype=wide)
    found = graph_rewrite(later(shared.index(ZERO), load), copying, GPU)
    assert found.op is Ops.COPY_ASYNC and found.src[1] is x.index(ZERO)
    chosen = found.src[2]
    assert chosen.op is Ops.WHERE and chosen.src[0] is gate
    assert [s.arg for s in chosen.src[1:]] == [16, 0]


def test_other_stores_stay_stores() -> None:
    shared, _, x = memory()
    wide, gate = dtypes.float32.vec(4), UOp.variable("n", 0, 9) < 5
    whole = x.index(ZERO).load(dtype=wide)
    gated = x.index(ZERO, gate=gate)
    for value in (
        x.index(ZERO).load(dtype=dtypes.float32.vec(3)),
        gated.load(UOp.const(wide, 1.0), dtype=wide),
        gated.load(UOp.const(wide, -0.0), dtype=wide),
        shared.index(ZERO).load(dtype=wide),
        whole + whole,
    ):
        store = later(shared.index(ZERO), value)
        assert graph_rewrite(store, copying, GPU) is store
    store = later(shared.index(ZERO), whole)
    assert graph_rewrite(store, copying, targets["sm_75"]) is store
    plain = shared.index(ZERO).store(whole)
    assert graph_rewrite(plain, copying, GPU) is plain
    assert [p.name for p in TEXT_PASSES["ptx"]][2] == "ptx: copies"


def program(*nodes: UOp) -> list[UOp]:
    """Nodes with all that they need before them."""
    return list(dict.fromkeys(u for node in nodes for u in node.toposort()))


def test_the_verifier_wants_a_barrier_after_a_wait() -> None:
    shared, out, x = memory()
    stored = later(shared.index(ZERO), x.index(ZERO).load())
    arrived = wait(0, commit(stored))
    ready = shared.after(UOp(Ops.BARRIER, dtypes.void, (arrived,)))
    verify_program(program(out.index(ZERO).store(ready.index(ZERO).load())), GPU, "k")
    early = shared.after(arrived)
    with pytest.raises(CompileError, match="read without a BARRIER"):
        verify_program(program(out.index(ZERO).store(early.index(ZERO).load())), GPU, "k")


@pytest.mark.parametrize(("nbytes", "target", "what"), [
    (16, "sm_75", "sm_75 has no copies of 16 bytes"),
    (12, "sm_80", "sm_80 has no copies of 12 bytes"),
])  # fmt: skip
def test_the_verifier_wants_copies_of_the_target(nbytes: int, target: str, what: str) -> None:
    with pytest.raises(CompileError, match=what):
        verify_program(program(copied(nbytes)), targets[target], "k", machine_spec)


def test_the_verifier_wants_copies_inside_of_memory() -> None:
    shared, _, x = memory(size=8)
    last = UOp.const(dtypes.index, 6)
    whole = UOp.const(dtypes.uint32, 16)
    for to, source in ((shared.index(last), x.index(ZERO)), (shared.index(ZERO), x.index(last))):
        u = UOp(Ops.COPY_ASYNC, dtypes.void, (to, source, whole), 16)
        with pytest.raises(CompileError, match="elements 6 to 9 of memory with 8"):
            verify_program(program(u), GPU, "k", machine_spec)
    wide = memory(dtypes.float64)
    src = (wide[0].index(ZERO), wide[2].index(ZERO), UOp.const(dtypes.uint32, 4))
    u = UOp(Ops.COPY_ASYNC, dtypes.void, src, 4)
    with pytest.raises(CompileError, match="4 bytes of elements of 8"):
        verify_program(program(u), GPU, "k", machine_spec)
    with pytest.raises(CompileError, match="COPY_ASYNC with a gate"):
        verify_program(program(copied(16, ZERO.eq(0))), GPU, "k", machine_spec)


def test_copies_of_some_threads_are_in_an_if() -> None:
    lane = UOp.range(32, 0, AxisType.WARP)
    shared, out, x = memory(size=32)
    stored = later(shared.index(lane, gate=lane < 5), x.index(lane).load())
    ready = shared.after(UOp(Ops.BARRIER, dtypes.void, (wait(0, commit(stored)),)))
    read = ready.index(lane, gate=lane < 5).load(UOp.const(dtypes.float32, 7.0))
    ast = UOp.sink(out.index(lane).store(read).end(lane), arg=KernelInfo("k", ()))
    found = lowered(ast)
    at = next(i for i, u in enumerate(found) if u.op is Ops.COPY_ASYNC)
    assert found[at - 1].op is Ops.IF and found[at + 1].op is Ops.ENDIF
    assert len(found[at].src) == 3
    x_, wanted = np.arange(32) + 1.0, np.where(np.arange(32) < 5, np.arange(32) + 1.0, 7.0)
    for target in ("sm_80", "sm_75"):
        np.testing.assert_array_equal(run(ast, [np.zeros(32), x_], target)[0], wanted)


def test_the_reference_copies_at_once() -> None:
    """The program after the passes for PTX, by the evaluator."""
    for limit in (128, 32):
        x, out = np.arange(128, dtype=np.float32) + 1, np.zeros(128, np.float32)
        uops = lowered(kernel(limit=limit))
        assert any(u.op is Ops.COPY_ASYNC for u in uops)
        evaluate_kernel(uops, {0: out, 1: x})
        held = np.where(np.arange(128) < limit, x, 0)
        np.testing.assert_array_equal(out, held.reshape(32, 4)[::-1].reshape(-1))


def test_the_text_of_every_language() -> None:
    def texts(target: str, limit: int = 128) -> dict[str, str]:
        ast = kernel(limit=limit)
        return {a.kind: a.text for a in sources_for(ast, targets[target])}

    text = texts("sm_80")["ptx"]
    assert re.search(r"cp\.async\.cg\.shared\.global \[%\w+\], \[%\w+\], 16;", text)
    assert text.index("cp.async.commit_group;") < text.index("cp.async.wait_group 0;")
    text = texts("sm_80", 32)["ptx"]
    (taken,) = re.findall(r"selp\.b32 (%\w+), 16, 0, %cond\d+;", text)
    assert re.search(rf"cp\.async\.cg\S+ \[%\w+\], \[%\w+\], 16, {taken};", text)
    for target in ("sm_75", "gfx1100"):
        for text in texts(target).values():
            assert "cp.async" not in text


@pytest.mark.parametrize("u", [copied(12), copied(16, ZERO.eq(0))])
def test_ptx_has_no_other_copies(u: UOp) -> None:
    with pytest.raises(RenderError, match="COPY_ASYNC"):
        ptx.render(program(u), "k", GPU)
