"""Gated loads and stores: what a mask or a condition excludes is neither read nor written, wherever
the address and the gate are computed."""

from __future__ import annotations

import numpy as np

from core.passes.program.final import final, gates_to_ifs
from core.passes.program.linearize import linearize
from core.passes.program.verify import verify_program
from core.tensor import Tensor
from core.uop import Ops, UOp
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU


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
