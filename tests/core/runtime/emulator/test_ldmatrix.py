"""ldmatrix, lane by lane; what is counted; and every fault of its reads."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import CompileError, FaultError
from core.runtime.emulator.counters import Profile
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.session import Session
from tests.core.runtime.emulator.running import Array, kernel, launch, line_of, run_text
from tests.core.runtime.emulator.test_faults import faulty

START = """
  .shared .align 16 .b8 buf[2048];
  mov.u32 %r50, buf;
  mad.lo.u32 %r51, %r60, 16, %r50;
  mad.wide.u32 %rd0, %r60, 16, %rd50;
  mad.wide.u32 %rd1, %r60, 16, %rd51;
"""
FILL = """
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
  st.shared.v4.u32 [%r51], {%r1, %r2, %r3, %r4};
"""
"""Thread t stores row t, of 8 elements, of data1 in its place."""
SYNC = "  bar.sync 0;\n"
OUT = "  st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};\n"
CLEAR = "".join(f"  mov.u32 %r{n}, 0;\n" for n in range(10, 14))
GROUPS = {1: "{%r10}", 2: "{%r10, %r11}", 4: "{%r10, %r11, %r12, %r13}"}


def load(count: int, turned: bool = False, at: str = "%r51") -> str:
    form = f"x{count}" + ".trans" * turned
    return f"  ldmatrix.sync.aligned.m8n8.{form}.shared.b16 {GROUPS[count]}, [{at}];\n"


def rows(threads: int) -> Array:
    return np.arange(threads * 8, dtype=np.uint16) * 7 + 1


def memory(threads: int) -> list[Array]:
    return [np.zeros(threads * 8, np.uint16), rows(threads)]


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("threads", [32, 96])
def test_each_lane(count: int, turned: bool, threads: int) -> None:
    held = memory(threads)
    run_text(kernel(START + FILL + SYNC + CLEAR + load(count, turned) + OUT, 2), held, threads, 2)
    x, found = rows(threads).reshape(-1, 32, 8), held[0].reshape(-1, 32, 8)
    for warp in range(threads // 32):
        for lane in range(32):
            for matrix in range(4):
                block = x[warp, 8 * matrix : 8 * matrix + 8]
                block = block.T if turned else block
                pair = block[lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2]
                wanted = pair if matrix < count else np.zeros(2)
                np.testing.assert_array_equal(found[warp, lane, 2 * matrix : 2 * matrix + 2],
                                              wanted)  # fmt: skip


def test_lanes_beyond_the_last_matrix_may_be_anywhere() -> None:
    wild = "  setp.ge.u32 %p0, %r60, 8;\n  @%p0 mov.u32 %r51, 12345;\n"
    held = memory(32)
    run_text(kernel(START + FILL + SYNC + CLEAR + wild + load(1) + OUT, 2), held, 32)
    assert held[0].reshape(32, 8)[31, :2].tolist() == rows(32).reshape(32, 8)[7, 6:].tolist()


def fault(body: str, kind: str, threads: int = 32) -> FaultError:
    return faulty(START + body, kind, "ldmatrix", threads, 1, memory(threads), 2)


def test_faults() -> None:
    assert fault(FILL + SYNC + load(4, at="%r51+8"), "alignment").thread == (0, 0, 0)
    assert "shared address 2048" in fault(FILL + SYNC + load(4, at="%r51+2048"), "bounds").what
    assert fault(load(2), "uninitialised").thread == (0, 0, 0)
    assert fault(FILL + load(4), "race").thread == (0, 0, 0)
    error = fault("  setp.lt.u32 %p0, %r60, 31;\n  @!%p0 bra DONE;\n" + load(1) + "DONE:\n",
                  "collective")  # fmt: skip
    assert error.thread == (31, 0, 0)
    fault(FILL + SYNC + load(1), "collective", 24)
    copy = "  cp.async.cg.shared.global [%r51], [%rd1], 16;\n  cp.async.commit_group;\n" + SYNC
    error = fault(copy + load(4), "in flight")
    assert "reads shared address 0" in error.what


def test_what_a_warp_reads_is_not_overwritten_before_a_barrier() -> None:
    """Though the thread that writes was at that row itself: others have got parts of it."""
    store = "  st.shared.u32 [%r51], %r60;\n"
    body = START + FILL + SYNC + load(4)
    faulty(body + store, "race", "st.shared.u32", 32, 1, memory(32), 2)
    run_text(kernel(body + SYNC + store, 2), memory(32), 32)


def counted(at: str, count: int) -> tuple[int, int]:
    """(bytes, conflicts) of a load where the address of a thread is made by `at`."""
    fill = FILL + "  st.shared.v4.u32 [%r51+512], {%r1, %r2, %r3, %r4};\n"
    fill += "  st.shared.v4.u32 [%r51+1024], {%r1, %r2, %r3, %r4};\n"
    fill += "  st.shared.v4.u32 [%r51+1536], {%r1, %r2, %r3, %r4};\n"
    text = kernel(START + fill + SYNC + at + load(count, at="%r52"), 2)
    prepared = prepare(read(text, "k"))
    profile = Profile(prepared)
    execute(prepared, launch(memory(32), (1, 1, 1), (32, 1, 1)), profile=profile)
    line = profile.counters().lines[line_of(text, "ldmatrix")]
    assert (line.threads, line.warps) == (32, 1)
    return line.loaded["shared"], line.conflicts


@pytest.mark.parametrize(("stride", "conflicts"), [(16, 0), (32, 1), (64, 3), (48, 0)])
def test_bank_conflicts_are_those_of_each_matrix(stride: int, conflicts: int) -> None:
    at = f"  mad.lo.u32 %r52, %r60, {stride}, %r50;\n"
    for count in (1, 2, 4):
        if stride * 8 * count <= 2048:
            assert counted(at, count) == (128 * count, conflicts * count)


def test_steps_back() -> None:
    text = kernel(START + FILL + SYNC + CLEAR + load(2) + OUT, 2)
    s = Session(prepare(read(text, "k")), launch(memory(32), (1, 1, 1), (32, 1, 1)))
    s.run_to(line_of(text, "ldmatrix"))
    before = s.table()["%r10"]
    s.step()
    x = rows(32).view(np.uint32).reshape(32, 4)
    assert s.table()["%r10"] == x[:8].reshape(-1).tolist()
    assert s.table()["%r11"] == x[8:16].reshape(-1).tolist()
    s.back()
    assert s.table()["%r10"] == before == [0] * 32


@pytest.mark.parametrize(("line", "what"), [
    ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%r51]", "2 registers for 4 matrices"),
    ("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [%r51]", "no instruction"),
    ("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%r51]", "no instruction"),
    ("ldmatrix.aligned.m8n8.x1.shared.b16 {%r1}, [%r51]", "no instruction"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r1}, [%r51]", "no instruction"),
    ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r51]", "no instruction"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, %r51", "an address in brackets"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%h1}, [%r51]", "16 bits, which is not a .b32"),
])  # fmt: skip
def test_forms_that_are_none(line: str, what: str) -> None:
    with pytest.raises(CompileError) as found:
        read(kernel(START + f"  {line};\n", 2), "k")
    assert what in found.value.what


def test_one_register_needs_no_braces() -> None:
    text = load(1).replace("{%r10}", "%r10").replace(".shared.", ".shared::cta.")
    run_text(kernel(START + FILL + SYNC + text, 2), memory(32), 32)
