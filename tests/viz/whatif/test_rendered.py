"""What bisect says of a text that is wrong, though the program is right: it runs on an emulator
where no device of its target is here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from core import compile
from core.dtype import dtypes
from core.render.llvm_lines import alu as llvm_alu
from core.render.ptx_lines import alu as ptx_alu
from core.tensor import Tensor
from core.toolchain.processor import host_target
from core.uop.data.serial import to_data
from core.uop.ops import Ops
from viz.whatif import worker
from viz.whatif.variants.variant import Variant


def bisected(values: Tensor, target: str, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    monkeypatch.setattr(worker, "limit_files", abs)
    vars(compile)["_kept"].cache_clear()
    item = values.schedule()[-1]
    subject = {"graph": to_data([item.ast]), "target": target, "flags": {}}
    return worker.bisect_job({"subject": subject, "variant": Variant().data()})


def compared() -> Tensor:
    x = Tensor.empty(32)
    return (x < 0.3) | (x > 0.5)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_right_text(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bisected(compared(), target, monkeypatch)
    assert not found["wrong"] and found["culprit"] is None
    assert found["device"] == {"sm_90": "PTX:EMU", "gfx942": "AMD:EMU"}[target]


def test_a_wrong_row_of_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ptx_alu.ROWS[Ops.OR, dtypes.bool]
    wrong = ptx_alu.Row(right.text.replace("or.pred", "and.pred"), right.immediates)
    rows = MappingProxyType({**ptx_alu.ROWS, (Ops.OR, dtypes.bool): wrong})
    monkeypatch.setattr(ptx_alu, "ROWS", rows)
    found = bisected(compared(), "sm_90", monkeypatch)
    assert found["wrong"]
    assert found["culprit"]["pass"] == "rendering ptx"


def test_a_wrong_comparison_of_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random numbers do not show it."""
    table: dict[Ops, tuple[str, str, str]] = vars(llvm_alu)["_compare"]
    monkeypatch.setitem(table, Ops.CMPLT, ("ult", "slt", "ult"))
    found = bisected(Tensor.empty(32) < 0.3, "gfx942", monkeypatch)
    assert found["wrong"]
    assert found["culprit"]["pass"] == "rendering llvm"


def test_a_text_that_no_compiler_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[Ops, tuple[str, str, str]] = vars(llvm_alu)["_compare"]
    monkeypatch.setitem(table, Ops.CMPLT, ("oltt", "slt", "ult"))
    found = bisected(Tensor.empty(32) < 0.3, host_target().name, monkeypatch)
    assert found["wrong"]
    assert found["culprit"]["pass"] == "rendering llvm"
    assert "its text is rejected" in found["outcome"]["said"]
