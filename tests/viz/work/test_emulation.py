"""What the worker says of a kernel on an emulated GPU."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.errors import CompileError, DeviceError, RunError
from core.isolation.edited import Edited
from core.isolation.worker import random_arguments
from core.runtime.device import Device
from core.runtime.numeric import from_memory
from core.tile import kernels
from core.uop import UOp
from core.uop.data.serial import to_data
from core.uop.kernelinfo import AxisType, KernelInfo, Opt, OptOps
from core.uop.ops import Ops
from tests.core.runtime.asts import KERNELS, add, load, matmul, shape, store
from tests.effort import at_most
from viz.work import emulation
from viz.work.change import Change
from viz.work.emulation import asked, emulate
from viz.work.worker import emulate_job, run_job

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


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_accesses_of_all_warps_add_up_to_the_counters(device: str) -> None:
    target = Device[device].target
    assert target is not None
    ast = kernels.matmul(64, 64, 64, target.name)
    warps = [of(ast, device, warp=n) for n in range(4)]
    lines, extra, sectors = warps[0]["counters"]["lines"], Counter[int](), Counter[int]()
    assert int(np.prod(warps[0]["grid"]) * np.prod(warps[0]["threads"])) == 4 * target.wave
    for walk in (found["walk"] for found in warps):
        for step, space, _, _, _, lanes, at, number in walk["accesses"]:
            assert 0 < len(lanes) == len(at) <= walk["width"]
            if space == "shared":
                extra[walk["line"][step]] += walk["served"][number]["extra"]
            elif space == "global":
                sectors[walk["line"][step]] += len(walk["served"][number]["hits"])
    assert [extra[line] for line in lines["line"]] == lines["conflicts"]
    assert [sectors[line] for line in lines["line"]] == lines["sectors"]
    assert sectors.total() > 0


def test_each_line_has_the_registers_that_it_uses() -> None:
    walk = of(add(64))["walk"]
    uses = {line: {walk["names"][n] for n in numbers} for line, *numbers in walk["uses"]}
    text = of(add(64))["text"].split("\n")
    for line in walk["line"]:
        written = {
            walk["names"][n] for step, n, *_ in walk["registers"] if walk["line"][step] == line
        }
        named = set(re.findall(r"%[a-z]+\d+", text[line - 1]))
        assert written <= uses.get(line, set()) >= named, text[line - 1]


def test_every_thread_of_a_launch_is_counted() -> None:
    found = of(add(1000))
    threads = int(np.prod(found["grid"]) * np.prod(found["threads"]))
    assert max(found["counters"]["lines"]["threads"]) == threads


def test_what_a_warp_stored_is_in_its_argument() -> None:
    memory = of(add(1000))["walk"]["memory"]
    assert {(space, region) for _, space, region, *_ in memory} == {("global", "data0")}


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.int64])
@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_stored_values_are_of_the_dtype_of_their_argument(dtype: DType, device: str) -> None:
    """A copy stores what the input has; before it, there is what the output began with."""
    ast = UOp.sink(store(0, shape(64), load(1, 64, shape(64), dtype)))
    output, source = (from_memory(a, dtype).tolist() for a in random_arguments(ast))
    walk = of(ast, device)["walk"]
    assert walk["arguments"][0] == ["data0", dtype.name, 64, dtype.itemsize]
    seen = 0
    for _, space, region, nbytes, item, threads, at, values, before in walk["memory"]:
        assert (space, region, item) == ("global", "data0", dtype.itemsize)
        for thread, first, now, then in zip(threads, at, values, before, strict=True):
            assert 0 <= thread < 64 and len(now) == len(then) == nbytes // item
            place = first // item
            assert now == pytest.approx(source[place : place + len(now)], rel=1e-3)
            assert then == pytest.approx(output[place : place + len(now)], rel=1e-3)
            seen += len(now)
    assert seen == len(source)


def test_opts_of_ones_own() -> None:
    plain = of(matmul(), change=Change(opts=()))
    assert plain["threads"] == [1, 1, 1]
    local = of(matmul(), change=Change(opts=(Opt(OptOps.LOCAL, 0, 4),)))
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
        of(add(1000), "PTX:EMU", **wrong)


def test_other_devices_are_not_watched() -> None:
    with pytest.raises(RunError, match="CPU is no emulated device"):
        emulate(add(), "CPU")
    with pytest.raises(DeviceError, match="there is no device"):
        emulate(add(), "PTX:FAST")


def test_an_edited_text_is_quoted_where_it_is_wrong() -> None:
    text = emulate(add(), "PTX:EMU")["text"].replace("  ret;", "  explode.u32 %r0;\n  ret;")
    with pytest.raises(CompileError, match=r"explode"):
        emulate(add(), "PTX:EMU", change=Change(text=Edited("ptx", text)))


def test_time_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "SECONDS", -1.0)
    found = of(matmul(256, 128, 32), change=Change(opts=()))
    assert found["blocks"][0] < found["blocks"][1]
    assert found["counters"]["total"] > 0
    assert found["walk"]["more"]


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_an_edited_text_that_never_ends(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time ends it, in the middle of a block too; what it did until then is counted."""
    monkeypatch.setattr(emulation, "SECONDS", 0.2)
    text = emulate(add(), device)["text"]
    if device == "PTX:EMU":
        kind, text = "ptx", text.replace("  ret;", "AGAIN:\n  bra AGAIN;\n  ret;")
    else:
        kind, loop = "llvm", "  br label %again\nagain:\n  br label %again\n"
        text = re.sub(r"  ret void.*\n", loop, text)
    with at_most(350):
        found = of(add(), device, change=Change(text=Edited(kind, text)))
    assert found["blocks"][0] == 0
    assert found["counters"]["total"] > 1000
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
        emulate(add(), "PTX:EMU", change=Change(text=Edited("ptx", text)))


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_an_edited_text_runs(device: str) -> None:
    kind, own = ("ptx", "add.f32") if device == "PTX:EMU" else ("llvm", "fadd")
    text = emulate(KERNELS["full_sum"](), device)["text"]
    found = of(KERNELS["full_sum"](), device, change=Change(text=Edited(kind, text)))
    assert found["text"] == text
    assert own.partition(".")[0] in text


