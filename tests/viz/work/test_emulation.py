"""What the worker says of a kernel on an emulated GPU."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from core.check.edited import Edited
from core.errors import CompileError, DeviceError, RunError
from core.uop import UOp
from core.uop.kernelinfo import Opt, OptOps
from tests.core.runtime.asts import KERNELS, add, matmul
from viz.work import emulation
from viz.work.emulation import asked, emulate

DEVICES = ("PTX:EMU", "PTX:EMU:SM_75", "AMD:EMU", "AMD:EMU:GFX1100")


def of(ast: UOp, device: str = "PTX:EMU", **more: Any) -> dict[str, Any]:
    """The answer as a page reads it: through JSON that holds no NaN."""
    found: dict[str, Any] = json.loads(json.dumps(emulate(ast, device, **more), allow_nan=False))
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["add", "row_max", "transcendental"])
def test_lines_and_steps_fit_the_text(name: str, device: str) -> None:
    found = of(KERNELS[name](), device)
    count = found["text"].count("\n")
    lines, walk = found["counters"]["lines"], found["walk"]
    assert found["fault"] is None and walk["fault"] is None
    assert found["blocks"][0] == found["blocks"][1]
    assert all(0 < line <= count for line in [*lines["line"], *walk["line"]])
    assert len({len(column) for column in lines.values()}) == 1
    assert set(walk["line"]) <= set(lines["line"])
    assert found["counters"]["total"] == sum(lines["threads"])
    assert len(walk["active"]) == len(walk["line"])
    assert all(step < len(walk["line"]) for step, *_ in [*walk["registers"], *walk["memory"]])


def test_every_thread_of_a_launch_is_counted() -> None:
    found = of(add(1000))
    threads = int(np.prod(found["grid"]) * np.prod(found["threads"]))
    assert max(found["counters"]["lines"]["threads"]) == threads


def test_what_a_warp_stored_is_in_its_argument() -> None:
    memory = of(add(1000))["walk"]["memory"]
    assert {(space, region) for _, space, region, _, _ in memory} == {("global", "data0")}


def test_opts_of_ones_own() -> None:
    plain = of(matmul(), opts=())
    assert plain["threads"] == [1, 1, 1]
    local = of(matmul(), opts=(Opt(OptOps.LOCAL, 0, 4),))
    assert 4 in local["threads"]


def test_a_later_warp_and_block() -> None:
    walk = of(add(1000), block=3)["walk"]
    assert (walk["block"], walk["warp"]) == (3, 0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"block": 10**6}, "there is no block"), ({"warp": 40}, "the block has no warp 40")],
)
def test_a_block_or_warp_that_is_not_there(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(RunError, match=said):
        emulate(add(1000), "PTX:EMU", **wrong)


def test_other_devices_are_not_watched() -> None:
    with pytest.raises(RunError, match="CPU is no emulated device"):
        emulate(add(), "CPU")
    with pytest.raises(DeviceError, match="there is no device"):
        emulate(add(), "PTX:FAST")


def test_an_edited_text_is_quoted_where_it_is_wrong() -> None:
    text = emulate(add(), "PTX:EMU")["text"].replace("  ret;", "  explode.u32 %r0;\n  ret;")
    with pytest.raises(CompileError, match=r"explode"):
        emulate(add(), "PTX:EMU", source=Edited("ptx", text))


def test_time_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "SECONDS", -1.0)
    found = of(matmul(256, 128, 64), opts=())
    assert 0 < found["blocks"][0] < found["blocks"][1]
    assert found["walk"]["more"]


@pytest.mark.parametrize("value", [-1, 1 << 31, "0", None, 1.5])
def test_numbers_of_a_request(value: Any) -> None:
    assert asked({"block": 2}, "block") == 2
    with pytest.raises(RunError, match="is no block"):
        asked({"block": value}, "block")


def test_an_edited_text_keeps_its_parameters() -> None:
    text = emulate(add(), "PTX:EMU")["text"].replace(
        ".param .u64 data0", ".param .u64 more,\n  .param .u64 data0"
    )
    with pytest.raises(RunError, match="leave the parameters as they are"):
        emulate(add(), "PTX:EMU", source=Edited("ptx", text))


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_an_edited_text_runs(device: str) -> None:
    kind, own = ("ptx", "add.f32") if device == "PTX:EMU" else ("llvm", "fadd")
    text = emulate(KERNELS["full_sum"](), device)["text"]
    found = of(KERNELS["full_sum"](), device, source=Edited(kind, text))
    assert found["text"] == text
    assert own.partition(".")[0] in text
