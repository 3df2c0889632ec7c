"""Which lane holds this element of my tile, and in which register?"""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import expect

from tests.browser.served import Process
from tests.journeys.reader import SLOW, Reader

SIDE: Final = 32
"""Rows and columns of the tile, and lanes of a warp."""
FLOAT: Final = 4
ROW, COLUMN = 3, 13
QUAD: Final = 4
"""Lanes that hold 8 columns of a row, two neighbours each, of a fragment of 8 rows (PTX ISA,
"Matrix Fragments for mma.m16n8k16": groupID is lane >> 2, threadID_in_group is lane % 4)."""
LANE: Final = (ROW % 8) * QUAD + (COLUMN % 8) // 2


def test_the_lane_of_an_element(reader: Reader, columns: Process) -> None:
    reader.opens(columns.url)
    reader.sees("Kernels")
    reader.presses("Control+k").types("DEFINE_REG(...)")
    reader.clicks(re.compile(r"^DEFINE_REG \d+ columns,"), role="option", within="Results")
    tile = reader.explorer.inspector.locator(".sec.tile")
    picture = tile.locator("canvas.near")
    expect(picture).to_be_visible(timeout=SLOW)
    reader.sees(f"{SIDE} × {SIDE} float32", tile)
    reader.sees(f"{SIDE} registers in each of {SIDE} lanes", tile)

    # by the pointer its first element, and from there by keys
    picture.click(position={"x": 4, "y": 4})
    said = tile.locator(".tile-picture").get_by_role("status")
    reader.sees("Row 0, column 0: lane 0, register 0", said)
    reader.presses(*["ArrowDown"] * ROW, *["ArrowRight"] * COLUMN)
    expect(said).to_have_text(
        re.compile(rf"^Row {ROW}, column {COLUMN}: lane {LANE}, register \d+$")
    )
    expect(picture).to_have_attribute("aria-label", re.compile(rf"lane {LANE}, register \d+$"))
    reader.presses("Enter")
    reader.sees(f"Lit is lane {LANE}: {SIDE * SIDE // SIDE} elements", tile)
    assert reader.explorer.step == 0, "the arrow keys are the picture's own"

    # in the emulator it is that lane that loads the pair with this element from shared memory
    reader.goes_to("Emulator")
    emulator = reader.page.get_by_role("main", name="Emulator")
    reader.sees("Conflicts, worst first", emulator, SLOW)
    behind = COLUMN // 8 * 8 * FLOAT  # the fragment of columns 8 to 15, behind that of 0 to 7
    loads = emulator.get_by_role("listbox", name="Lines with bank conflicts").get_by_role("option")
    reader.clicks_on(loads.filter(has_text=f"[%addr_r1+{behind}]"))
    rows = emulator.get_by_role("region", name="Registers of the warp").get_by_role("row")
    address = (ROW * SIDE + COLUMN - COLUMN % 2) * FLOAT
    expect(rows.nth(1 + LANE).get_by_role("cell").first).to_have_text(f"0x{address:04x}")
