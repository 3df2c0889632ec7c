"""cp.async: bytes arrive at the wait for their group, and not before; what is counted; and every
way to touch them too early."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import CompileError, FaultError
from core.runtime.emulator.counters import Counters, Profile
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.program import Space
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.session import Session
from core.runtime.emulator.state import Checks
from tests.core.runtime.emulator.running import Array, kernel, launch, line_of, run_text
from tests.core.runtime.emulator.test_faults import faulty

START = """
  .shared .align 16 .b8 buf[1024];
  mov.u32 %r50, buf;
  mad.lo.u32 %r51, %r60, 16, %r50;
  mad.wide.u32 %rd0, %r60, 16, %rd50;
  mad.wide.u32 %rd1, %r60, 16, %rd51;
"""
"""Thread t has 16 bytes of its own: in buf at %r51, of data0 (out) at %rd0, of data1 at %rd1."""
OUT = """
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r51];
  st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
"""
COPY = "  cp.async.cg.shared.global [%r51], [%rd1], 16;\n"
COMMIT = "  cp.async.commit_group;\n"


def values(threads: int) -> Array:
    return np.arange(threads * 4, dtype=np.uint32) + 100


def result(body: str, threads: int = 4, checks: Checks | None = None) -> Array:
    """What data0 holds after the body, 4 words for each thread."""
    out = np.zeros(threads * 4, np.uint32)
    run_text(kernel(START + body, 2), [out, values(threads)], threads, checks=checks)
    return out.reshape(-1, 4)


def fault(body: str, kind: str, at: str, threads: int = 4) -> FaultError:
    memory = [np.zeros(64, np.uint32), values(16)]
    return faulty(START + body, kind, at, threads, 1, memory, 2)


@pytest.mark.parametrize("end", [COMMIT + "  cp.async.wait_group 0;\n", "  cp.async.wait_all;\n"])
def test_what_is_copied_is_there_after_the_wait(end: str) -> None:
    np.testing.assert_array_equal(result(COPY + end + OUT), values(4).reshape(-1, 4))


@pytest.mark.parametrize(("cache", "nbytes"), [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)])
def test_every_size(cache: str, nbytes: int) -> None:
    store = "  st.shared.v4.u32 [%r51], {%r10, %r10, %r10, %r10};\n"
    for where in ("shared", "shared::cta"):
        copy = f"  cp.async.{cache}.{where}.global.L2::128B [%r51], [%rd1], {nbytes};\n"
        found = result("  mov.u32 %r10, 7;\n" + store + copy + "  cp.async.wait_all;\n" + OUT)
        wanted = values(4).reshape(-1, 4).copy()
        wanted[:, nbytes // 4 :] = 7
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("taken", range(17))
def test_bytes_that_are_not_taken_become_zero(taken: int) -> None:
    """How many are taken is in a register, or a literal."""
    wanted = values(4).view(np.uint8).reshape(4, 16).copy()
    wanted[:, taken:] = 0
    copy = f"  mov.u32 %r9, {taken};\n  cp.async.cg.shared.global [%r51], [%rd1], 16, %r9;\n"
    found = result(copy + "  cp.async.wait_all;\n" + OUT)
    np.testing.assert_array_equal(found.view(np.uint8), wanted)
    copy = f"  cp.async.cg.shared.global [%r51], [%rd1], 16, {taken};\n"
    found = result(copy + "  cp.async.wait_all;\n" + OUT)
    np.testing.assert_array_equal(found.view(np.uint8), wanted)


def test_threads_take_different_numbers_of_bytes() -> None:
    copy = ("  mul.lo.u32 %r9, %r60, 5;\n"
            "  cp.async.cg.shared.global [%r51], [%rd1], 16, %r9;\n")  # fmt: skip
    wanted = values(4).view(np.uint8).reshape(4, 16).copy()
    for t in range(4):
        wanted[t, 5 * t :] = 0
    found = result(copy + "  cp.async.wait_all;\n" + OUT)
    np.testing.assert_array_equal(found.view(np.uint8), wanted)


def test_an_address_of_which_nothing_is_taken_may_be_anywhere() -> None:
    copy = ("  mov.u64 %rd1, 16;\n  mov.u32 %r9, 0;\n"
            "  cp.async.cg.shared.global [%r51], [%rd1], 16, %r9;\n")  # fmt: skip
    assert not result(copy + "  cp.async.wait_all;\n" + OUT).any()


GROUPS = "".join(
    f"  cp.async.ca.shared.global [%r51+{4 * i}], [%rd1+{4 * i}], 4;\n{COMMIT}" for i in range(4)
)


@pytest.mark.parametrize("behind", range(5))
def test_all_groups_but_the_last_arrive(behind: int) -> None:
    """Without checks, as a GPU does: what has not arrived is what was there."""
    body = GROUPS + f"  cp.async.wait_group {behind};\n" + OUT
    found = result(body, checks=Checks(False, False, False))
    wanted = values(4).reshape(-1, 4).copy()
    wanted[:, 4 - min(behind, 4) :] = 0
    np.testing.assert_array_equal(found, wanted)
    if behind:
        fault(body, "in flight", "ld.shared")


def test_copies_of_no_group_are_not_waited_for() -> None:
    fault(COPY + "  cp.async.wait_group 0;\n" + OUT, "in flight", "ld.shared")


def test_empty_groups_count() -> None:
    body = COPY + COMMIT * 3 + "  cp.async.wait_group 2;\n" + OUT
    np.testing.assert_array_equal(result(body), values(4).reshape(-1, 4))


def test_each_thread_counts_its_own_groups() -> None:
    """Odd threads commit an empty group more, so theirs have arrived where one may be behind."""
    body = ("  and.b32 %r9, %r60, 1;\n  setp.eq.u32 %p0, %r9, 1;\n" + COPY + COMMIT
            + "  @%p0 cp.async.commit_group;\n  cp.async.wait_group 1;\n")  # fmt: skip
    found = result(body + OUT, checks=Checks(False, False, False))
    wanted = values(4).reshape(-1, 4).copy()
    wanted[::2] = 0
    np.testing.assert_array_equal(found, wanted)
    error = fault(body + OUT, "in flight", "ld.shared")
    assert error.thread == (0, 0, 0)


def test_some_threads_copy() -> None:
    body = ("  setp.lt.u32 %p0, %r60, 2;\n  mov.u32 %r10, 7;\n"
            "  st.shared.v4.u32 [%r51], {%r10, %r10, %r10, %r10};\n"
            "  @%p0 cp.async.cg.shared.global [%r51], [%rd1], 16;\n  @!%p0 bra DONE;\n"
            "  cp.async.wait_all;\nDONE:\n")  # fmt: skip
    wanted = values(4).reshape(-1, 4).copy()
    wanted[2:] = 7
    np.testing.assert_array_equal(result(body + OUT), wanted)


def test_other_threads_need_a_barrier_after_the_wait() -> None:
    other = "  xor.b32 %r9, %r60, 1;\n  mad.lo.u32 %r51, %r9, 16, %r50;\n" + OUT
    waited = COPY + "  cp.async.wait_all;\n"
    found = result(waited + "  bar.sync 0;\n" + other)
    np.testing.assert_array_equal(found, values(4).reshape(2, 2, 4)[:, ::-1].reshape(-1, 4))
    error = fault(waited + other, "race", "ld.shared")
    assert "wrote since the last barrier" in error.what
    error = fault(COPY + COMMIT + "  bar.sync 0;\n  cp.async.wait_group 0;\n" + other, "race",
                  "ld.shared")  # fmt: skip


def test_a_barrier_is_no_wait() -> None:
    error = fault(COPY + COMMIT + "  bar.sync 0;\n" + OUT, "in flight", "ld.shared")
    assert "asynchronous copy of thread 0 of the block has not arrived" in error.what
    assert error.thread == (0, 0, 0)


def test_nobody_writes_where_a_copy_goes() -> None:
    store = "  st.shared.u32 [%r51+4], %r60;\n"
    error = fault(COPY + COMMIT + store, "in flight", "st.shared")
    assert "changes shared address 4" in error.what
    fault(COPY.replace("%r51", "%r50"), "in flight", "cp.async")
    twice = COPY + COMMIT + "  bar.sync 0;\n" + COPY.replace("cg.shared", "ca.shared")
    fault(twice, "in flight", "cp.async.ca")


def test_what_was_read_is_not_overwritten_before_a_barrier() -> None:
    first = COPY + "  cp.async.wait_all;\n  bar.sync 0;\n"
    other = "  xor.b32 %r9, %r60, 1;\n  mad.lo.u32 %r53, %r9, 16, %r50;\n"
    read_ = "  ld.shared.u32 %r5, [%r53];\n"
    again = "  cp.async.ca.shared.global [%r51], [%rd1+16], 16;\n"
    assert fault(first + other + read_ + again, "race", "cp.async.ca").thread == (0, 0, 0)
    body = first + other + read_ + "  bar.sync 0;\n" + again + "  cp.async.wait_all;\n"
    run_text(kernel(START + body, 2), [np.zeros(64, np.uint32), values(16)], 4)


@pytest.mark.parametrize(("body", "kind", "what"), [
    ("  cp.async.cg.shared.global [%r51+8], [%rd1], 16;\n", "alignment", "address 0x8"),
    ("  cp.async.cg.shared.global [%r51], [%rd1+4], 16;\n", "alignment", "of 16 bytes"),
    ("  cp.async.cg.shared.global [%r51+1024], [%rd1], 16;\n", "bounds", "shared address 1024"),
    ("  cp.async.cg.shared.global [%r51], [%rd1+1600], 16;\n", "bounds", "past the end of data1"),
    ("  mov.u32 %r9, 17;\n  cp.async.cg.shared.global [%r51], [%rd1], 16, %r9;\n", "undefined",
     "takes 17 of them"),
])  # fmt: skip
def test_where_copies_may_go(body: str, kind: str, what: str) -> None:
    assert what in fault(body, kind, "cp.async").what


def test_bytes_that_are_not_taken_are_not_read() -> None:
    """The last thread's 16 bytes begin 8 before the end."""
    memory = [np.zeros(64, np.uint32), values(1)[:2]]
    body = START + "  cp.async.cg.shared.global [%r51], [%rd1], 16, 8;\n  cp.async.wait_all;\n"
    run_text(kernel(body, 2), memory, 1)
    faulty(START + COPY, "bounds", "cp.async", 1, 1, memory, 2)


