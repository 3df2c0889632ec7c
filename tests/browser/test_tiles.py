"""Tiles as pictures: who holds an element, banks of shared memory, matrix instructions; at the
first and at the last stage, by mouse and by keyboard, live and in an exported file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explorer import Explorer
from tests.browser.served import PROGRAMS, Process, export, record, serve
from tests.browser.tiles import tile_places

New = Callable[..., Explorer]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(PROGRAMS / "tiles.py", tmp_path_factory.mktemp("tiles") / "tiles.viz")


@pytest.fixture(scope="module")
def tiles(run: Path) -> Iterator[Process]:
    with serve(run) as process:
        yield process


@pytest.fixture(scope="module")
def places(tiles: Process) -> dict[str, str]:
    return tile_places(tiles)


def picture(page: Page) -> Locator:
    """The section of the selected node, once it is drawn."""
    section = page.locator(".sec.tile")
    expect(section.locator("canvas.near")).to_be_visible(timeout=30_000)
    return section


def said(section: Locator) -> Locator:
    return section.locator(".tile-picture [role=status]")


def pixels(canvas: Locator) -> int:
    """How many colours a picture has."""
    count: int = canvas.evaluate(
        """el => new Set(new Uint32Array(el.getContext("2d")
             .getImageData(0, 0, el.width, el.height).data.buffer)).size"""
    )
    return count


def test_a_register_tile_by_keyboard(new_page: New, tiles: Process, places: dict[str, str]) -> None:
    e = new_page().goto(f"{tiles.url}#{places['register']}")
    section = picture(e.page)
    expect(section).to_contain_text("16 × 64 float32 that lie as a product, in each of 4 warps")
    near = section.locator("canvas.near")
    assert pixels(near) > 20
    near.focus()
    for key in (*["ArrowDown"] * 3, *["ArrowRight"] * 12):
        near.press(key)
    expect(said(section)).to_have_text("Row 3, column 12: each warp, lane 14, register 1")
    expect(near).to_have_attribute("aria-label", re.compile("lane 14, register 1$"))
    near.press("Enter")
    expect(section).to_contain_text("Lit is lane 14: 32 elements, registers 0 to 31")
    section.get_by_role("button", name="4 warps").click()
    near.focus()
    near.press("PageDown")
    expect(said(section)).to_have_text("Row 19, column 12: warp 1, lane 14, register 1")
    near.press("End")
    expect(said(section)).to_have_text("Row 19, column 63: warp 1, lane 15, register 15")
    expect(e.page).to_have_url(re.compile("k=0"))  # the arrow keys are the picture's own


def test_the_pointer_says_and_lights(new_page: New, tiles: Process, places: dict[str, str]) -> None:
    e = new_page().goto(f"{tiles.url}#{places['register']}")
    section = picture(e.page)
    near = section.locator("canvas.near")
    box = near.bounding_box()
    assert box is not None
    near.hover(position={"x": box["width"] - 4, "y": box["height"] - 4})
    expect(said(section)).to_have_text("Row 15, column 15: each warp, lane 31, register 25")
    before = pixels(near)
    near.click(position={"x": box["width"] - 4, "y": box["height"] - 4})
    expect(section).to_contain_text("Lit is lane 31")
    assert pixels(near) != before


def test_one_register_at_the_last_stage(
    new_page: New, tiles: Process, places: dict[str, str]
) -> None:
    e = new_page().goto(f"{tiles.url}#{places['last']}")
    section = picture(e.page)
    expect(section).to_contain_text(
        re.compile(r"Outlined: register \d+ of each lane, which the node reads or writes")
    )


@pytest.mark.parametrize("stage", ["load", "last-load"])
def test_a_shared_tile(new_page: New, tiles: Process, places: dict[str, str], stage: str) -> None:
    e = new_page().goto(f"{tiles.url}#{places[stage]}")
    section = picture(e.page)
    expect(section).to_contain_text("in shared memory, 2 stages, swizzled")
    expect(said(section)).to_contain_text("byte 0, bank 0")
    table = section.get_by_role("table", name="What a warp does with the tile")
    own = table.get_by_role("row").filter(has_text="this node: load")
    expect(own.get_by_role("cell").nth(1)).to_have_text("0")
    expect(own.get_by_role("cell").nth(2)).to_have_text(re.compile("^[1-9]"))
    own.get_by_role("button").click()
    expect(said(section)).to_contain_text("lane 0")
    expect(said(section)).not_to_contain_text("in conflict")
    expect(section).to_contain_text("No bank has to serve two words in one turn")
    lanes = pixels(section.locator("canvas.near"))
    section.get_by_role("button", name="Plain").click()
    expect(said(section)).to_contain_text("in conflict")
    expect(section).to_contain_text("Outlined: elements whose bank has to serve another word")
    section.get_by_role("button", name="Banks").click()
    expect(section.get_by_role("button", name="Banks")).to_have_attribute("aria-pressed", "true")
    assert pixels(section.locator("canvas.near")) != lanes


@pytest.mark.parametrize("stage", ["wmma", "last-wmma", "ordinary"])
def test_a_matrix_instruction(
    new_page: New, tiles: Process, places: dict[str, str], stage: str
) -> None:
    e = new_page().goto(f"{tiles.url}#{places[stage]}")
    section = picture(e.page)
    expect(section.locator("h3")).to_contain_text("Matrix instruction")
    expect(section).to_contain_text("16 × 16 float16, 8 elements in each of 32 lanes")
    section.get_by_label("Tile to show").select_option("B")
    expect(section).to_contain_text("16 × 8 float16, 4 elements in each of 32 lanes")
    assert pixels(section.locator("canvas.near")) > 20


def test_a_vector(new_page: New, tiles: Process, places: dict[str, str]) -> None:
    e = new_page().goto(f"{tiles.url}#{places['vector']}")
    section = picture(e.page)
    expect(section).to_contain_text("A vector of 16 float32, one for each row")
    expect(said(section)).to_have_text("Row 0, column 0: each warp, lanes 0 to 3, register 0")


def test_what_the_emulator_counted(new_page: New, tiles: Process, places: dict[str, str]) -> None:
    e = new_page(sources=True).goto(f"{tiles.url}#{places['last-load']}")
    section = picture(e.page)
    section.get_by_role("button", name="Emulate the kernel").click()
    expect(section).to_contain_text(
        re.compile(r"Emulated for sm_\d+: 0 conflicts in \d+ lines"), timeout=60_000
    )
    section.get_by_role("button", name=re.compile(r"^Line \d+ in the emulator")).click()
    expect(e.page.locator(".emulator .eln.now")).to_contain_text("ldmatrix")


def test_the_exported_file_says_the_same(
    new_page: New, run: Path, places: dict[str, str], tmp_path: Path
) -> None:
    file = export(run, tmp_path / "tiles.html")
    e = new_page(offline=True).goto(f"{file.as_uri()}#{places['register']}")
    expect(picture(e.page)).to_contain_text("16 × 64 float32 that lie as a product")
    for place, text in (("last-load", "in shared memory"), ("last-wmma", "8 elements in each")):
        e.page.evaluate("h => { location.hash = h; }", places[place])
        expect(picture(e.page)).to_contain_text(text)
