"""What does one GPU do where the other does this? PTX and AMD's ISA side by side."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader

FMA: Final = re.compile(r"^\s*fma\.rn\.f32 ")
"""PTX ISA: a * b + c, rounded once."""
PACKED_FMA: Final = re.compile(r"^\s*v_pk_fma_f32 ")
"""CDNA3 ISA: the same of two floats of each lane."""
WITH_IT: Final = re.compile(r"^\s*(v_pk_fma_f32|v_mov_b32|s_waitcnt)")
"""What an fma may need besides on AMD: its operand in another register, loads that have arrived."""
PTX_STORE: Final = re.compile(r"^\s*st\.global\.")
STORE: Final = re.compile(r"^\s*global_store_dword")
IN_VIEW: Final = """(lines) => lines.filter((line) => {
  const { top, bottom } = line.closest(".cm-scroller").getBoundingClientRect();
  const box = line.getBoundingClientRect();
  return box.top >= top - 1 && box.bottom <= bottom + 1;
}).map((line) => line.textContent)"""


def lit_by(
    reader: Reader, column: Locator, text: list[str], number: int, other: Locator
) -> list[str]:
    """Scrolls to a line of a column's text and clicks it, which leaves the column where it is; the
    lines in view that it lights in the other column."""
    scroller = column.locator(".cm-scroller")
    scroller.evaluate(
        "(el, share) => { el.scrollTop = share * el.scrollHeight - el.clientHeight / 2; }",
        number / len(text),
    )
    line = column.locator(".cm-line").filter(has_text=text[number].strip())
    expect(line).to_be_in_viewport()
    place = scroller.evaluate("el => el.scrollTop")
    reader.clicks_on(line)
    expect(line).to_have_class(re.compile("cm-hit"))
    for _ in range(100):
        lit: list[str] = other.locator(".cm-line.cm-hit").evaluate_all(IN_VIEW)
        if lit:
            assert scroller.evaluate("el => el.scrollTop") == place
            return lit
        reader.page.wait_for_timeout(50)
    raise AssertionError("no line is lit in view")


def numbers(text: list[str], instruction: re.Pattern[str]) -> list[int]:
    return [i for i, line in enumerate(text) if instruction.match(line)]


def test_a_line_lights_what_the_other_target_does(reader: Reader, server: Process) -> None:
    reader.opens(server.url)
    reader.clicks("matmul, relu", role="link", within="Kernels")
    ptx, amd = (
        reader.page.get_by_role("region", name=name, exact=True)
        for name in ("PTX for sm_90", "AMD ISA for gfx942")
    )
    for column in (ptx, amd):
        expect(column.locator(".cm-line").nth(5)).to_be_visible(timeout=SLOW)
    left, right = ptx.bounding_box(), amd.bounding_box()
    assert left is not None and right is not None
    assert left["x"] + left["width"] <= right["x"] + 1
    assert left["width"] == pytest.approx(right["width"], abs=2)

    text = text_of(server, "ptx").splitlines()
    stores = numbers(text, PTX_STORE)
    lit = lit_by(reader, ptx, text, numbers(text, FMA)[9], amd)
    assert any(PACKED_FMA.match(line) for line in lit)
    assert all(WITH_IT.match(line) for line in lit)
    assert reader.actions == 2, "the kernel, and the line"

    other = text_of(server, "amd_isa").splitlines()
    assert lit_by(reader, amd, other, numbers(other, STORE)[1], ptx) == [text[i] for i in stores]


def test_what_the_compiler_says_of_it(reader: Reader, server: Process) -> None:
    """As many registers as the text names."""
    reader.opens(server.url)
    reader.clicks("matmul, relu", role="link", within="Kernels")
    name = "What the compiler says of AMD ISA for gfx942"
    reader.page.get_by_role("button", name=name).wait_for(timeout=SLOW)
    reader.clicks(name)
    facts = reader.page.get_by_role("dialog", name=name)
    text = text_of(server, "amd_isa")
    registers = re.findall(r"\bv(?:\[\d+:)?(\d+)", text)
    reader.sees(re.compile(rf"vgprs{max(map(int, registers)) + 1}(?!\d)"), facts)
    instructions = [line for line in text.splitlines() if line.startswith("\t")]
    reader.sees(re.compile(rf"instructions{len(instructions)}(?!\d)"), facts)
    assert reader.actions == 2


def text_of(server: Process, kind: str) -> str:
    """The text of the kernel for the targets that are shown, as the server has it."""
    kernels = server.get("overview")["kernels"]
    (kernel,) = (line["context"] for line in kernels if line["calls"] == "matmul, relu")
    made: list[dict[str, Any]] = server.get(f"kernels/{kernel}")["artifacts"]
    target = {"ptx": "sm_90", "amd_isa": "gfx942"}[kind]
    (text,) = (a["text"] for a in made if (a["kind"], a["target"]) == (kind, target))
    return text