def test_what_is_copied_has_content() -> None:
    memory = [np.zeros(64, np.uint32), values(16)]
    error = faulty(START + COPY, "uninitialised", "cp.async", 4, 1, memory, 2, (1,))
    assert "of data1, which nothing has written" in error.what


@pytest.mark.parametrize(("line", "what"), [
    ("cp.async.cg.shared.global [%r51], [%rd1], 8", "8 bytes; .cg copies 16"),
    ("cp.async.ca.shared.global [%r51], [%rd1], 12", "12 bytes; .ca copies 4 or 8 or 16"),
    ("cp.async.ca.shared.global [%r51], [%rd1], %r1", "the number of bytes is a literal"),
    ("cp.async.ca.shared.global [%r51], [%rd1]", "2 operands instead of 3"),
    ("cp.async.shared.global [%r51], [%rd1], 4", "no instruction cp.async.shared.global"),
    ("cp.async.ca.global.shared [%rd1], [%r51], 4", "no instruction cp.async.ca.global.shared"),
    ("cp.async.bulk.shared.global [%r51], [%rd1], 16", "no instruction cp.async.bulk"),
    ("cp.async.ca.shared.global.L2::cache_hint [%r51], [%rd1], 4, %rd2", "no instruction"),
    ("cp.async.wait_group %r1", "the number of groups is a literal"),
    ("cp.async.wait_group -1", "the number of groups is a literal"),
    ("cp.async.wait_group", "0 operands instead of 1"),
    ("cp.async.commit_group 1", "1 operands instead of 0"),
    ("cp.reduce.async.bulk [%rd1], [%r51], 4", "no instruction cp.reduce"),
])  # fmt: skip
def test_forms_that_are_none(line: str, what: str) -> None:
    with pytest.raises(CompileError, match=line.split()[0].replace(".", r"\.")) as found:
        read(kernel(START + f"  {line};\n", 2), "k")
    assert what in found.value.what


