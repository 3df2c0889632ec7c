"""Which opts are offered for a kernel: each applies, and those that apply are offered."""

from __future__ import annotations

import pytest

from core.passes.optimize import prepared
from core.passes.optimize.legal import apply_all, legal_opts, why_not
from core.passes.pipeline import run_passes
from core.target import targets
from core.uop import UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps
from tests.core.passes.kernels import Case, elementwise, execute, matmul

NAMES = ("x86-64", "sm_90", "gfx942")


def before(case: Case, target: str) -> UOp:
    return run_passes(case.ast, targets[target], None, "simplify: collapse")


@pytest.mark.parametrize("target", NAMES)
def test_each_opt_that_is_offered_applies_and_computes_the_same(target: str) -> None:
    case = matmul(8, 16, 12)
    kernel = prepared(before(case, target), targets[target])
    sink = kernel.sink
    offered = legal_opts(kernel)
    assert kernel.sink is sink, "the kernel stays as it is"
    kinds = {opt.op for opt in offered}
    assert {OptOps.UPCAST, OptOps.UNROLL, OptOps.GROUP, OptOps.SWAP, OptOps.PADTO} <= kinds
    assert (OptOps.LOCAL in kinds) == (target != "x86-64")
    assert (OptOps.THREAD in kinds) == (target == "x86-64")
    for opt in offered[:: max(1, len(offered) // 6)]:
        execute(case, targets[target], [opt])
    assert len({str(opt) for opt in offered}) == len(offered)


def test_what_is_not_offered_does_not_apply() -> None:
    case = matmul(8, 16, 12)
    kernel = prepared(before(case, "sm_90"), targets["sm_90"])
    offered = set(legal_opts(kernel))
    for op in (OptOps.UPCAST, OptOps.UNROLL, OptOps.LOCAL):
        for axis in range(3):
            for n in (2, 3, 4, 5, 6, 8, 16):
                opt = Opt(op, axis, n)
                assert (why_not(kernel.copied(), opt) is None) == (opt in offered), str(opt)


def test_opts_in_order_and_why_one_does_not_apply() -> None:
    case = elementwise((6, 8))
    kernel = prepared(before(case, "x86-64"), targets["x86-64"])
    opts = [Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.UPCAST, 3, 4), Opt(OptOps.UPCAST, 0, 3)]
    first, second, third = apply_all(kernel, opts)
    assert first is None
    assert second is not None
    assert "the kernel has loops of sizes" in second
    assert third is None, "the one that does not apply changed nothing"


def test_a_copy_is_apart() -> None:
    kernel = prepared(before(elementwise((6, 8)), "x86-64"), targets["x86-64"])
    sizes = kernel.sizes(*AxisType)
    assert why_not(kernel.copied(), Opt(OptOps.UPCAST, 0, 4)) is None
    assert kernel.sizes(*AxisType) == sizes
