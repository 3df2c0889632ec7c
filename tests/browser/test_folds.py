"""Index expressions and repeated blocks: folded into boxes, opened, marked, found."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process, export

Open = Callable[..., Explorer]

TITLED = """
(canvas, words) => {
  const box = canvas.getBoundingClientRect();
  for (let y = 3; y < box.height; y += 4)
    for (let x = 3; x < box.width; x += 4) {
      canvas.dispatchEvent(new PointerEvent("pointermove",
        { clientX: box.left + x, clientY: box.top + y, pointerId: 77, bubbles: true }));
      if (canvas.title.includes(words)) return [box.left + x, box.top + y, canvas.title];
    }
  return null;
}
"""


@pytest.fixture(scope="session")
def unrolled(server: Process, rows: list[dict[str, Any]]) -> Pass:
    """A pass over an unrolled kernel whose steps change something in its copies."""
    row = next(r for r in rows if r["name"] == "decompose: fuse" and r["nodes"] >= 90)
    rules = {rule["id"]: rule for rule in server.get("rules")}
    return Pass(row, server.get(f"rewrites/{row['id']}"), rules)


FOLDED = re.compile(r"([\d,]+) are folded")


def folded(e: Explorer) -> int:
    """How many nodes the menu of the scope says are folded."""
    found = re.search(FOLDED, e.scope.get_attribute("title") or "")
    return int(found[1].replace(",", "")) if found else 0


def folds(e: Explorer, count: int) -> None:
    """Waits until the menu says that so many nodes are folded: the outline may be ahead of it."""
    said = rf"(^|[^\d,]){count:,} are folded" if count else "are folded"
    head = expect(e.scope)
    if count:
        head.to_have_attribute("title", re.compile(said))
    else:
        head.not_to_have_attribute("title", re.compile(said))


def unfolds(e: Explorer, before: int) -> None:
    """Waits until the menu says something else than `before`, which must be less."""
    expect(e.scope).not_to_have_attribute("title", re.compile(rf"(^|[^\d,]){before:,} are folded"))
    assert folded(e) < before


def boxes(e: Explorer) -> Locator:
    """The boxes, as screen readers are told."""
    return e.page.locator('.stage-outline [aria-expanded="false"]')


def point(e: Explorer, words: str) -> tuple[float, float, str]:
    """A point of the graph whose tooltip holds some words, and the tooltip."""
    found = e.canvas().evaluate(TITLED, words)
    assert found is not None, f"nothing in view says {words!r}"
    return found[0], found[1], found[2]


def test_folded_at_first_and_shown_by_key(open_page: Open, unrolled: Pass) -> None:
    e = open_page(unrolled.at(1, "&g=all"))
    both = folded(e)
    assert both > 20
    e.give("Fold or show repeated blocks")
    expect(boxes(e).filter(has_text="repeated block")).to_have_count(0)
    expect(boxes(e).filter(has_text="Index expression")).not_to_have_count(0)
    unfolds(e, both)
    assert folded(e) > 0
    e.give("Fold or show index expressions")
    expect(boxes(e)).to_have_count(0)
    folds(e, 0)
    e.page.reload()
    folds(e.ready(), 0)
    e.give("Fold or show repeated blocks", "Fold or show index expressions")
    expect(boxes(e)).not_to_have_count(0)
    folds(e, both)


def test_an_expression_is_written_out(open_page: Open, unrolled: Pass) -> None:
    e = open_page(unrolled.at(1, "&g=all"))
    words = boxes(e).filter(has_text="Index expression").all_inner_texts()
    assert all(re.fullmatch(r"Index expression [\w *+()/%-]+, \d+ nodes", text) for text in words)
    assert any(re.search(r"[A-Z]\d\*\d+", text) for text in words)


def test_opens_by_click_and_folds_by_its_handle(open_page: Open, unrolled: Pass) -> None:
    e = open_page(unrolled.at(1, "&g=all"))
    before = folded(e)
    x, y, title = point(e, "repeated block")
    assert "Click to open" in title
    e.page.mouse.click(x, y)
    unfolds(e, before)
    x, y, _ = point(e, "Fold again")
    e.page.mouse.click(x, y)
    folds(e, before)


def test_opens_and_folds_by_enter(open_page: Open, unrolled: Pass) -> None:
    first = open_page(unrolled.at(1, "&g=all"))
    slot = boxes(first).filter(has_text="repeated block").first.get_attribute("data-slot")
    e = open_page(unrolled.at(1, f"&g=all&s={slot}"))
    before = folded(e)
    item = e.page.locator(f'.stage-outline [data-slot="{slot}"]')
    expect(item).to_have_attribute("aria-expanded", "false")
    e.press("Enter")
    expect(item).not_to_have_attribute("aria-expanded", "false")
    unfolds(e, before)
    e.press("Enter")
    expect(item).to_have_attribute("aria-expanded", "false")
    folds(e, before)


def test_all_open_and_fold_again_by_command(open_page: Open, unrolled: Pass) -> None:
    e = open_page(unrolled.at(1, "&g=all"))
    before = folded(e)
    for command, left in (("Expand all folded boxes", 0), ("Fold all expanded boxes", before)):
        e.press("Control+k")
        e.page.keyboard.type(command)
        expect(e.page.get_by_role("option", name=command).first).to_be_visible()
        e.press("Enter")
        folds(e, left)


def test_a_change_inside_is_marked_and_shown_around_it(open_page: Open, unrolled: Pass) -> None:
    e = open_page(unrolled.at(1, "&g=all"))
    marked = 0
    for k in range(1, unrolled.last + 1):
        e.at_step(k)
        marked += boxes(e).filter(has_text=re.compile("removed.* inside")).count()
        e.press("ArrowRight")
    assert marked > 0
    e = open_page(unrolled.at(1))
    for k in range(1, unrolled.last + 1):
        e.at_step(k)
        expect(boxes(e).filter(has_text="inside")).to_have_count(0)
        step = unrolled.bundle["steps"][k - 1]
        for slot in {*step["removed"], *step["added"]}:
            expect(e.page.locator(f'.stage-outline [data-slot="{slot}"]')).to_have_count(1)
        e.press("ArrowRight")


def test_steps_move_no_box(open_page: Open, unrolled: Pass) -> None:
    e = open_page(unrolled.at(1, "&g=all")).press("0")
    seen = set()
    for k in range(1, unrolled.last + 1):
        e.at_step(k)
        seen.add((point(e, "repeated block")[:2], point(e, "Index expression")[:2]))
        e.press("ArrowRight")
    assert len(seen) == 1


def test_a_link_to_a_folded_node_says_so_and_opens(open_page: Open, unrolled: Pass) -> None:
    first = open_page(unrolled.at(1, "&g=all"))
    drawn = first.page.locator(".stage-outline [data-slot]")
    shown = set(drawn.evaluate_all("items => items.map((i) => Number(i.dataset.slot))"))
    ops, nodes, initial = (unrolled.bundle[key] for key in ("ops", "nodes", "initial"))
    slot = next(
        s
        for s, c in zip(initial["slot"], initial["node"], strict=True)
        if s not in shown and ops[nodes["op"][c]] == "STORE"
    )
    e = open_page(unrolled.at(1, f"&g=all&s={slot}&tab=node"))
    expect(e.inspector).to_contain_text("more copies of a repeated block")
    e.inspector.get_by_role("button", name="Open", exact=True).click()
    expect(e.page.locator(f'.stage-outline [data-slot="{slot}"]')).to_have_attribute(
        "aria-selected", "true"
    )
    e.inspector.get_by_role("button", name="Fold again").click()
    expect(e.inspector.get_by_role("button", name="Open", exact=True)).to_be_visible()


def test_an_exported_file_folds_too(
    new_page: Open, trace: Path, tmp_path: Path, unrolled: Pass
) -> None:
    file = export(trace, tmp_path / "run.html")
    e = new_page().goto(f"{file.as_uri()}#{unrolled.at(1, '&g=all')}")
    assert folded(e) > 20
