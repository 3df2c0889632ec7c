"""Blocks, phis and barriers: threads that part ways and meet again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import CompileError, FaultError
from tests.core.runtime.emulator.amd.kernels import HEAD, kernel
from tests.core.runtime.emulator.amd.running import run

ID = "%i = call i32 @llvm.amdgcn.workitem.id.x()\n"
STORE = "%to = getelementptr i32, ptr addrspace(1) %out, i32 %i\nstore i32 %r, ptr addrspace(1) %to"


def results(body: str, threads: int = 16) -> list[int]:
    """What each thread stores: %r of a kernel in which %i is the thread's number."""
    out = np.full(threads, -1, np.int32)
    run(kernel(ID + body + "\n" + STORE), [out, out.copy()], (1, 1, 1), (threads, 1, 1))
    return [int(v) for v in out]


def test_phis_of_a_block_are_copied_at_once() -> None:
    """Fibonacci numbers, by swapping; each thread runs its own number of rounds."""
    body = """br label %loop
    loop:
    %n = phi i32 [ 0, %entry ], [ %n1, %body ]
    %a = phi i32 [ 0, %entry ], [ %b, %body ]
    %b = phi i32 [ 1, %entry ], [ %s, %body ]
    %c = icmp slt i32 %n, %i
    br i1 %c, label %body, label %done
    body:
    %s = add i32 %a, %b
    %n1 = add nsw i32 %n, 1
    br label %loop
    done:
    %r = phi i32 [ %a, %loop ]"""
    expected = [0, 1]
    while len(expected) < 16:
        expected.append(expected[-1] + expected[-2])
    assert results(body) == expected


def test_a_swap() -> None:
    body = """br label %loop
    loop:
    %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
    %a = phi i32 [ 10, %entry ], [ %b, %loop ]
    %b = phi i32 [ 20, %entry ], [ %a, %loop ]
    %n1 = add i32 %n, 1
    %c = icmp slt i32 %n, %i
    br i1 %c, label %loop, label %done
    done:
    %r = sub i32 %a, %b"""
    assert results(body, 4) == [-10, 10, -10, 10]


def test_both_ways_into_one_block() -> None:
    body = """%c = icmp slt i32 %i, 5
    br i1 %c, label %join, label %join.x
    join.x:
    %d = icmp slt i32 %i, 9
    br i1 %d, label %join, label %other
    other:
    br label %join
    join:
    %r = phi i32 [ 1, %entry ], [ 2, %join.x ], [ poison, %other ]"""
    assert results(body) == [1] * 5 + [2] * 4 + [0] * 7


def test_a_branch_with_one_target() -> None:
    body = """%c = icmp slt i32 %i, 5
    br i1 %c, label %join, label %join
    join:
    %r = phi i32 [ 4, %entry ], [ 4, %entry ]"""
    assert results(body, 2) == [4, 4]
    with pytest.raises(CompileError, match="different values from one block"):
        results(body.replace("[ 4, %entry ],", "[ 3, %entry ],"))
    with pytest.raises(CompileError, match="those that lead here: entry, entry"):
        results(body.replace("[ 4, %entry ], ", ""))


def test_switch() -> None:
    body = """switch i32 %i, label %other [
      i32 1, label %one
      i32 3, label %join
      i32 4, label %one
    ]
    one:
    %x = mul i32 %i, 100
    br label %join
    other:
    br label %join
    join:
    %r = phi i32 [ %x, %one ], [ -7, %other ], [ %i, %entry ]"""
    assert results(body, 6) == [-7, 100, -7, 3, 400, -7]


def test_blocks_in_any_order() -> None:
    body = """br label %first
    last:
    %r = add i32 %y, 1
    br label %store
    second:
    %y = add i32 %x, %i
    br label %last
    first:
    %x = mul i32 %i, 10
    br label %second
    store:"""
    assert results(body, 3) == [1, 12, 23]


def test_blocks_that_nothing_reaches_do_not_matter() -> None:
    body = """br label %go
    lost:
    %z = add i32 %z2, 1
    br label %lost2
    lost2:
    %z2 = add i32 %z, 1
    br i1 true, label %lost, label %go
    go:
    %r = phi i32 [ 5, %entry ], [ 6, %lost2 ]"""
    assert results(body, 2) == [5, 5]


def test_threads_that_end_early() -> None:
    text = kernel(
        f"""{ID}%c = icmp slt i32 %i, 3
        br i1 %c, label %leave, label %stay
        leave:
        ret void
        stay:
        %to = getelementptr i32, ptr addrspace(1) %out, i32 %i
        store i32 1, ptr addrspace(1) %to"""
    )
    out = np.zeros(6, np.int32)
    run(text, [out, out.copy()], (1, 1, 1), (6, 1, 1))
    assert out.tolist() == [0, 0, 0, 1, 1, 1]


SHARED = "@lds = internal addrspace(3) global [64 x i32] poison, align 16\n"
FENCED = ('fence syncscope("workgroup") release\ncall void @llvm.amdgcn.s.barrier()\n'
          'fence syncscope("workgroup") acquire')  # fmt: skip
MIRROR = f"""{ID}%here = getelementptr i32, ptr addrspace(3) @lds, i32 %i
    store i32 %i, ptr addrspace(3) %here, align 4
    BARRIER
    %j = sub i32 63, %i
    %there = getelementptr i32, ptr addrspace(3) @lds, i32 %j
    %r = load i32, ptr addrspace(3) %there, align 4
    {STORE}"""


