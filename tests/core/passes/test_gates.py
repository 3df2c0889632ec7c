"""Gated loads and stores: what a mask or a condition excludes is neither read nor written, wherever
the address and the gate are computed."""

from __future__ import annotations

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.helpers import Context, notice
from core.passes.program.final import final, gates_to_ifs
from core.passes.program.linearize import linearize
from core.passes.program.verify import verify_program
from core.runtime.numeric import from_memory
from core.target import Target, targets
from core.tensor import Tensor
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, KernelInfo, Opt, OptOps
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU, GPU
from tests.core.passes.running import run_on


def test_an_address_under_a_gate_of_a_loop_is_used_outside_of_it() -> None:
    """The sum's loads of e are gated by the loop; the product after it loads from there, too."""
    y = np.arange(20, dtype=np.float32).reshape(4, 5)
    e = np.arange(5, dtype=np.float32) + 1
    padded = (Tensor(y) + Tensor(e)).pad(((0, 2), (0, 0)))
    got = (padded.sum(0) * Tensor(e)).numpy()
    np.testing.assert_allclose(got, (y + e).sum(0) * e)


def test_gated_stores_in_a_loop_and_after_it_to_one_address() -> None:
    loop = UOp.range(4, 0)
    place = kernels.pointer(0, 8)
    inside = place.index(3, gate=loop < 2).store(1.0).end(loop)
    after = place.after(inside)
    outside = UOp(Ops.STORE, src=(after.index(3), after.index(3).load() + 1.0))
    program = gates_to_ifs(linearize(final(UOp.sink(outside), CPU)))
    verify_program(program, CPU, "two stores")
    opened = next(u for u in program if u.op is Ops.IF)
    between = program[program.index(opened) + 1 : program.index(UOp(Ops.ENDIF, src=(opened,)))]
    assert [u.op for u in between] == [Ops.STORE]


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_any_value_is_the_alternative_of_a_load(device: str, lanes: int) -> None:
    """out[i] = x[i - 3] where there is one, else what is computed of another load."""
    i = UOp.range(16, 0, AxisType.LOOP)
    other = kernels.pointer(2, 16).index(i).load() * 2.0 + i.cast(dtypes.float32)
    value = kernels.pointer(1, 16).index(i - 3, gate=i >= 3).load(other, dtype=dtypes.float32)
    stored = kernels.pointer(0, 16).index(i).store(value).end(i)
    upcast = [Opt(OptOps.UPCAST, 0, lanes)] if lanes > 1 else []
    x, y = np.arange(16, dtype=np.float32), np.arange(16, dtype=np.float32) + 0.5
    ast = UOp.sink(stored, arg=KernelInfo())
    out, *_ = run_on(device, ast, upcast, [np.zeros(16, np.float32), x, y])
    want = np.concatenate([(y * 2 + np.arange(16, dtype=np.float32))[:3], x[:13]])
    np.testing.assert_array_equal(from_memory(out, dtypes.float32), want)


@pytest.mark.parametrize("target", [CPU, GPU, targets["gfx942"]], ids=lambda t: t.name)
def test_without_masks(target: Target, capsys: pytest.CaptureFixture[str]) -> None:
    """A flag that says what it does: no gate is left, and one line warns of it."""
    (item,) = (Tensor.empty(6, 5).pad(((1, 2), (3, 0))) + 1).schedule()
    opts = [Opt(OptOps.PADTO, 0, 4)]
    gated = compile_kernel(item.ast, target, opts).uops
    notice.cache_clear()
    with Context(UNSAFE_DISABLE_MASK=1):
        bare = compile_kernel(item.ast, target, opts).uops
        compile_kernel(item.ast, target)
    said = capsys.readouterr().err
    assert said.count("UNSAFE_DISABLE_MASK=1") == 1 and "results are wrong" in said
    assert any(u.op is Ops.IF or (u.op is Ops.INDEX and len(u.src) == 3) for u in gated)
    assert all(u.op is not Ops.IF and (u.op is not Ops.INDEX or len(u.src) < 3) for u in bare)
    assert compile_kernel(item.ast, target, opts).uops == gated
