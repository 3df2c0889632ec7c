"""The page as a reader uses it: what a test presses, and what it can see.

Also listens for what no page of ours may do: errors in the console, violations of its policy.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from tests.browser.served import ended

WATCH: Final = """
window.violations = [];
addEventListener("securitypolicyviolation", (e) =>
  window.violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
"""

LARGE: Final = """
try { if (localStorage.getItem("uopviz.sourcesHalf") === null)
        localStorage.setItem("uopviz.sourcesHalf", "true"); } catch {}
"""
"""The sources at half of the room, which compiles for three targets each time."""

PROBE: Final = (12, 6)
"""Distance of the points at which `boxes` looks for nodes, px."""

_BOXES: Final = """
(canvas, [columns, rows]) => {
  const box = canvas.getBoundingClientRect();
  const move = (x, y) => canvas.dispatchEvent(new PointerEvent("pointermove",
    { clientX: x, clientY: y, pointerId: 77, bubbles: true }));
  const found = [];
  for (let j = 0; j < rows; j++)
    for (let i = 0; i < columns; i++) {
      const x = box.left + ((i + 0.5) * box.width) / columns;
      const y = box.top + ((j + 0.5) * box.height) / rows;
      move(x, y);
      if (canvas.style.cursor === "pointer") found.push([x, y]);
    }
  canvas.dispatchEvent(new PointerEvent("pointerleave"));
  return found;
}
"""


class Explorer:
    """One open page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self._unanswered: list[tuple[str, int, float]] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        url = str(message.location.get("url", ""))
        self.errors.append(f"{message.text} ({url})")
        if re.search(r"net::ERR_(CONNECTION|EMPTY|SOCKET)", message.text):
            self._unanswered.append((self.errors[-1], urlsplit(url).port or 0, time.monotonic()))

    def goto(self, url: str) -> Explorer:
        """Opens an address, at the graphs where it names nothing, and waits until a pass is
        drawn."""
        self.page.goto(url if "#" in url else f"{url}#v=graphs")
        return self.ready()

    def ready(self) -> Explorer:
        """Waits until a pass is drawn."""
        expect(self.scope).to_contain_text(re.compile(r"\d of \d"))
        expect(self.page.locator(".working")).to_have_count(0)
        return self

    def clean(self) -> None:
        """Raises AssertionError if the page did what it must not. A server that the test has ended
        need not have answered."""
        violations = self.page.evaluate("window.violations")  # handles what waits, too
        for text, port, at in self._unanswered:
            if text in self.errors and at >= ended.get(port, float("inf")):
                self.errors.remove(text)
        said = [*violations, *self.errors]
        if said:
            raise AssertionError(f"the page did what it must not: {said}")

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """Inside, requests may fail: the browser reports that in the console by itself."""
        before = len(self.errors)
        yield
        wrong = [e for e in self.errors[before:] if not e.startswith("Failed to load resource")]
        assert wrong == []
        del self.errors[before:]

    # what the address says

    def address(self, key: str) -> str | None:
        """A value of the part behind `#`."""
        value: str | None = self.page.evaluate(
            "key => new URLSearchParams(location.hash.slice(1)).get(key)", key
        )
        return value

    def wait_address(self, key: str, value: str | None) -> None:
        """Waits until the address says so."""
        self.page.wait_for_function(
            "([k, v]) => new URLSearchParams(location.hash.slice(1)).get(k) === v", arg=[key, value]
        )

    # what is shown

    @property
    def step(self) -> int:
        """The step that is shown."""
        return int(self.page.get_by_role("slider", name="Step").get_attribute("aria-valuenow") or 0)

    def at_step(self, k: int) -> None:
        """Waits until step k is shown."""
        slider = self.page.get_by_role("slider", name="Step")
        expect(slider).to_have_attribute("aria-valuenow", str(k))

    @property
    def inspector(self) -> Locator:
        """The right column."""
        return self.page.locator("aside.insp")

    @property
    def navigator(self) -> Locator:
        """The left column."""
        return self.page.locator("aside.nav")

    @property
    def sources(self) -> Locator:
        """The sources at the foot of the graphs."""
        return self.page.locator("section.sources")

    @property
    def subject(self) -> Locator:
        """The line under the top bar: what is looked at, Check and Run."""
        return self.page.locator(".subj")

    @property
    def notice(self) -> Locator:
        """The line of notices under it."""
        return self.page.get_by_role("region", name="Notice")

    @property
    def run_button(self) -> Locator:
        """The button that runs the kernel."""
        return self.subject.get_by_role("button", name="Run", exact=True)

    @property
    def scope(self) -> Locator:
        """The menu "Near, 19 of 79": how many nodes are drawn."""
        return self.page.locator(".pts .scope")

    @property
    def zoom(self) -> Locator:
        """The zoom of the graphs, in the step bar."""
        return self.page.locator(".zoom .num")

    @property
    def said(self) -> Locator:
        """What the page told screen readers last."""
        return self.page.locator(".panes > .sr[role=status]")

    def canvas(self, side: str = "after") -> Locator:
        """The canvas of a pane, by what a screen reader calls it."""
        return self.page.get_by_role("img", name=f"Graph {side}")

    # the graph

    def boxes(self, side: str = "after") -> list[tuple[float, float]]:
        """One point on each node or group that is in view, found by moving the pointer."""
        box = self.canvas(side).bounding_box()
        assert box is not None
        grid = [round(box["width"] / PROBE[0]), round(box["height"] / PROBE[1])]
        hits: list[list[float]] = self.canvas(side).evaluate(_BOXES, grid)
        return [_middle(group) for group in _clusters(hits)]

    @property
    def selected(self) -> str | None:
        """The slot that is selected, as screen readers are told; None too where it is far off."""
        value: str | None = self.page.evaluate(
            """document.querySelector('.stage-outline [aria-selected="true"]')?.dataset.slot"""
        )
        return value

    def places(self, points: list[tuple[float, float]]) -> dict[str, tuple[float, float]]:
        """Which slot lies at each point: what is selected after a click."""
        found: dict[str, tuple[float, float]] = {}
        for x, y in points:
            self.page.mouse.click(x, y)
            slot = self.selected
            if slot is not None and slot not in found:  # a click on a folded group opens it
                found[slot] = (x, y)
        return found

    def still(self, side: str = "after") -> bytes:
        """A picture of a pane, once it no longer changes."""
        picture = self.canvas(side).screenshot()
        for _ in range(60):
            self.page.wait_for_timeout(150)
            last, picture = picture, self.canvas(side).screenshot()
            if picture == last:
                return picture
        raise AssertionError("the graph does not come to rest")

    def give(self, *titles: str) -> Explorer:
        """Commands by their names, from the palette."""
        for title in titles:
            give(self.page, title)
        return self

    def commands(self, query: str) -> list[str]:
        """The commands that the palette offers for a query; closes it again."""
        self.page.keyboard.press("Control+k")
        self.page.get_by_role("dialog").get_by_role("combobox").fill(query)
        offered = self.page.get_by_role("group", name="Commands").locator(".it > .el:first-child")
        expect(offered.first).to_be_visible()
        titles = offered.all_inner_texts()
        self.page.keyboard.press("Escape")
        return titles

    def press(self, *keys: str) -> Explorer:
        """Keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)
        return self


def give(page: Page, title: str) -> None:
    """Gives a command of that name, from the palette."""
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill(title)
    exactly = page.locator(".el").filter(has_text=re.compile(f"^{re.escape(title)}$"))
    page.get_by_role("group", name="Commands").get_by_role("option").filter(has=exactly).click()


_FIND: Final = """
async (scroller, [text, kind]) => {
  const drawn = () => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done)));
  const find = () => [...scroller.querySelectorAll(`.cm-line${kind}`)]
    .find((line) => new RegExp(text).test(line.textContent));
  for (let top = 0; top <= scroller.scrollHeight && !find(); top += 100) {
    scroller.scrollTop = top;
    await drawn();
  }
  const line = find();
  if (!line) return false;
  const middle = scroller.getBoundingClientRect().top + scroller.clientHeight / 2;
  scroller.scrollTop += line.getBoundingClientRect().top - middle;
  await drawn();
  const box = line.getBoundingClientRect();
  return [scroller.getBoundingClientRect().left + 90, box.top + box.height / 2];
}
"""


def place_of(column: Locator, text: str, kind: str = "") -> tuple[float, float]:
    """Where the first line of a source is that matches, and is of that kind (".cm-hit"), once it is
    in the middle. What is out of view is not drawn, so it is scrolled for."""
    expect(column.locator(".cm-line").first).to_be_attached()
    found = column.locator(".cm-scroller").evaluate(_FIND, [text, kind])
    assert found, f"no line with {text}"
    x, y = found
    return x, y


def scrolled_to(column: Locator, text: str, kind: str = "") -> Locator:
    """The same as the line itself; a text that is taken up anew begins at its top again."""
    line = column.locator(f".cm-line{kind}", has_text=re.compile(text)).first
    for _ in range(20):
        place_of(column, text, kind)
        if line.is_visible():
            break
        column.page.wait_for_timeout(100)
    return line


_ALL: Final = """
async (scroller, [text, kind]) => {
  const drawn = () => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = [];
  for (let top = 0; top < scroller.scrollHeight; top += scroller.clientHeight) {
    scroller.scrollTop = top;
    await drawn();
    const start = scroller.getBoundingClientRect().top - scroller.scrollTop;
    for (const line of scroller.querySelectorAll(`.cm-line${kind}`)) {
      const { top, height } = line.getBoundingClientRect();
      if (!found.some(([other]) => Math.abs(other - (top - start)) < height / 2))
        found.push([top - start, line.textContent]);
    }
  }
  return found.map(([, said]) => said).filter((said) => new RegExp(text).test(said));
}
"""


def lines_with(column: Locator, text: str, kind: str = "") -> list[str]:
    """All lines of a source that match, and are of that kind; scrolled for, too."""
    expect(column.locator(".cm-line").first).to_be_attached()
    found: list[str] = column.locator(".cm-scroller").evaluate(_ALL, [text, kind])
    return found


def click_line(column: Locator, text: str, kind: str = "") -> None:
    """Clicks that line."""
    column.page.mouse.click(*place_of(column, text, kind))


def _clusters(points: list[list[float]]) -> list[list[list[float]]]:
    """Points that touch each other on the grid they were found on, box by box."""
    clusters: list[list[list[float]]] = []
    for point in points:
        near = [c for c in clusters if any(_touch(p, point) for p in c)]
        joined = [point, *(p for c in near for p in c)]
        clusters = [c for c in clusters if c not in near] + [joined]
    return clusters


def _touch(a: list[float], b: list[float]) -> bool:
    return abs(a[0] - b[0]) < 1.2 * PROBE[0] and abs(a[1] - b[1]) < 1.2 * PROBE[1]


def _middle(points: list[list[float]]) -> tuple[float, float]:
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
