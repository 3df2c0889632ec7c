"""The page in real Chromium, with a probe that says when a frame was painted.

A time runs from the event (as the browser stamps it) to a task after the frame in which the graph
panes were drawn; `settled` is the last such frame. Never opens a window and never downloads one.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.measure import as_installed
from tests.browser_setup import find_browser

ROOT: Final = Path(__file__).resolve().parents[2]
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([^\s#]+)")
_QUIET_MS: Final = 120
"""Nothing drawn for this long: the picture has settled."""

_PROBE: Final = """
(() => {
  const probe = window.probe = { t0: 0, first: 0, last: 0, frames: 0, shown: 0 };
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  let pending = false;
  CanvasRenderingContext2D.prototype.drawImage = function (...args) {
    draw.apply(this, args);
    if (pending || !this.canvas.closest?.(".stage-pane")) return;
    pending = true;
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      pending = false;
      probe.last = performance.now();
      probe.first ||= probe.last;
      probe.shown ||= probe.last;
      probe.frames++;
    };
    channel.port2.postMessage(0);
  };
  const start = (event) =>
    Object.assign(probe, { t0: event.timeStamp, first: 0, last: 0, frames: 0 });
  addEventListener("keydown", start, true);
  addEventListener("pointerdown", start, true);
})();
"""

_SHOWN: Final = """
() => new Promise((resolve) => {
  const look = () => (probe.shown > 0 ? resolve() : setTimeout(look, 20));
  look();
})
"""

_OVERVIEW: Final = """
() => new Promise((resolve) => {
  const look = () => {
    if (document.querySelector(".ov-kernels .ov-row") === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  };
  look();
})
"""

_LARGE: Final = """
() => new Promise((resolve) => {
  const look = () => {
    const said = document.querySelector(".pf")?.textContent ?? "";
    if (/\\d,\\d{3} nodes/.test(said)) resolve(performance.now() - probe.t0);
    else requestAnimationFrame(look);
  };
  look();
})
"""

_QUIET: Final = """
(quiet) => new Promise((resolve) => {
  const look = () => {
    const over = probe.last > 0 && performance.now() - probe.last > quiet;
    if (over) resolve({ ...probe });
    else setTimeout(look, 20);
  };
  look();
})
"""

_SCROLL: Final = """
([selector, milliseconds, pixels]) => new Promise((resolve) => {
  const list = document.querySelector(selector);
  const times = [];
  const step = (now) => {
    times.push(now);
    list.scrollTop += pixels;
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) list.scrollTop = 0;
    if (now - times[0] < milliseconds) requestAnimationFrame(step);
    else resolve({ times, height: list.scrollHeight });
  };
  requestAnimationFrame(step);
})
"""


@dataclass(frozen=True)
class Painted:
    """ms from an event to the first and to the last frame that it caused."""

    first: float
    settled: float


class Viewer:
    """`uopviz open TRACE` in a process of its own."""

    def __init__(self, trace: Path, *beside: Path) -> None:
        self.started = time.time()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "viz", "open", *map(str, (trace, *beside)), "--no-browser"],
            cwd=ROOT,
            env=as_installed(),
            text=True,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        found = _ADDRESS.search(self._process.stdout.readline())
        if found is None:
            raise RuntimeError(f"uopviz open {trace} did not print its address")
        self.url, self.port, self.token = found[0], int(found[1]), found[2]

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def get(self, path: str) -> Any:
        """An answer of the API."""
        return json.loads(self.raw(path))

    def raw(self, path: str) -> bytes:
        """The bytes of an answer about the first run."""
        return self.ask(f"A/{path}")

    def ask(self, path: str) -> bytes:
        """The bytes of an answer of the API."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/{path}", headers={"X-Uopviz-Token": self.token}
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            body: bytes = response.read()
        return body

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        if self._process.stdout is not None:
            self._process.stdout.close()


class Screen:
    """One page of 1600 x 960 in a context of its own."""

    def __init__(self, browser: Browser) -> None:
        self._context = browser.new_context(
            viewport={"width": 1600, "height": 960}, reduced_motion="reduce"
        )
        self._context.set_default_timeout(300_000)
        self._context.add_init_script(_PROBE)
        self.page: Page = self._context.new_page()

    def close(self) -> None:
        """Closes it."""
        self._context.close()

    def visit(self, url: str) -> float:
        """Opens an address; ms from the navigation to the first drawn graph."""
        self.page.goto(url, wait_until="commit")
        self.page.evaluate(_SHOWN)
        shown: float = self.page.evaluate("probe.shown")
        self.wait()
        return shown

    def overview(self, url: str) -> float:
        """Opens an address; ms from the navigation to the painted overview."""
        self.page.goto(url, wait_until="commit")
        shown: float = self.page.evaluate(_OVERVIEW)
        return shown

    def open_pass(self, name: str) -> Painted:
        """Clicks a pass of a thousand nodes or more in the navigator, while a small one is open:
        until the first frame that shows it, and until nothing is drawn any more."""
        row = self.page.locator("#nav-list .trow", has_text=name).last
        row.click()
        first: float = self.page.evaluate(_LARGE)
        return Painted(first, self.wait().settled)

    def press(self, key: str) -> Painted:
        """A key."""
        self.page.keyboard.press(key)
        return self.wait()

    def click(self, x: float, y: float) -> Painted:
        """A click; the time runs from the button going down."""
        self.page.mouse.click(x, y)
        return self.wait()

    def wait(self) -> Painted:
        """Waits until nothing is drawn any more; what the last event caused."""
        probe: dict[str, float] = self.page.evaluate(_QUIET, _QUIET_MS)
        return Painted(probe["first"] - probe["t0"], probe["last"] - probe["t0"])

    def frames(self, selector: str, seconds: float, pixels: int) -> tuple[float, float, int]:
        """Scrolls a list; frames per second, the longest frame in ms, and its height in px."""
        found = self.page.evaluate(_SCROLL, [selector, seconds * 1000, pixels])
        times: list[float] = found["times"]
        gaps = [b - a for a, b in itertools.pairwise(times)]
        return 1000 * len(gaps) / (times[-1] - times[0]), max(gaps), int(found["height"])

    def box(self, role: str, name: str) -> dict[str, float]:
        """Where an element is."""
        found = self.page.get_by_role(role, name=name).bounding_box()
        if found is None:
            raise RuntimeError(f"no {role} {name!r} on the page")
        return dict(found)


@contextmanager
def chromium() -> Generator[Browser]:
    """A headless browser. Raises RuntimeError where none is installed."""
    path = find_browser()
    if path is None:
        raise RuntimeError("no Chromium found: install it, or name one in UOPVIZ_BROWSER")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


@contextmanager
def screen(browser: Browser) -> Generator[Screen]:
    """A page of its own."""
    made = Screen(browser)
    try:
        yield made
    finally:
        made.close()
