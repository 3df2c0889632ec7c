"""Which line of my program did this instruction come from, and what did a line become?"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.served import PROGRAMS, Process
from tests.journeys.reader import SLOW, Reader

ARGUMENT = re.compile(r"data1|%param1|%addr1")
"""In PTX: the second argument, and what is made of it."""


def source(reader: Reader, name: str) -> Locator:
    return reader.page.get_by_role("region", name=name, exact=True)


def lit(column: Locator) -> list[str]:
    return [line.strip() for line in column.locator(".cm-line.cm-hit").all_inner_texts()]


def line_of(column: Locator, text: str) -> Locator:
    return column.locator(".cm-line").filter(has_text=text).first


def test_from_an_instruction_to_its_line_and_back(reader: Reader, server: Process) -> None:
    program = (PROGRAMS / "recorded.py").read_text().splitlines()
    (computed,) = (line for line in program if ".max(" in line)
    (argument,) = (line for line in program if line.startswith("x ="))
    (unused,) = (line for line in program if line.startswith("w ="))
    reader.opens(server.url)
    reader.clicks("max, exp2", role="link", within="Kernels")
    python, ptx = source(reader, "Python"), source(reader, "PTX for sm_90")
    expect(ptx.locator(".cm-line").last).to_be_visible(timeout=SLOW)
    text = [line.strip() for line in ptx.locator(".cm-line").all_inner_texts()]
    instructions = [line for line in text if not line.startswith(".")]

    reader.clicks_on(line_of(ptx, "ex2.approx.f32"))
    reader.sees(computed, python.locator(".cm-line.cm-hit"))
    assert lit(python) == [computed]
    assert reader.actions == 2, "the kernel, and the instruction"

    reader.clicks_on(line_of(python, computed))
    expect(line_of(ptx, "max.NaN.f32")).to_have_class(re.compile("cm-hit"))
    assert reader.actions == 3
    made = lit(ptx)
    for line in instructions:
        if line.startswith(("max.", "ex2.")):
            assert line in made
        if line.startswith("ld.global"):
            assert line not in made

    reader.clicks_on(line_of(python, argument))
    expect(line_of(ptx, "max.NaN.f32")).not_to_have_class(re.compile("cm-hit"))
    loads = [line for line in text if ARGUMENT.search(line) and not line.startswith(".reg")]
    assert lit(ptx) == loads
    reader.clicks_on(line_of(python, unused))
    reader.sees("No node stands behind this line")
    expect(ptx.locator(".cm-line.cm-hit")).to_have_count(0)
