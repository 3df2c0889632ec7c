"""The reader of LLVM IR: what our renderer writes, its neighbours, and text that is wrong."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compile import compile_kernel
from core.errors import CompileError
from core.runtime.emulator.llvm.text.check import dominators, successors
from core.runtime.emulator.llvm.text.lexer import MAX_TEXT
from core.runtime.emulator.llvm.text.module import Constant, Instruction, Module
from core.runtime.emulator.llvm.text.parser import parse_module
from core.runtime.emulator.llvm.text.types import Float, Int, Pointer, Vector
from core.target import targets
from core.toolchain import llvm_compiler
from tests.core.runtime.asts import KERNELS
from tests.core.runtime.emulator.amd.kernels import HEAD, kernel
from tests.effort import at_most

GOLDEN = sorted((Path(__file__).parents[3] / "render" / "golden").glob("*.ll"))


def first(body: str) -> Instruction:
    """The first instruction of a kernel."""
    return parse_module(kernel(body)).function.blocks[0].body[0]


def bits(type_: str, value: str) -> tuple[int | None, ...]:
    """The bits of a constant."""
    found = first(f"store {type_} {value}, ptr addrspace(1) %out").operands[0]
    assert isinstance(found, Constant)
    return found.bits


def refusal(text: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        parse_module(text)
    return caught.value


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_every_golden_text_is_read(path: Path) -> None:
    assert path.read_text().startswith("target triple")
    module = parse_module(path.read_text())
    assert f"void @{module.function.name}(" in path.read_text()
    assert module.function.blocks[-1].end.op == "ret"


@pytest.mark.parametrize("name", KERNELS)
def test_as_many_instructions_as_llvm_counts(name: str) -> None:
    text = compile_kernel(KERNELS[name](), targets["gfx942"]).source.text
    ours = parse_module(text).function.blocks
    (function,) = [f for f in llvm_compiler.parse(text).functions if not f.is_declaration]
    theirs = [[i.opcode for i in block.instructions] for block in function.blocks]
    assert [[i.op for i in (*b.phis, *b.body, b.end)] for b in ours] == theirs


def test_parts_of_a_module() -> None:
    text = (
        'source_filename = "x"\n; a comment\n'
        + HEAD
        + "@lds = internal unnamed_addr addrspace(3) global [4 x [2 x float]] poison, align 16\n"
        + "declare float @llvm.sqrt.f32(float) #1\n"
        + "define amdgpu_kernel void @k(ptr addrspace(1) noalias readonly align 16 %a, i32 %n) "
        + "#0 !dbg !2 {\n  ret void, !dbg !16\n}\n"
        + 'attributes #0 = { nounwind "amdgpu-flat-work-group-size"="32,64" "x" memory(read) }\n'
        + "attributes #1 = { nounwind }\n"
        + '!2 = distinct !DISubprogram(name: "k", scope: !{!"a", null}, line: 1)\n'
    )
    module = parse_module(text)
    assert module.triple == "amdgcn-amd-amdhsa"
    assert [(v.name, str(v.type), v.space, v.align) for v in module.variables] == [
        ("lds", "[4 x [2 x float]]", 3, 16)
    ]
    a, n = module.function.parameters
    assert (a.name, a.type, a.align, a.read_only) == ("a", Pointer(1), 16, True)
    assert (n.name, n.type, n.align, n.read_only) == ("n", Int(32), 0, False)
    assert module.function.attributes == {"amdgpu-flat-work-group-size": "32,64", "x": ""}
    assert [b.name for b in module.function.blocks] == ["0"]


def test_parts_of_an_instruction() -> None:
    i = first(
        "%x = add nsw nuw <4 x i32> splat (i32 7), <i32 1, i32 -2, i32 poison, i32 0>, !dbg !1"
    )
    assert (i.op, i.result, i.type, i.line) == ("add", "x", Vector(Int(32), 4), 4)
    assert i.flags == {"nsw", "nuw"}
    assert [o.bits for o in i.operands if isinstance(o, Constant)] == [
        (7, 7, 7, 7), (1, 0xFFFFFFFE, None, 0)
    ]  # fmt: skip
    i = first("%p = getelementptr inbounds [4 x half], ptr addrspace(1) %in, i64 1, i32 2")
    assert (i.type, str(i.element), len(i.operands)) == (Pointer(1), "[4 x half]", 3)
    i = first("%v = load volatile <8 x half>, ptr addrspace(1) %in, align 16, !noundef !{}")
    assert (i.type, i.align, i.flags) == (Vector(Float("half"), 8), 16, {"volatile"})
    i = first('fence syncscope("workgroup") release')
    assert (i.detail, i.flags) == ("release", {"scope workgroup"})


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("i1", "true", 1),
        ("i8", "-1", 255),
        ("i8", "255", 255),
        ("i64", "-9223372036854775808", 1 << 63),
        ("half", "0xH3C01", 0x3C01),
        ("half", "5.000000e-01", 0x3800),
        ("bfloat", "0xR3F80", 0x3F80),
        ("bfloat", "1.5", 0x3FC0),
        ("float", "1.500000e+00", 0x3FC00000),
        ("float", "0x3FB99999A0000000", struct.unpack("<I", struct.pack("<f", 0.1))[0]),
        ("float", "0x7FF8000000000000", 0x7FC00000),
        ("float", "0x7FF0000000000000", 0x7F800000),
        ("float", "0xFFF0000000000000", 0xFF800000),
        ("float", "0x36A0000000000000", 1),
        ("float", "-0.0", 0x80000000),
        ("double", "0x3FB999999999999A", 0x3FB999999999999A),
        ("double", "1.0e-01", 0x3FB999999999999A),
        ("ptr addrspace(3)", "null", 0),
        ("float", "undef", None),
        ("i32", "zeroinitializer", 0),
    ],
)
def test_constants_have_their_exact_bits(type_: str, value: str, expected: int | None) -> None:
    assert bits(type_, value) == (expected,)


WRONG = {
    "%x = frobnicate i32 1, 2": "the instruction 'frobnicate' is not emulated",
    "%x = atomicrmw add ptr addrspace(1) %out, i32 1 monotonic": "'atomicrmw' is not emulated",
    "%x = add i32 1": "expected ',', found 'ret'",
    "%x = add float 1.0, 2.0": "add of float does not exist",
    "%x = fadd i32 1, 2": "fadd of i32 does not exist",
    "%x = add i17 1, 2": "the type i17 is not emulated",
    "%x = add i32 4294967296, 2": "4294967296 does not fit i32",
    "%x = fadd float 0.1, 2.0": "0.1 is not a float",
    "%x = fadd float 1, 2.0": "1 is not a float",
    "%x = fadd double 1.0e999, 2.0": "too large",
    "%x = fadd half 0x3C00, 2.0": "not a constant of type half",
    "%x = icmp lt i32 1, 2": "icmp has no comparison 'lt'",
    "%x = icmp eq float 1.0, 2.0": "icmp of float does not exist",
    "%x = trunc i32 1 to i64": "trunc from i32 to i64 does not exist",
    "%x = bitcast i32 1 to i64": "bitcast from i32 to i64 does not exist",
    "%x = bitcast <2 x i32> zeroinitializer to ptr": "does not exist",
    "%x = select i32 1, i32 2, i32 3": "does not exist",
    "%x = select <2 x i1> zeroinitializer, i32 2, i32 3": "does not exist",
    "%x = add i32 %nothing, 1": "nothing is called %nothing",
    "%x = add i32 @nothing, 1": "nothing is called @nothing",
    "%x = load i32, i32 5": "load needs an address",
    "%x = load i32, ptr addrspace(3) %in": "%in is of type ptr addrspace(1)",
    "%x = load i32, ptr addrspace(9) null": "address space 9 is not emulated",
    "%x = load i32, ptr addrspace(1) %in, align 3": "not a power of two",
    "%x = load <2 x i1>, ptr addrspace(1) %in": "<2 x i1> in memory is not emulated",
    "%x = load [2 x i32], ptr addrspace(1) %in": "a value of type [2 x i32] is not emulated",
    "%x = store i32 1, ptr addrspace(1) %out": "store has no value",
    "load i32, ptr addrspace(1) %in": "load has a value",
    "%x = extractelement <2 x i32> zeroinitializer, i32 2": "no such position",
    "%x = extractelement <2 x i32> zeroinitializer, i32 %y": "not constant",
    "%x = insertelement <2 x i32> poison, float 1.0, i32 0": "does not exist",
    "%x = shufflevector <2 x i32> poison, <2 x i32> poison, <1 x i32> <i32 4>": "do not have",
    "%x = getelementptr i32, ptr addrspace(1) %in, i32 0, i32 1": "no element for each",
    "%x = getelementptr i32, ptr addrspace(1) getelementptr (i8, ptr null, i32 1), i32 1":
        "a constant expression is not emulated",
    "%x = add <65 x i32> zeroinitializer, zeroinitializer": "is at most 64",
    "%x = add <2 x i32> <i32 1>, zeroinitializer": "1 scalars for <2 x i32>",
    "%x = alloca [4294967296 x i8], addrspace(5)": "is at most",
    "%x = alloca i8, i32 %n, addrspace(5)": "not constant",
    "br label %away": "the label of another",
    "br i32 1, label %a, label %b": "br on i32 does not exist",
    "switch i32 1, label %a [ i32 1, label %b i32 1, label %c ]": "there twice",
    "ret i32 1": "a kernel returns void",
    "fence sideways": "no ordering 'sideways'",
    "$": "'$' does not begin anything",
    "\u00e4": "does not begin anything",
    "call void @f(": "expected",
    "%x = add i32 1, 2, !dbg !{": "the block %entry has no end",
    "%x = add i32 1, 2\n%x = add i32 1, 2": "a second value %x",
    "%x = add i32 %y, 2\n%y = add i32 1, 2": "%y is used before it is there",
    "%x = add i32 1, 2\n%y = phi i32 [ 1, %entry ]": "a phi stands before all other",
    "br label %b\nb:\n%y = phi i32 [ 1, %b ]": "those that lead here: entry",
    "br label %b\nb:\nbr label %b\nb:": "a second block %b",
    "br label %entry\nb:": "nothing may go back to the first block",
    "br label %c\nb:": "there is no block %c",
    "br i1 true, label %b, label %c\nb:\n%x = add i32 1, 1\nbr label %c\nc:\n%y = add i32 %x, 1":
        "%x is not there on every way to its use",
}  # fmt: skip


@pytest.mark.parametrize("body", WRONG)
def test_wrong_text_is_refused_with_its_line(body: str) -> None:
    error = refusal(kernel(body))
    assert WRONG[body] in str(error)
    assert error.where.startswith("line "), error
    number, _, shown = error.where.partition(": ")
    text = kernel(body).splitlines()
    assert shown == text[int(number.removeprefix("line ")) - 1].strip()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "there is no function in it"),
        ("define void @k() {", "has no end"),
        ("define void @k() {}", "the function has no blocks"),
        ("define void @k() { ret void } define void @l() { ret void }", "a second function"),
        ("define i32 @k() { ret i32 1 }", "a kernel returns void"),
        ("declare void @puts(ptr)", "@puts is not part of LLVM"),
        ('module asm "nop"', "assembly outside of the kernel is not emulated"),
        ("@x = addrspace(1) global i32 poison", "address space 1"),
        ("@x = addrspace(3) global i32 5", "a first content"),
        ("%t = type { i32 }", "expected a function"),
        ("!0 = !{", "a bracket is not closed"),
        ("!0 = ", "metadata is a name and a list"),
        ("(" * 100_000, "expected a function"),
        ("!0 = !{" + "(" * 100_000, "a bracket is not closed"),
        ("define void @k(" + "[9 x " * 100_000, "too deeply"),
        ("define void @k(" + "<2 x " * 100_000, "expected a type"),
        ("define void @k(i32 %" + "a" * 100_000, "a name of 100001 characters"),
        (" " * (MAX_TEXT + 1), "the text is too long"),
        ("define void @k() {\n" + "x: br label %x\n" * 9000 + "}", "more than 8,192 blocks"),
    ],
)
def test_wrong_modules_are_refused(text: str, what: str) -> None:
    with at_most(700):
        assert what in str(refusal(text))


def test_dominance_is_right_in_loops_and_branches() -> None:
    module: Module = parse_module(kernel(
        """br label %loop
        loop:
        %i = phi i32 [ 0, %entry ], [ %n, %join ]
        %c = icmp slt i32 %i, 4
        br i1 %c, label %a, label %out
        a:
        br i1 %c, label %b, label %join
        b:
        br label %join
        join:
        %n = add i32 %i, 1
        br label %loop
        out:"""
    ))  # fmt: skip
    assert dominators(module.function) == {
        "entry": "entry", "loop": "entry", "a": "loop", "b": "a", "join": "a", "out": "loop"
    }  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """A kernel of up to eight blocks that go anywhere but to the first."""
    count = draw(st.integers(1, 8))
    lines: list[str] = []
    for number in range(count):
        targets_ = draw(st.lists(st.integers(1, max(count - 1, 1)), max_size=2 if count > 1 else 0))
        names = [f"label %b{n}" for n in targets_]
        end = ("ret void", f"br {names[0] if names else ''}",
               f"br i1 true, {', '.join(names)}")[len(names)]  # fmt: skip
        lines += [f"b{number}:", f"  {end}"]
    return "define void @k() {\n" + "\n".join(lines) + "\n}\n"


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_dominators_are_the_blocks_that_cannot_be_gone_around(text: str) -> None:
    function = parse_module(text).function
    blocks = {b.name: b for b in function.blocks}

    def reached(without: str) -> set[str]:
        seen: set[str] = set()
        stack = ["b0"]
        while stack:
            name = stack.pop()
            if name != without and name not in seen:
                seen.add(name)
                stack += successors(blocks[name])
        return seen

    found = dominators(function)
    assert set(found) == reached("")
    for name in found:
        above: set[str] = set()
        at = name
        while found[at] != at:
            at = found[at]
            above.add(at)
        assert above == {d for d in found if d != name and name not in reached(d)}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_text_is_read_or_refused(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(GOLDEN))
    text = path.read_text()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        end = at + data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(["", "%", "i32", " [", "{", "!", ",", "\n",
                                                      "<4 x", "0x", '"'])) + text[end:]  # fmt: skip
    with suppress(CompileError):
        parse_module(text)