def mirror(barrier: str) -> list[int]:
    out = np.zeros(64, np.int32)
    text = kernel(MIRROR.replace("BARRIER", barrier), before=SHARED)
    run(text, [out, out.copy()], (1, 1, 1), (64, 1, 1), target="gfx942")
    return [int(v) for v in out]


def test_shared_memory_between_barriers() -> None:
    assert mirror(FENCED) == list(range(63, -1, -1))


def test_a_missing_barrier_is_a_race() -> None:
    with pytest.raises(FaultError) as caught:
        mirror("")
    assert caught.value.kind == "race"
    assert "load i32, ptr addrspace(3) %there" in caught.value.where


@pytest.mark.parametrize(
    ("barrier", "what"),
    [
        ("call void @llvm.amdgcn.s.barrier()", "a fence before it"),
        (FENCED.replace("release", "acquire"), "a fence before it"),
        (FENCED.removesuffix('fence syncscope("workgroup") acquire'), "a fence after it"),
        (FENCED.replace('"workgroup") release', '"wavefront") release'), "a fence before it"),
    ],
)
def test_a_barrier_without_fences_is_refused(barrier: str, what: str) -> None:
    with pytest.raises(CompileError, match=what):
        mirror(barrier)


def test_wider_fences_do_as_well() -> None:
    wide = FENCED.replace('syncscope("workgroup") release', "seq_cst")
    assert mirror(wide.replace('"workgroup"', '"agent"')) == list(range(63, -1, -1))


def test_a_barrier_that_some_do_not_reach() -> None:
    body = f"""{ID}%c = icmp slt i32 %i, 3
    br i1 %c, label %some, label %all
    some:
    {FENCED}
    br label %all
    all:"""
    with pytest.raises(FaultError) as caught:
        run(kernel(body), [np.zeros(4, np.int32)] * 2, (1, 1, 1), (8, 1, 1))
    assert caught.value.kind == "barrier"


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[tuple[str, int, int, int]]]:
    """Nested ifs and loops on the thread's number; and what they do, to be done in Python."""
    lines: list[str] = []
    model: list[tuple[str, int, int, int]] = []
    block, value = "entry", "%i"
    for number in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["if", "ifelse", "loop"]))
        a, b = draw(st.integers(0, 12)), draw(st.integers(1, 5))
        model.append((kind, a, b, 0))
        if kind == "loop":
            lines += [
                f"br label %l{number}", f"l{number}:",
                f"%k{number} = phi i32 [ 0, %{block} ], [ %kn{number}, %m{number} ]",
                f"%p{number} = phi i32 [ {value}, %{block} ], [ %pn{number}, %m{number} ]",
                f"%u{number} = and i32 %i, {b}",
                f"%c{number} = icmp slt i32 %k{number}, %u{number}",
                f"br i1 %c{number}, label %m{number}, label %d{number}", f"m{number}:",
                f"%t{number} = mul i32 %p{number}, 3",
                f"%pn{number} = add i32 %t{number}, %k{number}",
                f"%kn{number} = add i32 %k{number}, 1", f"br label %l{number}", f"d{number}:",
            ]  # fmt: skip
            block, value = f"d{number}", f"%p{number}"
        else:
            other = f"e{number}" if kind == "ifelse" else f"d{number}"
            lines += [
                f"%a{number} = and i32 {value}, 15",
                f"%c{number} = icmp slt i32 %a{number}, {a}",
                f"br i1 %c{number}, label %t{number}, label %{other}", f"t{number}:",
                f"%x{number} = add i32 {value}, {b}", f"br label %d{number}",
            ]  # fmt: skip
            source, second = block, value
            if kind == "ifelse":
                lines += [
                    f"e{number}:",
                    f"%y{number} = mul i32 {value}, {b}",
                    f"br label %d{number}",
                ]
                source, second = f"e{number}", f"%y{number}"
            lines += [
                f"d{number}:",
                f"%p{number} = phi i32 [ %x{number}, %t{number} ], [ {second}, %{source} ]",
            ]
            block, value = f"d{number}", f"%p{number}"
    lines.append(f"%r = add i32 {value}, 0")
    return "\n".join(lines), model


def modelled(model: list[tuple[str, int, int, int]], i: int) -> int:
    value = i
    for kind, a, b, _ in model:
        if kind == "loop":
            for k in range(i & b):
                value = value * 3 + k
        elif value & 15 < a:
            value += b
        elif kind == "ifelse":
            value *= b
        value = (value + (1 << 31)) % (1 << 32) - (1 << 31)
    return value


@settings(max_examples=60, deadline=None)
@given(programs())
def test_random_control_flow(program: tuple[str, list[tuple[str, int, int, int]]]) -> None:
    body, model = program
    assert results(body, 32) == [modelled(model, i) for i in range(32)]


def test_the_kernel_and_the_target_are_the_ones_asked_for() -> None:
    text = kernel("fence seq_cst")
    with pytest.raises(CompileError, match="it defines @other, not @k"):
        run(text.replace("@k", "@other"), [np.zeros(1, np.int32)] * 2)
    with pytest.raises(CompileError, match="not for AMD GPUs"):
        run(text.removeprefix(HEAD), [np.zeros(1, np.int32)] * 2)
