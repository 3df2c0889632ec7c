"""Tiles in the inspector: registers, shared memory, matrix instructions, what was emulated."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.states.scenes import Scene
from tests.states.state import SLOW, State, graph, state


def _picture(page: Page, scene: Scene, of: str) -> Locator:
    graph(page, scene, scene.facts[of])
    section = page.locator(".sec.tile")
    expect(section.locator("canvas.near")).to_be_visible(timeout=SLOW)
    section.evaluate("el => el.scrollIntoView()")
    return section


@state("tiles", "tile-register")
def register(page: Page, scene: Scene) -> None:
    """A lane of a product is lit."""
    near = _picture(page, scene, "register").locator("canvas.near")
    near.focus()
    for key in (*["ArrowDown"] * 3, *["ArrowRight"] * 12, "Enter"):
        near.press(key)


@state("tiles", "tile-warps")
def warps(page: Page, scene: Scene) -> None:
    section = _picture(page, scene, "register")
    section.get_by_role("button", name="4 warps").click()
    section.get_by_role("button", name="Registers").click()


def _plain(of: str, name: str) -> State:
    return State(name, "tiles", lambda page, scene: _picture(page, scene, of) and None)


@state("tiles", "tile-access")
def access(page: Page, scene: Scene) -> None:
    """What lanes read at once, where a tile without a swizzle has conflicts."""
    section = _picture(page, scene, "last-load")
    section.get_by_role("table").get_by_role("button").first.click()
    section.get_by_role("button", name="Plain").click()


@state("tiles", "tile-emulated")
def emulated(page: Page, scene: Scene) -> None:
    section = _picture(page, scene, "last-load")
    section.get_by_role("button", name="Emulate the kernel").click()
    link = section.get_by_role("button", name=re.compile("in the emulator"))
    expect(link).to_be_visible(timeout=SLOW)
    link.click()


STATES: Final = (
    register,
    warps,
    _plain("shared", "tile-shared"),
    access,
    _plain("wmma", "tile-wmma"),
    _plain("vector", "tile-vector"),
    _plain("last", "tile-last"),
    emulated,
)