def counted(body: str, threads: int) -> tuple[Counters, str]:
    text = kernel(START + body, 2)
    prepared = prepare(read(text, "k"))
    profile = Profile(prepared)
    memory = [np.zeros(threads * 4, np.uint32), values(threads)]
    execute(prepared, launch(memory, (1, 1, 1), (threads, 1, 1)), profile=profile)
    return profile.counters(), text


def test_copies_are_counted() -> None:
    counters, text = counted(COPY + "  cp.async.wait_all;\n" + OUT, 32)
    line = counters.lines[line_of(text, "cp.async.cg")]
    assert (line.threads, line.warps, line.sectors, line.least) == (32, 1, 16, 16)
    assert line.loaded == {"global": 512} and line.stored == {"shared": 512}
    assert line.conflicts == 0
    assert counters.kinds["cp.async.cg.shared.global"] == 32
    assert counters.kinds["cp.async.wait_all"] == 32
    half = "  mov.u32 %r9, 8;\n  cp.async.cg.shared.global [%r51], [%rd1], 16, %r9;\n"
    counters, text = counted(half + "  cp.async.wait_all;\n" + OUT, 32)
    line = counters.lines[line_of(text, "cp.async.cg")]
    assert line.loaded == {"global": 256} and line.stored == {"shared": 512}
    strided = "  mad.lo.u32 %r52, %r60, 32, %r50;\n" + COPY.replace("%r51", "%r52")
    counters, text = counted(strided, 32)
    assert counters.lines[line_of(text, "cp.async.cg")].conflicts > 0


def test_steps_back_put_what_is_on_its_way_back() -> None:
    text = kernel(START + COPY + COMMIT + "  cp.async.wait_group 0;\n" + OUT, 2)
    memory = [np.zeros(16, np.uint32), values(4)]
    s = Session(prepare(read(text, "k")), launch(memory, (1, 1, 1), (4, 1, 1)))

    def held() -> list[int]:
        return s.memory(Space.SHARED, 0, 4, "uint32").tolist()

    wait = line_of(text, "wait_group")
    for _ in range(2):
        s.run_to(wait)
        assert held() == [0, 0, 0, 0] and s.state.flights and s.state.commits.tolist() == [1] * 4
        s.step()
        assert held() == values(1).tolist() and not s.state.flights
        assert [t.space for t in s.touched] == [Space.SHARED]
        assert s.touched[0].values[1].tolist() == [101, 105, 109, 113]
        assert s.run_to() == "end"
        while s.steps and s.line != line_of(text, "cp.async.cg"):
            s.back()
        assert held() == [0, 0, 0, 0] and not s.state.flights and not s.state.commits.any()
