"""What the Fleet view does with 10,000 packed runs and more: time to the painted page, and frames
per second while it scrolls, is pointed at and zooms, in real Chromium.

    python -m tests.bench.fleet.view [FOLDER] [RUNS]

Recordings and packed runs that are in FOLDER stay. Judges nothing.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page

from tests.bench.browser import Screen, Viewer, chromium, screen
from tests.bench.fleet.eras import record_each
from tests.bench.fleet.many import write_many
from tests.bench.measure import machine, spread, table
from viz.command.serving import LISTED

TRIES: Final = 5
SECONDS: Final = 4
Row = Sequence[object]

_READY: Final = """
(part) => new Promise((resolve) => {
  const has = (selector) => document.querySelector(selector) !== null;
  const isReady = () =>
    has("#fleet-runs .trow .num") &&
    (part === "list" ||
      ["#fleet-rules .trow", "#fleet-kernels .trow", ".fleet .plot canvas[width]"].every(has));
  const look = () => {
    if (!isReady()) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  };
  look();
})
"""
_FRAMES: Final = """
(milliseconds) => new Promise((resolve) => {
  const times = [];
  const step = (now) => {
    times.push(now);
    if (now - times[0] < milliseconds) requestAnimationFrame(step);
    else resolve(times);
  };
  requestAnimationFrame(step);
})
"""
_EMPTY: Final = "data:text/html,<p>Nothing"
_SCROLL: Final = """
(milliseconds) => {
  const list = document.querySelector("#fleet-runs");
  const begun = performance.now();
  const step = (now) => {
    list.scrollTop += 700;
    if (now - begun < milliseconds) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
"""
_POINT: Final = """
(milliseconds) => {
  const plot = document.querySelector(".fleet .plot");
  const { left, top, width, height } = plot.getBoundingClientRect();
  const begun = performance.now();
  const step = (now) => {
    const share = ((now - begun) / 1000) % 1;
    plot.dispatchEvent(new PointerEvent("pointermove", {
      clientX: left + 80 + share * (width - 100), clientY: top + height / 2, bubbles: true }));
    if (now - begun < milliseconds) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
"""
_ZOOM: Final = """
(milliseconds) => {
  const plot = document.querySelector(".fleet .plot");
  const { left, top, width, height } = plot.getBoundingClientRect();
  const begun = performance.now();
  const step = (now) => {
    const inward = Math.floor((now - begun) / 1000) % 2 === 0;
    plot.dispatchEvent(new WheelEvent("wheel", { deltaY: inward ? -30 : 30, bubbles: true,
      cancelable: true, clientX: left + width / 2, clientY: top + height / 2 }));
    if (now - begun < milliseconds) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
"""


def figures(folder: Path, runs: int) -> str:
    """The table."""
    packed = folder / f"packed{runs}"
    if not packed.exists():
        part = packed.with_suffix(".part")
        write_many(record_each(folder / "recorded"), part, runs)
        part.rename(packed)
    with chromium() as browser:
        rows = [*opening(packed, browser), *moving(packed, browser)]
    return table(f"Fleet view of {runs:,} runs", ("what", "figure", "goal"), rows)


def opening(packed: Path, browser: Browser) -> Iterator[Row]:
    """From the command, and from the navigation, to the runs, and to all of the page."""
    lists: list[float] = []
    pages: list[float] = []
    commands: list[float] = []
    for _ in range(TRIES):
        begun = time.perf_counter()
        with Viewer(packed) as viewer, screen(browser) as view:
            served = time.perf_counter() - begun
            view.page.goto(viewer.url + LISTED, wait_until="commit")
            lists.append(view.page.evaluate(_READY, "list"))
            pages.append(view.page.evaluate(_READY, "all"))
            commands.append(served * 1000 + pages[-1])
    yield "page, until the runs are listed", f"{spread(lists, 0)} ms", ""
    yield "page, until all is painted", f"{spread(pages, 0)} ms", "1 s"
    yield "`uopviz open` and page", f"{spread(commands, 0)} ms", ""


def moving(packed: Path, browser: Browser) -> Iterator[Row]:
    """Frames while something goes on, beside those of a page that is empty."""
    with Viewer(packed) as viewer, screen(browser) as view:
        view.page.goto(_EMPTY)
        yield "an empty page", _frames(view, lambda page: None), ""
        view.page.goto(viewer.url + LISTED)
        view.page.evaluate(_READY, "all")
        view.page.wait_for_timeout(1000)
        for name, script in (
            ("scrolling the runs, 25 lines a frame", _SCROLL),
            ("pointing at commits", _POINT),
            ("zooming the figure", _ZOOM),
        ):
            yield name, _frames(view, lambda page, s=script: _start(page, s)), "60 frames/s"
        searched: list[float] = []
        for text in ("digits", "r_32", "2026"):
            begun = time.perf_counter()
            with view.page.expect_response(lambda answer: "api/fleet/runs" in answer.url):
                view.page.fill("#fleet-search", text)
            searched.append((time.perf_counter() - begun) * 1000)
        yield "search, from typing to the answer", f"{statistics.median(searched):.0f} ms", ""


def _start(page: Page, script: str) -> None:
    page.evaluate(f"(ms) => void ({script})(ms)", SECONDS * 1000)


def _frames(view: Screen, begin: Callable[[Page], Any]) -> str:
    """Frames per second, the longest, and what the main thread computes for one."""
    session = view.page.context.new_cdp_session(view.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    before = busy()
    begin(view.page)
    times: list[float] = view.page.evaluate(_FRAMES, SECONDS * 1000)
    each = 1000 * (busy() - before) / len(times)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    rate = 1000 * len(gaps) / (times[-1] - times[0])
    return f"{rate:.0f} frames/s, longest {max(gaps):.0f} ms, {each:.1f} ms of CPU each"


def main() -> None:
    """Entry point."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir() + "/uopviz-fleet")
    print(machine() + "\n", flush=True)
    print(figures(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000))


if __name__ == "__main__":
    main()
