"""Every kind of fault, planted: what is said, of which line, block and thread."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import FaultError, RunError
from core.runtime.emulator.faults import HINTS
from core.runtime.emulator.machine import execute
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.state import Checks, Launch
from tests.core.runtime.emulator.running import Array, kernel, launch, line_of, run_text

SHARED = "  .shared .align 16 .b8 buf[128];\n  mov.u32 %r50, buf;\n"
LOCAL = "  .local .align 16 .b8 mine[32];\n  mov.u64 %rd40, mine;\n"


def faulty(
    body: str,
    kind: str,
    at: str,
    threads: int = 4,
    blocks: int = 2,
    memory: list[Array] | None = None,
    pointers: int = 1,
    unwritten: tuple[int, ...] = (),
) -> FaultError:
    """The fault of a kernel, which must be of that kind and line."""
    text = kernel(body, pointers)
    arrays = [np.zeros(16, np.uint32)] * pointers if memory is None else memory
    with pytest.raises(FaultError) as caught:
        run_text(text, arrays, threads, blocks, unwritten=unwritten)
    error = caught.value
    assert error.kind == kind and kind in HINTS
    line = text.splitlines()[error.line - 1]
    assert at in line
    assert f"line {error.line}: {line.strip()}" in error.where
    x, y, z = error.block
    assert f"block ({x}, {y}, {z})" in error.where
    return error


def address(scale: int = 4, offset: int = 0) -> str:
    return f"  mad.wide.u32 %rd0, %r61, {scale}, %rd50;\n  add.u64 %rd0, %rd0, {offset};\n"


def test_outside_of_global_memory() -> None:
    error = faulty(address(16) + "  ld.global.u32 %r1, [%rd0];", "bounds", "ld.global")
    assert (error.block, error.thread) == ((1, 0, 0), (0, 0, 0))
    assert "0 bytes past the end of data0, which has 64 bytes" in error.what
    error = faulty(address(4) + "  st.global.u32 [%rd0+-4], %r61;", "bounds", "st.global")
    assert "4 bytes before the start of data0" in error.what
    assert (error.block, error.thread) == ((0, 0, 0), (0, 0, 0))
    body = address(8, 8) + "  ld.global.v2.u32 {%r1, %r2}, [%rd0];"
    error = faulty(body, "bounds", "ld.global.v2", memory=[np.zeros(17, np.uint32)])
    assert error.thread == (3, 0, 0)
    assert (
        "4 lie past the end"
        in faulty(body, "bounds", "ld.global.v2", memory=[np.zeros(7, np.uint32)], blocks=1).what
    )


def test_a_null_pointer_is_named_by_its_address() -> None:
    error = faulty("  mov.u64 %rd0, 0;\n  ld.global.u32 %r1, [%rd0+12];", "bounds", "ld.global")
    assert "at address 0xc" in error.what
    text = kernel("  mov.u64 %rd0, 0;\n  ld.global.u32 %r1, [%rd0];", 0)
    with pytest.raises(FaultError, match="the launch has no memory"):
        run_text(text, [])


def test_one_buffer_is_not_reached_from_another() -> None:
    body = address(4, 1 << 24) + "  ld.global.u32 %r1, [%rd0];"
    run_text(kernel(body, 2), [np.zeros(8, np.uint32)] * 2, 4, 2)  # it is the other one's memory
    faulty(address(4, 1 << 23) + "  ld.global.u32 %r1, [%rd0];", "bounds", "ld.global")


def test_threads_may_access_several_buffers_at_once() -> None:
    body = """
  setp.lt.u32 %p0, %r60, 2;
  selp.b64 %rd1, %rd50, %rd51, %p0;
  mad.wide.u32 %rd0, %r61, 4, %rd1;
  ld.global.u32 %r1, [%rd0];
  add.u32 %r1, %r1, 100;
  st.global.u32 [%rd0], %r1;
