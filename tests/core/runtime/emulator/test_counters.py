"""What is counted of kernels whose figures are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.runtime.emulator.counters import Counters, LineCounters, Profile
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx.front import read
from tests.core.runtime.emulator.running import kernel, launch, line_of

SHARED = "  .shared .align 16 .b8 buf[8192];\n  mov.u32 %r50, buf;\n"


def counted(text: str, size: int = 4096, threads: int = 64, blocks: int = 2) -> Counters:
    prepared = prepare(read(text, "k"))
    profile = Profile(prepared)
    started = launch([np.zeros(size, np.uint32)], (blocks, 1, 1), (threads, 1, 1))
    execute(prepared, started, profile=profile)
    return profile.counters()


def at(text: str, part: str, threads: int = 64, blocks: int = 2) -> LineCounters:
    return counted(text, threads=threads, blocks=blocks).lines[line_of(text, part)]


def test_threads_warps_and_divergence() -> None:
    text = kernel("""
  add.u32 %r1, %r60, 1;
  setp.lt.u32 %p0, %r60, 40;
  @!%p0 bra DONE;
  xor.b32 %r2, %r60, 1;
  @%p0 not.b32 %r3, %r60;
  setp.lt.u32 %p1, %r60, 3;
  @%p1 cnot.b32 %r4, %r60;
DONE:
""")
    found = counted(text)
    add, xor = (found.lines[line_of(text, part)] for part in ("add.u32", "xor.b32"))
    assert (add.threads, add.warps, add.divergent) == (128, 4, 0)
    assert (xor.threads, xor.warps, xor.divergent) == (80, 4, 2)
    assert found.lines[line_of(text, "not.b32 %r3")].threads == 80
    assert found.lines[line_of(text, "cnot")].threads == 6
    assert found.kinds["bra"] == 128
    assert found.threads == sum(line.threads for line in found.lines.values())


def test_loops_are_counted_by_trip() -> None:
    text = kernel("""
  mov.u32 %r1, 0;
L:
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p0, %r1, %r60;
  @%p0 bra L;
""")
    line = at(text, "add.u32")
    assert line.threads == 2 * sum(range(1, 65))
    assert (line.warps, line.divergent) == (2 * (32 + 64), 2 * (31 + 31))


@pytest.mark.parametrize(
    ("scale", "sectors", "least"), [(4, 4, 4), (8, 8, 4), (32, 32, 4), (0, 1, 4)]
)
def test_sectors(scale: int, sectors: int, least: int) -> None:
    text = kernel(f"""
  mad.wide.u32 %rd0, %r61, {scale}, %rd50;
  ld.global.u32 %r1, [%rd0];
""")
    line = at(text, "ld.global")
    assert (line.sectors, line.least) == (4 * sectors, 4 * least)
    assert line.loaded == {"global": 128 * 4}
    assert not line.stored


def test_an_access_across_a_border_touches_two_sectors_more() -> None:
    text = kernel("  mad.wide.u32 %rd0, %r61, 4, %rd50;\n  st.global.u32 [%rd0+4], %r60;")
    line = at(text, "st.global", threads=32, blocks=1)
    assert (line.sectors, line.least) == (5, 4)
    assert line.stored == {"global": 128}


@pytest.mark.parametrize(
    ("scale", "conflicts"), [(4, 0), (8, 1), (16, 3), (128, 31), (0, 0), (12, 0)]
)
def test_bank_conflicts(scale: int, conflicts: int) -> None:
    body = f"  mad.lo.u32 %r51, %r60, {scale}, %r50;\n  st.shared.u32 [%r51], %r62;"
    line = at(kernel(SHARED + body), "st.shared")
    assert (line.conflicts, line.ways) == (4 * conflicts, 1 + conflicts)


def test_generic_addresses_are_counted_where_they_lead() -> None:
    body = (
        "  cvta.shared.u64 %rd1, buf;\n  mad.wide.u32 %rd2, %r60, 8, %rd1;\n  st.u32 [%rd2], %r62;"
    )
    line = at(kernel(SHARED + body), "st.u32")
    assert (line.stored, line.conflicts, line.ways) == ({"shared": 128 * 4}, 4, 2)


def test_threads_that_are_missing() -> None:
    text = kernel("""
  setp.lt.u32 %p0, %r60, 40;
  @%p0 not.b32 %r3, %r60;
  @!%p0 bra DONE;
  xor.b32 %r2, %r60, 1;
DONE:
""")
    found = counted(text, threads=48, blocks=1).lines
    counts = {part: found[line_of(text, part)] for part in ("setp", "not.b32", "xor")}
    assert {part: (line.threads, line.lanes) for part, line in counts.items()} == {
        "setp": (48, 48),
        "not.b32": (40, 48),
        "xor": (40, 48),
    }


def test_wide_accesses_of_shared_memory_take_turns_without_conflicts() -> None:
    body = "  mad.lo.u32 %r51, %r60, 16, %r50;\n"
    body += "  st.shared.v4.u32 [%r51], {%r62, %r62, %r62, %r62};"
    line = at(kernel(SHARED + body), "st.shared")
    assert line.conflicts == 0
    assert line.stored == {"shared": 128 * 16}
