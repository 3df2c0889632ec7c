"""Opts that are predicted to be slow are not tried."""

from __future__ import annotations

import pytest

from core import Tensor
from core.beam import worker
from core.beam.worker import SLOWER, Tried
from core.passes.optimize import Kernel
from core.uop.kernelinfo import AxisType, OptOps


@pytest.mark.parametrize(("times", "left_out"), [(SLOWER * 1.1, True), (SLOWER * 0.9, False)])
def test_what_is_predicted_to_be_slow_is_left_out(
    monkeypatch: pytest.MonkeyPatch, times: float, left_out: bool
) -> None:
    def predicted(kernel: Kernel) -> float:
        return times if kernel.lanes(AxisType.UPCAST) > 1 else 1.0

    monkeypatch.setattr(worker, "predicted_us", predicted)
    product = Tensor.empty(32, 32) @ Tensor.empty(32, 32)
    legal = {opt.op for opt in Tried(product.schedule()[-1].ast, "CPU").legal(())}
    assert OptOps.UNROLL in legal
    assert (OptOps.UPCAST not in legal) is left_out


def test_nothing_is_left_out_where_nothing_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried((Tensor.empty(32, 32) @ Tensor.empty(32, 32)).schedule()[-1].ast, "CPU")
    monkeypatch.setattr(worker, "SLOWER", 1.0)
    some = tried.legal(())

    def unknown(kernel: Kernel) -> None:
        return None

    monkeypatch.setattr(worker, "predicted_us", unknown)
    assert set(some) < set(tried.legal(()))