"""
    memory: list[Array] = [np.arange(4, dtype=np.uint32), np.arange(4, dtype=np.uint32) + 50]
    run_text(kernel(body, 2), memory, 4)
    assert memory[0].tolist() == [100, 101, 2, 3]
    assert memory[1].tolist() == [50, 51, 152, 153]


def test_alignment() -> None:
    error = faulty(address(2) + "  ld.global.u32 %r1, [%rd0];", "alignment", "ld.global", blocks=1)
    assert error.thread == (1, 0, 0)
    body = address(4) + "  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd0];"
    assert "16 does not divide" in faulty(body, "alignment", "ld.global.v4").what


def test_inputs_are_not_written() -> None:
    region = Region("data0", 1 << 40, np.zeros(16, np.uint8), None, writable=False)
    code = read(kernel("  st.global.u32 [%rd50], %r60;"), "k")
    started = Launch((1, 1, 1), (1, 1, 1), (1 << 40).to_bytes(8, "little"), (region,))
    with pytest.raises(FaultError, match="data0, an input") as caught:
        execute(prepare(code), started)
    assert caught.value.kind == "read-only"


def test_shared_and_local_memory_end() -> None:
    body = SHARED + "  mad.lo.u32 %r51, %r60, 40, %r50;\n  st.shared.u32 [%r51], %r60;"
    error = faulty(body, "bounds", "st.shared", threads=5)
    assert error.thread == (4, 0, 0)
    assert "shared address 160; there are 128 bytes" in error.what
    body = LOCAL + "  cvt.u64.u32 %rd1, %r60;\n  mad.lo.u64 %rd1, %rd1, 12, %rd40;\n"
    error = faulty(body + "  st.local.u32 [%rd1], %r60;", "bounds", "st.local")
    assert error.thread == (3, 0, 0)
    body = SHARED + "  sub.u32 %r51, %r50, 4;\n  st.shared.u32 [%r51], %r60;"
    assert faulty(body, "bounds", "st.shared").thread == (0, 0, 0)


def test_what_nothing_has_written() -> None:
    assert "register %r9" in faulty("  add.u32 %r1, %r9, 1;", "uninitialised", "add.u32").what
    body = SHARED + "  ld.shared.u32 %r1, [%r50+8];"
    assert "shared address 8" in faulty(body, "uninitialised", "ld.shared").what
    body = LOCAL + "  st.local.u32 [%rd40], %r60;\n  ld.local.v2.u32 {%r1, %r2}, [%rd40];"
    assert "of local memory" in faulty(body, "uninitialised", "ld.local").what
    error = faulty(
        address(4) + "  ld.global.u32 %r1, [%rd0];", "uninitialised", "ld.global", unwritten=(0,)
    )
    assert "at 0 of data0" in error.what
    body = address(4) + "  st.global.u32 [%rd0], %r1;\n  ld.global.u32 %r2, [%rd0];"
    body = "  mov.u32 %r1, 7;\n" + body
    run_text(kernel(body), [np.zeros(8, np.uint32)], 4, 2, unwritten=(0,))
    body += "\n  ld.global.u32 %r3, [%rd50+28];"
    faulty(body, "uninitialised", "[%rd50+28]", blocks=1, unwritten=(0,))


def test_shared_memory_of_one_block_is_not_that_of_another() -> None:
    body = (
        SHARED
        + """
  setp.ne.u32 %p0, %r62, 0;
  @%p0 bra READ;
  st.shared.u32 [%r50], %r60;
READ:
  ld.shared.u32 %r1, [%r50];
"""
    )
    assert faulty(body, "uninitialised", "ld.shared", threads=1).block == (1, 0, 0)


NEIGHBOUR = (
    SHARED
    + """
  mad.lo.u32 %r51, %r60, 4, %r50;
  st.shared.u32 [%r51], %r61;
  BARRIER
  xor.b32 %r52, %r60, 1;
  mad.lo.u32 %r53, %r52, 4, %r50;
  ld.shared.u32 %r1, [%r53];
  AGAIN
  st.shared.u32 [%r51], %r1;
