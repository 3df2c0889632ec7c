"""What a warp did, as data: the same as stepping shows."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import RunError
from core.runtime.emulator import walk as module
from core.runtime.emulator.memory.banks import of_banks
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.session import Session
from core.runtime.emulator.walk import walk
from tests.core.runtime.emulator.running import kernel, launch, line_of

TEXT = kernel("""
  .shared .align 16 .b8 buf[1024];
  mov.u32 %r50, buf;
  mad.lo.u32 %r51, %r60, 4, %r50;
  setp.lt.u32 %p0, %r60, 40;
  @!%p0 bra DONE;
  add.u32 %r1, %r60, 7;
  st.shared.u32 [%r51], %r1;
DONE:
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.global.u32 [%rd0], %r60;
""")


def session(text: str = TEXT, block: int = 0) -> Session:
    out = np.zeros(128, np.uint32)
    return Session(prepare(read(text, "k")), launch([out], (2, 1, 1), (64, 1, 1)), block)


def test_the_lines_of_a_warp_with_who_ran_them() -> None:
    lines = {part: line_of(TEXT, part) for part in ("add.u32", "st.shared", "st.global")}
    first, second = walk(session()), walk(session(), warp=1)
    for found, bits in ((first, 0xFFFFFFFF), (second, 0xFF)):
        by_line = {moment.line: moment for moment in found.moments}
        assert by_line[lines["add.u32"]].active == bits
        assert by_line[lines["st.global"]].active == 0xFFFFFFFF
        assert (found.width, found.threads, found.more, found.fault) == (32, 32, False, None)


def test_registers_are_those_of_the_warp() -> None:
    found = walk(session(), warp=1)
    (moment,) = (m for m in found.moments if m.line == line_of(TEXT, "add.u32"))
    (written,) = moment.registers
    assert written.values[:8] == tuple(range(39, 47))
    assert written.values[8:] == (None,) * 24
    assert session().kernel.code.registers[written.register] == "%r1"


def test_memory_is_named_by_space_and_argument() -> None:
    found = walk(session(block=1), warp=1)
    shared, stored = (m.memory[0] for m in found.moments if m.memory)
    assert (shared.space, shared.nbytes) == ("shared", 4)
    assert shared.threads == tuple(range(32, 40))
    assert shared.at == tuple(range(128, 160, 4))
    assert (stored.space, stored.region) == ("global", "data0")
    assert stored.at == tuple(range(4 * 96, 4 * 128, 4))
    assert stored.values.tolist() == [[n] for n in range(32, 64)]
    assert stored.before.tolist() == [[0]] * 32


def test_where_the_threads_of_the_warp_load_and_store() -> None:
    found = walk(session(block=1), warp=1)
    shared, stored = (m.accesses[0] for m in found.moments if m.accesses)
    assert (shared.space, shared.stores, shared.nbytes) == ("shared", True, 4)
    assert (shared.lanes, shared.at) == (tuple(range(8)), tuple(range(128, 160, 4)))
    assert shared.served == of_banks(range(8), shared.at, 4)
    assert (stored.space, stored.region) == ("global", "data0")
    assert stored.at == tuple(range(4 * 96, 4 * 128, 4))
    assert stored.served is not None
    assert (len(stored.served.hits), stored.served.least) == (4, 4)


def test_what_other_warps_store_is_there_too() -> None:
    shared, stored = (m.memory[1] for m in walk(session(), warp=1).moments if m.memory)
    assert shared.threads == stored.threads == tuple(range(32))
    assert shared.values.tolist() == [[n + 7] for n in range(32)]
    text = TEXT.replace("%r60, 40", "%r60, 20")
    found = walk(session(text), warp=1)
    (waited,) = (m for m in found.moments if m.memory and m.memory[0].space == "shared")
    assert waited.memory[0].threads == tuple(range(20))
    assert waited.line == line_of(text, "mad.wide.u32 %rd0")


def test_stores_of_other_warps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OTHERS", 40)
    found = walk(session(), warp=1)
    others = [m for moment in found.moments for m in moment.memory if m.threads[0] < 32]
    assert [m.space for m in others] == ["shared"]
    end = found.moments[-2 if found.moments[-1].line != line_of(TEXT, "st.global") else -1]
    assert found.known is not None
    assert found.moments[found.known].line == end.line == line_of(TEXT, "st.global")


def test_a_warp_that_skips_lines_has_none_of_them() -> None:
    text = TEXT.replace("%r60, 40", "%r60, 20")
    assert line_of(text, "add.u32") not in {m.line for m in walk(session(text), warp=1).moments}


def test_a_fault_ends_it() -> None:
    text = TEXT.replace("[%rd0], %r60", "[%rd0+65536], %r60")
    found = walk(session(text))
    assert found.fault is not None
    assert found.fault.line == line_of(text, "st.global")
    assert found.moments


def test_what_is_cut_says_so() -> None:
    found = walk(session(), limit=3)
    assert (len(found.moments), found.more) == (3, True)
    endless = kernel("LOOP:\n  add.u32 %r1, %r1, %r60;\n  bra LOOP;\n").replace(
        "LOOP:", "mov.u32 %r1, 0;\nLOOP:"
    )
    assert walk(session(endless), stop=lambda: True).more


def test_a_warp_that_is_not_there() -> None:
    with pytest.raises(RunError, match="the block has no warp 2"):
        walk(session(), warp=2)
