"""PTX that is not PTX, or not what the emulator has: one error, with the line and what is wrong."""

from __future__ import annotations

import random

import numpy as np
import pytest

from core.errors import CompileError, FaultError, RunError
from core.runtime.emulator.ptx.front import read
from tests.core.runtime.emulator.running import kernel, line_of, run_text

WRONG = {
    "  frobnicate.u32 %r1, %r60;": "no instruction frobnicate.u32",
    "  add.sat.u32 %r1, %r60, 1;": "no instruction add.sat.u32",
    "  add.u24 %r1, %r60, 1;": "no instruction add.u24",
    "  mul.u32 %r1, %r60, 1;": "no instruction mul.u32",
    "  mul.wide.u64 %rd1, %rd2, %rd3;": "no instruction mul.wide.u64",
    "  sqrt.approx.f64 %fd1, %fd2;": "no instruction sqrt.approx.f64",
    "  ex2.f32 %f1, %f2;": "no instruction ex2.f32",
    "  add.rz.f32 %f1, %f2, %f3;": "no instruction add.rz.f32",
    "  fma.f32 %f1, %f2, %f3, %f4;": "no instruction fma.f32",
    "  cvt.f32.f64 %f1, %fd1;": "no instruction cvt.f32.f64",
    "  cvt.rn.f64.f32 %fd1, %f1;": "no instruction cvt.rn.f64.f32",
    "  cvt.rn.u32.f32 %r1, %f1;": "no instruction cvt.rn.u32.f32",
    "  setp.foo.u32 %p1, %r60, 1;": "no instruction setp.foo.u32",
    "  setp.lo.s32 %p1, %r60, 1;": "no instruction setp.lo.s32",
    "  ld.elsewhere.u32 %r1, [%rd50];": "no instruction ld.elsewhere.u32",
    "  ld.global.v3.u32 {%r1, %r2, %r3}, [%rd50];": "no instruction ld.global.v3.u32",
    "  st.param.u32 [data0], %r1;": "no instruction st.param.u32",
    "  atom.global.add.u32 %r1, [%rd50], 1;": "no instruction atom.global.add.u32",
    "  call.uni f, ();": "'(' where a number should be",
    "  bar.arrive 0, 32;": "no instruction bar.arrive",
    "  add.u32 %r1, %r60;": "2 operands instead of 3",
    "  add.u32 %r1, %r60, 1, 2;": "4 operands instead of 3",
    "  add.u32 %r1, %rd50, 1;": "%rd50 has 64 bits, which is not a .u32",
    "  add.u32 %p1, %r60, 1;": "%p1 has a predicate, which is not a .u32",
    "  add.u32 %r64, %r60, 1;": "%r64 is not declared",
    "  add.u32 %r01, %r60, 1;": "%r01 is not declared",
    "  add.u32 5, %r60, 1;": "a register is wanted here",
    "  add.f32 %f1, %f2, 1;": "a .f32 cannot be given as 1",
    "  add.f32 %f1, %f2, 1.0;": "'1.0' where a number should be",
    "  bra NOWHERE;": "there is no label NOWHERE",
    "  bra 5;": "a label is wanted here",
    "  @%r60 add.u32 %r1, %r60, 1;": "%r60 is not a predicate",
    "  @%q add.u32 %r1, %r60, 1;": "%q is not a predicate",
    "L:\nL:": "the label L is there twice",
    "  ld.global.u32 %r1, %rd50;": "an address in brackets",
    "  ld.global.u32 %r1, [%h1];": "%h1 has 16 bits, which is no address",
    "  ld.global.u32 %r1, [nothing];": "nothing is not declared",
    "  ld.global.u32 %r1, [data0];": "data0 is in .param memory",
    "  ld.global.v2.u32 %r1, [%rd50];": "1 registers for 2 elements",
    "  mov.u32 %r1, %smid;": "%smid is not declared",
    "  mov.u64 %rd1, %tid.x;": "%tid.x has 32 bits",
    "  .reg .b128 %x;": "registers of type .b128",
    "  .reg .f32 %x<16777217>;": "16777217 registers %x",
    "  .visible .entry other();": "a kernel inside of a kernel",
    "  { .entry other() }": "a kernel inside of a kernel",
    "  .shared .b8 x[];": "x has no size",
    "  .shared x[4];": "without a type",
    "  .tex .u64 x;": "no directive .tex",
    "  add.u32 %r1, %r60 1;": "'1' after the last operand",
    "  add.u32 %r1, %r60, #;": "'#' is not PTX",
    "  add.u32 %r1, %r60, 1": "'ret' after the last operand",
    "  bar.sync 99;": "number is 0 to 15",
    "  lop3.b32 %r1, %r2, %r3, %r4, %r5;": "the table is a number",
}


