"""Source texts line by line: renamed registers, moved blocks, and what is neither."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from viz.compare.lines.sources import source_difference

PTX = """.visible .entry E_4(.param .u64 data0)
{
ld.param.u64 %rd1, [data0];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r2, 4;
add.u64 %rd4, %rd1, %rd3;
ld.global.f32 %f5, [%rd4];
add.f32 %f6, %f5, %f5;
mul.f32 %f7, %f6, %f5;
st.global.f32 [%rd4], %f7;
ret;
}
"""


def said(found: dict[str, Any]) -> Counter[str]:
    return Counter(row["state"] for row in found["rows"])


def check(found: dict[str, Any]) -> None:
    """Every line of both is in one row, in order but for what has moved."""
    for side in ("a", "b"):
        lines = [row[side] for row in found["rows"] if row[side]]
        assert lines == [*range(1, len(found[side]) + 1)]


def test_equal_texts() -> None:
    found = source_difference(PTX, PTX, "ptx")
    assert said(found) == {"same": 12}
    assert (found["renamed"], found["moved"], found["truncated"]) == ([], [], None)


def test_registers_numbered_anew_are_renamed() -> None:
    other = PTX
    for number in range(7, 0, -1):
        for kind in ("%rd", "%r", "%f"):
            other = other.replace(f"{kind}{number},", f"{kind}{number + 40},")
            other = other.replace(f"{kind}{number};", f"{kind}{number + 40};")
            other = other.replace(f"{kind}{number}]", f"{kind}{number + 40}]")
    found = source_difference(PTX, other, "ptx")
    check(found)
    assert said(found) == {"same": 4, "renamed": 8}
    assert dict(found["renamed"])["%f5"] == "%f45"


def test_an_added_line_is_one_line() -> None:
    """Though every register behind it has another number."""
    other = PTX.replace("add.f32 %f6, %f5, %f5;\nmul.f32 %f7, %f6, %f5;\n"
                        "st.global.f32 [%rd4], %f7;",
                        "neg.f32 %f6, %f5;\nadd.f32 %f7, %f5, %f5;\nmul.f32 %f8, %f7, %f5;\n"
                        "st.global.f32 [%rd4], %f8;")  # fmt: skip
    found = source_difference(PTX, other, "ptx")
    check(found)
    states = said(found)
    assert (states["added"], states["removed"], states["changed"]) == (1, 0, 0)
    (row,) = [row for row in found["rows"] if row["state"] == "added"]
    assert found["b"][row["b"] - 1] == "neg.f32 %f6, %f5;"
    assert found["renamed"] == [("%f6", "%f7"), ("%f7", "%f8")] or set(found["renamed"]) == {
        ("%f6", "%f7"),
        ("%f7", "%f8"),
    }


def test_another_operand_is_a_change_and_no_rename() -> None:
    other = PTX.replace("mul.f32 %f7, %f6, %f5", "mul.f32 %f7, %f6, %f6")
    found = source_difference(PTX, other, "ptx")
    check(found)
    (row,) = [row for row in found["rows"] if row["state"] == "changed"]
    assert found["a"][row["a"] - 1].startswith("mul.f32")


def test_a_type_is_no_register() -> None:
    found = source_difference("float4 a1 = b2;\n", "float8 a1 = b2;\n", "cpp")
    assert said(found) == {"changed": 1}
    found = source_difference("float4 a1 = b2;\n", "float4 a7 = b2;\n", "cpp")
    assert said(found) == {"renamed": 1}


def test_a_block_that_has_moved() -> None:
    block = "bar.sync 0;\nfence.sc.gpu;\nexit.now 17;\nnanosleep.u32 20;\n"
    body = "".join(f"op{chr(97 + i)} %r{i}, {i};\n" for i in range(12))
    found = source_difference(block + body, body + block, "ptx")
    check(found)
    assert found["moved"] == [{"a": 1, "b": 13, "lines": 4}]
    assert said(found) == {"moved": 8, "same": 12}


def test_links_to_debug_information_do_not_count() -> None:
    a = "  %v6 = load i64, ptr %v5, align 8, !dbg !22\n!22 = !DILocation(line: 3)\n"
    b = "  %v6 = load i64, ptr %v5, align 8, !dbg !23\n!23 = !DILocation(line: 4)\n"
    assert said(source_difference(a, b, "llvm")) == {"same": 2}


@pytest.mark.parametrize(("a", "b"), [("", PTX), (PTX, ""), ("", "")])
def test_a_text_that_only_one_side_has(a: str, b: str) -> None:
    found = source_difference(a, b, "ptx")
    check(found)
    assert said(found) == ({"added": 12} if b else {"removed": 12} if a else {})


def test_long_and_hostile_texts() -> None:
    choose = random.Random(1)
    many = "\n".join(f"op %r{choose.randrange(9)}, %r{i};" for i in range(120_000))
    found = source_difference(many, many, "ptx")
    assert len(found["rows"]) == 100_000 and found["truncated"]
    for text in (
        "%" * 300_000,
        "a" * 300_000,
        " " * 300_000 + "!",
        "!a " * 100_000,
        "v[" * 100_000,
    ):
        for language in ("ptx", "llvm", "asm", "cpp", "text", "nobody's"):
            check(source_difference(text, text + "x", language))


def test_random_edits_leave_no_line_out() -> None:
    for seed in range(60):
        choose = random.Random(seed)
        a = [choose.choice(PTX.splitlines()) for _ in range(choose.randrange(40))]
        b = [line for line in a if choose.random() > 0.2]
        b[len(b) // 2 : len(b) // 2] = choose.choices(PTX.splitlines(), k=3)
        check(source_difference("\n".join(a), "\n".join(b), "ptx"))


def test_a_label_is_renamed_with_its_branches() -> None:
    a = (
        "entry:\n  br label %enter23, !dbg !39\nenter23:\n  br label %loop23\nloop23:\n"
        "  %v23 = phi i32 [ 0, %enter23 ], [ %next23, %loop23 ]\n  %next23 = add i32 %v23, 1\n"
        "  br label %loop23\n"
    )
    found = source_difference(a, a.replace("23", "42"), "llvm")
    check(found)
    assert said(found) == {"same": 1, "renamed": 7}
    assert dict(found["renamed"])["%loop23"] == "%loop42"
    other = a.replace("23", "42").replace("loop42:", "loop99:")
    (row,) = [r for r in source_difference(a, other, "llvm")["rows"] if r["state"] == "changed"]
    assert row["a"] == 5
