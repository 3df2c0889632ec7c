"""Counters and sessions of LLVM IR: waves of each target, one instruction at a time and back."""

from __future__ import annotations

import numpy as np
import pytest

from core.runtime.emulator.counters import Profile
from core.runtime.emulator.llvm.translate import translate
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import Prepared, prepare
from core.runtime.emulator.session import Session
from core.runtime.emulator.state import Launch
from core.target import targets
from tests.core.runtime.emulator.amd.kernels import kernel
from tests.core.runtime.emulator.amd.running import Array, regions_of

TEXT = kernel(
    """%i = call i32 @llvm.amdgcn.workitem.id.x()
    %c = icmp slt i32 %i, 40
    br i1 %c, label %some, label %all
    some:
    %x = mul i32 %i, 3
    br label %all
    all:
    %r = phi i32 [ %x, %some ], [ 7, %entry ]
    %v = insertelement <2 x i32> poison, i32 %r, i32 0
    %w = insertelement <2 x i32> %v, i32 %i, i32 1
    %s = add <2 x i32> %w, splat (i32 1)
    %p = getelementptr <2 x i32>, ptr addrspace(1) %out, i32 %i
    store <2 x i32> %s, ptr addrspace(1) %p"""
)


def line_of(part: str) -> int:
    """The line of the text that has `part`."""
    return next(n for n, line in enumerate(TEXT.splitlines(), 1) if part in line)


def made(target: str) -> tuple[Prepared, Launch, Array]:
    out = np.zeros(256, np.int32)
    regions = regions_of([out, out.copy()])
    params = b"".join(r.address.to_bytes(8, "little") for r in regions)
    prepared = prepare(translate(TEXT, "k", targets[target]))
    return prepared, Launch((1, 1, 1), (128, 1, 1), params, tuple(regions)), out


@pytest.mark.parametrize(("target", "waves"), [("gfx1100", 4), ("gfx1201", 4), ("gfx942", 2)])
def test_waves_are_counted_at_the_width_of_the_target(target: str, waves: int) -> None:
    prepared, launch, out = made(target)
    profile = Profile(prepared)
    execute(prepared, launch, profile=profile)
    assert out[:4].tolist() == [1, 1, 4, 2]
    assert out[254:].tolist() == [8, 128]
    found = profile.counters()
    every, some = found.lines[line_of("%c = icmp")], found.lines[line_of("%x = mul")]
    assert (every.threads, every.warps, every.divergent) == (128, waves, 0)
    assert (some.threads, some.warps, some.divergent) == (40, waves // 2, 1)
    assert found.lines[line_of("store <2 x i32>")].stored == {"global": 128 * 8}
    assert found.kinds["mul i32"] == 40
    assert found.kinds["add <2 x i32>"] == 128


def test_a_session_goes_forwards_and_backwards() -> None:
    prepared, launch, _ = made("gfx942")
    session = Session(prepared, launch)
    assert session.run_to(line_of("%x = mul")) == "line"
    assert session.active().sum() == 40
    session.step()
    values, known = session.register("%x", "int32")
    assert values[:3].tolist() == [0, 3, 6]
    assert known.sum() == 40
    session.back()
    assert not session.register("%x", "int32")[1].any()
    assert session.run_to(line_of("store <2 x i32>")) == "line"
    assert session.register("%s[0]", "int32")[0][[0, 39, 40]].tolist() == [1, 118, 8]
    assert session.register("%s[1]", "int32")[0][[0, 39, 40]].tolist() == [1, 40, 41]
    assert session.run_to() == "end"


def test_lines_come_in_the_order_of_the_text() -> None:
    prepared, launch, _ = made("gfx1100")
    session = Session(prepared, launch)
    lines: list[int] = []
    while not session.done:
        lines.append(session.line)
        session.step_line()
    assert [line for line in lines if line] == sorted(line for line in lines if line)
    assert lines[0] == line_of("define")
    assert lines[-1] == line_of("ret void")