HOSTILE = {
    "ptx": [
        "",
        "\0" * 100,
        "{" * 50_000,
        ".version 8.6\n.target sm_90\n" + "/*" * 10_000,
        "\ud800",
        ".visible .entry " + "a" * 100_000 + "()",
        ".reg .f32 %f<999999999>;",
    ],
    "llvm": ["", "\0", "(" * 50_000, "define void @" + "a" * 100_000, '"' * 9_999, "!0 = !{!0}"],
}


@pytest.mark.parametrize(("kind", "device"), [("ptx", "PTX:EMU"), ("llvm", "AMD:EMU")])
def test_hostile_texts_are_refused_soon(kind: str, device: str) -> None:
    """Each is one clear error, in little time; what stands inside of a good text, too."""
    own = emulate(add(), device)["text"]
    at = own.index("  ret")
    texts = [*HOSTILE[kind], *(f"{own[:at]}{bad}\n{own[at:]}" for bad in HOSTILE[kind][1:])]
    for text in texts:
        with at_most(350):
            with pytest.raises((CompileError, RunError)) as caught:
                emulate(add(), device, change=Change(text=Edited(kind, text)))
            assert caught.value.what
            assert len(str(caught.value)) < 20_000


@pytest.mark.parametrize(
    ("device", "kind", "atomic"),
    [
        ("PTX:EMU", "ptx", "atom.global.add.u32 %r0, [%rd0], 1;"),
        ("PTX:EMU", "ptx", "red.global.add.u32 [%rd0], 1;"),
        ("AMD:EMU", "llvm", "atomicrmw add ptr addrspace(1) %data0, i32 1 seq_cst"),
        ("AMD:EMU", "llvm", "cmpxchg ptr addrspace(1) %data0, i32 0, i32 1 seq_cst seq_cst"),
    ],
)
def test_an_atomic_instruction_is_refused_with_its_line(
    device: str, kind: str, atomic: str
) -> None:
    """The compiler emits none."""
    own = emulate(add(), device)["text"]
    before, found, after = own.partition("  ret")
    text = f"{before}  {atomic}\n{found}{after}"
    with pytest.raises(CompileError, match=atomic.split()[0]) as caught:
        emulate(add(), device, change=Change(text=Edited(kind, text)))
    line = before.count("\n") + 1
    assert caught.value.where == f"line {line}: {atomic}"


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_lines_are_those_of_the_edited_text(device: str) -> None:
    """Comments in front move the counts and the walk down by as many lines."""
    plain = of(add(64), device)
    kind, comment = ("ptx", "// mine\n") if device == "PTX:EMU" else ("llvm", "; mine\n")
    moved = of(add(64), device, change=Change(text=Edited(kind, comment * 3 + plain["text"])))
    assert moved["source"] == kind and plain["source"] is None
    assert moved["walk"]["line"] == [line + 3 for line in plain["walk"]["line"]]
    assert moved["counters"]["lines"]["line"] == [n + 3 for n in plain["counters"]["lines"]["line"]]


def test_a_fault_of_an_edited_text_names_its_line_and_thread() -> None:
    text = emulate(add(64), "PTX:EMU")["text"]
    bad, count = re.subn(r"(  st\.global\.f32 \[%\w+)\]", r"\n\1+4096]", text)
    assert count == 1
    found = of(add(64), "PTX:EMU", change=Change(text=Edited("ptx", bad)))
    line = bad[: bad.index("+4096]")].count("\n") + 1
    for fault in (found["fault"], found["walk"]["fault"]):
        assert fault["line"] == line
        assert "thread (0, 0, 0)" in fault["where"]


def requested(ast: UOp) -> Mapping[str, Any]:
    graph = json.loads(json.dumps(to_data([ast])))
    return {"graph": graph, "device": "PTX:EMU", "block": 0, "warp": 0}


def test_a_kernel_of_tiles_is_emulated() -> None:
    """Its accesses are vectors, with gates where they would be outside."""
    found = emulate_job(requested(kernels.matmul(60, 64, 64, "sm_90")))
    assert found["fault"] is None
    assert sum(found["counters"]["lines"]["conflicts"]) == 0
    assert sum(lines.get("shared", 0) for lines in found["counters"]["lines"]["loaded"]) > 0


def test_a_kernel_that_leaves_its_memory_is_not_emulated() -> None:
    i = UOp.range(64, 0, AxisType.GLOBAL)
    place = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(8), (), 0).index(i * 1_000_000)
    ast = UOp.sink(place.store(UOp.const(dtypes.float, 1.0)).end(i), arg=KernelInfo("far", ()))
    with pytest.raises(CompileError, match="elements 0 to 63000000 of memory with 8"):
        emulate_job(requested(ast))
    with pytest.raises(RunError, match="of memory with 8"):
        run_job({**requested(ast), "count": 1})
