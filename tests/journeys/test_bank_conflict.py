"""Why is this kernel slow in shared memory? The worst line, and which lanes meet in which bank."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import expect

from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader

SIDE: Final = 32
"""Rows and columns of the matrix, lanes of a warp, and banks of 4 bytes."""
FLOAT: Final = 4
PAIR: Final = 2 * FLOAT
"""Bytes that a lane loads at once: two neighbours of a row."""
AT_ONCE: Final = 128
"""Bytes that shared memory moves at once: lanes that ask for more are served in phases."""

# A lane holds two neighbours of a row, four lanes a row of 8 columns, the warp 8 such rows (PTX
# ISA, "Matrix Fragments for mma.m16n8k16"). The tile's rows follow each other without a swizzle.
ADDRESSES: Final = [(lane // 4) * SIDE * FLOAT + (lane % 4) * PAIR for lane in range(SIDE)]


def banks(address: int) -> list[int]:
    """The banks that answer a lane which loads a pair from there."""
    return [(address + more) // FLOAT % SIDE for more in (0, FLOAT)]


def wavefronts() -> list[int]:
    """Of each phase, how many different words its busiest bank has to serve, one after another."""
    lanes = AT_ONCE // PAIR
    phases = [ADDRESSES[at : at + lanes] for at in range(0, SIDE, lanes)]
    taken: list[int] = []
    for phase in phases:
        words: dict[int, set[int]] = {}
        for address in phase:
            for bank, word in zip(banks(address), (address, address + FLOAT), strict=True):
                words.setdefault(bank, set()).add(word)
        taken.append(max(map(len, words.values())))
    return taken


def test_the_worst_line_and_its_banks(reader: Reader, columns: Process) -> None:
    ways, extra = max(wavefronts()), sum(taken - 1 for taken in wavefronts())
    lines = SIDE * SIDE // (2 * SIDE)  # each loads a pair for each lane
    reader.opens(columns.url)
    reader.clicks(re.compile("call_kernel"), role="link", within="Kernels")
    reader.goes_to("Emulator")
    emulator = reader.page.get_by_role("main", name="Emulator")
    reader.sees("Conflicts, worst first", emulator, SLOW)
    reader.sees(f"{lines} lines, {lines * extra} extra wavefronts", emulator)
    worst = emulator.get_by_role("listbox", name="Lines with bank conflicts").get_by_role("option")
    reader.clicks_on(worst.first)
    assert reader.actions == 3
    said = worst.first.get_attribute("aria-label") or ""
    assert "ld.shared.v2.f32" in said
    assert said.endswith(f", {SIDE} threads, {SIDE * PAIR} B, {ways} ways, {extra} extra")

    # what each lane asks for
    reader.sees(f"{ways}-way", emulator)
    table = emulator.get_by_role("region", name="Registers of the warp").get_by_role("row")
    expect(table).to_have_count(1 + SIDE)
    for lane, row in enumerate(table.all_inner_texts()[1:]):
        first, last = banks(ADDRESSES[lane])
        assert row.split()[:3] == [f"{lane}", f"0x{ADDRESSES[lane]:04x}", f"{first}–{last}"]

    # and who asks each bank
    used = {bank for address in ADDRESSES for bank in banks(address)}
    reader.sees(f"{len(used)} of {SIDE} banks answer {SIDE} lanes", emulator)
    reader.sees(f"{extra} extra wavefronts; the rest idle", emulator)
    buttons = emulator.get_by_role("region", name="Banks").get_by_role("button")
    expect(buttons).to_have_count(SIDE)
    for bank, button in enumerate(buttons.all()):
        lanes = [f"{lane}" for lane in range(SIDE) if bank in banks(ADDRESSES[lane])]
        said = f"lanes {', '.join(lanes)}" if lanes else "idle"
        assert button.get_attribute("aria-label") == f"bank {bank}: {said}"