"""
)


def test_races() -> None:
    wrong = NEIGHBOUR.replace("BARRIER", "").replace("AGAIN", "")
    error = faulty(wrong, "race", "ld.shared")
    assert "shared address 4, which thread 1 of the block wrote" in error.what
    wrong = NEIGHBOUR.replace("BARRIER", "bar.sync 0;").replace("AGAIN", "")
    error = faulty(wrong, "race", "st.shared.u32 [%r51], %r1")
    assert "accessed since the last barrier" in error.what
    right = NEIGHBOUR.replace("BARRIER", "bar.sync 0;").replace("AGAIN", "bar.sync 0;")
    run_text(kernel(right), [np.zeros(4, np.uint32)], 4, 3)
    run_text(kernel(wrong), [np.zeros(4, np.uint32)], 4, 3, checks=Checks(races=False))


def test_two_values_at_one_place_at_once() -> None:
    error = faulty(SHARED + "  st.shared.u32 [%r50], %r60;", "race", "st.shared")
    assert "another thread writes another value" in error.what
    run_text(kernel(SHARED + "  st.shared.u32 [%r50], %r62;"), [np.zeros(4, np.uint32)], 4, 2)


def test_neighbouring_bytes_are_not_one_place() -> None:
    body = (
        SHARED
        + """
  add.u32 %r51, %r50, %r60;
  cvt.u16.u32 %h1, %r60;
  st.shared.u8 [%r51], %h1;
  ld.shared.u8 %h2, [%r51];
"""
    )
    run_text(kernel(body), [np.zeros(4, np.uint32)], 4, 2)
    faulty(body.replace("ld.shared.u8 %h2, [%r51]", "ld.shared.u32 %r9, [%r50]"), "race", "ld.sh")


def test_missing_barriers() -> None:
    body = (
        SHARED
        + """
  setp.lt.u32 %p0, %r60, 3;
  @!%p0 bra DONE;
  bar.sync 0;
DONE:
"""
    )
    error = faulty(body, "barrier", "bar.sync")
    assert error.thread == (3, 0, 0)
    assert "1 of 4 living threads" in error.what
    run_text(kernel(body.replace("%r60, 3", "%r62, 1")), [np.zeros(4, np.uint32)], 4, 2)
    body = body.replace("bra DONE", "ret")  # threads that have ended are not waited for
    run_text(kernel(body), [np.zeros(4, np.uint32)], 4, 2)


def test_a_barrier_in_a_loop_with_trip_counts_of_each_block() -> None:
    body = (
        SHARED
        + """
  mov.u32 %r1, 0;
LOOP:
  bar.sync 0;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p0, %r1, LIMIT;
  @%p0 bra LOOP;
"""
    )
    run_text(kernel(body.replace("LIMIT", "%r62")), [np.zeros(4, np.uint32)], 4, 3)
    faulty(body.replace("LIMIT", "%r60"), "barrier", "bar.sync")


def test_generic_addresses_lead_into_their_window() -> None:
    body = (
        SHARED
        + LOCAL
        + """
  cvt.u64.u32 %rd1, %r50;
  cvta.shared.u64 %rd2, %rd1;
  cvta.local.u64 %rd3, %rd40;
  setp.lt.u32 %p0, %r60, 2;
  selp.b64 %rd4, %rd2, %rd3, %p0;
  mov.u32 %r1, 77;
  st.u32 [%rd4+4], %r1;
  @!%p0 ld.local.u32 %r2, [%rd40+4];
  @%p0 ld.shared.u32 %r2, [%r50+4];
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.u32 [%rd0], %r2;
"""
    )
    out = np.zeros(8, np.uint32)
    run_text(kernel(body), [out], 4, 2)
    assert out.tolist() == [77] * 8
    faulty(body.replace("[%rd4+4]", "[%rd4+128]"), "bounds", "st.u32 [%rd4")


def test_launches_that_no_gpu_takes() -> None:
    code = prepare(read(kernel("", 0), "k"))
    with pytest.raises(RunError, match="of \\(2000, 1, 1\\) threads"):
        execute(code, launch([], (1, 1, 1), (2000, 1, 1)))
    with pytest.raises(RunError, match="at least one block"):
        execute(code, launch([], (0, 1, 1), (1, 1, 1)))
    text = kernel("", 0).replace("\n)\n{", "\n)\n.reqntid 8, 2\n{")
    with pytest.raises(RunError, match="made for \\(8, 2, 1\\)"):
        execute(prepare(read(text, "k")), launch([], (1, 1, 1), (8, 1, 1)))
    execute(prepare(read(text, "k")), launch([], (1, 1, 1), (8, 2, 1)))


def test_lines_are_those_of_the_text() -> None:
    text = kernel("  add.u32 %r1, %r60, 1;\n\n  // nothing\n  ld.global.u32 %r2, [%rd50+400];")
    with pytest.raises(FaultError) as caught:
        run_text(text, [np.zeros(4, np.uint32)])
    assert caught.value.line == line_of(text, "ld.global")
