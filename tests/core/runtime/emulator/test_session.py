"""Stepping: forwards gives what running gives, backwards what was before, and places to stop."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from core.errors import FaultError, RunError
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.program import Space
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.session import Session, Watch
from tests.core.runtime.emulator.running import kernel, launch, line_of
from tests.core.runtime.emulator.test_flow import random_kernel

BODY = """
  .shared .align 16 .b8 buf[64];
  .local .align 16 .b8 mine[16];
  mov.u32 %r50, buf;
  mov.u64 %rd40, mine;
  mad.lo.u32 %r51, %r60, 4, %r50;
  mov.u32 %r1, 0;
LOOP:
  st.shared.u32 [%r51], %r1;
  bar.sync 0;
  xor.b32 %r52, %r60, 1;
  mad.lo.u32 %r53, %r52, 4, %r50;
  ld.shared.u32 %r2, [%r53];
  add.u32 %r2, %r2, %r60;
  bar.sync 0;
  add.u32 %r1, %r1, 1;
  st.local.u32 [%rd40+4], %r2;
  setp.lt.u32 %p0, %r60, 2;
  @%p0 add.u32 %r3, %r2, 100;
  setp.lt.u32 %p1, %r1, 4;
  @%p1 bra LOOP;
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  ld.local.u32 %r4, [%rd40+4];
  st.global.u32 [%rd0], %r4;
"""
TEXT = kernel(BODY)


def session(text: str = TEXT, keep: int = 10_000, block: int = 0) -> Session:
    out = np.zeros(8, np.uint32)
    return Session(prepare(read(text, "k")), launch([out], (2, 1, 1), (4, 1, 1)), block, keep)


def picture(s: Session) -> Any:
    """All that can be seen of a session."""
    state = s.state
    shadow = state.shadow
    shadows = [] if shadow is None else [shadow.writer, shadow.reader, shadow.stamp]
    arrays = [s.active(), state.shared, state.local, state.local_written, *shadows]
    arrays += [r.content for r in s.regions()]
    places = (s.line, s.steps, state.join, len(state.stack), list(state.block_counts))
    return places, s.table(), [a.tolist() for a in arrays]


def to_end(s: Session) -> Session:
    while not s.done:
        s.step()
    return s


def test_stepping_gives_what_running_gives() -> None:
    out = np.zeros(8, np.uint32)
    prepared = prepare(read(TEXT, "k"))
    execute(prepared, launch([out], (2, 1, 1), (4, 1, 1)))
    for block in range(2):
        found = to_end(session(block=block)).memory(Space.GLOBAL, 0, 8, "uint32", "data0")
        assert found[4 * block : 4 * block + 4].tolist() == out[4 * block : 4 * block + 4].tolist()
        assert not found[4 * (1 - block) : 4 * (1 - block) + 4].any()


@pytest.mark.parametrize("keep", [10_000, 3])
def test_back_is_what_was_before(keep: int) -> None:
    s = session(keep=keep)
    seen = [picture(s)]
    while not s.done:
        s.step()
        seen.append(picture(s))
    assert s.line == 0
    for wanted in reversed(seen[:-1]):
        s.back()
        assert picture(s) == wanted
    s.back()
    assert picture(s) == seen[0]


@pytest.mark.parametrize("seed", range(5))
def test_back_and_forth_through_random_jumps(seed: int) -> None:
    rng = random.Random(seed)
    s = session(random_kernel(rng))
    seen = {0: picture(s)}
    for _ in range(300):
        if s.done or rng.random() < 0.4:
            s.back()
        else:
            s.step()
        assert picture(s) == seen.setdefault(s.steps, picture(s))


def test_what_a_step_changed() -> None:
    s = session()
    assert s.run_to(line_of(TEXT, "st.shared")) == "line"
    s.step()
    (touched,) = s.touched
    assert (touched.space, touched.at.tolist(), touched.nbytes) == (Space.SHARED, [0, 4, 8, 12], 4)
    s.run_to(line_of(TEXT, "add.u32 %r2"))
    s.step()
    assert [s.kernel.code.registers[n] for n in s.changed] == ["%r2"]
    assert not s.touched


def test_registers_as_a_table() -> None:
    s = session()
    s.run_to(line_of(TEXT, "setp.lt.u32 %p1"))
    table = s.table()
    assert table["%r60"] == [0, 1, 2, 3]
    assert table["%r2"] == [0, 1, 2, 3]
    assert table["%r3"] == [100, 101, None, None]
    assert table["%p0"] == [True, True, False, False]
    assert "%r4" not in table
    assert s.table(2, 1)["%r60"] == [2]
    assert s.register("%r60", "float32")[0].view(np.uint32).tolist() == [0, 1, 2, 3]
    with pytest.raises(RunError, match="no register %q"):
        s.register("%q", "int32")
    with pytest.raises(RunError, match="4 bytes"):
        s.register("%r60", "int64")


def test_memory() -> None:
    s = session()
    s.run_to(line_of(TEXT, "ld.local"))
    assert s.memory(Space.SHARED, 0, 4, "uint32").tolist() == [3, 3, 3, 3]
    assert s.memory(Space.LOCAL, 4, 1, "uint32", thread=3).tolist() == [6]
    for space, address, region in (
        (Space.SHARED, 64, ""),
        (Space.GLOBAL, 0, "x"),
        (Space.PARAM, 0, ""),
    ):
        with pytest.raises(RunError, match="no 4 bytes"):
            s.memory(space, address, 1, "uint32", region)


def test_breakpoints_and_watches() -> None:
    s = session()
    s.breakpoints.add(line_of(TEXT, "add.u32 %r1"))
    assert s.run_to() == "breakpoint"
    assert s.line == line_of(TEXT, "add.u32 %r1")
    s.breakpoints.clear()
    s.watches = [Watch("==", 3, "uint32", register="%r1")]
    assert s.run_to() == "watch"
    assert s.register("%r1", "uint32")[0].tolist() == [3] * 4
    s.watches = [Watch(">", 105, "uint32", register="%r3", thread=0)]
    assert s.run_to() == "end"
    s = session()
    s.watches = [Watch(">=", 5, "uint32", space=Space.LOCAL, address=4, thread=3)]
    assert s.run_to() == "watch"
    assert s.memory(Space.LOCAL, 4, 1, "uint32", thread=3).tolist() == [5]
    s.watches = [Watch("~", 5, "uint32", register="%r1")]
    with pytest.raises(RunError, match="compares nothing"):
        s.step_line() or s.run_to()


def test_a_fault_leaves_the_session_before_its_line() -> None:
    text = kernel(
        "  mov.u32 %r1, 1;\n  st.global.u32 [%rd50], %r1;\n  ld.global.u32 %r2, [%rd50+400];"
    )
    s = session(text)
    with pytest.raises(FaultError):
        s.run_to()
    assert s.line == line_of(text, "+400")
    before = picture(s)
    with pytest.raises(FaultError):
        s.step()
    assert picture(s) == before
    s.back()
    assert s.memory(Space.GLOBAL, 0, 1, "uint32", "data0").tolist() == [0]


def test_an_endless_loop_ends_the_waiting() -> None:
    s = session(kernel("L:\n  add.u32 %r1, %r60, 1;\n  bra L;"))
    with pytest.raises(RunError, match="100 instructions later"):
        s.run_to(limit=100)


def test_the_launch_memory_stays_as_it_is() -> None:
    out = np.zeros(8, np.uint32)
    s = Session(prepare(read(TEXT, "k")), launch([out], (2, 1, 1), (4, 1, 1)))
    to_end(s)
    assert not out.any()