@pytest.mark.parametrize("body", WRONG)
def test_one_error_with_its_line(body: str) -> None:
    text = kernel(body)
    with pytest.raises(CompileError) as caught:
        read(text, "k")
    error = caught.value
    assert WRONG[body] in error.what
    assert error.what.startswith("ptx: ")
    quoted = error.where.split(": ", 1)
    line = int(quoted[0].removeprefix("line "))
    assert text.splitlines()[line - 1].strip() == quoted[1]
    assert body.strip().splitlines()[-1].strip() == quoted[1]


def test_text_without_the_kernel() -> None:
    with pytest.raises(CompileError, match="no kernel 'other'") as caught:
        read(kernel(""), "other")
    assert "kernels in the text: k" in str(caught.value)
    with pytest.raises(CompileError, match="kernels in the text: none"):
        read("", "k")
    with pytest.raises(CompileError, match="without its '}'"):
        read(kernel("")[:-3], "k")
    with pytest.raises(CompileError, match=r"without a '\{'"):
        read(kernel("") + "}", "k")
    with pytest.raises(CompileError, match="ends within a statement"):
        read(kernel("").replace("ret;", "ret"), "k")
    with pytest.raises(CompileError, match="outside of a kernel"):
        read("add.u32 %r1, %r2, %r3;\n" + kernel(""), "k")
    with pytest.raises(CompileError, match="no functions"):
        read(".func f() { ret; }\n" + kernel(""), "k")


def test_other_kernels_of_the_text_are_skipped() -> None:
    other = kernel("  frobnicate %r1;").replace(".entry k", ".entry other")
    read(other + kernel("").replace(".version 8.6\n", ""), "k")


def test_as_many_registers_as_can_be_declared() -> None:
    code = read(kernel("  .reg .b32 %x<16777216>;\n  mov.u32 %x16777215, 1;"), "k")
    assert "%x16777215" in code.registers and "%x0" not in code.registers


def test_declarations() -> None:
    declared = """
.const .align 4 .u32 table[4] = {1, 2, 0x30, -1};
.global .align 8 .b8 bytes[8] = {1, 2, 3};
.extern .shared .align 16 .b8 more[];
"""
    body = """
  .shared .align 4 .b8 first[6];
  .shared .align 16 .f32 second[2][2];
  { .reg .u32 %inner; mov.u32 %inner, second; mov.u32 %r1, %inner; }
  ld.const.u32 %r2, [table+8];
  ld.const.u32 %r3, [table+12];
  mov.u64 %rd1, bytes;
  ld.global.u8 %r4, [%rd1+2];
  ld.global.u32 %r5, [bytes];
  st.global.u32 [bytes+4], %r2;
  mov.u32 %r6, more;
  st.global.v4.u32 [%rd50], {%r1, %r2, %r3, %r4};
  st.global.v2.u32 [%rd50+16], {%r5, %r6};
"""
    out = np.zeros(6, np.uint32)
    code = run_text(kernel(body, declarations=declared), [out])
    assert out.tolist() == [16, 0x30, 0xFFFFFFFF, 3, 0x030201, 32]
    assert code.shared_bytes == 32
    assert code.shared_names == {0: "first", 16: "second", 32: "more"}
    assert [d.name for d in code.data] == ["bytes"]
    assert code.instructions[0].line == line_of(code.text, "ld.param.u64 %rd50")


def test_comments_and_spelling() -> None:
    body = """
  /* several
     lines */ mov.u32 %r1, 0x1F; // and one
  mov.u32 %r2, -1;  mov.u32 %r3, 4294967295U;
  mov.f32 %f1, 0F3f800000; mov.f64 %fd1, 0dBFF0000000000000;
  mov.b32 %r4, %f1;
  cvt.rn.f32.f64 %f2, %fd1;
  mov.b32 %r5, %f2;
  st.global.v4.b32 [%rd50+0], {%r1, %r2, %r3, %r4};
  st.global.b32 [%rd50 + 16], %r5;
"""
    out = np.zeros(5, np.uint32)
    run_text(kernel(body), [out])
    assert out.tolist() == [31, 0xFFFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000]


LONG = ["9" * 400_000, "0x" + "f" * 400_000, "0b" + "1" * 400_000, "0" * 400_000, "08",
        "1" + "0" * 19, "0" * 400_000 + "7", str(2**64), str(2**64 - 1), str(2**63)]  # fmt: skip
PLACES = ["mov.u32 %r1, N;", "add.u64 %rd1, %rd50, -N;", "ld.global.u32 %r1, [%rd50+N];",
          "ld.global.u32 %r1, [N];", "add.u32 %rN, %r60, 1;", ".reg .b32 %x<N>;", "bar.sync N;",
          ".shared .align N .b8 x[4];", ".shared .b8 x[N];", ".shared .b8 x[N][N];",
          ".local .u32 x[2] = {N};", "mov.f32 %f1, N;", "mov.f32 %f1, 0fN;"]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", LONG, ids=lambda number: f"{number[:3]}, {len(number)}")
def test_numbers_that_are_too_large_are_errors_of_the_text(place: str, number: str) -> None:
    text, found = kernel(f"  {place.replace('N', number)}"), None
    try:
        run_text(text, [np.zeros(8, np.uint32)], limit=100)
    except FaultError:  # of a number that is one, and no address
        assert len(number.lstrip("0")) <= 20
    except CompileError as error:
        found = error
    if found is not None:
        assert found.where.startswith(f"line {line_of(text, place.partition('N')[0])}: ")
        assert len(str(found)) < 600


def test_integers_in_every_base() -> None:
    numbers = "{0x1F, 017, 0b101, 0}"
    out = np.zeros(4, np.uint32)
    declared = f".const .align 4 .u32 table[4] = {numbers};"
    body = "\n".join(
        f"ld.const.u32 %r{n}, [table+{4 * n}]; st.global.u32 [%rd50+{4 * n}], %r{n};"
        for n in range(4)
    )
    run_text(kernel(body, declarations=declared), [out])
    assert out.tolist() == [31, 15, 5, 0]


def test_damaged_text_never_ends_in_another_error() -> None:
    rng = random.Random(8)
    text = kernel("  .shared .b8 x[64];\n  mov.u32 %r1, x;\n  st.shared.u32 [%r1+4], %r60;\n"
                  "  bar.sync 0;\n  ld.shared.u32 %r2, [x+4];\n  @%p0 bra L;\nL:\n"
                  "  st.global.v2.u32 [%rd50], {%r2, 7};")  # fmt: skip
    for _ in range(400):
        at = rng.randrange(len(text))
        cut = rng.randrange(1, 9)
        kind = rng.random()
        middle = "" if kind < 0.5 else text[at : at + cut] * 2 if kind < 0.7 else rng.choice(
            ["{", "}", ";", "@", "%r1", "[", "]", ".u64", "0x", "-", ",", "\n", "L:", "(", "\u00e9"]
        )  # fmt: skip
        damaged = text[:at] + middle + text[at + cut :]
        try:
            run_text(damaged, [np.zeros(8, np.uint32)], limit=100)
        except (CompileError, FaultError, RunError):
            continue
